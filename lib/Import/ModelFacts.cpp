//===- ModelFacts.cpp - Reading a config.json -----------------------------===//

#include "k2c/Import/ModelFacts.h"
#include "ConfigSections.h"
#include "JsonFile.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"
#include <limits>

using namespace k2c;
using nlohmann::json;

int64_t ModelFacts::moeLayers() const {
  int64_t count = 0;
  for (int64_t layer = 0; layer < layers; ++layer)
    count += isMoE(layer);
  return count;
}

/// The object that describes the text model: the file's own, or its
/// text_config.
static json chooseTextConfig(const json &root, ConfigErrors &errors) {
  if (!root.contains("text_config") || root["text_config"].is_null())
    return root;
  if (!root["text_config"].is_object()) {
    errors.add("text_config: expected an object, but got " +
               root["text_config"].dump());
    return root;
  }
  json text = root["text_config"];
  if (root.contains("quantization_config") &&
      !root["quantization_config"].is_null()) {
    if (!text.contains("quantization_config") ||
        text["quantization_config"].is_null())
      text["quantization_config"] = root["quantization_config"];
    else if (text["quantization_config"] != root["quantization_config"])
      errors.add("quantization_config: expected the block of text_config, but "
                 "got a different one at the top");
  }
  return text;
}

/// Fields that would change the block into one that is not the model's.
static void refuseOtherModels(const ConfigObject &config,
                              const std::string &modelType) {
  for (const char *field : {"index_topk", "index_n_heads", "index_head_dim"})
    if (config.has(field))
      config.refuse(
          field,
          "no such field (the sparse-attention indexer is not in the model)",
          config.raw(field).dump());
  static const char *const known[] = {"kimi_k2", "deepseek_v3", "deepseek_v2",
                                      "glm4_moe_lite"};
  if (llvm::find(known, modelType) == std::end(known))
    config.refuse("model_type",
                  "kimi_k2, deepseek_v3, deepseek_v2 or glm4_moe_lite",
                  "\"" + modelType + "\"");
  for (const char *field :
       {"attention_bias", "mlp_bias", "tie_word_embeddings"})
    if (config.has(field) && config.boolean(field))
      config.refuse(field, "false", "true");
  if (config.has("rope_interleave") && !config.boolean("rope_interleave"))
    config.refuse("rope_interleave", "true", "false");
  if (config.has("partial_rotary_factor") &&
      config.number("partial_rotary_factor") != 1)
    config.refuse("partial_rotary_factor",
                  "1 (qk_rope_head_dim says what is turned)",
                  config.raw("partial_rotary_factor").dump());
}

static void readAttention(const ConfigObject &config, ModelFacts &facts) {
  facts.heads = config.integer("num_attention_heads", 1);
  if (config.has("num_key_value_heads") &&
      config.integer("num_key_value_heads", 1) != facts.heads)
    config.refuse("num_key_value_heads",
                  "num_attention_heads = " + std::to_string(facts.heads),
                  config.raw("num_key_value_heads").dump());
  if (config.isNull("q_lora_rank")) {
    facts.qLoraRank = 0;
  } else if (config.has("q_lora_rank")) {
    facts.qLoraRank = config.integer("q_lora_rank", 1);
  } else {
    facts.qLoraRank = 1536;
    facts.notes.push_back("q_lora_rank is absent: 1536, the default of " +
                          facts.modelType + " (null means none)");
  }
  facts.kvLoraRank = config.integer("kv_lora_rank", 1);
  facts.qkNope = config.integer("qk_nope_head_dim", 1);
  facts.qkRope = config.integer("qk_rope_head_dim", 1);
  facts.vHead = config.integer("v_head_dim", 1);
  // One frequency for every pair is kept.
  if (facts.qkRope > 65536)
    config.refuse("qk_rope_head_dim", "at most 65536",
                  std::to_string(facts.qkRope));
  if (facts.qkRope % 2 != 0 && config.has("qk_rope_head_dim"))
    config.refuse("qk_rope_head_dim", "an even number (pairs are turned)",
                  std::to_string(facts.qkRope));
  if (config.has("qk_head_dim") &&
      config.integer("qk_head_dim", 1) != facts.qkNope + facts.qkRope)
    config.refuse("qk_head_dim",
                  "qk_nope_head_dim + qk_rope_head_dim = " +
                      std::to_string(facts.qkNope + facts.qkRope),
                  config.raw("qk_head_dim").dump());
}

/// Keeps the accounting far from overflow: extents are 31 bits each, and three
/// are multiplied.
static void refuseAbsurdSizes(const ConfigObject &config,
                              const ModelFacts &facts) {
  double d = facts.hiddenSize, heads = facts.heads;
  double perHead =
      static_cast<double>(facts.qkNope) + facts.qkRope + facts.vHead;
  double block = d * heads * perHead +
                 (static_cast<double>(facts.qLoraRank) + facts.kvLoraRank) *
                     (d + heads * perHead) +
                 3 * d * facts.intermediateSize +
                 3 * d * facts.moeIntermediateSize *
                     (static_cast<double>(facts.experts) + facts.sharedExperts);
  if (block * facts.layers + 2 * d * facts.vocabSize > 1e18)
    config.refuse("hidden_size", "a model of fewer than 1e18 parameters",
                  "more");
}

