// Values that cross lanes (shuffles) and warps (scratch in shared memory).
#ifndef K2C_LIB_CONVERSION_TILETONVVM_EXCHANGE_H
#define K2C_LIB_CONVERSION_TILETONVVM_EXCHANGE_H

#include "lib/Conversion/TileToNVVM/ThreadCoordinates.h"

namespace k2c::tile_to_nvvm {

/// The 32-bit value of lane `lane ^ mask`; all lanes take part.
mlir::Value shuffleXor(mlir::ImplicitLocOpBuilder &b, mlir::Value value,
                       unsigned mask);

/// Every thread publishes 32-bit values; after that any thread can read those
/// of the same lane of other warps.
class WarpExchange {
public:
  /// Barrier, write, barrier.
  WarpExchange(mlir::ImplicitLocOpBuilder &b, KernelState &state,
               const Thread &thread, llvm::ArrayRef<mlir::Value> values);
  /// Value number `index` of the same lane in the warp that has `bits` in place
  /// of the own bits under `mask`.
  mlir::Value read(unsigned index, unsigned mask, unsigned bits);
  /// Value number `index` of the same lane in warp `warp ^ bits`.
  mlir::Value readXor(unsigned index, unsigned bits);

private:
  mlir::Value slot(unsigned index, mlir::Value warp);

  mlir::ImplicitLocOpBuilder &b;
  int64_t numWarps;
  Thread thread;
  mlir::Value memory;
  llvm::SmallVector<mlir::Type> types;
};

} // namespace k2c::tile_to_nvvm

#endif // K2C_LIB_CONVERSION_TILETONVVM_EXCHANGE_H
