// What the conversion requires of a kernel, checked before anything changes.
#ifndef K2C_LIB_CONVERSION_TILETONVVM_REQUIREMENTS_H
#define K2C_LIB_CONVERSION_TILETONVVM_REQUIREMENTS_H

#include "dialects/Tile/Tile.h"

namespace k2c::tile_to_nvvm {

/// Shared memory a CTA can have on sm_90.
constexpr uint64_t kMaxSharedBytes = 227 * 1024;

/// Every tile has a layout over the kernel's warps, every buffer an offset, and
/// every arith or math op, on tiles and on scalars, has PTX instructions.
llvm::LogicalResult verifyRequirements(tile::KernelOp kernel);

/// The end of the placed buffers, a multiple of 16 bytes.
uint64_t endOfBuffers(tile::KernelOp kernel);

} // namespace k2c::tile_to_nvvm

#endif // K2C_LIB_CONVERSION_TILETONVVM_REQUIREMENTS_H
