// f32 and f64 arithmetic: rounding, flushing, saturation, NaN, signed zeros.

#include "test/Unit/ptxsim/TestKernel.h"

#include <cmath>

using namespace ptxsim::test;

namespace {
const uint64_t nan32 = 0x7fffffff, otherNan = 0xffc12345, inf = f32(INFINITY),
               tiny = 0x00000001, negativeTiny = 0x80000001;
constexpr float ulp1 = 0x1p-23f; // distance of 1 to the next f32
} // namespace

TEST(Float, AddSubMul) {
  expectInstruction("add.f32 d, a, b", {32, 32, 32},
                    {{f32(1), f32(2), 0, f32(3)},
                     {f32(1), f32(0x1p-24f), 0, f32(1)}, // tie to even
                     {f32(1 + ulp1), f32(0x1p-24f), 0, f32(1 + 2 * ulp1)},
                     {inf, f32(-INFINITY), 0, nan32},
                     {otherNan, f32(1), 0, nan32},
                     {tiny, tiny, 0, 2}});
  expectInstruction("add.rn.f32 d, a, b", {32, 32, 32},
                    {{f32(1), f32(2), 0, f32(3)}});
  expectInstruction("sub.f32 d, a, b", {32, 32, 32},
                    {{f32(1), f32(1), 0, 0}, {f32(1), f32(3), 0, f32(-2)}});
  expectInstruction("mul.rn.f32 d, a, b", {32, 32, 32},
                    {{f32(3), f32(-2), 0, f32(-6)}, {f32(0), inf, 0, nan32}});
  expectInstruction("add.f64 d, a, b", {64, 64, 64},
                    {{f64(0.1), f64(0.2), 0, f64(0.30000000000000004)}});
  expectInstruction("sub.rn.f64 d, a, b", {64, 64, 64},
                    {{f64(1), f64(3), 0, f64(-2)}});
  expectInstruction("mul.f64 d, a, b", {64, 64, 64},
                    {{f64(3), f64(-2), 0, f64(-6)}});
}

TEST(Float, FlushAndSaturate) {
  expectInstruction("add.ftz.f32 d, a, b", {32, 32, 32},
                    {{tiny, tiny, 0, 0},
                     {negativeTiny, negativeTiny, 0, 0x80000000},
                     {0x00800001, 0x80800000, 0, 0}});
  expectInstruction(
      "mul.ftz.f32 d, a, b", {32, 32, 32},
      {{0x00800000, f32(0.5f), 0, 0}, {0x80800000, f32(0.5f), 0, 0x80000000}});
  expectInstruction("mul.f32 d, a, b", {32, 32, 32},
                    {{0x00800000, f32(0.5f), 0, 0x00400000}});
  expectInstruction("add.sat.f32 d, a, b", {32, 32, 32},
                    {{f32(1), f32(1), 0, f32(1)},
                     {f32(-1), f32(0.5f), 0, 0},
                     {f32(0.25f), f32(0.5f), 0, f32(0.75f)},
                     {otherNan, f32(1), 0, 0}});
  expectInstruction("fma.rn.ftz.sat.f32 d, a, b, c", {32, 32, 32, 32},
                    {{f32(2), f32(3), f32(1), f32(1)}});
}

TEST(Float, FusedMultiplyAdd) {
  // (1 + e)(1 - e) - 1 = -e^2: nothing is left of it if the product is rounded.
  expectInstruction("fma.rn.f32 d, a, b, c", {32, 32, 32, 32},
                    {{f32(1 + ulp1), f32(1 - ulp1), f32(-1), f32(-0x1p-46f)},
                     {f32(2), f32(3), f32(4), f32(10)}});
  expectInstruction("mad.rn.f32 d, a, b, c", {32, 32, 32, 32},
                    {{f32(1 + ulp1), f32(1 - ulp1), f32(-1), f32(-0x1p-46f)}});
  expectInstruction(
      "fma.rn.f64 d, a, b, c", {64, 64, 64, 64},
      {{f64(1 + 0x1p-52), f64(1 - 0x1p-52), f64(-1), f64(-0x1p-104)}});
}

