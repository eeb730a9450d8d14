//===- AttentionModels.cpp - mla_attention in its two forms ---------------===//
//
// Absorbed: a CTA has 64 (token, head) rows of one sequence and a share of the
// latent columns; the scores are computed again for every share. The keys of a
// tile are one page of the cache.
//
// Expanded: a CTA has 64 tokens of one head; keys and values are what the
// kernel's first phase (ExpandModel.cpp) made of the page, the rotated columns
// are in the cache.
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

/// The page that a step of the loop is at.
struct KeyPage {
  /// Its place in the sequence, and in the cache.
  Value index, page;
  Value firstKey;
  /// Rows of the page from here on are not read: whatever is there must not
  /// reach the sums, not even times zero.
  Value end;
};

/// What a page's step needs beside the loop's state.
struct AttentionStep {
  int64_t rows, columns, latents, rope, nope;
  double scale;
  /// Columns that meet the latents, or a head's own keys; all columns.
  Value plainQuery, query;
  int64_t plainColumns;
  Value pages, latentPages, blockTable;
  /// Of the expanded form: the keys of every head, and keys with values.
  Value expandedKeys, expandedRows;
  Value firstRow, rowEnd, column, tableStart;
  /// Heads that one row of the work list counts, and the CTA's head if it is
  /// only one.
  int64_t rowsPerToken;
  Value head;
  /// Per row: the last key it may see. [rows, 1]
  Value lastKey;
  /// Keys that some row of the tile may see.
  Value keyCount;
  /// The masked variant's pieces of mask rows, one page of keys each, and per
  /// row of the tile its token's first piece. [rows]
  Value mask, maskRows;

  SmallVector<Value> at(Value column) const {
    return head ? SmallVector<Value>{head, firstRow, column}
                : SmallVector<Value>{firstRow, column};
  }

  /// Columns of the page's keys that meet plainQuery.
  Value loadKeys(TileEmitter &e, const KeyPage &key, Value column) const {
    SmallVector<int64_t> shape{kPageRows, kScoreStep};
    if (expandedKeys)
      return loadExpanded(e, expandedKeys, key, column, shape);
    return e.load(latentPages, {key.page, e.i32(0), column}, shape, key.end);
  }

  /// The CTA's columns of the page's values.
  Value loadValues(TileEmitter &e, const KeyPage &key) const {
    SmallVector<int64_t> shape{kPageRows, columns};
    if (expandedRows)
      return loadExpanded(e, expandedRows, key, e.addi(column, e.i32(nope)),
                          shape);
    return e.load(latentPages, {key.page, e.i32(0), column}, shape, key.end);
  }

  /// e^difference. Scores of the plain variant are times log2(e) already. A
  /// mask is added to the score as it is: the lowest finite number, which masks
  /// often hold, times log2(e) would be an infinity.
  Value power(TileEmitter &e, Value difference) const {
    if (mask)
      difference = e.mulf(difference, e.f32(e.shapeOf(difference), M_LOG2E));
    return e.exp2(difference);
  }

  /// Columns of one dot of the scores.
  static constexpr int64_t kScoreStep = 64;

private:
  /// Rows of the sequence's expanded pages, which follow each other.
  Value loadExpanded(TileEmitter &e, Value view, const KeyPage &key,
                     Value column, ArrayRef<int64_t> shape) const {
    Value row = e.muli(e.addi(tableStart, key.index), e.i32(kPageRows));
    return e.load(view, {head, row, column}, shape, e.addi(row, key.end));
  }
};

/// Scores of the rows against a page; -inf where a row must not see a key. In
/// the plain variant they are times log2(e).
Value emitScores(TileEmitter &e, const AttentionStep &s, const KeyPage &key) {
  SmallVector<int64_t> shape{s.rows, kPageRows};
  Value zero = e.i32(0);
  constexpr int64_t step = AttentionStep::kScoreStep;
  auto plainBody = [&](OpBuilder &builder, Location loc, Value column,
                       ValueRange sums) {
    TileEmitter e(loc, builder);
    Value q = e.load(s.plainQuery, s.at(column), {s.rows, step}, s.rowEnd);
    Value k = s.loadKeys(e, key, column);
    Value sum = e.dot(q, k, sums[0], /*transposed=*/true);
    scf::YieldOp::create(e, sum);
  };
  auto loop = scf::ForOp::create(e, zero, e.i32(s.plainColumns), e.i32(step),
                                 e.f32(shape, 0), plainBody);
  // The mma's summed dim is 16 wide.
  int64_t ropeColumns = llvm::alignTo(s.rope, 16);
  Value q =
      e.load(s.query, s.at(e.i32(s.nope)), {s.rows, ropeColumns}, s.rowEnd);
  Value k = e.load(s.pages, {key.page, zero, e.i32(s.latents)},
                   {kPageRows, ropeColumns}, key.end);
  Value sum = e.dot(q, k, loop.getResult(0), /*transposed=*/true);

  Value scaled = e.mulf(sum, e.f32(shape, s.scale * (s.mask ? 1 : M_LOG2E)));
  if (s.mask) {
    Value rows = e.addi(s.maskRows, e.splat(key.index, {s.rows}));
    scaled = e.addf(scaled, e.gather(s.mask, zero, rows, shape));
  }
  // Past the last key the mask is not set: chosen, not added.
  Value number = e.addi(e.iota(shape, 1), e.splat(key.firstKey, shape));
  Value visible = e.compare(arith::CmpIPredicate::sle, number,
                            e.broadcast(s.lastKey, shape));
  return e.select(visible, scaled,
                  e.f32(shape, -std::numeric_limits<double>::infinity()));
}

