//===- Plan.h - The host side of a compiled model ---------------*- C++ -*-===//
#ifndef DIALECTS_PLAN_PLAN_H
#define DIALECTS_PLAN_PLAN_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"

#include "dialects/Plan/PlanDialect.h.inc"
#include "dialects/Plan/PlanEnums.h.inc"

namespace k2c::plan {
class ExprAttr;
/// The simpler expression that is equal for all values, or null.
ExprAttr foldExpr(mlir::MLIRContext *context, ExprKind kind, ExprAttr lhs,
                  ExprAttr rhs);
} // namespace k2c::plan

#define GET_ATTRDEF_CLASSES
#include "dialects/Plan/PlanAttrs.h.inc"
#define GET_OP_CLASSES
#include "dialects/Plan/PlanOps.h.inc"

namespace k2c::plan {

/// Names of the discardable attributes that a tile kernel carries for the plan.
inline constexpr llvm::StringLiteral kGridAttr = "plan.grid";
inline constexpr llvm::StringLiteral kArgsAttr = "plan.args";
inline constexpr llvm::StringLiteral kWorklistsAttr = "plan.worklists";

/// Row stride in elements: rows are padded to 16 bytes. Types of less than a
/// byte do not occur.
int64_t paddedRowStride(int64_t columns, mlir::Type element);

/// Expressions in text form: `T * 8 + ceildiv(T, 64)`.
mlir::FailureOr<ExprAttr> parseExpr(mlir::AsmParser &parser);
void printExpr(llvm::raw_ostream &os, ExprAttr expr);

} // namespace k2c::plan

#endif // DIALECTS_PLAN_PLAN_H
