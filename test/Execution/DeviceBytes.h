//===- DeviceBytes.h - Values in the layouts of the device ------*- C++ -*-===//
#ifndef TEST_EXECUTION_DEVICEBYTES_H
#define TEST_EXECUTION_DEVICEBYTES_H

#include "RandomModel.h"

namespace k2c::test {

/// Writes element `index` of an array; the value is one of the element type.
void put(std::vector<uint8_t> &bytes, size_t index, mlir::Type element,
         double value);
/// Element `index` of an array of f32, bf16 or i32 at a host address.
double get(uint64_t pointer, size_t index, mlir::Type element);

/// Rows of `columns` values, `stride` apart; `padding` fills the rest.
template <typename Element>
std::vector<uint8_t> encodeRows(const std::vector<Element> &values,
                                int64_t columns, int64_t stride,
                                mlir::Type element, uint8_t padding) {
  int64_t rows = columns ? values.size() / columns : 0;
  std::vector<uint8_t> bytes(
      rows * stride * element.getIntOrFloatBitWidth() / 8, padding);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c)
      put(bytes, r * stride + c, element,
          static_cast<double>(values[r * columns + c]));
  return bytes;
}

/// A matrix or one matrix per expert, experts at their slots; rows padded to 16
/// bytes with zeros.
std::vector<uint8_t> encodePool(const Tensor &tensor, int64_t matrices,
                                const std::vector<int64_t> &slotOf,
                                mlir::Type element);

} // namespace k2c::test

#endif // TEST_EXECUTION_DEVICEBYTES_H
