#include "lib/Conversion/TileToNVVM/IndexFacts.h"

#include "dialects/Tile/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

#include <numeric>

using namespace mlir;
using namespace k2c;
using namespace k2c::tile_to_nvvm;

/// Sums and products that leave the range of i32 may wrap: nothing is known
/// then.
static std::optional<int64_t> inRange(int64_t value) {
  if (value < INT32_MIN || value > INT32_MAX)
    return std::nullopt;
  return value;
}

static IndexFacts constantFacts(int64_t value) {
  return {value < 0 ? -value : value, value, value};
}

static IndexFacts sumFacts(IndexFacts a, IndexFacts b) {
  IndexFacts sum{std::gcd(a.divisor, b.divisor), {}, {}};
  if (a.minimum && b.minimum)
    sum.minimum = inRange(*a.minimum + *b.minimum);
  if (a.maximum && b.maximum)
    sum.maximum = inRange(*a.maximum + *b.maximum);
  // A wrapped sum is a multiple of nothing but powers of two; do not claim more
  // than the range supports.
  if (!sum.minimum || !sum.maximum)
    sum.divisor &= -sum.divisor;
  return sum;
}

static IndexFacts productFacts(IndexFacts a, int64_t factor) {
  IndexFacts product{a.divisor * (factor < 0 ? -factor : factor), {}, {}};
  if (factor >= 0) {
    if (a.minimum)
      product.minimum = inRange(*a.minimum * factor);
    if (a.maximum)
      product.maximum = inRange(*a.maximum * factor);
  }
  if (!product.minimum || !product.maximum)
    product.divisor &= -product.divisor;
  return product;
}

static IndexFacts inductionFacts(scf::ForOp loop) {
  IndexFacts lower = indexFacts(loop.getLowerBound()),
             upper = indexFacts(loop.getUpperBound()),
             step = indexFacts(loop.getStep());
  IndexFacts facts{std::gcd(lower.divisor, step.divisor), lower.minimum, {}};
  // The induction variable stays below the upper bound; with constants its last
  // value is exact.
  if (upper.maximum) {
    facts.maximum = *upper.maximum - 1;
    if (lower.minimum && lower.minimum == lower.maximum && step.minimum &&
        step.minimum == step.maximum && *step.minimum > 0 &&
        *upper.maximum > *lower.minimum)
      facts.maximum = *lower.minimum + (*upper.maximum - 1 - *lower.minimum) /
                                           *step.minimum * *step.minimum;
  }
  return facts;
}

IndexFacts k2c::tile_to_nvvm::indexFacts(Value index) {
  APInt constant;
  if (matchPattern(index, m_ConstantInt(&constant)))
    return constantFacts(constant.getSExtValue());
  if (auto argument = dyn_cast<BlockArgument>(index)) {
    auto loop =
        dyn_cast_or_null<scf::ForOp>(argument.getOwner()->getParentOp());
    return loop && argument == loop.getInductionVar() ? inductionFacts(loop)
                                                      : IndexFacts();
  }
  Operation *op = index.getDefiningOp();
  if (isa<tile::CtaIdOp>(op))
    return {1, 0, {}};
  if (auto add = dyn_cast<arith::AddIOp>(op))
    return sumFacts(indexFacts(add.getLhs()), indexFacts(add.getRhs()));
  if (auto multiply = dyn_cast<arith::MulIOp>(op)) {
    if (matchPattern(multiply.getRhs(), m_ConstantInt(&constant)))
      return productFacts(indexFacts(multiply.getLhs()),
                          constant.getSExtValue());
    if (matchPattern(multiply.getLhs(), m_ConstantInt(&constant)))
      return productFacts(indexFacts(multiply.getRhs()),
                          constant.getSExtValue());
  }
  return {};
}
