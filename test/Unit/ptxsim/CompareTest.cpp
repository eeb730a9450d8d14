// setp and set: every comparison, NaN, combination with a predicate, second
// destination.

#include "test/Unit/ptxsim/TestKernel.h"

#include <cmath>

using namespace ptxsim::test;

namespace {
const uint64_t nan32 = f32(NAN), nan64 = f64(NAN);
}

TEST(Compare, Integers) {
  expectInstruction("setp.eq.b32 d, a, b", {1, 32, 32},
                    {{1, 1, 0, 1}, {1, 2, 0, 0}});
  expectInstruction("setp.ne.b64 d, a, b", {1, 64, 64},
                    {{1ull << 40, 0, 0, 1}, {3, 3, 0, 0}});
  expectInstruction("setp.lt.s32 d, a, b", {1, 32, 32},
                    {{s32(-1), 1, 0, 1}, {1, 1, 0, 0}});
  expectInstruction("setp.lt.u32 d, a, b", {1, 32, 32},
                    {{s32(-1), 1, 0, 0}, {1, 2, 0, 1}});
  expectInstruction("setp.le.s64 d, a, b", {1, 64, 64},
                    {{s64(-1), 1, 0, 1}, {1, 1, 0, 1}, {2, 1, 0, 0}});
  expectInstruction("setp.gt.u16 d, a, b", {1, 16, 16},
                    {{0xffff, 1, 0, 1}, {1, 1, 0, 0}});
  expectInstruction("setp.gt.s16 d, a, b", {1, 16, 16},
                    {{0xffff, 1, 0, 0}, {2, 1, 0, 1}});
  expectInstruction("setp.ge.u64 d, a, b", {1, 64, 64},
                    {{~0ull, 1, 0, 1}, {1, 1, 0, 1}, {0, 1, 0, 0}});
  expectInstruction("setp.lo.u32 d, a, b", {1, 32, 32},
                    {{1, 2, 0, 1}, {2, 2, 0, 0}});
  expectInstruction("setp.ls.u32 d, a, b", {1, 32, 32},
                    {{2, 2, 0, 1}, {3, 2, 0, 0}});
  expectInstruction("setp.hi.u32 d, a, b", {1, 32, 32},
                    {{3, 2, 0, 1}, {2, 2, 0, 0}});
  expectInstruction("setp.hs.u32 d, a, b", {1, 32, 32},
                    {{2, 2, 0, 1}, {1, 2, 0, 0}});
  expectInstruction("setp.ne.b32 d, 1, 0", {1, 32}, {{0, 0, 0, 1}});
}

TEST(Compare, FloatsAndNaN) {
  // Ordered comparisons are false for NaN, unordered ones true.
  struct Row {
    const char *name;
    uint64_t less, equal, greater, nan;
  };
  const Row rows[] = {
      {"eq", 0, 1, 0, 0},  {"ne", 1, 0, 1, 0},  {"lt", 1, 0, 0, 0},
      {"le", 1, 1, 0, 0},  {"gt", 0, 0, 1, 0},  {"ge", 0, 1, 1, 0},
      {"equ", 0, 1, 0, 1}, {"neu", 1, 0, 1, 1}, {"ltu", 1, 0, 0, 1},
      {"leu", 1, 1, 0, 1}, {"gtu", 0, 0, 1, 1}, {"geu", 0, 1, 1, 1},
      {"num", 1, 1, 1, 0}, {"nan", 0, 0, 0, 1}};
  for (const Row &row : rows) {
    expectInstruction(std::string("setp.") + row.name + ".f32 d, a, b",
                      {1, 32, 32},
                      {{f32(1), f32(2), 0, row.less},
                       {f32(2), f32(2), 0, row.equal},
                       {f32(0), f32(-0.0f), 0, row.equal},
                       {f32(3), f32(2), 0, row.greater},
                       {nan32, f32(2), 0, row.nan},
                       {f32(2), nan32, 0, row.nan}});
    expectInstruction(std::string("setp.") + row.name + ".f64 d, a, b",
                      {1, 64, 64},
                      {{f64(1), f64(2), 0, row.less},
                       {f64(2), f64(2), 0, row.equal},
                       {f64(3), f64(2), 0, row.greater},
                       {nan64, f64(2), 0, row.nan}});
  }
}

TEST(Compare, FlushesSubnormals) {
  expectInstruction(
      "setp.eq.ftz.f32 d, a, b", {1, 32, 32},
      {{1, 0, 0, 1}, {0x807fffff, 0, 0, 1}, {0x00800000, 0, 0, 0}});
  expectInstruction("setp.eq.f32 d, a, b", {1, 32, 32}, {{1, 0, 0, 0}});
}

TEST(Compare, CombinesWithAPredicate) {
  expectInstruction("setp.lt.and.s32 d, a, b, c", {1, 32, 32, 1},
                    {{1, 2, 1, 1}, {1, 2, 0, 0}, {2, 1, 1, 0}});
  expectInstruction("setp.lt.or.s32 d, a, b, c", {1, 32, 32, 1},
                    {{1, 2, 0, 1}, {2, 1, 1, 1}, {2, 1, 0, 0}});
  expectInstruction("setp.lt.xor.s32 d, a, b, !c", {1, 32, 32, 1},
                    {{1, 2, 0, 0}, {1, 2, 1, 1}, {2, 1, 0, 1}});
  // The second destination is the combination with the complement of the
  // comparison.
  expectInstruction("{ .reg .pred p; setp.lt.and.s32 p|d, a, b, c; }",
                    {1, 32, 32, 1}, {{1, 2, 1, 0}, {2, 1, 1, 1}, {2, 1, 0, 0}});
  expectInstruction("{ .reg .pred p; setp.eq.s32 p|d, a, b; }", {1, 32, 32},
                    {{1, 2, 0, 1}, {2, 2, 0, 0}});
}

TEST(Compare, Set) {
  expectInstruction("set.lt.u32.s32 d, a, b", {32, 32, 32},
                    {{1, 2, 0, 0xffffffff}, {2, 1, 0, 0}});
  expectInstruction("set.gt.f32.f32 d, a, b", {32, 32, 32},
                    {{f32(2), f32(1), 0, f32(1)}, {nan32, f32(1), 0, 0}});
  expectInstruction("set.eq.and.s32.u64 d, a, b, c", {32, 64, 64, 1},
                    {{5, 5, 1, 0xffffffff}, {5, 5, 0, 0}});
}
