//===- AllocateShared.cpp - tile-allocate-shared ----------------*- C++ -*-===//

#include "k2c/Transforms/Tile/Passes.h"

#include "lib/Transforms/Tile/SharedBuffers.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace k2c {
#define GEN_PASS_DEF_TILEALLOCATESHAREDPASS
#include "k2c/Transforms/Tile/Passes.h.inc"
} // namespace k2c

using namespace mlir;
using namespace k2c::tile;

namespace {
struct AllocateShared
    : public k2c::impl::TileAllocateSharedPassBase<AllocateShared> {
  void runOnOperation() override {
    KernelOp kernel = getOperation();
    int64_t end = 0;
    WalkResult result = kernel->walk([&](AllocSharedOp alloc) {
      std::optional<BufferFacts> facts = bufferFacts(alloc);
      if (!facts)
        return WalkResult::interrupt();
      end = llvm::alignTo(end, facts->alignment);
      alloc.setOffset(end);
      end += facts->bytes;
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    if (end > kMaxSharedBytes) {
      kernel.emitOpError("expected shared buffers of at most ")
          << kMaxSharedBytes << " bytes, but got " << end;
      return signalPassFailure();
    }
  }
};
} // namespace
