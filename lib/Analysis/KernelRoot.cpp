//===- KernelRoot.cpp - What a kernel is built around ---------------------===//
#include "k2c/Analysis/KernelRoot.h"

using namespace mlir;
using namespace k2c;
using namespace k2c::k2;

/// Smaller is stronger; negative for ops that are never a root.
static int rank(Operation *op) {
  return llvm::TypeSwitch<Operation *, int>(op)
      .Case<MlaAttentionOp, MlaAttentionAbsorbedOp, AbsorbQueryOp,
            AbsorbOutputOp>([](auto) { return 0; })
      .Case<ExpertLinearOp, LinearOp>([](auto) { return 1; })
      .Case<RouterOp, DispatchOp, ExpertWorkOp, CombineOp, AppendOp, EmbedOp>(
          [](auto) { return 2; })
      .Case<RmsNormOp>([](auto) { return 3; })
      .Case<RopeOp, SwigluOp, ResidualAddOp>([](auto) { return 4; })
      .Default([](Operation *other) {
        return isa<K2CostInterface>(other) && !isa<SliceOp>(other) ? 5 : -1;
      });
}

Operation *k2c::getKernelRoot(KernelOp kernel) {
  Operation *root = nullptr;
  for (Operation &op : kernel.getBody().front())
    if (int r = rank(&op); r >= 0 && (!root || r < rank(root)))
      root = &op;
  return root;
}

SmallVector<Operation *> k2c::getParallelRoots(Operation *root) {
  SmallVector<Operation *> roots;
  for (Operation &op : *root->getBlock())
    if (op.getName() == root->getName() && isa<LinearOp, ExpertLinearOp>(op) &&
        op.getOperand(0) == root->getOperand(0))
      roots.push_back(&op);
  if (roots.empty())
    roots.push_back(root);
  return roots;
}
