#ifndef RUNTIME_PTXSIM_NUMERIC_APPROXIMATE_H
#define RUNTIME_PTXSIM_NUMERIC_APPROXIMATE_H

// The functions that PTX specifies by an error bound and a table of special
// values. The hardware's bits are not public: these are evaluated in double and
// rounded once, which is within every bound.

#include "runtime/ptxsim/numeric/Half.h"

#include <cmath>

namespace ptxsim {

/// 2^x, x double for a float argument. Vectorises.
[[gnu::always_inline]] inline double exp2Double(double x) {
  // Outside of this range the float result is 0 or infinity anyway.
  x = x < -400.0 ? -400.0 : x;
  x = x > 400.0 ? 400.0 : x;
  // Adding 1.5 * 2^52 rounds to an integer and leaves it in the low bits.
  constexpr double shifter = 0x1.8p52;
  double shifted = x + shifter, whole = shifted - shifter, f = x - whole;
  // 2^f on [-1/2, 1/2]: Taylor series, error below 2e-11.
  constexpr double ln2 = 0.693147180559945309417232121458;
  double t = f * ln2, p = 1.0 / 362880;
  p = p * t + 1.0 / 40320;
  p = p * t + 1.0 / 5040;
  p = p * t + 1.0 / 720;
  p = p * t + 1.0 / 120;
  p = p * t + 1.0 / 24;
  p = p * t + 1.0 / 6;
  p = p * t + 0.5;
  p = p * t + 1.0;
  p = p * t + 1.0;
  double scale =
      std::bit_cast<double>((std::bit_cast<uint64_t>(shifted) + 1023) << 52);
  return p * scale; // x NaN: p is NaN
}

struct Exp2 {
  static constexpr bool callsLibrary = false;
  static float apply(float x) { return float(exp2Double(x)); }
};
struct Log2 { // -0 and +0: -inf; negative: NaN
  static constexpr bool callsLibrary = true;
  static float apply(float x) { return float(std::log2(double(x))); }
};
struct Sine {
  static constexpr bool callsLibrary = true;
  static float apply(float x) { return float(std::sin(double(x))); }
};
struct Cosine {
  static constexpr bool callsLibrary = true;
  static float apply(float x) { return float(std::cos(double(x))); }
};
struct Tanh {
  static constexpr bool callsLibrary = true;
  static float apply(float x) { return float(std::tanh(double(x))); }
};
struct Reciprocal {
  static constexpr bool callsLibrary = false;
  static float apply(float x) { return 1.0f / x; }
};
struct SquareRoot { // -0: -0; negative: NaN
  static constexpr bool callsLibrary = false;
  static float apply(float x) { return __builtin_sqrtf(x); }
};
struct ReciprocalSquareRoot { // +-0: +-inf; negative: NaN
  static constexpr bool callsLibrary = false;
  static float apply(float x) { return float(1.0 / __builtin_sqrt(double(x))); }
};

/// div.full: a / b over the whole range.
[[gnu::always_inline]] inline float divideFull(float a, float b) {
  return a / b;
}

/// div.approx is a * (1/b): for |b| in (2^126, 2^128) the reciprocal is taken
/// as zero, so an infinite a gives NaN and any other a zero.
[[gnu::always_inline]] inline float divideApprox(float a, float b) {
  float magnitude = __builtin_fabsf(b);
  bool large = magnitude > 0x1p126f && magnitude < __builtin_inff();
  uint32_t sign =
      (std::bit_cast<uint32_t>(a) ^ std::bit_cast<uint32_t>(b)) & 0x80000000u;
  float quotient = a / b;
  bool finite = __builtin_fabsf(a) < __builtin_inff();
  uint32_t special = finite ? sign : 0x7fffffffu;
  return std::bit_cast<float>(large ? special
                                    : std::bit_cast<uint32_t>(quotient));
}

/// rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64 see the upper word of their
/// argument and deliver an upper word; the lower one is zero.
inline uint64_t upperWord(double d) {
  return std::bit_cast<uint64_t>(d) & 0xffffffff00000000u;
}
inline double flushDouble(double d) {
  uint64_t bits = std::bit_cast<uint64_t>(d);
  return std::bit_cast<double>(
      (bits & 0x7ff0000000000000u) ? bits : bits & 0x8000000000000000u);
}

} // namespace ptxsim

#endif // RUNTIME_PTXSIM_NUMERIC_APPROXIMATE_H
