//===- KernelInputs.cpp - What a k2.kernel reads from outside -------------===//
#include "k2c/Conversion/K2ToTile/KernelInputs.h"

using namespace mlir;
using namespace k2c;

plan::ExprAttr k2c::getRowCount(Value value) {
  MLIRContext *context = value.getContext();
  auto tokens = plan::ExprAttr::get(context, "T");
  while (Operation *def = value.getDefiningOp()) {
    if (auto linear = dyn_cast<k2::ExpertLinearOp>(def)) {
      int64_t slots = linear.getRouting().getType().getTopK();
      return plan::ExprAttr::get(context, plan::ExprKind::Mul, tokens,
                                 plan::ExprAttr::get(context, slots));
    }
    if (auto kernel = dyn_cast<k2::KernelOp>(def))
      value = kernel.getBody().front().getTerminator()->getOperand(
          cast<OpResult>(value).getResultNumber());
    else if (isa<k2::SwigluOp, k2::SliceOp, k2::RmsNormOp, k2::ResidualAddOp>(
                 def))
      value = def->getOperand(0);
    else
      break;
  }
  return tokens;
}

bool k2c::isKernelInput(Value value) {
  return isa<RankedTensorType>(value.getType()) &&
         !value.getDefiningOp<k2::WeightOp>();
}

SmallVector<Value> k2c::getKernelInputs(k2::KernelOp kernel) {
  llvm::SetVector<Value> inputs;
  kernel.getBody().walk([&](Operation *op) {
    for (Value operand : op->getOperands())
      if (operand.getParentRegion() != &kernel.getBody() &&
          isKernelInput(operand))
        inputs.insert(operand);
  });
  return inputs.takeVector();
}

SmallVector<Variant> k2c::getVariants(k2::KernelOp kernel) {
  Block &body = kernel.getBody().front();
  if (!body.getOps<k2::MlaAttentionOp>().empty())
    return {Variant::Expand, Variant::Plain, Variant::Masked};
  if (!body.getOps<k2::MlaAttentionAbsorbedOp>().empty())
    return {Variant::Plain, Variant::Masked};
  return {Variant::Plain};
}

std::string k2c::getVariantName(k2::KernelOp kernel, Variant variant) {
  std::string name = kernel.getName().str();
  switch (variant) {
  case Variant::Plain:
    return name;
  case Variant::Masked:
    return name + "_masked";
  case Variant::Expand:
    return name + "_expand";
  }
  llvm_unreachable("every variant has a name");
}
