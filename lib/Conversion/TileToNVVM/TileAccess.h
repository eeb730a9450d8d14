// Addresses and masks of a tile of a global view, for loads, stores, gathers,
// scatters and asynchronous copies.
#ifndef K2C_LIB_CONVERSION_TILETONVVM_TILEACCESS_H
#define K2C_LIB_CONVERSION_TILETONVVM_TILEACCESS_H

#include "lib/Conversion/TileToNVVM/ThreadCoordinates.h"

#include <map>

namespace k2c::tile_to_nvvm {

/// Where the tile starts. With `rows`, `indices` skip the row dim, and
/// `rows[reg]` is the row that register `reg` of the tile reads.
struct TilePlace {
  llvm::SmallVector<mlir::Value> indices, bounds, rows;
};

class TileAccess {
public:
  TileAccess(mlir::ImplicitLocOpBuilder &b, const View &view, TilePlace place,
             const tile::LinearLayout &layout, int64_t numWarps);

  ThreadCoordinates &coordinates() { return coords; }
  /// Elements of one access: the layout's registers, the pitch, the start, and
  /// every extent or bound that could cut a vector divide by it.
  unsigned vectorElements() const { return 1u << vectorBits.size(); }
  unsigned vectorBytes() const { return vectorElements() * elementBytes; }
  /// Registers that start a vector.
  llvm::SmallVector<unsigned> leaders() const;
  /// Element `i` of the vector that starts at `leader`.
  unsigned element(unsigned leader, unsigned i) const;
  /// Address of a register's element.
  mlir::Value address(unsigned reg);
  /// Whether the element may be accessed, i1; null if it always may.
  mlir::Value mask(unsigned reg);
  /// The vector's type in memory: a scalar if it has one element.
  mlir::Type accessType() const;

private:
  struct Dim {
    int64_t stride = 1;
    /// Uniform start, null in the row dim of a gather.
    mlir::Value index;
    /// Dim of the tile, -1 for a leading dim.
    int tileDim = -1;
    /// Exclusive upper limit of the absolute coordinate, null if it always
    /// holds.
    mlir::Value limit;
  };
  void addLimit(Dim &dim, mlir::Value extent, mlir::Value bound);
  void chooseVector(llvm::ArrayRef<mlir::Value> bounds);
  mlir::Value makeBase();

  mlir::ImplicitLocOpBuilder &b;
  View view;
  TilePlace place;
  ThreadCoordinates coords;
  unsigned elementBytes;
  llvm::SmallVector<Dim> dims;
  llvm::SmallVector<unsigned> vectorBits;
  mlir::Value base;
  std::map<std::pair<size_t, int64_t>, mlir::Value> conditions;
  std::map<llvm::SmallVector<int64_t>, mlir::Value> masks;
};

} // namespace k2c::tile_to_nvvm

#endif // K2C_LIB_CONVERSION_TILETONVVM_TILEACCESS_H
