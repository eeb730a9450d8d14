//===- Models.h - The families of tile models -------------------*- C++ -*-===//
#ifndef K2C_LIB_CONVERSION_K2TOTILE_MODELS_H
#define K2C_LIB_CONVERSION_K2TOTILE_MODELS_H

#include "k2c/Conversion/K2ToTile/K2TileContext.h"
#include <functional>

namespace k2c {

/// Whether the emitters can follow the kernel's config.
llvm::LogicalResult verifyConfig(k2::KernelOp kernel, mlir::Operation *root);

// Frames: where the CTA's tile lies, for the roots that share it.

/// One row per CTA, the whole row in one tile.
void setUpRowFrame(TileEmitter &e, K2TileContext &context);
/// Tiles of [T, N]: columns of tiles on x, rows of tiles on y.
void setUpProductFrame(TileEmitter &e, K2TileContext &context,
                       k2::LinearOp root);
/// Work items of the experts on y. Everything after it is emitted where the
/// item is valid.
void setUpExpertFrame(TileEmitter &e, K2TileContext &context,
                      k2::ExpertLinearOp root);

// Products.

/// Loads one step's tile of an operand at coordinate `k` of the summed dim.
using LoadStep = std::function<mlir::Value(TileEmitter &, mlir::Value k)>;

struct ProductWeight {
  /// A bf16 or e4m3 tile: [N, K] if transposed, else [K, N].
  LoadStep load;
  bool transposed = true;
  /// The scale of the step's block: an f32, or a tile [1, N] of one for every
  /// column; null for a weight without.
  LoadStep scale;
};

/// The sums over `depth` of an input with several weights, f32 tiles of
/// `shape`. The input is loaded once per step.
llvm::SmallVector<mlir::Value>
emitProducts(TileEmitter &e, int64_t depth, int64_t step,
             llvm::ArrayRef<int64_t> shape, const LoadStep &input,
             llvm::ArrayRef<ProductWeight> weights);

/// The view of a weight as stored: rows padded to 16 bytes.
mlir::Value getMatrix(K2TileContext &context, mlir::Value weight);
/// The view of a quantized weight's scales, null for other weights.
mlir::Value getMatrixScales(K2TileContext &context, mlir::Value weight);
/// The scale of the block that holds weight rows from `row` on, at step `k`;
/// null for other weights. `slot` is an expert's place in the pool, or null.
LoadStep getBlockScale(K2TileContext &context, mlir::Value weight,
                       mlir::Value slot, mlir::Value row);
/// A tile [M, N, K] of a quantized weight must lie in one block, K being its
/// columns.
llvm::LogicalResult verifyTileInBlock(mlir::Operation *op, mlir::Value weight,
                                      llvm::ArrayRef<int64_t> tile);
/// A vector weight as one row.
mlir::Value loadWeightRow(TileEmitter &e, K2TileContext &context,
                          mlir::Value weight);

// Rotation.

/// Turns a tile of pairs by the tables' rows, which broadcast to it.
mlir::Value emitRotation(TileEmitter &e, mlir::Value pairs, mlir::Value cos,
                         mlir::Value sin);
/// The row `token` of a rotary table as a tile [1, columns] of bf16 values.
mlir::Value loadRotaryRow(TileEmitter &e, K2TileContext &context,
                          llvm::StringRef name, mlir::Value table,
                          mlir::Value token, int64_t columns);

/// ceil(a / b) work items of 64 rows: the grid of the grouped kernels.
plan::ExprAttr getExpertItems(K2TileContext &context, k2::RoutingType routing);
/// Rows of one work item.
inline constexpr int64_t kExpertRows = 64;
/// Tokens of a page of the cache.
inline constexpr int64_t kPageRows = 64;
/// Elements of an item of expert_work: (expert, first row, rows).
inline constexpr int64_t kWorkItem = 3;

// Sequences and their cached rows.

/// ceildiv(S, 64): the width of the block table.
plan::ExprAttr getPagesPerSequence(K2TileContext &context);
/// The first `columns` columns of the layer's pages: [page, row, column].
mlir::Value getPages(K2TileContext &context, mlir::Value cache,
                     int64_t columns);
/// The block table as one row.
mlir::Value getBlockTable(K2TileContext &context);

/// A sequence's first token and the one after its last in the step, and its
/// tokens in the cache before.
struct SequenceLength {
  mlir::Value start, end, past;
  /// Cached and new.
  mlir::Value keys(TileEmitter &e) const;
};
SequenceLength loadLength(TileEmitter &e, K2TileContext &context,
                          mlir::Value sequence);

/// The first `used` of `width` columns of every head in the expanded rows of
/// the sequences' pages: [head, (sequence * pages + page) * 64 + row, column].
mlir::Value getExpanded(K2TileContext &context, plan::Access access,
                        int64_t heads, int64_t width, int64_t used);
/// The first phase of expanded attention.
llvm::LogicalResult emitExpansion(k2::MlaAttentionOp op,
                                  mlir::OpBuilder &builder,
                                  K2TileContext &context);

// Registration.

void attachNormModels(mlir::MLIRContext *context);
void attachRopeModels(mlir::MLIRContext *context);
void attachCacheModels(mlir::MLIRContext *context);
void attachLinearModels(mlir::MLIRContext *context);
void attachAbsorbModels(mlir::MLIRContext *context);
void attachAttentionModels(mlir::MLIRContext *context);
void attachRouterModels(mlir::MLIRContext *context);
void attachDispatchModels(mlir::MLIRContext *context);
void attachExpertModels(mlir::MLIRContext *context);
void attachCombineModels(mlir::MLIRContext *context);

} // namespace k2c

#endif // K2C_LIB_CONVERSION_K2TOTILE_MODELS_H
