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

/// Whether pieces of `rows` rows, the first at `start` of every `head` rows,
/// each lie in one block of scales.
bool liesInBlocks(QuantizedType type, int64_t rows, int64_t start,
                  int64_t head) {
  return type.getBlock()[0] % rows == 0 && start % rows == 0 &&
         head % rows == 0;
}

/// Sums over a head's rows [0, depth), block of scales by block: a head that
/// starts inside a block reads a part of its first and of its last one.
struct RowBlocks {
  int64_t block, rows, depth, count, scaleRows;
  Value head;

  RowBlocks(QuantizedType type, Value head, int64_t rows, int64_t depth)
      : block(type.getBlock()[0]), rows(rows), depth(depth),
        count(llvm::divideCeil(depth - 1, block) + 1),
        scaleRows(type.getScaleRows()), head(head) {}

  Value base(TileEmitter &e) const { return e.muli(head, e.i32(rows)); }
  /// The row of scales of the head's block number `index`.
  Value scaleRow(TileEmitter &e, Value index) const {
    Value row = e.addi(e.divi(base(e), e.i32(block)), index);
    return e.mini(row, e.i32(scaleRows - 1));
  }
  /// The block's rows, counted from the head's first one.
  std::pair<Value, Value> range(TileEmitter &e, Value index) const {
    Value row = e.addi(e.divi(base(e), e.i32(block)), index);
    Value start = e.subi(e.muli(row, e.i32(block)), base(e));
    Value end = e.mini(e.addi(start, e.i32(block)), e.i32(depth));
    return {arith::MaxSIOp::create(e, start, e.i32(0)), end};
  }
};

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
    LoadStep input;
    int64_t depth = nope, step = tile[2];
    if (!quantized || liesInBlocks(quantized, tile[2], 0, rows)) {
      product.load = [=](TileEmitter &e, Value k) {
        return e.load(matrix, {frame.head, k, frame.column},
                      {tile[2], tile[1]});
      };
      if (scales)
        product.scale = [=](TileEmitter &e, Value k) {
          Value row = e.addi(e.muli(frame.head, e.i32(rows)), k);
          auto block = quantized.getBlock();
          return e.loadScalar(scales, {e.divi(row, e.i32(block[0])),
                                       e.divi(frame.column, e.i32(block[1]))});
        };
      input = [=](TileEmitter &e, Value k) {
        return e.load(query, {frame.head, frame.row, k}, {tile[0], tile[2]});
      };
    } else {
      RowBlocks blocks(quantized, frame.head, rows, nope);
      if (tile[2] != blocks.block)
        return op.emitOpError("expected steps of a block of ")
               << blocks.block << " scaled rows where heads start inside of "
               << "one, but got " << tile[2];
      depth = blocks.count;
      step = 1;
      product.load = [=](TileEmitter &e, Value index) {
        auto [start, end] = blocks.range(e, index);
        return e.load(matrix, {frame.head, start, frame.column},
                      {tile[2], tile[1]}, end);
      };
      product.scale = [=](TileEmitter &e, Value index) {
        Value column = e.divi(frame.column, e.i32(quantized.getBlock()[1]));
        return e.loadScalar(scales, {blocks.scaleRow(e, index), column});
      };
      input = [=](TileEmitter &e, Value index) {
        auto [start, end] = blocks.range(e, index);
        return e.load(query, {frame.head, frame.row, start}, {tile[0], tile[2]},
                      {e.dim(query, 1), end});
      };
    }
    Value sum =
        emitProducts(e, depth, step, {tile[0], tile[1]}, input, product)[0];
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
    if (quantized && (quantized.getBlock()[1] != tile[2] ||
                      quantized.getBlock()[0] < tile[1]))
      return op.emitOpError("expected a tile within a block of scales (")
             << quantized.getBlock()[0] << " x " << quantized.getBlock()[1]
             << "), but got a tile of " << tile[1] << " x " << tile[2];

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
        Value blockRow = e.divi(absolute, e.i32(block[0]));
        Value blockColumn = e.divi(k, e.i32(block[1]));
        Value scale = e.loadScalar(scales, {blockRow, blockColumn});
        if (liesInBlocks(quantized, tile[1], nope, rows))
          return scale;
        // The tile may end in the next row of blocks.
        Value nextRow = e.addi(blockRow, e.i32(1));
        Value lastRow = e.i32(quantized.getScaleRows() - 1);
        Value next =
            e.loadScalar(scales, {e.mini(nextRow, lastRow), blockColumn});
        SmallVector<int64_t> shape{1, tile[1]};
        Value left = e.subi(e.muli(nextRow, e.i32(block[0])), absolute);
        Value isFirst = e.compare(arith::CmpIPredicate::slt, e.iota(shape, 1),
                                  e.splat(left, shape));
        return e.select(isFirst, e.splat(scale, shape), e.splat(next, shape));
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
