// tile.gather and tile.scatter: the row of the view comes from an index tile.
#include "lib/Conversion/TileToNVVM/GlobalAccess.h"

using namespace mlir;
using namespace k2c;
using namespace k2c::tile_to_nvvm;
using tile::Coord;

/// The row of every register of the tile; null if another thread holds it.
static FailureOr<SmallVector<Value>> rowsOf(ImplicitLocOpBuilder &b,
                                            Operation *op,
                                            const tile::LinearLayout &tile,
                                            Value rows, Value converted) {
  auto map = localRegisterMap(tile, layoutOf(rows), [](const Coord &coord) {
    return Coord{coord.front()};
  });
  if (!map)
    return op->emitError("expected row indices in the tile's layout without "
                         "its columns, but got ")
           << rows.getType();
  SmallVector<Value> from = toRegisters(b, converted);
  return llvm::map_to_vector(*map, [&](unsigned reg) { return from[reg]; });
}

namespace {

struct GatherPattern : TilePattern<tile::GatherOp> {
  using TilePattern::TilePattern;

  LogicalResult
  matchAndRewrite(tile::GatherOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    tile::LinearLayout layout = layoutOf(op.getResult());
    FailureOr<SmallVector<Value>> rows =
        rowsOf(b, op, layout, op.getRows(), adaptor.getRows());
    if (failed(rows))
      return failure();
    TileAccess access(b, unpackView(b, op.getView(), adaptor.getView()),
                      {adaptor.getIndices(), {}, *rows}, layout,
                      state.numWarps);
    rewriter.replaceOp(op, loadTile(b, access));
    return success();
  }
};

struct ScatterPattern : TilePattern<tile::ScatterOp> {
  using TilePattern::TilePattern;

  LogicalResult
  matchAndRewrite(tile::ScatterOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    tile::LinearLayout layout = layoutOf(op.getValue());
    FailureOr<SmallVector<Value>> rows =
        rowsOf(b, op, layout, op.getRows(), adaptor.getRows());
    if (failed(rows))
      return failure();
    TileAccess access(b, unpackView(b, op.getView(), adaptor.getView()),
                      {adaptor.getIndices(), {}, *rows}, layout,
                      state.numWarps);
    storeTile(b, access, adaptor.getValue());
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void k2c::tile_to_nvvm::populateRowAccessPatterns(Patterns &patterns) {
  patterns.add<GatherPattern, ScatterPattern>();
}
