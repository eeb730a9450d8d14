#ifndef RUNTIME_PTXSIM_NUMERIC_HALF_H
#define RUNTIME_PTXSIM_NUMERIC_HALF_H

// f16 and bf16 as 16-bit patterns. Everything here is branch-free and inlined,
// so that a loop over lanes vectorises; the host must be in round-to-nearest
// mode.

#include "runtime/ptxsim/Float.h"
#include "runtime/ptxsim/numeric/Float.h"

#include <bit>

namespace ptxsim {

inline bool isNaN32(uint32_t bits) { return (bits & 0x7fffffff) > 0x7f800000; }

/// .relu: negative to +0, NaN to the canonical NaN.
inline float relu(float f) { return f > 0.0f || f != f ? f : 0.0f; }

/// How the two half formats differ.
struct HalfF16 {
  static constexpr FloatFormat format = formatF16;
  static constexpr uint16_t infinity = 0x7c00;

  static float widen(uint16_t h) {
#ifdef __F16C__
    return canonical(float(std::bit_cast<_Float16>(h)));
#else
    return std::bit_cast<float>(
        uint32_t(pack(formatF32, unpack(formatF16, h), Rounding::NearestEven)));
#endif
  }
  static uint16_t narrow(float f) {
#ifdef __F16C__
    uint16_t h = std::bit_cast<uint16_t>(_Float16(f));
    return f == f ? h : uint16_t(0x7fff);
#else
    return uint16_t(pack(formatF16,
                         unpack(formatF32, std::bit_cast<uint32_t>(f)),
                         Rounding::NearestEven));
#endif
  }
};

struct HalfBF16 {
  static constexpr FloatFormat format = formatBF16;
  static constexpr uint16_t infinity = 0x7f80;

  static float widen(uint16_t h) {
    return std::bit_cast<float>(uint32_t(h) << 16);
  }
  static uint16_t narrow(float f) {
    uint32_t bits = std::bit_cast<uint32_t>(f);
    uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    return isNaN32(bits) ? uint16_t(0x7fff) : uint16_t(rounded);
  }
};

/// Rounds to odd: an inexact result gets an odd last bit, so that rounding it
/// again to a format at least two bits shorter gives what one rounding of `d`
/// would.
[[gnu::always_inline]] inline float narrowToOdd(double d) {
  float f = float(d);
  double back = f;
  uint32_t bits = std::bit_cast<uint32_t>(f);
  uint32_t step = __builtin_fabs(d) > __builtin_fabs(back) ? 1u : ~0u;
  return std::bit_cast<float>(back != d && !(bits & 1) ? bits + step : bits);
}

/// x + y rounded to odd. The operands' exponents must be far from double's
/// limits.
[[gnu::always_inline]] inline double addToOdd(double x, double y) {
  double sum = x + y, part = sum - x;
  double error = (x - (sum - part)) + (y - part);
  uint64_t bits = std::bit_cast<uint64_t>(sum);
  uint64_t step = (error > 0) == (sum > 0) ? 1ull : ~0ull;
  // For an infinite or NaN sum the error is NaN: nothing to correct.
  bool inexact = error > 0 || error < 0;
  return std::bit_cast<double>(inexact && !(bits & 1) ? bits + step : bits);
}

/// a * b + c with one rounding; the product of two halves is exact in double.
template <class H>
[[gnu::always_inline]] inline uint16_t fmaHalf(uint16_t a, uint16_t b,
                                               uint16_t c) {
  double product = double(H::widen(a)) * double(H::widen(b));
  return H::narrow(narrowToOdd(addToOdd(product, double(H::widen(c)))));
}
template <class H>
[[gnu::always_inline]] inline uint16_t addHalf(uint16_t a, uint16_t b) {
  return H::narrow(
      narrowToOdd(addToOdd(double(H::widen(a)), double(H::widen(b)))));
}
template <class H>
[[gnu::always_inline]] inline uint16_t mulHalf(uint16_t a, uint16_t b) {
  return H::narrow(narrowToOdd(double(H::widen(a)) * double(H::widen(b))));
}

/// Is h a NaN?
template <class H> bool isNaNHalf(uint16_t h) {
  return (h & 0x7fff) > H::infinity;
}

template <class H> uint16_t flushHalf(uint16_t h) {
  return (h & H::infinity) ? h : uint16_t(h & 0x8000);
}
template <class H> uint16_t reluHalf(uint16_t h) {
  return isNaNHalf<H>(h) ? uint16_t(0x7fff) : uint16_t((h & 0x8000) ? 0 : h);
}
template <class H> uint16_t saturateHalf(uint16_t h) {
  const uint16_t one = uint16_t(H::format.bias() << H::format.mantissaBits);
  uint16_t low = (h & 0x8000) || isNaNHalf<H>(h) ? uint16_t(0) : h;
  return low > one ? one : low;
}

/// Orders all numbers, -0 before +0.
inline int16_t orderOfHalf(uint16_t h) {
  return int16_t(h ^ uint16_t((int16_t(h) >> 15) & 0x7fff));
}

/// min or max. One NaN gives the other operand, or NaN if `nan`; two give the
/// canonical NaN.
template <class H, bool max, bool nan>
uint16_t extremeHalf(uint16_t a, uint16_t b) {
  bool first =
      max ? orderOfHalf(a) >= orderOfHalf(b) : orderOfHalf(a) <= orderOfHalf(b);
  uint16_t value = first ? a : b;
  bool aNaN = isNaNHalf<H>(a), bNaN = isNaNHalf<H>(b);
  value = aNaN ? b : bNaN ? a : value;
  return (nan ? aNaN || bNaN : aNaN && bNaN) ? uint16_t(0x7fff) : value;
}

} // namespace ptxsim

#endif // RUNTIME_PTXSIM_NUMERIC_HALF_H
