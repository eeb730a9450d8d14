//===- K2TileContext.h - What an op needs to emit its tile ------*- C++ -*-===//
//
// One context lives while one k2.kernel becomes a tile.kernel. It makes the
// kernel's arguments when an op first asks for them, keeps the tiles of the
// values that are already computed, and knows where the CTA's tile lies.
//
//===----------------------------------------------------------------------===//
#ifndef K2C_CONVERSION_K2TOTILE_K2TILECONTEXT_H
#define K2C_CONVERSION_K2TOTILE_K2TILECONTEXT_H

#include "dialects/K2/K2.h"
#include "dialects/Plan/Plan.h"
#include "dialects/Tile/Tile.h"
#include "k2c/Conversion/K2ToTile/KernelInputs.h"
#include "k2c/Conversion/K2ToTile/TileEmitter.h"

namespace k2c {

/// Where the CTA's tile of a [rows, columns] value lies.
struct TileFrame {
  /// First row and column.
  mlir::Value row, column;
  /// Extents of the tile.
  int64_t rows = 0, columns = 0;
  /// Rows at or past it do not belong to the CTA; null: the value's own end.
  mlir::Value rowEnd;
};

/// Dims, element strides and dynamic extents of a view. An extent may be
/// ShapedType::kDynamic; `extents` has one expression for each of these.
struct ViewShape {
  mlir::Type element;
  llvm::SmallVector<int64_t> dims, strides;
  llvm::SmallVector<plan::ExprAttr> extents;
};

class K2TileContext {
public:
  K2TileContext(k2::KernelOp source, tile::KernelOp target,
                Variant variant = Variant::Plain);

  k2::KernelOp getSource() const { return source; }
  k2::KernelConfigAttr getConfig() { return source.getConfigAttr(); }
  llvm::ArrayRef<int64_t> getTileShape() { return getConfig().getTile(); }
  Variant getVariant() const { return variant; }
  /// Whether attention follows the step's mask in place of causality.
  bool isMasked() const { return variant == Variant::Masked; }

  TileFrame frame;
  /// In kernels over the experts' work list: the expert's place in the pool of
  /// weights, and the token of every row of the tile (-1 past its end).
  mlir::Value expertSlot, expertTokens;

  // Expressions for the launch.
  plan::ExprAttr expr(int64_t value) const;
  plan::ExprAttr expr(llvm::StringRef symbol) const;
  plan::ExprAttr expr(plan::ExprKind kind, plan::ExprAttr a,
                      plan::ExprAttr b) const;
  plan::ExprAttr tokens() const { return expr("T"); }

  void setGrid(plan::ExprAttr x, plan::ExprAttr y, plan::ExprAttr z);
  void addWorklist(llvm::StringRef name, int64_t rows, int64_t rowsPerToken);

  // Arguments.
  /// A view of an activation, as an input or as a result of the kernel.
  mlir::Value getView(mlir::Value value, const ViewShape &shape);
  /// The rows of an activation as they are: [?, columns].
  mlir::Value getRows(mlir::Value value);
  /// Values or scales of a weight.
  mlir::Value getParam(mlir::Value weight, const ViewShape &shape);
  mlir::Value getScales(mlir::Value weight, const ViewShape &shape);
  /// An array of the step, of the routing or a work list, by its reserved name.
  mlir::Value getArray(llvm::StringRef name, plan::Access access,
                       const ViewShape &shape);
  /// A one-dimensional i32 array of `extent` elements.
  mlir::Value getI32Array(llvm::StringRef name, plan::ExprAttr extent,
                          plan::Access access = plan::Access::Read);
  /// An i32 that the host computes.
  mlir::Value getScalar(plan::ExprAttr value);

  /// Elements between the rows of an activation, and its column of a slice.
  static int64_t rowStrideOf(mlir::Value value);
  static mlir::Value baseOf(mlir::Value value);
  static int64_t columnOf(mlir::Value value);

  // Tiles.
  /// The tile of an operand at the frame: computed before, or loaded.
  mlir::Value getTile(TileEmitter &e, mlir::Value value);
  void setTile(mlir::Value value, mlir::Value tile) { tiles[value] = tile; }
  bool hasTile(mlir::Value value) const { return tiles.contains(value); }
  /// A tile of pairs of bf16, the first in the low half of an i32.
  void setPairs(mlir::Value value, mlir::Value tile) { pairs[value] = tile; }
  mlir::Value getPairs(mlir::Value value) const { return pairs.lookup(value); }
  /// The op stored this result itself.
  void setStored(mlir::Value value) { stored.insert(value); }

  /// Stores the tiles of what the kernel yields, at the frame.
  llvm::LogicalResult storeResults(TileEmitter &e);
  /// Writes the launch's facts to the tile kernel.
  void finish();

private:
  mlir::Value getArgument(plan::ArgAttr binding, const ViewShape *shape);

  k2::KernelOp source;
  tile::KernelOp target;
  Variant variant;
  llvm::SmallVector<mlir::Value> inputs;
  /// Arguments in order, and what each binds.
  llvm::SmallVector<mlir::Attribute> bindings;
  llvm::DenseMap<std::pair<mlir::Attribute, mlir::Type>, mlir::Value> arguments;
  llvm::DenseMap<mlir::Value, mlir::Value> tiles, pairs;
  llvm::DenseSet<mlir::Value> stored;
};

} // namespace k2c

#endif // K2C_CONVERSION_K2TOTILE_K2TILECONTEXT_H
