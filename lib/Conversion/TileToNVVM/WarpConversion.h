// Layout conversions inside a warp: lane-dependent register selects and
// shuffles, as the conversion plan of the layout algebra says.
#ifndef K2C_LIB_CONVERSION_TILETONVVM_WARPCONVERSION_H
#define K2C_LIB_CONVERSION_TILETONVVM_WARPCONVERSION_H

#include "dialects/Tile/LayoutConversion.h"
#include "lib/Conversion/TileToNVVM/ThreadCoordinates.h"

namespace k2c::tile_to_nvvm {

/// The registers of the plan's destination layout (`repeats` times its 2-power
/// part). Elements have at most 32 bits. Nullopt if the plan is none of Select,
/// Bfly and Idx, or would permute bytes inside a word by lane.
std::optional<llvm::SmallVector<mlir::Value>>
convertInWarp(mlir::ImplicitLocOpBuilder &b, const tile::ConversionPlan &plan,
              unsigned repeats, mlir::Value lane,
              llvm::ArrayRef<mlir::Value> registers);

} // namespace k2c::tile_to_nvvm

#endif // K2C_LIB_CONVERSION_TILETONVVM_WARPCONVERSION_H
