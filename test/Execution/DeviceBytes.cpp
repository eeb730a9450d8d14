//===- DeviceBytes.cpp - Values in the layouts of the device --------------===//
#include "DeviceBytes.h"

#include "dialects/Plan/Plan.h"
#include <algorithm>
#include <cmath>
#include <cstring>

using namespace mlir;
using namespace k2c;
using namespace k2c::test;

void test::put(std::vector<uint8_t> &bytes, size_t index, Type element,
               double value) {
  if (element.isF32()) {
    float x = static_cast<float>(value);
    std::memcpy(&bytes[index * 4], &x, 4);
  } else if (element.isBF16()) {
    float x = static_cast<float>(value);
    uint32_t bits;
    std::memcpy(&bits, &x, 4);
    uint16_t upper = std::isnan(x) ? 0xffff : bits >> 16;
    std::memcpy(&bytes[index * 2], &upper, 2);
  } else if (element.isInteger(32)) {
    int32_t x = static_cast<int32_t>(value);
    std::memcpy(&bytes[index * 4], &x, 4);
  } else {
    bytes[index] = encodeE4M3(value);
  }
}

double test::get(uint64_t pointer, size_t index, Type element) {
  auto *bytes = reinterpret_cast<const uint8_t *>(pointer);
  if (element.isF32()) {
    float x;
    std::memcpy(&x, bytes + index * 4, 4);
    return x;
  }
  if (element.isInteger(32)) {
    int32_t x;
    std::memcpy(&x, bytes + index * 4, 4);
    return x;
  }
  uint16_t upper;
  std::memcpy(&upper, bytes + index * 2, 2);
  uint32_t bits = static_cast<uint32_t>(upper) << 16;
  float x;
  std::memcpy(&x, &bits, 4);
  return x;
}

/// A matrix or one matrix per expert, experts at their slots.
std::vector<uint8_t> test::encodePool(const Tensor &tensor, int64_t matrices,
                                      const std::vector<int64_t> &slotOf,
                                      Type element) {
  int64_t columns = tensor.columns();
  int64_t each = tensor.data.size() / matrices;
  std::vector<double> values(tensor.data.size());
  for (int64_t e = 0; e < matrices; ++e)
    std::copy_n(tensor.data.begin() + e * each, each,
                values.begin() + (matrices > 1 ? slotOf[e] : e) * each);
  return encodeRows(values, columns, plan::paddedRowStride(columns, element),
                    element, 0);
}
