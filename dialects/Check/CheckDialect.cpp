//===- CheckDialect.cpp - Registration and rules of check -----------------===//

#include "dialects/Check/Check.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace k2c::check;

#include "dialects/Check/CheckDialect.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/Check/CheckOps.cpp.inc"

void CheckDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialects/Check/CheckOps.cpp.inc"
      >();
}

LogicalResult ExpectCloseOp::verify() {
  // expect_close_c1
  if (!getMaxAbs() && !getRelativeRms())
    return emitOpError() << "expected max_abs or relative_rms, but got neither";
  // expect_close_c2
  for (auto tolerance : {getMaxAbs(), getRelativeRms()})
    if (tolerance && !(tolerance->convertToDouble() >= 0))
      return emitOpError() << "expected a tolerance from 0 on, but got "
                           << tolerance->convertToDouble();
  return success();
}