TEST(Float, DirectedRounding) {
  const uint64_t one = f32(1), small = f32(0x1p-30f),
                 minusSmall = f32(-0x1p-30f), above = f32(1 + ulp1),
                 below = f32(1 - ulp1 / 2);
  expectInstruction("add.rz.f32 d, a, b", {32, 32, 32},
                    {{one, small, 0, one}, {one, minusSmall, 0, below}});
  expectInstruction("add.rm.f32 d, a, b", {32, 32, 32},
                    {{one, small, 0, one}, {one, minusSmall, 0, below}});
  expectInstruction("add.rp.f32 d, a, b", {32, 32, 32},
                    {{one, small, 0, above}, {one, minusSmall, 0, one}});
  expectInstruction("add.rn.f32 d, a, b", {32, 32, 32},
                    {{one, small, 0, one}, {one, minusSmall, 0, one}});
  expectInstruction("mul.rp.f32 d, a, b", {32, 32, 32},
                    {{above, above, 0, f32(1 + 3 * ulp1)}});
  expectInstruction("mul.rz.f32 d, a, b", {32, 32, 32},
                    {{above, above, 0, f32(1 + 2 * ulp1)}});
  expectInstruction("fma.rm.f32 d, a, b, c", {32, 32, 32, 32},
                    {{one, one, minusSmall, below}});
  expectInstruction("fma.rz.f32 d, a, b, c", {32, 32, 32, 32},
                    {{one, one, small, one}});
  expectInstruction("fma.rp.f64 d, a, b, c", {64, 64, 64, 64},
                    {{f64(1), f64(1), f64(0x1p-80), f64(1 + 0x1p-52)}});
  expectInstruction("div.rp.f32 d, a, b", {32, 32, 32},
                    {{one, f32(3), 0, 0x3eaaaaab}});
  expectInstruction("div.rm.f32 d, a, b", {32, 32, 32},
                    {{one, f32(3), 0, 0x3eaaaaaa}});
  expectInstruction("sqrt.rz.f32 d, a", {32, 32}, {{f32(2), 0, 0, 0x3fb504f3}});
  expectInstruction("sqrt.rp.f32 d, a", {32, 32}, {{f32(2), 0, 0, 0x3fb504f4}});
  // The host's mode is restored.
  expectInstruction("{ add.rp.f32 d, a, b; add.rn.f32 d, a, b; }", {32, 32, 32},
                    {{one, small, 0, one}});
}

TEST(Float, DivideAndSquareRoot) {
  expectInstruction("div.rn.f32 d, a, b", {32, 32, 32},
                    {{f32(1), f32(3), 0, 0x3eaaaaab},
                     {f32(1), f32(0), 0, inf},
                     {0, 0, 0, nan32},
                     {f32(-6), f32(3), 0, f32(-2)}});
  expectInstruction("div.rn.f64 d, a, b", {64, 64, 64},
                    {{f64(1), f64(3), 0, 0x3fd5555555555555}});
  expectInstruction("sqrt.rn.f32 d, a", {32, 32},
                    {{f32(2), 0, 0, 0x3fb504f3},
                     {f32(-1), 0, 0, nan32},
                     {0x80000000, 0, 0, 0x80000000}});
  expectInstruction("sqrt.rn.f64 d, a", {64, 64},
                    {{f64(2), 0, 0, 0x3ff6a09e667f3bcd}});
}

