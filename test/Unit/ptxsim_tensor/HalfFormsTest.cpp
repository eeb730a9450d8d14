// Arithmetic, comparison and sign instructions on f16, bf16 and pairs as PTX.

#include "Kernel.h"
#include "runtime/ptxsim/numeric/Half.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

using namespace harness;
using namespace ptxsim;

namespace {

/// Pairs of patterns: every value of the upper byte against random others, and
/// specials against specials.
struct Samples {
  std::vector<uint64_t> a, b, c;
  explicit Samples(unsigned seed) {
    std::mt19937 random(seed);
    const uint16_t specials[] = {0,      0x8000, 1,      0x8001, 0x3c00,
                                 0xbc00, 0x3f80, 0xbf80, 0x7c00, 0xfc00,
                                 0x7f80, 0xff80, 0x7e00, 0xffff, 0x7bff,
                                 0x7f7f, 0x0400, 0x0080, 0x03ff, 0x007f};
    for (uint16_t x : specials)
      for (uint16_t y : specials)
        a.push_back(x), b.push_back(y),
            c.push_back(specials[random() % std::size(specials)]);
    for (uint32_t x = 0; x < 0x10000; x += 3) {
      a.push_back(x);
      // Half of the time of a similar size.
      b.push_back(random() % 2 ? random() & 0xffff
                               : (x ^ (random() & 0x83ff)) & 0xffff);
      c.push_back(random() & 0xffff);
    }
  }
};

/// Runs the 16-bit form and the x2 form, whose halves must agree with it:
/// the lower half gets the operands, the upper one those of another element.
std::vector<uint64_t> both(const std::string &op, const std::string &type,
                           const std::vector<std::vector<uint64_t>> &in) {
  std::string text = op + "." + type, names;
  const char *sources[] = {", a", ", b", ", c"};
  std::vector<Source> single, pair;
  size_t n = in[0].size();
  for (size_t i = 0; i < in.size(); ++i) {
    names += sources[i];
    single.push_back({16, in[i]});
    Source packed{32, {}};
    for (size_t j = 0; j < n; ++j)
      packed.values.push_back(in[i][(j + 1) % n] << 16 | in[i][j]);
    pair.push_back(packed);
  }
  std::vector<uint64_t> d = apply(text + " d" + names + ";", 16, single);
  std::vector<uint64_t> d2 = apply(text + "x2 d" + names + ";", 32, pair);
  for (size_t j = 0; j < n; ++j)
    EXPECT_EQ(d2[j], d[(j + 1) % n] << 16 | d[j])
        << text << "x2 of element " << j;
  return d;
}

template <class H> std::string typeOf() {
  return std::is_same_v<H, HalfF16> ? "f16" : "bf16";
}

template <class H> void checkArithmetic() {
  Samples s(1);
  constexpr bool isF16 = std::is_same_v<H, HalfF16>;
  const std::string type = typeOf<H>();
  struct Modifier {
    std::string text;
    bool ftz, sat, relu;
  };
  std::vector<Modifier> modifiers = {{"", false, false, false}};
  if (isF16) {
    modifiers.push_back({".ftz", true, false, false});
    modifiers.push_back({".sat", false, true, false});
    modifiers.push_back({".ftz.sat", true, true, false});
  }
  auto in = [](const Modifier &m, uint64_t h) {
    return m.ftz ? flushHalf<H>(uint16_t(h)) : uint16_t(h);
  };
  auto out = [](const Modifier &m, uint16_t h) {
    h = m.ftz ? flushHalf<H>(h) : h;
    return m.sat ? saturateHalf<H>(h) : m.relu ? reluHalf<H>(h) : h;
  };
  for (const Modifier &m : modifiers) {
    auto add = both("add" + m.text, type, {s.a, s.b});
    auto addRn = both("add.rn" + m.text, type, {s.a, s.b});
    auto sub = both("sub.rn" + m.text, type, {s.a, s.b});
    auto mul = both("mul.rn" + m.text, type, {s.a, s.b});
    EXPECT_EQ(add, addRn);
    for (size_t i = 0; i < s.a.size(); ++i) {
      uint16_t a = in(m, s.a[i]), b = in(m, s.b[i]);
      ASSERT_EQ(add[i], out(m, addHalf<H>(a, b))) << i;
      ASSERT_EQ(sub[i], out(m, addHalf<H>(a, b ^ 0x8000))) << i;
      ASSERT_EQ(mul[i], out(m, mulHalf<H>(a, b))) << i;
    }
  }
  modifiers.push_back({".relu", false, false, true});
  if (isF16)
    modifiers.push_back({".ftz.relu", true, false, true});
  for (const Modifier &m : modifiers) {
    auto fma = both("fma.rn" + m.text, type, {s.a, s.b, s.c});
    for (size_t i = 0; i < s.a.size(); ++i)
      ASSERT_EQ(fma[i],
                out(m, fmaHalf<H>(in(m, s.a[i]), in(m, s.b[i]), in(m, s.c[i]))))
          << m.text << i;
  }
}

TEST(HalfForms, F16Arithmetic) { checkArithmetic<HalfF16>(); }
TEST(HalfForms, BF16Arithmetic) { checkArithmetic<HalfBF16>(); }

/// min and max by the ISA's pseudo-code, on values.
template <class H>
uint16_t extreme(uint16_t a, uint16_t b, bool max, bool nan, bool xorSign) {
  uint16_t sign = xorSign ? (a ^ b) & 0x8000 : 0;
  if (xorSign)
    a &= 0x7fff, b &= 0x7fff;
  float x = H::widen(a), y = H::widen(b);
  uint16_t result;
  if (std::isnan(x) && std::isnan(y))
    return 0x7fff; // a NaN takes no sign
  else if (nan && (std::isnan(x) || std::isnan(y)))
    return 0x7fff;
  else if (std::isnan(x))
    result = b;
  else if (std::isnan(y))
    result = a;
  else if (x == 0 && y == 0) // +0 is greater than -0
    result = std::signbit(x) == max ? b : a;
  else
    result = (max ? x > y : x < y) ? a : b;
  return std::isnan(H::widen(result)) ? result : uint16_t(result | sign);
}

template <class H> void checkMinMax() {
  Samples s(2);
  for (bool max : {false, true})
    for (bool nan : {false, true})
      for (bool xorSign : {false, true})
        for (bool ftz : {false, true}) {
          if (ftz && !std::is_same_v<H, HalfF16>)
            continue;
          std::string op = std::string(max ? "max" : "min") +
                           (ftz ? ".ftz" : "") + (nan ? ".NaN" : "") +
                           (xorSign ? ".xorsign.abs" : "");
          auto d = both(op, typeOf<H>(), {s.a, s.b});
          for (size_t i = 0; i < d.size(); ++i) {
            uint16_t a = uint16_t(s.a[i]), b = uint16_t(s.b[i]);
            if (ftz)
              a = flushHalf<H>(a), b = flushHalf<H>(b);
            ASSERT_EQ(d[i], extreme<H>(a, b, max, nan, xorSign))
                << op << std::hex << " " << a << " " << b;
          }
        }
}

TEST(HalfForms, F16MinMax) { checkMinMax<HalfF16>(); }
TEST(HalfForms, BF16MinMax) { checkMinMax<HalfBF16>(); }

TEST(HalfForms, SignInstructions) {
  Samples s(3);
  for (std::string type : {"f16", "bf16"}) {
    auto abs = both("abs", type, {s.a}), neg = both("neg", type, {s.a});
    for (size_t i = 0; i < abs.size(); ++i) {
      ASSERT_EQ(abs[i], s.a[i] & 0x7fff);
      ASSERT_EQ(neg[i], s.a[i] ^ 0x8000);
    }
  }
  auto flushed = both("neg.ftz", "f16", {s.a});
  for (size_t i = 0; i < flushed.size(); ++i)
    ASSERT_EQ(flushed[i], flushHalf<HalfF16>(uint16_t(s.a[i])) ^ 0x8000);
}

bool holds(const std::string &name, float x, float y) {
  bool unordered = std::isnan(x) || std::isnan(y);
  if (name == "num")
    return !unordered;
  if (name == "nan")
    return unordered;
  if (name.size() == 3 && unordered)
    return true; // equ neu ltu leu gtu geu
  std::string base = name.substr(0, 2);
  return base == "eq"   ? x == y
         : base == "ne" ? !unordered && x != y
         : base == "lt" ? x < y
         : base == "le" ? x <= y
         : base == "gt" ? x > y
                        : x >= y;
}

const char *comparisons[] = {"eq",  "ne",  "lt",  "le",  "gt",  "ge",  "equ",
                             "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};

template <class H> void checkCompare() {
  Samples s(4);
  for (std::string name : comparisons) {
    std::string form = "setp." + name + "." + typeOf<H>();
    auto d = apply(form + " d, a, b;", 1, {{16, s.a}, {16, s.b}});
    std::vector<uint64_t> c;
    for (size_t i = 0; i < s.a.size(); ++i)
      c.push_back(i / 3 % 2);
    auto combined =
        apply("setp." + name + ".xor." + typeOf<H>() + " d, a, b, !c;", 1,
              {{16, s.a}, {16, s.b}, {1, c}});
    auto set = apply("set." + name + ".u32." + typeOf<H>() + " d, a, b;", 32,
                     {{16, s.a}, {16, s.b}});
    auto setFloat = apply("set." + name + "." + typeOf<H>() + "." +
                              typeOf<H>() + " d, a, b;",
                          16, {{16, s.a}, {16, s.b}});
    for (size_t i = 0; i < d.size(); ++i) {
      bool yes =
          holds(name, H::widen(uint16_t(s.a[i])), H::widen(uint16_t(s.b[i])));
      ASSERT_EQ(d[i], yes) << form << std::hex << s.a[i] << " " << s.b[i];
      ASSERT_EQ(combined[i], yes != !c[i]) << form;
      ASSERT_EQ(set[i], yes ? 0xffffffffu : 0u) << form;
      uint64_t one = std::is_same_v<H, HalfF16> ? 0x3c00 : 0x3f80;
      ASSERT_EQ(setFloat[i], yes ? one : 0) << form;
    }
  }
}

TEST(HalfForms, F16Compare) { checkCompare<HalfF16>(); }
TEST(HalfForms, BF16Compare) { checkCompare<HalfBF16>(); }

TEST(HalfForms, PairsCompareInBothHalves) {
  // Low halves: 1 < 2; high halves: 2 > 1.
  std::vector<uint64_t> a = {0x40003c00}, b = {0x3c004000};
  auto p = [&](const char *text) {
    return apply(std::string("{\n.reg .pred q;\n") + text + "\n}", 1,
                 {{32, a}, {32, b}})[0];
  };
  EXPECT_EQ(p("setp.lt.f16x2 d|q, a, b;"), 1u);
  EXPECT_EQ(p("setp.lt.f16x2 q|d, a, b;"), 0u);
  EXPECT_EQ(p("setp.gt.f16x2 q|d, a, b;"), 1u);
  EXPECT_EQ(p("setp.lt.f16x2 d, a, b;"), 1u);
  EXPECT_EQ(apply("set.gt.f16x2.f16x2 d, a, b;", 32, {{32, a}, {32, b}})[0],
            0x3c000000u);
  EXPECT_EQ(apply("set.lt.u32.f16x2 d, a, b;", 32, {{32, a}, {32, b}})[0],
            0x0000ffffu);
  // Two predicates are for pairs only.
  EXPECT_NE(loadError("setp.lt.f16 %p1|%p2, %h1, %h2;"), "");
}

TEST(HalfForms, FormsThatDoNotExistAreRefused) {
  for (const char *text :
       {"add.ftz.bf16 %h1, %h2, %h3;", "add.sat.bf16 %h1, %h2, %h3;",
        "add.rz.f16 %h1, %h2, %h3;", "add.relu.f16 %h1, %h2, %h3;",
        "fma.bf16 %h1, %h2, %h3, %h4;", "fma.rn.sat.bf16 %h1, %h2, %h3, %h4;",
        "fma.rn.sat.relu.f16 %h1, %h2, %h3, %h4;", "max.abs.f16 %h1, %h2, %h3;",
        "min.ftz.bf16 %h1, %h2, %h3;", "ex2.approx.bf16 %h1, %h2;",
        "ex2.approx.ftz.f16 %h1, %h2;", "tanh.approx.ftz.f16 %h1, %h2;",
        "setp.lo.f16 %p1, %h1, %h2;", "set.lt.f32.f16 %f1, %h1, %h2;",
        "add.f16 %r1, %r2, %r3;"})
    EXPECT_NE(loadError(text), "") << text;
}

TEST(HalfForms, ExponentialAndTanhRoundTheExactValue) {
  std::vector<uint64_t> in;
  for (uint64_t h = 0; h < 0x10000; ++h)
    in.push_back(h);
  auto check = [&](const char *op, const char *type, auto f, auto widen,
                   auto narrow, auto isNaN) {
    auto d = both(op, type, {in});
    for (uint64_t h = 0; h < 0x10000; ++h) {
      if (isNaN(uint16_t(h))) {
        ASSERT_EQ(d[h], 0x7fffu) << op << h;
        continue;
      }
      // The ISA's bounds are 2^-9.9 and 2^-10.987 relative, 2^-7 and 2^-8 for
      // bf16: one unit in the last place is inside all of them.
      uint16_t exact = narrow(float(f(double(widen(uint16_t(h))))));
      int difference = int(d[h]) - int(exact);
      ASSERT_LE(std::abs(difference), 1) << op << "." << type << " " << h;
    }
  };
  auto exp2 = [](double x) { return std::exp2(x); };
  auto tanh = [](double x) { return std::tanh(x); };
  auto narrowFlushed = [](float f) {
    return flushHalf<HalfBF16>(HalfBF16::narrow(f));
  };
  auto widenFlushed = [](uint16_t h) {
    return HalfBF16::widen(flushHalf<HalfBF16>(h));
  };
  check("ex2.approx", "f16", exp2, HalfF16::widen, HalfF16::narrow,
        isNaNHalf<HalfF16>);
  check("ex2.approx.ftz", "bf16", exp2, widenFlushed, narrowFlushed,
        isNaNHalf<HalfBF16>);
  check("tanh.approx", "f16", tanh, HalfF16::widen, HalfF16::narrow,
        isNaNHalf<HalfF16>);
  check("tanh.approx", "bf16", tanh, HalfBF16::widen, HalfBF16::narrow,
        isNaNHalf<HalfBF16>);
}

} // namespace
