//===- PlanDialect.cpp - The plan dialect: registration and its attributes on
// other ops --===//
#include "dialects/Plan/Plan.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace k2c::plan;

#include "dialects/Plan/PlanDialect.cpp.inc"
#include "dialects/Plan/PlanEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/Plan/PlanAttrs.cpp.inc"

void PlanDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/Plan/PlanAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/Plan/PlanOps.cpp.inc"
      >();
}

template <typename AttrT> static bool isListOf(Attribute attribute) {
  auto list = dyn_cast<ArrayAttr>(attribute);
  return list && llvm::all_of(list, [](Attribute a) { return isa<AttrT>(a); });
}

LogicalResult PlanDialect::verifyOperationAttribute(Operation *op,
                                                    NamedAttribute attribute) {
  StringRef name = attribute.getName();
  // attr_c1
  if (name == kGridAttr) {
    if (!isListOf<ExprAttr>(attribute.getValue()) ||
        cast<ArrayAttr>(attribute.getValue()).size() != 3)
      return op->emitOpError("expected '")
             << name << "' to be three #plan.expr, but got "
             << attribute.getValue();
    return success();
  }
  // attr_c2
  if (name == kArgsAttr) {
    if (!isListOf<ArgAttr>(attribute.getValue()))
      return op->emitOpError("expected '")
             << name << "' to be a list of #plan.arg, but got "
             << attribute.getValue();
    return success();
  }
  // attr_c3
  if (name == kWorklistsAttr) {
    if (!isListOf<WorklistAttr>(attribute.getValue()))
      return op->emitOpError("expected '")
             << name << "' to be a list of #plan.worklist, but got "
             << attribute.getValue();
    return success();
  }
  // attr_c4
  return op->emitOpError("expected an attribute that plan defines (plan.grid, "
                         "plan.args, plan.worklists), but got '")
         << name << "'";
}
