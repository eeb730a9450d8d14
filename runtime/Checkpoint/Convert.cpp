//===- Convert.cpp - Exact conversions between element types --------------===//
#include "runtime/Checkpoint/Convert.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace k2rt {

namespace {
/// A small float with `exponentBits` and `mantissaBits`, IEEE rules for
/// subnormals; the caller handles infinity and NaN.
float smallFloat(uint32_t bits, int exponentBits, int mantissaBits) {
  uint32_t mantissa = bits & ((1u << mantissaBits) - 1);
  int exponent =
      static_cast<int>(bits >> mantissaBits & ((1u << exponentBits) - 1));
  bool negative = bits >> (mantissaBits + exponentBits) & 1;
  int bias = (1 << (exponentBits - 1)) - 1;
  float magnitude =
      exponent == 0
          ? std::ldexp(static_cast<float>(mantissa), 1 - bias - mantissaBits)
          : std::ldexp(static_cast<float>(mantissa | 1u << mantissaBits),
                       exponent - bias - mantissaBits);
  return negative ? -magnitude : magnitude;
}

float signedNaN(bool negative) {
  float nan = std::numeric_limits<float>::quiet_NaN();
  return negative ? -nan : nan;
}

template <typename T, float (*Widen)(T)>
void widenAll(const std::byte *data, std::span<float> out) {
  for (size_t i = 0; i < out.size(); ++i) {
    T bits;
    std::memcpy(&bits, data + i * sizeof(T), sizeof(T));
    out[i] = Widen(bits);
  }
}

template <float (*Widen)(uint8_t)>
void widenBytes(const std::byte *data, std::span<float> out) {
  static const std::array<float, 256> table = [] {
    std::array<float, 256> values{};
    for (int i = 0; i < 256; ++i)
      values[i] = Widen(static_cast<uint8_t>(i));
    return values;
  }();
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = table[static_cast<uint8_t>(data[i])];
}
} // namespace

float bf16ToFloat(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

float f16ToFloat(uint16_t bits) {
  if ((bits & 0x7c00) == 0x7c00) {
    if (bits & 0x03ff)
      return signedNaN(bits >> 15);
    float inf = std::numeric_limits<float>::infinity();
    return bits >> 15 ? -inf : inf;
  }
  return smallFloat(bits, 5, 10);
}

float f8e4m3ToFloat(uint8_t bits) {
  if ((bits & 0x7f) == 0x7f)
    return signedNaN(bits >> 7);
  return smallFloat(bits, 4, 3);
}

float f8e5m2ToFloat(uint8_t bits) {
  return f16ToFloat(static_cast<uint16_t>(bits << 8));
}

uint16_t floatToBf16(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value))
    return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

bool widensExactly(DType from) {
  switch (from) {
  case DType::F32:
  case DType::BF16:
  case DType::F16:
  case DType::F8_E4M3:
  case DType::F8_E5M2:
    return true;
  default:
    return false;
  }
}

void widenToFloat(DType from, const std::byte *data, std::span<float> out) {
  switch (from) {
  case DType::F32:
    if (!out.empty())
      std::memcpy(out.data(), data, out.size_bytes());
    return;
  case DType::BF16:
    return widenAll<uint16_t, bf16ToFloat>(data, out);
  case DType::F16:
    return widenAll<uint16_t, f16ToFloat>(data, out);
  case DType::F8_E4M3:
    return widenBytes<f8e4m3ToFloat>(data, out);
  case DType::F8_E5M2:
    return widenBytes<f8e5m2ToFloat>(data, out);
  default:
    assert(false && "this type does not widen exactly to float32");
  }
}

} // namespace k2rt
