// Where an element lives (g = lane / 4, t = lane % 4, E elements per register):
//   A register 2c   holds row g,     k = 4Ec + Et .. + E-1; 2c+1 holds row g +
//   8 B register c    holds column g of the same k C register 0, 1 hold row g,
//   columns 2t, 2t + 1;    2, 3 hold row g + 8
// A vector of 8 lanes 8q..8q+7 of an accumulator is thus rows 2q and 2q+1 at
// columns 0, 2, 4, 6 (registers 0 and 2) or 1, 3, 5, 7: A's elements are
// broadcast within half a vector, B's columns are the same in both halves.

#include "runtime/ptxsim/numeric/Mma.h"

#include "runtime/ptxsim/numeric/Half.h"

#include <cstring>
#include <type_traits>

using namespace ptxsim;

namespace {

typedef float F8 __attribute__((vector_size(32)));
typedef uint32_t W8 __attribute__((vector_size(32)));
typedef int32_t I8 __attribute__((vector_size(32)));
typedef uint16_t H8 __attribute__((vector_size(16)));

template <class V> V load(const uint32_t *row, unsigned q) {
  V v;
  std::memcpy(&v, row + 8 * q, sizeof v);
  return v;
}
template <class V> void store(uint32_t *row, unsigned q, V v) {
  std::memcpy(row + 8 * q, &v, sizeof v);
}

F8 multiplyAdd(F8 a, F8 b, F8 c) {
#if defined(__clang__)
  return __builtin_elementwise_fma(a, b, c);
#else
  for (unsigned i = 0; i < 8; ++i)
    c[i] = __builtin_fmaf(a[i], b[i], c[i]);
  return c;
#endif
}
I8 multiplyAdd(I8 a, I8 b, I8 c) { return I8(W8(a) * W8(b) + W8(c)); }

// --- element types: widen(v, e) is element e of every register ---

/// Floats shorter than f32, from their magnitude placed as a float's exponent
/// and mantissa; without arithmetic on subnormals.
template <int bias> F8 rebias(W8 magnitude, W8 sign, W8 isSpecial) {
  constexpr uint32_t shift = uint32_t(127 - bias) << 23, one = 1u << 23;
  W8 lowest = W8{} + (shift + one);
  W8 subnormal = W8(F8(magnitude + shift + one) - F8(lowest));
  W8 bits = magnitude < one ? subnormal : magnitude + shift;
  bits = isSpecial != 0 ? magnitude | 0x7f800000 : bits;
  return F8(bits | sign);
}

struct BF16Element {
  using Vector = F8;
  static constexpr unsigned perRegister = 2;
  static F8 widen(W8 v, unsigned e) {
    return F8(e == 0 ? v << 16 : v & 0xffff0000);
  }
};
struct F16Element {
  using Vector = F8;
  static constexpr unsigned perRegister = 2;
  static F8 widen(W8 v, unsigned e) {
    W8 h = e == 0 ? v & 0xffff : v >> 16;
#if defined(__clang__) && defined(__F16C__)
    typedef _Float16 Half8 __attribute__((vector_size(16)));
    H8 packed = __builtin_convertvector(h, H8);
    return __builtin_convertvector(Half8(packed), F8);
#else
    W8 magnitude = (h & 0x7fff) << 13;
    return rebias<15>(magnitude, (h & 0x8000) << 16,
                      W8((h & 0x7c00) == 0x7c00));
#endif
  }
};
struct TF32Element {
  using Vector = F8;
  static constexpr unsigned perRegister = 1;
  static F8 widen(W8 v, unsigned) { return F8(v & 0xffffe000); }
};
struct E4M3Element {
  using Vector = F8;
  static constexpr unsigned perRegister = 4;
  static F8 widen(W8 v, unsigned e) {
    W8 b = v >> (8 * e);
    return rebias<7>((b & 0x7f) << 20, (b & 0x80) << 24,
                     W8((b & 0x7f) == 0x7f));
  }
};
struct E5M2Element {
  using Vector = F8;
  static constexpr unsigned perRegister = 4;
  static F8 widen(W8 v, unsigned e) {
    W8 b = v >> (8 * e);
    return rebias<15>((b & 0x7f) << 21, (b & 0x80) << 24,
                      W8((b & 0x7c) == 0x7c));
  }
};
struct S8Element {
  using Vector = I8;
  static constexpr unsigned perRegister = 4;
  static I8 widen(W8 v, unsigned e) { return I8(v << (24 - 8 * e)) >> 24; }
};
struct U8Element {
  using Vector = I8;
  static constexpr unsigned perRegister = 4;
  static I8 widen(W8 v, unsigned e) { return I8((v >> (8 * e)) & 0xff); }
};

// --- accumulators: even columns in v[0], odd ones in v[1] ---

struct F32Accumulator {
  static constexpr unsigned registersPerRow = 2;
  static void read(F8 *v, const uint32_t *const *c, unsigned q) {
    v[0] = load<F8>(c[0], q), v[1] = load<F8>(c[1], q);
  }
  static void write(uint32_t *const *d, unsigned q, const F8 *v) {
    W8 nan = W8{} + 0x7fffffff;
    for (unsigned i = 0; i < 2; ++i)
      store(d[i], q, v[i] == v[i] ? W8(v[i]) : nan);
  }
};
struct F16Accumulator {
  static constexpr unsigned registersPerRow = 1;
  static void read(F8 *v, const uint32_t *const *c, unsigned q) {
    W8 pairs = load<W8>(c[0], q);
    v[0] = F16Element::widen(pairs, 0), v[1] = F16Element::widen(pairs, 1);
  }
  static void write(uint32_t *const *d, unsigned q, const F8 *v) {
    for (unsigned i = 0; i < 8; ++i)
      d[0][8 * q + i] =
          uint32_t(HalfF16::narrow(v[1][i])) << 16 | HalfF16::narrow(v[0][i]);
  }
};
struct S32Accumulator {
  static constexpr unsigned registersPerRow = 2;
  static void read(I8 *v, const uint32_t *const *c, unsigned q) {
    v[0] = load<I8>(c[0], q), v[1] = load<I8>(c[1], q);
  }
  static void write(uint32_t *const *d, unsigned q, const I8 *v) {
    store(d[0], q, v[0]), store(d[1], q, v[1]);
  }
};

template <unsigned t, class V> V broadcastInHalves(V v) {
  return __builtin_shufflevector(v, v, t, t, t, t, t + 4, t + 4, t + 4, t + 4);
}

/// B in the order it is used: [k][0] columns 0, 2, 4, 6 twice, [k][1] columns
/// 1, 3, 5, 7 twice.
template <class B, class Vector, unsigned k>
[[gnu::always_inline]] inline void arrange(Vector (*out)[2],
                                           const uint32_t *const *b) {
  constexpr unsigned E = B::perRegister;
  for (unsigned c = 0; c < k / (4 * E); ++c) {
    // Vector q holds columns 2q and 2q+1, each with t = 0..3: a 4x4 transpose
    // in both halves leaves, for every t, the even columns and the odd columns.
    W8 y0 = load<W8>(b[c], 0), y1 = load<W8>(b[c], 1), y2 = load<W8>(b[c], 2),
       y3 = load<W8>(b[c], 3);
    W8 u0 = __builtin_shufflevector(y0, y1, 0, 8, 1, 9, 4, 12, 5, 13);
    W8 u1 = __builtin_shufflevector(y0, y1, 2, 10, 3, 11, 6, 14, 7, 15);
    W8 u2 = __builtin_shufflevector(y2, y3, 0, 8, 1, 9, 4, 12, 5, 13);
    W8 u3 = __builtin_shufflevector(y2, y3, 2, 10, 3, 11, 6, 14, 7, 15);
    W8 columns[4] = {
        __builtin_shufflevector(u0, u2, 0, 1, 8, 9, 4, 5, 12, 13),
        __builtin_shufflevector(u0, u2, 2, 3, 10, 11, 6, 7, 14, 15),
        __builtin_shufflevector(u1, u3, 0, 1, 8, 9, 4, 5, 12, 13),
        __builtin_shufflevector(u1, u3, 2, 3, 10, 11, 6, 7, 14, 15)};
    for (unsigned t = 0; t < 4; ++t)
      for (unsigned e = 0; e < E; ++e) {
        Vector v = B::widen(columns[t], e);
        Vector *to = out[4 * E * c + E * t + e];
        to[0] = __builtin_shufflevector(v, v, 0, 1, 2, 3, 0, 1, 2, 3);
        to[1] = __builtin_shufflevector(v, v, 4, 5, 6, 7, 4, 5, 6, 7);
      }
  }
}

/// One step of four k groups t: the products of register c of A.
template <unsigned t, unsigned E, class Vector>
[[gnu::always_inline]] inline void
step(Vector (*acc)[2], const Vector (*a)[2][E], const Vector (*b)[2]) {
  for (unsigned e = 0; e < E; ++e)
    for (unsigned q = 0; q < 2; ++q)
      for (unsigned half = 0; half < 2; ++half) {
        Vector v = broadcastInHalves<t>(a[q][half][e]);
        Vector *to = acc[2 * q + half];
        to[0] = multiplyAdd(v, b[E * t + e][0], to[0]);
        to[1] = multiplyAdd(v, b[E * t + e][1], to[1]);
      }
}

template <class A, class B, class C, unsigned k>
void mma(uint32_t *const *d, const uint32_t *const *a, const uint32_t *const *b,
         const uint32_t *const *c) {
  using Vector = typename A::Vector;
  static_assert(A::perRegister == B::perRegister);
  constexpr unsigned E = A::perRegister, R = C::registersPerRow;
  Vector bv[k][2];
  arrange<B, Vector, k>(bv, b);
  // Two q at a time: eight independent chains. A and C of these lanes are read
  // before D of these lanes is written, as registers may be the same.
  for (unsigned q = 0; q < 4; q += 2) {
    Vector acc[4][2];
    for (unsigned i = 0; i < 4; ++i)
      C::read(acc[i], c + R * (i % 2), q + i / 2);
    for (unsigned r = 0; r < k / (4 * E); ++r) {
      Vector av[2][2][E];
      for (unsigned i = 0; i < 4; ++i) {
        W8 raw = load<W8>(a[2 * r + i % 2], q + i / 2);
        for (unsigned e = 0; e < E; ++e)
          av[i / 2][i % 2][e] = A::widen(raw, e);
      }
      const Vector(*at)[2] = bv + 4 * E * r;
      step<0, E>(acc, av, at);
      step<1, E>(acc, av, at);
      step<2, E>(acc, av, at);
      step<3, E>(acc, av, at);
    }
    for (unsigned i = 0; i < 4; ++i)
      C::write(d + R * (i % 2), q + i / 2, acc[i]);
  }
}

/// .satfinite on integers: rare, so in 64 bits and one element at a time.
template <class A, class B, unsigned k>
void mmaSaturated(uint32_t *const *d, const uint32_t *const *a,
                  const uint32_t *const *b, const uint32_t *const *c) {
  auto element = [](auto type, uint32_t word, unsigned e) {
    return int64_t(decltype(type)::widen(W8{} + word, e)[0]);
  };
  uint32_t result[4][32];
  for (unsigned row = 0; row < 16; ++row)
    for (unsigned column = 0; column < 8; ++column) {
      unsigned reg = row / 8 * 2 + column % 2, lane = row % 8 * 4 + column / 2;
      int64_t sum = int32_t(c[reg][lane]);
      for (unsigned i = 0; i < k; ++i) {
        unsigned r = i / 16, t = i / 4 % 4, e = i % 4;
        sum += element(A(), a[2 * r + row / 8][row % 8 * 4 + t], e) *
               element(B(), b[r][column * 4 + t], e);
      }
      sum = sum < INT32_MIN ? INT32_MIN : sum > INT32_MAX ? INT32_MAX : sum;
      result[reg][lane] = uint32_t(sum);
    }
  for (unsigned reg = 0; reg < 4; ++reg)
    std::memcpy(d[reg], result[reg], sizeof result[reg]);
}

template <class A, class B, unsigned k>
MmaFn floatForm(MmaAccumulator accumulator) {
  switch (accumulator) {
  case MmaAccumulator::F32:
    return mma<A, B, F32Accumulator, k>;
  case MmaAccumulator::F16:
    // Only f16 and the 8-bit types have f16 accumulators.
    if constexpr (!std::is_same_v<A, BF16Element> &&
                  !std::is_same_v<A, TF32Element>)
      return mma<A, B, F16Accumulator, k>;
    return nullptr;
  default:
    return nullptr;
  }
}

template <class A, class B, unsigned small, unsigned large>
MmaFn floatForms(const MmaShape &s) {
  return s.k == small   ? floatForm<A, B, small>(s.accumulator)
         : s.k == large ? floatForm<A, B, large>(s.accumulator)
                        : nullptr;
}

template <class A, class B> MmaFn integerForms(const MmaShape &s) {
  if (s.accumulator == MmaAccumulator::S32)
    return s.k == 16   ? mma<A, B, S32Accumulator, 16>
           : s.k == 32 ? mma<A, B, S32Accumulator, 32>
                       : nullptr;
  if (s.accumulator == MmaAccumulator::S32Saturated)
    return s.k == 16   ? mmaSaturated<A, B, 16>
           : s.k == 32 ? mmaSaturated<A, B, 32>
                       : nullptr;
  return nullptr;
}

} // namespace

