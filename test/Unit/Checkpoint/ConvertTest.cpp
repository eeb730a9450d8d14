//===- ConvertTest.cpp - Widening to float32 is exact ---------------------===//
// Expected values are from the definitions of the formats (IEEE 754 for
// binary16, OCP OFP8 for the 8-bit ones), not from this code.
#include "runtime/Checkpoint/Convert.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

using namespace k2rt;

namespace {
TEST(Convert, Bf16IsTheUpperHalf) {
  EXPECT_EQ(bf16ToFloat(0x3f80), 1.0f);
  EXPECT_EQ(bf16ToFloat(0xc040), -3.0f);
  EXPECT_EQ(bf16ToFloat(0x0001), std::ldexp(1.0f, -133));
  EXPECT_TRUE(std::isnan(bf16ToFloat(0x7fc1)));
}

TEST(Convert, F16HasSubnormalsAndInfinity) {
  EXPECT_EQ(f16ToFloat(0x3c00), 1.0f);
  EXPECT_EQ(f16ToFloat(0x7bff), 65504.0f);
  EXPECT_EQ(f16ToFloat(0x0001), std::ldexp(1.0f, -24));
  EXPECT_EQ(f16ToFloat(0x83ff), -std::ldexp(1023.0f, -24));
  EXPECT_EQ(f16ToFloat(0xfc00), -INFINITY);
  EXPECT_TRUE(std::isnan(f16ToFloat(0x7e00)));
}

TEST(Convert, E4m3HasNoInfinity) {
  EXPECT_EQ(f8e4m3ToFloat(0x7e), 448.0f);
  EXPECT_EQ(f8e4m3ToFloat(0xfe), -448.0f);
  EXPECT_EQ(f8e4m3ToFloat(0x78), 256.0f);
  EXPECT_EQ(f8e4m3ToFloat(0x08), std::ldexp(1.0f, -6));
  EXPECT_EQ(f8e4m3ToFloat(0x01), std::ldexp(1.0f, -9));
  EXPECT_TRUE(std::signbit(f8e4m3ToFloat(0x80)));
  EXPECT_TRUE(std::isnan(f8e4m3ToFloat(0x7f)));
  EXPECT_TRUE(std::isnan(f8e4m3ToFloat(0xff)));
}

TEST(Convert, E5m2HasInfinity) {
  EXPECT_EQ(f8e5m2ToFloat(0x7b), 57344.0f);
  EXPECT_EQ(f8e5m2ToFloat(0x01), std::ldexp(1.0f, -16));
  EXPECT_EQ(f8e5m2ToFloat(0x7c), INFINITY);
  EXPECT_TRUE(std::isnan(f8e5m2ToFloat(0x7d)));
}

TEST(Convert, FloatToBf16RoundsToEven) {
  EXPECT_EQ(floatToBf16(1.0f), 0x3f80);
  EXPECT_EQ(floatToBf16(1.00390625f), 0x3f80); // a tie, down to even
  EXPECT_EQ(floatToBf16(1.01171875f), 0x3f82); // a tie, up to even
  EXPECT_EQ(floatToBf16(3.4e38f), 0x7f80);
  EXPECT_TRUE(std::isnan(bf16ToFloat(floatToBf16(NAN))));
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    float wide = bf16ToFloat(static_cast<uint16_t>(bits));
    if (!std::isnan(wide))
      ASSERT_EQ(floatToBf16(wide), bits);
  }
}

TEST(Convert, ReadsUnalignedData) {
  std::vector<std::byte> bytes(1 + 3 * 4);
  float values[3] = {1.5f, -2.25f, 1e-20f};
  std::memcpy(bytes.data() + 1, values, sizeof(values));
  float out[3];
  widenToFloat(DType::F32, bytes.data() + 1, out);
  EXPECT_EQ(0, std::memcmp(out, values, sizeof(values)));
}
} // namespace
