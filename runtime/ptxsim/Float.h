#ifndef RUNTIME_PTXSIM_FLOAT_H
#define RUNTIME_PTXSIM_FLOAT_H

#include <bit>
#include <cstdint>
#include <type_traits>

namespace ptxsim {

/// .ftz: subnormal numbers become zero with their sign.
inline float flush(float x) {
  uint32_t bits = std::bit_cast<uint32_t>(x);
  return std::bit_cast<float>((bits & 0x7f800000u) ? bits : bits & 0x80000000u);
}

/// Single precision results that are NaN are always this one.
constexpr uint32_t canonicalNan = 0x7fffffffu;
inline float canonical(float x) {
  return x == x ? x : std::bit_cast<float>(canonicalNan);
}
inline double canonical(double x) { return x; }

/// .sat: to [0, 1]; NaN becomes +0.
template <class T> T saturate(T x) {
  return x > T(0) ? (x < T(1) ? x : T(1)) : T(0);
}

/// What .ftz, .sat and the rule for NaN do to a result. Results are flushed
/// before they saturate.
template <bool Ftz, bool Sat, class T> T finish(T x) {
  if constexpr (Ftz)
    x = flush(x);
  if constexpr (Sat)
    return saturate(x);
  return canonical(x);
}
template <bool Ftz, class T> T input(T x) {
  if constexpr (Ftz)
    return flush(x);
  return x;
}

/// f32 add of atomics and copies in global memory: subnormal numbers become
/// zero (PTX ISA, atom and cp.reduce.async.bulk).
inline float addFlushed(float a, float b) {
  return finish<true, false>(flush(a) + flush(b));
}

} // namespace ptxsim

#endif // RUNTIME_PTXSIM_FLOAT_H
