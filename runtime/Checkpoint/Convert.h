//===- Convert.h - Exact conversions between element types ------*- C++ -*-===//
#ifndef RUNTIME_CHECKPOINT_CONVERT_H
#define RUNTIME_CHECKPOINT_CONVERT_H

#include "runtime/Checkpoint/DType.h"

#include <span>

namespace k2rt {

float bf16ToFloat(uint16_t bits);
float f16ToFloat(uint16_t bits);
/// OCP e4m3 "fn": no infinity, 0x7f and 0xff are NaN.
float f8e4m3ToFloat(uint8_t bits);
float f8e5m2ToFloat(uint8_t bits);
/// Round to nearest even; NaN stays NaN, overflow gives infinity.
uint16_t floatToBf16(float value);

/// True for the types whose every value is a float32: F32, BF16, F16, F8_E4M3,
/// F8_E5M2.
bool widensExactly(DType from);

/// Widens `out.size()` values at `data` (of any alignment) to float32.
/// Precondition: widensExactly(from).
void widenToFloat(DType from, const std::byte *data, std::span<float> out);

} // namespace k2rt

#endif // RUNTIME_CHECKPOINT_CONVERT_H
