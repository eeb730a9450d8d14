//===- AbsorbAttention.cpp - Attention in the space of the latents --------===//
#include "dialects/K2/K2.h"
#include "k2c/Transforms/K2/Passes.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;

namespace k2c {
#define GEN_PASS_DEF_ABSORBATTENTIONPASS
#include "k2c/Transforms/K2/Passes.h.inc"
} // namespace k2c

using namespace k2c;
using namespace k2c::k2;

namespace {

void absorb(OpBuilder &builder, MlaAttentionOp op) {
  builder.setInsertionPoint(op);
  Location loc = op.getLoc();
  auto query = cast<RankedTensorType>(op.getQuery().getType());
  int64_t latents = cast<CacheType>(op.getCache().getType()).getLatentSize();
  auto latentType = query.clone(ArrayRef<int64_t>{
      query.getDimSize(0), static_cast<int64_t>(op.getHeads()) * latents});

  auto queryLatent = AbsorbQueryOp::create(
      builder, loc, latentType, op.getQuery(), op.getKvB(), op.getHeads(),
      op.getNope(), op.getRope(), op.getValue());
  auto attended = MlaAttentionAbsorbedOp::create(
      builder, loc, latentType, queryLatent, op.getQuery(), op.getCache(),
      op.getBatch(), op.getHeads(), op.getNope(), op.getRope(), op.getScale());
  auto output =
      AbsorbOutputOp::create(builder, loc, op.getType(), attended, op.getKvB(),
                             op.getHeads(), op.getNope(), op.getValue());
  remark::passed(
      loc, remark::RemarkOpts::name("Absorb").category("k2-absorb-attention"))
      << remark::add("{0} heads read the {1} cached latents as they are",
                     op.getHeads(), latents);
  op.replaceAllUsesWith(output.getResult());
  op.erase();
}

struct AbsorbAttention : k2c::impl::AbsorbAttentionPassBase<AbsorbAttention> {
  void runOnOperation() override {
    OpBuilder builder(&getContext());
    getOperation().walk([&](MlaAttentionOp op) { absorb(builder, op); });
  }
};

} // namespace
