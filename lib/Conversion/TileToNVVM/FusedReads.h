// Reads of shared memory that a dot makes itself, fragment by fragment, instead
// of holding the whole operand in registers.
#ifndef K2C_LIB_CONVERSION_TILETONVVM_FUSEDREADS_H
#define K2C_LIB_CONVERSION_TILETONVVM_FUSEDREADS_H

#include "lib/Conversion/TileToNVVM/Lowering.h"

namespace k2c::tile_to_nvvm {

/// Records the `tile.load_shared` ops (and the `tile.convert` after them) whose
/// only users are dots of the same block with no write to shared memory in
/// between. Called before the conversion of a kernel.
void collectFusedReads(tile::KernelOp kernel, KernelState &state);

/// The recorded load behind a dot's operand, or null.
tile::LoadSharedOp fusedRead(const KernelState &state, mlir::Value operand);

} // namespace k2c::tile_to_nvvm

#endif // K2C_LIB_CONVERSION_TILETONVVM_FUSEDREADS_H
