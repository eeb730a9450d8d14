//===- TileEmitter.cpp - Short names for writing tile programs ------------===//
#include "k2c/Conversion/K2ToTile/TileEmitter.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace k2c;

Value TileEmitter::i32(int64_t value) {
  return arith::ConstantOp::create(*this, getI32IntegerAttr(value));
}
Value TileEmitter::i32(Shape shape, int64_t value) {
  return arith::ConstantOp::create(
      *this, DenseElementsAttr::get(tileType(shape, getI32Type()),
                                    static_cast<int32_t>(value)));
}
Value TileEmitter::f32(double value) {
  return arith::ConstantOp::create(*this, getF32FloatAttr(value));
}
Value TileEmitter::f32(Shape shape, double value) {
  return arith::ConstantOp::create(
      *this, DenseElementsAttr::get(tileType(shape, getF32Type()),
                                    static_cast<float>(value)));
}

Value TileEmitter::addi(Value a, Value b) {
  return arith::AddIOp::create(*this, a, b);
}
Value TileEmitter::subi(Value a, Value b) {
  return arith::SubIOp::create(*this, a, b);
}
Value TileEmitter::muli(Value a, Value b) {
  return arith::MulIOp::create(*this, a, b);
}
Value TileEmitter::divi(Value a, Value b) {
  return arith::DivUIOp::create(*this, a, b);
}
Value TileEmitter::remi(Value a, Value b) {
  return arith::RemUIOp::create(*this, a, b);
}
Value TileEmitter::mini(Value a, Value b) {
  return arith::MinSIOp::create(*this, a, b);
}
Value TileEmitter::andi(Value a, Value b) {
  return arith::AndIOp::create(*this, a, b);
}
Value TileEmitter::ori(Value a, Value b) {
  return arith::OrIOp::create(*this, a, b);
}
Value TileEmitter::shli(Value a, Value b) {
  return arith::ShLIOp::create(*this, a, b);
}
Value TileEmitter::shri(Value a, Value b) {
  return arith::ShRUIOp::create(*this, a, b);
}
Value TileEmitter::compare(arith::CmpIPredicate predicate, Value a, Value b) {
  return arith::CmpIOp::create(*this, predicate, a, b);
}

Value TileEmitter::addf(Value a, Value b) {
  return arith::AddFOp::create(*this, a, b);
}
Value TileEmitter::subf(Value a, Value b) {
  return arith::SubFOp::create(*this, a, b);
}
Value TileEmitter::mulf(Value a, Value b) {
  return arith::MulFOp::create(*this, a, b);
}
Value TileEmitter::divf(Value a, Value b) {
  return arith::DivFOp::create(*this, a, b);
}
Value TileEmitter::maximum(Value a, Value b) {
  return arith::MaximumFOp::create(*this, a, b);
}
Value TileEmitter::compare(arith::CmpFPredicate predicate, Value a, Value b) {
  return arith::CmpFOp::create(*this, predicate, a, b);
}
Value TileEmitter::exp2(Value a) {
  return math::Exp2Op::create(*this, a, arith::FastMathFlags::afn);
}
Value TileEmitter::rsqrt(Value a) {
  return math::RsqrtOp::create(*this, a, arith::FastMathFlags::afn);
}

Value TileEmitter::select(Value condition, Value a, Value b) {
  return arith::SelectOp::create(*this, condition, a, b);
}

Value TileEmitter::toF32(Value bf16) {
  return arith::ExtFOp::create(*this, tileType(shapeOf(bf16), getF32Type()),
                               bf16);
}
Value TileEmitter::toBf16(Value f32) {
  return arith::TruncFOp::create(*this, tileType(shapeOf(f32), getBF16Type()),
                                 f32);
}
Value TileEmitter::bitcast(Value tile, Type element) {
  return arith::BitcastOp::create(*this, tileType(shapeOf(tile), element),
                                  tile);
}

Value TileEmitter::splat(Value scalar, Shape shape) {
  return tile::SplatOp::create(*this, tileType(shape, scalar.getType()),
                               scalar);
}
Value TileEmitter::broadcast(Value tile, Shape shape) {
  if (shapeOf(tile) == shape)
    return tile;
  return tile::BroadcastOp::create(
      *this,
      tileType(shape, cast<RankedTensorType>(tile.getType()).getElementType()),
      tile);
}
Value TileEmitter::iota(Shape shape, int64_t axis) {
  return tile::IotaOp::create(*this, tileType(shape, getI32Type()), axis);
}
Value TileEmitter::reduce(tile::ReduceKind kind, Value tile, int64_t axis) {
  return tile::ReduceOp::create(*this, kind, axis, tile);
}
Value TileEmitter::exclusiveSum(Value tile) {
  int64_t axis = static_cast<int64_t>(shapeOf(tile).size()) - 1;
  return tile::ScanOp::create(*this, tile.getType(), tile::ReduceKind::Add,
                              axis, tile::ScanMode::Exclusive, tile);
}
Value TileEmitter::dot(Value a, Value b, Value c, bool transposed) {
  return tile::DotOp::create(*this, c.getType(), a, b, c, transposed);
}
Value TileEmitter::extract(Value tile) {
  return tile::ExtractOp::create(*this, tile);
}
Value TileEmitter::ctaId(tile::GridDim dim) {
  return tile::CtaIdOp::create(*this, getI32Type(), dim);
}
Value TileEmitter::dim(Value view, int64_t index) {
  return tile::DimOp::create(*this, getI32Type(), view, index);
}

Value TileEmitter::load(Value view, ValueRange indices, Shape shape,
                        ValueRange bounds) {
  Type element = cast<MemRefType>(view.getType()).getElementType();
  return tile::LoadOp::create(*this, tileType(shape, element), view, indices,
                              bounds);
}
Value TileEmitter::gather(Value view, Value column, Value rows, Shape shape) {
  Type element = cast<MemRefType>(view.getType()).getElementType();
  return tile::GatherOp::create(*this, tileType(shape, element), view, column,
                                rows);
}
void TileEmitter::store(Value tile, Value view, ValueRange indices,
                        ValueRange bounds) {
  tile::StoreOp::create(*this, tile, view, indices, bounds);
}
Value TileEmitter::loadScalar(Value view, ValueRange indices) {
  return tile::LoadScalarOp::create(*this, view, indices);
}
