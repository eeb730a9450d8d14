// Addresses in shared buffers: the layout algebra's byte offsets as pointer
// arithmetic.
#ifndef K2C_LIB_CONVERSION_TILETONVVM_SHAREDADDRESS_H
#define K2C_LIB_CONVERSION_TILETONVVM_SHAREDADDRESS_H

#include "lib/Conversion/TileToNVVM/ThreadCoordinates.h"

namespace k2c::tile_to_nvvm {

/// One stage of a buffer, or a box of it, as a map of its own.
struct SharedBox {
  tile::SharedMap map;
  /// Offset of the box's origin: the part that takes part in the XOR and the
  /// part that is added.
  uint64_t originXor = 0, originAdd = 0;
};
/// Nullopt and a reason if the box is not a map (its origin cuts a 2-power
/// part, the buffer has no map).
std::optional<SharedBox> sharedBox(tile::BufferType buffer,
                                   llvm::ArrayRef<int64_t> shape,
                                   llvm::ArrayRef<int64_t> offsets,
                                   std::string &why);

/// Pointer to the first byte of a stage. `op` uses it: if that is in a loop in
/// which the stage does not change, the pointer is hidden from loop-invariant
/// code motion, which would keep one register per address where an immediate
/// offset does.
mlir::Value stagePointer(mlir::ImplicitLocOpBuilder &b, mlir::Operation *op,
                         tile::BufferType buffer, mlir::Value base,
                         mlir::Value stage);

/// The pointer behind an empty assembly statement: LLVM neither moves nor
/// merges what is read through it.
mlir::Value hidden(mlir::ImplicitLocOpBuilder &b, mlir::Value pointer);

/// Pointers of one thread: base + (thread part ^ constant) + constant.
/// Constants that meet no bit of the thread's part become immediate offsets.
class SharedAddresses {
public:
  /// `lanes` and `warps` are the byte offsets of the lane and warp bits.
  SharedAddresses(mlir::ImplicitLocOpBuilder &b, mlir::Value base,
                  const SharedBox &box, const Thread &thread,
                  llvm::ArrayRef<uint64_t> lanes,
                  llvm::ArrayRef<uint64_t> warps);
  /// The pointer for the tile coordinate (relative to the box) of a register.
  mlir::Value at(const tile::Coord &coord);

private:
  mlir::ImplicitLocOpBuilder &b;
  mlir::Value base, thread;
  SharedBox box;
  uint64_t threadMask = 0;
  llvm::DenseMap<uint64_t, mlir::Value> bases;
};

} // namespace k2c::tile_to_nvvm

#endif // K2C_LIB_CONVERSION_TILETONVVM_SHAREDADDRESS_H
