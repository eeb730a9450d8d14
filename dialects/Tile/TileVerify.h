// Shared by the verifiers of the op families.
#ifndef K2C_DIALECTS_TILE_TILEVERIFY_H
#define K2C_DIALECTS_TILE_TILEVERIFY_H

#include "dialects/Tile/Tile.h"

namespace k2c::tile::rules {

/// "64x128" for messages.
std::string shapeText(llvm::ArrayRef<int64_t> shape);

/// The view has unit stride in its last dim and static strides; the element
/// types agree.
llvm::LogicalResult verifyView(mlir::Operation *op, mlir::MemRefType view,
                               mlir::Type element);

/// One index per dim of the view, or per dim but the row dim (`rows`).
llvm::LogicalResult verifyIndices(mlir::Operation *op, mlir::MemRefType view,
                                  size_t indices, bool rows);

/// Rank and bounds of a tile against its view.
llvm::LogicalResult verifyTileInView(mlir::Operation *op, mlir::MemRefType view,
                                     int64_t rank, size_t bounds);

/// Row-indexed access: `rows` is rank 1 with the tile's first extent.
llvm::LogicalResult verifyRows(mlir::Operation *op,
                               llvm::ArrayRef<int64_t> tileShape,
                               mlir::RankedTensorType rows);

/// `axis` < rank of `type`.
llvm::LogicalResult verifyAxis(mlir::Operation *op, int64_t axis,
                               mlir::RankedTensorType type);

/// `shape` with extent 1 at `axis`.
llvm::SmallVector<int64_t> dropAxis(llvm::ArrayRef<int64_t> shape,
                                    int64_t axis);

} // namespace k2c::tile::rules

#endif // K2C_DIALECTS_TILE_TILEVERIFY_H
