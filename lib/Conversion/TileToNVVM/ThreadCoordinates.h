// Where the executing thread's registers lie in a tile: the only place that
// turns a layout into index arithmetic.
#ifndef K2C_LIB_CONVERSION_TILETONVVM_THREADCOORDINATES_H
#define K2C_LIB_CONVERSION_TILETONVVM_THREADCOORDINATES_H

#include "lib/Conversion/TileToNVVM/Lowering.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace k2c::tile_to_nvvm {

/// The executing thread, i32.
struct Thread {
  mlir::Value id, lane, warp;
  static Thread get(mlir::ImplicitLocOpBuilder &b, int64_t numWarps);
};

/// XOR of `images[i]` over the set bits i of the i32 `index`; null if all
/// images are 0.
mlir::Value linearImage(mlir::ImplicitLocOpBuilder &b, mlir::Value index,
                        llvm::ArrayRef<int64_t> images);

/// Coordinates of a layout's registers. A coordinate is the XOR of a part that
/// depends on the thread and a constant of the register, plus the register's
/// repeat; where the bits do not meet the XOR is an addition and the constant
/// can move into an address.
class ThreadCoordinates {
public:
  ThreadCoordinates(mlir::ImplicitLocOpBuilder &b,
                    const tile::LinearLayout &layout, int64_t numWarps);

  const tile::LinearLayout &layout() const { return map; }
  const Thread &thread() const { return self; }
  /// The thread's part, i32; made once per dim.
  mlir::Value threadPart(unsigned dim);
  /// Bits that the thread's part can have.
  int64_t threadMask(unsigned dim) const;
  /// The register's part, repeats included.
  int64_t registerPart(unsigned dim, unsigned reg) const {
    return map.at(reg)[dim];
  }
  /// Whether thread and register parts of `dim` never share a bit, so that
  /// coordinates are sums.
  bool isSum(unsigned dim) const;
  /// The coordinate of `reg`, i32.
  mlir::Value coordinate(unsigned dim, unsigned reg);
  /// True in the threads that own an element, if copies exist; null if all do.
  /// Other registers of an owner: see `ownedRegisters`.
  mlir::Value owner();
  /// Registers that are no copy of a lower one.
  llvm::SmallVector<unsigned> ownedRegisters() const;

private:
  mlir::ImplicitLocOpBuilder &b;
  tile::LinearLayout map;
  Thread self;
  llvm::DenseMap<unsigned, mlir::Value> parts;
};

/// For every register of `to` the register of `from` in the same thread that
/// holds the element `source(coordinate)`; nullopt if one of them lives in
/// another thread. `source` must be linear over F2 on the 2-power parts.
std::optional<llvm::SmallVector<unsigned>>
localRegisterMap(const tile::LinearLayout &to, const tile::LinearLayout &from,
                 llvm::function_ref<tile::Coord(const tile::Coord &)> source);

} // namespace k2c::tile_to_nvvm

#endif // K2C_LIB_CONVERSION_TILETONVVM_THREADCOORDINATES_H
