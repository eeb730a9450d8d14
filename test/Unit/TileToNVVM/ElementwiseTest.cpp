// Rounding points of arith and math on tiles, against the host's arithmetic.
#include "TileRunner.h"

#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace k2c;
using namespace k2c::test;

namespace {

/// 256 values: specials first, then random bits without NaN.
std::vector<uint16_t> halves(std::mt19937 &random) {
  std::vector<uint16_t> result = {0x0000, 0x8000, 0x3f80, 0xbf80, 0x7f80,
                                  0xff80, 0x0001, 0x807f, 0x7f7f, 0x0080};
  while (result.size() < 256) {
    uint16_t bits = static_cast<uint16_t>(random());
    if ((bits & 0x7fff) <= 0x7f80)
      result.push_back(bits);
  }
  return result;
}

TEST(Elementwise, Bf16ArithmeticRoundsOnce) {
  std::mt19937 random(12);
  TileRunner runner;
  auto layout = randomLayout(random, {1, 256}, 1, false);
  std::string half = tensorText(runner, layout, "bf16"),
              single = tensorText(runner, layout, "f32");
  std::string text = llvm::formatv(R"(
    tile.kernel @half(%x: memref<1x256xbf16>, %y: memref<1x256xbf16>, %sum: memref<1x256xbf16>, %product: memref<1x256xbf16>,
                      %both: memref<1x256xbf16>, %wide: memref<1x256xf32>, %narrow: memref<1x256xbf16>) attributes {{num_warps = 2} {{
      %c0 = arith.constant 0 : i32
      %a = tile.load %x[%c0, %c0] : memref<1x256xbf16> -> {0}
      %b = tile.load %y[%c0, %c0] : memref<1x256xbf16> -> {0}
      %s = arith.addf %a, %b : {0}
      tile.store %s, %sum[%c0, %c0] : {0}, memref<1x256xbf16>
      %p = arith.mulf %a, %b : {0}
      tile.store %p, %product[%c0, %c0] : {0}, memref<1x256xbf16>
      %q = arith.addf %p, %b : {0}
      tile.store %q, %both[%c0, %c0] : {0}, memref<1x256xbf16>
      %f = arith.extf %a : {0} to {1}
      %g = arith.extf %b : {0} to {1}
      %m = arith.mulf %f, %g : {1}
      %n = arith.addf %m, %g : {1}
      tile.store %n, %wide[%c0, %c0] : {1}, memref<1x256xf32>
      %t = arith.truncf %n : {1} to {0}
      tile.store %t, %narrow[%c0, %c0] : {0}, memref<1x256xbf16>
      tile.return
    })",
                                   half, single);
  std::vector<uint16_t> x = halves(random), y = halves(random);
  std::shuffle(y.begin(), y.end(), random);
  Arguments arguments(runner.device());
  arguments.buffer(x);
  arguments.buffer(y);
  std::vector<uint16_t> empty(256);
  uint16_t *sum = arguments.buffer(empty), *product = arguments.buffer(empty),
           *both = arguments.buffer(empty);
  float *wide = arguments.buffer(std::vector<float>(256));
  uint16_t *narrow = arguments.buffer(empty);
  ASSERT_EQ(runner.run(text, arguments), "");
  auto same = [](uint16_t have, float want) {
    return std::isnan(want) ? std::isnan(fromBf16(have)) : have == toBf16(want);
  };
  for (int i = 0; i < 256; ++i) {
    float a = fromBf16(x[i]), b = fromBf16(y[i]);
    // The sum of two bf16 in double is exact up to one rounding that cannot hit
    // a tie of bf16 wrongly; products are exact in f32.
    double exact = static_cast<double>(a) + b;
    float once = static_cast<float>(exact);
    if (static_cast<double>(once) != exact && std::isfinite(once)) {
      // Round to odd before the second rounding.
      uint32_t bits;
      std::memcpy(&bits, &once, 4);
      if (!(bits & 1))
        once = std::nextafterf(once, exact > once ? INFINITY : -INFINITY);
    }
    EXPECT_TRUE(same(sum[i], once))
        << a << " + " << b << " gave " << fromBf16(sum[i]);
    float m = a * b;
    EXPECT_TRUE(same(product[i], m))
        << a << " * " << b << " gave " << fromBf16(product[i]);
    volatile float unfused = m;
    float n = unfused + b;
    EXPECT_TRUE(std::isnan(n) ? std::isnan(wide[i]) : wide[i] == n)
        << a << " * " << b << " + " << b;
    EXPECT_TRUE(same(narrow[i], n));
  }
  // The product is rounded before the addition: contraction to fma would show
  // here.
  for (int i = 0; i < 256; ++i) {
    float p = fromBf16(product[i]), b = fromBf16(y[i]);
    double exact = static_cast<double>(p) + b;
    if (!std::isfinite(exact) || std::fabs(exact) > 3e38)
      continue;
    float want = fromBf16(both[i]);
    EXPECT_LE(std::fabs(want - exact), std::fabs(exact) / 256 + 1e-38)
        << p << " + " << b;
  }
  EXPECT_EQ(runner.ptx().find("fma"), std::string::npos);
}

TEST(Elementwise, FunctionsAreCloseAndDivisionExact) {
  std::mt19937 random(13);
  TileRunner runner;
  auto layout = randomLayout(random, {1, 384}, 2, false);
  std::string single = tensorText(runner, layout, "f32");
  std::string text = llvm::formatv(R"(
    tile.kernel @functions(%x: memref<1x384xf32>, %exp: memref<1x384xf32>, %rsqrt: memref<1x384xf32>, %inverse: memref<1x384xf32>,
                           %root: memref<1x384xf32>) attributes {{num_warps = 4} {{
      %c0 = arith.constant 0 : i32
      %a = tile.load %x[%c0, %c0] : memref<1x384xf32> -> {0}
      %e = math.exp2 %a fastmath<afn> : {0}
      tile.store %e, %exp[%c0, %c0] : {0}, memref<1x384xf32>
      %b = math.absf %a : {0}
      %r = math.rsqrt %b fastmath<afn> : {0}
      tile.store %r, %rsqrt[%c0, %c0] : {0}, memref<1x384xf32>
      %one = arith.constant dense<1.0> : {0}
      %d = arith.divf %one, %a : {0}
      tile.store %d, %inverse[%c0, %c0] : {0}, memref<1x384xf32>
      %s = math.sqrt %b : {0}
      tile.store %s, %root[%c0, %c0] : {0}, memref<1x384xf32>
      tile.return
    })",
                                   single);
  std::vector<float> x(384), empty(384);
  std::uniform_real_distribution<float> uniform(-30, 30);
  for (float &value : x)
    value = uniform(random);
  Arguments arguments(runner.device());
  arguments.buffer(x);
  float *exp = arguments.buffer(empty), *rsqrt = arguments.buffer(empty),
        *inverse = arguments.buffer(empty), *root = arguments.buffer(empty);
  ASSERT_EQ(runner.run(text, arguments), "");
  for (int i = 0; i < 384; ++i) {
    EXPECT_NEAR(exp[i] / std::exp2(static_cast<double>(x[i])), 1.0, 3e-7);
    EXPECT_NEAR(rsqrt[i] * std::sqrt(std::fabs(static_cast<double>(x[i]))), 1.0,
                3e-7);
    EXPECT_EQ(inverse[i], 1.0f / x[i]);
    EXPECT_EQ(root[i], std::sqrt(std::fabs(x[i])));
  }
}

TEST(Elementwise, CompareSelectAndIntegers) {
  std::mt19937 random(14);
  TileRunner runner;
  auto layout = randomLayout(random, {4, 24}, 1, true);
  std::string i = tensorText(runner, layout, "i32"),
              f = tensorText(runner, layout, "f32"),
              p = tensorText(runner, layout, "i1");
  std::string text = llvm::formatv(R"(
    tile.kernel @select(%x: memref<4x24xi32>, %y: memref<4x24xf32>, %n: i32) attributes {{num_warps = 2} {{
      %c0 = arith.constant 0 : i32
      %a = tile.load %x[%c0, %c0] : memref<4x24xi32> -> {0}
      %b = tile.splat %n : i32 -> {0}
      %low = arith.cmpi slt, %a, %b : {0}
      %c7 = arith.constant dense<7> : {0}
      %r = arith.remui %a, %c7 : {0}
      %three = arith.constant dense<3> : {0}
      %high = arith.cmpi ugt, %r, %three : {0}
      %both = arith.andi %low, %high : {2}
      %f = arith.sitofp %a : {0} to {1}
      %m = arith.constant dense<0xFF800000> : {1}
      %s = arith.select %both, %f, %m : {2}, {1}
      tile.store %s, %y[%c0, %c0] : {1}, memref<4x24xf32>
      tile.return
    })",
                                   i, f, p);
  std::vector<int32_t> x(96);
  for (int32_t &value : x)
    value = static_cast<int32_t>(random() % 1000);
  Arguments arguments(runner.device());
  arguments.buffer(x);
  float *y = arguments.buffer(std::vector<float>(96));
  arguments.i32(500);
  ASSERT_EQ(runner.run(text, arguments), "");
  for (int k = 0; k < 96; ++k)
    EXPECT_EQ(y[k], x[k] < 500 && x[k] % 7 > 3 ? static_cast<float>(x[k])
                                               : -INFINITY);
}

} // namespace