/// One page: state is (output, maximum, sum) of the rows.
SmallVector<Value> emitPage(TileEmitter &e, const AttentionStep &s, Value index,
                            ValueRange state) {
  Value output = state[0], maximum = state[1], sum = state[2];
  KeyPage key;
  key.index = index;
  key.page = e.loadScalar(s.blockTable, e.addi(s.tableStart, index));
  key.firstKey = e.muli(index, e.i32(kPageRows));
  key.end = e.subi(s.keyCount, key.firstKey);
  Value scores = emitScores(e, s, key);
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

  Value values = s.loadValues(e, key);
  Value decayed = e.mulf(output, e.broadcast(decay, {s.rows, s.columns}));
  Value newOutput =
      e.dot(e.toBf16(weights), values, decayed, /*transposed=*/false);
  return {newOutput, newMaximum, newSum};
}

/// Elements between the items (sequence, first row) of the work list.
constexpr int64_t kQueryItem = 2;

/// Whether the rows of all tokens follow each other without padding.
bool isDense(Value value) {
  return K2TileContext::baseOf(value) == value &&
         K2TileContext::rowStrideOf(value) ==
             cast<RankedTensorType>(value.getType()).getDimSize(1);
}

/// The first `used` columns of every head (0: all) as [token * heads + head,
/// column] or [head, token, column].
ViewShape rowView(K2TileContext &context, const AttentionStep &s, Value value,
                  int64_t heads, int64_t used = 0) {
  auto type = cast<RankedTensorType>(value.getType());
  int64_t width = type.getDimSize(1) / heads;
  used = used ? used : width;
  if (s.head)
    return {type.getElementType(),
            {heads, ShapedType::kDynamic, used},
            {width, K2TileContext::rowStrideOf(value), 1},
            {context.tokens()}};
  return {type.getElementType(),
          {ShapedType::kDynamic, used},
          {width, 1},
          {context.expr(plan::ExprKind::Mul, context.tokens(),
                        context.expr(heads))}};
}

/// The token of every row of the tile. Rows past the tile's end count as the
/// last row.
Value emitTokens(TileEmitter &e, const AttentionStep &s,
                 ArrayRef<int64_t> shape) {
  Value row = e.addi(e.iota(shape, 0), e.splat(s.firstRow, shape));
  Value lastRow = e.splat(e.subi(s.rowEnd, e.i32(1)), shape);
  return e.divi(e.mini(row, lastRow), e.i32(shape, s.rowsPerToken));
}

/// Rows of the mask are padded to whole pages, so that a piece of a row is a
/// row of the view: its pitch is no constant, the view's is.
void emitMaskRows(TileEmitter &e, K2TileContext &context, AttentionStep &s) {
  plan::ExprAttr pieces = context.expr(plan::ExprKind::Mul, context.tokens(),
                                       getPagesPerSequence(context));
  s.mask = context.getArray("mask", plan::Access::Read,
                            {e.getF32Type(),
                             {ShapedType::kDynamic, kPageRows},
                             {kPageRows, 1},
                             {pieces}});
  Value perToken = context.getScalar(getPagesPerSequence(context));
  s.maskRows = e.muli(emitTokens(e, s, {s.rows}), e.splat(perToken, {s.rows}));
}

/// The last key that every row may see: its own position in the cache.
void emitLastKeys(TileEmitter &e, AttentionStep &s, Value shift) {
  SmallVector<int64_t> column{s.rows, 1};
  s.lastKey = e.addi(emitTokens(e, s, column), e.splat(shift, column));
  Value lastRow = e.subi(s.rowEnd, e.i32(1));
  Value lastToken = e.divi(lastRow, e.i32(s.rowsPerToken));
  s.keyCount = e.addi(e.addi(lastToken, shift), e.i32(1));
}

