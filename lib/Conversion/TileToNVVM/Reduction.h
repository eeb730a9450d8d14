// The skeleton of reductions along one axis, for single values and for (value,
// index) pairs.
#ifndef K2C_LIB_CONVERSION_TILETONVVM_REDUCTION_H
#define K2C_LIB_CONVERSION_TILETONVVM_REDUCTION_H

#include "lib/Conversion/TileToNVVM/Exchange.h"

namespace k2c::tile_to_nvvm {

/// The fields of one partial result, each 32 bits.
using Partial = llvm::SmallVector<mlir::Value, 2>;
using Combine = llvm::function_ref<Partial(const Partial &, const Partial &)>;

/// Reduces `registers` (one partial per register of `layout`) along `axis`: a
/// thread's registers as a balanced tree in ascending order, then lanes with
/// ascending masks, then warps in ascending order through scratch. Returns one
/// partial per register of `result`; nullopt if `result` is not the input's
/// layout without the axis or the layout mixes the axis with another dim.
std::optional<llvm::SmallVector<Partial>>
reduceAxis(mlir::ImplicitLocOpBuilder &b, KernelState &state,
           const tile::LinearLayout &layout, const tile::LinearLayout &result,
           unsigned axis, llvm::ArrayRef<Partial> registers, Combine combine);

} // namespace k2c::tile_to_nvvm

#endif // K2C_LIB_CONVERSION_TILETONVVM_REDUCTION_H
