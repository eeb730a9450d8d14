// arith and math on tiles: the same op on each thread's vector.
#include "lib/Conversion/TileToNVVM/Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace k2c;
using namespace k2c::tile_to_nvvm;

namespace {

/// Any elementwise op keeps its name and attributes; operands and results
/// change type.
struct ElementwisePattern : ConversionPattern {
  ElementwisePattern(const TypeConverter &types, MLIRContext *context)
      : ConversionPattern(types, MatchAnyOpTypeTag(), 1, context) {}

  LogicalResult
  matchAndRewrite(Operation *op, ArrayRef<Value> operands,
                  ConversionPatternRewriter &rewriter) const override {
    if (!OpTrait::hasElementwiseMappableTraits(op) ||
        !isa<arith::ArithDialect, math::MathDialect>(op->getDialect()))
      return failure();
    SmallVector<Type> results;
    if (failed(getTypeConverter()->convertTypes(op->getResultTypes(), results)))
      return failure();
    OperationState state(op->getLoc(), op->getName(), operands, results,
                         op->getDiscardableAttrDictionary().getValue());
    state.propertiesAttr = op->getPropertiesAsAttribute();
    rewriter.replaceOp(op, rewriter.create(state));
    return success();
  }
};

struct ConstantPattern : TilePattern<arith::ConstantOp> {
  using TilePattern::TilePattern;

  LogicalResult
  matchAndRewrite(arith::ConstantOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto type = dyn_cast_or_null<VectorType>(convert(op.getType()));
    auto splat = dyn_cast<SplatElementsAttr>(op.getValue());
    if (!type || !splat)
      return op.emitError(
          "expected a constant tile with one value in all elements");
    auto value = splat.getSplatValue<Attribute>();
    // 8-bit floats are held as their bits.
    if (auto number = dyn_cast<FloatAttr>(value);
        number && type.getElementType().isInteger(8))
      value = rewriter.getIntegerAttr(type.getElementType(),
                                      number.getValue().bitcastToAPInt());
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(
        op, DenseElementsAttr::get(type, value));
    return success();
  }
};

} // namespace

void k2c::tile_to_nvvm::populateElementwisePatterns(Patterns &patterns) {
  patterns.set.add<ElementwisePattern>(patterns.types,
                                       patterns.set.getContext());
  patterns.add<ConstantPattern>();
}
