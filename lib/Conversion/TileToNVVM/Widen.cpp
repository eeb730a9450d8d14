// tile.convert: e4m3 to bf16. PTX has no such conversion; e4m3 -> f16 -> f32 ->
// bf16 rounds nowhere.
#include "lib/Conversion/TileToNVVM/Fragments.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace k2c;
using namespace k2c::tile_to_nvvm;

Value k2c::tile_to_nvvm::widenPair(ImplicitLocOpBuilder &b, Value low,
                                   Value high) {
  Value bytes = fromRegisters(b, {low, high});
  Value half = NVVM::ConvertF8x2ToF16x2Op::create(
      b, VectorType::get({2}, b.getF16Type()), bytes, /*relu=*/false,
      Float8E4M3FNType::get(b.getContext()));
  Value single =
      arith::ExtFOp::create(b, VectorType::get({2}, b.getF32Type()), half);
  Value brain =
      arith::TruncFOp::create(b, VectorType::get({2}, b.getBF16Type()), single);
  return LLVM::BitcastOp::create(b, b.getI32Type(), brain);
}

namespace {

struct ConvertPattern : TilePattern<tile::ConvertOp> {
  using TilePattern::TilePattern;

  LogicalResult
  matchAndRewrite(tile::ConvertOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    SmallVector<Value> bytes = toRegisters(b, adaptor.getInput()), wide;
    // An odd register is widened with itself.
    for (size_t i = 0; i < bytes.size(); i += 2) {
      Value high = i + 1 < bytes.size() ? bytes[i + 1] : bytes[i];
      Value both =
          LLVM::BitcastOp::create(b, VectorType::get({2}, b.getBF16Type()),
                                  widenPair(b, bytes[i], high));
      SmallVector<Value> values = toRegisters(b, both);
      wide.push_back(values[0]);
      if (i + 1 < bytes.size())
        wide.push_back(values[1]);
    }
    rewriter.replaceOp(op, fromRegisters(b, wide));
    return success();
  }
};

} // namespace

void k2c::tile_to_nvvm::populateWidenPatterns(Patterns &patterns) {
  patterns.add<ConvertPattern>();
}
