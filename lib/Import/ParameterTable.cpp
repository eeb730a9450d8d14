//===- ParameterTable.cpp - The parameters that a config implies ----------===//

#include "ParameterTable.h"

using namespace k2c;

static void substitute(std::string &text, llvm::StringRef what, int64_t value) {
  if (size_t at = text.find(what.str()); at != std::string::npos)
    text.replace(at, what.size(), std::to_string(value));
}

std::string ParameterSpec::tensorOf(int64_t layer, int64_t expert) const {
  std::string result = tensor;
  substitute(result, "{layer}", layer);
  substitute(result, "{expert}", expert);
  return result;
}

namespace {

/// Collects the parameters of one kind of block.
class Table {
public:
  Table(const ModelFacts &facts, BlockKind kind) : facts(facts), kind(kind) {}

  void vector(const std::string &name, const std::string &tensor, int64_t size,
              const std::string &shape, bool isNorm = true) {
    ParameterSpec &spec = add(name, tensor);
    spec.role = ParameterSpec::Role::Vector;
    spec.rows = size;
    spec.shape = "[" + shape + "]";
    spec.isNorm = isNorm;
  }

  void matrix(const std::string &name, const std::string &tensor, int64_t rows,
              int64_t columns, const std::string &shape,
              ParameterSpec::Role role = ParameterSpec::Role::Linear,
              ParameterSpec::Per per = ParameterSpec::Per::Layer) {
    ParameterSpec &spec = add(name, tensor);
    spec.role = role;
    spec.per = per;
    spec.rows = rows;
    spec.columns = columns;
    spec.shape = "[" + shape + "]";
  }

  /// gate, up and down of one gated MLP.
  void mlp(const std::string &symbol, const std::string &tensor, int64_t width,
           const std::string &widthName, ParameterSpec::Per per) {
    for (const char *name : {"gate_proj", "up_proj"})
      matrix(symbol + name, tensor + name + ".weight", width, facts.hiddenSize,
             widthName + ", hidden_size", ParameterSpec::Role::Linear, per);
    matrix(symbol + "down_proj", tensor + "down_proj.weight", facts.hiddenSize,
           width, "hidden_size, " + widthName, ParameterSpec::Role::Linear,
           per);
  }

  std::vector<ParameterSpec> take() { return std::move(specs); }

private:
  ParameterSpec &add(const std::string &name, const std::string &tensor) {
    ParameterSpec &spec = specs.emplace_back();
    spec.name = (kind == BlockKind::Dense ? "dense." : "moe.") + name;
    spec.tensor = "model.layers.{layer}." + tensor;
    spec.kind = kind;
    return spec;
  }

  const ModelFacts &facts;
  BlockKind kind;
  std::vector<ParameterSpec> specs;
};

} // namespace

std::vector<ParameterSpec> k2c::blockParameters(const ModelFacts &facts,
                                                BlockKind kind) {
  using Role = ParameterSpec::Role;
  using Per = ParameterSpec::Per;
  Table table(facts, kind);
  int64_t d = facts.hiddenSize, heads = facts.heads;
  table.vector("input_layernorm", "input_layernorm.weight", d, "hidden_size");
  int64_t queryRows = heads * (facts.qkNope + facts.qkRope);
  std::string queryShape =
      "num_attention_heads * (qk_nope_head_dim + qk_rope_head_dim)";
  if (facts.qLoraRank) {
    table.matrix("q_a_proj", "self_attn.q_a_proj.weight", facts.qLoraRank, d,
                 "q_lora_rank, hidden_size");
    table.vector("q_a_layernorm", "self_attn.q_a_layernorm.weight",
                 facts.qLoraRank, "q_lora_rank");
    table.matrix("q_b_proj", "self_attn.q_b_proj.weight", queryRows,
                 facts.qLoraRank, queryShape + ", q_lora_rank");
  } else {
    table.matrix("q_proj", "self_attn.q_proj.weight", queryRows, d,
                 queryShape + ", hidden_size");
  }
  table.matrix("kv_a_proj_with_mqa", "self_attn.kv_a_proj_with_mqa.weight",
               facts.kvLoraRank + facts.qkRope, d,
               "kv_lora_rank + qk_rope_head_dim, hidden_size");
  table.vector("kv_a_layernorm", "self_attn.kv_a_layernorm.weight",
               facts.kvLoraRank, "kv_lora_rank");
  table.matrix(
      "kv_b_proj", "self_attn.kv_b_proj.weight",
      heads * (facts.qkNope + facts.vHead), facts.kvLoraRank,
      "num_attention_heads * (qk_nope_head_dim + v_head_dim), kv_lora_rank");
  table.matrix("o_proj", "self_attn.o_proj.weight", d, heads * facts.vHead,
               "hidden_size, num_attention_heads * v_head_dim");
  table.vector("post_attention_layernorm", "post_attention_layernorm.weight", d,
               "hidden_size");
  if (kind == BlockKind::Dense) {
    table.mlp("", "mlp.", facts.intermediateSize, "intermediate_size",
              Per::Layer);
    return table.take();
  }
  table.matrix("gate", "mlp.gate.weight", facts.experts, d,
               "n_routed_experts, hidden_size", Role::Router);
  if (facts.selectionBias)
    table.vector("e_score_correction_bias", "mlp.gate.e_score_correction_bias",
                 facts.experts, "n_routed_experts", /*isNorm=*/false);
  table.mlp("experts.", "mlp.experts.{expert}.", facts.moeIntermediateSize,
            "moe_intermediate_size", Per::Expert);
  if (facts.sharedExperts)
    table.mlp("shared_experts.", "mlp.shared_experts.",
              facts.moeIntermediateSize * facts.sharedExperts,
              "moe_intermediate_size * n_shared_experts", Per::Layer);
  return table.take();
}

std::vector<ParameterSpec> k2c::endParameters(const ModelFacts &facts) {
  auto make = [&](const char *name, const char *tensor, int64_t rows,
                  int64_t columns, const char *shape) {
    ParameterSpec spec;
    spec.name = name;
    spec.tensor = tensor;
    spec.per = ParameterSpec::Per::Model;
    spec.role =
        columns ? ParameterSpec::Role::Outside : ParameterSpec::Role::Vector;
    spec.rows = rows;
    spec.columns = columns;
    spec.shape = shape;
    spec.isNorm = columns == 0;
    return spec;
  };
  return {
      make("embed_tokens", "model.embed_tokens.weight", facts.vocabSize,
           facts.hiddenSize, "[vocab_size, hidden_size]"),
      make("norm", "model.norm.weight", facts.hiddenSize, 0, "[hidden_size]"),
      make("lm_head", "lm_head.weight", facts.vocabSize, facts.hiddenSize,
           "[vocab_size, hidden_size]")};
}

std::pair<int64_t, int64_t> k2c::layerRange(const ModelFacts &facts,
                                            BlockKind kind) {
  int64_t from = facts.layers, to = 0;
  for (int64_t layer = 0; layer < facts.layers; ++layer) {
    if (facts.isMoE(layer) != (kind == BlockKind::MoE))
      continue;
    from = std::min(from, layer);
    to = layer + 1;
  }
  return {from, to};
}
