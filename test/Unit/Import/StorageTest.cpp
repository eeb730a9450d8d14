// Which weights are fp8: by exclusion lists in the spellings that checkpoints
// use, and by headers.
#include "Exclusions.h"
#include "StorageTypes.h"
#include "TestConfig.h"
#include "runtime/Checkpoint/SafetensorsWriter.h"

#include <gmock/gmock.h>

using namespace k2c;
using namespace k2c::test;
using testing::HasSubstr;

static bool isExcluded(const std::vector<std::string> &entries,
                       const std::string &module) {
  auto exclusions = Exclusions::create(entries);
  EXPECT_TRUE(static_cast<bool>(exclusions));
  return exclusions && exclusions->contains(module);
}

TEST(Exclusion, NamesAndPatterns) {
  EXPECT_TRUE(isExcluded({"lm_head"}, "lm_head"));
  EXPECT_TRUE(isExcluded({"model.layers.0"}, "model.layers.0.mlp.gate_proj"));
  EXPECT_FALSE(isExcluded({"model.layers.0"}, "model.layers.01.mlp.gate_proj"));
  EXPECT_TRUE(isExcluded({"kv_a_proj_with_mqa"},
                         "model.layers.3.self_attn.kv_a_proj_with_mqa"));
  EXPECT_FALSE(isExcluded({"gate"}, "model.layers.3.mlp.gate_proj"));
  EXPECT_TRUE(isExcluded({"model.layers.0.mlp.gate_up_proj"},
                         "model.layers.0.mlp.up_proj"));
  EXPECT_FALSE(isExcluded({"model.layers.0.mlp.gate_up_proj"},
                          "model.layers.0.mlp.down_proj"));
  EXPECT_TRUE(
      isExcluded({"re:.*self_attn.*"}, "model.layers.3.self_attn.o_proj"));
  // The dense MLP, not the experts.
  std::vector<std::string> mlp = {"re:.*mlp\\.(gate|up|gate_up|down)_proj.*"};
  EXPECT_TRUE(isExcluded(mlp, "model.layers.0.mlp.gate_proj"));
  EXPECT_FALSE(isExcluded(mlp, "model.layers.1.mlp.experts.5.gate_proj"));
  EXPECT_FALSE(isExcluded({""}, "lm_head"));
}

// Python's classes and groups mean what they mean there.
TEST(Exclusion, PatternsOfPython) {
  const char *o = "model.layers.12.self_attn.o_proj";
  EXPECT_TRUE(isExcluded({R"(re:model\.layers\.\d+\.self_attn\..*)"}, o));
  EXPECT_TRUE(
      isExcluded({R"(re:.*layers\.[\d]+\.(?:self_attn|mlp)\.\w+$)"}, o));
  EXPECT_FALSE(isExcluded({R"(re:.*layers\.\d\.)"}, o));
  EXPECT_FALSE(isExcluded({R"(re:layers\.12)"}, o)) << "from the start";
}

TEST(Exclusion, PatternsThatAreRefused) {
  auto error = [](const std::string &entry) {
    auto exclusions = Exclusions::create({entry});
    return exclusions ? "fine" : llvm::toString(exclusions.takeError());
  };
  EXPECT_EQ(error("re:a{2}"),
            "quantization_config: expected a pattern without counted "
            "repetitions, but got { in 're:a{2}'");
  EXPECT_EQ(error("re:(?!mlp).*"),
            "quantization_config: expected a pattern without (? but for (?:, "
            "but got (?! in 're:(?!mlp).*'");
  for (const char *entry : {"re:(a)\\1", "re:\\bmlp", "re:[\\]]"})
    EXPECT_THAT(error(entry),
                HasSubstr("expected a pattern whose only escapes are \\d, \\w "
                          "and those of punctuation outside of sets, but got"))
        << entry;
  EXPECT_THAT(error("re:mlp\\"), HasSubstr("but got a lone backslash in"));
  EXPECT_THAT(error("re:(a"),
              HasSubstr("expected a regular expression after "
                        "re:, but got parentheses not balanced"));
  EXPECT_THAT(
      error("re:" + std::string(1001, 'a')),
      HasSubstr("expected a pattern of at most 1000 characters, but got "
                "1001 characters in 're:aaa"));
}

/// Writes a checkpoint of zeros with the tensors that `change` leaves.
static void writeCheckpoint(
    const Folder &folder, const std::vector<ParameterSpec> &specs,
    const ModelFacts &facts, bool fp8,
    llvm::function_ref<void(
        std::map<std::string, std::pair<k2rt::DType, std::vector<int64_t>>> &)>
        change) {
  std::map<std::string, std::pair<k2rt::DType, std::vector<int64_t>>> tensors;
  for (const ParameterSpec &spec : specs)
    for (int64_t layer = 0; layer < facts.layers; ++layer) {
      if (spec.per != ParameterSpec::Per::Model &&
          facts.isMoE(layer) != (spec.kind == BlockKind::MoE))
        continue;
      for (int64_t expert = 0;
           expert <
           (spec.per == ParameterSpec::Per::Expert ? facts.experts : 1);
           ++expert) {
        std::string name = spec.tensorOf(layer, expert);
        std::vector<int64_t> shape =
            spec.columns ? std::vector<int64_t>{spec.rows, spec.columns}
                         : std::vector<int64_t>{spec.rows};
        bool quantized = fp8 && spec.role == ParameterSpec::Role::Linear;
        tensors[name] = {quantized ? k2rt::DType::F8_E4M3 : k2rt::DType::BF16,
                         shape};
        if (quantized)
          tensors[name + "_scale_inv"] = {
              k2rt::DType::F32,
              {(spec.rows + 127) / 128, (spec.columns + 127) / 128}};
      }
    }
  change(tensors);
  auto writer =
      k2rt::SafetensorsWriter::create(folder.path + "/model.safetensors");
  ASSERT_TRUE(bool(writer));
  for (const auto &[name, tensor] : tensors)
    ASSERT_TRUE(writer->declare(name, tensor.first, tensor.second).ok());
  ASSERT_TRUE(writer->commit().ok());
}

