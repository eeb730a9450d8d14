//===- Passes.h - Passes on the tile dialect --------------------*- C++ -*-===//
#ifndef K2C_TRANSFORMS_TILE_PASSES_H
#define K2C_TRANSFORMS_TILE_PASSES_H

#include "mlir/Pass/Pass.h"

namespace k2c {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "k2c/Transforms/Tile/Passes.h.inc"
} // namespace k2c

#endif // K2C_TRANSFORMS_TILE_PASSES_H
