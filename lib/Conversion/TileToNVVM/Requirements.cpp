#include "lib/Conversion/TileToNVVM/Requirements.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace k2c;
using namespace k2c::tile_to_nvvm;

static LogicalResult verifyLayout(Operation *op, Type type, int64_t numWarps) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return success();
  auto layout = dyn_cast_or_null<tile::LinearAttr>(tensor.getEncoding());
  if (!layout)
    return op->emitError("expected every tile to have a layout, but got ")
           << type;
  if (layout.getNumWarps() != numWarps)
    return op->emitError("expected layouts over the kernel's ")
           << numWarps << " warps, but got " << type;
  return success();
}

/// Without a math library an op that is no instruction would end the compiler
/// in the backend.
static LogicalResult verifyMath(Operation *op) {
  if (!isa<math::MathDialect>(op->getDialect()))
    return success();
  if (isa<math::ExpOp, math::LogOp, math::Log2Op, math::Log10Op>(op))
    return op->emitError("expected exp2 in place of ")
           << op->getName() << ", which has no PTX instruction";
  if (auto exp2 = dyn_cast<math::Exp2Op>(op)) {
    if (!bitEnumContainsAll(exp2.getFastmath(), arith::FastMathFlags::afn))
      return op->emitError("expected fastmath<afn> on math.exp2, which has "
                           "only an approximate PTX instruction");
    return success();
  }
  if (!isa<math::AbsFOp, math::AbsIOp, math::RsqrtOp, math::SqrtOp,
           math::FloorOp, math::CeilOp, math::TruncOp, math::RoundEvenOp,
           math::CopySignOp, math::CtPopOp, math::CountLeadingZerosOp>(op))
    return op->emitError("expected a math op with a PTX instruction, but got ")
           << op->getName();
  return success();
}

/// 8-bit floats are moved and widened by tile ops; upstream has no lowering of
/// arithmetic or casts for them.
static LogicalResult verifyNoByteFloats(Operation *op) {
  if (!isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) ||
      isa<arith::ConstantOp, arith::SelectOp>(op))
    return success();
  auto isByteFloat = [](Type type) {
    Type element = getElementTypeOrSelf(type);
    return isa<FloatType>(element) && element.getIntOrFloatBitWidth() == 8;
  };
  if (llvm::any_of(op->getOperandTypes(), isByteFloat) ||
      llvm::any_of(op->getResultTypes(), isByteFloat))
    return op->emitError(
               "expected 8-bit floats to be widened by tile.convert, but got ")
           << op->getName();
  return success();
}

static LogicalResult verifyPlaced(Operation *op) {
  if (auto alloc = dyn_cast<tile::AllocSharedOp>(op);
      alloc && !alloc.getOffset())
    return op->emitOpError("expected an offset (run tile-allocate-shared)");
  return success();
}

LogicalResult k2c::tile_to_nvvm::verifyRequirements(tile::KernelOp kernel) {
  int64_t numWarps = kernel.getNumWarps();
  WalkResult result = kernel.walk([&](Operation *op) {
    for (Type type : op->getResultTypes())
      if (failed(verifyLayout(op, type, numWarps)))
        return WalkResult::interrupt();
    if (failed(verifyMath(op)) || failed(verifyNoByteFloats(op)) ||
        failed(verifyPlaced(op)))
      return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

uint64_t k2c::tile_to_nvvm::endOfBuffers(tile::KernelOp kernel) {
  uint64_t end = 0;
  kernel.walk([&](tile::AllocSharedOp alloc) {
    auto type = cast<tile::BufferType>(alloc.getType());
    uint64_t bytes = llvm::product_of(type.getShape()) *
                     type.getElementType().getIntOrFloatBitWidth() / 8;
    end = std::max<uint64_t>(end, *alloc.getOffset() + bytes);
  });
  return llvm::alignTo(end, 16);
}
