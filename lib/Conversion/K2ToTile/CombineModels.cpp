//===- CombineModels.cpp - combine ----------------------------------------===//
#include "Models.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace k2c;
using namespace k2c::k2;

namespace {

struct CombineModel : K2TileInterface::ExternalModel<CombineModel, CombineOp> {
  LogicalResult emitTile(Operation *operation, OpBuilder &builder,
                         K2TileContext &context) const {
    auto op = cast<CombineOp>(operation);
    TileEmitter e(op.getLoc(), builder);
    TileFrame frame = context.frame;
    SmallVector<int64_t> shape{frame.rows, frame.columns};
    int64_t slots = op.getRouting().getType().getTopK();

    Value rows = context.getRows(op.getRows());
    Value weights = context.getRows(op.getWeights());
    Value rowOf = context.getI32Array(
        "row_of", context.expr(plan::ExprKind::Mul, context.tokens(),
                               context.expr(slots)));
    Value first = e.muli(frame.row, e.i32(slots));
    auto loop = scf::ForOp::create(
        e, e.i32(0), e.i32(slots), e.i32(1), e.f32(shape, 0),
        [&](OpBuilder &builder, Location loc, Value slot, ValueRange sums) {
          TileEmitter e(loc, builder);
          Value row = e.loadScalar(rowOf, e.addi(first, slot));
          Value weight = e.loadScalar(weights, {frame.row, slot});
          Value x = e.toF32(e.load(rows, {row, frame.column}, shape));
          Value product = e.mulf(x, e.splat(weight, shape));
          scf::YieldOp::create(e, e.addf(sums[0], product));
        });
    context.setTile(op.getResult(), e.toBf16(loop.getResult(0)));
    return success();
  }
};

} // namespace

void k2c::attachCombineModels(MLIRContext *context) {
  CombineOp::attachInterface<CombineModel>(*context);
}
