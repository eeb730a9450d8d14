#include "runtime/ptxsim/numeric/Wgmma.h"

#include "runtime/ptxsim/numeric/BlockSum.h"
#include "runtime/ptxsim/numeric/Element.h"

#include <algorithm>
#include <array>
#include <cstring>

using namespace ptxsim;

namespace {

typedef float F8 __attribute__((vector_size(32)));
typedef uint32_t W8 __attribute__((vector_size(32)));
typedef int32_t I8 __attribute__((vector_size(32)));

constexpr unsigned columnOrder[8] = {0, 2, 4, 6, 1, 3, 5, 7};

/// All elements of a row.
template <MmaElement type> void widenRow(const uint8_t *row, uint32_t *to) {
  constexpr unsigned n = type == MmaElement::TF32 ? 8
                         : type == MmaElement::F16 || type == MmaElement::BF16
                             ? 16
                             : 32;
  if constexpr (type == MmaElement::E4M3 || type == MmaElement::E5M2) {
    // 256 values are a table.
    static const auto table = [] {
      std::array<uint32_t, 256> t;
      for (unsigned i = 0; i < 256; ++i) {
        const uint8_t code = uint8_t(i);
        t[i] = widenElement(type, &code, 0);
      }
      return t;
    }();
    for (unsigned i = 0; i < n; ++i)
      to[i] = table[row[i]];
  } else {
    for (unsigned i = 0; i < n; ++i)
      to[i] = widenElement(type, row, i);
  }
}

using WidenRow = void (*)(const uint8_t *, uint32_t *);
WidenRow widenerOf(MmaElement type) {
  switch (type) {
  case MmaElement::BF16:
    return widenRow<MmaElement::BF16>;
  case MmaElement::F16:
    return widenRow<MmaElement::F16>;
  case MmaElement::TF32:
    return widenRow<MmaElement::TF32>;
  case MmaElement::E4M3:
    return widenRow<MmaElement::E4M3>;
  case MmaElement::E5M2:
    return widenRow<MmaElement::E5M2>;
  case MmaElement::S8:
    return widenRow<MmaElement::S8>;
  case MmaElement::U8:
    return widenRow<MmaElement::U8>;
  }
  return nullptr;
}

// --- accumulators: row r of 16, columns 8j .. 8j+7 in columnOrder ---

/// Registers 4j, 4j+1 hold rows 0 to 7, 4j+2, 4j+3 rows 8 to 15; lanes 4g to
/// 4g+3 are row g.
template <class V> struct Wide {
  static V read(uint32_t *const *d, unsigned r, unsigned j) {
    const unsigned reg = 4 * j + r / 8 * 2, lane = r % 8 * 4;
    V v;
    std::memcpy(&v, d[reg] + lane, 16);
    std::memcpy(reinterpret_cast<char *>(&v) + 16, d[reg + 1] + lane, 16);
    return v;
  }
  static void write(uint32_t *const *d, unsigned r, unsigned j, V v) {
    if constexpr (std::is_same_v<V, F8>)
      v = F8(v == v ? W8(v) : W8{} + 0x7fffffff);
    const unsigned reg = 4 * j + r / 8 * 2, lane = r % 8 * 4;
    std::memcpy(d[reg] + lane, &v, 16);
    std::memcpy(d[reg + 1] + lane, reinterpret_cast<char *>(&v) + 16, 16);
  }
};
/// f16: one register has both columns.
struct Halves {
  static F8 read(uint32_t *const *d, unsigned r, unsigned j) {
    const uint32_t *at = d[2 * j + r / 8] + r % 8 * 4;
    F8 v;
    for (unsigned t = 0; t < 4; ++t) {
      v[t] = HalfF16::widen(uint16_t(at[t]));
      v[t + 4] = HalfF16::widen(uint16_t(at[t] >> 16));
    }
    return v;
  }
  static void write(uint32_t *const *d, unsigned r, unsigned j, F8 v) {
    uint32_t *at = d[2 * j + r / 8] + r % 8 * 4;
    for (unsigned t = 0; t < 4; ++t)
      at[t] = uint32_t(HalfF16::narrow(v[t + 4])) << 16 | HalfF16::narrow(v[t]);
  }
};

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

template <class V> V splat(uint32_t bits) { return V(W8{} + bits); }

/// Four rows and J times 8 columns.
template <class V, class Acc, unsigned J>
[[gnu::always_inline]] inline void
tile(uint32_t *const *d, const uint32_t *a, const uint32_t *b, unsigned r,
     unsigned j, unsigned k, unsigned n, bool accumulate) {
  V acc[4][J];
  for (unsigned i = 0; i < 4; ++i)
    for (unsigned c = 0; c < J; ++c)
      acc[i][c] = accumulate ? Acc::read(d, r + i, j + c) : V{};
  const uint32_t *bk = b + 8 * j;
  for (unsigned x = 0; x < k; ++x, bk += n) {
    V bv[J];
    for (unsigned c = 0; c < J; ++c)
      std::memcpy(&bv[c], bk + 8 * c, 32);
    for (unsigned i = 0; i < 4; ++i) {
      const V av = splat<V>(a[(r + i) * 32 + x]);
      for (unsigned c = 0; c < J; ++c)
        acc[i][c] = multiplyAdd(av, bv[c], acc[i][c]);
    }
  }
  for (unsigned i = 0; i < 4; ++i)
    for (unsigned c = 0; c < J; ++c)
      Acc::write(d, r + i, j + c, acc[i][c]);
}

template <class V, class Acc>
void product(uint32_t *const *d, const uint32_t *a, const uint32_t *b,
             unsigned k, unsigned n, bool accumulate) {
  for (unsigned r = 0; r < 16; r += 4)
    for (unsigned j = 0; j < n / 8;) {
      const unsigned left = n / 8 - j;
      if (left == 1) {
        tile<V, Acc, 1>(d, a, b, r, j, k, n, accumulate);
        j += 1;
      } else if (left == 2 || left == 4) {
        tile<V, Acc, 2>(d, a, b, r, j, k, n, accumulate);
        j += 2;
      } else {
        tile<V, Acc, 3>(d, a, b, r, j, k, n, accumulate);
        j += 3;
      }
    }
}

/// In a numerics mode of hardware.
template <class Acc>
void productOfBlocks(const WgmmaShape &s, Numerics mode, uint32_t *const *d,
                     const uint32_t *a, const uint32_t *b, bool accumulate) {
  const BlockModel model = blockModel(mode, s.a, s.b, s.accumulator);
  const unsigned k = s.k();
  float rows[16][BlockColumns::most];
  std::memcpy(rows, a, sizeof rows);
  BlockColumns columns;
  for (unsigned j = 0; j < s.n / 8; ++j) {
    for (unsigned x = 0; x < k; ++x)
      std::memcpy(columns.value[x], b + size_t(x) * s.n + 8 * j, 32);
    columns.finish(k, model.leastB);
    for (unsigned r = 0; r < 16; ++r) {
      F8 v = accumulate ? Acc::read(d, r, j) : F8{};
      alignas(32) float sums[8];
      std::memcpy(sums, &v, 32);
      addBlocks(model, rows[r], columns, k, sums);
      std::memcpy(&v, sums, 32);
      Acc::write(d, r, j, v);
    }
  }
}

} // namespace

