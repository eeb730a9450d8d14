//===- Pipelines.h - The compiler's table of contents -----------*- C++ -*-===//
#ifndef K2C_PIPELINES_PIPELINES_H
#define K2C_PIPELINES_PIPELINES_H

#include "mlir/Pass/PassManager.h"
#include <string>

namespace k2c {

/// The stages of a compile, in order.
enum class Stage { K2, Fused, Tile, Scheduled, NVVM, LLVM, PTX, Artifact };

/// What changes generated code; recorded in the manifest.
struct PipelineOptions {
  std::string target = "sm_90a";
  std::string activations = "bf16";
  std::string numerics = "fused";
  std::string schedule = "auto";
  /// A sequence's result depends neither on the rest of the batch nor on how it
  /// was cut into steps.
  bool batchInvariant = false;
  std::string configHash; // SHA-256 of config.json
};

/// k2: which ops share a kernel, and how each kernel is cut into CTAs.
void buildK2Pipeline(mlir::OpPassManager &passes,
                     const PipelineOptions &options);

/// k2 -> tile: the program of one CTA for every kernel.
void buildK2ToTilePipeline(mlir::OpPassManager &passes);

/// k2 -> plan: what is left of the model is buffers, weights and commands.
void buildK2ToPlanPipeline(mlir::OpPassManager &passes,
                           const PipelineOptions &options);

/// tile: from the abstract to the scheduled level, kernel by kernel.
void buildTilePipeline(mlir::OpPassManager &passes);

/// tile -> NVVM: per-thread code, one gpu.module a kernel.
void buildTileToNVVMPipeline(mlir::OpPassManager &passes,
                             const PipelineOptions &options);

/// The options of k2-opt that bring the IR of a stage to PTX.
std::string remainingPipelines(Stage stage, const PipelineOptions &options);

/// `k2c-k2-to-fused` and so on, from one stage of `k2c --dump-stages` to the
/// next, for k2-opt.
void registerPipelines();

} // namespace k2c

#endif // K2C_PIPELINES_PIPELINES_H
