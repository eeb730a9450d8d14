//===- Pipelines.cpp - The compiler's table of contents -------------------===//
//
// config.json -> k2 -> (kernels: tile -> NVVM -> LLVM -> PTX) + (host: plan).
// A verify pass ends every stage: what the next one may rely on is checked
// where it is made.
//
//===----------------------------------------------------------------------===//
#include "k2c/Pipelines/Pipelines.h"

#include "dialects/K2/K2.h"
#include "dialects/Tile/Tile.h"
#include "k2c/Conversion/K2ToPlan/Passes.h"
#include "k2c/Conversion/K2ToTile/Passes.h"
#include "k2c/Conversion/TileToNVVM/Passes.h"
#include "k2c/Transforms/K2/Passes.h"
#include "k2c/Transforms/Plan/Passes.h"
#include "k2c/Transforms/Tile/Passes.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace k2c;

void k2c::buildK2Pipeline(OpPassManager &passes,
                          const PipelineOptions &options) {
  OpPassManager &model = passes.nest<k2::ModelOp>();
  // Before kernels are formed: a fused weight is one linear.
  model.addPass(createFuseParallelLinearsPass());
  // The cache holds latents; attention works on them as they are.
  if (options.numerics != "reference") // it moves roundings
    model.addPass(createAbsorbAttentionPass());
  // The only pass that decides what is a kernel.
  model.addPass(createFormKernelsPass());
  // The only one that decides what a CTA of it works on.
  model.addPass(createChooseKernelConfigsPass());
  VerifyFusedPassOptions verify;
  verify.batchInvariant = options.batchInvariant;
  model.addPass(createVerifyFusedPass(verify));
}

void k2c::buildK2ToTilePipeline(OpPassManager &passes) {
  passes.addPass(createConvertK2ToTilePass());
  OpPassManager &kernel = passes.nest<tile::KernelOp>();
  kernel.addPass(createCanonicalizerPass());
  kernel.addPass(createCSEPass());
  kernel.addPass(createTileVerifyTiledPass());
}

void k2c::buildK2ToPlanPipeline(OpPassManager &passes,
                                const PipelineOptions &options) {
  ConvertK2ToPlanPassOptions toPlan;
  toPlan.target = options.target;
  toPlan.activations = options.activations;
  toPlan.numerics = options.numerics;
  toPlan.schedule = options.schedule;
  toPlan.batchInvariant = options.batchInvariant;
  toPlan.configHash = options.configHash;
  passes.addPass(createConvertK2ToPlanPass(toPlan));
  passes.addPass(createPlanVerifyCompletePass());
}

void k2c::buildTilePipeline(OpPassManager &passes) {
  OpPassManager &kernel = passes.nest<tile::KernelOp>();
  // Operands of dots go through shared memory, ahead of their use.
  kernel.addPass(createTilePipelineLoopsPass());
  // Every tile gets its place in the threads' registers.
  kernel.addPass(createTileInferLayoutsPass());
  kernel.addPass(createCanonicalizerPass());
  kernel.addPass(createCSEPass());
  kernel.addPass(createTileAllocateSharedPass());
  // Last: barriers depend on all that touches shared memory.
  kernel.addPass(createTileInsertFencesPass());
  kernel.addPass(createTileVerifyScheduledPass());
}

void k2c::buildTileToNVVMPipeline(OpPassManager &passes,
                                  const PipelineOptions &options) {
  ConvertTileToNVVMPassOptions toNVVM;
  toNVVM.chip = options.target;
  passes.addPass(createConvertTileToNVVMPass(toNVVM));
}

namespace {
/// PipelineOptions on a command line.
struct StageOptions : PassPipelineOptions<StageOptions> {
  Option<std::string> target{*this, "target", llvm::cl::init("sm_90a"),
                             llvm::cl::desc("Architecture")};
  Option<std::string> activations{*this, "activations", llvm::cl::init("bf16"),
                                  llvm::cl::desc("bf16 or fp8")};
  Option<std::string> numerics{*this, "numerics", llvm::cl::init("fused"),
                               llvm::cl::desc("fused or reference")};
  Option<std::string> schedule{*this, "schedule", llvm::cl::init("auto"),
                               llvm::cl::desc("auto or baseline")};
  Option<bool> batchInvariant{*this, "batch-invariant", llvm::cl::init(false),
                              llvm::cl::desc("Same result in every batch")};
  Option<std::string> configHash{*this, "config-hash", llvm::cl::init(""),
                                 llvm::cl::desc("SHA-256 of config.json")};

  PipelineOptions get() const {
    PipelineOptions options;
    options.target = target;
    options.activations = activations;
    options.numerics = numerics;
    options.schedule = schedule;
    options.batchInvariant = batchInvariant;
    options.configHash = configHash;
    return options;
  }
};

void registerStage(StringRef name, StringRef description,
                   void (*build)(OpPassManager &, const PipelineOptions &)) {
  PassPipelineRegistration<StageOptions>(
      name, description,
      [build](OpPassManager &passes, const StageOptions &options) {
        build(passes, options.get());
      });
}
} // namespace

std::string k2c::remainingPipelines(Stage stage,
                                    const PipelineOptions &options) {
  // What is not the default must be said to each pipeline.
  std::string text;
  auto add = [&](StringRef name, StringRef value, StringRef usual) {
    if (value != usual)
      text += (" " + name + "=" + value).str();
  };
  PipelineOptions usual;
  add("target", options.target, usual.target);
  add("activations", options.activations, usual.activations);
  add("numerics", options.numerics, usual.numerics);
  add("schedule", options.schedule, usual.schedule);
  add("batch-invariant", options.batchInvariant ? "true" : "false", "false");
  add("config-hash", options.configHash, "");
  if (!text.empty())
    text = "='" + text.substr(1) + "'";
  std::string line;
  if (stage <= Stage::K2)
    line += " --k2c-k2-to-fused" + text;
  if (stage <= Stage::Fused)
    line += " --k2c-fused-to-tile" + text;
  if (stage <= Stage::Tile)
    line += " --k2c-tile-to-scheduled" + text;
  if (stage <= Stage::Scheduled)
    line += " --k2c-scheduled-to-nvvm" + text;
  if (stage <= Stage::NVVM)
    line += " --k2c-nvvm-to-llvm";
  return line + " --k2c-emit-ptx";
}

void k2c::registerPipelines() {
  registerStage("k2c-k2-to-fused", "Form the kernels of a model",
                buildK2Pipeline);
  registerStage("k2c-fused-to-tile",
                "Write the tile program of every kernel, and the plan",
                [](OpPassManager &passes, const PipelineOptions &options) {
                  buildK2ToTilePipeline(passes);
                  buildK2ToPlanPipeline(passes, options);
                });
  registerStage("k2c-tile-to-scheduled", "Schedule tile kernels",
                [](OpPassManager &passes, const PipelineOptions &) {
                  buildTilePipeline(passes);
                });
  registerStage("k2c-scheduled-to-nvvm", "Write the code of one thread",
                buildTileToNVVMPipeline);
}
