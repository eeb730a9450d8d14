//===- CostExpr.h - Costs as expressions in T, S and B ----------*- C++ -*-===//
//
// What K2CostInterface answers with: sums, products and minima over the sizes
// of a step.
//
//===----------------------------------------------------------------------===//
#ifndef DIALECTS_K2_COSTEXPR_H
#define DIALECTS_K2_COSTEXPR_H

#include "llvm/Support/raw_ostream.h"
#include <cstdint>
#include <memory>

namespace mlir {
class Type;
}

namespace k2c::k2 {

/// The sizes of a step: tokens, keys that a query sees, sequences.
struct StepSizes {
  int64_t T = 0, S = 0, B = 0;
};

class CostExpr {
public:
  CostExpr(int64_t constant = 0);
  static CostExpr tokens();
  static CostExpr keys();
  static CostExpr sequences();
  static CostExpr min(CostExpr lhs, CostExpr rhs);

  friend CostExpr operator+(CostExpr lhs, CostExpr rhs) {
    return binary(Kind::Add, std::move(lhs), std::move(rhs));
  }
  friend CostExpr operator*(CostExpr lhs, CostExpr rhs) {
    return binary(Kind::Mul, std::move(lhs), std::move(rhs));
  }

  /// The value for given sizes; double, for products pass 2^63.
  double evaluate(const StepSizes &sizes) const;
  /// Fully parenthesised except for sums at the top: `2 * T * 1536`.
  void print(llvm::raw_ostream &os) const;

private:
  enum class Kind { Constant, T, S, B, Add, Mul, Min };
  struct Node;
  static CostExpr leaf(Kind kind);
  static CostExpr binary(Kind kind, CostExpr lhs, CostExpr rhs);
  std::shared_ptr<const Node> node;
};

/// Bytes of a value of `type`, each element once; a dynamic dimension counts as
/// `rows`. Zero for what has no size of its own.
CostExpr compulsoryBytes(mlir::Type type,
                         const CostExpr &rows = CostExpr::tokens());

} // namespace k2c::k2

#endif // DIALECTS_K2_COSTEXPR_H
