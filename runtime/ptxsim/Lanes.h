#ifndef RUNTIME_PTXSIM_LANES_H
#define RUNTIME_PTXSIM_LANES_H

#include "runtime/ptxsim/Warp.h"

#include <type_traits>

// A row either is the same as another or has nothing in common with it, and
// lanes do not depend on each other.
#if defined(__clang__)
#define PTXSIM_VECTORIZE                                                       \
  _Pragma("clang loop vectorize(assume_safety) unroll(disable)")
#else
#define PTXSIM_VECTORIZE _Pragma("GCC ivdep")
#endif

/// A loop vectorises only if its body is inlined whole.
#define PTXSIM_INLINE __attribute__((always_inline))

namespace ptxsim {

/// Calls f(lane) for the lanes of mask, lowest first.
template <class F> inline void forLanes(uint32_t mask, F f) {
  for (; mask; mask &= mask - 1)
    f(unsigned(std::countr_zero(mask)));
}

/// The unsigned integer as wide as T.
template <class T>
using BitsOf =
    std::conditional_t<sizeof(T) == 2, uint16_t,
                       std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>;

/// d[l] = v[l] in the lanes of mask.
template <class D>
[[gnu::always_inline]] inline void blendLanes(D *d, const D *v, uint32_t mask) {
  auto *to = reinterpret_cast<BitsOf<D> *>(d);
  auto *from = reinterpret_cast<const BitsOf<D> *>(v);
  PTXSIM_VECTORIZE
  for (unsigned l = 0; l < warpSize; ++l)
    to[l] ^= (to[l] ^ from[l]) & BitsOf<D>(-BitsOf<D>(mask >> l & 1));
}

/// d[l] = f(l) in the lanes of mask. f must be free of side effects and traps:
/// it is also evaluated in the other lanes.
template <class D, class F>
[[gnu::always_inline]] inline void setLanes(D *d, uint32_t mask, F f) {
  if (mask == allLanes) {
    PTXSIM_VECTORIZE
    for (unsigned l = 0; l < warpSize; ++l)
      d[l] = f(l);
    return;
  }
  alignas(64) D v[warpSize];
  PTXSIM_VECTORIZE
  for (unsigned l = 0; l < warpSize; ++l)
    v[l] = f(l);
  blendLanes(d, v, mask);
}

/// A handler d = F(a) from a function object type: D F::operator()(A).
template <class D, class A, class F>
void unary(Warp &w, const Op &op, uint32_t mask) {
  const A *a = w.row<A>(op.a);
  setLanes(w.row<D>(op.d), mask,
           [=](unsigned l) PTXSIM_INLINE { return F()(a[l]); });
}

/// d = F(a, b).
template <class D, class A, class B, class F>
void binary(Warp &w, const Op &op, uint32_t mask) {
  const A *a = w.row<A>(op.a);
  const B *b = w.row<B>(op.b);
  setLanes(w.row<D>(op.d), mask,
           [=](unsigned l) PTXSIM_INLINE { return F()(a[l], b[l]); });
}

/// d = F(a, b, c).
template <class D, class A, class B, class C, class F>
void ternary(Warp &w, const Op &op, uint32_t mask) {
  const A *a = w.row<A>(op.a);
  const B *b = w.row<B>(op.b);
  const C *c = w.row<C>(op.c);
  setLanes(w.row<D>(op.d), mask,
           [=](unsigned l) PTXSIM_INLINE { return F()(a[l], b[l], c[l]); });
}

} // namespace ptxsim

#endif // RUNTIME_PTXSIM_LANES_H
