//===- CostExpr.cpp - Costs as expressions in T, S and B ------------------===//

#include "dialects/K2/CostExpr.h"
#include "dialects/K2/K2.h"

#include <algorithm>

using namespace k2c::k2;

struct CostExpr::Node {
  Kind kind = Kind::Constant;
  int64_t value = 0;
  std::shared_ptr<const Node> lhs, rhs;

  double evaluate(const StepSizes &sizes) const {
    switch (kind) {
    case Kind::Constant:
      return static_cast<double>(value);
    case Kind::T:
      return static_cast<double>(sizes.T);
    case Kind::S:
      return static_cast<double>(sizes.S);
    case Kind::B:
      return static_cast<double>(sizes.B);
    case Kind::Add:
      return lhs->evaluate(sizes) + rhs->evaluate(sizes);
    case Kind::Mul:
      return lhs->evaluate(sizes) * rhs->evaluate(sizes);
    case Kind::Min:
      return std::min(lhs->evaluate(sizes), rhs->evaluate(sizes));
    }
    llvm_unreachable("all kinds are above");
  }

  void print(llvm::raw_ostream &os, bool nested) const {
    switch (kind) {
    case Kind::Constant:
      os << value;
      return;
    case Kind::T:
    case Kind::S:
    case Kind::B:
      os << (kind == Kind::T ? "T" : kind == Kind::S ? "S" : "B");
      return;
    case Kind::Min:
      os << "min(";
      lhs->print(os, false);
      os << ", ";
      rhs->print(os, false);
      os << ")";
      return;
    case Kind::Add:
    case Kind::Mul:
      bool parentheses = kind == Kind::Add && nested;
      os << (parentheses ? "(" : "");
      lhs->print(os, kind == Kind::Mul);
      os << (kind == Kind::Add ? " + " : " * ");
      rhs->print(os, kind == Kind::Mul);
      os << (parentheses ? ")" : "");
      return;
    }
  }
};

CostExpr::CostExpr(int64_t constant) {
  auto made = std::make_shared<Node>();
  made->value = constant;
  node = std::move(made);
}

CostExpr CostExpr::leaf(Kind kind) {
  auto made = std::make_shared<Node>();
  made->kind = kind;
  CostExpr expr;
  expr.node = std::move(made);
  return expr;
}

CostExpr CostExpr::tokens() { return leaf(Kind::T); }
CostExpr CostExpr::keys() { return leaf(Kind::S); }
CostExpr CostExpr::sequences() { return leaf(Kind::B); }
CostExpr CostExpr::min(CostExpr lhs, CostExpr rhs) {
  return binary(Kind::Min, std::move(lhs), std::move(rhs));
}

CostExpr CostExpr::binary(Kind kind, CostExpr lhs, CostExpr rhs) {
  auto isConstant = [](const CostExpr &e, int64_t value) {
    return e.node->kind == Kind::Constant && e.node->value == value;
  };
  if (lhs.node->kind == Kind::Constant && rhs.node->kind == Kind::Constant) {
    int64_t a = lhs.node->value, b = rhs.node->value;
    return CostExpr(kind == Kind::Add   ? a + b
                    : kind == Kind::Mul ? a * b
                                        : std::min(a, b));
  }
  // Neutral elements keep printed expressions short.
  if (kind == Kind::Add && isConstant(lhs, 0))
    return rhs;
  if (kind == Kind::Add && isConstant(rhs, 0))
    return lhs;
  if (kind == Kind::Mul && (isConstant(lhs, 0) || isConstant(rhs, 1)))
    return lhs;
  if (kind == Kind::Mul && (isConstant(rhs, 0) || isConstant(lhs, 1)))
    return rhs;
  auto made = std::make_shared<Node>();
  made->kind = kind;
  made->lhs = lhs.node;
  made->rhs = rhs.node;
  CostExpr expr;
  expr.node = std::move(made);
  return expr;
}

double CostExpr::evaluate(const StepSizes &sizes) const {
  return node->evaluate(sizes);
}
void CostExpr::print(llvm::raw_ostream &os) const { node->print(os, false); }

CostExpr k2c::k2::compulsoryBytes(mlir::Type type, const CostExpr &rows) {
  if (auto quantized = llvm::dyn_cast<QuantizedType>(type)) {
    int64_t matrices = quantized.getRank() == 3 ? quantized.getShape()[0] : 1;
    int64_t elements = 1;
    for (int64_t extent : quantized.getShape())
      elements *= extent;
    int64_t scales =
        matrices * quantized.getScaleRows() * quantized.getScaleColumns();
    return CostExpr(
        elements * quantized.getElementType().getIntOrFloatBitWidth() / 8 +
        scales * quantized.getScaleType().getIntOrFloatBitWidth() / 8);
  }
  auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(type);
  if (!tensor)
    return CostExpr(0);
  CostExpr bytes(tensor.getElementTypeBitWidth() / 8);
  for (int64_t extent : tensor.getShape())
    bytes =
        bytes * (mlir::ShapedType::isDynamic(extent) ? rows : CostExpr(extent));
  return bytes;
}
