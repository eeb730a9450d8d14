#include "dialects/Tile/TileVerify.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace k2c::tile;

LogicalResult DotOp::verify() {
  RankedTensorType a = getA().getType(), b = getB().getType(),
                   c = getC().getType();
  // dot_c1
  if (a.getRank() != 2 || b.getRank() != 2 || c.getRank() != 2)
    return emitOpError("expected operands of rank 2, but got ranks ")
           << a.getRank() << ", " << b.getRank() << ", " << c.getRank();
  // dot_c2
  if (!a.getElementType().isBF16() || !b.getElementType().isBF16())
    return emitOpError("expected bf16 operands, but got ")
           << a.getElementType() << " and " << b.getElementType();
  int64_t m = a.getDimSize(0), k = a.getDimSize(1);
  int64_t n = c.getDimSize(1);
  SmallVector<int64_t> expected = getBTransposed() ? SmallVector<int64_t>{n, k}
                                                   : SmallVector<int64_t>{k, n};
  // dot_c3
  if (c.getDimSize(0) != m)
    return emitOpError("expected an accumulator of ")
           << m << " rows as a, but got " << c.getDimSize(0);
  // dot_c4
  if (b.getShape() != ArrayRef<int64_t>(expected))
    return emitOpError("expected b of shape ")
           << rules::shapeText(expected) << ", but got "
           << rules::shapeText(b.getShape());
  return success();
}

static RankedTensorType reducedType(Value input, int64_t axis,
                                    Type element = {}) {
  auto type = cast<RankedTensorType>(input.getType());
  return RankedTensorType::get(rules::dropAxis(type.getShape(), axis),
                               element ? element : type.getElementType());
}

static LogicalResult verifyReduced(Operation *op, int64_t axis,
                                   RankedTensorType input,
                                   RankedTensorType result) {
  if (failed(rules::verifyAxis(op, axis, input)))
    return failure();
  SmallVector<int64_t> expected = rules::dropAxis(input.getShape(), axis);
  // reduce_c3
  if (result.getShape() != ArrayRef<int64_t>(expected))
    return op->emitOpError("expected a result of shape ")
           << rules::shapeText(expected) << ", but got "
           << rules::shapeText(result.getShape());
  return success();
}

void ReduceOp::build(OpBuilder &builder, OperationState &state, ReduceKind kind,
                     int64_t axis, Value input) {
  build(builder, state, reducedType(input, axis), kind, axis, input);
}

LogicalResult ReduceOp::verify() {
  RankedTensorType input = getInput().getType();
  // reduce_c1
  if (!input.getElementType().isF32() &&
      !input.getElementType().isSignlessInteger(32))
    return emitOpError("expected elements of type f32 or i32, but got ")
           << input.getElementType();
  // reduce_c2
  if (getType().getElementType() != input.getElementType())
    return emitOpError("expected a result of element type ")
           << input.getElementType() << ", but got "
           << getType().getElementType();
  return verifyReduced(*this, getAxis(), input, getType());
}

void ArgMaxOp::build(OpBuilder &builder, OperationState &state, int64_t axis,
                     Value input) {
  build(builder, state, reducedType(input, axis),
        reducedType(input, axis, builder.getI32Type()), axis, input);
}

LogicalResult ArgMaxOp::verify() {
  return success(succeeded(verifyReduced(*this, getAxis(), getInput().getType(),
                                         getValue().getType())) &&
                 succeeded(verifyReduced(*this, getAxis(), getInput().getType(),
                                         getIndex().getType())));
}

LogicalResult ScanOp::verify() {
  // scan_c1
  if (getKind() != ReduceKind::Add)
    return emitOpError("expected kind add, but got ")
           << stringifyReduceKind(getKind());
  // scan_c2
  if (static_cast<int64_t>(getAxis()) != getType().getRank() - 1)
    return emitOpError("expected the last axis ")
           << getType().getRank() - 1 << ", but got " << getAxis();
  return success();
}

LogicalResult ConvertOp::verify() {
  RankedTensorType from = getInput().getType(), to = getType();
  // convert_c1
  if (!isa<Float8E4M3FNType>(from.getElementType()) ||
      !to.getElementType().isBF16())
    return emitOpError("expected f8E4M3FN to bf16, but got ")
           << from.getElementType() << " to " << to.getElementType();
  // convert_c2
  if (from.getShape() != to.getShape() ||
      from.getEncoding() != to.getEncoding())
    return emitOpError("expected the input's shape and layout, but got ") << to;
  return success();
}
