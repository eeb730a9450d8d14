//===- Dot.h - The one inner loop of the reference --------------*- C++ -*-===//
#ifndef LIB_REFERENCE_DOT_H
#define LIB_REFERENCE_DOT_H

#include <cstdint>

namespace k2c::reference {

/// Eight running sums, added in order at the end: a fixed order of summation
/// that a compiler may still vectorise.
template <typename Real> Real dot(const Real *a, const Real *b, int64_t n) {
  constexpr int64_t lanes = 8;
  Real sums[lanes] = {};
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes)
    for (int64_t lane = 0; lane < lanes; ++lane)
      sums[lane] += a[i + lane] * b[i + lane];
  Real total = 0;
  for (Real sum : sums)
    total += sum;
  for (; i < n; ++i)
    total += a[i] * b[i];
  return total;
}

} // namespace k2c::reference

#endif // LIB_REFERENCE_DOT_H
