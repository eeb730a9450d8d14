//===- StagedLoads.h - Loads that go through shared memory ------*- C++ -*-===//
//
// Which global reads feed dots, whether they can be copied asynchronously, and
// in what pieces.
//
//===----------------------------------------------------------------------===//

#ifndef K2C_LIB_TRANSFORMS_TILE_STAGEDLOADS_H
#define K2C_LIB_TRANSFORMS_TILE_STAGEDLOADS_H

#include "dialects/Tile/Tile.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"

namespace k2c::tile {

/// A `tile.load` or `tile.gather` that a dot reads.
struct StagedLoad {
  mlir::Operation *op = nullptr;
  /// Bytes per asynchronous copy: 16, 8 or 4.
  unsigned vectorBytes = 16;
  SharedAttr layout;
  /// The loop whose iterations are overlapped, if the load's indices can be
  /// computed ahead; `slice` are the ops in the loop that compute them.
  mlir::scf::ForOp loop;
  llvm::SetVector<mlir::Operation *> slice;

  mlir::RankedTensorType type() const {
    return mlir::cast<mlir::RankedTensorType>(op->getResult(0).getType());
  }
  int64_t stageBytes() const;
  BufferType bufferType(int64_t stages) const;
};

/// The largest power of two (at most 1 << 20) known to divide an i32.
int64_t knownDivisor(mlir::Value value);

/// Staged loads of a kernel in program order. Loads that cannot be staged are
/// left alone with a remark.
llvm::SmallVector<StagedLoad> findStagedLoads(KernelOp kernel);

} // namespace k2c::tile

#endif // K2C_LIB_TRANSFORMS_TILE_STAGEDLOADS_H
