// tile.load_scalar and tile.store_scalar: uniform, unmasked.
#include "lib/Conversion/TileToNVVM/ThreadCoordinates.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace k2c;
using namespace k2c::tile_to_nvvm;

/// Pointer to one element of a view; i64 arithmetic throughout.
static Value elementAddress(ImplicitLocOpBuilder &b, const View &view,
                            ValueRange indices) {
  Value offset;
  for (auto [index, stride] : llvm::zip_equal(indices, view.strides)) {
    Value term = arith::ExtSIOp::create(b, b.getI64Type(), index);
    if (stride != 1)
      term = arith::MulIOp::create(b, term, i64(b, stride));
    offset = offset ? arith::AddIOp::create(b, offset, term).getResult() : term;
  }
  return LLVM::GEPOp::create(b, view.pointer.getType(),
                             registerType(view.type.getElementType()),
                             view.pointer, ArrayRef<LLVM::GEPArg>{offset});
}

namespace {

struct LoadScalarPattern : TilePattern<tile::LoadScalarOp> {
  using TilePattern::TilePattern;

  LogicalResult
  matchAndRewrite(tile::LoadScalarOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value address =
        elementAddress(b, unpackView(b, op.getView(), adaptor.getView()),
                       adaptor.getIndices());
    rewriter.replaceOpWithNewOp<LLVM::LoadOp>(op, op.getType(), address);
    return success();
  }
};

struct StoreScalarPattern : TilePattern<tile::StoreScalarOp> {
  using TilePattern::TilePattern;

  LogicalResult
  matchAndRewrite(tile::StoreScalarOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value address =
        elementAddress(b, unpackView(b, op.getView(), adaptor.getView()),
                       adaptor.getIndices());
    Value first =
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                              Thread::get(b, state.numWarps).id, i32(b, 0));
    auto branch = scf::IfOp::create(b, first, /*withElse=*/false);
    b.setInsertionPointToStart(branch.thenBlock());
    LLVM::StoreOp::create(b, adaptor.getValue(), address);
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void k2c::tile_to_nvvm::populateScalarAccessPatterns(Patterns &patterns) {
  patterns.add<LoadScalarPattern, StoreScalarPattern>();
}
