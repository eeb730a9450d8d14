#include "runtime/ptxsim/numeric/Convert.h"

#include <algorithm>

using namespace ptxsim;

bool ptxsim::isFloat(Type type) {
  switch (type) {
  case Type::F16:
  case Type::BF16:
  case Type::TF32:
  case Type::F32:
  case Type::F64:
  case Type::E4M3:
  case Type::E5M2:
    return true;
  default:
    return false;
  }
}

FloatFormat ptxsim::formatOf(Type type) {
  switch (type) {
  case Type::F16:
    return formatF16;
  case Type::BF16:
    return formatBF16;
  case Type::TF32:
    return formatTF32;
  case Type::F64:
    return formatF64;
  case Type::E4M3:
    return formatE4M3;
  case Type::E5M2:
    return formatE5M2;
  default:
    return formatF32;
  }
}

namespace {

uint64_t lowBits(uint64_t a, unsigned bits) {
  return bits == 64 ? a : a & ((1ull << bits) - 1);
}

uint64_t extend(uint64_t a, Type type) {
  unsigned unused = 64 - bitsOf(type);
  return isSigned(type) ? uint64_t(int64_t(a << unused) >> unused)
                        : lowBits(a, bitsOf(type));
}

/// Clamps magnitude and sign to an integer type.
uint64_t clampInteger(uint64_t magnitude, bool negative, Type type) {
  unsigned bits = bitsOf(type);
  if (isSigned(type)) {
    uint64_t limit = 1ull << (bits - 1);
    return negative ? uint64_t(0) - std::min(magnitude, limit)
                    : std::min(magnitude, limit - 1);
  }
  return negative ? 0 : std::min(magnitude, lowBits(~0ull, bits));
}

Number integerValue(uint64_t a, Type type) {
  uint64_t value = extend(a, type);
  bool negative = isSigned(type) && int64_t(value) < 0;
  return Number::fromInteger(negative ? uint64_t(0) - value : value, negative);
}

uint64_t flushF32(uint64_t bits) {
  return (bits & 0x7f800000) ? bits : bits & 0x80000000;
}

/// Clamps to [+0, 1]; NaN gives +0.
uint64_t saturateFloat(FloatFormat format, uint64_t bits) {
  uint64_t one = uint64_t(format.bias()) << format.mantissaBits;
  if ((bits & format.signBit()) || bits > format.infinity())
    return 0;
  return std::min(bits, one);
}

uint64_t floatToInteger(const Conversion &c, const Number &value) {
  unsigned bits = bitsOf(c.to);
  if (value.kind == Number::NaN)
    return c.from == Type::F64 || bits == 64 ? extend(1ull << (bits - 1), c.to)
                                             : 0;
  if (value.kind == Number::Infinite)
    return clampInteger(~0ull, value.negative, c.to);
  Number whole = roundToIntegral(value, c.rounding);
  if (whole.kind == Number::Zero)
    return 0;
  // Anything of 2^64 or more saturates.
  bool huge =
      whole.exponent > 63 ||
      (whole.exponent > 0 && (whole.significand >> (64 - whole.exponent)) != 0);
  return clampInteger(huge ? ~0ull : whole.significand << whole.exponent,
                      whole.negative, c.to);
}

uint64_t toFloat(const Conversion &c, Number value) {
  FloatFormat format = formatOf(c.to);
  if (c.integral)
    value = roundToIntegral(value, c.rounding);
  uint64_t bits = pack(format, value, c.rounding, c.satfinite);
  if (c.relu && (bits & format.signBit()))
    bits = 0;
  if (c.sat)
    bits = saturateFloat(format, bits);
  if (c.ftz && c.to == Type::F32)
    bits = flushF32(bits);
  // tf32 is a float whose low bits are zero, except in the canonical NaN.
  if (c.to == Type::TF32)
    bits = value.kind == Number::NaN ? 0x7fffffff : bits << 13;
  return bits;
}

} // namespace

uint64_t ptxsim::convert(const Conversion &c, uint64_t a) {
  if (!isFloat(c.from)) {
    Number value = integerValue(a, c.from);
    if (isFloat(c.to))
      return toFloat(c, value);
    return c.sat ? clampInteger(value.significand, value.negative, c.to)
                 : extend(extend(a, c.from), c.to);
  }
  uint64_t bits = lowBits(a, bitsOf(c.from));
  if (c.ftz && c.from == Type::F32)
    bits = flushF32(bits);
  Number value = unpack(formatOf(c.from), bits);
  if (!isFloat(c.to))
    return floatToInteger(c, value);
  // bf16 is the upper half of a float: the hardware moves the bits, NaN's too.
  if (c.from == Type::BF16 && c.to == Type::F32 && value.kind == Number::NaN &&
      !c.sat)
    return bits << 16;
  return toFloat(c, value);
}
