// The driver: checks the schedule, makes one gpu.module per kernel and runs the
// patterns of all families on it.
#include "k2c/Conversion/TileToNVVM/Passes.h"

#include "lib/Conversion/TileToNVVM/FusedReads.h"
#include "lib/Conversion/TileToNVVM/Lowering.h"
#include "lib/Conversion/TileToNVVM/Requirements.h"
#include "lib/Conversion/TileToNVVM/SourceLocations.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace k2c {
#define GEN_PASS_DEF_CONVERTTILETONVVMPASS
#include "k2c/Conversion/TileToNVVM/Passes.h.inc"
} // namespace k2c

using namespace mlir;
using namespace k2c;
using namespace k2c::tile_to_nvvm;

static void populatePatterns(Patterns &patterns) {
  populateKernelPatterns(patterns);
  populateElementwisePatterns(patterns);
  populateShapePatterns(patterns);
  populateScalarAccessPatterns(patterns);
  populateGlobalAccessPatterns(patterns);
  populateRowAccessPatterns(patterns);
  populateReducePatterns(patterns);
  populateArgMaxPatterns(patterns);
  populateScanPatterns(patterns);
  populateConvertLayoutPatterns(patterns);
  populateSharedAccessPatterns(patterns);
  populateCopyAsyncPatterns(patterns);
  populateDotPatterns(patterns);
  populateWidenPatterns(patterns);
}

static LogicalResult convertKernel(gpu::GPUModuleOp module,
                                   KernelState &state) {
  MLIRContext *context = module.getContext();
  TileTypeConverter types;
  ConversionTarget target(*context);
  target.addIllegalDialect<tile::TileDialect>();
  target.addLegalDialect<LLVM::LLVMDialect, NVVM::NVVMDialect>();
  target.markUnknownOpDynamicallyLegal(
      [&](Operation *op) { return types.isLegal(op); });
  RewritePatternSet set(context);
  Patterns patterns{set, types, state};
  populatePatterns(patterns);
  scf::populateSCFStructuralTypeConversionsAndLegality(types, set, target);
  // A pattern that refuses says why; the framework's own remark after that only
  // repeats that it failed.
  bool explained = false;
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
      return failure();
    bool repeats =
        explained &&
        StringRef(diagnostic.str()).starts_with("failed to legalize operation");
    explained = true;
    return success(repeats);
  });
  return applyFullConversion(module, target, std::move(set));
}

/// The kernel's dynamic shared array and its size.
static LogicalResult declareShared(gpu::GPUModuleOp module,
                                   const KernelState &state) {
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  uint64_t bytes =
      state.usesShared ? state.scratchBase + state.scratchBytes : 0;
  if (bytes > kMaxSharedBytes)
    return module.emitError("expected at most ")
           << kMaxSharedBytes << " bytes of shared memory, but got " << bytes
           << " (" << state.scratchBytes << " of them scratch)";
  if (state.usesShared)
    LLVM::GlobalOp::create(builder, module.getLoc(),
                           LLVM::LLVMArrayType::get(builder.getI8Type(), 0),
                           /*isConstant=*/false, LLVM::Linkage::External,
                           kSharedName, Attribute(), /*alignment=*/1024,
                           kSharedSpace);
  module->setAttr("tile.shared_bytes", builder.getI64IntegerAttr(bytes));
  return success();
}

namespace {

struct ConvertTileToNVVM
    : k2c::impl::ConvertTileToNVVMPassBase<ConvertTileToNVVM> {
  using ConvertTileToNVVMPassBase::ConvertTileToNVVMPassBase;

  void runOnOperation() override {
    auto kernels = llvm::to_vector(getOperation().getOps<tile::KernelOp>());
    if (kernels.empty())
      return;
    OpBuilder builder(&getContext());
    getOperation()->setAttr(gpu::GPUDialect::getContainerModuleAttrName(),
                            builder.getUnitAttr());
    auto target = NVVM::NVVMTargetAttr::get(
        &getContext(), /*optLevel=*/3, "nvptx64-nvidia-cuda", chip, features);
    for (tile::KernelOp kernel : kernels) {
      if (failed(verifyRequirements(kernel)))
        return signalPassFailure();
      KernelState state;
      state.numWarps = kernel.getNumWarps();
      state.scratchBase = endOfBuffers(kernel);
      collectFusedReads(kernel, state);
      nameLocations(kernel);

      builder.setInsertionPoint(kernel);
      auto module = gpu::GPUModuleOp::create(builder, kernel.getLoc(),
                                             kernel.getSymName(),
                                             builder.getArrayAttr({target}));
      kernel->moveBefore(module.getBody(), module.getBody()->begin());
      if (failed(convertKernel(module, state)))
        return signalPassFailure();
      if (failed(declareShared(module, state)))
        return signalPassFailure();
    }
  }
};

} // namespace
