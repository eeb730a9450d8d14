//===- VerifyFused.cpp - The end of the model stage -----------------------===//
#include "dialects/K2/K2.h"
#include "k2c/Transforms/K2/Passes.h"

using namespace mlir;

namespace k2c {
#define GEN_PASS_DEF_VERIFYFUSEDPASS
#include "k2c/Transforms/K2/Passes.h.inc"
} // namespace k2c

using namespace k2c;
using namespace k2c::k2;

namespace {

LogicalResult verifyKernel(KernelOp kernel, llvm::StringMap<KernelOp> &names) {
  auto [known, isNew] = names.try_emplace(kernel.getName(), kernel);
  if (!isNew)
    return kernel.emitOpError("expected a kernel name of its own, but got '")
               .append(kernel.getName(), "' twice")
               .attachNote(known->second.getLoc())
           << "the first kernel of this name";
  if (!kernel.getConfigAttr())
    return kernel.emitOpError(
        "expected a config (k2-choose-kernel-configs), but got none");
  for (Operation &op : kernel.getBody().front()) {
    if (!isa<K2CostInterface, WeightOp, YieldOp>(op))
      return op.emitOpError(
          "expected an op with K2CostInterface in a kernel, but got none");
  }
  return success();
}

/// Pieces of the keys are as long as the sequence makes them.
LogicalResult verifyBatchInvariant(KernelOp kernel) {
  KernelConfigAttr config = kernel.getConfigAttr();
  if (!config)
    return success();
  bool attends = false;
  for (Operation &op : kernel.getBody().front())
    attends |= isa<MlaAttentionOp, MlaAttentionAbsorbedOp>(op);
  if (config.getDecomposition() != Decomposition::SplitKV &&
      !(attends && config.getSplit() != 1))
    return success();
  return kernel.emitOpError("expected keys in one piece (batch-invariant), but "
                            "got ")
         << config;
}

struct VerifyFused : k2c::impl::VerifyFusedPassBase<VerifyFused> {
  using Base::Base;
  void runOnOperation() override {
    llvm::StringMap<KernelOp> names;
    bool ok = true;
    for (Operation &function : getOperation().getBody().front()) {
      if (!isa<BlockOp, EntryOp>(function))
        continue;
      for (Operation &op : function.getRegion(0).front()) {
        if (auto kernel = dyn_cast<KernelOp>(op)) {
          ok &= succeeded(verifyKernel(kernel, names));
          if (batchInvariant)
            ok &= succeeded(verifyBatchInvariant(kernel));
        } else if (!isa<LayersOp, ReturnOp>(op)) {
          op.emitOpError("expected every op to be in a kernel "
                         "(k2-form-kernels), but got it outside");
          ok = false;
        }
      }
    }
    if (!ok)
      signalPassFailure();
  }
};

} // namespace
