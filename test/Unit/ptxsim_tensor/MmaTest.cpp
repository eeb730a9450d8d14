// mma on fragments against a matrix product over plain matrices, with the
// positions of the ISA's tables.

#include "runtime/ptxsim/numeric/Mma.h"
#include "Fragments.h"
#include "runtime/ptxsim/numeric/Float.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

using namespace ptxsim;

namespace {

using Table = fragments::Place (*)(unsigned lane, unsigned i);

/// A form of mma: how its operands are stored.
struct Form {
  MmaShape shape;
  unsigned bits; ///< of an element
  Table a, b;
};

FloatFormat formatOf(MmaElement e) {
  switch (e) {
  case MmaElement::F16:
    return formatF16;
  case MmaElement::BF16:
    return formatBF16;
  case MmaElement::TF32:
    return formatTF32;
  case MmaElement::E4M3:
    return formatE4M3;
  default:
    return formatE5M2;
  }
}

uint32_t encode(MmaElement e, double v) {
  if (e == MmaElement::S8 || e == MmaElement::U8)
    return uint32_t(int(v)) & 0xff;
  uint32_t bits =
      uint32_t(pack(formatOf(e), unpack(formatF64, std::bit_cast<uint64_t>(v)),
                    Rounding::NearestEven, true));
  return e == MmaElement::TF32 ? bits << 13 : bits;
}
double decode(MmaElement e, uint32_t bits) {
  if (e == MmaElement::S8)
    return int8_t(bits);
  if (e == MmaElement::U8)
    return uint8_t(bits);
  Number n = unpack(formatOf(e), e == MmaElement::TF32 ? bits >> 13 : bits);
  return (n.negative ? -1 : 1) * std::ldexp(double(n.significand), n.exponent);
}

float halfToFloat(uint32_t h) {
  return float(decode(MmaElement::F16, h & 0xffff));
}

/// Registers of a warp and the matrices they stand for.
struct Problem {
  Form form;
  uint32_t a[4][32] = {}, b[2][32] = {}, c[4][32] = {}, d[4][32] = {};
  std::vector<double> A, B, C;

  explicit Problem(const Form &f)
      : form(f), A(16 * f.shape.k), B(f.shape.k * 8), C(16 * 8) {}

  bool hasHalfC() const {
    return form.shape.accumulator == MmaAccumulator::F16;
  }
  bool isInteger() const { return form.shape.a >= MmaElement::S8; }

  template <class Make> void fill(Make make) {
    unsigned per = 32 / form.bits, k = form.shape.k;
    for (unsigned lane = 0; lane < 32; ++lane) {
      for (unsigned i = 0; i < form.shape.aRegisters() * per; ++i) {
        auto [row, column] = form.a(lane, i);
        uint32_t code = encode(form.shape.a, make(form.shape.a));
        A[row * k + column] = decode(form.shape.a, code);
        a[i / per][lane] |= code << (form.bits % 32 * (i % per));
      }
      for (unsigned i = 0; i < form.shape.bRegisters() * per; ++i) {
        auto [row, column] = form.b(lane, i);
        uint32_t code = encode(form.shape.b, make(form.shape.b));
        B[row * 8 + column] = decode(form.shape.b, code);
        b[i / per][lane] |= code << (form.bits % 32 * (i % per));
      }
      for (unsigned i = 0; i < 4; ++i) {
        auto [row, column] = fragments::c(lane, i);
        double v = make(MmaElement::F16);
        if (isInteger()) {
          c[i][lane] = uint32_t(int(v));
          C[row * 8 + column] = int(v);
        } else if (hasHalfC()) {
          uint32_t code = encode(MmaElement::F16, v);
          c[i / 2][lane] |= code << 16 * (i % 2);
          C[row * 8 + column] = decode(MmaElement::F16, code);
        } else {
          c[i][lane] = std::bit_cast<uint32_t>(float(v));
          C[row * 8 + column] = float(v);
        }
      }
    }
  }

  void run() {
    uint32_t *pd[] = {d[0], d[1], d[2], d[3]};
    const uint32_t *pa[] = {a[0], a[1], a[2], a[3]}, *pb[] = {b[0], b[1]},
                   *pc[] = {c[0], c[1], c[2], c[3]};
    MmaFn fn = mmaExact32(form.shape);
    ASSERT_NE(fn, nullptr);
    fn(pd, pa, pb, pc);
  }

