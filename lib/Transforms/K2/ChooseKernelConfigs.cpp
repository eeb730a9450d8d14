//===- ChooseKernelConfigs.cpp - How kernels are cut into CTAs ------------===//
#include "dialects/K2/K2.h"
#include "k2c/Analysis/KernelRoot.h"
#include "k2c/Analysis/TileShapes.h"
#include "k2c/Transforms/K2/Passes.h"
#include "mlir/IR/Remarks.h"
#include <numeric>

using namespace mlir;

namespace k2c {
#define GEN_PASS_DEF_CHOOSEKERNELCONFIGSPASS
#include "k2c/Transforms/K2/Passes.h.inc"
} // namespace k2c

using namespace k2c;
using namespace k2c::k2;

namespace {

constexpr remark::RemarkOpts kRemark =
    remark::RemarkOpts::name("KernelConfig")
        .category("k2-choose-kernel-configs");

constexpr int64_t kThreads = 128;
constexpr int64_t kTokens = 64;

int64_t columnsOf(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  return type.getDimSize(type.getRank() - 1);
}

/// The step along the summed dimension: a block of scales, or four k-steps of
/// the tensor cores.
int64_t stepOf(Type weight) { return isa<QuantizedType>(weight) ? 128 : 64; }

class Chooser {
public:
  Chooser(int64_t tokens, int64_t multiprocessors)
      : sizes{tokens, tokens, 1}, multiprocessors(multiprocessors) {}

  KernelConfigAttr choose(KernelOp kernel) {
    MLIRContext *context = kernel.getContext();
    Operation *root = getKernelRoot(kernel);
    bool quantized = llvm::any_of(getParallelRoots(root), [](Operation *op) {
      return llvm::any_of(op->getOperandTypes(), llvm::IsaPred<QuantizedType>);
    });
    bool workList =
        isa<ExpertLinearOp, MlaAttentionOp, MlaAttentionAbsorbedOp>(root);
    return KernelConfigAttr::get(
        context, Orientation::TokensM, tileOf(root), 1,
        workList ? Decomposition::WorkList : Decomposition::Tiles,
        quantized ? Prologue::Transform : Prologue::None);
  }

private:
  SmallVector<int64_t> tileOf(Operation *root) {
    return llvm::TypeSwitch<Operation *, SmallVector<int64_t>>(root)
        .Case<LinearOp, ExpertLinearOp>(
            [&](auto op) { return productTile(op); })
        .Case<AbsorbQueryOp>([&](AbsorbQueryOp op) {
          // Steps that start anywhere in a block are copied element by element:
          // a wider tile spills.
          int64_t step = absorbStep(op);
          bool isAligned = !isa<QuantizedType>(op.getKvB().getType()) ||
                           (op.getNope() + op.getValue()) % step == 0;
          return SmallVector<int64_t>{kTokens, isAligned ? 64 : 32, step};
        })
        .Case<AbsorbOutputOp>([&](AbsorbOutputOp op) {
          return SmallVector<int64_t>{kTokens, absorbColumns(op),
                                      stepOf(op.getKvB().getType())};
        })
        .Case<MlaAttentionAbsorbedOp>([&](MlaAttentionAbsorbedOp op) {
          return SmallVector<int64_t>{
              64, latentColumns(op.getCache().getType().getLatentSize()), 64};
        })
        .Case<MlaAttentionOp>([&](MlaAttentionOp op) {
          return SmallVector<int64_t>{64, latentColumns(op.getValue()), 64};
        })
        .Case<RouterOp>([&](RouterOp op) {
          int64_t groups = op.getNGroup();
          return SmallVector<int64_t>{
              ceilPowerOfTwo(groups),
              getRowExtent(columnsOf(op.getLogits()) / groups,
                           kThreads / std::min<int64_t>(kThreads, groups), 1)};
        })
        .Case<DispatchOp>(
            [&](DispatchOp) { return SmallVector<int64_t>{1, 8 * kThreads}; })
        .Case<ExpertWorkOp>([&](ExpertWorkOp op) {
          return SmallVector<int64_t>{
              1, ceilPowerOfTwo(op.getRouting().getType().getExperts())};
        })
        .Case<RopeOp>([&](RopeOp op) {
          return SmallVector<int64_t>{
              std::min<int64_t>(16, ceilPowerOfTwo(op.getHeads())),
              getRowExtent(op.getRope() / 2, 8, 4)};
        })
        .Case<AppendOp>([&](AppendOp op) {
          return SmallVector<int64_t>{
              1, getRowExtent(columnsOf(op.getLatent()), kThreads)};
        })
        .Default([&](Operation *op) {
          return SmallVector<int64_t>{
              1, getRowExtent(columnsOf(op->getResult(0)), kThreads)};
        });
  }

