#include "test/Unit/ptxsim_forms/Reduction.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace ptxsim::forms {

unsigned reductionBytes(const std::string &type) {
  return type.ends_with("64") ? 8 : type.ends_with("16") ? 2 : 4;
}

namespace {

/// A float format of 16 bits as a double, and back: to nearest, ties to even,
/// subnormals kept. No infinities or NaNs here.
struct Half {
  int fraction, bias;
  double value(uint64_t bits) const {
    const int exponent = int(bits >> fraction) & (fraction == 7 ? 0xff : 0x1f);
    const double m = double(bits & ((1u << fraction) - 1));
    const double magnitude = exponent ? std::ldexp(m + double(1u << fraction),
                                                   exponent - bias - fraction)
                                      : std::ldexp(m, 1 - bias - fraction);
    return bits >> 15 ? -magnitude : magnitude;
  }
  uint64_t bits(double x) const {
    const uint64_t sign = uint64_t(std::signbit(x)) << 15;
    int exponent = 0;
    std::frexp(std::fabs(x), &exponent); // in [1/2, 1)
    exponent = std::max(exponent - 1, 1 - bias);
    // nearbyint rounds to even in the default mode; a carry into the exponent
    // is right as it is.
    const double units =
        std::nearbyint(std::ldexp(std::fabs(x), fraction - exponent));
    return sign + (uint64_t(exponent + bias - 1) << fraction) + uint64_t(units);
  }
};

} // namespace

uint64_t reduced(const std::string &op, const std::string &type, uint64_t m,
                 uint64_t s) {
  const uint64_t mask = reductionBytes(type) == 8 ? ~uint64_t(0) : 0xffffffff;
  if (op == "and")
    return m & s;
  if (op == "or")
    return m | s;
  if (op == "xor")
    return m ^ s;
  if (op == "inc")
    return m >= s ? 0 : m + 1;
  if (op == "dec")
    return m == 0 || m > s ? s : m - 1;
  if (type == "f16" || type == "bf16") {
    const Half half = type == "f16" ? Half{10, 15} : Half{7, 127};
    const double a = half.value(m), b = half.value(s);
    if (op == "add")
      return half.bits(a + b);
    // +0 is greater than -0.
    const bool less = a < b || (a == b && std::signbit(a));
    return less == (op == "min") ? m : s;
  }
  if (type == "f32") {
    // cp.reduce.async.bulk.add.f32 flushes subnormal inputs and results.
    const auto flushed = [](float x) {
      return std::fabs(x) < 0x1p-126f ? std::copysign(0.0f, x) : x;
    };
    return std::bit_cast<uint32_t>(
        flushed(flushed(std::bit_cast<float>(uint32_t(m))) +
                flushed(std::bit_cast<float>(uint32_t(s)))));
  }
  if (type == "f64")
    return std::bit_cast<uint64_t>(std::bit_cast<double>(m) +
                                   std::bit_cast<double>(s));
  if (op == "add")
    return (m + s) & mask;
  bool less = m < s;
  if (type == "s32")
    less = int32_t(m) < int32_t(s);
  else if (type == "s64")
    less = int64_t(m) < int64_t(s);
  return less == (op == "min") ? m : s;
}

uint64_t pickOperand(const std::string &op, const std::string &type,
                     std::mt19937_64 &random, bool normal) {
  const uint64_t bits = random();
  if (op == "inc" || op == "dec")
    return bits % 16 ? bits % 5 : 0xffffffff - bits / 16 % 2;
  if (type == "f32" || type == "f64") {
    // Around the least normal number of f32, ...
    if (bits % 4 == 0 && !normal)
      return type == "f32" ? (bits >> 8 & 0x81ffffff)
                           : bits & 0x801fffffffffffff;
    // ... and sums that round: 24 (53) bits each, of different size.
    const double x = std::ldexp(double(int64_t(bits) >> 16), -int(bits % 40));
    return type == "f64" ? std::bit_cast<uint64_t>(x)
                         : std::bit_cast<uint32_t>(float(x));
  }
  if (type == "f16") // down to subnormals, sums stay finite
    return (bits & 0x83ff) | bits / 65536 % 12 << 10;
  if (type == "bf16")
    return (bits & 0x807f) | bits / 65536 % 12 << 7;
  return reductionBytes(type) == 8 ? bits : bits & 0xffffffff;
}

} // namespace ptxsim::forms
