// Integer arithmetic: values computed by hand from the definitions in the PTX
// ISA.

#include "test/Unit/ptxsim/TestKernel.h"

using namespace ptxsim::test;

TEST(Integer, AddSubWrap) {
  expectInstruction(
      "add.s32 d, a, b", {32, 32, 32},
      {{1, 2, 0, 3}, {0x7fffffff, 1, 0, 0x80000000}, {0xffffffff, 1, 0, 0}});
  expectInstruction("add.u16 d, a, b", {16, 16, 16},
                    {{0xffff, 2, 0, 1}, {0x7fff, 1, 0, 0x8000}});
  expectInstruction("add.s64 d, a, b", {64, 64, 64},
                    {{~0ull, 2, 0, 1}, {0xffffffff, 1, 0, 0x100000000}});
  expectInstruction("sub.u32 d, a, b", {32, 32, 32},
                    {{1, 2, 0, 0xffffffff}, {7, 3, 0, 4}});
  expectInstruction("sub.s16 d, a, b", {16, 16, 16}, {{0, 1, 0, 0xffff}});
  expectInstruction("sub.s64 d, a, b", {64, 64, 64}, {{0, 1, 0, ~0ull}});
  expectInstruction("add.s32 d, a, -5", {32, 32}, {{3, 0, 0, s32(-2)}});
  expectInstruction("add.u16x2 d, a, b", {32, 32, 32},
                    {{0x0001ffff, 0x00020001, 0, 0x00030000}});
}

TEST(Integer, AddSubSaturate) {
  expectInstruction("add.sat.s32 d, a, b", {32, 32, 32},
                    {{0x7fffffff, 1, 0, 0x7fffffff},
                     {0x80000000, s32(-1), 0, 0x80000000},
                     {1, 2, 0, 3}});
  expectInstruction(
      "sub.sat.s32 d, a, b", {32, 32, 32},
      {{0x80000000, 1, 0, 0x80000000}, {0x7fffffff, s32(-1), 0, 0x7fffffff}});
}

TEST(Integer, Multiply) {
  expectInstruction(
      "mul.lo.s32 d, a, b", {32, 32, 32},
      {{0x10001, 0x10001, 0, 0x20001}, {s32(-3), 5, 0, s32(-15)}});
  expectInstruction("mul.hi.s32 d, a, b", {32, 32, 32},
                    {{s32(-1), 1, 0, 0xffffffff}, {0x40000000, 8, 0, 2}});
  expectInstruction("mul.hi.u32 d, a, b", {32, 32, 32},
                    {{0xffffffff, 0xffffffff, 0, 0xfffffffe}});
  expectInstruction("mul.hi.u16 d, a, b", {16, 16, 16},
                    {{0xffff, 0xffff, 0, 0xfffe}});
  expectInstruction("mul.hi.s16 d, a, b", {16, 16, 16},
                    {{0xffff, 1, 0, 0xffff}});
  expectInstruction("mul.lo.s16 d, a, b", {16, 16, 16},
                    {{0x0101, 0x0101, 0, 0x0201}, {0xffff, 0xffff, 0, 1}});
  expectInstruction("mul.lo.s64 d, a, b", {64, 64, 64},
                    {{0x100000001, 0x100000001, 0, 0x200000001}});
  expectInstruction("mul.hi.u64 d, a, b", {64, 64, 64},
                    {{~0ull, ~0ull, 0, ~0ull - 1}});
  expectInstruction("mul.hi.s64 d, a, b", {64, 64, 64},
                    {{~0ull, 1, 0, ~0ull}, {1ull << 62, 8, 0, 2}});
  expectInstruction("mul.wide.s32 d, a, b", {64, 32, 32},
                    {{s32(-2), 3, 0, s64(-6)},
                     {0x7fffffff, 0x7fffffff, 0, 0x3fffffff00000001}});
  expectInstruction("mul.wide.u32 d, a, b", {64, 32, 32},
                    {{0xffffffff, 0xffffffff, 0, 0xfffffffe00000001}});
  expectInstruction("mul.wide.u16 d, a, b", {32, 16, 16},
                    {{0xffff, 0xffff, 0, 0xfffe0001}});
  expectInstruction("mul.wide.s16 d, a, b", {32, 16, 16},
                    {{0xffff, 2, 0, s32(-2)}});
  expectInstruction("mul24.lo.u32 d, a, b", {32, 32, 32},
                    {{0xff000002, 3, 0, 6}});
  expectInstruction("mul24.hi.u32 d, a, b", {32, 32, 32},
                    {{0xffffff, 0xffffff, 0, 0xfffffe00}});
  expectInstruction("mul24.lo.s32 d, a, b", {32, 32, 32},
                    {{0x00ffffff, 3, 0, s32(-3)}});
}

