// What the conversion patterns of all op families share: types, views, scratch
// and their registration.
#ifndef K2C_LIB_CONVERSION_TILETONVVM_LOWERING_H
#define K2C_LIB_CONVERSION_TILETONVVM_LOWERING_H

#include "dialects/Tile/LinearLayout.h"
#include "dialects/Tile/Tile.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Transforms/DialectConversion.h"
#include "llvm/ADT/DenseSet.h"

namespace k2c::tile_to_nvvm {

/// Address spaces of pointers.
constexpr unsigned kGlobalSpace = 1, kSharedSpace = 3;

/// Facts of the kernel that is being converted. Shared memory is one dynamic
/// array: first the buffers that tile-allocate-shared has placed, then one
/// scratch region that reductions and layout conversions use in turn.
struct KernelState {
  int64_t numWarps = 1;
  /// First byte after the buffers.
  uint64_t scratchBase = 0;
  /// The largest request so far.
  uint64_t scratchBytes = 0;
  bool usesShared = false;
  /// Reads of shared memory that dots make themselves (FusedReads.h).
  llvm::DenseSet<mlir::Operation *> fusedReads;

  /// Scratch of at least `bytes`. Its users bracket it: barrier, write,
  /// barrier, read.
  mlir::Value scratch(mlir::ImplicitLocOpBuilder &b, uint64_t bytes);
  /// The byte at `offset` of the CTA's shared memory as a pointer.
  mlir::Value shared(mlir::ImplicitLocOpBuilder &b, uint64_t offset);
};

/// Name of the dynamic shared array in a kernel's module.
constexpr llvm::StringLiteral kSharedName = "shared_memory";

/// Distributed tensors become one vector per thread (an element of f8 is held
/// as i8), views a struct of the pointer and the dynamic extents, shared
/// buffers a pointer to their first byte.
class TileTypeConverter : public mlir::TypeConverter {
public:
  TileTypeConverter();
};

/// The layout of a distributed tensor; asserts that there is one (the driver
/// checks it first).
tile::LinearLayout layoutOf(mlir::Type tensor);
inline tile::LinearLayout layoutOf(mlir::Value tensor) {
  return layoutOf(tensor.getType());
}

/// How an element is held in a register: f8 as i8, everything else as itself.
mlir::Type registerType(mlir::Type element);

/// A view inside the kernel. `extents` are i32, constants where static.
struct View {
  mlir::MemRefType type;
  mlir::Value pointer;
  llvm::SmallVector<mlir::Value> extents;
  llvm::SmallVector<int64_t> strides;
};
/// `original` is the operand before conversion, `converted` its struct.
View unpackView(mlir::ImplicitLocOpBuilder &b, mlir::Value original,
                mlir::Value converted);

/// Registers of a thread as scalars and back.
llvm::SmallVector<mlir::Value> toRegisters(mlir::ImplicitLocOpBuilder &b,
                                           mlir::Value vector);
mlir::Value fromRegisters(mlir::ImplicitLocOpBuilder &b,
                          llvm::ArrayRef<mlir::Value> registers);
/// Registers `map[i]` of `vector`.
mlir::Value selectRegisters(mlir::ImplicitLocOpBuilder &b, mlir::Value vector,
                            llvm::ArrayRef<unsigned> map);

/// Constants. `zero` works for scalars and vectors.
mlir::Value i32(mlir::ImplicitLocOpBuilder &b, int64_t value);
mlir::Value i64(mlir::ImplicitLocOpBuilder &b, int64_t value);
mlir::Value zero(mlir::ImplicitLocOpBuilder &b, mlir::Type type);

/// bar.sync 0.
void barrier(mlir::ImplicitLocOpBuilder &b);

/// Every row family registers its patterns here; the driver calls them all.
struct Patterns {
  mlir::RewritePatternSet &set;
  const TileTypeConverter &types;
  KernelState &state;

  template <typename... Ts> void add() {
    (set.add<Ts>(types, set.getContext(), state), ...);
  }
};
void populateKernelPatterns(Patterns &patterns);
void populateElementwisePatterns(Patterns &patterns);
void populateShapePatterns(Patterns &patterns);
void populateScalarAccessPatterns(Patterns &patterns);
void populateGlobalAccessPatterns(Patterns &patterns);
void populateRowAccessPatterns(Patterns &patterns);
void populateReducePatterns(Patterns &patterns);
void populateArgMaxPatterns(Patterns &patterns);
void populateScanPatterns(Patterns &patterns);
void populateConvertLayoutPatterns(Patterns &patterns);
void populateSharedAccessPatterns(Patterns &patterns);
void populateCopyAsyncPatterns(Patterns &patterns);
void populateDotPatterns(Patterns &patterns);
void populateWidenPatterns(Patterns &patterns);

/// A pattern that knows its kernel.
template <typename Op>
class TilePattern : public mlir::OpConversionPattern<Op> {
public:
  TilePattern(const TileTypeConverter &types, mlir::MLIRContext *context,
              KernelState &state)
      : mlir::OpConversionPattern<Op>(types, context), state(state) {}

protected:
  mlir::Type convert(mlir::Type type) const {
    return this->getTypeConverter()->convertType(type);
  }
  KernelState &state;
};

} // namespace k2c::tile_to_nvvm

#endif // K2C_LIB_CONVERSION_TILETONVVM_LOWERING_H
