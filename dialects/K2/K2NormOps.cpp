//===- K2NormOps.cpp - Rules and costs: norm, position, ends, cache -------===//

#include "dialects/K2/K2.h"

using namespace mlir;
using namespace k2c::k2;

static CostExpr elements(Type type) {
  CostExpr count(1);
  for (int64_t extent : cast<RankedTensorType>(type).getShape())
    count = count * (ShapedType::isDynamic(extent) ? CostExpr::tokens()
                                                   : CostExpr(extent));
  return count;
}

static LogicalResult expectRank(Operation *op, StringRef what, Type type,
                                int64_t rank) {
  int64_t got = cast<RankedTensorType>(type).getRank();
  if (got != rank)
    return op->emitOpError() << "expected " << what << " of rank " << rank
                             << ", but got rank " << got;
  return success();
}

//===----------------------------------------------------------------------===//
// rms_norm, residual_add
//===----------------------------------------------------------------------===//

LogicalResult RmsNormOp::verify() {
  // rms_norm_c1
  if (failed(expectRank(*this, "input", getInput().getType(), 2)) ||
      failed(expectRank(*this, "weight", getWeight().getType(), 1)))
    return failure();
  // rms_norm_c2
  int64_t columns = getInput().getType().getDimSize(1),
          weights = getWeight().getType().getDimSize(0);
  if (columns != weights)
    return emitOpError()
           << "expected weight of " << columns
           << " elements to match the last dimension of input, but got "
           << weights;
  // rms_norm_c3
  if (!getWeightType().isBF16() && !getWeightType().isF32())
    return emitOpError() << "expected weight_type to be bf16 or f32, but got "
                         << getWeightType();
  // rms_norm_c4
  if (!(getEps().convertToDouble() > 0))
    return emitOpError() << "expected eps to be positive, but got "
                         << getEps().convertToDouble();
  return success();
}

CostExpr RmsNormOp::getFlops() {
  return CostExpr(4) * elements(getInput().getType());
}

LogicalResult ResidualAddOp::verify() {
  // residual_add_c1
  return expectRank(*this, "operands", getLhs().getType(), 2);
}

CostExpr ResidualAddOp::getFlops() { return elements(getLhs().getType()); }

//===----------------------------------------------------------------------===//
// rope
//===----------------------------------------------------------------------===//

LogicalResult RopeOp::verify() {
  // rope_c1
  if (failed(expectRank(*this, "input", getInput().getType(), 2)) ||
      failed(expectRank(*this, "cos", getCos().getType(), 2)))
    return failure();
  int64_t heads = getHeads(), nope = getNope(), rope = getRope();
  // rope_c2
  if (heads <= 0 || nope < 0 || rope <= 0 || rope % 2 != 0)
    return emitOpError()
           << "expected heads > 0, nope >= 0 and an even rope > 0, but got "
           << heads << ", " << nope << " and " << rope;
  // rope_c3
  int64_t columns = getInput().getType().getDimSize(1);
  if (columns != heads * (nope + rope))
    return emitOpError() << "expected input of heads * (nope + rope) = "
                         << heads * (nope + rope) << " columns, but got "
                         << columns;
  // rope_c4
  int64_t pairs = getCos().getType().getDimSize(1);
  if (pairs != rope / 2)
    return emitOpError() << "expected cos and sin of rope / 2 = " << rope / 2
                         << " columns, but got " << pairs;
  // rope_c5
  if (!compatibleExtent(getInput().getType().getDimSize(0),
                        getCos().getType().getDimSize(0)))
    return emitOpError()
           << "expected one row of cos and sin per row of input, but got "
           << getCos().getType().getDimSize(0) << " and "
           << getInput().getType().getDimSize(0);
  return success();
}

CostExpr RopeOp::getFlops() {
  return CostExpr(3 * getHeads() * getRope()) * CostExpr::tokens();
}

//===----------------------------------------------------------------------===//
// append
//===----------------------------------------------------------------------===//

LogicalResult AppendOp::verify() {
  // append_c1
  if (failed(expectRank(*this, "latent", getLatent().getType(), 2)) ||
      failed(expectRank(*this, "key_rope", getKeyRope().getType(), 2)))
    return failure();
  // append_c2
  int64_t latent = getLatent().getType().getDimSize(1),
          rope = getKeyRope().getType().getDimSize(1);
  CacheType cache = getCache().getType();
  if (latent != cache.getLatentSize() || rope != cache.getRopeSize())
    return emitOpError() << "expected rows of " << cache.getLatentSize()
                         << " and " << cache.getRopeSize()
                         << " columns as the cache has, but got " << latent
                         << " and " << rope;
  // append_c3
  if (!compatibleExtent(getLatent().getType().getDimSize(0),
                        getKeyRope().getType().getDimSize(0)))
    return emitOpError()
           << "expected as many rows of key_rope as of latent, but got "
           << getKeyRope().getType().getDimSize(0) << " and "
           << getLatent().getType().getDimSize(0);
  return success();
}

CostExpr AppendOp::getFlops() { return 0; }

//===----------------------------------------------------------------------===//
// embed
//===----------------------------------------------------------------------===//

LogicalResult EmbedOp::verify() {
  // embed_c1
  if (failed(expectRank(*this, "ids", getIds().getType(), 1)) ||
      failed(expectRank(*this, "table", getTable().getType(), 2)) ||
      failed(expectRank(*this, "result", getResult().getType(), 2)))
    return failure();
  // embed_c2
  int64_t table = getTable().getType().getDimSize(1),
          result = getResult().getType().getDimSize(1);
  if (table != result)
    return emitOpError() << "expected result of " << table
                         << " columns as the table has, but got " << result;
  // embed_c3
  if (!compatibleExtent(getIds().getType().getDimSize(0),
                        getResult().getType().getDimSize(0)))
    return emitOpError() << "expected one row per id, but got "
                         << getResult().getType().getDimSize(0) << " rows and "
                         << getIds().getType().getDimSize(0) << " ids";
  return success();
}

CostExpr EmbedOp::getFlops() { return 0; }
