//===- LinearOps.cpp - linear, expert_linear, slice, swiglu ---------------===//

#include "Dot.h"
#include "k2c/Reference/Ops.h"

#include <algorithm>
#include <cmath>

namespace k2c::reference {

/// One row of x times row n of a weight; a quantized weight multiplies the
/// partial sum of every block of columns.
template <typename Real>
static Real weightDot(const Real *x, const Weight<Real> &weight, int64_t expert,
                      int64_t n) {
  const Real *w = weight.row(expert, n);
  if (!weight.quantized())
    return dot(x, w, weight.k());
  Real sum = 0;
  for (int64_t k = 0; k < weight.k(); k += weight.block[1])
    sum += dot(x + k, w + k, std::min(weight.block[1], weight.k() - k)) *
           weight.scale(expert, n, k);
  return sum;
}

template <typename Real>
TensorOf<Real> linear(const TensorOf<Real> &x, const Weight<Real> &weight,
                      bool roundResult, Round round) {
  TensorOf<Real> y({x.rows(), weight.n()});
  for (int64_t t = 0; t < x.rows(); ++t)
    for (int64_t n = 0; n < weight.n(); ++n) {
      Real sum = weightDot(x.row(t), weight, 0, n);
      y.at(t, n) = roundResult ? round(sum) : sum;
    }
  return y;
}

template <typename Real>
TensorOf<Real> expertLinear(const TensorOf<Real> &x, const Weight<Real> &weight,
                            const Routing &routing, bool gather, Round round) {
  auto rows = static_cast<int64_t>(routing.tokenOfRow.size());
  TensorOf<Real> y({rows, weight.n()});
  for (int64_t e = 0; e < weight.experts(); ++e)
    for (int64_t r = routing.expertStart[e]; r < routing.expertStart[e + 1];
         ++r)
      for (int64_t n = 0; n < weight.n(); ++n)
        y.at(r, n) = round(
            weightDot(x.row(gather ? routing.tokenOfRow[r] : r), weight, e, n));
  return y;
}

template <typename Real>
TensorOf<Real> slice(const TensorOf<Real> &x, int64_t offset, int64_t size) {
  TensorOf<Real> y({x.rows(), size});
  for (int64_t t = 0; t < x.rows(); ++t)
    std::copy_n(x.row(t) + offset, size, y.row(t));
  return y;
}

template <typename Real>
TensorOf<Real> swiglu(const TensorOf<Real> &gate, const TensorOf<Real> &up,
                      Round round) {
  TensorOf<Real> y(gate.shape);
  for (size_t i = 0; i < y.data.size(); ++i) {
    Real g = gate.data[i], silu = g / (Real(1) + std::exp(-g));
    y.data[i] = round(round(silu) * up.data[i]);
  }
  return y;
}

#define INSTANTIATE(Real)                                                      \
  template TensorOf<Real> linear(const TensorOf<Real> &, const Weight<Real> &, \
                                 bool, Round);                                 \
  template TensorOf<Real> expertLinear(const TensorOf<Real> &,                 \
                                       const Weight<Real> &, const Routing &,  \
                                       bool, Round);                           \
  template TensorOf<Real> slice(const TensorOf<Real> &, int64_t, int64_t);     \
  template TensorOf<Real> swiglu(const TensorOf<Real> &,                       \
                                 const TensorOf<Real> &, Round);
INSTANTIATE(float)
INSTANTIATE(double)
#undef INSTANTIATE

} // namespace k2c::reference
