// Approximate functions: the PTX ISA's error bounds over a million arguments
// each, and its tables of special values.

#include "Kernel.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <random>

using namespace harness;

namespace {

uint64_t bits(float f) { return std::bit_cast<uint32_t>(f); }
float number(uint64_t b) { return std::bit_cast<float>(uint32_t(b)); }

float flushed(float f) {
  return std::fpclassify(f) == FP_SUBNORMAL ? std::copysign(0.0f, f) : f;
}

/// The distance of `got` from the exact value in units of the last place of a
/// float of its size.
double ulps(float got, double exact) {
  if (std::isnan(exact) || std::isnan(got))
    return std::isnan(exact) && std::isnan(got) ? 0 : INFINITY;
  if (std::isinf(got) || std::isinf(exact))
    return got == float(exact) ? 0 : INFINITY;
  int e = exact == 0 ? -126 : std::max(std::ilogb(exact), -126);
  return std::fabs(got - exact) / std::ldexp(1.0, e - 23);
}

std::vector<uint64_t> arguments(unsigned count) {
  std::vector<uint64_t> v;
  for (float f : {0.0f, -0.0f, 1.0f, -1.0f, INFINITY, -INFINITY, NAN, 0x1p-149f,
                  -0x1p-149f, 0x1p-126f, 0x1.fffffep127f, 0.5f, 2.0f})
    v.push_back(bits(f));
  std::mt19937 random(1);
  std::uniform_real_distribution<float> moderate(-100, 100);
  while (v.size() < count)
    v.push_back(v.size() % 2 ? uint32_t(random()) : bits(moderate(random)));
  return v;
}

void check(const std::string &op, const std::function<double(double)> &f,
           double bound, const std::function<bool(float)> &in = nullptr) {
  // A million points each: half of them with .ftz where there is that.
  std::vector<uint64_t> x = arguments(op == "tanh" ? 1000000 : 500000);
  for (bool ftz : {false, true}) {
    if (ftz && op == "tanh")
      continue;
    auto d = apply(op + ".approx" + (ftz ? ".ftz" : "") + ".f32 d, a;", 32,
                   {{32, x}});
    for (size_t i = 0; i < x.size(); ++i) {
      float a = ftz ? flushed(number(x[i])) : number(x[i]);
      if (in && !in(a))
        continue;
      double exact = f(a);
      if (ftz && std::fabs(exact) < 0x1p-126) {
        // Near the smallest normal number either side may come out.
        ASSERT_LE(std::fabs(number(d[i])), 0x1p-126) << op << a;
        continue;
      }
      ASSERT_LE(ulps(number(d[i]), exact), bound)
          << op << (ftz ? ".ftz " : " ") << a << " gives " << number(d[i])
          << ", not " << exact;
    }
  }
}

// Bounds: ISA 9.0, "Floating Point Instructions".
TEST(Approximate, WithinTheBounds) {
  check("ex2", [](double x) { return std::exp2(x); }, 2);
  check("rcp", [](double x) { return 1 / x; }, 1);
  check("sqrt", [](double x) { return std::sqrt(x); }, 1);
  check("rsqrt", [](double x) { return 1 / std::sqrt(x); }, 2);
  check("lg2", [](double x) { return std::log2(x); }, 2);
  check("sin", [](double x) { return std::sin(x); }, 1);
  check("cos", [](double x) { return std::cos(x); }, 1);
  check("tanh", [](double x) { return std::tanh(x); }, 1);
}

TEST(Approximate, QuotientsWithinTheBounds) {
  // 2 ulp, for divisors from 2^-126 to 2^126.
  const std::vector<uint64_t> a = arguments(500000);
  std::vector<uint64_t> b = arguments(500001);
  b.erase(b.begin()); // other pairs
  for (const char *form :
       {"div.approx", "div.approx.ftz", "div.full", "div.full.ftz"}) {
    const bool ftz = std::string(form).ends_with("ftz");
    auto d = apply(std::string(form) + ".f32 d, a, b;", 32, {{32, a}, {32, b}});
    for (size_t i = 0; i < a.size(); ++i) {
      const float x = ftz ? flushed(number(a[i])) : number(a[i]),
                  y = ftz ? flushed(number(b[i])) : number(b[i]);
      const double size = std::fabs(y);
      if (size < 0x1p-126 || size > 0x1p126)
        continue;
      const double exact = double(x) / double(y);
      if (ftz && std::fabs(exact) < 0x1p-126) {
        ASSERT_LE(std::fabs(number(d[i])), 0x1p-126) << form;
        continue;
      }
      if (std::fabs(exact) > 0x1.ffffffp127)
        continue; // rounds to infinity
      ASSERT_LE(ulps(number(d[i]), exact), 2) << form << " " << x << " " << y;
    }
  }
}

uint64_t one(const std::string &text, uint64_t a) {
  return apply(text + " d, a;", 32, {{32, {a}}})[0];
}

TEST(Approximate, SpecialValues) {
  const uint64_t inf = bits(INFINITY), minusInf = bits(-INFINITY);
  const uint64_t nan = 0x7fffffff, zero = 0, minusZero = 0x80000000;
  const uint64_t subnormal = 1, minusSubnormal = 0x80000001;
  struct Case {
    const char *text;
    uint64_t in, out;
  };
  const Case cases[] = {
      {"ex2.approx.f32", minusInf, zero},
      {"ex2.approx.f32", inf, inf},
      {"ex2.approx.f32", minusZero, bits(1)},
      {"ex2.approx.ftz.f32", subnormal, bits(1)},
      {"ex2.approx.ftz.f32", bits(-127), zero},
      {"ex2.approx.f32", bits(-127), 0x00400000},
      {"ex2.approx.f32", 0xffc00000, nan},
      {"lg2.approx.f32", zero, minusInf},
      {"lg2.approx.f32", minusZero, minusInf},
      {"lg2.approx.f32", bits(-1), nan},
      {"lg2.approx.f32", inf, inf},
      {"lg2.approx.f32", subnormal, bits(-149)},
      {"lg2.approx.ftz.f32", subnormal, minusInf},
      {"rcp.approx.f32", zero, inf},
      {"rcp.approx.f32", minusZero, minusInf},
      {"rcp.approx.f32", minusInf, minusZero},
      {"rcp.approx.ftz.f32", minusSubnormal, minusInf},
      {"rcp.approx.ftz.f32", bits(0x1.8p127f), zero},
      {"rcp.approx.f32", bits(-0x1p127f), bits(-0x1p-127f)},
      {"rcp.rn.f32", bits(3), bits(1.0f / 3)},
      {"rcp.rn.ftz.f32", subnormal, inf},
      {"sqrt.approx.f32", minusZero, minusZero},
      {"sqrt.approx.f32", bits(-4), nan},
      {"sqrt.approx.f32", inf, inf},
      {"sqrt.approx.ftz.f32", minusSubnormal, minusZero},
      {"rsqrt.approx.f32", zero, inf},
      {"rsqrt.approx.f32", minusZero, minusInf},
      {"rsqrt.approx.f32", inf, zero},
      {"rsqrt.approx.f32", bits(-1), nan},
      {"rsqrt.approx.ftz.f32", minusSubnormal, minusInf},
      {"sin.approx.f32", minusZero, minusZero},
      {"sin.approx.f32", inf, nan},
      {"cos.approx.f32", minusZero, bits(1)},
      {"cos.approx.f32", minusInf, nan},
      {"tanh.approx.f32", inf, bits(1)},
      {"tanh.approx.f32", minusInf, bits(-1)},
      {"tanh.approx.f32", minusZero, minusZero},
      {"tanh.approx.f32", subnormal, subnormal},
  };
  for (const Case &c : cases)
    EXPECT_EQ(one(c.text, c.in), c.out) << c.text << " of " << std::hex << c.in
                                        << " gives " << one(c.text, c.in);
}

TEST(Approximate, ReciprocalRoundsInEveryDirection) {
  EXPECT_EQ(one("rcp.rz.f32", bits(3)), 0x3eaaaaaau);
  EXPECT_EQ(one("rcp.rm.f32", bits(3)), 0x3eaaaaaau);
  EXPECT_EQ(one("rcp.rp.f32", bits(3)), 0x3eaaaaabu);
  EXPECT_EQ(one("rcp.rn.f32", bits(3)), 0x3eaaaaabu);
  EXPECT_EQ(one("rcp.rm.f32", bits(-3)), 0xbeaaaaabu);
  EXPECT_EQ(one("rcp.rz.f32", bits(-3)), 0xbeaaaaaau);
}

TEST(Approximate, DivisionOfLargeDivisors) {
  auto div = [](const char *text, float a, float b) {
    return apply(std::string(text) + " d, a, b;", 32,
                 {{32, {bits(a)}}, {32, {bits(b)}}})[0];
  };
  // For 2^126 < |b| < 2^128 the result is a zero, or NaN if a is infinite.
  EXPECT_EQ(div("div.approx.f32", 1e38f, 0x1.8p126f), bits(0.0f));
  EXPECT_EQ(div("div.approx.f32", -1e38f, 0x1.8p127f), bits(-0.0f));
  EXPECT_EQ(div("div.approx.f32", INFINITY, 0x1.8p127f), 0x7fffffffu);
  EXPECT_EQ(div("div.approx.f32", 0x1p126f, 0x1p126f), bits(1));
  EXPECT_EQ(div("div.full.f32", 0x1p127f, 0x1p127f), bits(1));
  EXPECT_EQ(div("div.full.f32", INFINITY, 0x1.8p127f), bits(INFINITY));
  EXPECT_EQ(div("div.approx.f32", 1, 0), bits(INFINITY));
  EXPECT_EQ(div("div.approx.f32", 0, 0), 0x7fffffffu);
  EXPECT_EQ(div("div.approx.ftz.f32", 0x1p-130f, 1), 0u);
  EXPECT_EQ(div("div.approx.ftz.f32", 1, 0x1p-130f), bits(INFINITY));
  EXPECT_EQ(div("div.full.ftz.f32", 0x1p-126f, 4), 0u);
  EXPECT_EQ(div("div.approx.f32", 7, 3), bits(7.0f / 3));
}

TEST(Approximate, DoublesUseTheirUpperWord) {
  std::mt19937_64 random(3);
  std::vector<uint64_t> x;
  for (int i = 0; i < 20000; ++i)
    x.push_back((random() & 0x800fffffffffffff) | (1 + random() % 2046) << 52);
  auto rcp = apply("rcp.approx.ftz.f64 d, a;", 64, {{64, x}});
  auto rsqrt = apply("rsqrt.approx.ftz.f64 d, a;", 64, {{64, x}});
  for (size_t i = 0; i < x.size(); ++i) {
    double a = std::bit_cast<double>(x[i]), r = std::bit_cast<double>(rcp[i]);
    ASSERT_EQ(rcp[i] & 0xffffffff, 0u);
    if (std::fabs(1 / a) >= 0x1p-1022) {
      // 2^-23 of the ISA for a truncated argument and result, 20 bits each.
      ASSERT_LE(std::fabs(r * a - 1), 0x1p-18) << a;
    }
    double s = std::bit_cast<double>(rsqrt[i]);
    if (a < 0)
      ASSERT_TRUE(std::isnan(s));
    else
      ASSERT_LE(std::fabs(s * std::sqrt(a) - 1), 0x1p-18) << a;
  }
  auto special = [](const char *text, double a) {
    return std::bit_cast<double>(
        apply(std::string(text) + " d, a;", 64,
              {{64, {std::bit_cast<uint64_t>(a)}}})[0]);
  };
  EXPECT_EQ(special("rcp.approx.ftz.f64", 0.0), INFINITY);
  EXPECT_EQ(special("rcp.approx.ftz.f64", -0x1p-1040), -INFINITY);
  EXPECT_EQ(special("rcp.approx.ftz.f64", INFINITY), 0.0);
  EXPECT_EQ(special("rsqrt.approx.f64", 4.0), 0.5);
  EXPECT_EQ(special("rsqrt.approx.f64", 0.0), INFINITY);
  EXPECT_EQ(special("rsqrt.approx.ftz.f64", INFINITY), 0.0);
}

} // namespace
