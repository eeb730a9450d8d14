//===- ShapeChecks.cpp - What verifiers cannot see: dynamic extents -------===//
//
// Types leave T open, so values from outside may disagree. Each op is checked
// before it runs, and ids before they index.
//
//===----------------------------------------------------------------------===//

#include "OperandAccess.h"
#include "k2c/Reference/Interpreter.h"

using namespace mlir;
using namespace k2c::k2;

namespace k2c::reference {

static llvm::Error expectRows(Operation *op, const char *what, int64_t got,
                              int64_t want) {
  if (got == want)
    return llvm::Error::success();
  return llvm::createStringError(op->getName().getStringRef().str() +
                                 ": expected " + std::to_string(want) +
                                 " rows of " + what + ", but got " +
                                 std::to_string(got));
}

static llvm::Error expectBelow(Operation *op, const char *what,
                               const Integers &values, int64_t bound) {
  for (int64_t value : values.data)
    if (value < 0 || value >= bound)
      return llvm::createStringError(op->getName().getStringRef().str() +
                                     ": expected " + what + " from 0 to " +
                                     std::to_string(bound - 1) + ", but got " +
                                     std::to_string(value));
  return llvm::Error::success();
}

/// Every key of every sequence has a page inside the cache, every slot a row.
template <typename Real>
static llvm::Error checkPages(Operation *op, const Batch<Real> &batch,
                              const Cache<Real> &cache) {
  std::string name = op->getName().getStringRef().str();
  for (int64_t b = 0; b < batch.sequences(); ++b) {
    int64_t keys = batch.pastLen[b] + batch.seqStart[b + 1] - batch.seqStart[b];
    int64_t pages = (keys + cache.pageSize() - 1) / cache.pageSize();
    if (pages > batch.blockTable.columns())
      return llvm::createStringError(
          name + ": expected pages for the " + std::to_string(keys) +
          " keys of sequence " + std::to_string(b) + ", but got " +
          std::to_string(batch.blockTable.columns()));
    for (int64_t p = 0; p < pages; ++p)
      if (int64_t page = batch.blockTable.at(b, p);
          page < 0 || page >= cache.pages->shape[0])
        return llvm::createStringError(name +
                                       ": expected a page of the cache's " +
                                       std::to_string(cache.pages->shape[0]) +
                                       ", but got " + std::to_string(page));
  }
  for (int64_t slot : batch.slot)
    if (slot >= cache.capacity())
      return llvm::createStringError(name +
                                     ": expected a slot of the cache's " +
                                     std::to_string(cache.capacity()) +
                                     ", but got " + std::to_string(slot));
  return llvm::Error::success();
}

template <typename Real>
llvm::Error Interpreter<Real>::checkShapes(Operation *op, Frame &frame) {
  Operands<Real> get(frame);
  auto rows = [&](mlir::Value value) { return get.tensor(value).rows(); };
  if (auto add = dyn_cast<ResidualAddOp>(op))
    return expectRows(op, "rhs", rows(add.getRhs()), rows(add.getLhs()));
  if (auto gated = dyn_cast<SwigluOp>(op))
    return expectRows(op, "up", rows(gated.getUp()), rows(gated.getGate()));
  if (auto turn = dyn_cast<RopeOp>(op)) {
    if (llvm::Error error =
            expectRows(op, "cos", rows(turn.getCos()), rows(turn.getInput())))
      return error;
    return expectRows(op, "sin", rows(turn.getSin()), rows(turn.getInput()));
  }
  if (auto lookup = dyn_cast<EmbedOp>(op))
    return embedding ? llvm::Error::success()
                     : expectBelow(op, "ids", get.integers(lookup.getIds()),
                                   rows(lookup.getTable()));
  if (auto write = dyn_cast<AppendOp>(op)) {
    const Batch<Real> &batch = get.batch(write.getBatch());
    for (auto [what, value] : {std::pair("latent", write.getLatent()),
                               std::pair("key_rope", write.getKeyRope())})
      if (llvm::Error error = expectRows(op, what, rows(value), batch.tokens()))
        return error;
    return checkPages(op, batch, get.cache(write.getCache()));
  }
  if (auto expanded = dyn_cast<MlaAttentionOp>(op)) {
    const Batch<Real> &batch = get.batch(expanded.getBatch());
    if (llvm::Error error =
            expectRows(op, "query", rows(expanded.getQuery()), batch.tokens()))
      return error;
    return checkPages(op, batch, get.cache(expanded.getCache()));
  }
  if (auto absorbed = dyn_cast<MlaAttentionAbsorbedOp>(op)) {
    const Batch<Real> &batch = get.batch(absorbed.getBatch());
    for (auto [what, value] :
         {std::pair("query_latent", absorbed.getQueryLatent()),
          std::pair("query", absorbed.getQuery())})
      if (llvm::Error error = expectRows(op, what, rows(value), batch.tokens()))
        return error;
    return checkPages(op, batch, get.cache(absorbed.getCache()));
  }
  if (auto sort = dyn_cast<DispatchOp>(op))
    return expectBelow(op, "ids", get.integers(sort.getIds()),
                       sort.getRouting().getType().getExperts());
  if (auto product = dyn_cast<ExpertLinearOp>(op)) {
    const Routing &routing = get.routing(product.getRouting());
    return expectRows(op, "input", rows(product.getInput()),
                      product.getGather()
                          ? routing.rowOf.rows()
                          : static_cast<int64_t>(routing.tokenOfRow.size()));
  }
  if (auto sum = dyn_cast<CombineOp>(op)) {
    const Routing &routing = get.routing(sum.getRouting());
    if (llvm::Error error = expectRows(op, "weights", rows(sum.getWeights()),
                                       routing.rowOf.rows()))
      return error;
    return expectRows(op, "rows", rows(sum.getRows()),
                      static_cast<int64_t>(routing.tokenOfRow.size()));
  }
  return llvm::Error::success();
}

template llvm::Error Interpreter<float>::checkShapes(Operation *, Frame &);
template llvm::Error Interpreter<double>::checkShapes(Operation *, Frame &);

} // namespace k2c::reference
