//===- NormModels.cpp - rms_norm, residual_add, embed ---------------------===//
#include "Models.h"

using namespace mlir;
using namespace k2c;
using namespace k2c::k2;

void k2c::setUpRowFrame(TileEmitter &e, K2TileContext &context) {
  context.setGrid(context.tokens(), context.expr(1), context.expr(1));
  context.frame.row = e.ctaId(tile::GridDim::X);
  context.frame.column = e.i32(0);
  context.frame.rows = context.getTileShape()[0];
  context.frame.columns = context.getTileShape()[1];
}

Value k2c::loadWeightRow(TileEmitter &e, K2TileContext &context, Value weight) {
  auto type = cast<RankedTensorType>(weight.getType());
  int64_t columns = type.getDimSize(0);
  Value view = context.getParam(
      weight, {type.getElementType(), {1, columns}, {columns, 1}, {}});
  return e.load(view, {e.i32(0), context.frame.column},
                {1, context.frame.columns});
}

namespace {

struct RmsNormModel : K2TileInterface::ExternalModel<RmsNormModel, RmsNormOp> {
  LogicalResult emitTile(Operation *operation, OpBuilder &builder,
                         K2TileContext &context) const {
    auto op = cast<RmsNormOp>(operation);
    TileEmitter e(op.getLoc(), builder);
    Value input = context.getTile(e, op.getInput());
    auto shape = e.shapeOf(input);
    int64_t columns = cast<RankedTensorType>(op.getType()).getDimSize(1);

    // Columns past the row read as zero and add nothing.
    Value x = e.toF32(input);
    Value sum = e.reduce(tile::ReduceKind::Add, e.mulf(x, x), 1);
    auto scalar = e.shapeOf(sum);
    Value mean = e.divf(sum, e.f32(scalar, static_cast<double>(columns)));
    Value factor =
        e.rsqrt(e.addf(mean, e.f32(scalar, op.getEps().convertToDouble())));
    Value normed = e.roundToBf16(e.mulf(x, e.broadcast(factor, shape)));
    Value weight =
        e.broadcast(loadWeightRow(e, context, op.getWeight()), shape);
    context.setTile(op.getResult(), e.toBf16(e.mulf(normed, weight)));
    return success();
  }
};

struct ResidualAddModel
    : K2TileInterface::ExternalModel<ResidualAddModel, ResidualAddOp> {
  LogicalResult emitTile(Operation *operation, OpBuilder &builder,
                         K2TileContext &context) const {
    auto op = cast<ResidualAddOp>(operation);
    TileEmitter e(op.getLoc(), builder);
    Value lhs = e.toF32(context.getTile(e, op.getLhs()));
    Value rhs = e.toF32(context.getTile(e, op.getRhs()));
    context.setTile(op.getResult(), e.toBf16(e.addf(lhs, rhs)));
    return success();
  }
};

struct EmbedModel : K2TileInterface::ExternalModel<EmbedModel, EmbedOp> {
  LogicalResult emitTile(Operation *operation, OpBuilder &builder,
                         K2TileContext &context) const {
    auto op = cast<EmbedOp>(operation);
    TileEmitter e(op.getLoc(), builder);
    Value ids = context.getI32Array("token_ids", context.tokens());
    Value id = e.loadScalar(ids, context.frame.row);
    Value row =
        e.load(getMatrix(context, op.getTable()), {id, context.frame.column},
               {context.frame.rows, context.frame.columns});
    context.setTile(op.getResult(), row);
    return success();
  }
};

} // namespace

void k2c::attachNormModels(MLIRContext *context) {
  RmsNormOp::attachInterface<RmsNormModel>(*context);
  ResidualAddOp::attachInterface<ResidualAddModel>(*context);
  EmbedOp::attachInterface<EmbedModel>(*context);
}