  /// The candidate with the least modelled time: see the pass's description.
  template <typename Op> SmallVector<int64_t> productTile(Op root) {
    SmallVector<Operation *> parallel = getParallelRoots(root);
    int64_t rows = columnsOf(root.getResult());
    // Weights of two storage types take steps that suit both.
    int64_t step = 0;
    for (Operation *op : parallel)
      step = std::max(step, stepOf(cast<Op>(op).getWeight().getType()));
    int64_t best = 0;
    double bestTime = 0;
    for (int64_t columns : {64, 128}) {
      int64_t registers = kTokens * columns / kThreads * parallel.size();
      if (registers > 64)
        continue;
      double tilesN = llvm::divideCeil(rows, columns);
      double tilesM = llvm::divideCeil(sizes.T, kTokens);
      // The input is read once per column of tiles, a weight once per row.
      double bytes =
          bytesOf(root, 0) * tilesN * std::max(1.0, kTokens / double(sizes.T));
      for (Operation *op : parallel)
        bytes += bytesOf(op, 1) * tilesM * columns * tilesN / rows;
      double ctas = tilesN * tilesM;
      double time = std::ceil(ctas / multiprocessors) * bytes / ctas;
      remark::analysis(root->getLoc(), kRemark)
          << remark::add("{0} columns: {1} CTAs of {2} bytes, modelled as {3} "
                         "bytes in a row on each of {4} multiprocessors",
                         columns, int64_t(ctas), int64_t(bytes / ctas),
                         int64_t(time), multiprocessors);
      if (best == 0 || time < bestTime) {
        best = columns;
        bestTime = time;
      }
    }
    return {kTokens, best, step};
  }

  double bytesOf(Operation *op, unsigned operand) const {
    return cast<K2CostInterface>(op).getOperandBytes(operand).evaluate(sizes);
  }

  /// Rows of a head per step: as many as never straddle a block of scales, or a
  /// whole block if these are too few.
  static int64_t absorbStep(AbsorbQueryOp op) {
    auto quantized = dyn_cast<QuantizedType>(op.getKvB().getType());
    if (!quantized)
      return 64;
    int64_t block = quantized.getBlock()[0];
    int64_t aligned = std::gcd<int64_t>(block, op.getNope() + op.getValue());
    return aligned >= 32 ? aligned : block;
  }

  /// Columns of a head's values per tile; a tile may end in a second block.
  static int64_t absorbColumns(AbsorbOutputOp op) {
    auto quantized = dyn_cast<QuantizedType>(op.getKvB().getType());
    if (!quantized)
      return 64;
    int64_t nope = op.getNope(), head = nope + op.getValue();
    int64_t aligned = std::gcd<int64_t>(64, std::gcd(nope, head));
    return aligned >= 32 ? aligned : 64;
  }

  /// Equal shares of at most 256 columns, each a multiple of 16.
  static int64_t latentColumns(int64_t latents) {
    int64_t groups = llvm::divideCeil(latents, 256);
    return llvm::alignTo(llvm::divideCeil(latents, groups), 16);
  }

  StepSizes sizes;
  int64_t multiprocessors;
};

struct ChooseKernelConfigs
    : k2c::impl::ChooseKernelConfigsPassBase<ChooseKernelConfigs> {
  using Base::Base;
  void runOnOperation() override {
    if (tokens < 1 || multiprocessors < 1) {
      getOperation().emitError(
          "expected tokens and multiprocessors to be positive");
      return signalPassFailure();
    }
    Chooser chooser(tokens, multiprocessors);
    getOperation().walk([&](KernelOp kernel) {
      if (kernel.getConfigAttr())
        return;
      kernel.setConfigAttr(chooser.choose(kernel));
      remark::passed(kernel.getLoc(), kRemark) << remark::add(
          "{0}: {1}", kernel.getName(), Attribute(kernel.getConfigAttr()));
    });
  }
};

} // namespace
