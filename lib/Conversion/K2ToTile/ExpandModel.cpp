//===- ExpandModel.cpp - Keys and values of the cached latents ------------===//
//
// The first phase of expanded attention: every cached latent of the step's
// sequences times kv_b, per head N columns of keys and W of values. A CTA has
// one page and a tile of columns; pages of a sequence follow each other in the
// step's array, so that the second phase needs no block table for them.
//
//===----------------------------------------------------------------------===//
#include "Models.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace k2c;
using namespace k2c::k2;

plan::ExprAttr k2c::getPagesPerSequence(K2TileContext &context) {
  return context.expr(plan::ExprKind::CeilDiv, context.expr("S"),
                      context.expr(kPageRows));
}

Value k2c::getPages(K2TileContext &context, Value cache, int64_t columns) {
  auto type = cast<CacheType>(cache.getType());
  Type bf16 = BFloat16Type::get(cache.getContext());
  int64_t stride =
      plan::paddedRowStride(type.getLatentSize() + type.getRopeSize(), bf16);
  return context.getArray("latent_cache", plan::Access::Read,
                          {bf16,
                           {ShapedType::kDynamic, kPageRows, columns},
                           {kPageRows * stride, stride, 1},
                           {context.expr("P")}});
}

Value k2c::getBlockTable(K2TileContext &context) {
  return context.getI32Array(
      "block_table", context.expr(plan::ExprKind::Mul, context.expr("B"),
                                  getPagesPerSequence(context)));
}

Value SequenceLength::keys(TileEmitter &e) const {
  return e.addi(past, e.subi(end, start));
}

SequenceLength k2c::loadLength(TileEmitter &e, K2TileContext &context,
                               Value sequence) {
  plan::ExprAttr sequences = context.expr("B");
  Value starts = context.getI32Array(
      "seq_start",
      context.expr(plan::ExprKind::Add, sequences, context.expr(1)));
  SequenceLength length;
  length.start = e.loadScalar(starts, sequence);
  length.end = e.loadScalar(starts, e.addi(sequence, e.i32(1)));
  length.past =
      e.loadScalar(context.getI32Array("past_len", sequences), sequence);
  return length;
}

Value k2c::getExpanded(K2TileContext &context, plan::Access access,
                       int64_t heads, int64_t width, int64_t used) {
  Type bf16 = BFloat16Type::get(context.getSource().getContext());
  plan::ExprAttr pages = context.expr(plan::ExprKind::Mul, context.expr("B"),
                                      getPagesPerSequence(context));
  return context.getArray(
      "expanded_kv", access,
      {bf16,
       {heads, ShapedType::kDynamic, used},
       {width, plan::paddedRowStride(heads * width, bf16), 1},
       {context.expr(plan::ExprKind::Mul, pages, context.expr(kPageRows))}});
}

LogicalResult k2c::emitExpansion(MlaAttentionOp op, OpBuilder &builder,
                                 K2TileContext &context) {
  TileEmitter e(op.getLoc(), builder);
  Value weight = op.getKvB();
  int64_t columns = op.getHeads() * (op.getNope() + op.getValue());
  int64_t latents = op.getCache().getType().getLatentSize();
  int64_t step = isa<QuantizedType>(weight.getType()) ? 128 : 64;
  SmallVector<int64_t> tile{kPageRows, 64, step};
  if (failed(verifyTileInBlock(op, weight, tile)))
    return failure();

  plan::ExprAttr pages = getPagesPerSequence(context);
  context.setGrid(context.expr(llvm::divideCeil(columns, tile[1])), pages,
                  context.expr("B"));
  Value sequence = e.ctaId(tile::GridDim::Z), index = e.ctaId(tile::GridDim::Y);
  Value column = e.muli(e.ctaId(tile::GridDim::X), e.i32(tile[1]));
  // All arguments before the branch.
  Value latent = getPages(context, op.getCache(), latents);
  Value table = getBlockTable(context);
  Value slot = e.addi(e.muli(sequence, context.getScalar(pages)), index);
  SequenceLength length = loadLength(e, context, sequence);
  Value matrix = getMatrix(context, weight);
  ProductWeight product;
  product.load = [=](TileEmitter &e, Value k) {
    return e.load(matrix, {column, k}, {tile[1], tile[2]});
  };
  product.scale = getBlockScale(context, weight, Value(), column);
  // One head as wide as the row: the tile may span heads.
  Value output = getExpanded(context, plan::Access::Write, 1, columns, columns);

  // Past the sequence's last page the table holds anything.
  Value keyEnd = e.subi(length.keys(e), e.muli(index, e.i32(kPageRows)));
  Value exists = e.compare(arith::CmpIPredicate::sgt, keyEnd, e.i32(0));
  scf::IfOp::create(e, exists, [&](OpBuilder &builder, Location loc) {
    TileEmitter e(loc, builder);
    Value page = e.loadScalar(table, slot);
    LoadStep input = [=](TileEmitter &e, Value k) {
      return e.load(latent, {page, e.i32(0), k}, {kPageRows, step}, keyEnd);
    };
    Value sum =
        emitProducts(e, latents, step, {kPageRows, tile[1]}, input, product)[0];
    Value row = e.muli(slot, e.i32(kPageRows));
    e.store(e.toBf16(sum), output, {e.i32(0), row, column},
            e.addi(row, keyEnd));
    scf::YieldOp::create(e);
  });
  context.setStored(op.getResult());
  return success();
}
