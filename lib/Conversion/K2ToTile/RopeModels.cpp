//===- RopeModels.cpp - rope ----------------------------------------------===//
#include "Models.h"

#include "k2c/Conversion/K2ToTile/KernelInputs.h"

using namespace mlir;
using namespace k2c;
using namespace k2c::k2;

Value k2c::emitRotation(TileEmitter &e, Value pairs, Value cos, Value sin) {
  auto shape = e.shapeOf(pairs);
  Type f32 = e.getF32Type(), i32 = e.getI32Type();
  Value sixteen = e.i32(shape, 16), high = e.i32(shape, -65536);
  cos = e.broadcast(cos, shape);
  sin = e.broadcast(sin, shape);

  // The bits of a bf16 are the upper half of the float32 of the same value.
  Value even = e.bitcast(e.shli(pairs, sixteen), f32);
  Value odd = e.bitcast(e.andi(pairs, high), f32);
  auto product = [&](Value a, Value b) { return e.roundToBf16(e.mulf(a, b)); };
  Value first = e.roundToBf16(e.subf(product(even, cos), product(odd, sin)));
  Value second = e.roundToBf16(e.addf(product(odd, cos), product(even, sin)));
  return e.ori(e.shri(e.bitcast(first, i32), sixteen),
               e.andi(e.bitcast(second, i32), high));
}

Value k2c::loadRotaryRow(TileEmitter &e, K2TileContext &context, StringRef name,
                         Value table, Value token, int64_t columns) {
  int64_t width = cast<RankedTensorType>(table.getType()).getDimSize(1);
  Value view =
      context.getArray(name, plan::Access::Read,
                       {e.getF32Type(),
                        {ShapedType::kDynamic, width},
                        {plan::paddedRowStride(width, e.getF32Type()), 1},
                        {context.tokens()}});
  return e.roundToBf16(e.load(view, {token, e.i32(0)}, {1, columns}));
}

namespace {

struct RopeModel : K2TileInterface::ExternalModel<RopeModel, RopeOp> {
  LogicalResult emitTile(Operation *operation, OpBuilder &builder,
                         K2TileContext &context) const {
    auto op = cast<RopeOp>(operation);
    TileEmitter e(op.getLoc(), builder);
    if (op.getNope() % 2 || op.getRope() % 2)
      return op.emitOpError("expected an even number of plain and of turned "
                            "columns, but got ")
             << op.getNope() << " and " << op.getRope();
    if (op.getHeads() == 1 && op.getNope() == 0)
      return emitKey(op, e, context);
    return emitHeads(op, e, context);
  }

  /// One head that is turned whole: the row of the frame, as pairs.
  static LogicalResult emitKey(RopeOp op, TileEmitter &e,
                               K2TileContext &context) {
    Value input = op.getInput();
    int64_t column = K2TileContext::columnOf(input);
    if (column % 2)
      return op.emitOpError("expected a slice at an even column, but got ")
             << column;
    int64_t pairs = op.getRope() / 2;
    int64_t columns = llvm::PowerOf2Ceil(pairs);
    Value view =
        context.getView(input, {e.getI32Type(),
                                {ShapedType::kDynamic, column / 2 + pairs},
                                {K2TileContext::rowStrideOf(input) / 2, 1},
                                {getRowCount(input)}});
    Value tile =
        e.load(view, {context.frame.row, e.i32(column / 2)}, {1, columns});
    Value token = context.frame.row;
    Value cos =
        loadRotaryRow(e, context, "rope_cos", op.getCos(), token, columns);
    Value sin =
        loadRotaryRow(e, context, "rope_sin", op.getSin(), token, columns);
    context.setPairs(op.getResult(), emitRotation(e, tile, cos, sin));
    return success();
  }

  /// Some heads of a token per CTA: plain columns are copied, the others
  /// turned.
  static LogicalResult emitHeads(RopeOp op, TileEmitter &e,
                                 K2TileContext &context) {
    if (K2TileContext::baseOf(op.getInput()) != op.getInput())
      return op.emitOpError(
          "expected the rope of several heads to read whole rows, but got a "
          "slice");
    ArrayRef<int64_t> tile = context.getTileShape();
    int64_t heads = op.getHeads(), nope = op.getNope() / 2,
            width = nope + op.getRope() / 2;
    context.setGrid(context.tokens(),
                    context.expr(llvm::divideCeil(heads, tile[0])),
                    context.expr(1));
    ViewShape shape{e.getI32Type(),
                    {ShapedType::kDynamic, heads, width},
                    {K2TileContext::rowStrideOf(op.getInput()) / 2, width, 1},
                    {context.tokens()}};
    Value input = context.getView(op.getInput(), shape);
    Value token = e.ctaId(tile::GridDim::X);
    Value head = e.muli(e.ctaId(tile::GridDim::Y), e.i32(tile[0]));

    Value cos =
        loadRotaryRow(e, context, "rope_cos", op.getCos(), token, tile[1]);
    Value sin =
        loadRotaryRow(e, context, "rope_sin", op.getSin(), token, tile[1]);
    Value output = context.getView(op.getResult(), shape);
    if (nope) {
      int64_t columns = llvm::PowerOf2Ceil(nope);
      SmallVector<Value> at{token, head, e.i32(0)};
      SmallVector<Value> bounds{e.i32(heads), e.i32(nope)};
      e.store(e.load(input, at, {tile[0], columns}, bounds), output, at,
              bounds);
    }
    SmallVector<Value> at{token, head, e.i32(nope)};
    Value turned =
        emitRotation(e, e.load(input, at, {tile[0], tile[1]}), cos, sin);
    e.store(turned, output, at);
    context.setStored(op.getResult());
    return success();
  }
};

} // namespace

void k2c::attachRopeModels(MLIRContext *context) {
  RopeOp::attachInterface<RopeModel>(*context);
}
