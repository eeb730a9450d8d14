//===- TestConfig.h - Configs for tests of the importer ---------*- C++ -*-===//
#ifndef TEST_UNIT_IMPORT_TESTCONFIG_H
#define TEST_UNIT_IMPORT_TESTCONFIG_H

#include "k2c/Import/Import.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <string>

namespace k2c::test {

/// The fields of a small K2 model, as JSON text by name.
inline std::map<std::string, std::string> smallConfig() {
  return {{"model_type", "\"kimi_k2\""},
          {"hidden_size", "256"},
          {"num_hidden_layers", "3"},
          {"num_attention_heads", "4"},
          {"num_key_value_heads", "4"},
          {"q_lora_rank", "128"},
          {"kv_lora_rank", "128"},
          {"qk_nope_head_dim", "64"},
          {"qk_rope_head_dim", "32"},
          {"v_head_dim", "64"},
          {"intermediate_size", "512"},
          {"moe_intermediate_size", "64"},
          {"n_routed_experts", "16"},
          {"num_experts_per_tok", "4"},
          {"n_shared_experts", "1"},
          {"n_group", "1"},
          {"topk_group", "1"},
          {"scoring_func", "\"sigmoid\""},
          {"topk_method", "\"noaux_tc\""},
          {"norm_topk_prob", "true"},
          {"routed_scaling_factor", "2.827"},
          {"first_k_dense_replace", "1"},
          {"moe_layer_freq", "1"},
          {"hidden_act", "\"silu\""},
          {"vocab_size", "512"},
          {"max_position_embeddings", "131072"},
          {"rms_norm_eps", "1e-06"},
          {"rope_theta", "50000.0"},
          {"rope_scaling",
           "{\"type\": \"yarn\", \"factor\": 32.0, "
           "\"original_max_position_embeddings\": 4096, \"beta_fast\": 1.0, "
           "\"beta_slow\": 1.0, \"mscale\": 1.0, \"mscale_all_dim\": 1.0}"},
          {"torch_dtype", "\"bfloat16\""}};
}

/// A fresh folder that disappears with the object.
class Folder {
public:
  Folder() {
    llvm::SmallString<128> made;
    if (llvm::sys::fs::createUniqueDirectory("k2c-import", made))
      std::abort();
    path = made.str().str();
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string write(const std::string &name, const std::string &text) const {
    std::ofstream(path + "/" + name, std::ios::binary) << text;
    return path + "/" + name;
  }
  std::string
  writeConfig(const std::map<std::string, std::string> &fields) const {
    std::string text = "{";
    for (const auto &[name, value] : fields)
      text += (text.size() > 1 ? ",\n" : "\n") + ("\"" + name + "\": " + value);
    return write("config.json", text + "\n}\n");
  }
  std::string path;
};

/// The error that reading `fields` gives; empty when it succeeds.
inline std::string errorOf(const std::map<std::string, std::string> &fields) {
  Folder folder;
  auto facts = readModelFacts(folder.writeConfig(fields));
  return facts ? std::string() : llvm::toString(facts.takeError());
}

inline ModelFacts factsOf(const std::map<std::string, std::string> &fields) {
  Folder folder;
  auto facts = readModelFacts(folder.writeConfig(fields));
  if (!facts) {
    ADD_FAILURE() << llvm::toString(facts.takeError());
    return {};
  }
  return *facts;
}

} // namespace k2c::test

#endif // TEST_UNIT_IMPORT_TESTCONFIG_H
