//===- Passes.h - From k2 kernels to tile kernels ---------------*- C++ -*-===//
#ifndef K2C_CONVERSION_K2TOTILE_PASSES_H
#define K2C_CONVERSION_K2TOTILE_PASSES_H

#include "mlir/Pass/Pass.h"

namespace k2c {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "k2c/Conversion/K2ToTile/Passes.h.inc"

/// Attaches the models of K2TileInterface to the ops of k2.
void registerK2TileModels(mlir::DialectRegistry &registry);

} // namespace k2c

#endif // K2C_CONVERSION_K2TOTILE_PASSES_H
