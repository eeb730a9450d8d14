//===- ExpertsConfig.cpp - Dense layers, experts and the router -----------===//

#include "ConfigSections.h"

#include <algorithm>

using namespace k2c;
using nlohmann::json;

namespace {
/// What the model class fills in where a config born in the library leaves a
/// field out.
struct ClassDefaults {
  const char *scoring, *method;
  bool scoringKnown;
};
} // namespace

static ClassDefaults defaultsOf(const std::string &modelType) {
  if (modelType == "deepseek_v2")
    return {"softmax", "greedy", true};
  return {"sigmoid", "noaux_tc", modelType != "glm4_moe_lite"};
}

static std::string textOrDefault(const ConfigObject &config,
                                 const std::string &field,
                                 const std::string &value, ModelFacts &facts) {
  if (config.has(field))
    return config.text(field);
  facts.notes.push_back(field + " is absent: " + value + ", the default of " +
                        facts.modelType);
  return value;
}

static void checkLayerTypes(const ConfigObject &config,
                            const ModelFacts &facts) {
  if (!config.has("mlp_layer_types"))
    return;
  const json &types = config.raw("mlp_layer_types");
  if (!types.is_array() || static_cast<int64_t>(types.size()) != facts.layers)
    return config.refuse(
        "mlp_layer_types",
        "one entry for each of the " + std::to_string(facts.layers) + " layers",
        types.is_array() ? std::to_string(types.size()) + " entries"
                         : types.dump());
  for (int64_t layer = 0; layer < facts.layers; ++layer) {
    const char *expected = facts.isMoE(layer) ? "sparse" : "dense";
    if (types[layer] != json(expected))
      return config.refuse(
          "mlp_layer_types",
          std::string("\"") + expected + "\" for layer " +
              std::to_string(layer) +
              " as first_k_dense_replace and moe_layer_freq say",
          types[layer].dump());
  }
}

static void readRouter(const ConfigObject &config, ModelFacts &facts) {
  ClassDefaults defaults = defaultsOf(facts.modelType);
  std::string scoring = defaults.scoring;
  // The accounting does not depend on it; what the model computes does.
  if (defaults.scoringKnown || config.has("scoring_func"))
    scoring = textOrDefault(config, "scoring_func", scoring, facts);
  else if (facts.compileProblem.empty())
    facts.compileProblem =
        "scoring_func: expected \"sigmoid\" or \"softmax\" (no default of " +
        facts.modelType + " is established), but got no such field";
  if (scoring != "sigmoid" && scoring != "softmax")
    config.refuse("scoring_func", "\"sigmoid\" or \"softmax\"",
                  "\"" + scoring + "\"");
  facts.sigmoidScores = scoring == "sigmoid";
  std::string method =
      textOrDefault(config, "topk_method", defaults.method, facts);
  if (method != "noaux_tc" && method != "greedy")
    config.refuse("topk_method", "\"noaux_tc\" or \"greedy\"",
                  "\"" + method + "\"");
  facts.selectionBias = method == "noaux_tc";
  facts.experts = config.integer("n_routed_experts", 1);
  facts.expertsPerToken = config.integer("num_experts_per_tok", 1);
  facts.moeIntermediateSize = config.integer("moe_intermediate_size", 1);
  facts.sharedExperts = config.isNull("n_shared_experts")
                            ? 0
                            : config.integer("n_shared_experts", 0);
  facts.normalizeWeights = config.boolean("norm_topk_prob");
  facts.routedScaling = config.number("routed_scaling_factor");
  if (!facts.selectionBias) {
    // The greedy choice looks at no groups.
    if (facts.expertsPerToken > facts.experts)
      config.refuse("num_experts_per_tok",
                    "at most n_routed_experts = " +
                        std::to_string(facts.experts),
                    std::to_string(facts.expertsPerToken));
    return;
  }
  facts.groups = config.integer("n_group", 1);
  facts.keptGroups = config.integer("topk_group", 1);
  if (facts.experts % facts.groups != 0)
    return config.refuse("n_group",
                         "a divisor of n_routed_experts = " +
                             std::to_string(facts.experts),
                         std::to_string(facts.groups));
  if (facts.keptGroups > facts.groups)
    return config.refuse("topk_group",
                         "at most n_group = " + std::to_string(facts.groups),
                         std::to_string(facts.keptGroups));
  int64_t perGroup = facts.experts / facts.groups;
  if (facts.groups > 1 && perGroup < 2)
    return config.refuse(
        "n_group",
        "groups of at least two experts (a group is ranked by its best two)",
        "groups of one");
  if (facts.expertsPerToken > perGroup * facts.keptGroups)
    config.refuse("num_experts_per_tok",
                  "at most the " + std::to_string(perGroup * facts.keptGroups) +
                      " experts of the kept groups (n_routed_experts / n_group "
                      "* topk_group)",
                  std::to_string(facts.expertsPerToken));
}

void k2c::readExperts(const ConfigObject &config, ModelFacts &facts) {
  facts.firstKDenseReplace = config.integer("first_k_dense_replace", 0);
  if (config.has("moe_layer_freq"))
    facts.moeLayerFreq = config.integer("moe_layer_freq", 1);
  else
    facts.notes.push_back("moe_layer_freq is absent: 1, the default of " +
                          facts.modelType);
  facts.experts = 1; // makes isMoE() a question of layers alone
  if (facts.moeLayers() > 0) {
    readRouter(config, facts);
  } else {
    facts.experts = facts.expertsPerToken = 0;
  }
  checkLayerTypes(config, facts);
  // The accounting holds for any pattern; code is generated for one run of each
  // kind.
  int64_t changes = 0;
  for (int64_t layer = 1; layer < facts.layers; ++layer)
    changes += facts.isMoE(layer) != facts.isMoE(layer - 1);
  if (changes > 1 && facts.compileProblem.empty())
    facts.compileProblem = "moe_layer_freq: expected the dense layers and then "
                           "the MoE layers, but got " +
                           std::to_string(changes) + " changes of kind";
  if (facts.denseLayers() > 0)
    facts.intermediateSize = config.integer("intermediate_size", 1);
}
