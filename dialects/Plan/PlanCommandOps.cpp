//===- PlanCommandOps.cpp - Entries and commands --------------------------===//
#include "dialects/Plan/Plan.h"

using namespace mlir;
using namespace k2c::plan;

static ParseResult parseExpression(OpAsmParser &parser, ExprAttr &expr) {
  FailureOr<ExprAttr> parsed =
      k2c::plan::parseExpr(static_cast<AsmParser &>(parser));
  if (failed(parsed))
    return failure();
  expr = *parsed;
  return success();
}

static void printExpression(OpAsmPrinter &printer, Operation *, ExprAttr expr) {
  k2c::plan::printExpr(printer.getStream(), expr);
}

static ParseResult parseExprList(OpAsmParser &parser, ArrayAttr &list) {
  SmallVector<Attribute> elements;
  auto element = [&]() -> ParseResult {
    ExprAttr expr;
    if (parseExpression(parser, expr))
      return failure();
    elements.push_back(expr);
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, element))
    return failure();
  list = ArrayAttr::get(parser.getContext(), elements);
  return success();
}

static void printExprList(OpAsmPrinter &printer, Operation *, ArrayAttr list) {
  printer << "[";
  llvm::interleaveComma(list.getAsRange<ExprAttr>(), printer, [&](ExprAttr e) {
    k2c::plan::printExpr(printer.getStream(), e);
  });
  printer << "]";
}

#define GET_OP_CLASSES
#include "dialects/Plan/PlanOps.cpp.inc"

LogicalResult LaunchOp::verify() {
  // launch_c1
  if (getGrid().size() != 3)
    return emitOpError("expected a grid of three expressions, but got ")
           << getGrid().size();
  return success();
}

LogicalResult LayersOp::verify() {
  // layers_c1
  if (int64_t(getFrom()) < 0 || getFrom() >= getTo())
    return emitOpError("expected from < to, but got ")
           << getFrom() << " and " << getTo();
  return success();
}
