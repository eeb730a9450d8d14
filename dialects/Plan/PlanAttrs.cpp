//===- PlanAttrs.cpp - Bindings: text form --------------------------------===//
#include "dialects/Plan/Plan.h"

using namespace mlir;
using namespace k2c::plan;

int64_t k2c::plan::paddedRowStride(int64_t columns, Type element) {
  int64_t perChunk = 128 / element.getIntOrFloatBitWidth();
  return (columns + perChunk - 1) / perChunk * perChunk;
}

Attribute ArgAttr::parse(AsmParser &parser, Type) {
  MLIRContext *context = parser.getContext();
  SMLoc loc = parser.getCurrentLocation();
  StringRef word;
  if (parser.parseLess() || parser.parseKeyword(&word))
    return {};
  if (word == "scalar") {
    FailureOr<ExprAttr> expr = parseExpr(parser);
    if (failed(expr) || parser.parseGreater())
      return {};
    return get(context, *expr);
  }
  std::optional<Access> access = symbolizeAccess(word);
  if (!access) {
    parser.emitError(loc,
                     "expected scalar, read, write or readwrite, but got '")
        << word << "'";
    return {};
  }
  if (parser.parseKeyword(&word))
    return {};
  std::optional<ArgKind> kind = symbolizeArgKind(word);
  if (!kind || *kind == ArgKind::Scalar) {
    parser.emitError(loc,
                     "expected input, result, param, scale or array, but got '")
        << word << "'";
    return {};
  }
  int64_t index = 0;
  std::string name;
  bool byIndex = *kind == ArgKind::Input || *kind == ArgKind::Result;
  if (byIndex ? failed(parser.parseInteger(index))
              : failed(parser.parseString(&name)))
    return {};
  SmallVector<ExprAttr> extents;
  auto element = [&]() -> ParseResult {
    FailureOr<ExprAttr> expr = parseExpr(parser);
    if (failed(expr))
      return failure();
    extents.push_back(*expr);
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::OptionalSquare,
                                     element) ||
      parser.parseGreater())
    return {};
  return byIndex ? get(context, *access, *kind, index, extents)
                 : get(context, *access, *kind, name, extents);
}

void ArgAttr::print(AsmPrinter &printer) const {
  printer << "<";
  if (getKind() == ArgKind::Scalar) {
    printer << "scalar ";
    printExpr(printer.getStream(), getExtents().front());
    printer << ">";
    return;
  }
  printer << stringifyAccess(getAccess()) << " " << stringifyArgKind(getKind())
          << " ";
  if (getKind() == ArgKind::Input || getKind() == ArgKind::Result)
    printer << getIndex();
  else
    printer << getName();
  if (!getExtents().empty()) {
    printer << " [";
    llvm::interleaveComma(getExtents(), printer.getStream(), [&](ExprAttr e) {
      printExpr(printer.getStream(), e);
    });
    printer << "]";
  }
  printer << ">";
}

Attribute BindAttr::parse(AsmParser &parser, Type) {
  MLIRContext *context = parser.getContext();
  SMLoc loc = parser.getCurrentLocation();
  StringRef word;
  if (parser.parseLess() || parser.parseKeyword(&word))
    return {};
  std::optional<BindKind> kind = symbolizeBindKind(word);
  if (!kind) {
    parser.emitError(loc, "expected buffer, param or i32, but got '")
        << word << "'";
    return {};
  }
  FlatSymbolRefAttr target;
  ExprAttr value;
  if (*kind != BindKind::I32) {
    StringAttr name;
    if (parser.parseSymbolName(name))
      return {};
    target = FlatSymbolRefAttr::get(name);
  }
  if (*kind == BindKind::I32 || succeeded(parser.parseOptionalLSquare())) {
    FailureOr<ExprAttr> expr = parseExpr(parser);
    if (failed(expr) || (*kind != BindKind::I32 && parser.parseRSquare()))
      return {};
    value = *expr;
  }
  if (parser.parseGreater())
    return {};
  return get(context, *kind, target, value);
}

void BindAttr::print(AsmPrinter &printer) const {
  printer << "<" << stringifyBindKind(getKind());
  if (getTarget())
    printer << " " << getTarget();
  if (getValue()) {
    printer << (getTarget() ? " [" : " ");
    printExpr(printer.getStream(), getValue());
    if (getTarget())
      printer << "]";
  }
  printer << ">";
}
