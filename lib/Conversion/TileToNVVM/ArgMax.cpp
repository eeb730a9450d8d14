// tile.argmax: a reduction of (value, index) pairs.
#include "lib/Conversion/TileToNVVM/Reduction.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace k2c;
using namespace k2c::tile_to_nvvm;

/// The larger value; of equal ones the lower index. A total order, so the
/// result does not depend on the order of combination.
static Partial larger(ImplicitLocOpBuilder &b, const Partial &lhs,
                      const Partial &rhs) {
  Value above =
      arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, rhs[0], lhs[0]);
  Value equal =
      arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, rhs[0], lhs[0]);
  Value lower =
      arith::CmpIOp::create(b, arith::CmpIPredicate::slt, rhs[1], lhs[1]);
  Value take =
      arith::OrIOp::create(b, above, arith::AndIOp::create(b, equal, lower));
  return {arith::SelectOp::create(b, take, rhs[0], lhs[0]),
          arith::SelectOp::create(b, take, rhs[1], lhs[1])};
}

namespace {

struct ArgMaxPattern : TilePattern<tile::ArgMaxOp> {
  using TilePattern::TilePattern;

  LogicalResult
  matchAndRewrite(tile::ArgMaxOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    tile::LinearLayout layout = layoutOf(op.getInput());
    ThreadCoordinates coordinates(b, layout, state.numWarps);
    Value lowest = arith::ConstantOp::create(
        b, b.getFloatAttr(b.getF32Type(),
                          -std::numeric_limits<double>::infinity()));
    SmallVector<Partial> registers;
    for (auto [reg, value] :
         llvm::enumerate(toRegisters(b, adaptor.getInput())))
      registers.push_back({arith::MaxNumFOp::create(b, value, lowest),
                           coordinates.coordinate(op.getAxis(), reg)});
    auto reduced =
        reduceAxis(b, state, layout, layoutOf(op.getValue()), op.getAxis(),
                   registers, [&](const Partial &lhs, const Partial &rhs) {
                     return larger(b, lhs, rhs);
                   });
    if (!reduced || !(layoutOf(op.getValue()) == layoutOf(op.getIndex())))
      return op.emitError(
                 "expected both results in the input's layout without axis ")
             << op.getAxis() << ", but got " << op.getValue().getType()
             << " and " << op.getIndex().getType();
    SmallVector<Value> values, indices;
    for (const Partial &partial : *reduced) {
      values.push_back(partial[0]);
      indices.push_back(partial[1]);
    }
    rewriter.replaceOp(op,
                       {fromRegisters(b, values), fromRegisters(b, indices)});
    return success();
  }
};

} // namespace

void k2c::tile_to_nvvm::populateArgMaxPatterns(Patterns &patterns) {
  patterns.add<ArgMaxPattern>();
}
