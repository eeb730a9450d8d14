//===- Passes.h - Passes at the end of the kernels' path --------*- C++ -*-===//
#ifndef K2C_TARGET_PASSES_H
#define K2C_TARGET_PASSES_H

#include "mlir/Pass/Pass.h"

namespace k2c {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "k2c/Target/Passes.h.inc"
} // namespace k2c

#endif // K2C_TARGET_PASSES_H
