//===- ConvertK2ToTile.cpp - A tile kernel for every k2 kernel ------------===//
#include "Models.h"

#include "k2c/Analysis/KernelRoot.h"
#include "k2c/Conversion/K2ToTile/KernelInputs.h"
#include "k2c/Conversion/K2ToTile/Passes.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace k2c {
#define GEN_PASS_DEF_CONVERTK2TOTILEPASS
#include "k2c/Conversion/K2ToTile/Passes.h.inc"
} // namespace k2c

using namespace k2c;

void k2c::registerK2TileModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, k2::K2Dialect *) {
    attachNormModels(context);
    attachRopeModels(context);
    attachCacheModels(context);
    attachLinearModels(context);
    attachAbsorbModels(context);
    attachAttentionModels(context);
    attachRouterModels(context);
    attachDispatchModels(context);
    attachExpertModels(context);
    attachCombineModels(context);
  });
}

namespace {

/// Four warps hold one row of every tile of ours; attention's output needs
/// twice as many registers when it is wide.
int64_t warpsOf(k2::KernelOp kernel, Operation *root, Variant variant) {
  bool isWide = isa<k2::MlaAttentionAbsorbedOp, k2::MlaAttentionOp>(root) &&
                variant != Variant::Expand &&
                kernel.getConfigAttr().getTile()[1] > 128;
  return isWide ? 8 : 4;
}

/// Roots that share their tile with fused ops get a frame; the others lay out
/// their tiles themselves.
void setUpFrame(TileEmitter &e, K2TileContext &context, Operation *root) {
  llvm::TypeSwitch<Operation *>(root)
      .Case([&](k2::LinearOp op) { setUpProductFrame(e, context, op); })
      .Case([&](k2::ExpertLinearOp op) { setUpExpertFrame(e, context, op); })
      .Case<k2::RmsNormOp, k2::EmbedOp, k2::AppendOp, k2::CombineOp,
            k2::ResidualAddOp, k2::SwigluOp>(
          [&](auto) { setUpRowFrame(e, context); });
}

LogicalResult emitKernel(k2::KernelOp kernel, Operation *root, Variant variant,
                         OpBuilder &builder) {
  Location loc = kernel.getLoc();
  auto target =
      tile::KernelOp::create(builder, loc, getVariantName(kernel, variant),
                             TypeRange(), warpsOf(kernel, root, variant));
  OpBuilder body = OpBuilder::atBlockBegin(&target.entry());
  auto end = tile::ReturnOp::create(body, loc);
  body.setInsertionPoint(end);

  K2TileContext context(kernel, target, variant);
  TileEmitter e(root->getLoc(), body);
  setUpFrame(e, context, root);
  // The frame may have opened a region: what follows goes there.
  body.restoreInsertionPoint(e.saveInsertionPoint());
  for (Operation &op : kernel.getBody().front()) {
    if (isa<k2::WeightOp, k2::SliceOp, k2::YieldOp>(op))
      continue;
    auto model = dyn_cast<k2::K2TileInterface>(op);
    if (!model)
      return op.emitOpError(
          "expected an op with K2TileInterface in a kernel, but got none");
    if (failed(model.emitTile(body, context)))
      return failure();
  }
  TileEmitter store(loc, body);
  if (failed(context.storeResults(store)))
    return failure();
  context.finish();
  return success();
}

LogicalResult convertKernel(k2::KernelOp kernel, OpBuilder &builder) {
  Operation *root = getKernelRoot(kernel);
  if (!root || !kernel.getConfigAttr())
    return kernel.emitOpError(
        "expected a kernel with an op and a config (k2-choose-kernel-configs)");
  if (failed(verifyConfig(kernel, root)))
    return failure();
  for (Variant variant : getVariants(kernel))
    if (failed(emitKernel(kernel, root, variant, builder)))
      return failure();
  return success();
}

struct ConvertK2ToTile : k2c::impl::ConvertK2ToTilePassBase<ConvertK2ToTile> {
  void runOnOperation() override {
    OpBuilder builder = OpBuilder::atBlockEnd(getOperation().getBody());
    WalkResult result = getOperation().walk([&](k2::KernelOp kernel) {
      return failed(convertKernel(kernel, builder)) ? WalkResult::interrupt()
                                                    : WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