  /// The element of D that lane's register element i stands for.
  double result(unsigned lane, unsigned i) const {
    if (isInteger())
      return int32_t(d[i][lane]);
    if (hasHalfC())
      return halfToFloat(d[i / 2][lane] >> 16 * (i % 2));
    return std::bit_cast<float>(d[i][lane]);
  }

  template <class Check> void forResults(Check check) {
    for (unsigned lane = 0; lane < 32; ++lane)
      for (unsigned i = 0; i < 4; ++i) {
        auto [row, column] = fragments::c(lane, i);
        check(result(lane, i), row, column);
      }
  }
};

std::vector<Form> floatForms() {
  using enum MmaElement;
  constexpr auto F32 = MmaAccumulator::F32, H = MmaAccumulator::F16;
  using namespace fragments;
  return {
      {{MmaElement::BF16, MmaElement::BF16, F32, 16}, 16, a16, b16},
      {{MmaElement::BF16, MmaElement::BF16, F32, 8}, 16, a16, b16},
      {{MmaElement::F16, MmaElement::F16, F32, 16}, 16, a16, b16},
      {{MmaElement::F16, MmaElement::F16, F32, 8}, 16, a16, b16},
      {{MmaElement::F16, MmaElement::F16, H, 16}, 16, a16, b16},
      {{MmaElement::F16, MmaElement::F16, H, 8}, 16, a16, b16},
      {{TF32, TF32, F32, 8}, 32, a32, b32},
      {{TF32, TF32, F32, 4}, 32, a32, b32},
      {{E4M3, E4M3, F32, 32}, 8, a8, b8},
      {{E4M3, E5M2, F32, 32}, 8, a8, b8},
      {{E5M2, E4M3, F32, 32}, 8, a8, b8},
      {{E5M2, E5M2, F32, 32}, 8, a8, b8},
      {{E4M3, E4M3, F32, 16}, 8, a8, b8},
      {{E4M3, E5M2, H, 32}, 8, a8, b8},
      {{E5M2, E5M2, H, 16}, 8, a8, b8},
  };
}

TEST(Mma, SmallIntegersAreExactInEveryFloatForm) {
  std::mt19937 random(1);
  for (const Form &form : floatForms())
    for (int round = 0; round < 20; ++round) {
      Problem p(form);
      p.fill([&](MmaElement) { return double(int(random() % 9) - 4); });
      p.run();
      p.forResults([&](double got, unsigned row, unsigned column) {
        double sum = p.C[row * 8 + column];
        for (unsigned k = 0; k < form.shape.k; ++k)
          sum += p.A[row * form.shape.k + k] * p.B[k * 8 + column];
        ASSERT_EQ(got, sum)
            << "k " << form.shape.k << " element " << row << "," << column;
      });
    }
}

TEST(Mma, FloatsAreAChainOfFmaInAscendingK) {
  std::mt19937 random(2);
  std::normal_distribution<double> normal;
  for (const Form &form : floatForms())
    for (int round = 0; round < 20; ++round) {
      Problem p(form);
      p.fill([&](MmaElement) { return normal(random); });
      p.run();
      p.forResults([&](double got, unsigned row, unsigned column) {
        float sum = float(p.C[row * 8 + column]);
        for (unsigned k = 0; k < form.shape.k; ++k)
          sum = std::fmaf(float(p.A[row * form.shape.k + k]),
                          float(p.B[k * 8 + column]), sum);
        if (p.hasHalfC())
          sum = halfToFloat(encode(MmaElement::F16, sum));
        ASSERT_EQ(got, sum);
      });
    }
}

TEST(Mma, IntegersWrapOrSaturate) {
  std::mt19937 random(3);
  using enum MmaElement;
  for (MmaElement ta : {S8, U8})
    for (MmaElement tb : {S8, U8})
      for (unsigned k : {16u, 32u})
        for (MmaAccumulator acc :
             {MmaAccumulator::S32, MmaAccumulator::S32Saturated}) {
          Form form{{ta, tb, acc, k}, 8, fragments::a8, fragments::b8};
          Problem p(form);
          p.fill([&](MmaElement e) {
            return e == U8   ? double(random() % 256)
                   : e == S8 ? double(int(random() % 256) - 128)
                             : (random() % 2 ? 2147483000.0 : -2147483000.0);
          });
          p.run();
          p.forResults([&](double got, unsigned row, unsigned column) {
            int64_t sum = int64_t(p.C[row * 8 + column]);
            for (unsigned i = 0; i < k; ++i)
              sum += int64_t(p.A[row * k + i] * p.B[i * 8 + column]);
            if (acc == MmaAccumulator::S32)
              sum = int32_t(uint32_t(uint64_t(sum)));
            else
              sum = std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX);
            ASSERT_EQ(got, double(sum));
          });
        }
}

