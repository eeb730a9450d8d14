//===- Expr.cpp - Integer expressions of a manifest -----------------------===//
#include "runtime/Artifact/Expr.h"

#include <algorithm>

namespace k2rt {

namespace {
constexpr std::pair<ExprOp, std::string_view> kOps[] = {
    {ExprOp::Add, "add"},
    {ExprOp::Sub, "sub"},
    {ExprOp::Mul, "mul"},
    {ExprOp::CeilDiv, "ceildiv"},
    {ExprOp::FloorDiv, "floordiv"},
    {ExprOp::Min, "min"},
    {ExprOp::Max, "max"},
    {ExprOp::Lt, "lt"},
    {ExprOp::Le, "le"},
    {ExprOp::Eq, "eq"},
    {ExprOp::And, "and"},
    {ExprOp::Or, "or"}};
} // namespace

Expr Expr::symbol(std::string name) {
  Expr expr;
  expr.op_ = ExprOp::Symbol;
  expr.name_ = std::move(name);
  return expr;
}

Expr Expr::binary(ExprOp op, Expr lhs, Expr rhs) {
  Expr expr;
  expr.op_ = op;
  expr.operands_ = {std::move(lhs), std::move(rhs)};
  return expr;
}

std::optional<ExprOp> Expr::parseOp(std::string_view name) {
  for (auto [op, text] : kOps)
    if (text == name)
      return op;
  return std::nullopt;
}

std::string_view Expr::opName(ExprOp op) {
  for (auto [known, text] : kOps)
    if (known == op)
      return text;
  return "";
}

std::string Expr::str() const {
  if (op_ == ExprOp::Integer)
    return std::to_string(value_);
  if (op_ == ExprOp::Symbol)
    return name_;
  return std::string(opName(op_)) + "(" + operands_[0].str() + ", " +
         operands_[1].str() + ")";
}

Expected<int64_t> Expr::evaluate(const Symbols &symbols) const {
  if (op_ == ExprOp::Integer)
    return value_;
  if (op_ == ExprOp::Symbol) {
    auto it = symbols.find(name_);
    if (it == symbols.end())
      return Status::input("expected a known symbol, but got '" + name_ + "'");
    return it->second;
  }
  Expected<int64_t> lhs = operands_[0].evaluate(symbols);
  if (!lhs)
    return lhs;
  Expected<int64_t> rhs = operands_[1].evaluate(symbols);
  if (!rhs)
    return rhs;
  int64_t a = *lhs, b = *rhs, result = 0;
  bool overflow = false;
  switch (op_) {
  case ExprOp::Add:
    overflow = __builtin_add_overflow(a, b, &result);
    break;
  case ExprOp::Sub:
    overflow = __builtin_sub_overflow(a, b, &result);
    break;
  case ExprOp::Mul:
    overflow = __builtin_mul_overflow(a, b, &result);
    break;
  case ExprOp::CeilDiv:
  case ExprOp::FloorDiv: {
    if (b <= 0)
      return Status::input(str() + ": expected a positive divisor, but got " +
                           std::to_string(b));
    // C++ division truncates towards zero; the remainder has the sign of a.
    int64_t quotient = a / b, remainder = a % b;
    if (op_ == ExprOp::CeilDiv)
      return quotient + (remainder > 0);
    return quotient - (remainder < 0);
  }
  case ExprOp::Min:
    return std::min(a, b);
  case ExprOp::Max:
    return std::max(a, b);
  case ExprOp::Lt:
    return static_cast<int64_t>(a < b);
  case ExprOp::Le:
    return static_cast<int64_t>(a <= b);
  case ExprOp::Eq:
    return static_cast<int64_t>(a == b);
  case ExprOp::And:
    return static_cast<int64_t>(a && b);
  case ExprOp::Or:
    return static_cast<int64_t>(a || b);
  case ExprOp::Integer:
  case ExprOp::Symbol:
    break;
  }
  if (overflow)
    return Status::input(str() + ": expected a value of 64 bits, but got " +
                         std::to_string(a) + " " + std::string(opName(op_)) +
                         " " + std::to_string(b));
  return result;
}

} // namespace k2rt
