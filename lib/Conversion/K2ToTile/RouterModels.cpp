//===- RouterModels.cpp - router ------------------------------------------===//
//
// A CTA has the scores of one token as [groups, experts of a group]; without
// groups there is one row.
//
//===----------------------------------------------------------------------===//
#include "Models.h"

using namespace mlir;
using namespace k2c;
using namespace k2c::k2;

namespace {

constexpr double kNone = -std::numeric_limits<double>::infinity();

/// The largest element of a tile: value, row and column, each [1, 1]. The lower
/// row, then the lower column wins.
struct Best {
  Value value, row, column;
};

Best findBest(TileEmitter &e, Value tile) {
  auto argMax = [&](int64_t axis, Value input) {
    return tile::ArgMaxOp::create(e, axis, input);
  };
  auto inRow = argMax(1, tile);
  SmallVector<int64_t> rows(e.shapeOf(inRow.getValue()));
  if (rows[0] == 1)
    return {inRow.getValue(), e.i32(rows, 0), inRow.getIndex()};
  auto overall = argMax(0, inRow.getValue());
  Value isRow = e.compare(arith::CmpIPredicate::eq, e.iota(rows, 0),
                          e.broadcast(overall.getIndex(), rows));
  Value column = e.reduce(tile::ReduceKind::Add,
                          e.select(isRow, inRow.getIndex(), e.i32(rows, 0)), 0);
  return {overall.getValue(), overall.getIndex(), column};
}

/// The tile that is true at one element.
Value isAt(TileEmitter &e, ArrayRef<int64_t> shape, const Best &best) {
  Value row = e.compare(arith::CmpIPredicate::eq, e.iota(shape, 0),
                        e.broadcast(best.row, shape));
  Value column = e.compare(arith::CmpIPredicate::eq, e.iota(shape, 1),
                           e.broadcast(best.column, shape));
  return e.andi(row, column);
}

struct RouterModel : K2TileInterface::ExternalModel<RouterModel, RouterOp> {
  LogicalResult emitTile(Operation *operation, OpBuilder &builder,
                         K2TileContext &context) const {
    auto op = cast<RouterOp>(operation);
    TileEmitter e(op.getLoc(), builder);
    SmallVector<int64_t> shape(context.getTileShape());
    auto type = cast<RankedTensorType>(op.getLogits().getType());
    int64_t groups = op.getNGroup(), perGroup = type.getDimSize(1) / groups;
    int64_t topK = op.getTopK();

    context.setGrid(context.tokens(), context.expr(1), context.expr(1));
    Value token = e.ctaId(tile::GridDim::X), zero = e.i32(0);
    Value logits = context.getView(
        op.getLogits(),
        {e.getF32Type(),
         {ShapedType::kDynamic, groups, perGroup},
         {K2TileContext::rowStrideOf(op.getLogits()), perGroup, 1},
         {context.tokens()}});
    Value input = e.load(logits, {token, zero, zero}, shape);
    Value inside = e.andi(e.compare(arith::CmpIPredicate::slt, e.iota(shape, 0),
                                    e.i32(shape, groups)),
                          e.compare(arith::CmpIPredicate::slt, e.iota(shape, 1),
                                    e.i32(shape, perGroup)));
    Value none = e.f32(shape, kNone);
    Value scores = e.select(inside, emitScores(op, e, input, inside), none);

    Value chosen = scores;
    if (op.getBias() || static_cast<int64_t>(op.getTopkGroup()) < groups) {
      Value choice = scores;
      if (op.getBias()) {
        Value bias = context.getParam(
            op.getBias(),
            {e.getF32Type(), {groups, perGroup}, {perGroup, 1}, {}});
        choice = e.addf(choice, e.load(bias, {zero, zero}, shape));
      }
      if (static_cast<int64_t>(op.getTopkGroup()) < groups)
        choice = dropGroups(e, choice, op.getTopkGroup(), perGroup);
      // The scores of the chosen experts alone.
      chosen = none;
      for (int64_t i = 0; i < topK; ++i) {
        Value at = isAt(e, shape, findBest(e, choice));
        choice = e.select(at, none, choice);
        chosen = e.select(at, scores, chosen);
      }
    }

    // Descending by weight.
    Value ids = context.getRows(op.getIds());
    SmallVector<Value> weights;
    for (int64_t i = 0; i < topK; ++i) {
      Best best = findBest(e, chosen);
      SmallVector<int64_t> one{1, 1};
      Value id = e.addi(e.muli(best.row, e.i32(one, perGroup)), best.column);
      e.store(id, ids, {token, e.i32(i)});
      weights.push_back(best.value);
      if (i + 1 < topK)
        chosen = e.select(isAt(e, shape, best), none, chosen);
    }
    storeWeights(op, e, context, token, weights);
    context.setStored(op.getIds());
    context.setStored(op.getWeights());
    return success();
  }

private:
  static Value emitScores(RouterOp op, TileEmitter &e, Value input,
                          Value inside) {
    SmallVector<int64_t> shape(e.shapeOf(input));
    Value one = e.f32(shape, 1);
    if (op.getScoring() == Scoring::Sigmoid) {
      Value power = e.exp2(e.mulf(input, e.f32(shape, -M_LOG2E)));
      return e.divf(one, e.addf(power, one));
    }
    auto overAll = [&](tile::ReduceKind kind, Value tile) {
      return e.broadcast(e.reduce(kind, e.reduce(kind, tile, 1), 0), shape);
    };
    Value maximum = overAll(tile::ReduceKind::Maximum,
                            e.select(inside, input, e.f32(shape, kNone)));
    Value power = e.exp2(e.mulf(e.subf(input, maximum), e.f32(shape, M_LOG2E)));
    power = e.select(inside, power, e.f32(shape, 0));
    return e.divf(power, overAll(tile::ReduceKind::Add, power));
  }

