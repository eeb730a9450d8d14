#include "dialects/Tile/TileVerify.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace k2c::tile;

/// Same element type, and `same rank` where asked for.
static LogicalResult verifyElement(Operation *op, Type from, Type to) {
  // element_c1
  if (from != to)
    return op->emitOpError("expected a result of element type ")
           << from << ", but got " << to;
  return success();
}

LogicalResult SplatOp::verify() {
  return verifyElement(*this, getScalar().getType(),
                       getType().getElementType());
}

LogicalResult ExtractOp::verify() {
  // extract_c1
  if (getInput().getType().getNumElements() != 1)
    return emitOpError("expected a tile of one element, but got ")
           << getInput().getType();
  return verifyElement(*this, getInput().getType().getElementType(), getType());
}

LogicalResult BroadcastOp::verify() {
  RankedTensorType from = getInput().getType(), to = getType();
  // broadcast_c1
  if (from.getRank() != to.getRank())
    return emitOpError("expected a result of rank ")
           << from.getRank() << ", but got " << to.getRank();
  for (auto [dim, extents] :
       llvm::enumerate(llvm::zip_equal(from.getShape(), to.getShape()))) {
    auto [before, after] = extents;
    // broadcast_c2
    if (before != 1 && before != after)
      return emitOpError("expected extent 1 or ")
             << after << " in dim " << dim << " of the input, but got "
             << before;
  }
  return verifyElement(*this, from.getElementType(), to.getElementType());
}

LogicalResult IotaOp::verify() {
  return rules::verifyAxis(*this, getAxis(), getType());
}

static int64_t powerOfTwoPart(int64_t extent) { return extent & -extent; }

/// The places (log2 of the row-major stride, odd factor) where odd factors sit;
/// the stride includes odd factors of inner dims.
static SmallVector<std::pair<int64_t, int64_t>>
oddPlaces(ArrayRef<int64_t> shape) {
  SmallVector<std::pair<int64_t, int64_t>> places;
  int64_t stride = 1;
  for (int64_t extent : llvm::reverse(shape)) {
    if (int64_t odd = extent / powerOfTwoPart(extent); odd != 1)
      places.push_back({stride * powerOfTwoPart(extent), odd});
    stride *= extent;
  }
  return places;
}

bool k2c::tile::isLegalReshape(ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  auto product = [](ArrayRef<int64_t> shape) {
    return llvm::product_of(shape);
  };
  return product(from) == product(to) && oddPlaces(from) == oddPlaces(to);
}

LogicalResult ReshapeOp::verify() {
  RankedTensorType from = getInput().getType(), to = getType();
  // reshape_c1
  if (from.getNumElements() != to.getNumElements())
    return emitOpError("expected ")
           << from.getNumElements() << " elements, but got "
           << to.getNumElements();
  // reshape_c2
  if (!isLegalReshape(from.getShape(), to.getShape()))
    return emitOpError("expected every odd factor to stay the outermost part "
                       "of a dim, but got ")
           << rules::shapeText(from.getShape()) << " to "
           << rules::shapeText(to.getShape());
  return verifyElement(*this, from.getElementType(), to.getElementType());
}

LogicalResult TransposeOp::verify() {
  RankedTensorType from = getInput().getType(), to = getType();
  ArrayRef<int64_t> permutation = getPermutation();
  SmallVector<int64_t> sorted(permutation);
  llvm::sort(sorted);
  // transpose_c1
  if (!llvm::equal(sorted, llvm::seq<int64_t>(0, from.getRank())))
    return emitOpError("expected a permutation of ")
           << from.getRank() << " dims, but got [" << permutation << "]";
  // transpose_c2
  if (to.getRank() != from.getRank())
    return emitOpError("expected a result of rank ")
           << from.getRank() << ", but got " << to.getRank();
  for (auto [dim, source] : llvm::enumerate(permutation))
    // transpose_c3
    if (to.getDimSize(dim) != from.getDimSize(source))
      return emitOpError("expected extent ")
             << from.getDimSize(source) << " in dim " << dim << ", but got "
             << to.getDimSize(dim);
  return verifyElement(*this, from.getElementType(), to.getElementType());
}

LogicalResult SliceOp::verify() {
  RankedTensorType from = getInput().getType(), to = getType();
  // slice_c1
  if (static_cast<int64_t>(getOffsets().size()) != from.getRank() ||
      to.getRank() != from.getRank())
    return emitOpError("expected ")
           << from.getRank() << " offsets and extents, but got "
           << getOffsets().size() << " and " << to.getRank();
  for (auto [dim, offset] : llvm::enumerate(getOffsets()))
    // slice_c2
    if (offset < 0 || offset + to.getDimSize(dim) > from.getDimSize(dim))
      return emitOpError("expected the box to lie inside extent ")
             << from.getDimSize(dim) << " of dim " << dim << ", but it is "
             << offset << ".." << offset + to.getDimSize(dim);
  return verifyElement(*this, from.getElementType(), to.getElementType());
}
