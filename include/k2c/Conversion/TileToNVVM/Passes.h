// The lowering of scheduled tile kernels to NVVM.
#ifndef K2C_CONVERSION_TILETONVVM_PASSES_H
#define K2C_CONVERSION_TILETONVVM_PASSES_H

#include "mlir/Pass/Pass.h"

namespace k2c {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "k2c/Conversion/TileToNVVM/Passes.h.inc"
} // namespace k2c

#endif // K2C_CONVERSION_TILETONVVM_PASSES_H