  /// -inf in every group but the best `keep`, by the sum of its two best.
  static Value dropGroups(TileEmitter &e, Value choice, int64_t keep,
                          int64_t perGroup) {
    SmallVector<int64_t> shape(e.shapeOf(choice)), rows{shape[0], 1};
    Value none = e.f32(rows, kNone);
    auto first = tile::ArgMaxOp::create(e, int64_t(1), choice);
    Value worth = first.getValue();
    if (perGroup > 1) {
      Value isFirst = e.compare(arith::CmpIPredicate::eq, e.iota(shape, 1),
                                e.broadcast(first.getIndex(), shape));
      Value others = e.select(isFirst, e.f32(shape, kNone), choice);
      worth = e.addf(worth, e.reduce(tile::ReduceKind::Maximum, others, 1));
    }
    Value penalty = none;
    for (int64_t i = 0; i < keep; ++i) {
      auto best = tile::ArgMaxOp::create(e, int64_t(0), worth);
      Value isBest = e.compare(arith::CmpIPredicate::eq, e.iota(rows, 0),
                               e.broadcast(best.getIndex(), rows));
      penalty = e.select(isBest, e.f32(rows, 0), penalty);
      worth = e.select(isBest, none, worth);
    }
    return e.addf(choice, e.broadcast(penalty, shape));
  }

  static void storeWeights(RouterOp op, TileEmitter &e, K2TileContext &context,
                           Value token, ArrayRef<Value> weights) {
    SmallVector<int64_t> one{1, 1};
    Value view = context.getRows(op.getWeights());
    Value total;
    if (op.getNormalize()) {
      total = weights[0];
      for (Value weight : weights.drop_front())
        total = e.addf(total, weight);
      total = e.addf(total, e.f32(one, 1e-20));
    }
    Value scaling = e.f32(one, op.getScaling().convertToDouble());
    for (auto [i, weight] : llvm::enumerate(weights)) {
      Value scaled = total ? e.divf(weight, total) : weight;
      e.store(e.mulf(scaled, scaling), view, {token, e.i32(i)});
    }
  }
};

} // namespace

void k2c::attachRouterModels(MLIRContext *context) {
  RouterOp::attachInterface<RouterModel>(*context);
}