/// The error of resolving the storage of such a checkpoint, or the types found.
static std::string resolve(
    bool fp8,
    llvm::function_ref<void(
        std::map<std::string, std::pair<k2rt::DType, std::vector<int64_t>>> &)>
        change,
    const char *excluded = "") {
  Folder folder;
  auto config = smallConfig();
  if (fp8)
    config["quantization_config"] =
        std::string("{\"quant_method\": \"fp8\", \"weight_block_size\": [128, "
                    "128], \"modules_to_not_convert\": [") +
        excluded + "]}";
  auto facts = readModelFacts(folder.writeConfig(config));
  if (!facts)
    return llvm::toString(facts.takeError());
  std::vector<ParameterSpec> specs = endParameters(*facts);
  for (BlockKind kind : {BlockKind::Dense, BlockKind::MoE})
    for (const ParameterSpec &spec : blockParameters(*facts, kind))
      specs.push_back(spec);
  writeCheckpoint(folder, specs, *facts, fp8, change);
  auto storage = resolveStorage(*facts, specs);
  if (!storage)
    return llvm::toString(storage.takeError());
  std::string text;
  for (const auto &[name, type] : storage->types)
    text += name + (type == Storage::Fp8    ? "=fp8 "
                    : type == Storage::BF16 ? "=bf16 "
                                            : "=other ");
  return text;
}

using Tensors =
    std::map<std::string, std::pair<k2rt::DType, std::vector<int64_t>>>;

TEST(Headers, DecidePerTensor) {
  std::string types = resolve(true, [](Tensors &t) {
    t["model.layers.0.self_attn.kv_a_proj_with_mqa.weight"].first =
        k2rt::DType::BF16;
    t.erase("model.layers.0.self_attn.kv_a_proj_with_mqa.weight_scale_inv");
  });
  EXPECT_THAT(types, HasSubstr("dense.kv_a_proj_with_mqa=bf16"));
  EXPECT_THAT(types, HasSubstr("dense.q_a_proj=fp8"));
  EXPECT_THAT(types, HasSubstr("moe.kv_a_proj_with_mqa=fp8"));
  EXPECT_THAT(types, HasSubstr("moe.gate=bf16"));
  EXPECT_THAT(types, HasSubstr("moe.experts.down_proj=fp8"));
}

TEST(Headers, AListedModuleHasNoScale) {
  EXPECT_THAT(
      resolve(
          true, [](Tensors &) {}, "\"kv_a_proj_with_mqa\""),
      HasSubstr("model.layers.0.self_attn.kv_a_proj_with_mqa.weight: expected "
                "type BF16, for quantization_config excludes the module, but "
                "got F8_E4M3"));
}

TEST(Headers, OnlyBlocksNeedNoEnds) {
  EXPECT_THAT(resolve(false,
                      [](Tensors &t) {
                        t.erase("lm_head.weight");
                        t.erase("model.embed_tokens.weight");
                      }),
              HasSubstr("embed_tokens=bf16"));
}

TEST(Headers, Errors) {
  const char *up = "model.layers.1.mlp.experts.3.up_proj.weight";
  EXPECT_THAT(resolve(false, [&](Tensors &t) { t.erase(up); }),
              HasSubstr("model.layers.1.mlp.experts.3.up_proj.weight: expected "
                        "a tensor of shape [moe_intermediate_size, "
                        "hidden_size] = [64, 256], but got no such tensor"));
  EXPECT_THAT(
      resolve(false, [&](Tensors &t) { t[up].second = {64, 255}; }),
      HasSubstr("up_proj.weight: expected shape [moe_intermediate_size, "
                "hidden_size] = [64, 256], but got [64, 255]"));
  EXPECT_THAT(
      resolve(false, [&](Tensors &t) { t[up].first = k2rt::DType::I8; }),
      HasSubstr("up_proj.weight: expected type BF16 or F8_E4M3, but got I8"));
  EXPECT_THAT(
      resolve(true,
              [&](Tensors &t) { t.erase(std::string(up) + "_scale_inv"); }),
      HasSubstr("expected a companion"));
  for (const char *other : {"_scale", "_other"})
    EXPECT_THAT(resolve(true,
                        [&](Tensors &t) {
                          auto scale =
                              t.extract(std::string(up) + "_scale_inv");
                          scale.key() = std::string(up) + other;
                          t.insert(std::move(scale));
                        }),
                HasSubstr("expected a companion"))
        << other;
  EXPECT_THAT(resolve(true,
                      [&](Tensors &t) {
                        t[std::string(up) + "_scale_inv"].second = {2, 2};
                      }),
              HasSubstr("up_proj.weight_scale_inv: expected shape [1, 2], one "
                        "multiplier per block of 128 x 128, but got [2, 2]"));
  EXPECT_THAT(resolve(false,
                      [&](Tensors &t) {
                        t[std::string(up) + "_scale_inv"] = {k2rt::DType::F32,
                                                             {1, 2}};
                      }),
              HasSubstr("expected scales for F8_E4M3 weights only, but got a "
                        "weight of type BF16"));
  EXPECT_THAT(resolve(true,
                      [&](Tensors &t) {
                        t[up].first = k2rt::DType::BF16;
                        t.erase(std::string(up) + "_scale_inv");
                      }),
              HasSubstr("expected F8_E4M3 as "
                        "model.layers.1.mlp.experts.0.up_proj.weight has"));
}