/// The loop over the sequence's pages. `s` has its views; `result` is [T,
/// heads * width].
void emitAttention(TileEmitter &e, K2TileContext &context, AttentionStep &s,
                   Value result, int64_t heads) {
  int64_t width =
      cast<RankedTensorType>(result.getType()).getDimSize(1) / heads;
  context.addWorklist("query_tiles", s.rows, s.rowsPerToken);
  context.setGrid(context.expr("W_query_tiles"),
                  context.expr(llvm::divideCeil(width, s.columns)),
                  context.expr(heads / s.rowsPerToken));
  Value items = context.getI32Array("query_tiles",
                                    context.expr(plan::ExprKind::Mul,
                                                 context.expr("W_query_tiles"),
                                                 context.expr(kQueryItem)));
  Value item = e.muli(e.ctaId(tile::GridDim::X), e.i32(kQueryItem));
  Value sequence = e.loadScalar(items, item);
  s.firstRow = e.loadScalar(items, e.addi(item, e.i32(1)));
  s.column = e.muli(e.ctaId(tile::GridDim::Y), e.i32(s.columns));

  // The tile's rows end with the sequence's tokens.
  SequenceLength length = loadLength(e, context, sequence);
  s.rowEnd = e.mini(e.muli(length.end, e.i32(s.rowsPerToken)),
                    e.addi(s.firstRow, e.i32(s.rows)));
  if (context.isMasked()) {
    emitMaskRows(e, context, s);
    s.keyCount = length.keys(e);
    s.lastKey = e.splat(e.subi(s.keyCount, e.i32(1)), {s.rows, int64_t(1)});
  } else {
    emitLastKeys(e, s, e.subi(length.past, length.start));
  }
  s.tableStart =
      e.muli(sequence, context.getScalar(getPagesPerSequence(context)));

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
  Value view = context.getView(result, rowView(context, s, result, heads));
  e.store(e.toBf16(output), view, s.at(s.column), s.rowEnd);
  context.setStored(result);
}

/// What both forms read alike.
template <typename Op>
AttentionStep makeStep(Op op, TileEmitter &e, K2TileContext &context,
                       bool isFlat) {
  AttentionStep s;
  s.rows = context.getTileShape()[0];
  s.columns = context.getTileShape()[1];
  s.latents = op.getCache().getType().getLatentSize();
  s.rope = op.getRope();
  s.nope = op.getNope();
  s.scale = op.getScale().convertToDouble();
  s.rowsPerToken = isFlat ? op.getHeads() : 1;
  if (!isFlat)
    s.head = e.ctaId(tile::GridDim::Z);
  return s;
}

template <typename Op>
void addCacheViews(Op op, K2TileContext &context, AttentionStep &s) {
  s.pages = getPages(context, op.getCache(), s.latents + s.rope);
  s.blockTable = getBlockTable(context);
}

struct AbsorbedModel
    : K2TileInterface::ExternalModel<AbsorbedModel, MlaAttentionAbsorbedOp> {
  LogicalResult emitTile(Operation *operation, OpBuilder &builder,
                         K2TileContext &context) const {
    auto op = cast<MlaAttentionAbsorbedOp>(operation);
    TileEmitter e(op.getLoc(), builder);
    int64_t heads = op.getHeads();
    bool isFlat = llvm::all_of(
        ValueRange{op.getQueryLatent(), op.getQuery(), op.getResult()},
        isDense);
    AttentionStep s = makeStep(op, e, context, isFlat);
    s.plainQuery = context.getView(
        op.getQueryLatent(), rowView(context, s, op.getQueryLatent(), heads));
    s.plainColumns = s.latents;
    s.query = context.getView(op.getQuery(),
                              rowView(context, s, op.getQuery(), heads));
    s.latentPages = getPages(context, op.getCache(), s.latents);
    addCacheViews(op, context, s);
    emitAttention(e, context, s, op.getResult(), heads);
    return success();
  }
};

struct ExpandedModel
    : K2TileInterface::ExternalModel<ExpandedModel, MlaAttentionOp> {
  LogicalResult emitTile(Operation *operation, OpBuilder &builder,
                         K2TileContext &context) const {
    auto op = cast<MlaAttentionOp>(operation);
    if (context.getVariant() == Variant::Expand)
      return emitExpansion(op, builder, context);
    TileEmitter e(op.getLoc(), builder);
    int64_t heads = op.getHeads(), width = op.getNope() + op.getValue();
    AttentionStep s = makeStep(op, e, context, /*isFlat=*/false);
    s.plainQuery = context.getView(
        op.getQuery(), rowView(context, s, op.getQuery(), heads, s.nope));
    s.plainColumns = s.nope;
    s.query = context.getView(op.getQuery(),
                              rowView(context, s, op.getQuery(), heads));
    s.expandedKeys =
        getExpanded(context, plan::Access::Read, heads, width, s.nope);
    s.expandedRows =
        getExpanded(context, plan::Access::Read, heads, width, width);
    addCacheViews(op, context, s);
    emitAttention(e, context, s, op.getResult(), heads);
    return success();
  }
};

} // namespace

void k2c::attachAttentionModels(MLIRContext *context) {
  MlaAttentionAbsorbedOp::attachInterface<AbsorbedModel>(*context);
  MlaAttentionOp::attachInterface<ExpandedModel>(*context);
}
