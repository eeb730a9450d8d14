//===- LinearModels.cpp - linear, swiglu, slice ---------------------------===//
#include "Models.h"

#include "k2c/Analysis/KernelRoot.h"

using namespace mlir;
using namespace k2c;
using namespace k2c::k2;

void k2c::setUpProductFrame(TileEmitter &e, K2TileContext &context,
                            LinearOp root) {
  ArrayRef<int64_t> tile = context.getTileShape();
  int64_t columns = cast<RankedTensorType>(root.getType()).getDimSize(1);
  context.setGrid(context.expr(llvm::divideCeil(columns, tile[1])),
                  context.expr(plan::ExprKind::CeilDiv, context.tokens(),
                               context.expr(tile[0])),
                  context.expr(1));
  context.frame.rows = tile[0];
  context.frame.columns = tile[1];
  context.frame.row = e.muli(e.ctaId(tile::GridDim::Y), e.i32(tile[0]));
  context.frame.column = e.muli(e.ctaId(tile::GridDim::X), e.i32(tile[1]));
}

namespace {

struct LinearModel : K2TileInterface::ExternalModel<LinearModel, LinearOp> {
  LogicalResult emitTile(Operation *operation, OpBuilder &builder,
                         K2TileContext &context) const {
    auto op = cast<LinearOp>(operation);
    if (context.hasTile(op.getResult()))
      return success(); // Emitted with a linear of the same input.
    TileEmitter e(op.getLoc(), builder);
    ArrayRef<int64_t> tile = context.getTileShape();
    TileFrame frame = context.frame;

    Value rows = context.getRows(op.getInput());
    int64_t column = K2TileContext::columnOf(op.getInput());
    LoadStep input = [=](TileEmitter &e, Value k) {
      Value at = column ? e.addi(k, e.i32(column)) : k;
      return e.load(rows, {frame.row, at}, {frame.rows, tile[2]});
    };
    SmallVector<Operation *> linears = getParallelRoots(op);
    SmallVector<ProductWeight> weights;
    for (Operation *linear : linears) {
      Value weight = cast<LinearOp>(linear).getWeight();
      if (failed(verifyTileInBlock(linear, weight, tile)))
        return failure();
      Value matrix = getMatrix(context, weight);
      ProductWeight product;
      product.load = [=](TileEmitter &e, Value k) {
        return e.load(matrix, {frame.column, k}, {frame.columns, tile[2]});
      };
      product.scale = getBlockScale(context, weight, Value(), frame.column);
      weights.push_back(product);
    }
    int64_t depth =
        cast<RankedTensorType>(op.getInput().getType()).getDimSize(1);
    SmallVector<Value> sums = emitProducts(
        e, depth, tile[2], {frame.rows, frame.columns}, input, weights);
    for (auto [linear, sum] : llvm::zip_equal(linears, sums)) {
      auto type = cast<RankedTensorType>(linear->getResult(0).getType());
      context.setTile(linear->getResult(0),
                      type.getElementType().isF32() ? sum : e.toBf16(sum));
    }
    return success();
  }
};

struct SwigluModel : K2TileInterface::ExternalModel<SwigluModel, SwigluOp> {
  LogicalResult emitTile(Operation *operation, OpBuilder &builder,
                         K2TileContext &context) const {
    auto op = cast<SwigluOp>(operation);
    TileEmitter e(op.getLoc(), builder);
    Value gate = e.toF32(context.getTile(e, op.getGate()));
    Value up = e.toF32(context.getTile(e, op.getUp()));
    auto shape = e.shapeOf(gate);
    // silu(g) = g / (1 + exp(-g)); a large exp gives a zero of g's sign.
    Value power = e.exp2(e.mulf(gate, e.f32(shape, -M_LOG2E)));
    Value silu = e.divf(gate, e.addf(power, e.f32(shape, 1)));
    context.setTile(op.getResult(), e.toBf16(e.mulf(e.roundToBf16(silu), up)));
    return success();
  }
};

} // namespace

void k2c::attachLinearModels(MLIRContext *context) {
  LinearOp::attachInterface<LinearModel>(*context);
  SwigluOp::attachInterface<SwigluModel>(*context);
}
