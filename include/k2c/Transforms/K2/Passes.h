//===- Passes.h - Passes on the k2 dialect ----------------------*- C++ -*-===//
#ifndef K2C_TRANSFORMS_K2_PASSES_H
#define K2C_TRANSFORMS_K2_PASSES_H

#include "mlir/Pass/Pass.h"

namespace k2c {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "k2c/Transforms/K2/Passes.h.inc"
} // namespace k2c

#endif // K2C_TRANSFORMS_K2_PASSES_H
