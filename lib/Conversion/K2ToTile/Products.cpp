//===- Products.cpp - Sums of products with weights -----------------------===//
#include "Models.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace k2c;

Value k2c::getMatrix(K2TileContext &context, Value weight) {
  Type type = weight.getType();
  SmallVector<int64_t> dims(k2::getWeightShape(type));
  Type element;
  if (auto quantized = dyn_cast<k2::QuantizedType>(type))
    element = quantized.getElementType();
  else
    element = cast<RankedTensorType>(type).getElementType();
  SmallVector<int64_t> strides(dims.size(), 1);
  strides[dims.size() - 2] = plan::paddedRowStride(dims.back(), element);
  if (dims.size() == 3)
    strides[0] = dims[1] * strides[1];
  return context.getParam(weight, {element, dims, strides, {}});
}

Value k2c::getMatrixScales(K2TileContext &context, Value weight) {
  auto type = dyn_cast<k2::QuantizedType>(weight.getType());
  if (!type)
    return {};
  int64_t rows = type.getScaleRows(), columns = type.getScaleColumns();
  int64_t stride = plan::paddedRowStride(columns, type.getScaleType());
  ViewShape shape{type.getScaleType(), {rows, columns}, {stride, 1}, {}};
  if (type.getRank() == 3) {
    shape.dims.insert(shape.dims.begin(), type.getShape()[0]);
    shape.strides.insert(shape.strides.begin(), rows * stride);
  }
  return context.getScales(weight, shape);
}

LoadStep k2c::getBlockScale(K2TileContext &context, Value weight, Value slot,
                            Value row) {
  Value scales = getMatrixScales(context, weight);
  if (!scales)
    return {};
  ArrayRef<int64_t> block =
      cast<k2::QuantizedType>(weight.getType()).getBlock();
  return [=](TileEmitter &e, Value k) {
    SmallVector<Value> indices;
    if (slot)
      indices.push_back(slot);
    indices.push_back(e.divi(row, e.i32(block[0])));
    indices.push_back(e.divi(k, e.i32(block[1])));
    return e.loadScalar(scales, indices);
  };
}

LogicalResult k2c::verifyTileInBlock(Operation *op, Value weight,
                                     ArrayRef<int64_t> tile) {
  auto type = dyn_cast<k2::QuantizedType>(weight.getType());
  if (!type ||
      (type.getBlock()[0] % tile[1] == 0 && type.getBlock()[1] == tile[2]))
    return success();
  return op->emitOpError("expected a tile within a block of scales (")
         << type.getBlock()[0] << " x " << type.getBlock()[1]
         << "), but got a tile of " << tile[1] << " x " << tile[2];
}

SmallVector<Value> k2c::emitProducts(TileEmitter &e, int64_t depth,
                                     int64_t step, ArrayRef<int64_t> shape,
                                     const LoadStep &input,
                                     ArrayRef<ProductWeight> weights) {
  Value zero = e.f32(shape, 0);
  SmallVector<Value> start(weights.size(), zero);
  auto body = [&](OpBuilder &builder, Location loc, Value k, ValueRange sums) {
    TileEmitter e(loc, builder);
    Value a = input(e, k);
    SmallVector<Value> next;
    for (auto [weight, sum] : llvm::zip_equal(weights, sums)) {
      Value b = weight.load(e, k);
      auto type = cast<RankedTensorType>(b.getType());
      if (!type.getElementType().isBF16())
        b = tile::ConvertOp::create(e, type.clone(e.getBF16Type()), b);
      // A block's partial sum is scaled before it joins the others.
      Value product = e.dot(a, b, weight.scale ? zero : sum, weight.transposed);
      if (weight.scale) {
        Value scale = weight.scale(e, k);
        scale = isa<FloatType>(scale.getType()) ? e.splat(scale, shape)
                                                : e.broadcast(scale, shape);
        product = e.addf(sum, e.mulf(product, scale));
      }
      next.push_back(product);
    }
    scf::YieldOp::create(e, next);
  };
  auto loop =
      scf::ForOp::create(e, e.i32(0), e.i32(depth), e.i32(step), start, body);
  return SmallVector<Value>(loop.getResults());
}
