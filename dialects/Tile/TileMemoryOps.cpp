#include "dialects/Tile/TileVerify.h"

using namespace mlir;
using namespace k2c::tile;

template <typename Op>
static LogicalResult verifyBlockAccess(Op op, RankedTensorType tile) {
  auto view = cast<MemRefType>(op.getView().getType());
  return success(
      succeeded(rules::verifyView(op, view, tile.getElementType())) &&
      succeeded(rules::verifyIndices(op, view, op.getIndices().size(),
                                     /*rows=*/false)) &&
      succeeded(rules::verifyTileInView(op, view, tile.getRank(),
                                        op.getBounds().size())));
}

template <typename Op>
static LogicalResult verifyRowAccess(Op op, RankedTensorType tile) {
  auto view = cast<MemRefType>(op.getView().getType());
  return success(
      succeeded(rules::verifyView(op, view, tile.getElementType())) &&
      succeeded(rules::verifyIndices(op, view, op.getIndices().size(),
                                     /*rows=*/true)) &&
      succeeded(
          rules::verifyTileInView(op, view, tile.getRank(), /*bounds=*/0)) &&
      succeeded(
          rules::verifyRows(op, tile.getShape(), op.getRows().getType())));
}

LogicalResult LoadOp::verify() { return verifyBlockAccess(*this, getType()); }
LogicalResult StoreOp::verify() {
  return verifyBlockAccess(*this, getValue().getType());
}
LogicalResult GatherOp::verify() { return verifyRowAccess(*this, getType()); }
LogicalResult ScatterOp::verify() {
  return verifyRowAccess(*this, getValue().getType());
}

LogicalResult LoadScalarOp::verify() {
  auto view = cast<MemRefType>(getView().getType());
  return success(succeeded(rules::verifyView(*this, view, getType())) &&
                 succeeded(rules::verifyIndices(
                     *this, view, getIndices().size(), /*rows=*/false)));
}

LogicalResult StoreScalarOp::verify() {
  auto view = cast<MemRefType>(getView().getType());
  return success(
      succeeded(rules::verifyView(*this, view, getValue().getType())) &&
      succeeded(rules::verifyIndices(*this, view, getIndices().size(),
                                     /*rows=*/false)));
}
