//===- VerifyScheduled.cpp - tile-verify-scheduled --------------*- C++ -*-===//

#include "k2c/Transforms/Tile/Passes.h"

#include "dialects/Tile/MmaPlan.h"
#include "lib/Transforms/Tile/SharedBuffers.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace k2c {
#define GEN_PASS_DEF_TILEVERIFYSCHEDULEDPASS
#include "k2c/Transforms/Tile/Passes.h.inc"
} // namespace k2c

using namespace mlir;
using namespace k2c::tile;

static LogicalResult verifyTensor(Operation *op, Type type, int64_t numWarps) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return success();
  auto layout = dyn_cast_or_null<LinearAttr>(tensor.getEncoding());
  if (!layout)
    return op->emitOpError("expected every tile to have a layout, but got ")
           << tensor;
  if (layout.getNumWarps() != numWarps)
    return op->emitOpError("expected layouts over the kernel's ")
           << numWarps << " warps, but got " << layout.getNumWarps();
  return success();
}

static LinearLayout layoutOf(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  return cast<LinearAttr>(type.getEncoding()).getLayout(type.getShape());
}

static LogicalResult verifyDot(DotOp dot) {
  LinearLayout b = layoutOf(dot.getB());
  if (dot.getBTransposed())
    b = b.transpose({1, 0});
  std::string why;
  if (!mmaPlan(layoutOf(dot.getA()), b, layoutOf(dot.getC()), &why))
    return dot.emitOpError("expected the layouts of mma.sync, but ") << why;
  return success();
}

static LogicalResult verifyBuffers(KernelOp kernel) {
  SmallVector<std::pair<int64_t, int64_t>> places;
  WalkResult result = kernel->walk([&](AllocSharedOp alloc) {
    std::optional<BufferFacts> facts = bufferFacts(alloc);
    if (!facts)
      return WalkResult::interrupt();
    if (!alloc.getOffset()) {
      alloc.emitOpError("expected an offset from tile-allocate-shared");
      return WalkResult::interrupt();
    }
    int64_t begin = *alloc.getOffset(), end = begin + facts->bytes;
    if (begin % facts->alignment) {
      alloc.emitOpError("expected an offset in multiples of ")
          << facts->alignment << ", but got " << begin;
      return WalkResult::interrupt();
    }
    for (auto [otherBegin, otherEnd] : places)
      if (begin < otherEnd && otherBegin < end) {
        alloc.emitOpError("expected disjoint buffers, but bytes ")
            << std::max(begin, otherBegin) << " to " << std::min(end, otherEnd)
            << " belong to two";
        return WalkResult::interrupt();
      }
    places.push_back({begin, end});
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

namespace {
struct VerifyScheduled
    : public k2c::impl::TileVerifyScheduledPassBase<VerifyScheduled> {
  void runOnOperation() override {
    KernelOp kernel = getOperation();
    int64_t numWarps = kernel.getNumWarps();
    bool bad = false;
    kernel->walk([&](Operation *op) {
      bool here = false;
      for (Type type : op->getResultTypes())
        here |= failed(verifyTensor(op, type, numWarps));
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (Type type : block.getArgumentTypes())
            here |= failed(verifyTensor(op, type, numWarps));
      bad |= here;
    });
    if (!bad)
      kernel->walk([&](DotOp dot) { bad |= failed(verifyDot(dot)); });
    if (bad || failed(verifyBuffers(kernel)))
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
