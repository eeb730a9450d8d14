//===- AttentionModels.cpp - mla_attention_absorbed -----------------------===//
//
// A CTA has 64 (token, head) rows of one sequence and a share of the latent
// columns; the scores are computed again for every share. The keys of a tile
// are one page of the cache.
//
// The masked variant adds a row of the step's mask to a token's scores in place
// of causality, and so visits all keys of the sequence.
//
//===----------------------------------------------------------------------===//
#include "Models.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace k2c;
using namespace k2c::k2;

namespace {

/// What a page's step needs beside the loop's state.
struct AttentionStep {
  int64_t rows, columns, latents, rope, nope;
  double scale;
  Value queryLatent, query, pages, latentPages, blockTable;
  Value firstRow, rowEnd, column, tableStart;
  /// Heads that one row of the work list counts, and the CTA's head if it is
  /// only one.
  int64_t rowsPerToken;
  Value head;

  SmallVector<Value> at(Value column) const {
    return head ? SmallVector<Value>{head, firstRow, column}
                : SmallVector<Value>{firstRow, column};
  }
  /// Per row: the last key it may see. [rows, 1]
  Value lastKey;
  /// Keys that some row of the tile may see.
  Value keyCount;
  /// The masked variant's pieces of mask rows, one page of keys each, and per
  /// row of the tile its token's first piece. [rows]
  Value mask, maskRows;

