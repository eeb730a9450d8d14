//===- NormOps.cpp - rms_norm, residual_add, rope, embed ------------------===//

#include "k2c/Reference/Ops.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace k2c::reference {

float Round::operator()(float x) const {
  if (mode == Rounding::None || std::isnan(x))
    return x;
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  // Half of the last kept unit, less one when that unit's bit is even: ties go
  // to even.
  bits = (bits + 0x7fffu + ((bits >> 16) & 1u)) & 0xffff0000u;
  std::memcpy(&x, &bits, sizeof bits);
  return x;
}

double Round::operator()(double x) const {
  if (mode == Rounding::None || !std::isfinite(x) || x == 0)
    return x;
  // bf16 keeps 8 significant bits down to 2^-126 and then a fixed step; one
  // rounding, straight from double.
  int exponent;
  std::frexp(x, &exponent);
  double step = std::ldexp(1.0, std::max(exponent - 8, -133));
  double rounded = std::nearbyint(x / step) * step;
  return std::fabs(rounded) >= 0x1p128 ? std::copysign(INFINITY, x) : rounded;
}

template <typename Real>
TensorOf<Real> rmsNorm(const TensorOf<Real> &x, const TensorOf<Real> &weight,
                       double eps, Round round) {
  TensorOf<Real> y(x.shape);
  for (int64_t t = 0; t < x.rows(); ++t) {
    Real squares = 0;
    for (int64_t i = 0; i < x.columns(); ++i)
      squares += x.at(t, i) * x.at(t, i);
    Real scale = Real(1) / std::sqrt(squares / Real(x.columns()) + Real(eps));
    for (int64_t i = 0; i < x.columns(); ++i)
      y.at(t, i) = round(weight.data[i] * round(x.at(t, i) * scale));
  }
  return y;
}

template <typename Real>
TensorOf<Real> residualAdd(const TensorOf<Real> &a, const TensorOf<Real> &b,
                           Round round) {
  TensorOf<Real> y(a.shape);
  for (size_t i = 0; i < y.data.size(); ++i)
    y.data[i] = round(a.data[i] + b.data[i]);
  return y;
}

template <typename Real>
TensorOf<Real> rope(const TensorOf<Real> &x, const TensorOf<Real> &cos,
                    const TensorOf<Real> &sin, int64_t heads, int64_t nope,
                    int64_t rope, Round round) {
  TensorOf<Real> y = x;
  for (int64_t t = 0; t < x.rows(); ++t)
    for (int64_t head = 0; head < heads; ++head)
      for (int64_t i = 0; i < rope / 2; ++i) {
        int64_t even = head * (nope + rope) + nope + 2 * i, odd = even + 1;
        Real c = round(cos.at(t, i)), s = round(sin.at(t, i)),
             a = x.at(t, even), b = x.at(t, odd);
        y.at(t, even) = round(round(a * c) - round(b * s));
        y.at(t, odd) = round(round(b * c) + round(a * s));
      }
  return y;
}

template <typename Real>
TensorOf<Real> embed(const Integers &ids, const TensorOf<Real> &table) {
  TensorOf<Real> y({ids.rows(), table.columns()});
  for (int64_t t = 0; t < ids.rows(); ++t)
    std::copy_n(table.row(ids.data[t]), table.columns(), y.row(t));
  return y;
}

#define INSTANTIATE(Real)                                                      \
  template TensorOf<Real> rmsNorm(const TensorOf<Real> &,                      \
                                  const TensorOf<Real> &, double, Round);      \
  template TensorOf<Real> residualAdd(const TensorOf<Real> &,                  \
                                      const TensorOf<Real> &, Round);          \
  template TensorOf<Real> rope(const TensorOf<Real> &, const TensorOf<Real> &, \
                               const TensorOf<Real> &, int64_t, int64_t,       \
                               int64_t, Round);                                \
  template TensorOf<Real> embed(const Integers &, const TensorOf<Real> &);
INSTANTIATE(float)
INSTANTIATE(double)
#undef INSTANTIATE

} // namespace k2c::reference
