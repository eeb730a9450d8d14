//===- K2Types.cpp - Rules of the k2 types --------------------------------===//

#include "dialects/K2/K2.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace k2c::k2;

int64_t QuantizedType::getScaleRows() const {
  return llvm::divideCeil(getShape()[getRank() - 2], getBlock()[0]);
}
int64_t QuantizedType::getScaleColumns() const {
  return llvm::divideCeil(getShape()[getRank() - 1], getBlock()[1]);
}

LogicalResult
QuantizedType::verify(function_ref<InFlightDiagnostic()> emitError,
                      ArrayRef<int64_t> shape, Type elementType,
                      ArrayRef<int64_t> block, Type scaleType) {
  // quantized_c1
  if (shape.size() != 2 && shape.size() != 3)
    return emitError()
           << "expected a quantized weight of rank 2 or 3, but got rank "
           << shape.size();
  for (int64_t extent : shape)
    if (extent <= 0)
      return emitError()
             << "expected positive extents of a quantized weight, but got "
             << extent;
  // quantized_c2
  if (!isa<Float8E4M3FNType>(elementType))
    return emitError()
           << "expected elements of a quantized weight to be f8E4M3FN, but got "
           << elementType;
  // quantized_c3
  if (block.size() != 2 || block[0] <= 0 || block[1] <= 0)
    return emitError() << "expected two positive block extents, but got ["
                       << block << "]";
  // quantized_c4
  if (!scaleType.isF32())
    return emitError() << "expected scales of type f32, but got " << scaleType;
  return success();
}

LogicalResult CacheType::verify(function_ref<InFlightDiagnostic()> emitError,
                                int64_t latentSize, int64_t ropeSize) {
  // cache_c1
  if (latentSize <= 0 || ropeSize <= 0)
    return emitError() << "expected positive row sizes of a cache, but got "
                       << latentSize << " and " << ropeSize;
  return success();
}

LogicalResult RoutingType::verify(function_ref<InFlightDiagnostic()> emitError,
                                  int64_t experts, int64_t topK) {
  // routing_c1
  if (topK <= 0 || topK > experts)
    return emitError() << "expected 1 to " << experts
                       << " experts per token, but got " << topK;
  return success();
}

ArrayRef<int64_t> k2c::k2::getWeightShape(Type type) {
  if (auto quantized = dyn_cast<QuantizedType>(type))
    return quantized.getShape();
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return tensor.getShape();
  return {};
}