TEST(Integer, MultiplyAdd) {
  expectInstruction("mad.lo.s32 d, a, b, c", {32, 32, 32, 32},
                    {{3, 4, 5, 17}, {0xffffffff, 2, 1, 0xffffffff}});
  expectInstruction("mad.hi.u32 d, a, b, c", {32, 32, 32, 32},
                    {{0xffffffff, 0xffffffff, 1, 0xffffffff}});
  expectInstruction("mad.wide.s32 d, a, b, c", {64, 32, 32, 64},
                    {{s32(-2), 3, 10, 4}});
  expectInstruction("mad.wide.u32 d, a, b, c", {64, 32, 32, 64},
                    {{0xffffffff, 2, 1, 0x1ffffffff}});
  expectInstruction("mad.wide.u16 d, a, b, c", {32, 16, 16, 32},
                    {{0xffff, 2, 1, 0x1ffff}});
  expectInstruction("mad.lo.s64 d, a, b, c", {64, 64, 64, 64}, {{3, 4, 5, 17}});
  expectInstruction("mad.lo.u16 d, a, b, c", {16, 16, 16, 16},
                    {{0xffff, 0xffff, 1, 2}});
  expectInstruction(
      "mad.hi.sat.s32 d, a, b, c", {32, 32, 32, 32},
      {{0x40000000, 8, 0x7fffffff, 0x7fffffff}, {0x40000000, 8, 1, 3}});
  expectInstruction("mad24.lo.u32 d, a, b, c", {32, 32, 32, 32},
                    {{2, 3, 4, 10}});
  expectInstruction("sad.s32 d, a, b, c", {32, 32, 32, 32},
                    {{s32(-2), 3, 10, 15}, {3, s32(-2), 10, 15}});
  expectInstruction("sad.u32 d, a, b, c", {32, 32, 32, 32},
                    {{0xffffffff, 1, 1, 0xffffffff}});
}

TEST(Integer, DivideTruncates) {
  expectInstruction(
      "div.s32 d, a, b", {32, 32, 32},
      {{7, 2, 0, 3}, {s32(-7), 2, 0, s32(-3)}, {7, s32(-2), 0, s32(-3)}});
  expectInstruction("div.u32 d, a, b", {32, 32, 32},
                    {{0xffffffff, 2, 0, 0x7fffffff}});
  expectInstruction(
      "rem.s32 d, a, b", {32, 32, 32},
      {{7, 3, 0, 1}, {s32(-7), 3, 0, s32(-1)}, {7, s32(-3), 0, 1}});
  expectInstruction("rem.u64 d, a, b", {64, 64, 64}, {{~0ull, 10, 0, 5}});
  expectInstruction("div.u64 d, a, b", {64, 64, 64},
                    {{~0ull, 10, 0, 1844674407370955161ull}});
  expectInstruction("div.s64 d, a, b", {64, 64, 64},
                    {{s64(-9), 2, 0, s64(-4)}});
  expectInstruction("div.s16 d, a, b", {16, 16, 16},
                    {{s16(-9), 2, 0, s16(-4)}});
  expectInstruction("rem.u16 d, a, b", {16, 16, 16}, {{0xffff, 16, 0, 15}});
}

