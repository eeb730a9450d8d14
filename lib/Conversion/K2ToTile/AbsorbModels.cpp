//===- AbsorbModels.cpp - absorb_query, absorb_output ---------------------===//
//
// Products per head: views have the head as their first dim, so that a tail of
// a head never reads its neighbour.
//
//===----------------------------------------------------------------------===//
#include "Models.h"

using namespace mlir;
using namespace k2c;
using namespace k2c::k2;

namespace {

/// Columns [0, used) of every head's `width` columns: [head, token, column].
ViewShape headView(K2TileContext &context, Value value, int64_t heads,
                   int64_t width, int64_t used) {
  auto type = cast<RankedTensorType>(value.getType());
  return {type.getElementType(),
          {heads, ShapedType::kDynamic, used},
          {width, K2TileContext::rowStrideOf(value), 1},
          {context.tokens()}};
}

/// kv_b with rows [0, used) of every head's `rows`: [head, row, column].
Value headMatrix(K2TileContext &context, Value weight, int64_t heads,
                 int64_t rows, int64_t used) {
  Type type = weight.getType();
  auto quantized = dyn_cast<QuantizedType>(type);
  Type element = quantized ? quantized.getElementType()
                           : cast<RankedTensorType>(type).getElementType();
  int64_t columns = getWeightShape(type)[1];
  int64_t stride = plan::paddedRowStride(columns, element);
  return context.getParam(
      weight,
      {element, {heads, used, columns}, {rows * stride, stride, 1}, {}});
}

/// The CTA's tile of a product per head.
struct HeadFrame {
  Value head, row, column;

