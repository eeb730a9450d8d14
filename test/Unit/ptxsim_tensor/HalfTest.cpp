// Arithmetic on f16 and bf16 is one rounding of the exact result.

#include "runtime/ptxsim/numeric/Half.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

using namespace ptxsim;

namespace {

/// The value of a pattern by the definition of the formats.
template <class H> double valueOf(uint16_t h) {
  constexpr int m = H::format.mantissaBits, bias = H::format.bias();
  int e = (h & 0x7fff) >> m, f = h & ((1 << m) - 1);
  double v =
      e ? std::ldexp((1 << m) + f, e - bias - m) : std::ldexp(f, 1 - bias - m);
  return h & 0x8000 ? -v : v;
}

/// The nearest pattern to sum + error (an unevaluated sum, |error| at most half
/// a unit of the last place of sum): by search among all patterns, ties to
/// even.
template <class H> uint16_t nearest(double sum, double error) {
  if (sum == 0 && error == 0)
    return std::signbit(sum) ? 0x8000 : 0;
  bool negative = sum < 0;
  double s = std::fabs(sum), e = negative ? -error : error;
  // Positive patterns are ordered by their value: the last one not above.
  uint16_t low = 0, high = H::infinity;
  auto below = [&](double v) { return v < s || (v == s && e >= 0); };
  while (low + 1 < high) {
    uint16_t middle = uint16_t((low + high) / 2);
    (below(valueOf<H>(middle)) ? low : high) = middle;
  }
  // valueOf(infinity) is the number that would come next: the rounding rule
  // for overflow.
  double a = valueOf<H>(low), b = valueOf<H>(high);
  double mid = a + (b - a) / 2, d = (s - mid) + e;
  uint16_t h = d > 0 ? high : d < 0 ? low : (low & 1) ? high : low;
  return uint16_t(h | (negative ? 0x8000 : 0));
}

/// x + y as an unevaluated exact sum.
std::pair<double, double> twoSum(double x, double y) {
  double s = x + y, p = s - x;
  return {s, (x - (s - p)) + (y - p)};
}

template <class H> uint16_t finite(std::mt19937 &random) {
  for (;;) {
    uint16_t h = uint16_t(random());
    if ((h & 0x7fff) < H::infinity)
      return h;
  }
}

template <class H> void checkArithmetic(unsigned seed) {
  std::mt19937 random(seed);
  for (int i = 0; i < 2000000; ++i) {
    uint16_t a = finite<H>(random), b = finite<H>(random),
             c = finite<H>(random);
    if (i % 3 == 1) // exponents close together: cancellation and ties
      b = uint16_t((b & ~H::infinity) | (a & H::infinity));
    double x = valueOf<H>(a), y = valueOf<H>(b);
    double product = x * y; // exact
    auto sum = twoSum(x, y);
    ASSERT_EQ(addHalf<H>(a, b), (nearest<H>(sum.first, sum.second)))
        << std::hex << a << " + " << b;
    ASSERT_EQ(mulHalf<H>(a, b), (nearest<H>(product, 0)))
        << std::hex << a << " * " << b;
    if (i % 3 == 2 && product != 0) {
      // An addend of about half a unit of the product's last place.
      uint16_t p = nearest<H>(product, 0);
      int e =
          ((p & 0x7fff) >> H::format.mantissaBits) - H::format.mantissaBits - 1;
      if (e > 0 && (p & 0x7fff) < H::infinity)
        c = uint16_t((c & 0x8003) | e << H::format.mantissaBits);
    }
    auto fused = twoSum(product, valueOf<H>(c));
    ASSERT_EQ(fmaHalf<H>(a, b, c), (nearest<H>(fused.first, fused.second)))
        << std::hex << a << " * " << b << " + " << c;
  }
}

TEST(Half, F16ArithmeticRoundsOnce) { checkArithmetic<HalfF16>(1); }
TEST(Half, BF16ArithmeticRoundsOnce) { checkArithmetic<HalfBF16>(2); }

TEST(Half, BF16FmaSeesAddendsFarBelow) {
  // (1 + 2^-4)^2 = 1 + 2^-3 + 2^-8 lies half way between two numbers: an
  // addend of any size decides.
  uint16_t a = 0x3f88, tiny = 0x0001, minusTiny = 0x8001;
  EXPECT_EQ(fmaHalf<HalfBF16>(a, a, 0), 0x3f90);
  EXPECT_EQ(fmaHalf<HalfBF16>(a, a, tiny), 0x3f91);
  EXPECT_EQ(fmaHalf<HalfBF16>(a, a, minusTiny), 0x3f90);
}

TEST(Half, SpecialOperands) {
  const uint16_t inf = 0x7c00, nan = 0x7e01, one = 0x3c00, minusInf = 0xfc00;
  EXPECT_EQ(addHalf<HalfF16>(inf, minusInf), 0x7fff);
  EXPECT_EQ(addHalf<HalfF16>(inf, one), inf);
  EXPECT_EQ(mulHalf<HalfF16>(inf, 0), 0x7fff);
  EXPECT_EQ(fmaHalf<HalfF16>(one, one, nan), 0x7fff);
  EXPECT_EQ(fmaHalf<HalfF16>(inf, one, minusInf), 0x7fff);
  EXPECT_EQ(addHalf<HalfF16>(0x8000, 0x8000), 0x8000);
  EXPECT_EQ(addHalf<HalfF16>(0x8000, 0), 0);
  EXPECT_EQ(mulHalf<HalfF16>(0x7bff, 0x7bff), inf);
  EXPECT_EQ(mulHalf<HalfBF16>(0xff80, 0x3f80), 0xff80);
}

TEST(Half, MinMaxFollowTheISA) {
  const uint16_t one = 0x3c00, nan = 0x7e00, minusZero = 0x8000;
  auto min = extremeHalf<HalfF16, false, false>;
  auto max = extremeHalf<HalfF16, true, false>;
  auto minNaN = extremeHalf<HalfF16, false, true>;
  auto maxNaN = extremeHalf<HalfF16, true, true>;
  EXPECT_EQ(min(nan, one), one);
  EXPECT_EQ(max(one, nan), one);
  EXPECT_EQ(min(nan, nan), 0x7fff);
  EXPECT_EQ(minNaN(nan, one), 0x7fff);
  EXPECT_EQ(maxNaN(one, nan), 0x7fff);
  EXPECT_EQ(max(minusZero, 0), 0); // +0 is greater than -0
  EXPECT_EQ(max(0, minusZero), 0);
  EXPECT_EQ(min(0, minusZero), minusZero);
  EXPECT_EQ(min(0xbc00, one), 0xbc00);
  EXPECT_EQ(max(0xbc00, 0xc000), 0xbc00);
}

TEST(Half, ClampsAndFlushes) {
  EXPECT_EQ(saturateHalf<HalfF16>(0x7e00), 0);
  EXPECT_EQ(saturateHalf<HalfF16>(0xbc00), 0);
  EXPECT_EQ(saturateHalf<HalfF16>(0x4000), 0x3c00);
  EXPECT_EQ(reluHalf<HalfF16>(0x8000), 0);
  EXPECT_EQ(reluHalf<HalfF16>(0xfe00), 0x7fff);
  EXPECT_EQ(flushHalf<HalfF16>(0x83ff), 0x8000);
  EXPECT_EQ(flushHalf<HalfF16>(0x0400), 0x0400);
}

} // namespace
