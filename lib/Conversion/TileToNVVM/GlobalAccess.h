// Masked loads and stores of whole tiles, shared by the block and the
// row-indexed ops.
#ifndef K2C_LIB_CONVERSION_TILETONVVM_GLOBALACCESS_H
#define K2C_LIB_CONVERSION_TILETONVVM_GLOBALACCESS_H

#include "lib/Conversion/TileToNVVM/TileAccess.h"

namespace k2c::tile_to_nvvm {

/// The thread's registers of the tile; masked elements are zero and not
/// accessed. Vectors with the same mask share one branch.
mlir::Value loadTile(mlir::ImplicitLocOpBuilder &b, TileAccess &access);

/// Stores what the thread owns of the tile.
void storeTile(mlir::ImplicitLocOpBuilder &b, TileAccess &access,
               mlir::Value vector);

} // namespace k2c::tile_to_nvvm

#endif // K2C_LIB_CONVERSION_TILETONVVM_GLOBALACCESS_H
