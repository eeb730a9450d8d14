//===- TileEmitter.h - Short names for writing tile programs ----*- C++ -*-===//
#ifndef K2C_CONVERSION_K2TOTILE_TILEEMITTER_H
#define K2C_CONVERSION_K2TOTILE_TILEEMITTER_H

#include "dialects/Tile/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace k2c {

/// Writes elementwise work on tiles and uniform scalars alike: operands of one
/// operation have one type.
class TileEmitter : public mlir::ImplicitLocOpBuilder {
public:
  using ImplicitLocOpBuilder::ImplicitLocOpBuilder;
  using Value = mlir::Value;
  using Shape = llvm::ArrayRef<int64_t>;

  mlir::RankedTensorType tileType(Shape shape, mlir::Type element) const {
    return mlir::RankedTensorType::get(shape, element);
  }
  Shape shapeOf(Value tile) const {
    return mlir::cast<mlir::RankedTensorType>(tile.getType()).getShape();
  }

  // Constants. A shape makes a tile, none a scalar.
  Value i32(int64_t value);
  Value i32(Shape shape, int64_t value);
  Value f32(double value);
  Value f32(Shape shape, double value);

  // Integers.
  Value addi(Value a, Value b);
  Value subi(Value a, Value b);
  Value muli(Value a, Value b);
  Value divi(Value a, Value b);
  Value remi(Value a, Value b);
  Value mini(Value a, Value b);
  Value andi(Value a, Value b);
  Value ori(Value a, Value b);
  Value shli(Value a, Value b);
  Value shri(Value a, Value b);
  Value compare(mlir::arith::CmpIPredicate predicate, Value a, Value b);

  // Floats.
  Value addf(Value a, Value b);
  Value subf(Value a, Value b);
  Value mulf(Value a, Value b);
  Value divf(Value a, Value b);
  Value maximum(Value a, Value b);
  Value compare(mlir::arith::CmpFPredicate predicate, Value a, Value b);
  /// The hardware's approximations of 2^x and 1/sqrt(x).
  Value exp2(Value a);
  Value rsqrt(Value a);

  Value select(Value condition, Value a, Value b);

  // Types. Rounding is to nearest even.
  Value toF32(Value bf16);
  Value toBf16(Value f32);
  /// A float32 tile with bf16 values.
  Value roundToBf16(Value f32) { return toF32(toBf16(f32)); }
  Value bitcast(Value tile, mlir::Type element);

  // Tiles.
  Value splat(Value scalar, Shape shape);
  Value broadcast(Value tile, Shape shape);
  Value iota(Shape shape, int64_t axis);
  Value reduce(tile::ReduceKind kind, Value tile, int64_t axis);
  /// Exclusive prefix sums along the last axis.
  Value exclusiveSum(Value tile);
  /// c + a b, or c + a b^T.
  Value dot(Value a, Value b, Value c, bool transposed);
  Value extract(Value tile);
  Value ctaId(tile::GridDim dim);
  Value dim(Value view, int64_t index);

  // Memory.
  Value load(Value view, mlir::ValueRange indices, Shape shape,
             mlir::ValueRange bounds = {});
  /// Rows of a view by number; `column` is where the tile starts in them.
  Value gather(Value view, Value column, Value rows, Shape shape);
  void store(Value tile, Value view, mlir::ValueRange indices,
             mlir::ValueRange bounds = {});
  Value loadScalar(Value view, mlir::ValueRange indices);
};

} // namespace k2c

#endif // K2C_CONVERSION_K2TOTILE_TILEEMITTER_H
