//===- PlanExpr.cpp - Expressions: building with folding, text form -------===//
#include "dialects/Plan/Plan.h"

#include <algorithm>

using namespace mlir;
using namespace k2c::plan;

static int64_t floorDiv(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static std::optional<int64_t> evaluate(ExprKind kind, int64_t a, int64_t b) {
  int64_t r;
  switch (kind) {
  case ExprKind::Add:
    return __builtin_add_overflow(a, b, &r) ? std::nullopt : std::optional(r);
  case ExprKind::Sub:
    return __builtin_sub_overflow(a, b, &r) ? std::nullopt : std::optional(r);
  case ExprKind::Mul:
    return __builtin_mul_overflow(a, b, &r) ? std::nullopt : std::optional(r);
  case ExprKind::CeilDiv:
    return b <= 0 ? std::nullopt : std::optional(-floorDiv(-a, b));
  case ExprKind::FloorDiv:
    return b <= 0 ? std::nullopt : std::optional(floorDiv(a, b));
  case ExprKind::Min:
    return std::min(a, b);
  case ExprKind::Max:
    return std::max(a, b);
  case ExprKind::Lt:
    return a < b;
  case ExprKind::Le:
    return a <= b;
  case ExprKind::Eq:
    return a == b;
  case ExprKind::And:
    return a && b;
  case ExprKind::Or:
    return a || b;
  case ExprKind::Integer:
  case ExprKind::Symbol:
    return std::nullopt;
  }
  return std::nullopt;
}

ExprAttr k2c::plan::foldExpr(MLIRContext *context, ExprKind kind, ExprAttr lhs,
                             ExprAttr rhs) {
  std::optional<int64_t> a = lhs.getConstant(), b = rhs.getConstant();
  if (a && b)
    if (std::optional<int64_t> value = evaluate(kind, *a, *b))
      return ExprAttr::get(context, *value);
  if (kind == ExprKind::Add && a == 0)
    return rhs;
  if ((kind == ExprKind::Add || kind == ExprKind::Sub) && b == 0)
    return lhs;
  if (kind == ExprKind::Mul && a == 1)
    return rhs;
  if ((kind == ExprKind::Mul || kind == ExprKind::CeilDiv ||
       kind == ExprKind::FloorDiv) &&
      b == 1)
    return lhs;
  return {};
}

std::optional<int64_t> ExprAttr::getConstant() const {
  return getKind() == ExprKind::Integer ? std::optional(getValue())
                                        : std::nullopt;
}

void ExprAttr::walkSymbols(function_ref<void(StringRef)> fn) const {
  if (getKind() == ExprKind::Symbol)
    return fn(getSymbol());
  if (getKind() == ExprKind::Integer)
    return;
  cast<ExprAttr>(getLhs()).walkSymbols(fn);
  cast<ExprAttr>(getRhs()).walkSymbols(fn);
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static FailureOr<ExprAttr> parsePrimary(AsmParser &parser) {
  MLIRContext *context = parser.getContext();
  int64_t value;
  OptionalParseResult integer = parser.parseOptionalInteger(value);
  if (integer.has_value()) {
    if (failed(*integer))
      return failure();
    return ExprAttr::get(context, value);
  }
  if (succeeded(parser.parseOptionalLParen())) {
    FailureOr<ExprAttr> inner = parseExpr(parser);
    if (failed(inner) || parser.parseRParen())
      return failure();
    return inner;
  }
  SMLoc loc = parser.getCurrentLocation();
  StringRef word;
  if (parser.parseOptionalKeyword(&word)) {
    parser.emitError(loc, "expected an integer, a symbol, an operator or '('");
    return failure();
  }
  if (failed(parser.parseOptionalLParen()))
    return ExprAttr::get(context, word);
  std::optional<ExprKind> kind = symbolizeExprKind(word);
  if (!kind || *kind == ExprKind::Integer || *kind == ExprKind::Symbol) {
    parser.emitError(loc, "expected ceildiv, floordiv, min, max, lt, le, eq, "
                          "and or or, but got '")
        << word << "'";
    return failure();
  }
  FailureOr<ExprAttr> lhs = parseExpr(parser);
  if (failed(lhs) || parser.parseComma())
    return failure();
  FailureOr<ExprAttr> rhs = parseExpr(parser);
  if (failed(rhs) || parser.parseRParen())
    return failure();
  return ExprAttr::get(context, *kind, *lhs, *rhs);
}

static FailureOr<ExprAttr> parseProduct(AsmParser &parser) {
  FailureOr<ExprAttr> lhs = parsePrimary(parser);
  while (succeeded(lhs) && succeeded(parser.parseOptionalStar())) {
    FailureOr<ExprAttr> rhs = parsePrimary(parser);
    if (failed(rhs))
      return failure();
    lhs = ExprAttr::get(parser.getContext(), ExprKind::Mul, *lhs, *rhs);
  }
  return lhs;
}

FailureOr<ExprAttr> k2c::plan::parseExpr(AsmParser &parser) {
  FailureOr<ExprAttr> lhs = parseProduct(parser);
  while (succeeded(lhs)) {
    ExprKind kind;
    if (succeeded(parser.parseOptionalPlus()))
      kind = ExprKind::Add;
    else if (succeeded(parser.parseOptionalMinus()))
      kind = ExprKind::Sub;
    else
      break;
    FailureOr<ExprAttr> rhs = parseProduct(parser);
    if (failed(rhs))
      return failure();
    lhs = ExprAttr::get(parser.getContext(), kind, *lhs, *rhs);
  }
  return lhs;
}

static void print(raw_ostream &os, ExprAttr expr, int level) {
  auto infix = [&](StringRef op, int own) {
    if (level > own)
      os << "(";
    print(os, cast<ExprAttr>(expr.getLhs()), own);
    os << " " << op << " ";
    print(os, cast<ExprAttr>(expr.getRhs()), own + 1);
    if (level > own)
      os << ")";
  };
  switch (expr.getKind()) {
  case ExprKind::Integer:
    os << expr.getValue();
    return;
  case ExprKind::Symbol:
    os << expr.getSymbol().getValue();
    return;
  case ExprKind::Add:
    return infix("+", 0);
  case ExprKind::Sub:
    return infix("-", 0);
  case ExprKind::Mul:
    return infix("*", 2);
  default:
    break;
  }
  os << stringifyExprKind(expr.getKind()) << "(";
  print(os, cast<ExprAttr>(expr.getLhs()), 0);
  os << ", ";
  print(os, cast<ExprAttr>(expr.getRhs()), 0);
  os << ")";
}

void k2c::plan::printExpr(raw_ostream &os, ExprAttr expr) {
  ::print(os, expr, 0);
}

Attribute ExprAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  FailureOr<ExprAttr> expr = parseExpr(parser);
  if (failed(expr) || parser.parseGreater())
    return {};
  return *expr;
}

void ExprAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printExpr(printer.getStream(), *this);
  printer << ">";
}