MmaFn ptxsim::mmaExact32(const MmaShape &s) {
  using enum MmaElement;
  if (s.a == BF16 && s.b == BF16)
    return floatForms<BF16Element, BF16Element, 8, 16>(s);
  if (s.a == F16 && s.b == F16)
    return floatForms<F16Element, F16Element, 8, 16>(s);
  if (s.a == TF32 && s.b == TF32)
    return floatForms<TF32Element, TF32Element, 4, 8>(s);
  if (s.a == E4M3 && s.b == E4M3)
    return floatForms<E4M3Element, E4M3Element, 16, 32>(s);
  if (s.a == E4M3 && s.b == E5M2)
    return floatForms<E4M3Element, E5M2Element, 16, 32>(s);
  if (s.a == E5M2 && s.b == E4M3)
    return floatForms<E5M2Element, E4M3Element, 16, 32>(s);
  if (s.a == E5M2 && s.b == E5M2)
    return floatForms<E5M2Element, E5M2Element, 16, 32>(s);
  if (s.a == S8 && s.b == S8)
    return integerForms<S8Element, S8Element>(s);
  if (s.a == S8 && s.b == U8)
    return integerForms<S8Element, U8Element>(s);
  if (s.a == U8 && s.b == S8)
    return integerForms<U8Element, S8Element>(s);
  if (s.a == U8 && s.b == U8)
    return integerForms<U8Element, U8Element>(s);
  return nullptr;
}
