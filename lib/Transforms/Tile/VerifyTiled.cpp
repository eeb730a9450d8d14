//===- VerifyTiled.cpp - tile-verify-tiled ----------------------*- C++ -*-===//

#include "k2c/Transforms/Tile/Passes.h"

#include "dialects/Tile/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace k2c {
#define GEN_PASS_DEF_TILEVERIFYTILEDPASS
#include "k2c/Transforms/Tile/Passes.h.inc"
} // namespace k2c

using namespace mlir;
using namespace k2c::tile;

static LogicalResult verifyDot(DotOp dot) {
  auto a = cast<RankedTensorType>(dot.getA().getType());
  auto b = cast<RankedTensorType>(dot.getB().getType());
  auto c = cast<RankedTensorType>(dot.getC().getType());
  int64_t m = c.getDimSize(0), n = c.getDimSize(1), k = a.getDimSize(1);
  if (m % 16)
    return dot.emitOpError("expected m to be a multiple of 16 for mma.sync, "
                           "but got ")
           << m;
  if (n % 8)
    return dot.emitOpError("expected n to be a multiple of 8 for mma.sync, "
                           "but got ")
           << n;
  if (k % 16)
    return dot.emitOpError("expected k to be a multiple of 16 for mma.sync, "
                           "but got ")
           << k;
  for (RankedTensorType type : {a, b})
    if (!type.getElementType().isBF16())
      return dot.emitOpError("expected bf16 operands, but got ")
             << type.getElementType();
  return success();
}

static LogicalResult verifyOp(Operation *op) {
  if (isa<ConvertLayoutOp, AllocSharedOp, CopyAsyncOp, CommitGroupOp,
          WaitGroupOp, BarrierOp, LoadSharedOp, StoreSharedOp>(op))
    return op->emitOpError("belongs to the scheduled level");
  for (Value result : op->getResults())
    if (auto type = dyn_cast<RankedTensorType>(result.getType()))
      if (type.getEncoding())
        return op->emitOpError("expected no layout before tile-infer-layouts, "
                               "but got ")
               << type;
  if (auto fastmath = dyn_cast<arith::ArithFastMathInterface>(op))
    if (isa<arith::ExtFOp, arith::TruncFOp>(op))
      if (auto flags = fastmath.getFastMathFlagsAttr())
        if (flags.getValue() != arith::FastMathFlags::none)
          return op->emitOpError(
                     "expected a cast without fastmath flags, as it "
                     "is a rounding point, but got ")
                 << arith::stringifyFastMathFlags(flags.getValue());
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    if (isa<RankedTensorType>(constant.getType()) &&
        !isa<SplatElementsAttr>(constant.getValue()))
      return op->emitOpError("expected a constant tile to be a splat");
  if (auto dot = dyn_cast<DotOp>(op))
    return verifyDot(dot);
  return success();
}

namespace {
struct VerifyTiled : public k2c::impl::TileVerifyTiledPassBase<VerifyTiled> {
  void runOnOperation() override {
    bool failedAny = false;
    getOperation()->walk(
        [&](Operation *op) { failedAny |= failed(verifyOp(op)); });
    if (failedAny)
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
