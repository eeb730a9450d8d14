#include "runtime/ptxsim/numeric/BlockSum.h"

#include "runtime/ptxsim/numeric/Half.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

using namespace ptxsim;

namespace {

typedef double D4 __attribute__((vector_size(32)));
typedef float F4 __attribute__((vector_size(16)));
typedef int32_t I4 __attribute__((vector_size(16)));
typedef int64_t L4 __attribute__((vector_size(32)));
typedef int32_t I8 __attribute__((vector_size(32)));

/// Of a zero: less than that of any product, also when two are added.
constexpr int32_t noExponent = -0x10000000;

int32_t exponentOf(float x, int least) {
  if (x == 0)
    return noExponent;
  const int32_t biased = int32_t(std::bit_cast<uint32_t>(x) >> 23 & 255);
  return std::max(std::max(biased, 1) - 127, least);
}
bool isSpecial(float x) {
  return (std::bit_cast<uint32_t>(x) >> 23 & 255) == 255;
}

int leastExponentOf(MmaElement e) {
  switch (e) {
  case MmaElement::F16:
  case MmaElement::E5M2:
    return -14;
  case MmaElement::E4M3:
    return -6;
  default:
    return -126;
  }
}

/// Cut off to a float, towards zero; beyond its range an infinity.
float cutOff(double x, int fraction = 23) {
  const double magnitude = std::fabs(x);
  if (magnitude >= 0x1p-126) {
    const uint64_t bits =
        std::bit_cast<uint64_t>(x) & ~((1ull << (52 - fraction)) - 1);
    return float(std::bit_cast<double>(bits));
  }
  return std::copysign(float(std::trunc(magnitude * 0x1p149)) * 0x1p-149f,
                       float(x));
}

/// Rounded to f16, to nearest even, and widened. The float in between is
/// rounded to odd, which keeps the second rounding right.
float roundToHalf(double x) {
  float f = cutOff(x);
  if (double(f) != x)
    f = std::bit_cast<float>(std::bit_cast<uint32_t>(f) | 1);
  return HalfF16::widen(HalfF16::narrow(f));
}

/// With infinities or NaN: what is finite does not matter.
float sumOfSpecials(const float *a, const float (*b)[8], unsigned column,
                    unsigned k, float c) {
  double sum = double(c);
  for (unsigned i = 0; i < k; ++i)
    sum += double(a[i]) * double(b[i][column]);
  return float(sum);
}

template <class V> V at(const void *p) {
  V v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

/// One block; `ea` are a's exponents.
void addBlock(const BlockModel &m, const float *a, const int32_t *ea,
              const float (*b)[8], const int32_t (*eb)[8], unsigned k,
              float *d) {
  I8 most = I8{} + m.leastExponent;
  for (unsigned i = 0; i < k; ++i) {
    const I8 e = at<I8>(eb[i]) + ea[i];
    most = e > most ? e : most;
  }
  for (unsigned c = 0; c < 8; ++c)
    most[c] = std::max(most[c], exponentOf(d[c], -126));
  for (unsigned half = 0; half < 8; half += 4) {
    L4 up, down;
    for (unsigned c = 0; c < 4; ++c) {
      const int64_t shift = m.fraction - most[half + c];
      up[c] = (1023 + shift) << 52, down[c] = (1023 - shift) << 52;
    }
    const D4 scale = D4(up);
    const auto cut = [&](D4 x) { // to an integer, towards zero
      return __builtin_convertvector(__builtin_convertvector(x * scale, I4),
                                     D4);
    };
    D4 sum = cut(__builtin_convertvector(at<F4>(d + half), D4));
    for (unsigned i = 0; i < k; ++i)
      sum +=
          cut(__builtin_convertvector(at<F4>(b[i] + half), D4) * double(a[i]));
    sum *= D4(down); // exact
    for (unsigned c = 0; c < 4; ++c)
      d[half + c] =
          m.halfResult ? roundToHalf(sum[c]) : cutOff(sum[c], m.resultBits);
  }
}

} // namespace

BlockModel ptxsim::blockModel(Numerics mode, MmaElement a, MmaElement b,
                              MmaAccumulator accumulator) {
  const bool h100 = mode != Numerics::A100,
             half = accumulator == MmaAccumulator::F16;
  BlockModel m;
  m.leastA = leastExponentOf(a), m.leastB = leastExponentOf(b);
  m.halfResult = half;
  m.resultBits = 23;
  m.leastExponent = h100 ? -133 : -132;
  if (a == MmaElement::E4M3 || a == MmaElement::E5M2) {
    m.block = 32, m.fraction = m.resultBits = 13, m.leastExponent = -133;
    return m;
  }
  m.block = (a == MmaElement::TF32 ? 8 : 16) / (h100 ? 1 : 2);
  m.fraction = h100 ? 25 : 24;
  if (half)
    m.leastExponent = h100 ? -21 : -20;
  return m;
}

void BlockColumns::finish(unsigned k, int leastExponent) {
  special = false;
  for (unsigned i = 0; i < k; ++i)
    for (unsigned c = 0; c < 8; ++c) {
      exponent[i][c] = exponentOf(value[i][c], leastExponent);
      special |= isSpecial(value[i][c]);
    }
}

void ptxsim::addBlocks(const BlockModel &m, const float *a,
                       const BlockColumns &b, unsigned k, float *d) {
  int32_t ea[BlockColumns::most];
  bool special = b.special;
  for (unsigned i = 0; i < k; ++i) {
    ea[i] = exponentOf(a[i], m.leastA);
    special |= isSpecial(a[i]);
  }
  for (unsigned at = 0; at < k; at += m.block) {
    const unsigned n = std::min(m.block, k - at);
    float old[8];
    bool any = special;
    for (unsigned c = 0; c < 8; ++c)
      old[c] = d[c], any |= isSpecial(d[c]);
    if (!any) {
      addBlock(m, a + at, ea + at, b.value + at, b.exponent + at, n, d);
      continue;
    }
    // Columns without infinities are computed as ever.
    float clean[BlockColumns::most][8];
    bool isClean[8];
    for (unsigned c = 0; c < 8; ++c) {
      isClean[c] = !isSpecial(old[c]);
      for (unsigned i = 0; i < n; ++i)
        isClean[c] &= !isSpecial(a[at + i]) && !isSpecial(b.value[at + i][c]);
    }
    int32_t exponents[BlockColumns::most][8];
    float aClean[BlockColumns::most];
    for (unsigned i = 0; i < n; ++i) {
      aClean[i] = isSpecial(a[at + i]) ? 0 : a[at + i];
      for (unsigned c = 0; c < 8; ++c) {
        clean[i][c] = isClean[c] ? b.value[at + i][c] : 0;
        exponents[i][c] = isClean[c] ? b.exponent[at + i][c] : noExponent;
      }
    }
    for (unsigned c = 0; c < 8; ++c)
      d[c] = isClean[c] ? old[c] : 0;
    addBlock(m, aClean, ea + at, clean, exponents, n, d);
    for (unsigned c = 0; c < 8; ++c)
      if (!isClean[c])
        d[c] = sumOfSpecials(a + at, b.value + at, c, n, old[c]);
  }
}
