//===- K2Dialect.cpp - Registration of the k2 dialect ---------------------===//

#include "dialects/K2/K2.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace k2c::k2;

#include "dialects/K2/K2Dialect.cpp.inc"
#include "dialects/K2/K2Enums.cpp.inc"
#include "dialects/K2/K2Interfaces.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/K2/K2Attrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/K2/K2Types.cpp.inc"

// `custom<Per>`: the bare keyword instead of #k2.per<...>.
static ParseResult parsePer(OpAsmParser &parser, PerAttr &attr) {
  FailureOr<Per> per = FieldParser<Per>::parse(parser);
  if (failed(per))
    return failure();
  attr = PerAttr::get(parser.getContext(), *per);
  return success();
}
static void printPer(OpAsmPrinter &printer, Operation *, PerAttr attr) {
  printer << stringifyPer(attr.getValue());
}

#define GET_OP_CLASSES
#include "dialects/K2/K2Ops.cpp.inc"

void K2Dialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/K2/K2Attrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/K2/K2Types.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/K2/K2Ops.cpp.inc"
      >();
}