TEST(Float, MinMax) {
  expectInstruction("min.f32 d, a, b", {32, 32, 32},
                    {{f32(1), f32(2), 0, f32(1)},
                     {f32(0.0f), f32(-0.0f), 0, f32(-0.0f)},
                     {f32(-0.0f), f32(0.0f), 0, f32(-0.0f)},
                     {otherNan, f32(2), 0, f32(2)},
                     {f32(2), otherNan, 0, f32(2)},
                     {otherNan, otherNan, 0, nan32}});
  expectInstruction("max.f32 d, a, b", {32, 32, 32},
                    {{f32(1), f32(2), 0, f32(2)},
                     {f32(0.0f), f32(-0.0f), 0, f32(0.0f)},
                     {f32(-0.0f), f32(0.0f), 0, f32(0.0f)},
                     {otherNan, f32(2), 0, f32(2)}});
  expectInstruction("max.NaN.f32 d, a, b", {32, 32, 32},
                    {{otherNan, f32(2), 0, nan32},
                     {f32(2), otherNan, 0, nan32},
                     {f32(1), f32(2), 0, f32(2)}});
  expectInstruction(
      "min.NaN.f32 d, a, b", {32, 32, 32},
      {{otherNan, f32(2), 0, nan32}, {f32(1), f32(2), 0, f32(1)}});
  expectInstruction("max.ftz.f32 d, a, b", {32, 32, 32},
                    {{tiny, f32(-1), 0, 0}});
  expectInstruction(
      "max.xorsign.abs.f32 d, a, b", {32, 32, 32},
      {{f32(-3), f32(2), 0, f32(-3)}, {f32(-3), f32(-4), 0, f32(4)}});
  expectInstruction(
      "min.f64 d, a, b", {64, 64, 64},
      {{f64(1), f64(2), 0, f64(1)}, {f64(NAN), f64(2), 0, f64(2)}});
  expectInstruction("max.f64 d, a, b", {64, 64, 64},
                    {{f64(1), f64(2), 0, f64(2)}});
}

TEST(Float, Signs) {
  expectInstruction("abs.f32 d, a", {32, 32},
                    {{f32(-2), 0, 0, f32(2)}, {0x80000000, 0, 0, 0}});
  expectInstruction("abs.ftz.f32 d, a", {32, 32}, {{negativeTiny, 0, 0, 0}});
  expectInstruction("neg.f32 d, a", {32, 32},
                    {{f32(-2), 0, 0, f32(2)}, {0, 0, 0, 0x80000000}});
  expectInstruction("neg.ftz.f32 d, a", {32, 32}, {{tiny, 0, 0, 0x80000000}});
  expectInstruction("abs.f64 d, a", {64, 64}, {{f64(-2), 0, 0, f64(2)}});
  expectInstruction("neg.f64 d, a", {64, 64}, {{f64(-2), 0, 0, f64(2)}});
  // The sign of a, the value of b.
  expectInstruction(
      "copysign.f32 d, a, b", {32, 32, 32},
      {{f32(-1), f32(3), 0, f32(-3)}, {f32(1), f32(-3), 0, f32(3)}});
  expectInstruction("copysign.f64 d, a, b", {64, 64, 64},
                    {{f64(-1), f64(3), 0, f64(-3)}});
}

TEST(Float, Classes) {
  expectInstruction("testp.finite.f32 d, a", {1, 32},
                    {{f32(1), 0, 0, 1}, {inf, 0, 0, 0}, {nan32, 0, 0, 0}});
  expectInstruction("testp.infinite.f32 d, a", {1, 32},
                    {{f32(1), 0, 0, 0}, {inf, 0, 0, 1}});
  expectInstruction("testp.number.f32 d, a", {1, 32},
                    {{f32(1), 0, 0, 1}, {nan32, 0, 0, 0}});
  expectInstruction("testp.notanumber.f64 d, a", {1, 64},
                    {{f64(1), 0, 0, 0}, {f64(NAN), 0, 0, 1}});
  expectInstruction("testp.normal.f32 d, a", {1, 32},
                    {{f32(1), 0, 0, 1}, {tiny, 0, 0, 0}});
  expectInstruction("testp.subnormal.f32 d, a", {1, 32},
                    {{f32(1), 0, 0, 0}, {tiny, 0, 0, 1}});
}
