//===- CacheModels.cpp - append -------------------------------------------===//
#include "Models.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace k2c;
using namespace k2c::k2;

namespace {

struct AppendModel : K2TileInterface::ExternalModel<AppendModel, AppendOp> {
  LogicalResult emitTile(Operation *operation, OpBuilder &builder,
                         K2TileContext &context) const {
    auto op = cast<AppendOp>(operation);
    TileEmitter e(op.getLoc(), builder);
    auto cache = op.getCache().getType();
    int64_t latents = cache.getLatentSize(),
            width = latents + cache.getRopeSize();
    int64_t stride = plan::paddedRowStride(width, e.getBF16Type());
    Value keys = context.getPairs(op.getKeyRope());
    if (!keys)
      return op.emitOpError("expected the key's rope in the same kernel, but "
                            "got its result from outside");
    if (latents % 2 || width % 2)
      return op.emitOpError("expected even numbers of latents and of turned "
                            "columns in the cache, but got ")
             << latents << " and " << cache.getRopeSize();
    Value latent = context.getTile(e, op.getLatent());

    plan::ExprAttr rows = context.expr(plan::ExprKind::Mul, context.expr("P"),
                                       context.expr(kPageRows));
    // Two views of one array: the latents, and everything as pairs.
    Value latentRows = context.getArray("latent_cache", plan::Access::Write,
                                        {e.getBF16Type(),
                                         {ShapedType::kDynamic, latents},
                                         {stride, 1},
                                         {rows}});
    Value pairRows = context.getArray("latent_cache", plan::Access::Write,
                                      {e.getI32Type(),
                                       {ShapedType::kDynamic, width / 2},
                                       {stride / 2, 1},
                                       {rows}});
    Value slots = context.getI32Array("slot", context.tokens());
    Value slot = e.loadScalar(slots, context.frame.row);
    Value hasSlot = e.compare(arith::CmpIPredicate::sge, slot, e.i32(0));
    auto guarded = scf::IfOp::create(e, hasSlot, /*withElseRegion=*/false);
    TileEmitter body(op.getLoc(), guarded.getThenBodyBuilder());
    body.store(latent, latentRows, {slot, context.frame.column});
    body.store(keys, pairRows, {slot, body.i32(latents / 2)});
    context.setStored(op.getResult());
    return success();
  }
};

} // namespace

void k2c::attachCacheModels(MLIRContext *context) {
  AppendOp::attachInterface<AppendModel>(*context);
}
