// Every 16-bit pattern, and a dense sample of floats, through our conversions
// and through NVIDIA's host implementations of the same ones.

#include "NvidiaReference.h"
#include "runtime/ptxsim/numeric/Convert.h"
#include "runtime/ptxsim/numeric/Fp8.h"

#include <gtest/gtest.h>

#include <bit>
#include <random>

using namespace ptxsim;

namespace {

class NvidiaHeaders : public ::testing::Test {
protected:
  void SetUp() override {
    if (!nvidia::available())
      GTEST_SKIP() << "built without cuda_fp8.h, cuda_bf16.h and cuda_fp16.h";
  }
};

uint64_t cvt(Type to, Type from, uint64_t a, int rounding,
             bool satfinite = false) {
  Conversion c;
  c.to = to, c.from = from, c.rounding = Rounding(rounding);
  c.integral = isFloat(from) && !isFloat(to), c.satfinite = satfinite;
  return convert(c, a);
}

/// Calls f with floats: every upper half with lower halves that decide
/// roundings, and random ones.
template <class F> void forFloats(F f) {
  const uint32_t lows[] = {0,      1,      0x0fff, 0x1000, 0x1001, 0x3000,
                           0x7fff, 0x8000, 0x8001, 0xffff, 0xf000, 0xe000};
  for (uint32_t high = 0; high < 0x10000; ++high)
    for (uint32_t low : lows)
      f(std::bit_cast<float>(high << 16 | low));
  std::mt19937 random(1);
  for (int i = 0; i < 1000000; ++i)
    f(std::bit_cast<float>(uint32_t(random())));
}

std::string show(float f) {
  char text[64];
  snprintf(text, sizeof text, "%a (%08x)", f, std::bit_cast<uint32_t>(f));
  return text;
}

TEST_F(NvidiaHeaders, WideningHalvesIsEqual) {
  for (uint32_t h = 0; h < 0x10000; ++h) {
    uint32_t expected = std::bit_cast<uint32_t>(nvidia::f16ToFloat(h));
    ASSERT_EQ(std::bit_cast<uint32_t>(HalfF16::widen(h)), expected) << h;
    ASSERT_EQ(cvt(Type::F32, Type::F16, h, 0), expected) << h;
    expected = std::bit_cast<uint32_t>(nvidia::bf16ToFloat(h));
    ASSERT_EQ(std::bit_cast<uint32_t>(HalfBF16::widen(h)), expected) << h;
    ASSERT_EQ(cvt(Type::F32, Type::BF16, h, 0), expected) << h;
  }
}

TEST_F(NvidiaHeaders, NarrowingToHalvesIsEqualInEveryRounding) {
  forFloats([](float f) {
    uint32_t bits = std::bit_cast<uint32_t>(f);
    ASSERT_EQ(HalfF16::narrow(f), nvidia::floatToF16(f, 0)) << show(f);
    ASSERT_EQ(HalfBF16::narrow(f), nvidia::floatToBF16(f, 0)) << show(f);
    for (int r = 0; r < 4; ++r) {
      ASSERT_EQ(cvt(Type::F16, Type::F32, bits, r), nvidia::floatToF16(f, r))
          << show(f) << " rounding " << r;
      ASSERT_EQ(cvt(Type::BF16, Type::F32, bits, r), nvidia::floatToBF16(f, r))
          << show(f) << " rounding " << r;
    }
  });
}

TEST_F(NvidiaHeaders, NarrowingDoublesIsEqual) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 1000000; ++i) {
    // Exponents in and around the halves' ranges.
    uint64_t bits = random();
    if (i % 2)
      bits = (bits & 0x800fffffffffffff) | (960 + random() % 120) << 52;
    double d = std::bit_cast<double>(bits);
    ASSERT_EQ(cvt(Type::F16, Type::F64, bits, 0), nvidia::doubleToF16(d)) << d;
    ASSERT_EQ(cvt(Type::BF16, Type::F64, bits, 0), nvidia::doubleToBF16(d))
        << d;
  }
}

template <class T> void compareFp8(bool e5m2, Type type) {
  for (unsigned b = 0; b < 256; ++b) {
    uint16_t expected = nvidia::fp8ToF16(b, e5m2);
    ASSERT_EQ(fp8ToF16<T>(b), expected) << b;
    ASSERT_EQ(cvt(Type::F16, type, b, 0), expected) << b;
  }
  for (uint32_t h = 0; h < 0x10000; ++h) {
    uint8_t expected = nvidia::f16ToFp8(h, e5m2);
    ASSERT_EQ(narrowFp8<T>(HalfF16::widen(h)), expected) << h;
    ASSERT_EQ(cvt(type, Type::F16, h, 0, true), expected) << h;
    float f = std::bit_cast<float>(h << 16);
    ASSERT_EQ(narrowFp8<T>(f), nvidia::floatToFp8(f, e5m2)) << show(f);
  }
  forFloats([=](float f) {
    uint8_t expected = nvidia::floatToFp8(f, e5m2);
    ASSERT_EQ(narrowFp8<T>(f), expected) << show(f);
    ASSERT_EQ(cvt(type, Type::F32, std::bit_cast<uint32_t>(f), 0, true),
              expected)
        << show(f);
  });
}

TEST_F(NvidiaHeaders, E4M3IsEqual) { compareFp8<Fp8E4M3>(false, Type::E4M3); }
TEST_F(NvidiaHeaders, E5M2IsEqual) { compareFp8<Fp8E5M2>(true, Type::E5M2); }

TEST_F(NvidiaHeaders, HalvesToIntegersTowardZeroAreEqual) {
  auto rz = [](Type to, Type from, uint32_t h) { return cvt(to, from, h, 1); };
  for (uint32_t h = 0; h < 0x10000; ++h) {
    ASSERT_EQ(int32_t(rz(Type::S32, Type::F16, h)), nvidia::f16ToS32(h)) << h;
    ASSERT_EQ(uint32_t(rz(Type::U32, Type::F16, h)), nvidia::f16ToU32(h)) << h;
    ASSERT_EQ(int64_t(rz(Type::S64, Type::F16, h)), nvidia::f16ToS64(h)) << h;
    ASSERT_EQ(int16_t(rz(Type::S16, Type::F16, h)), nvidia::f16ToS16(h)) << h;
    ASSERT_EQ(uint16_t(rz(Type::U16, Type::F16, h)), nvidia::f16ToU16(h)) << h;
    ASSERT_EQ(int32_t(rz(Type::S32, Type::BF16, h)), nvidia::bf16ToS32(h)) << h;
    ASSERT_EQ(uint32_t(rz(Type::U32, Type::BF16, h)), nvidia::bf16ToU32(h))
        << h;
  }
}

TEST_F(NvidiaHeaders, IntegersToHalvesAreEqual) {
  std::mt19937_64 random(3);
  auto compare = [](int64_t i) {
    ASSERT_EQ(cvt(Type::F16, Type::S32, uint64_t(i), 0),
              nvidia::s32ToF16(int32_t(i)))
        << int32_t(i);
    ASSERT_EQ(cvt(Type::BF16, Type::S32, uint64_t(i), 0),
              nvidia::s32ToBF16(int32_t(i)))
        << int32_t(i);
    ASSERT_EQ(cvt(Type::F16, Type::S64, uint64_t(i), 0), nvidia::s64ToF16(i))
        << i;
  };
  for (int64_t i = -70000; i < 70000; ++i)
    compare(i);
  for (int i = 0; i < 100000; ++i)
    compare(int64_t(random()) >> random() % 64);
}

} // namespace
