//===- Facts.cpp - The model's facts that the runtime needs ---------------===//
#include "Converter.h"

using namespace mlir;

DictionaryAttr k2c::buildModelFacts(k2::ConfigAttr config,
                                    StringRef configHash) {
  Builder b(config.getContext());
  SmallVector<NamedAttribute> facts;
  auto add = [&](StringRef name, Attribute value) {
    facts.push_back(b.getNamedAttr(name, value));
  };
  auto number = [&](StringRef name, int64_t value) {
    add(name, b.getI64IntegerAttr(value));
  };
  number("hidden_size", config.getHiddenSize());
  number("num_hidden_layers", config.getNumHiddenLayers());
  number("num_attention_heads", config.getNumAttentionHeads());
  number("kv_lora_rank", config.getKvLoraRank());
  number("qk_rope_head_dim", config.getQkRopeHeadDim());
  number("vocab_size", config.getVocabSize());
  number("n_routed_experts", config.getNRoutedExperts());
  number("num_experts_per_tok", config.getNumExpertsPerTok());
  number("max_position_embeddings", config.getMaxPositionEmbeddings());
  number("page_size", kPageSize);
  // Layers with experts are one run: [from, to), empty if there are none.
  int64_t from = 0, to = 0;
  for (int64_t layer = 0; layer < config.getNumHiddenLayers(); ++layer)
    if (config.isMoE(layer)) {
      from = to ? from : layer;
      to = layer + 1;
    }
  add("moe_layers", b.getDenseI64ArrayAttr({from, to}));
  add("rope", b.getDictionaryAttr(
                  {b.getNamedAttr("inv_freq", config.getInvFreq()),
                   b.getNamedAttr("scale", config.getRopeMultiplier())}));
  add("config_sha256", b.getStringAttr(configHash));
  return b.getDictionaryAttr(facts);
}