TEST(Mma, EveryPatternOfTheShortTypesWidensExactly) {
  // One element of A at a time against B = 1: D is A's element.
  using enum MmaElement;
  for (MmaElement type : {MmaElement::F16, MmaElement::BF16, E4M3, E5M2}) {
    bool bytes = type == E4M3 || type == E5M2;
    Form form{{type, type, MmaAccumulator::F32, bytes ? 32u : 16u},
              bytes ? 8u : 16u,
              bytes ? fragments::a8 : fragments::a16,
              bytes ? fragments::b8 : fragments::b16};
    unsigned patterns = bytes ? 256 : 65536, k = form.shape.k;
    for (unsigned first = 0; first < patterns; first += 16) {
      Problem p(form);
      p.fill([](MmaElement) { return 0.0; });
      uint32_t one = encode(type, 1.0);
      unsigned per = 32 / form.bits;
      for (unsigned lane = 0; lane < 32; ++lane) {
        for (unsigned i = 0; i < form.shape.aRegisters() * per; ++i)
          if (auto place = form.a(lane, i); place.column == place.row)
            p.a[i / per][lane] |= (first + place.row) << form.bits * (i % per);
        for (unsigned i = 0; i < form.shape.bRegisters() * per; ++i)
          p.b[i / per][lane] |= one << form.bits * (i % per);
      }
      p.run();
      for (unsigned row = 0; row < 16 && row < k; ++row) {
        uint32_t bits = first + row;
        Number n = unpack(formatOf(type), bits);
        float got = std::bit_cast<float>(p.d[row / 8 * 2][row % 8 * 4]);
        if (n.kind == Number::NaN) {
          ASSERT_EQ(std::bit_cast<uint32_t>(got), 0x7fffffffu) << bits;
        } else if (n.kind == Number::Infinite) {
          ASSERT_EQ(got, n.negative ? -INFINITY : INFINITY) << bits;
        } else {
          ASSERT_EQ(double(got), decode(type, bits)) << bits;
        }
      }
    }
  }
}

TEST(Mma, DestinationsMayBeAnyOfTheSources) {
  std::mt19937 random(4);
  Form form{{MmaElement::BF16, MmaElement::BF16, MmaAccumulator::F32, 16},
            16,
            fragments::a16,
            fragments::b16};
  Problem p(form);
  p.fill([&](MmaElement) { return double(int(random() % 9) - 4); });
  p.run();
  Problem q = p;
  // D in the registers of A, then of C in another order.
  uint32_t *da[] = {q.a[0], q.a[1], q.a[2], q.a[3]};
  const uint32_t *pb[] = {q.b[0], q.b[1]},
                 *pc[] = {q.c[0], q.c[1], q.c[2], q.c[3]};
  mmaExact32(form.shape)(da, da, pb, pc);
  EXPECT_EQ(std::memcmp(q.a, p.d, sizeof p.d), 0);
  q = p;
  uint32_t *dc[] = {q.c[3], q.c[0], q.c[2], q.c[1]};
  const uint32_t *pa[] = {q.a[0], q.a[1], q.a[2], q.a[3]};
  mmaExact32(form.shape)(dc, pa, pb, pc);
  for (unsigned i = 0; i < 4; ++i)
    EXPECT_EQ(std::memcmp(dc[i], p.d[i], sizeof p.d[i]), 0) << i;
}

TEST(Mma, FormsThatDoNotExistAreRefused) {
  using enum MmaElement;
  EXPECT_EQ(
      mmaExact32({MmaElement::BF16, MmaElement::BF16, MmaAccumulator::F16, 16}),
      nullptr);
  EXPECT_EQ(
      mmaExact32({MmaElement::BF16, MmaElement::F16, MmaAccumulator::F32, 16}),
      nullptr);
  EXPECT_EQ(mmaExact32({TF32, TF32, MmaAccumulator::F32, 16}), nullptr);
  EXPECT_EQ(mmaExact32({S8, S8, MmaAccumulator::F32, 32}), nullptr);
}

} // namespace
