// From a converted kernel module to PTX text, in process.
#ifndef K2C_TARGET_PTX_H
#define K2C_TARGET_PTX_H

#include "mlir/Support/LLVM.h"

#include <cstdint>
#include <string>

namespace mlir {
class DialectRegistry;
class OpPassManager;
namespace gpu {
class GPUModuleOp;
} // namespace gpu
} // namespace mlir

namespace k2c {

/// The translations to LLVM IR that `emitPTX` needs.
void registerPTXTranslations(mlir::DialectRegistry &registry);

/// Adds to a pass manager of builtin.module the passes that take the result of
/// convert-tile-to-nvvm to the LLVM dialect: scf, arith, math and vector are
/// lowered and every function gets the debug scope that `.loc` needs.
void buildNVVMToLLVMPipeline(mlir::OpPassManager &passes);

/// Registers `k2c-nvvm-to-llvm` (the pipeline above) and `k2c-emit-ptx`.
void registerTargetPasses();

struct PTXOptions {
  /// `.loc` directives that name the source location of each instruction.
  bool lineInfo = true;
  /// Optimisation level of LLVM, 0 to 3.
  unsigned optLevel = 3;
  /// Keep values near their uses: no motion out of loops, no unrolling. The
  /// optimiser counts registers of no machine, and for a kernel with large
  /// accumulators it hoists more addresses than fit beside them; ptxas then
  /// spills.
  bool saveRegisters = false;
};

/// PTX of one kernel module in the LLVM dialect; chip and features come from
/// its #nvvm.target. Deterministic. Two threads may call it at once if their
/// modules belong to different contexts.
llvm::FailureOr<std::string> emitPTX(mlir::gpu::GPUModuleOp module,
                                     const PTXOptions &options = {});

/// Dynamic shared memory of the kernel, in bytes.
int64_t sharedBytes(mlir::gpu::GPUModuleOp module);

/// Threads of a CTA.
int64_t threadsPerBlock(mlir::gpu::GPUModuleOp module);

} // namespace k2c

#endif // K2C_TARGET_PTX_H