void ptxsim::widenB(const WgmmaShape &s, const uint8_t *rows, WideB &b) {
  const unsigned k = s.k(), n = s.n;
  b.resize(size_t(k) * n);
  const WidenRow widener = widenerOf(s.b);
  for (unsigned j = 0; j < n; j += 8) {
    alignas(32) uint32_t block[8][32];
    for (unsigned c = 0; c < 8; ++c)
      widener(rows + (j + columnOrder[c]) * 32, block[c]);
    for (unsigned x = 0; x < k; ++x) {
      uint32_t *to = b.data() + size_t(x) * n + j;
      for (unsigned c = 0; c < 8; ++c)
        to[c] = block[c][x];
    }
  }
}

void ptxsim::widenTransposedB(const WgmmaShape &s, const uint16_t *rows,
                              WideB &b) {
  b.resize(size_t(s.k()) * s.n);
  for (size_t i = 0; i < b.size(); i += 8)
    for (unsigned c = 0; c < 8; ++c)
      b[i + c] = widenElement(
          s.b, reinterpret_cast<const uint8_t *>(rows + i + columnOrder[c]), 0);
}

void ptxsim::wgmma(const WgmmaShape &s, uint32_t *const *d, const uint8_t *a,
                   const WideB &b, bool negate, bool accumulate,
                   Numerics mode) {
  alignas(64) uint32_t wide[16 * 32];
  const WidenRow widener = widenerOf(s.a);
  for (unsigned r = 0; r < 16; ++r)
    widener(a + r * 32, wide + r * 32);
  if (negate)
    for (uint32_t &bits : wide)
      bits ^= 0x80000000;
  if (mode != Numerics::Exact32 && s.accumulator == MmaAccumulator::F32)
    return productOfBlocks<Wide<F8>>(s, mode, d, wide, b.data(), accumulate);
  if (mode != Numerics::Exact32 && s.accumulator == MmaAccumulator::F16)
    return productOfBlocks<Halves>(s, mode, d, wide, b.data(), accumulate);
  switch (s.accumulator) {
  case MmaAccumulator::F32:
    return product<F8, Wide<F8>>(d, wide, b.data(), s.k(), s.n, accumulate);
  case MmaAccumulator::F16:
    return product<F8, Halves>(d, wide, b.data(), s.k(), s.n, accumulate);
  case MmaAccumulator::S32:
    return product<I8, Wide<I8>>(d, wide, b.data(), s.k(), s.n, accumulate);
  case MmaAccumulator::S32Saturated: {
    // The products alone cannot overflow; their sum with D is clamped.
    std::vector<uint32_t> old(size_t(s.registers()) * 32);
    for (unsigned i = 0; i < s.registers(); ++i)
      std::memcpy(&old[size_t(i) * 32], d[i], 128);
    product<I8, Wide<I8>>(d, wide, b.data(), s.k(), s.n, false);
    if (accumulate)
      for (unsigned i = 0; i < s.registers(); ++i)
        for (unsigned l = 0; l < 32; ++l)
          d[i][l] = uint32_t(std::clamp<int64_t>(
              int64_t(int32_t(d[i][l])) + int32_t(old[size_t(i) * 32 + l]),
              INT32_MIN, INT32_MAX));
    return;
  }
  }
}
