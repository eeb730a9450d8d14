// The passes between convert-tile-to-nvvm and the translation to LLVM IR; all
// upstream.
#include "k2c/Target/PTX.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

void k2c::buildNVVMToLLVMPipeline(OpPassManager &passes) {
  auto &kernels = passes.nest<gpu::GPUModuleOp>();
  kernels.addPass(createCanonicalizerPass());
  kernels.addPass(createCSEPass());
  kernels.addPass(createLoopInvariantCodeMotionPass());
  kernels.addPass(createSCFToControlFlowPass());
  kernels.addPass(createConvertVectorToLLVMPass());
  kernels.addPass(createConvertMathToLLVMPass());
  kernels.addPass(createArithToLLVMConversionPass());
  // These two are written for builtin.module only.
  passes.addPass(createConvertControlFlowToLLVMPass());
  passes.addPass(createConvertNVVMToLLVMPass());
  auto &cleanup = passes.nest<gpu::GPUModuleOp>();
  cleanup.addPass(createReconcileUnrealizedCastsPass());
  cleanup.addPass(createCanonicalizerPass());
  cleanup.addPass(createCSEPass());
  LLVM::DIScopeForLLVMFuncOpPassOptions lines;
  // Line tables without debug sections: ptxas keeps optimising.
  lines.emissionKind = LLVM::DIEmissionKind::DebugDirectivesOnly;
  passes.addPass(LLVM::createDIScopeForLLVMFuncOpPass(lines));
}
