// The JSON that a plan becomes, written out by hand from artifact.md's tables.
#include "k2c/Artifact/Manifest.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace k2c;
using nlohmann::ordered_json;

namespace {
const char *const kPlan = R"(
plan.program @m attributes {model = {hidden_size = 8 : i64, rope = {inv_freq = array<f32: 1.0, 0.5>, scale = 1.0 : f64}},
                            options = {activations = "bf16", batch_invariant = false}, target = "sm_90a"} {
  plan.param @w : bf16 [4, 6] stride 8 layer layers [0, 2] parts [#plan.part<"l.{layer}.w" rows 4 at 0>]
  plan.buffer @x : bf16 [T, 6] stride 8 step
  plan.buffer @ids : i32 [T] input
  plan.worklist @tiles rows 64 rows_per_token 2
  plan.kernel @k code "shared" block 128 args [#plan.kernel_arg<pointer "x" readwrite>, #plan.kernel_arg<i32 "x.d0" read>] ops ["k2.linear"]
  plan.entry @model {
    plan.make_worklist @tiles
    plan.layers "dense" from 0 to 2 {
      plan.launch @k grid [W_tiles, ceildiv(T, 64), 1] args [#plan.bind<buffer @x [layer]>, #plan.bind<i32 T * 2>]
      plan.require layer layer ids @ids
    }
    plan.when le(T, 16) { plan.zero @x } else { plan.copy @x to @x }
    plan.trace "x" layer 0 of @x
  }
})";

const char *const kExpected = R"({
  "format": 1,
  "compiler": {"name": "k2c", "version": "?"},
  "target": "sm_90a",
  "options": {"activations": "bf16", "batch_invariant": false},
  "model": {"hidden_size": 8, "rope": {"inv_freq": [1.0, 0.5], "scale": 1.0}},
  "params": [{"name": "w", "dtype": "bf16", "shape": [4, 6], "row_stride": 8, "per": "layer", "layers": [0, 2],
              "parts": [{"tensor": "l.{layer}.w", "rows": 4, "at": 0}], "layout": "row_major"}],
  "buffers": [{"name": "x", "dtype": "bf16", "shape": ["T", 6], "row_stride": 8, "class": "step"},
              {"name": "ids", "dtype": "i32", "shape": ["T"], "class": "input"},
              {"name": "tiles", "dtype": "i32", "shape": ["W_tiles", 2], "class": "worklist"}],
  "kernels": [{"name": "k", "ptx": "kernels/k.ptx", "entry": "shared", "block": 128, "cluster": [1, 1, 1], "shared_bytes": 4096,
               "cubin": "kernels/k.sm_90a.cubin", "registers": 40, "ptx_sha256": "ab",
               "args": [{"kind": "pointer", "name": "x", "access": "readwrite"}, {"kind": "i32", "name": "x.d0"}],
               "source_ops": ["k2.linear"]}],
  "worklists": [{"name": "tiles", "maker": {"kind": "query_tiles", "rows": 64, "rows_per_token": 2}}],
  "entries": {"model": [
    {"op": "worklist", "name": "tiles"},
    {"op": "layers", "from": 0, "to": 2, "block": "dense", "commands": [
      {"op": "launch", "kernel": "k", "grid": ["W_tiles", ["ceildiv", "T", 64], 1],
       "args": [{"buffer": "x", "index": "layer"}, {"i32": ["mul", "T", 2]}], "programmatic": false},
      {"op": "require", "layer": "layer", "ids": "ids"}]},
    {"op": "when", "condition": ["le", "T", 16], "commands": [{"op": "zero", "buffer": "x"}],
     "else": [{"op": "copy", "from": "x", "to": "x"}]},
    {"op": "trace", "name": "x", "layer": 0, "buffer": "x"}]}
})";
} // namespace

TEST(Manifest, IsWhatTheFormatSays) {
  mlir::MLIRContext context;
  context.loadDialect<plan::PlanDialect>();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(kPlan, &context);
  ASSERT_TRUE(module);
  llvm::StringMap<KernelFacts> facts;
  facts["shared"] = {"ab", 4096, 40};
  ordered_json manifest =
      buildManifest(*module->getOps<plan::ProgramOp>().begin(), facts);
  EXPECT_FALSE(manifest["compiler"]["version"].get<std::string>().empty());
  manifest["compiler"]["version"] = "?";
  EXPECT_EQ(manifest.dump(1), ordered_json::parse(kExpected).dump(1));
  // The printed form says the same.
  EXPECT_EQ(ordered_json::parse(printManifest(manifest)), manifest);
}

TEST(Manifest, WithoutPtxasThereIsNoCubin) {
  mlir::MLIRContext context;
  context.loadDialect<plan::PlanDialect>();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(kPlan, &context);
  ASSERT_TRUE(module);
  llvm::StringMap<KernelFacts> facts;
  facts["shared"] = {"ab", 0, std::nullopt};
  ordered_json manifest =
      buildManifest(*module->getOps<plan::ProgramOp>().begin(), facts);
  EXPECT_FALSE(manifest["kernels"][0].contains("cubin"));
  EXPECT_FALSE(manifest["kernels"][0].contains("registers"));
}
