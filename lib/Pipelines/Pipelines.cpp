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

void k2c::registerPipelines() {
  PassPipelineRegistration<>("k2c-k2-pipeline", "Form kernels in a k2.model",
                             [](OpPassManager &passes) {
                               buildK2Pipeline(passes, PipelineOptions());
                             });
  PassPipelineRegistration<>("k2c-k2-to-tile-pipeline",
                             "Write the tile program of every kernel",
                             buildK2ToTilePipeline);
  PassPipelineRegistration<>("k2c-tile-pipeline", "Schedule tile kernels",
                             buildTilePipeline);
}
