//===- Report.cpp - What the kernels of a model cost ----------------------===//
#include "k2c/Pipelines/Report.h"

using namespace mlir;
using namespace k2c;

static std::string text(const k2::CostExpr &expr) {
  std::string result;
  llvm::raw_string_ostream os(result);
  expr.print(os);
  return result;
}

static KernelCost costOf(k2::KernelOp kernel) {
  k2::CostExpr flops, bytes;
  llvm::DenseSet<Value> read;
  for (Operation &op : kernel.getBody().front()) {
    auto cost = dyn_cast<k2::K2CostInterface>(op);
    if (!cost || isa<k2::SliceOp>(op))
      continue;
    flops = flops + cost.getFlops();
    for (OpOperand &operand : op.getOpOperands()) {
      Value value = operand.get();
      Operation *def = value.getDefiningOp();
      bool inside = def && def->getParentOp() == kernel &&
                    !isa<k2::WeightOp, k2::SliceOp>(def);
      if (!inside && read.insert(value).second)
        bytes = bytes + cost.getOperandBytes(operand.getOperandNumber());
    }
  }
  for (Value value : kernel.getBody().front().getTerminator()->getOperands())
    if (auto cost = value.getDefiningOp<k2::K2CostInterface>())
      bytes =
          bytes + cost.getResultBytes(cast<OpResult>(value).getResultNumber());
  return {text(flops), text(bytes)};
}

std::map<std::string, KernelCost> k2c::collectCosts(k2::ModelOp model) {
  std::map<std::string, KernelCost> costs;
  model.walk([&](k2::KernelOp kernel) {
    costs[kernel.getName().str()] = costOf(kernel);
  });
  return costs;
}
