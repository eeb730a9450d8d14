//===- ExpertModels.cpp - expert_linear -----------------------------------===//
#include "Models.h"

#include "k2c/Analysis/KernelRoot.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace k2c;
using namespace k2c::k2;

void k2c::setUpExpertFrame(TileEmitter &e, K2TileContext &context,
                           ExpertLinearOp root) {
  ArrayRef<int64_t> tile = context.getTileShape();
  RoutingType routing = root.getRouting().getType();
  plan::ExprAttr items = getExpertItems(context, routing);
  int64_t columns = cast<RankedTensorType>(root.getType()).getDimSize(1);
  context.setGrid(context.expr(llvm::divideCeil(columns, tile[1])), items,
                  context.expr(1));

  // The grid is an upper bound: the list's length is known on the device only.
  Value workCount = context.getI32Array("work_count", context.expr(1));
  Value work = context.getI32Array(
      "expert_work",
      context.expr(plan::ExprKind::Mul, items, context.expr(kWorkItem)));
  Value slots =
      context.getI32Array("slot_of", context.expr(routing.getExperts()));
  Value item = e.ctaId(tile::GridDim::Y);
  Value column = e.muli(e.ctaId(tile::GridDim::X), e.i32(tile[1]));
  Value hasItem = e.compare(arith::CmpIPredicate::slt, item,
                            e.loadScalar(workCount, e.i32(0)));
  auto guarded = scf::IfOp::create(e, hasItem, /*withElseRegion=*/false);
  e.setInsertionPointToStart(guarded.thenBlock());

  Value at = e.muli(item, e.i32(kWorkItem));
  Value expert = e.loadScalar(work, at);
  Value row = e.loadScalar(work, e.addi(at, e.i32(1)));
  Value rows = e.loadScalar(work, e.addi(at, e.i32(2)));
  context.frame = {row, column, tile[0], tile[1], e.addi(row, rows)};
  context.expertSlot = e.loadScalar(slots, expert);
  if (!root.getGather())
    return;
  SmallVector<int64_t> shape{tile[0]};
  Value tokenOfRow = context.getI32Array(
      "token_of_row", context.expr(plan::ExprKind::Mul, context.tokens(),
                                   context.expr(routing.getTopK())));
  Value tokens =
      e.load(tokenOfRow, context.frame.row, shape, context.frame.rowEnd);
  Value inside = e.compare(arith::CmpIPredicate::slt, e.iota(shape, 0),
                           e.splat(rows, shape));
  context.expertTokens = e.select(inside, tokens, e.i32(shape, -1));
}

namespace {

struct ExpertLinearModel
    : K2TileInterface::ExternalModel<ExpertLinearModel, ExpertLinearOp> {
  LogicalResult emitTile(Operation *operation, OpBuilder &builder,
                         K2TileContext &context) const {
    auto op = cast<ExpertLinearOp>(operation);
    if (context.hasTile(op.getResult()))
      return success(); // Emitted with an expert linear of the same input.
    TileEmitter e(op.getLoc(), builder);
    ArrayRef<int64_t> tile = context.getTileShape();
    TileFrame frame = context.frame;
    Value slot = context.expertSlot, tokens = context.expertTokens;

    Value rows = context.getRows(op.getInput());
    bool gather = op.getGather();
    LoadStep input = [=](TileEmitter &e, Value k) -> Value {
      if (!gather)
        return e.load(rows, {frame.row, k}, {frame.rows, tile[2]},
                      frame.rowEnd);
      Type type = e.tileType({frame.rows, tile[2]}, e.getBF16Type());
      return tile::GatherOp::create(e, type, rows, k, tokens);
    };
    SmallVector<Operation *> linears = getParallelRoots(op);
    SmallVector<ProductWeight> weights;
    for (Operation *linear : linears) {
      Value weight = cast<ExpertLinearOp>(linear).getWeight();
      if (failed(verifyTileInBlock(linear, weight, tile)))
        return failure();
      Value matrix = getMatrix(context, weight);
      ProductWeight product;
      product.load = [=](TileEmitter &e, Value k) {
        return e.load(matrix, {slot, frame.column, k},
                      {frame.columns, tile[2]});
      };
      product.scale = getBlockScale(context, weight, slot, frame.column);
      weights.push_back(product);
    }
    int64_t depth =
        cast<RankedTensorType>(op.getInput().getType()).getDimSize(1);
    SmallVector<Value> sums = emitProducts(
        e, depth, tile[2], {frame.rows, frame.columns}, input, weights);
    for (auto [linear, sum] : llvm::zip_equal(linears, sums))
      context.setTile(linear->getResult(0), e.toBf16(sum));
    return success();
  }
};

} // namespace

void k2c::attachExpertModels(MLIRContext *context) {
  ExpertLinearOp::attachInterface<ExpertLinearModel>(*context);
}
