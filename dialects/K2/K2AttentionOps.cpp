//===- K2AttentionOps.cpp - Rules and costs of latent attention -----------===//

#include "dialects/K2/K2.h"

using namespace mlir;
using namespace k2c::k2;

static LogicalResult expectColumns(Operation *op, StringRef what, Type type,
                                   StringRef formula, int64_t columns) {
  auto tensor = cast<RankedTensorType>(type);
  if (tensor.getRank() != 2)
    return op->emitOpError() << "expected " << what
                             << " of rank 2, but got rank " << tensor.getRank();
  if (tensor.getDimSize(1) != columns)
    return op->emitOpError()
           << "expected " << what << " of " << formula << " = " << columns
           << " columns, but got " << tensor.getDimSize(1);
  return success();
}

static LogicalResult expectKvB(Operation *op, Type type, int64_t rows,
                               int64_t columns) {
  ArrayRef<int64_t> shape = getWeightShape(type);
  if (shape.size() != 2 || shape[0] != rows ||
      (columns >= 0 && shape[1] != columns)) {
    InFlightDiagnostic error = op->emitOpError()
                               << "expected kv_b of heads * (nope + value) = "
                               << rows << " rows";
    if (columns >= 0)
      error << " and " << columns << " columns";
    return error << ", but got " << type;
  }
  return success();
}

static LogicalResult
expectPositive(Operation *op,
               std::initializer_list<std::pair<StringRef, int64_t>> sizes) {
  for (auto [name, value] : sizes)
    if (value <= 0)
      return op->emitOpError()
             << "expected " << name << " to be positive, but got " << value;
  return success();
}

LogicalResult MlaAttentionOp::verify() {
  int64_t heads = getHeads(), nope = getNope(), rope = getRope(),
          value = getValue();
  // mla_attention_c1
  if (failed(expectPositive(*this, {{"heads", heads},
                                    {"nope", nope},
                                    {"rope", rope},
                                    {"value", value}})))
    return failure();
  // mla_attention_c2
  if (failed(expectColumns(*this, "query", getQuery().getType(),
                           "heads * (nope + rope)", heads * (nope + rope))))
    return failure();
  // mla_attention_c3
  CacheType cache = getCache().getType();
  if (cache.getRopeSize() != rope)
    return emitOpError() << "expected rope of " << cache.getRopeSize()
                         << " as the cache has, but got " << rope;
  // mla_attention_c4
  if (failed(expectKvB(*this, getKvB().getType(), heads * (nope + value),
                       cache.getLatentSize())))
    return failure();
  // mla_attention_c5
  return expectColumns(*this, "result", getResult().getType(), "heads * value",
                       heads * value);
}

CostExpr MlaAttentionOp::getFlops() {
  int64_t heads = getHeads(), nope = getNope(), rope = getRope(),
          value = getValue();
  CostExpr expand = CostExpr(2 * heads * (nope + value) *
                             getCache().getType().getLatentSize()) *
                    CostExpr::sequences() * CostExpr::keys();
  return expand + CostExpr(2 * heads * (nope + rope + value)) *
                      CostExpr::tokens() * CostExpr::keys();
}

LogicalResult AbsorbQueryOp::verify() {
  int64_t heads = getHeads(), nope = getNope(), rope = getRope(),
          value = getValue();
  // absorb_query_c1
  if (failed(expectPositive(*this, {{"heads", heads},
                                    {"nope", nope},
                                    {"rope", rope},
                                    {"value", value}})))
    return failure();
  // absorb_query_c2
  if (failed(expectColumns(*this, "query", getQuery().getType(),
                           "heads * (nope + rope)", heads * (nope + rope))))
    return failure();
  // absorb_query_c3
  if (failed(expectKvB(*this, getKvB().getType(), heads * (nope + value), -1)))
    return failure();
  // absorb_query_c4
  return expectColumns(*this, "result", getResult().getType(),
                       "heads * latents",
                       heads * getWeightShape(getKvB().getType())[1]);
}

CostExpr AbsorbQueryOp::getFlops() {
  return CostExpr(2 * getHeads() * getNope() *
                  getWeightShape(getKvB().getType())[1]) *
         CostExpr::tokens();
}

LogicalResult MlaAttentionAbsorbedOp::verify() {
  int64_t heads = getHeads(), nope = getNope(), rope = getRope();
  // mla_attention_absorbed_c1
  if (failed(expectPositive(
          *this, {{"heads", heads}, {"nope", nope}, {"rope", rope}})))
    return failure();
  // mla_attention_absorbed_c2
  CacheType cache = getCache().getType();
  if (failed(expectColumns(*this, "query_latent", getQueryLatent().getType(),
                           "heads * latents", heads * cache.getLatentSize())))
    return failure();
  // mla_attention_absorbed_c3
  if (failed(expectColumns(*this, "query", getQuery().getType(),
                           "heads * (nope + rope)", heads * (nope + rope))))
    return failure();
  // mla_attention_absorbed_c4
  if (cache.getRopeSize() != rope)
    return emitOpError() << "expected rope of " << cache.getRopeSize()
                         << " as the cache has, but got " << rope;
  // mla_attention_absorbed_c5
  return expectColumns(*this, "result", getResult().getType(),
                       "heads * latents", heads * cache.getLatentSize());
}

CostExpr MlaAttentionAbsorbedOp::getFlops() {
  int64_t latents = getCache().getType().getLatentSize();
  return CostExpr(2 * getHeads() * (2 * latents + getRope())) *
         CostExpr::tokens() * CostExpr::keys();
}

LogicalResult AbsorbOutputOp::verify() {
  int64_t heads = getHeads(), nope = getNope(), value = getValue();
  // absorb_output_c1
  if (failed(expectPositive(
          *this, {{"heads", heads}, {"nope", nope}, {"value", value}})))
    return failure();
  // absorb_output_c2
  if (failed(expectKvB(*this, getKvB().getType(), heads * (nope + value), -1)))
    return failure();
  // absorb_output_c3
  int64_t latents = getWeightShape(getKvB().getType())[1];
  if (failed(expectColumns(*this, "output_latent", getOutputLatent().getType(),
                           "heads * latents", heads * latents)))
    return failure();
  // absorb_output_c4
  return expectColumns(*this, "result", getResult().getType(), "heads * value",
                       heads * value);
}

CostExpr AbsorbOutputOp::getFlops() {
  return CostExpr(2 * getHeads() * getValue() *
                  getWeightShape(getKvB().getType())[1]) *
         CostExpr::tokens();
}
