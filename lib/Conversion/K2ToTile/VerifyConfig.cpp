//===- VerifyConfig.cpp - Configs that the conversion can follow ----------===//
//
// A config may come from the input instead of k2-choose-kernel-configs: what it
// asks for and the emitters cannot do must be an error, never be ignored.
//
//===----------------------------------------------------------------------===//
#include "Models.h"

using namespace mlir;
using namespace k2c;
using namespace k2c::k2;

namespace {

int64_t columnsOf(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  return type.getDimSize(type.getRank() - 1);
}

class Verifier {
public:
  explicit Verifier(KernelOp kernel)
      : kernel(kernel), config(kernel.getConfigAttr()) {}

  LogicalResult verify(Operation *root) {
    if (config.getOrientation() != Orientation::TokensM)
      return error("tokens on M");
    if (config.getSplit() != 1)
      return error("a split of 1");
    bool isProduct =
        isa<LinearOp, ExpertLinearOp, AbsorbQueryOp, AbsorbOutputOp,
            MlaAttentionOp, MlaAttentionAbsorbedOp>(root);
    if (config.getTile().size() != (isProduct ? 3 : 2))
      return error("a tile of " + Twine(isProduct ? 3 : 2) + " extents");
    return llvm::TypeSwitch<Operation *, LogicalResult>(root)
        .Case([&](ExpertLinearOp) {
          return config.getTile()[0] == kExpertRows
                     ? success()
                     : error("the " + Twine(kExpertRows) +
                             " rows of a work item");
        })
        .Case<MlaAttentionOp, MlaAttentionAbsorbedOp>([&](auto) {
          return config.getTile()[2] == kPageRows
                     ? success()
                     : error("the " + Twine(kPageRows) + " keys of a page");
        })
        .Case([&](RouterOp op) {
          int64_t groups = op.getNGroup();
          return covers(groups, columnsOf(op.getLogits()) / groups);
        })
        .Case([&](ExpertWorkOp op) {
          return covers(1, op.getRouting().getType().getExperts());
        })
        .Case([&](RopeOp op) { return covers(1, op.getRope() / 2); })
        .Case([&](AppendOp op) { return isRow(columnsOf(op.getLatent())); })
        .Case<RmsNormOp, EmbedOp, CombineOp, ResidualAddOp, SwigluOp>(
            [&](auto op) { return isRow(columnsOf(op.getResult())); })
        .Default([](Operation *) { return success(); });
  }

private:
  LogicalResult covers(int64_t rows, int64_t columns) {
    if (config.getTile()[0] >= rows && config.getTile()[1] >= columns)
      return success();
    return error("a tile of at least " + Twine(rows) + " x " + Twine(columns));
  }

  LogicalResult isRow(int64_t columns) {
    if (config.getTile()[0] != 1)
      return error("one row per tile");
    return covers(1, columns);
  }

  LogicalResult error(const Twine &rule) {
    return kernel.emitOpError("expected a config with ")
           << rule << ", but got " << config;
  }

  KernelOp kernel;
  KernelConfigAttr config;
};

} // namespace

LogicalResult k2c::verifyConfig(KernelOp kernel, Operation *root) {
  return Verifier(kernel).verify(root);
}
