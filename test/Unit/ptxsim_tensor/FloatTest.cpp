// Packing, unpacking and cvt values that the PTX ISA states or that follow from
// the formats by hand.

#include "runtime/ptxsim/numeric/Convert.h"
#include "runtime/ptxsim/numeric/Fp8.h"

#include <gtest/gtest.h>

#include <bit>
#include <cfenv>
#include <cmath>
#include <limits>
#include <random>

using namespace ptxsim;

namespace {

uint64_t bitsOfDouble(double d) { return std::bit_cast<uint64_t>(d); }
uint32_t bitsOfFloat(float f) { return std::bit_cast<uint32_t>(f); }

TEST(Float, EveryHalfAndFp8PatternSurvivesUnpackAndPack) {
  for (FloatFormat format : {formatF16, formatBF16, formatE5M2, formatE4M3}) {
    for (uint64_t bits = 0; bits < 2 * format.signBit(); ++bits) {
      Number n = unpack(format, bits);
      uint64_t expected = n.kind == Number::NaN ? format.nan() : bits;
      for (int r = 0; r < 5; ++r)
        ASSERT_EQ(pack(format, n, Rounding(r)), expected) << bits;
    }
  }
}

TEST(Float, DoubleToFloatRoundsAsTheHostDoes) {
  std::mt19937_64 random(1);
  const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
  for (int i = 0; i < 400000; ++i) {
    uint64_t bits = random();
    if (i % 2) // within float's range and around its limits
      bits = (bits & 0x800fffffffffffff) | (860 + random() % 320) << 52;
    volatile double d = std::bit_cast<double>(bits);
    if (std::isnan(d))
      continue;
    for (int r = 0; r < 4; ++r) {
      std::fesetround(modes[r]);
      volatile float f = float(d);
      std::fesetround(FE_TONEAREST);
      ASSERT_EQ(pack(formatF32, unpack(formatF64, bits), Rounding(r)),
                bitsOfFloat(f))
          << d << " rounding " << r;
    }
  }
}

TEST(Float, TiesAwayFromZero) {
  // 1 + 2^-11 lies half way between two tf32 numbers.
  Number tie = unpack(formatF32, bitsOfFloat(1.0f + 0x1p-11f));
  EXPECT_EQ(pack(formatTF32, tie, Rounding::NearestAway) << 13,
            bitsOfFloat(1.0f + 0x1p-10f));
  EXPECT_EQ(pack(formatTF32, tie, Rounding::NearestEven) << 13,
            bitsOfFloat(1.0f));
}

// realworld_inputs case 28: the conversion to e4m3 saturates.
TEST(Fp8, SaturatesAndKeepsSubnormals) {
  const std::pair<float, uint8_t> cases[] = {{448.0f, 0x7e},
                                             {449.0f, 0x7e},
                                             {464.0f, 0x7e},
                                             {464.01f, 0x7e},
                                             {480.0f, 0x7e},
                                             {1e6f, 0x7e},
                                             {-1e4f, 0xfe},
                                             {NAN, 0x7f},
                                             {0x1p-9f, 0x01},
                                             {0x1p-10f, 0x00},
                                             {1.01f * 0x1p-10f, 0x01},
                                             {INFINITY, 0x7e},
                                             {-INFINITY, 0xfe},
                                             {0.0f, 0x00},
                                             {-0.0f, 0x80},
                                             {1.0f, 0x38},
                                             {0x1p-6f, 0x08},
                                             {432.0f, 0x7e},
                                             {431.9f, 0x7d}};
  for (auto [value, expected] : cases) {
    EXPECT_EQ(narrowFp8<Fp8E4M3>(value), expected) << value;
    EXPECT_EQ(pack(formatE4M3, unpack(formatF32, bitsOfFloat(value)),
                   Rounding::NearestEven, true),
              expected)
        << value;
  }
}

TEST(Fp8, EveryPatternWidensToItsValue) {
  for (unsigned b = 0; b < 256; ++b) {
    // e4m3: bias 7, subnormals in units of 2^-9, 0x7f NaN.
    unsigned e = b >> 3 & 15, m = b & 7;
    double value = e ? std::ldexp(8 + m, int(e) - 10) : std::ldexp(m, -9);
    value = b & 0x80 ? -value : value;
    if ((b & 0x7f) == 0x7f)
      EXPECT_TRUE(std::isnan(widenFp8<Fp8E4M3>(b)));
    else
      EXPECT_EQ(double(widenFp8<Fp8E4M3>(b)), value) << b;
    // e5m2: the upper half of an f16.
    if ((b & 0x7c) != 0x7c || !(b & 3))
      EXPECT_EQ(bitsOfFloat(widenFp8<Fp8E5M2>(b)),
                bitsOfFloat(HalfF16::widen(uint16_t(b << 8))))
          << b;
  }
}

uint64_t cvt(Type to, Type from, uint64_t a, Rounding r,
             bool Conversion::*modifier = nullptr) {
  Conversion c;
  c.to = to, c.from = from, c.rounding = r;
  c.integral = isFloat(from) && !isFloat(to);
  if (modifier)
    c.*modifier = true;
  return convert(c, a);
}

TEST(Cvt, NaNToIntegerIsZeroUnlessADoubleOr64BitsAreInvolved) {
  auto f = [](Type to) {
    return cvt(to, Type::F32, bitsOfFloat(NAN), Rounding::Zero);
  };
  auto d = [](Type to) {
    return cvt(to, Type::F64, bitsOfDouble(NAN), Rounding::Zero);
  };
  EXPECT_EQ(f(Type::S32), 0u);
  EXPECT_EQ(f(Type::U32), 0u);
  EXPECT_EQ(f(Type::S8), 0u);
  EXPECT_EQ(f(Type::S64), 1ull << 63);
  EXPECT_EQ(f(Type::U64), 1ull << 63);
  EXPECT_EQ(uint32_t(d(Type::S32)), 0x80000000u);
  EXPECT_EQ(d(Type::U32), 0x80000000u);
  EXPECT_EQ(d(Type::S64), 1ull << 63);
  EXPECT_EQ(cvt(Type::S16, Type::F16, 0x7e00, Rounding::Zero), 0u);
}

TEST(Cvt, FloatToIntegerClamps) {
  auto f = [](Type to, float value, Rounding r = Rounding::Zero) {
    return int64_t(cvt(to, Type::F32, bitsOfFloat(value), r));
  };
  EXPECT_EQ(f(Type::S32, 3e9f), 2147483647);
  EXPECT_EQ(f(Type::S32, -3e9f), -2147483648ll);
  EXPECT_EQ(f(Type::U32, 5e9f), 4294967295ll);
  EXPECT_EQ(f(Type::U32, -1.5f), 0);
  EXPECT_EQ(f(Type::U8, 300.0f), 255);
  EXPECT_EQ(f(Type::S8, -200.0f), -128);
  EXPECT_EQ(f(Type::S64, 1e30f), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(uint64_t(f(Type::U64, INFINITY)), ~0ull);
  EXPECT_EQ(f(Type::S32, -INFINITY), -2147483648ll);
  EXPECT_EQ(f(Type::S32, 2.5f, Rounding::NearestEven), 2);
  EXPECT_EQ(f(Type::S32, 3.5f, Rounding::NearestEven), 4);
  EXPECT_EQ(f(Type::S32, -2.5f, Rounding::Down), -3);
  EXPECT_EQ(f(Type::S32, -2.5f, Rounding::Up), -2);
  EXPECT_EQ(f(Type::S32, -2.5f, Rounding::Zero), -2);
}

TEST(Cvt, IntegersExtendTruncateAndClamp) {
  EXPECT_EQ(cvt(Type::S64, Type::S32, 0xffffffff, Rounding::Zero), ~0ull);
  EXPECT_EQ(cvt(Type::U64, Type::U32, 0xffffffff, Rounding::Zero),
            0xffffffffull);
  EXPECT_EQ(cvt(Type::U16, Type::U32, 0x12345678, Rounding::Zero), 0x5678u);
  EXPECT_EQ(cvt(Type::S32, Type::S8, 0x80, Rounding::Zero),
            0xffffffffffffff80ull);
  EXPECT_EQ(
      cvt(Type::U8, Type::S32, uint32_t(-5), Rounding::Zero, &Conversion::sat),
      0u);
  EXPECT_EQ(cvt(Type::S8, Type::U16, 200, Rounding::Zero, &Conversion::sat),
            127u);
  EXPECT_EQ(cvt(Type::S16, Type::S32, uint32_t(-40000), Rounding::Zero,
                &Conversion::sat),
            uint64_t(-32768));
}

TEST(Cvt, IntegerToFloatRoundsOnce) {
  const uint64_t big = (1ull << 63) + (1ull << 39); // a tie in float
  EXPECT_EQ(cvt(Type::F32, Type::U64, big, Rounding::NearestEven),
            bitsOfFloat(0x1p63f));
  EXPECT_EQ(cvt(Type::F32, Type::U64, big + 1, Rounding::NearestEven),
            bitsOfFloat(0x1.000002p63f));
  EXPECT_EQ(cvt(Type::F32, Type::U64, big, Rounding::Up),
            bitsOfFloat(0x1.000002p63f));
  EXPECT_EQ(cvt(Type::F32, Type::S32, uint32_t(-16777217), Rounding::Zero),
            bitsOfFloat(-16777216.0f));
  EXPECT_EQ(cvt(Type::F32, Type::S32, uint32_t(-16777217), Rounding::Down),
            bitsOfFloat(-16777218.0f));
}

TEST(Cvt, SatGivesTheUnitIntervalAndZeroForNaN) {
  auto sat = [](float f) {
    return cvt(Type::F32, Type::F32, bitsOfFloat(f), Rounding::NearestEven,
               &Conversion::sat);
  };
  EXPECT_EQ(sat(NAN), 0u);
  EXPECT_EQ(sat(-3.0f), 0u);
  EXPECT_EQ(sat(-0.0f), 0u);
  EXPECT_EQ(sat(0.25f), bitsOfFloat(0.25f));
  EXPECT_EQ(sat(7.0f), bitsOfFloat(1.0f));
}

TEST(Cvt, FtzFlushesFloatsOnBothSidesAndKeepsTheSign) {
  EXPECT_EQ(cvt(Type::F32, Type::F32, 0x80000001, Rounding::NearestEven,
                &Conversion::ftz),
            0x80000000u);
  EXPECT_EQ(cvt(Type::F64, Type::F32, 0x00000001, Rounding::NearestEven,
                &Conversion::ftz),
            0u);
  EXPECT_EQ(cvt(Type::F32, Type::F64, bitsOfDouble(-0x1p-140),
                Rounding::NearestEven, &Conversion::ftz),
            0x80000000u);
  EXPECT_EQ(cvt(Type::S32, Type::F32, 1, Rounding::Up, &Conversion::ftz), 0u);
  EXPECT_EQ(cvt(Type::S32, Type::F32, 1, Rounding::Up), 1u);
}

TEST(Cvt, ReluAndSatfinite) {
  auto half = [](float f, bool Conversion::*m) {
    return cvt(Type::F16, Type::F32, bitsOfFloat(f), Rounding::NearestEven, m);
  };
  EXPECT_EQ(half(-1.0f, &Conversion::relu), 0u);
  EXPECT_EQ(half(NAN, &Conversion::relu), 0x7fffu);
  EXPECT_EQ(half(2.0f, &Conversion::relu), 0x4000u);
  EXPECT_EQ(half(1e6f, &Conversion::satfinite), 0x7bffu);
  EXPECT_EQ(half(-INFINITY, &Conversion::satfinite), 0xfbffu);
  EXPECT_EQ(half(NAN, &Conversion::satfinite), 0x7fffu);
  EXPECT_EQ(half(1e6f, nullptr), 0x7c00u);
}

TEST(Cvt, Tf32HasTenMantissaBits) {
  auto tf32 = [](float f, Rounding r) {
    return cvt(Type::TF32, Type::F32, bitsOfFloat(f), r);
  };
  EXPECT_EQ(tf32(1.0f + 0x1p-11f, Rounding::NearestAway),
            bitsOfFloat(1.0f + 0x1p-10f));
  EXPECT_EQ(tf32(-(1.0f + 0x1p-11f), Rounding::NearestAway),
            bitsOfFloat(-(1.0f + 0x1p-10f)));
  EXPECT_EQ(tf32(1.0f + 0x1p-11f, Rounding::NearestEven), bitsOfFloat(1.0f));
  EXPECT_EQ(tf32(1.0f + 0x1p-11f, Rounding::Zero), bitsOfFloat(1.0f));
  EXPECT_EQ(tf32(NAN, Rounding::NearestAway), 0x7fffffffu);
  EXPECT_EQ(tf32(INFINITY, Rounding::NearestAway), 0x7f800000u);
}

} // namespace
