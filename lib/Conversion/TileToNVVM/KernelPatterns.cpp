// The kernel itself: its ABI, its place in the grid.
#include "lib/Conversion/TileToNVVM/Lowering.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace k2c;
using namespace k2c::tile_to_nvvm;

namespace {

/// Views become a pointer followed by the dynamic extents; the body sees one
/// struct per view.
struct KernelPattern : TilePattern<tile::KernelOp> {
  using TilePattern::TilePattern;

  LogicalResult
  matchAndRewrite(tile::KernelOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<Type> arguments;
    SmallVector<bool> isPointer;
    for (Type type : op.getArgumentTypes()) {
      auto fields = dyn_cast<LLVM::LLVMStructType>(convert(type));
      if (!fields) {
        arguments.push_back(type);
        isPointer.push_back(false);
        continue;
      }
      for (Type field : fields.getBody()) {
        arguments.push_back(field);
        isPointer.push_back(isa<LLVM::LLVMPointerType>(field));
      }
    }
    auto type = LLVM::LLVMFunctionType::get(
        LLVM::LLVMVoidType::get(getContext()), arguments);
    auto function =
        LLVM::LLVMFuncOp::create(rewriter, op.getLoc(), op.getSymName(), type);
    function->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(),
                      rewriter.getUnitAttr());
    function->setAttr(NVVM::NVVMDialect::getReqntidAttrName(),
                      rewriter.getDenseI32ArrayAttr(
                          {static_cast<int32_t>(op.getNumThreads()), 1, 1}));
    for (auto [index, pointer] : llvm::enumerate(isPointer))
      if (pointer)
        function.setArgAttr(index, LLVM::LLVMDialect::getAlignAttrName(),
                            rewriter.getI64IntegerAttr(16));

    Block *entry = function.addEntryBlock(rewriter);
    rewriter.setInsertionPointToStart(entry);
    SmallVector<Value> values;
    unsigned next = 0;
    for (Type type : op.getArgumentTypes()) {
      auto fields = dyn_cast<LLVM::LLVMStructType>(convert(type));
      if (!fields) {
        values.push_back(entry->getArgument(next++));
        continue;
      }
      Value view = LLVM::PoisonOp::create(rewriter, op.getLoc(), fields);
      for (int64_t field = 0, count = fields.getBody().size(); field < count;
           ++field)
        view = LLVM::InsertValueOp::create(rewriter, op.getLoc(), view,
                                           entry->getArgument(next++), field);
      values.push_back(view);
    }
    rewriter.inlineBlockBefore(&op.entry(), entry, entry->end(), values);
    rewriter.eraseOp(op);
    return success();
  }
};

struct ReturnPattern : TilePattern<tile::ReturnOp> {
  using TilePattern::TilePattern;

  LogicalResult
  matchAndRewrite(tile::ReturnOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<LLVM::ReturnOp>(op, ValueRange());
    return success();
  }
};

struct CtaIdPattern : TilePattern<tile::CtaIdOp> {
  using TilePattern::TilePattern;

  LogicalResult
  matchAndRewrite(tile::CtaIdOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Type type = rewriter.getI32Type();
    switch (op.getDim()) {
    case tile::GridDim::X:
      rewriter.replaceOpWithNewOp<NVVM::BlockIdXOp>(op, type);
      break;
    case tile::GridDim::Y:
      rewriter.replaceOpWithNewOp<NVVM::BlockIdYOp>(op, type);
      break;
    case tile::GridDim::Z:
      rewriter.replaceOpWithNewOp<NVVM::BlockIdZOp>(op, type);
      break;
    }
    return success();
  }
};

struct DimPattern : TilePattern<tile::DimOp> {
  using TilePattern::TilePattern;

  LogicalResult
  matchAndRewrite(tile::DimOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    rewriter.replaceOp(
        op,
        unpackView(b, op.getView(), adaptor.getView()).extents[op.getIndex()]);
    return success();
  }
};

} // namespace

void k2c::tile_to_nvvm::populateKernelPatterns(Patterns &patterns) {
  patterns.add<KernelPattern, ReturnPattern, CtaIdPattern, DimPattern>();
}
