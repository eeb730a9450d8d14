// tile.reduce.
#include "lib/Conversion/TileToNVVM/Reduction.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace k2c;
using namespace k2c::tile_to_nvvm;

static Value combineValues(ImplicitLocOpBuilder &b, tile::ReduceKind kind,
                           Value lhs, Value rhs) {
  bool isFloat = isa<FloatType>(lhs.getType());
  switch (kind) {
  case tile::ReduceKind::Add:
    return isFloat ? arith::AddFOp::create(b, lhs, rhs).getResult()
                   : arith::AddIOp::create(b, lhs, rhs).getResult();
  case tile::ReduceKind::Maximum:
    return isFloat ? arith::MaximumFOp::create(b, lhs, rhs).getResult()
                   : arith::MaxSIOp::create(b, lhs, rhs).getResult();
  case tile::ReduceKind::Minimum:
    return isFloat ? arith::MinimumFOp::create(b, lhs, rhs).getResult()
                   : arith::MinSIOp::create(b, lhs, rhs).getResult();
  }
  llvm_unreachable("all kinds are handled");
}

namespace {

struct ReducePattern : TilePattern<tile::ReduceOp> {
  using TilePattern::TilePattern;

  LogicalResult
  matchAndRewrite(tile::ReduceOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    SmallVector<Partial> registers;
    for (Value value : toRegisters(b, adaptor.getInput()))
      registers.push_back({value});
    auto reduced = reduceAxis(
        b, state, layoutOf(op.getInput()), layoutOf(op.getResult()),
        op.getAxis(), registers, [&](const Partial &lhs, const Partial &rhs) {
          return Partial{combineValues(b, op.getKind(), lhs[0], rhs[0])};
        });
    if (!reduced)
      return op.emitError(
                 "expected the result in the input's layout without axis ")
             << op.getAxis() << ", but got " << op.getType();
    SmallVector<Value> results;
    for (const Partial &partial : *reduced)
      results.push_back(partial[0]);
    rewriter.replaceOp(op, fromRegisters(b, results));
    return success();
  }
};

} // namespace

void k2c::tile_to_nvvm::populateReducePatterns(Patterns &patterns) {
  patterns.add<ReducePattern>();
}
