//===- DispatchModels.cpp - dispatch, expert_work -------------------------===//
#include "Models.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace k2c;
using namespace k2c::k2;

plan::ExprAttr k2c::getExpertItems(K2TileContext &context,
                                   RoutingType routing) {
  plan::ExprAttr rows = context.expr(plan::ExprKind::Mul, context.tokens(),
                                     context.expr(routing.getTopK()));
  return context.expr(
      plan::ExprKind::Add,
      context.expr(plan::ExprKind::Min, rows,
                   context.expr(routing.getExperts())),
      context.expr(plan::ExprKind::FloorDiv, rows, context.expr(kExpertRows)));
}

namespace {

/// CTA e counts the pairs of smaller experts and its own, and gives its own
/// their rows: every order is fixed.
struct DispatchModel
    : K2TileInterface::ExternalModel<DispatchModel, DispatchOp> {
  LogicalResult emitTile(Operation *operation, OpBuilder &builder,
                         K2TileContext &context) const {
    auto op = cast<DispatchOp>(operation);
    TileEmitter e(op.getLoc(), builder);
    Pairs pairs;
    pairs.experts = op.getRouting().getType().getExperts();
    pairs.slots = op.getRouting().getType().getTopK();
    pairs.stride = K2TileContext::rowStrideOf(op.getIds());
    pairs.chunk = context.getTileShape()[1];
    context.setGrid(context.expr(pairs.experts), context.expr(1),
                    context.expr(1));

    plan::ExprAttr padded = context.expr(plan::ExprKind::Mul, context.tokens(),
                                         context.expr(pairs.stride));
    pairs.ids = context.getView(
        op.getIds(), {e.getI32Type(), {ShapedType::kDynamic}, {1}, {padded}});
    pairs.expert = e.ctaId(tile::GridDim::X);
    pairs.end = e.dim(pairs.ids, 0);
    auto [start, count] = emitCounts(e, pairs);

    auto write = plan::Access::Write;
    Value starts = context.getI32Array("expert_start",
                                       context.expr(pairs.experts + 1), write);
    Value counts =
        context.getI32Array("expert_count", context.expr(pairs.experts), write);
    tile::StoreScalarOp::create(e, start, starts, pairs.expert);
    tile::StoreScalarOp::create(e, count, counts, pairs.expert);
    Value isLast = e.compare(arith::CmpIPredicate::eq, pairs.expert,
                             e.i32(pairs.experts - 1));
    auto guarded = scf::IfOp::create(e, isLast, /*withElseRegion=*/false);
    TileEmitter body(op.getLoc(), guarded.getThenBodyBuilder());
    tile::StoreScalarOp::create(body, body.addi(start, count), starts,
                                ValueRange(body.i32(pairs.experts)));

    plan::ExprAttr rows = context.expr(plan::ExprKind::Mul, context.tokens(),
                                       context.expr(pairs.slots));
    Value tokenOfRow = context.getI32Array("token_of_row", rows, write);
    Value rowOf = context.getI32Array("row_of", rows, write);
    emitRows(e, pairs, start, tokenOfRow, rowOf);
    context.setStored(op.getRouting());
    return success();
  }

private:
  /// The ids as one vector: rows of `slots`, `stride` apart.
  struct Pairs {
    int64_t experts, slots, stride, chunk;
    Value ids, expert, end;
  };

  /// Positions from `first` on and the ids there, -1 between the rows and past
  /// the end.
  static std::pair<Value, Value> loadIds(TileEmitter &e, const Pairs &pairs,
                                         Value first) {
    SmallVector<int64_t> shape{pairs.chunk};
    Value none = e.i32(shape, -1);
    Value position = e.addi(e.iota(shape, 0), e.splat(first, shape));
    Value valid = e.compare(arith::CmpIPredicate::slt, position,
                            e.splat(pairs.end, shape));
    if (pairs.slots == pairs.stride)
      return {position, e.select(valid, e.load(pairs.ids, first, shape), none)};
    // What lies between the rows was never written, so it is not read either.
    Value slot = e.remi(position, e.i32(shape, pairs.stride));
    valid = e.andi(valid, e.compare(arith::CmpIPredicate::slt, slot,
                                    e.i32(shape, pairs.slots)));
    Value ids =
        tile::GatherOp::create(e, none.getType(), pairs.ids, ValueRange(),
                               e.select(valid, position, none));
    return {position, e.select(valid, ids, none)};
  }

  static Value count(TileEmitter &e, Value condition, ArrayRef<int64_t> shape) {
    Value flags = e.select(condition, e.i32(shape, 1), e.i32(shape, 0));
    return e.reduce(tile::ReduceKind::Add, flags, 0);
  }

  /// How many pairs smaller experts and this one have.
  static std::pair<Value, Value> emitCounts(TileEmitter &e,
                                            const Pairs &pairs) {
    SmallVector<int64_t> one{1}, shape{pairs.chunk};
    SmallVector<Value> zeros(2, e.i32(one, 0));
    auto loop = scf::ForOp::create(
        e, e.i32(0), pairs.end, e.i32(pairs.chunk), zeros,
        [&](OpBuilder &builder, Location loc, Value first, ValueRange sums) {
          TileEmitter e(loc, builder);
          Value ids = loadIds(e, pairs, first).second;
          Value expert = e.splat(pairs.expert, shape);
          // Unsigned: -1 is no smaller expert.
          Value below = e.compare(arith::CmpIPredicate::ult, ids, expert);
          Value own = e.compare(arith::CmpIPredicate::eq, ids, expert);
          SmallVector<Value> next{e.addi(sums[0], count(e, below, shape)),
                                  e.addi(sums[1], count(e, own, shape))};
          scf::YieldOp::create(e, next);
        });
    return {e.extract(loop.getResult(0)), e.extract(loop.getResult(1))};
  }

  static void emitRows(TileEmitter &e, const Pairs &pairs, Value start,
                       Value tokenOfRow, Value rowOf) {
    SmallVector<int64_t> shape{pairs.chunk};
    scf::ForOp::create(
        e, e.i32(0), pairs.end, e.i32(pairs.chunk), ValueRange(start),
        [&](OpBuilder &builder, Location loc, Value first, ValueRange state) {
          TileEmitter e(loc, builder);
          auto [position, ids] = loadIds(e, pairs, first);
          Value own = e.compare(arith::CmpIPredicate::eq, ids,
                                e.splat(pairs.expert, shape));
          Value none = e.i32(shape, -1);
          Value flags = e.select(own, e.i32(shape, 1), e.i32(shape, 0));
          Value before = e.exclusiveSum(flags);
          Value row = e.addi(before, e.splat(state[0], shape));
          Value token = e.divi(position, e.i32(shape, pairs.stride));
          tile::ScatterOp::create(e, token, tokenOfRow, ValueRange(),
                                  e.select(own, row, none));
          // row_of is [T, k] without padding.
          Value slot = e.remi(position, e.i32(shape, pairs.stride));
          Value pair = e.addi(e.muli(token, e.i32(shape, pairs.slots)), slot);
          tile::ScatterOp::create(e, row, rowOf, ValueRange(),
                                  e.select(own, pair, none));
          Value found = e.extract(e.reduce(tile::ReduceKind::Add, flags, 0));
          scf::YieldOp::create(e, e.addi(state[0], found));
        });
  }
};

/// One CTA cuts the rows of every expert into items.
struct ExpertWorkModel
    : K2TileInterface::ExternalModel<ExpertWorkModel, ExpertWorkOp> {
  LogicalResult emitTile(Operation *operation, OpBuilder &builder,
                         K2TileContext &context) const {
    auto op = cast<ExpertWorkOp>(operation);
    TileEmitter e(op.getLoc(), builder);
    RoutingType routing = op.getRouting().getType();
    SmallVector<int64_t> shape{context.getTileShape()[1]};
    context.setGrid(context.expr(1), context.expr(1), context.expr(1));

    Value zero = e.i32(0);
    int64_t experts = routing.getExperts();
    Value counts =
        e.load(context.getI32Array("expert_count", context.expr(experts)), zero,
               shape);
    Value starts =
        e.load(context.getI32Array("expert_start", context.expr(experts + 1)),
               zero, shape);
    auto write = plan::Access::Write;
    Value work = context.getI32Array(
        "expert_work",
        context.expr(plan::ExprKind::Mul, getExpertItems(context, routing),
                     context.expr(kWorkItem)),
        write);
    Value workCount = context.getI32Array("work_count", context.expr(1), write);

    Value items = e.divi(e.addi(counts, e.i32(shape, kExpertRows - 1)),
                         e.i32(shape, kExpertRows));
    Value before = e.exclusiveSum(items);
    Value total = e.extract(e.reduce(tile::ReduceKind::Add, items, 0));
    tile::StoreScalarOp::create(e, total, workCount, zero);
    Value most = e.extract(e.reduce(tile::ReduceKind::Maximum, items, 0));

    // Item number i of every expert that has one, all experts at once.
    scf::ForOp::create(
        e, zero, most, e.i32(1), ValueRange(),
        [&](OpBuilder &builder, Location loc, Value i, ValueRange) {
          TileEmitter e(loc, builder);
          Value number = e.splat(i, shape);
          Value has = e.compare(arith::CmpIPredicate::slt, number, items);
          Value done = e.muli(number, e.i32(shape, kExpertRows));
          Value at = e.muli(e.addi(before, number), e.i32(shape, kWorkItem));
          Value none = e.i32(shape, -1);
          auto put = [&](Value value, int64_t field) {
            Value index = e.addi(at, e.i32(shape, field));
            tile::ScatterOp::create(e, value, work, ValueRange(),
                                    e.select(has, index, none));
          };
          put(e.iota(shape, 0), 0);
          put(e.addi(starts, done), 1);
          put(e.mini(e.subi(counts, done), e.i32(shape, kExpertRows)), 2);
          scf::YieldOp::create(e);
        });
    context.setStored(op.getResult());
    return success();
  }
};

} // namespace

void k2c::attachDispatchModels(MLIRContext *context) {
  DispatchOp::attachInterface<DispatchModel>(*context);
  ExpertWorkOp::attachInterface<ExpertWorkModel>(*context);
}