  HeadFrame(TileEmitter &e, K2TileContext &context, int64_t heads,
            int64_t columns) {
    ArrayRef<int64_t> tile = context.getTileShape();
    context.setGrid(context.expr(llvm::divideCeil(columns, tile[1])),
                    context.expr(plan::ExprKind::CeilDiv, context.tokens(),
                                 context.expr(tile[0])),
                    context.expr(heads));
    head = e.ctaId(tile::GridDim::Z);
    row = e.muli(e.ctaId(tile::GridDim::Y), e.i32(tile[0]));
    column = e.muli(e.ctaId(tile::GridDim::X), e.i32(tile[1]));
  }
};

/// Whether steps of `rows` rows, the first at `start` of every `head` rows,
/// each lie in one block of scales.
LogicalResult verifyRowSteps(Operation *op, QuantizedType type, int64_t rows,
                             int64_t start, int64_t head) {
  int64_t block = type.getBlock()[0];
  if (rows >= 16 && block % rows == 0 && start % rows == 0 && head % rows == 0)
    return success();
  return op->emitOpError("expected rows of a head to start on a multiple of 16 "
                         "within a block of ")
         << block << " scaled rows, but got rows from " << start << " of every "
         << head << " in steps of " << rows;
}

struct AbsorbQueryModel
    : K2TileInterface::ExternalModel<AbsorbQueryModel, AbsorbQueryOp> {
  LogicalResult emitTile(Operation *operation, OpBuilder &builder,
                         K2TileContext &context) const {
    auto op = cast<AbsorbQueryOp>(operation);
    TileEmitter e(op.getLoc(), builder);
    ArrayRef<int64_t> tile = context.getTileShape();
    Value weight = op.getKvB();
    auto quantized = dyn_cast<QuantizedType>(weight.getType());
    int64_t heads = op.getHeads(), nope = op.getNope(),
            rows = nope + op.getValue(),
            latents = getWeightShape(weight.getType())[1];
    if (quantized && failed(verifyRowSteps(op, quantized, tile[2], 0, rows)))
      return failure();
    if (quantized && quantized.getBlock()[1] % tile[1])
      return op.emitOpError("expected columns of a tile within a block of ")
             << quantized.getBlock()[1] << " scaled columns, but got "
             << tile[1];

    HeadFrame frame(e, context, heads, latents);
    Value query =
        context.getView(op.getQuery(), headView(context, op.getQuery(), heads,
                                                nope + op.getRope(), nope));
    Value matrix = headMatrix(context, weight, heads, rows, nope);
    Value scales = getMatrixScales(context, weight);

    // Summed over the rows of W_UK: the weight is not transposed.
    ProductWeight product;
    product.transposed = false;
    product.load = [=](TileEmitter &e, Value k) {
      return e.load(matrix, {frame.head, k, frame.column}, {tile[2], tile[1]});
    };
    if (scales)
      product.scale = [=](TileEmitter &e, Value k) {
        Value row = e.addi(e.muli(frame.head, e.i32(rows)), k);
        auto block = quantized.getBlock();
        return e.loadScalar(scales, {e.divi(row, e.i32(block[0])),
                                     e.divi(frame.column, e.i32(block[1]))});
      };
    LoadStep input = [=](TileEmitter &e, Value k) {
      return e.load(query, {frame.head, frame.row, k}, {tile[0], tile[2]});
    };
    Value sum =
        emitProducts(e, nope, tile[2], {tile[0], tile[1]}, input, product)[0];
    Value output =
        context.getView(op.getResult(), headView(context, op.getResult(), heads,
                                                 latents, latents));
    e.store(e.toBf16(sum), output, {frame.head, frame.row, frame.column});
    context.setStored(op.getResult());
    return success();
  }
};

struct AbsorbOutputModel
    : K2TileInterface::ExternalModel<AbsorbOutputModel, AbsorbOutputOp> {
  LogicalResult emitTile(Operation *operation, OpBuilder &builder,
                         K2TileContext &context) const {
    auto op = cast<AbsorbOutputOp>(operation);
    TileEmitter e(op.getLoc(), builder);
    ArrayRef<int64_t> tile = context.getTileShape();
    Value weight = op.getKvB();
    auto quantized = dyn_cast<QuantizedType>(weight.getType());
    int64_t heads = op.getHeads(), nope = op.getNope(), value = op.getValue(),
            rows = nope + value, latents = getWeightShape(weight.getType())[1];
    if (quantized && failed(verifyRowSteps(op, quantized, tile[1], nope, rows)))
      return failure();

    HeadFrame frame(e, context, heads, value);
    Value latent = context.getView(
        op.getOutputLatent(),
        headView(context, op.getOutputLatent(), heads, latents, latents));
    Value matrix = headMatrix(context, weight, heads, rows, rows);
    Value scales = getMatrixScales(context, weight);
    // W_UV are the rows of the head after the first `nope`.
    Value row = e.addi(frame.column, e.i32(nope));

    ProductWeight product;
    product.load = [=](TileEmitter &e, Value k) {
      return e.load(matrix, {frame.head, row, k}, {tile[1], tile[2]});
    };
    if (scales)
      product.scale = [=](TileEmitter &e, Value k) {
        auto block = quantized.getBlock();
        Value absolute = e.addi(e.muli(frame.head, e.i32(rows)), row);
        return e.loadScalar(scales, {e.divi(absolute, e.i32(block[0])),
                                     e.divi(k, e.i32(block[1]))});
      };
    LoadStep input = [=](TileEmitter &e, Value k) {
      return e.load(latent, {frame.head, frame.row, k}, {tile[0], tile[2]});
    };
    Value sum = emitProducts(e, latents, tile[2], {tile[0], tile[1]}, input,
                             product)[0];
    Value output = context.getView(
        op.getResult(), headView(context, op.getResult(), heads, value, value));
    e.store(e.toBf16(sum), output, {frame.head, frame.row, frame.column});
    context.setStored(op.getResult());
    return success();
  }
};

} // namespace

void k2c::attachAbsorbModels(MLIRContext *context) {
  AbsorbQueryOp::attachInterface<AbsorbQueryModel>(*context);
  AbsorbOutputOp::attachInterface<AbsorbOutputModel>(*context);
}