  /// e^difference. Scores of the plain variant are times log2(e) already. A
  /// mask is added to the score as it is: the lowest finite number, which masks
  /// often hold, times log2(e) would be an infinity.
  Value power(TileEmitter &e, Value difference) const {
    if (mask)
      difference = e.mulf(difference, e.f32(e.shapeOf(difference), M_LOG2E));
    return e.exp2(difference);
  }
};

/// Columns of one dot over the latents.
constexpr int64_t kScoreStep = 64;

/// Scores of the rows against a page; -inf where a row must not see a key. In
/// the plain variant they are times log2(e).
Value emitScores(TileEmitter &e, const AttentionStep &s, Value index,
                 Value page, Value firstKey, Value keyEnd) {
  SmallVector<int64_t> shape{s.rows, kPageRows};
  Value zero = e.i32(0);
  auto latentBody = [&](OpBuilder &builder, Location loc, Value column,
                        ValueRange sums) {
    TileEmitter e(loc, builder);
    Value q =
        e.load(s.queryLatent, s.at(column), {s.rows, kScoreStep}, s.rowEnd);
    Value k = e.load(s.latentPages, {page, zero, column},
                     {kPageRows, kScoreStep}, keyEnd);
    Value sum = e.dot(q, k, sums[0], /*transposed=*/true);
    scf::YieldOp::create(e, sum);
  };
  auto loop = scf::ForOp::create(e, zero, e.i32(s.latents), e.i32(kScoreStep),
                                 e.f32(shape, 0), latentBody);
  // The mma's summed dim is 16 wide.
  int64_t ropeColumns = llvm::alignTo(s.rope, 16);
  Value q =
      e.load(s.query, s.at(e.i32(s.nope)), {s.rows, ropeColumns}, s.rowEnd);
  Value k = e.load(s.pages, {page, zero, e.i32(s.latents)},
                   {kPageRows, ropeColumns}, keyEnd);
  Value sum = e.dot(q, k, loop.getResult(0), /*transposed=*/true);

  Value scaled = e.mulf(sum, e.f32(shape, s.scale * (s.mask ? 1 : M_LOG2E)));
  if (s.mask) {
    Value rows = e.addi(s.maskRows, e.splat(index, {s.rows}));
    scaled = e.addf(scaled, e.gather(s.mask, e.i32(0), rows, shape));
  }
  // Past the last key the mask is not set: chosen, not added.
  Value key = e.addi(e.iota(shape, 1), e.splat(firstKey, shape));
  Value visible =
      e.compare(arith::CmpIPredicate::sle, key, e.broadcast(s.lastKey, shape));
  return e.select(visible, scaled,
                  e.f32(shape, -std::numeric_limits<double>::infinity()));
}

/// One page: state is (output, maximum, sum) of the rows.
SmallVector<Value> emitPage(TileEmitter &e, const AttentionStep &s, Value index,
                            ValueRange state) {
  Value output = state[0], maximum = state[1], sum = state[2];
  Value page = e.loadScalar(s.blockTable, e.addi(s.tableStart, index));
  Value firstKey = e.muli(index, e.i32(kPageRows));
  // Rows of the page after the tile's last visible key are not read: whatever
  // is there must not reach the sums, not even times zero.
  Value keyEnd = e.subi(s.keyCount, firstKey);
  Value scores = emitScores(e, s, index, page, firstKey, keyEnd);
  auto shape = e.shapeOf(scores);
  auto column = e.shapeOf(maximum);

  Value newMaximum =
      e.maximum(maximum, e.reduce(tile::ReduceKind::Maximum, scores, 1));
  // A row that sees no key yet has the maximum -inf: its weights must be 0, not
  // exp2(-inf + inf).
  Value empty =
      e.compare(arith::CmpFPredicate::OEQ, newMaximum,
                e.f32(column, -std::numeric_limits<double>::infinity()));
  Value reference = e.select(empty, e.f32(column, 0), newMaximum);
  Value weights = s.power(e, e.subf(scores, e.broadcast(reference, shape)));
  Value decay = s.power(e, e.subf(maximum, reference));
  Value newSum =
      e.addf(e.mulf(sum, decay), e.reduce(tile::ReduceKind::Add, weights, 1));

  Value values = e.load(s.latentPages, {page, e.i32(0), s.column},
                        {kPageRows, s.columns}, keyEnd);
  Value decayed = e.mulf(output, e.broadcast(decay, {s.rows, s.columns}));
  Value newOutput =
      e.dot(e.toBf16(weights), values, decayed, /*transposed=*/false);
  return {newOutput, newMaximum, newSum};
}

struct AttentionModel
    : K2TileInterface::ExternalModel<AttentionModel, MlaAttentionAbsorbedOp> {
  LogicalResult emitTile(Operation *operation, OpBuilder &builder,
                         K2TileContext &context) const {
    auto op = cast<MlaAttentionAbsorbedOp>(operation);
    TileEmitter e(op.getLoc(), builder);
    ArrayRef<int64_t> tile = context.getTileShape();
    int64_t heads = op.getHeads();
    AttentionStep s;
    s.rows = tile[0];
    s.columns = tile[1];
    s.latents = op.getCache().getType().getLatentSize();
    s.rope = op.getRope();
    s.nope = op.getNope();
    s.scale = op.getScale().convertToDouble();
    bool isEven = llvm::all_of(
        ValueRange{op.getQueryLatent(), op.getQuery(), op.getResult()},
        isDense);
    s.rowsPerToken = isEven ? heads : 1;
    if (!isEven)
      s.head = e.ctaId(tile::GridDim::Z);
    makeViews(op, e, context, s);

    context.addWorklist("query_tiles", s.rows, s.rowsPerToken);
    context.setGrid(context.expr("W_query_tiles"),
                    context.expr(llvm::divideCeil(s.latents, s.columns)),
                    context.expr(heads / s.rowsPerToken));
    Value items = context.getI32Array(
        "query_tiles",
        context.expr(plan::ExprKind::Mul, context.expr("W_query_tiles"),
                     context.expr(kQueryItem)));
    Value item = e.muli(e.ctaId(tile::GridDim::X), e.i32(kQueryItem));
    Value sequence = e.loadScalar(items, item);
    s.firstRow = e.loadScalar(items, e.addi(item, e.i32(1)));
    s.column = e.muli(e.ctaId(tile::GridDim::Y), e.i32(s.columns));

    // The tile's rows end with the sequence's tokens.
    plan::ExprAttr sequences = context.expr("B");
    Value starts = context.getI32Array(
        "seq_start",
        context.expr(plan::ExprKind::Add, sequences, context.expr(1)));
    Value start = e.loadScalar(starts, sequence);
    Value end = e.loadScalar(starts, e.addi(sequence, e.i32(1)));
    s.rowEnd = e.mini(e.muli(end, e.i32(s.rowsPerToken)),
                      e.addi(s.firstRow, e.i32(s.rows)));
    Value past =
        e.loadScalar(context.getI32Array("past_len", sequences), sequence);
    if (context.isMasked()) {
      emitMaskRows(e, context, s);
      s.keyCount = e.addi(past, e.subi(end, start));
      s.lastKey = e.splat(e.subi(s.keyCount, e.i32(1)), {s.rows, int64_t(1)});
    } else {
      emitLastKeys(e, s, e.subi(past, start));
    }
    s.tableStart = e.muli(sequence, context.getScalar(pagesOf(context)));

    SmallVector<int64_t> column{s.rows, 1};
    SmallVector<Value> state{
        e.f32({s.rows, s.columns}, 0),
        e.f32(column, -std::numeric_limits<double>::infinity()),
        e.f32(column, 0)};
    Value count =
        e.divi(e.addi(s.keyCount, e.i32(kPageRows - 1)), e.i32(kPageRows));
    auto loop = scf::ForOp::create(
        e, e.i32(0), count, e.i32(1), state,
        [&](OpBuilder &builder, Location loc, Value index, ValueRange state) {
          TileEmitter e(loc, builder);
          scf::YieldOp::create(e, emitPage(e, s, index, state));
        });

    // A row without a visible key has the sum 0 and gives zeros.
    Value sum = loop.getResult(2);
    Value zero = e.f32(column, 0);
    Value factor = e.select(e.compare(arith::CmpFPredicate::OGT, sum, zero),
                            e.divf(e.f32(column, 1), sum), zero);
    Value output =
        e.mulf(loop.getResult(0), e.broadcast(factor, {s.rows, s.columns}));
    Value result = context.getView(op.getResult(),
                                   rowView(context, s, op.getResult(), heads));
    e.store(e.toBf16(output), result, s.at(s.column), s.rowEnd);
    context.setStored(op.getResult());
    return success();
  }

private:
  /// Elements between the items (sequence, first row) of the work list.
  static constexpr int64_t kQueryItem = 2;

  static plan::ExprAttr pagesOf(K2TileContext &context) {
    return context.expr(plan::ExprKind::CeilDiv, context.expr("S"),
                        context.expr(kPageRows));
  }

  /// Whether the rows of all tokens follow each other without padding.
  static bool isDense(Value value) {
    return K2TileContext::baseOf(value) == value &&
           K2TileContext::rowStrideOf(value) ==
               cast<RankedTensorType>(value.getType()).getDimSize(1);
  }

  /// [token * heads + head, column], or [head, token, column].
  static ViewShape rowView(K2TileContext &context, const AttentionStep &s,
                           Value value, int64_t heads) {
    auto type = cast<RankedTensorType>(value.getType());
    int64_t width = type.getDimSize(1) / heads;
    if (s.head)
      return {type.getElementType(),
              {heads, ShapedType::kDynamic, width},
              {width, K2TileContext::rowStrideOf(value), 1},
              {context.tokens()}};
    return {type.getElementType(),
            {ShapedType::kDynamic, width},
            {width, 1},
            {context.expr(plan::ExprKind::Mul, context.tokens(),
                          context.expr(heads))}};
  }

  static void makeViews(MlaAttentionAbsorbedOp op, TileEmitter &e,
                        K2TileContext &context, AttentionStep &s) {
    int64_t heads = op.getHeads();
    s.queryLatent = context.getView(
        op.getQueryLatent(), rowView(context, s, op.getQueryLatent(), heads));
    s.query = context.getView(op.getQuery(),
                              rowView(context, s, op.getQuery(), heads));
    int64_t width = s.latents + s.rope;
    int64_t stride = plan::paddedRowStride(width, e.getBF16Type());
    auto pages = [&](int64_t columns) {
      return context.getArray("latent_cache", plan::Access::Read,
                              {e.getBF16Type(),
                               {ShapedType::kDynamic, kPageRows, columns},
                               {kPageRows * stride, stride, 1},
                               {context.expr("P")}});
    };
    s.latentPages = pages(s.latents);
    s.pages = pages(width);
    s.blockTable = context.getI32Array(
        "block_table",
        context.expr(plan::ExprKind::Mul, context.expr("B"), pagesOf(context)));
  }

  /// The token of every row of the tile. Rows past the tile's end count as the
  /// last row.
  static Value emitTokens(TileEmitter &e, const AttentionStep &s,
                          ArrayRef<int64_t> shape) {
    Value row = e.addi(e.iota(shape, 0), e.splat(s.firstRow, shape));
    Value lastRow = e.splat(e.subi(s.rowEnd, e.i32(1)), shape);
    return e.divi(e.mini(row, lastRow), e.i32(shape, s.rowsPerToken));
  }

  /// Rows of the mask are padded to whole pages, so that a piece of a row is a
  /// row of the view: its pitch is no constant, the view's is.
  static void emitMaskRows(TileEmitter &e, K2TileContext &context,
                           AttentionStep &s) {
    plan::ExprAttr pieces =
        context.expr(plan::ExprKind::Mul, context.tokens(), pagesOf(context));
    s.mask = context.getArray("mask", plan::Access::Read,
                              {e.getF32Type(),
                               {ShapedType::kDynamic, kPageRows},
                               {kPageRows, 1},
                               {pieces}});
    s.maskRows = e.muli(emitTokens(e, s, {s.rows}),
                        e.splat(context.getScalar(pagesOf(context)), {s.rows}));
  }

  /// The last key that every row may see: its own position in the cache.
  static void emitLastKeys(TileEmitter &e, AttentionStep &s, Value shift) {
    SmallVector<int64_t> column{s.rows, 1};
    s.lastKey = e.addi(emitTokens(e, s, column), e.splat(shift, column));
    Value lastRow = e.subi(s.rowEnd, e.i32(1));
    Value lastToken = e.divi(lastRow, e.i32(s.rowsPerToken));
    s.keyCount = e.addi(e.addi(lastToken, shift), e.i32(1));
  }
};

} // namespace

void k2c::attachAttentionModels(MLIRContext *context) {
  MlaAttentionAbsorbedOp::attachInterface<AttentionModel>(*context);
}
