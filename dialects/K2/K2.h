//===- K2.h - The k2 dialect ------------------------------------*- C++ -*-===//
//
// The model level: parameters, blocks and ops of the Kimi K2 / DeepSeek-V3
// stack. See Spec.md for the rules and Rationale.md for the reasons.
//
//===----------------------------------------------------------------------===//
#ifndef DIALECTS_K2_K2_H
#define DIALECTS_K2_K2_H

#include "dialects/K2/CostExpr.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/RegionKindInterface.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace k2c {
/// What an op needs to emit itself on a tile; defined in
/// k2c/Conversion/K2ToTile.
class K2TileContext;
} // namespace k2c

namespace k2c::k2 {
/// Whether only the first dimension may be dynamic.
inline bool hasStaticColumns(mlir::RankedTensorType type) {
  return type.getRank() > 0 && llvm::none_of(type.getShape().drop_front(),
                                             mlir::ShapedType::isDynamic);
}
} // namespace k2c::k2

#include "dialects/K2/K2Dialect.h.inc"
#include "dialects/K2/K2Enums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/K2/K2Attrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/K2/K2Interfaces.h.inc"
#include "dialects/K2/K2Types.h.inc"
#define GET_OP_CLASSES
#include "dialects/K2/K2Ops.h.inc"

namespace k2c::k2 {
/// Shape of a weight, plain or quantized; empty for other types.
llvm::ArrayRef<int64_t> getWeightShape(mlir::Type type);
/// Whether two extents can be the same at run time.
inline bool compatibleExtent(int64_t a, int64_t b) {
  return mlir::ShapedType::isDynamic(a) || mlir::ShapedType::isDynamic(b) ||
         a == b;
}
} // namespace k2c::k2

#endif // DIALECTS_K2_K2_H