TEST(Integer, MinMaxAbsNeg) {
  expectInstruction("min.s32 d, a, b", {32, 32, 32},
                    {{s32(-1), 1, 0, s32(-1)}, {5, 4, 0, 4}});
  expectInstruction("min.u32 d, a, b", {32, 32, 32}, {{0xffffffff, 1, 0, 1}});
  expectInstruction("max.s32 d, a, b", {32, 32, 32}, {{s32(-1), 1, 0, 1}});
  expectInstruction("max.u16 d, a, b", {16, 16, 16}, {{0xffff, 1, 0, 0xffff}});
  expectInstruction("max.s64 d, a, b", {64, 64, 64}, {{~0ull, 1, 0, 1}});
  expectInstruction("max.u64 d, a, b", {64, 64, 64}, {{~0ull, 1, 0, ~0ull}});
  expectInstruction("max.s16x2 d, a, b", {32, 32, 32},
                    {{0xffff0005, 0x00010003, 0, 0x00010005}});
  expectInstruction("min.u16x2 d, a, b", {32, 32, 32},
                    {{0xffff0005, 0x00010003, 0, 0x00010003}});
  expectInstruction("max.relu.s32 d, a, b", {32, 32, 32},
                    {{s32(-3), s32(-2), 0, 0}, {s32(-3), 2, 0, 2}});
  expectInstruction(
      "abs.s32 d, a", {32, 32},
      {{s32(-5), 0, 0, 5}, {5, 0, 0, 5}, {0x80000000, 0, 0, 0x80000000}});
  expectInstruction("abs.s16 d, a", {16, 16}, {{s16(-5), 0, 0, 5}});
  expectInstruction("abs.s64 d, a", {64, 64}, {{s64(-5), 0, 0, 5}});
  expectInstruction("neg.s32 d, a", {32, 32},
                    {{5, 0, 0, s32(-5)}, {0x80000000, 0, 0, 0x80000000}});
  expectInstruction("neg.s16 d, a", {16, 16}, {{5, 0, 0, s16(-5)}});
  expectInstruction("neg.s64 d, a", {64, 64}, {{5, 0, 0, s64(-5)}});
}

TEST(Integer, CarryChain) {
  // 96-bit sum and difference in three steps; the carry crosses instructions
  // that do not touch it.
  expectInstruction(
      "{ .reg .b32 lo, hi; mov.b64 {lo, hi}, a; .reg .b32 lo2, hi2; mov.b64 "
      "{lo2, hi2}, b;"
      " add.cc.u32 lo, lo, lo2; addc.cc.u32 hi, hi, hi2; addc.u32 lo2, 0, 0; "
      "mov.b64 d, {hi, lo2}; }",
      {64, 64, 64},
      {{~0ull, 1, 0, 0x100000000}, {1, 2, 0, 0}, {0xffffffff, 1, 0, 1}});
  expectInstruction("{ .reg .b32 lo, hi, lo2, hi2; mov.b64 {lo, hi}, a; "
                    "mov.b64 {lo2, hi2}, b;"
                    " sub.cc.u32 lo, lo, lo2; subc.cc.u32 hi, hi, hi2; "
                    "subc.u32 lo2, 0, 0; mov.b64 d, {hi, lo2}; }",
                    {64, 64, 64}, {{0, 1, 0, ~0ull}, {0x100000000, 1, 0, 0}});
  expectInstruction("{ .reg .u64 x; add.cc.u64 x, a, b; addc.u64 d, 0, 0; }",
                    {64, 64, 64}, {{~0ull, 1, 0, 1}, {1, 1, 0, 0}});
  // a * b + c, 64 bits from 32-bit halves.
  expectInstruction("{ .reg .b32 lo, hi; mad.lo.cc.u32 lo, a, b, c; "
                    "madc.hi.u32 hi, a, b, 0; mov.b64 d, {lo, hi}; }",
                    {64, 32, 32, 32},
                    {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff00000000},
                     {2, 3, 4, 10}});
}
