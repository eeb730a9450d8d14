//===- Check.h - The check dialect ------------------------------*- C++ -*-===//
//
// Expectations of tests. Only k2-interpret and test harnesses give them
// meaning.
//
//===----------------------------------------------------------------------===//
#ifndef DIALECTS_CHECK_CHECK_H
#define DIALECTS_CHECK_CHECK_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"

#include "dialects/Check/CheckDialect.h.inc"
#define GET_OP_CLASSES
#include "dialects/Check/CheckOps.h.inc"

#endif // DIALECTS_CHECK_CHECK_H
