#include "dialects/Tile/TileVerify.h"

using namespace mlir;
using namespace k2c::tile;

LogicalResult ConvertLayoutOp::verify() {
  RankedTensorType from = getInput().getType(), to = getType();
  // convert_layout_c1
  if (from.getShape() != to.getShape() ||
      from.getElementType() != to.getElementType())
    return emitOpError("expected the input's shape and element type, but got ")
           << from << " to " << to;
  return success();
}

LogicalResult CopyAsyncOp::verify() {
  auto view = cast<MemRefType>(getView().getType());
  auto buffer = cast<BufferType>(getBuffer().getType());
  bool rows = static_cast<bool>(getRows());
  if (failed(rules::verifyView(*this, view, buffer.getElementType())) ||
      failed(rules::verifyIndices(*this, view, getIndices().size(), rows)) ||
      failed(rules::verifyTileInView(*this, view, buffer.getTileShape().size(),
                                     getBounds().size())))
    return failure();
  return rows ? rules::verifyRows(*this, buffer.getTileShape(),
                                  getRows().getType())
              : success();
}

LogicalResult LoadSharedOp::verify() {
  auto buffer = cast<BufferType>(getBuffer().getType());
  RankedTensorType tile = getType();
  // load_shared_c1
  if (tile.getElementType() != buffer.getElementType())
    return emitOpError("expected the buffer's element type ")
           << buffer.getElementType() << ", but got " << tile.getElementType();
  auto offsets = getOffsets();
  if (!offsets) {
    // load_shared_c2
    if (tile.getShape() != buffer.getTileShape())
      return emitOpError("expected the shape of a stage ")
             << rules::shapeText(buffer.getTileShape()) << ", but got "
             << rules::shapeText(tile.getShape());
    return success();
  }
  // load_shared_c3
  if (offsets->size() != buffer.getTileShape().size() ||
      tile.getRank() != static_cast<int64_t>(offsets->size()))
    return emitOpError("expected ")
           << buffer.getTileShape().size() << " offsets and extents, but got "
           << offsets->size() << " and " << tile.getRank();
  for (auto [dim, offset] : llvm::enumerate(*offsets))
    // load_shared_c4
    if (offset < 0 ||
        offset + tile.getDimSize(dim) > buffer.getTileShape()[dim])
      return emitOpError("expected the box to lie inside extent ")
             << buffer.getTileShape()[dim] << " of dim " << dim
             << ", but it is " << offset << ".."
             << offset + tile.getDimSize(dim);
  return success();
}

LogicalResult StoreSharedOp::verify() {
  auto buffer = cast<BufferType>(getBuffer().getType());
  RankedTensorType tile = getValue().getType();
  // store_shared_c1
  if (tile.getShape() != buffer.getTileShape() ||
      tile.getElementType() != buffer.getElementType())
    return emitOpError("expected a tile of ")
           << rules::shapeText(buffer.getTileShape()) << "x"
           << buffer.getElementType() << ", but got " << tile;
  return success();
}
