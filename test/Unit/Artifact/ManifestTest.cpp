//===- ManifestTest.cpp - Reading manifest.json is strict -----------------===//
#include "runtime/Artifact/Manifest.h"
#include "runtime/Checkpoint/MappedFile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace k2rt;
using nlohmann::json;
using testing::HasSubstr;

namespace {
/// The hand-written artifact of the runtime's own test.
json tiny() {
  auto text = readTextFile(K2C_SOURCE_DIR
                           "/test/Runtime/Inputs/tiny.art/manifest.json");
  return json::parse(*text);
}

/// The message for the tiny manifest with one value replaced or added.
std::string refusal(const char *pointer, const json &value) {
  json manifest = tiny();
  manifest[json::json_pointer(pointer)] = value;
  auto parsed = parseManifest(manifest.dump(), "manifest.json");
  return parsed ? "accepted" : parsed.status().message();
}

std::string refusalWithout(const char *pointer, const char *key) {
  json manifest = tiny();
  manifest[json::json_pointer(pointer)].erase(key);
  auto parsed = parseManifest(manifest.dump(), "manifest.json");
  return parsed ? "accepted" : parsed.status().message();
}

TEST(Manifest, ReadsEverything) {
  auto m = parseManifest(tiny().dump(), "manifest.json");
  ASSERT_TRUE(m) << m.status().message();
  EXPECT_EQ(m->target, "sm_90a");
  EXPECT_EQ(m->model.hiddenSize, 6);
  EXPECT_EQ(m->model.inverseFrequencies, (std::vector<float>{1.0f}));
  EXPECT_EQ(m->model.constants.at("num_attention_heads"), 1);
  ASSERT_EQ(m->params.size(), 5u);
  EXPECT_EQ(m->params[3].per, Per::Expert);
  EXPECT_EQ(m->params[3].firstLayer, 1);
  EXPECT_EQ(m->params[3].parts[0].columns, 6);
  EXPECT_EQ(m->params[1].parts[0].columns, 0);
  int x = m->findBuffer("x");
  ASSERT_GE(x, 0);
  EXPECT_EQ(m->buffers[x].rowStride, 8);
  EXPECT_EQ(m->worklists[0].buffer, m->findBuffer("query_tiles"));
  EXPECT_FALSE(m->kernels[0].args[3].reads);
  EXPECT_TRUE(m->kernels[2].args[0].reads && m->kernels[2].args[0].writes);
  const std::vector<Command> &model = m->entries.at("model");
  ASSERT_EQ(model.size(), 6u);
  EXPECT_EQ(model[3].op, CommandOp::Layers);
  EXPECT_EQ(model[3].commands[0].args[2].index->str(), "layer");
  EXPECT_EQ(model[4].from, 1);
}

TEST(Manifest, LooksAtTheFormatFirst) {
  EXPECT_THAT(refusal("/format", 2),
              HasSubstr("manifest.json: format: expected a format of at most "
                        "1 (a newer runtime is needed), but got 2"));
  EXPECT_THAT(refusal("/format", "1"),
              HasSubstr("format: expected an integer"));
  EXPECT_THAT(
      parseManifest("{\"format\":9,\"new\":[]}", "m").status().message(),
      HasSubstr("a newer runtime is needed"));
}

TEST(Manifest, RefusesWhatIsNoObject) {
  EXPECT_THAT(parseManifest("", "m.json").status().message(),
              HasSubstr("m.json: expected JSON, but got a syntax error"));
  EXPECT_THAT(parseManifest("[]", "m.json").status().message(),
              HasSubstr("m.json: expected a field 'format', but got none"));
  EXPECT_THAT(parseManifest(R"({"a":1,"a":2})", "m").status().message(),
              HasSubstr("once, but got 'a' twice"));
}

TEST(Manifest, NamesTheFieldThatIsWrong) {
  EXPECT_THAT(refusal("/surplus", 1),
              HasSubstr("expected only known fields, but got 'surplus'"));
  EXPECT_THAT(refusalWithout("", "buffers"),
              HasSubstr("expected a field 'buffers', but got none"));
  EXPECT_THAT(
      refusal("/model/hidden_size", "6"),
      HasSubstr("model.hidden_size: expected an integer, but got \"6\""));
  EXPECT_THAT(refusal("/model/hidden_size", 0),
              HasSubstr("expected an integer from 1 to 2147483647, but got 0"));
  EXPECT_THAT(refusal("/model/qk_rope_head_dim", 3),
              HasSubstr("model.qk_rope_head_dim: expected an even number"));
  EXPECT_THAT(
      refusal("/model/rope/inv_freq", json::array({1, 2})),
      HasSubstr("model.rope.inv_freq: expected an array of 1, but got 2"));
  EXPECT_THAT(refusal("/model/extra", 1.5),
              HasSubstr("model.extra: expected an integer or a string"));
  EXPECT_THAT(refusalWithout("/kernels/0", "ptx_sha256"),
              HasSubstr("kernels[0]: expected a field 'ptx_sha256'"));
  EXPECT_THAT(refusal("/kernels/0/ptx", "../a.ptx"),
              HasSubstr("kernels[0].ptx: expected a path inside the artifact"));
  EXPECT_THAT(refusal("/kernels/1/name", "embed"),
              HasSubstr("kernels[1].name: expected every kernel once"));
  EXPECT_THAT(
      refusal("/kernels/0/block", 2048),
      HasSubstr("kernels[0].block: expected an integer from 1 to 1024"));
  EXPECT_THAT(
      refusal("/kernels/0/args/0/kind", "tensor_map"),
      HasSubstr("kernels[0].args[0].kind: expected pointer | i32 | f32, "
                "but got \"tensor_map\""));
}

TEST(Manifest, ChecksNumbersOfTheModelAndOfKernels) {
  EXPECT_THAT(refusal("/model/num_experts_per_tok", 5),
              HasSubstr("model.num_experts_per_tok: expected at most the "
                        "n_routed_experts 4, but got 5"));
  EXPECT_THAT(
      refusal("/model/moe_layers", json::array({2, 1})),
      HasSubstr("model.moe_layers[1]: expected an integer from 2 to 2"));
  EXPECT_THAT(refusal("/model/page_size", -64),
              HasSubstr("model.page_size: expected an integer from 1 to"));
  EXPECT_THAT(refusal("/model/rope/inv_freq/0", -1.5),
              HasSubstr("model.rope.inv_freq[0]: expected a number of at least "
                        "0, but got -1.5"));
  EXPECT_THAT(refusal("/model/rope/inv_freq/0", 1e39),
              HasSubstr("inv_freq[0]: expected a number of float32, but got "
                        "1e+39"));
  EXPECT_THAT(
      refusal("/model/rope/scale", 0),
      HasSubstr("model.rope.scale: expected a positive number, but got 0"));
  for (int block : {0, -128, 1025})
    EXPECT_THAT(refusal("/kernels/0/block", block),
                HasSubstr("kernels[0].block: expected an integer from 1 to "
                          "1024, but got " +
                          std::to_string(block)));
  EXPECT_THAT(refusal("/kernels/0/shared_bytes", 232449),
              HasSubstr("kernels[0].shared_bytes: expected an integer from 0 "
                        "to 232448, but got 232449"));
  EXPECT_THAT(refusal("/kernels/0/registers", 256),
              HasSubstr("kernels[0].registers: expected an integer from 0 to"));
  EXPECT_THAT(refusal("/kernels/0/cluster", json::array({1, 0, 1})),
              HasSubstr("kernels[0].cluster[1]: expected an integer from 1"));
  EXPECT_THAT(refusal("/kernels/0/cluster", json::array({8, 4, 1})),
              HasSubstr("kernels[0].cluster: expected at most 16 CTAs, but got "
                        "32"));
  for (const char *field : {"rows", "rows_per_token"})
    EXPECT_THAT(
        refusal((std::string("/worklists/0/maker/") + field).c_str(), 0),
        HasSubstr(std::string("worklists[0].maker.") + field +
                  ": expected an integer from 1 to 2147483647, but got 0"));
}

TEST(Manifest, ChecksParams) {
  EXPECT_THAT(refusal("/params/0/dtype", "f16"),
              HasSubstr("params[0].dtype: expected bf16 | f32 | f8e4m3 | i32"));
  EXPECT_THAT(refusal("/params/0/row_stride", 5),
              HasSubstr("params[0].row_stride: expected an integer from 6"));
  EXPECT_THAT(refusal("/params/1/row_stride", 0),
              HasSubstr("params[1].row_stride: expected an integer from 1"));
  EXPECT_THAT(refusal("/params/0/shape/0", 0),
              HasSubstr("params[0].shape[0]: expected an integer from 1"));
  EXPECT_THAT(refusal("/params/0/parts/0/at", -1),
              HasSubstr("params[0].parts[0].at: expected an integer of at "
                        "least 0, but got -1"));
  EXPECT_THAT(refusal("/params/0/parts/0/rows", 0),
              HasSubstr("params[0].parts[0].rows: expected an integer of at "
                        "least 1, but got 0"));
  EXPECT_THAT(refusal("/params/0/parts/0/cols", 7),
              HasSubstr("params[0].parts[0].cols: expected an integer from 1 "
                        "to 6, but got 7"));
  EXPECT_THAT(refusal("/params/0/shape", json::array({1, 2, 3})),
              HasSubstr("params[0].shape: expected one or two dimensions"));
  EXPECT_THAT(refusal("/params/0/layout", "fragments"),
              HasSubstr("params[0].layout: expected row_major"));
  EXPECT_THAT(
      refusal("/params/0/parts/0/rows", 11),
      HasSubstr("params[0].parts[0]: expected rows within the 10 of the "
                "param, but got 11 at 0"));
  EXPECT_THAT(refusal("/params/0/parts", json::array()),
              HasSubstr("params[0].parts: expected at least one part"));
  EXPECT_THAT(refusal("/params/1/parts/0/tensor", "w"),
              HasSubstr("params[1].parts[0].tensor: expected {layer} and "
                        "{expert} as 'per' says, but got 'w'"));
  EXPECT_THAT(
      refusal("/params/1/layers", json::array({1, 3})),
      HasSubstr("params[1].layers[1]: expected an integer from 1 to 2"));
  json none = tiny();
  none["model"]["n_routed_experts"] = none["model"]["num_experts_per_tok"] = 0;
  EXPECT_THAT(parseManifest(none.dump(), "m").status().message(),
              HasSubstr("expected a model with n_routed_experts"));
}

TEST(Manifest, ChecksBuffersAndExpressions) {
  EXPECT_THAT(refusal("/buffers/0/shape/0", "X"),
              HasSubstr("buffers[0].shape[0]: expected a known symbol, but got "
                        "\"X\""));
  EXPECT_THAT(refusal("/buffers/0/shape/0", "layer"),
              HasSubstr("expected a known symbol"));
  EXPECT_THAT(refusal("/buffers/0/shape/0", json::array({"pow", "T", 2})),
              HasSubstr("shape[0][0]: expected an operator, but got \"pow\""));
  EXPECT_THAT(refusal("/buffers/0/shape/0", json::array({"add", "T"})),
              HasSubstr("shape[0]: expected an array of 3, but got 2"));
  EXPECT_THAT(refusal("/buffers/0/shape/0", 1.5),
              HasSubstr("shape[0]: expected an integer, but got 1.5"));
  EXPECT_THAT(refusal("/buffers/0/shape/0", -1),
              HasSubstr("buffers[0].shape[0]: expected an integer of at least "
                        "0, but got -1"));
  EXPECT_THAT(refusal("/buffers/0/row_stride", -1),
              HasSubstr("buffers[0].row_stride: expected an integer from 0"));
  EXPECT_THAT(refusal("/buffers/8/row_stride", 5),
              HasSubstr("buffers[8].row_stride: expected an integer from 6"));
  EXPECT_THAT(refusal("/worklists/0/name", "other"), HasSubstr("expected"));
  EXPECT_THAT(refusal("/buffers/7/class", "step"),
              HasSubstr("worklists[0]: expected a buffer of class worklist"));
  EXPECT_THAT(refusal("/worklists/0/maker/kind", "kv_pieces"),
              HasSubstr("worklists[0].maker.kind: expected query_tiles"));
}

TEST(Manifest, ChecksCommands) {
  const std::string at = "/entries/model/0";
  auto launch = [&](const char *field, const json &value) {
    return refusal((at + field).c_str(), value);
  };
  EXPECT_THAT(launch("/op", "jump"),
              HasSubstr("entries.model[0].op: expected launch | layers"));
  EXPECT_THAT(
      launch("/kernel", "nobody"),
      HasSubstr("entries.model[0].kernel: expected the name of a kernel, "
                "but got 'nobody'"));
  EXPECT_THAT(launch("/grid", json::array({1, 1})),
              HasSubstr("grid: expected an array of 3, but got 2"));
  EXPECT_THAT(launch("/grid/0", 0),
              HasSubstr("entries.model[0].grid[0]: expected an integer from 1 "
                        "to 2147483647, but got 0"));
  EXPECT_THAT(launch("/grid/0", -1), HasSubstr("2147483647, but got -1"));
  EXPECT_THAT(launch("/grid/0", int64_t(1) << 40),
              HasSubstr("to 2147483647, but got 1099511627776"));
  EXPECT_THAT(launch("/grid/1", 65536),
              HasSubstr("entries.model[0].grid[1]: expected an integer from 1 "
                        "to 65535, but got 65536"));
  EXPECT_THAT(launch("/grid/2", 1.5),
              HasSubstr("grid[2]: expected an integer, but got 1.5"));
  EXPECT_THAT(
      launch("/args/1/i32", int64_t(1) << 31),
      HasSubstr("entries.model[0].args[1].i32: expected an integer from "
                "-2147483648 to 2147483647, but got 2147483648"));
  EXPECT_THAT(
      refusal("/entries/model/3/commands/0/args/2/index", -1),
      HasSubstr("index: expected an integer of at least 0, but got -1"));
  EXPECT_THAT(
      refusal("/entries/model/2/layer", 3),
      HasSubstr("entries.model[2].layer: expected an integer from 0 to 2"));
  EXPECT_THAT(
      refusal("/entries/model/3/from", -1),
      HasSubstr("entries.model[3].from: expected an integer from 0 to 2"));
  EXPECT_THAT(
      refusal("/entries/model/4/to", 0),
      HasSubstr("entries.model[4].to: expected an integer from 1 to 2"));
  EXPECT_THAT(launch("/args", json::array()),
              HasSubstr("args: expected 5 arguments for 'embed', but got 0"));
  EXPECT_THAT(
      launch("/args/0", json{{"i32", 1}}),
      HasSubstr("args[0]: expected a buffer or param for pointer 'ids', "
                "but got i32"));
  EXPECT_THAT(
      launch("/args/1", json{{"buffer", "x"}}),
      HasSubstr("args[1]: expected an i32 for 'ids.d0', but got buffer"));
  EXPECT_THAT(launch("/args/3", json{{"param", "lm_head"}}),
              HasSubstr("expected a buffer for 'x', which is written"));
  EXPECT_THAT(launch("/args/2", json{{"param", "dense.w"}}),
              HasSubstr("expected a param of the model outside layers"));
  EXPECT_THAT(launch("/args/0", json{{"buffer", "token_ids"}, {"offset", 1}}),
              HasSubstr("expected only known fields, but got 'offset'"));
  EXPECT_THAT(
      refusal("/entries/model/3/to", 2),
      HasSubstr("expected a param of layers 0 to 2, but got 'dense.w' of "
                "0 to 1"));
  EXPECT_THAT(
      refusal("/entries/model/3/commands/0", tiny()["entries"]["model"][3]),
      HasSubstr("expected no layers inside layers"));
  EXPECT_THAT(refusal("/entries/model/2/name", "y"),
              HasSubstr("entries.model[2].name: expected x | router.ids"));
  EXPECT_THAT(refusal("/entries/model/1/name", "tiles"),
              HasSubstr("expected the name of a worklist, but got 'tiles'"));
}
} // namespace
