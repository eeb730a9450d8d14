#include "runtime/ptxsim/numeric/Float.h"

#include <algorithm>
#include <bit>

using namespace ptxsim;

namespace {

/// significand / 2^shift, rounded.
uint64_t shiftRight(uint64_t significand, int shift, bool negative,
                    Rounding rounding) {
  if (shift <= 0)
    return significand << -shift;
  // Beyond 64 bits nothing is left but a remainder below one half.
  uint64_t kept = shift >= 64 ? 0 : significand >> shift;
  bool half = shift <= 64 && (significand >> (shift - 1) & 1);
  bool below = shift > 64 ? significand != 0
                          : (significand & ((1ull << (shift - 1)) - 1)) != 0;
  bool inexact = half || below;
  switch (rounding) {
  case Rounding::NearestEven:
    return kept + (half && (below || (kept & 1)));
  case Rounding::NearestAway:
    return kept + half;
  case Rounding::Zero:
    return kept;
  case Rounding::Down:
    return kept + (inexact && negative);
  case Rounding::Up:
    return kept + (inexact && !negative);
  }
  return kept;
}

bool overflowsToInfinity(bool negative, Rounding rounding) {
  return rounding == Rounding::NearestEven ||
         rounding == Rounding::NearestAway ||
         (rounding == Rounding::Down && negative) ||
         (rounding == Rounding::Up && !negative);
}

} // namespace

Number ptxsim::unpack(FloatFormat format, uint64_t bits) {
  Number number;
  number.negative = bits & format.signBit();
  uint64_t magnitude = bits & (format.signBit() - 1);
  if (format.infinities ? magnitude > format.infinity()
                        : magnitude == format.nan()) {
    number.kind = Number::NaN;
  } else if (format.infinities && magnitude == format.infinity()) {
    number.kind = Number::Infinite;
  } else if (magnitude) {
    number.kind = Number::Finite;
    uint64_t mantissa = magnitude & ((1ull << format.mantissaBits) - 1);
    int exponent = int(magnitude >> format.mantissaBits);
    if (exponent)
      mantissa |= 1ull << format.mantissaBits;
    number.significand = mantissa;
    number.exponent =
        std::max(exponent, 1) - format.bias() - format.mantissaBits;
  }
  return number;
}

uint64_t ptxsim::pack(FloatFormat format, const Number &number,
                      Rounding rounding, bool saturate) {
  uint64_t sign = number.negative ? format.signBit() : 0;
  switch (number.kind) {
  case Number::NaN:
    return format.nan();
  case Number::Zero:
    return sign;
  case Number::Infinite:
    if (saturate)
      return sign | format.largest();
    return format.infinities ? sign | format.infinity() : format.nan();
  case Number::Finite:
    break;
  }
  // The exponent of the unit in the last place: no smaller than that of the
  // subnormals.
  int top = number.exponent + 63 - std::countl_zero(number.significand);
  int smallest = 1 - format.bias();
  int unit = std::max(top, smallest) - format.mantissaBits;
  uint64_t mantissa = shiftRight(number.significand, unit - number.exponent,
                                 number.negative, rounding);
  // The implicit bit of a normal number adds one to the exponent field, and so
  // does a carry out of the mantissa.
  uint64_t field = uint64_t(std::max(top, smallest) - smallest);
  // Far out of range the field would not fit into the shift below.
  uint64_t magnitude = field > (1ull << format.exponentBits)
                           ? format.signBit()
                           : (field << format.mantissaBits) + mantissa;
  if (magnitude > format.largest()) {
    if (saturate || !overflowsToInfinity(number.negative, rounding))
      return sign | format.largest();
    return format.infinities ? sign | format.infinity() : format.nan();
  }
  return sign | magnitude;
}

Number ptxsim::roundToIntegral(const Number &number, Rounding rounding) {
  if (number.kind != Number::Finite || number.exponent >= 0)
    return number;
  Number result = number;
  result.significand = shiftRight(number.significand, -number.exponent,
                                  number.negative, rounding);
  result.exponent = 0;
  if (!result.significand)
    result.kind = Number::Zero;
  return result;
}
