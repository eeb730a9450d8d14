//===- Passes.h - From k2 to plan -------------------------------*- C++ -*-===//
#ifndef K2C_CONVERSION_K2TOPLAN_PASSES_H
#define K2C_CONVERSION_K2TOPLAN_PASSES_H

#include "dialects/Plan/Plan.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace k2c {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "k2c/Conversion/K2ToPlan/Passes.h.inc"
} // namespace k2c

#endif // K2C_CONVERSION_K2TOPLAN_PASSES_H
