// Elements of a distributed tile on demand: from registers, or from shared
// memory at the point of use, so that few are alive at once.
#ifndef K2C_LIB_CONVERSION_TILETONVVM_FRAGMENTS_H
#define K2C_LIB_CONVERSION_TILETONVVM_FRAGMENTS_H

#include "lib/Conversion/TileToNVVM/Lowering.h"

#include <memory>

namespace k2c::tile_to_nvvm {

class Fragments {
public:
  virtual ~Fragments() = default;
  /// One element in its register type.
  virtual mlir::Value element(unsigned reg) = 0;
  /// Two 16-bit elements as one i32, `low` in the lower half.
  virtual mlir::Value pair(unsigned low, unsigned high);

protected:
  explicit Fragments(mlir::ImplicitLocOpBuilder &b) : b(b) {}
  mlir::ImplicitLocOpBuilder &b;
};

/// A tile that is in registers.
std::unique_ptr<Fragments> registerFragments(mlir::ImplicitLocOpBuilder &b,
                                             mlir::Value vector);

/// What a `tile.load_shared` reads: by ldmatrix if the layout is a union of 8x8
/// matrices in the buffer, else by the widest vectors. `matrixBits` are the
/// register bits that ldmatrix should prefer to tell its matrices apart. Null
/// after an error at `load`.
std::unique_ptr<Fragments>
sharedFragments(mlir::ImplicitLocOpBuilder &b, tile::LoadSharedOp load,
                mlir::Value buffer, mlir::Value stage, int64_t numWarps,
                llvm::ArrayRef<unsigned> matrixBits = {});

/// e4m3 bytes as bf16.
std::unique_ptr<Fragments> widenedFragments(mlir::ImplicitLocOpBuilder &b,
                                            std::unique_ptr<Fragments> bytes);

/// Two e4m3 bytes as two bf16 in one i32; exact.
mlir::Value widenPair(mlir::ImplicitLocOpBuilder &b, mlir::Value low,
                      mlir::Value high);

} // namespace k2c::tile_to_nvvm

#endif // K2C_LIB_CONVERSION_TILETONVVM_FRAGMENTS_H
