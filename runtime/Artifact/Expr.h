//===- Expr.h - Integer expressions of a manifest ---------------*- C++ -*-===//
//
// JSON: an integer, a symbol, or [op, a, b]. Symbols: T tokens of the step, B
// its sequences, S the largest cached + new length of one, P pages of the
// cache, masked 1 in a step that brings a mask and 0 else, W_<list> the length
// of a work list, layer, and integers of `model`.
//
//===----------------------------------------------------------------------===//
#ifndef RUNTIME_ARTIFACT_EXPR_H
#define RUNTIME_ARTIFACT_EXPR_H

#include "k2rt/Status.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace k2rt {

using Symbols = std::unordered_map<std::string, int64_t>;

enum class ExprOp {
  Integer,
  Symbol,
  Add,
  Sub,
  Mul,
  CeilDiv,
  FloorDiv,
  Min,
  Max, // integers
  Lt,
  Le,
  Eq,
  And,
  Or // conditions: 0 or 1
};

class Expr {
public:
  Expr(int64_t value = 0) : value_(value) {}
  static Expr symbol(std::string name);
  static Expr binary(ExprOp op, Expr lhs, Expr rhs);

  /// The operator of that name, if there is one.
  static std::optional<ExprOp> parseOp(std::string_view name);
  static std::string_view opName(ExprOp op);

  /// The value; an error for an unknown symbol, a division by a number that is
  /// not positive, or a result outside 64 bits. `and`/`or` evaluate both sides.
  Expected<int64_t> evaluate(const Symbols &symbols) const;

  std::optional<int64_t> constant() const {
    return op_ == ExprOp::Integer ? std::optional(value_) : std::nullopt;
  }
  /// Calls `visit` with every symbol.
  template <typename Visitor> void walkSymbols(Visitor &&visit) const {
    if (op_ == ExprOp::Symbol)
      visit(name_);
    for (const Expr &operand : operands_)
      operand.walkSymbols(visit);
  }
  /// "ceildiv(T, 128)", for messages.
  std::string str() const;

private:
  ExprOp op_ = ExprOp::Integer;
  int64_t value_ = 0;
  std::string name_;
  std::vector<Expr> operands_;
};

} // namespace k2rt

#endif // RUNTIME_ARTIFACT_EXPR_H