/// One thread block holds a whole row of these: what is larger than in any
/// model of the family by far would end in messages of the assembler, after
/// minutes.
static void limitForKernels(ModelFacts &facts) {
  struct Limit {
    const char *field;
    int64_t value, most;
  };
  for (auto [field, value, most] :
       {Limit{"hidden_size", facts.hiddenSize, 16384},
        Limit{"q_lora_rank", facts.qLoraRank, 8192},
        Limit{"kv_lora_rank", facts.kvLoraRank, 8192},
        Limit{"qk_rope_head_dim", facts.qkRope, 1024},
        Limit{"n_routed_experts", facts.experts, 2048},
        Limit{"num_experts_per_tok", facts.expertsPerToken, 64}})
    if (value > most && facts.compileProblem.empty())
      facts.compileProblem =
          std::string(field) + ": expected at most " + std::to_string(most) +
          " (kernels hold a whole row), but got " + std::to_string(value);
  if (facts.kvLoraRank % 2 != 0 && facts.compileProblem.empty())
    facts.compileProblem = "kv_lora_rank: expected an even number, but got " +
                           std::to_string(facts.kvLoraRank);
  if (facts.qkNope % 2 != 0 && facts.compileProblem.empty())
    facts.compileProblem =
        "qk_nope_head_dim: expected an even number, but got " +
        std::to_string(facts.qkNope);
}

static void readText(const json &text, ModelFacts &facts,
                     ConfigErrors &errors) {
  ConfigObject config(text, "", errors);
  facts.modelType = config.text("model_type");
  refuseOtherModels(config, facts.modelType);
  facts.hiddenSize = config.integer("hidden_size", 1);
  facts.layers = config.integer("num_hidden_layers", 1);
  // A loop over layers follows; no model has as many as a mistyped field could
  // ask for.
  if (facts.layers > 10000)
    return config.refuse("num_hidden_layers", "at most 10000",
                         std::to_string(facts.layers));
  readAttention(config, facts);
  if (config.text("hidden_act") != "silu")
    config.refuse("hidden_act", "\"silu\"",
                  config.has("hidden_act") ? config.raw("hidden_act").dump()
                                           : "no such field");
  facts.vocabSize = config.integer("vocab_size", 1);
  facts.maxPositions = config.integer("max_position_embeddings", 1);
  facts.rmsNormEps = config.number("rms_norm_eps");
  if (!(facts.rmsNormEps >= std::numeric_limits<float>::min()) &&
      config.has("rms_norm_eps"))
    config.refuse("rms_norm_eps", "a positive number of float32",
                  config.raw("rms_norm_eps").dump());
  readExperts(config, facts);
  RopeParameters rope = readRope(config, errors, facts.notes);
  facts.quantization = readQuantization(config, errors, facts.compileProblem);
  for (const char *field : {"torch_dtype", "dtype"})
    if (config.has(field) && config.raw(field) != json("bfloat16") &&
        facts.compileProblem.empty())
      facts.compileProblem = std::string(field) +
                             ": expected \"bfloat16\", but got " +
                             config.raw(field).dump();
  if (config.has("num_nextn_predict_layers") &&
      config.integer("num_nextn_predict_layers", 0) > 0)
    facts.notes.push_back(
        "num_nextn_predict_layers is " +
        config.raw("num_nextn_predict_layers").dump() +
        ": the extra prediction layers are not part of the model");
  refuseAbsurdSizes(config, facts);
  limitForKernels(facts);
  if (errors.any())
    return;
  facts.ropeTheta = rope.theta;
  facts.yarn = rope.yarn;
  facts.ropeFactor = rope.factor;
  facts.invFreq = computeInvFreq(rope, facts.qkRope);
  facts.ropeMultiplier = computeRopeMultiplier(rope);
  facts.softmaxScale = computeSoftmaxScale(rope, facts.qkNope + facts.qkRope);
}

llvm::Expected<ModelFacts> k2c::parseModelFacts(const std::string &text,
                                                llvm::StringRef configPath) {
  ModelFacts facts;
  facts.configPath = configPath.str();
  facts.folder = llvm::sys::path::parent_path(configPath).str();
  if (facts.folder.empty())
    facts.folder = ".";
  llvm::SHA256 hash;
  hash.update(text);
  facts.configSha256 = llvm::toHex(hash.final(), /*LowerCase=*/true);
  llvm::Expected<json> root = parseJson(text, facts.configPath);
  if (!root)
    return root.takeError();
  if (!root->is_object())
    return llvm::createStringError(facts.configPath +
                                   ": expected a JSON object, but got " +
                                   root->type_name());
  ConfigErrors errors;
  json chosen = chooseTextConfig(*root, errors);
  readText(chosen, facts, errors);
  if (errors.any())
    return llvm::createStringError(facts.configPath + ": " + errors.message());
  return facts;
}

/// Published ones have some thousand bytes.
static constexpr uint64_t largestConfig = 16 << 20;

llvm::Expected<ModelFacts> k2c::readModelFacts(llvm::StringRef model) {
  llvm::SmallString<128> path(model);
  if (llvm::sys::fs::is_directory(path))
    llvm::sys::path::append(path, "config.json");
  llvm::sys::fs::file_status status;
  if (!llvm::sys::fs::status(path, status) && !is_regular_file(status))
    return llvm::createStringError(path.str().str() +
                                   ": expected a regular file");
  if (status.getSize() > largestConfig)
    return llvm::createStringError(
        path.str().str() + ": expected at most " + llvm::Twine(largestConfig) +
        " bytes, but got " + llvm::Twine(status.getSize()));
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    return llvm::createStringError(
        path.str().str() + ": expected a readable config.json, but got: " +
        buffer.getError().message());
  return parseModelFacts((*buffer)->getBuffer().str(), path);
}
