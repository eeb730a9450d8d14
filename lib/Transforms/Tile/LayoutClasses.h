//===- LayoutClasses.h - Tiles that share one layout ------------*- C++ -*-===//
//
// Elementwise ops, loop-carried values and branches tie tiles to one layout. A
// class is such a set; its layout is decided once.
//
//===----------------------------------------------------------------------===//

#ifndef K2C_LIB_TRANSFORMS_TILE_LAYOUTCLASSES_H
#define K2C_LIB_TRANSFORMS_TILE_LAYOUTCLASSES_H

#include "dialects/Tile/Tile.h"

namespace k2c::tile {

class LayoutClasses {
public:
  /// Collects the classes of a kernel. Constants, splats and iotas are cloned
  /// per use first, so that a shared zero ties nothing together.
  explicit LayoutClasses(KernelOp kernel);

  unsigned find(mlir::Value tile) const;
  /// All tiles, in program order.
  llvm::ArrayRef<mlir::Value> tiles() const { return values; }

  const std::optional<LinearLayout> &layout(mlir::Value tile) const {
    return layouts[find(tile)];
  }
  /// Sets the layout of an undecided class; returns whether it was undecided.
  bool assign(mlir::Value tile, const LinearLayout &layout);

private:
  void add(mlir::Value tile);
  void unite(mlir::Value a, mlir::Value b);
  void tie(mlir::Operation *op);

  llvm::SmallVector<mlir::Value> values;
  llvm::DenseMap<mlir::Value, unsigned> numbers;
  mutable llvm::SmallVector<unsigned> parents;
  llvm::SmallVector<std::optional<LinearLayout>> layouts;
};

inline bool isTile(mlir::Value value) {
  return mlir::isa<mlir::RankedTensorType>(value.getType());
}
inline mlir::RankedTensorType tileType(mlir::Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType());
}

} // namespace k2c::tile

#endif // K2C_LIB_TRANSFORMS_TILE_LAYOUTCLASSES_H
