//===- K2KernelOps.cpp - Rules of k2.kernel -------------------------------===//

#include "dialects/K2/K2.h"

using namespace mlir;
using namespace k2c::k2;

LogicalResult KernelOp::verify() {
  // kernel_c1
  if (getName().empty())
    return emitOpError() << "expected a name, but got an empty one";
  // kernel_c2
  auto yield = dyn_cast<YieldOp>(getBody().front().back());
  if (!yield)
    return emitOpError() << "expected the region to end with k2.yield, but got "
                         << getBody().front().back().getName();
  // kernel_c3
  if (yield->getOperandTypes() != getResultTypes())
    return emitOpError()
           << "expected k2.yield to have the types of the results ("
           << getResultTypes() << "), but got (" << yield->getOperandTypes()
           << ")";
  return success();
}
