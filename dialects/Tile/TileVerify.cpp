#include "dialects/Tile/TileVerify.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace k2c::tile;

std::string rules::shapeText(ArrayRef<int64_t> shape) {
  std::string text;
  llvm::raw_string_ostream out(text);
  llvm::interleave(shape, out, "x");
  return text;
}

LogicalResult rules::verifyView(Operation *op, MemRefType view, Type element) {
  // view_c1
  if (view.getElementType() != element)
    return op->emitOpError()
           << "expected the view's element type " << view.getElementType()
           << ", but got " << element;
  SmallVector<int64_t> strides;
  int64_t offset;
  // view_c2
  if (failed(view.getStridesAndOffset(strides, offset)) || strides.back() != 1)
    return op->emitOpError()
           << "expected a view with unit stride in its last dim, but got "
           << view;
  return success();
}

LogicalResult rules::verifyIndices(Operation *op, MemRefType view,
                                   size_t indices, bool rows) {
  size_t expected = view.getRank() - (rows ? 1 : 0);
  // view_c3
  if (indices != expected)
    return op->emitOpError()
           << "expected " << expected << " indices for a view of rank "
           << view.getRank() << (rows ? " with row indices" : "")
           << ", but got " << indices;
  return success();
}

LogicalResult rules::verifyTileInView(Operation *op, MemRefType view,
                                      int64_t rank, size_t bounds) {
  // tile_c1
  if (rank < 1 || rank > view.getRank())
    return op->emitOpError() << "expected a tile of rank 1 to the view's rank "
                             << view.getRank() << ", but got rank " << rank;
  // tile_c2
  if (bounds > static_cast<size_t>(rank))
    return op->emitOpError() << "expected at most one bound per tile dim ("
                             << rank << "), but got " << bounds;
  return success();
}

LogicalResult rules::verifyRows(Operation *op, ArrayRef<int64_t> tileShape,
                                RankedTensorType rows) {
  // rows_c1
  if (rows.getRank() != 1 || rows.getDimSize(0) != tileShape.front())
    return op->emitOpError()
           << "expected row indices of shape " << tileShape.front()
           << ", the tile's first extent, but got "
           << shapeText(rows.getShape());
  return success();
}

LogicalResult rules::verifyAxis(Operation *op, int64_t axis,
                                RankedTensorType type) {
  // axis_c1
  if (axis >= type.getRank())
    return op->emitOpError() << "expected an axis below the rank "
                             << type.getRank() << ", but got " << axis;
  return success();
}

SmallVector<int64_t> rules::dropAxis(ArrayRef<int64_t> shape, int64_t axis) {
  SmallVector<int64_t> result(shape);
  result[axis] = 1;
  return result;
}
