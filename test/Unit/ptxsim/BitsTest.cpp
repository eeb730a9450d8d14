// Logic, shifts and bit fields.

#include "test/Unit/ptxsim/TestKernel.h"

using namespace ptxsim::test;

TEST(Bits, Logic) {
  expectInstruction("and.b32 d, a, b", {32, 32, 32},
                    {{0xff00ff00, 0x0ff00ff0, 0, 0x0f000f00}});
  expectInstruction("or.b16 d, a, b", {16, 16, 16},
                    {{0xf000, 0x000f, 0, 0xf00f}});
  expectInstruction("xor.b64 d, a, b", {64, 64, 64}, {{~0ull, 1, 0, ~1ull}});
  expectInstruction("not.b32 d, a", {32, 32}, {{0xff, 0, 0, 0xffffff00}});
  expectInstruction("not.b16 d, a", {16, 16}, {{0xff, 0, 0, 0xff00}});
  expectInstruction("not.b64 d, a", {64, 64}, {{0, 0, 0, ~0ull}});
  expectInstruction("and.b32 d, a, 0xf0", {32, 32}, {{0xff, 0, 0, 0xf0}});
}

TEST(Bits, PredicateLogic) {
  std::vector<Case> truth = {
      {0, 0, 0, 0}, {0, 1, 0, 0}, {1, 0, 0, 0}, {1, 1, 0, 1}};
  expectInstruction("and.pred d, a, b", {1, 1, 1}, truth);
  expectInstruction("or.pred d, a, b", {1, 1, 1},
                    {{0, 0, 0, 0}, {0, 1, 0, 1}, {1, 0, 0, 1}, {1, 1, 0, 1}});
  expectInstruction("xor.pred d, a, b", {1, 1, 1},
                    {{0, 0, 0, 0}, {0, 1, 0, 1}, {1, 0, 0, 1}, {1, 1, 0, 0}});
  expectInstruction("not.pred d, a", {1, 1}, {{0, 0, 0, 1}, {1, 0, 0, 0}});
  expectInstruction("mov.pred d, a", {1, 1}, {{0, 0, 0, 0}, {1, 0, 0, 1}});
}

TEST(Bits, ShiftsClampTheirAmount) {
  expectInstruction("shl.b32 d, a, b", {32, 32, 32},
                    {{1, 31, 0, 0x80000000},
                     {1, 32, 0, 0},
                     {1, 0xffffffff, 0, 0},
                     {3, 0, 0, 3}});
  expectInstruction("shl.b16 d, a, b", {16, 16, 32},
                    {{1, 15, 0, 0x8000}, {1, 16, 0, 0}});
  expectInstruction("shl.b64 d, a, b", {64, 64, 32},
                    {{1, 63, 0, 1ull << 63}, {1, 64, 0, 0}});
  expectInstruction("shr.u32 d, a, b", {32, 32, 32},
                    {{0x80000000, 31, 0, 1}, {0x80000000, 32, 0, 0}});
  expectInstruction("shr.s32 d, a, b", {32, 32, 32},
                    {{0x80000000, 31, 0, 0xffffffff},
                     {0x80000000, 40, 0, 0xffffffff},
                     {0x40000000, 40, 0, 0}});
  expectInstruction("shr.b32 d, a, b", {32, 32, 32},
                    {{0x80000000, 4, 0, 0x08000000}});
  expectInstruction("shr.s64 d, a, b", {64, 64, 32},
                    {{1ull << 63, 63, 0, ~0ull}, {1ull << 63, 99, 0, ~0ull}});
  expectInstruction("shr.u64 d, a, b", {64, 64, 32}, {{1ull << 63, 63, 0, 1}});
  expectInstruction("shr.u16 d, a, b", {16, 16, 32},
                    {{0x8000, 15, 0, 1}, {0x8000, 16, 0, 0}});
  expectInstruction("shr.s16 d, a, b", {16, 16, 32}, {{0x8000, 15, 0, 0xffff}});
}

TEST(Bits, FunnelShift) {
  // a is the low word, b the high one.
  expectInstruction("shf.l.wrap.b32 d, a, b, c", {32, 32, 32, 32},
                    {{0x80000000, 0x1, 1, 0x3},
                     {0x80000000, 0x1, 33, 0x3},
                     {0xaaaaaaaa, 0x55555555, 0, 0x55555555}});
  expectInstruction("shf.l.clamp.b32 d, a, b, c", {32, 32, 32, 32},
                    {{0x12345678, 0x9abcdef0, 40, 0x12345678}});
  expectInstruction(
      "shf.r.wrap.b32 d, a, b, c", {32, 32, 32, 32},
      {{0x80000000, 0x1, 1, 0xc0000000}, {0x80000000, 0x1, 32, 0x80000000}});
  expectInstruction("shf.r.clamp.b32 d, a, b, c", {32, 32, 32, 32},
                    {{0x12345678, 0x9abcdef0, 32, 0x9abcdef0},
                     {0x12345678, 0x9abcdef0, 99, 0x9abcdef0}});
}

TEST(Bits, Lop3) {
  // The table's index is 4a + 2b + c; 0xF0, 0xCC and 0xAA give a, b and c
  // themselves.
  uint64_t a = 0xf0f0ff00, b = 0xcccc0ff0, c = 0xaaaa1234;
  expectInstruction("lop3.b32 d, a, b, c, 0xF0", {32, 32, 32, 32},
                    {{a, b, c, a}});
  expectInstruction("lop3.b32 d, a, b, c, 0xCC", {32, 32, 32, 32},
                    {{a, b, c, b}});
  expectInstruction("lop3.b32 d, a, b, c, 0xAA", {32, 32, 32, 32},
                    {{a, b, c, c}});
  expectInstruction("lop3.b32 d, a, b, c, 0x80", {32, 32, 32, 32},
                    {{a, b, c, a & b & c}});
  expectInstruction("lop3.b32 d, a, b, c, 0x96", {32, 32, 32, 32},
                    {{a, b, c, a ^ b ^ c}});
  expectInstruction("lop3.b32 d, a, b, c, 0x1A", {32, 32, 32, 32},
                    {{a, b, c, uint32_t(((a & b) | c) ^ a)}});
}

TEST(Bits, Permute) {
  uint64_t a = 0x03020100, b = 0x07060504;
  expectInstruction("prmt.b32 d, a, b, c", {32, 32, 32, 32},
                    {{a, b, 0x3210, a},
                     {a, b, 0x7654, b},
                     {a, b, 0x0246, 0x00020406},
                     {0x80, 0, 0x8880, 0xffffff80},
                     {0x7f, 0, 0x8880, 0x0000007f}});
  expectInstruction("prmt.b32.f4e d, a, b, c", {32, 32, 32, 32},
                    {{a, b, 1, 0x04030201}});
  expectInstruction("prmt.b32.b4e d, a, b, c", {32, 32, 32, 32},
                    {{a, b, 0, 0x05060700}, {a, b, 3, 0x00010203}});
  expectInstruction("prmt.b32.rc8 d, a, b, c", {32, 32, 32, 32},
                    {{a, b, 2, 0x02020202}});
  expectInstruction("prmt.b32.ecl d, a, b, c", {32, 32, 32, 32},
                    {{a, b, 1, 0x03020101}});
  expectInstruction("prmt.b32.ecr d, a, b, c", {32, 32, 32, 32},
                    {{a, b, 1, 0x01010100}});
  expectInstruction("prmt.b32.rc16 d, a, b, c", {32, 32, 32, 32},
                    {{a, b, 1, 0x03020302}});
}

TEST(Bits, Fields) {
  expectInstruction("bfe.u32 d, a, b, c", {32, 32, 32, 32},
                    {{0x12345678, 8, 8, 0x56},
                     {0xffffffff, 28, 8, 0xf},
                     {0xffffffff, 0, 0, 0},
                     {0xffffffff, 0, 32, 0xffffffff},
                     {0xffffffff, 32, 8, 0}});
  expectInstruction("bfe.s32 d, a, b, c", {32, 32, 32, 32},
                    {{0x00008000, 8, 8, 0xffffff80},
                     {0x00007f00, 8, 8, 0x7f},
                     {0xf0000000, 28, 8, 0xffffffff},
                     {0x80000000, 40, 4, 0xffffffff}});
  expectInstruction("bfe.u64 d, a, b, c", {64, 64, 32, 32},
                    {{0x123456789abcdef0, 32, 16, 0x5678}});
  expectInstruction("bfe.s64 d, a, b, c", {64, 64, 32, 32},
                    {{0x8000000000000000, 60, 4, s64(-8)}});
  expectInstruction("{ .reg .b32 e; mov.u32 e, 8; bfi.b32 d, a, b, c, e; }",
                    {32, 32, 32, 32},
                    {{0xab, 0x11111111, 8, 0x1111ab11},
                     {0xff, 0, 28, 0xf0000000},
                     {0xff, 0x12345678, 32, 0x12345678}});
  expectInstruction("bfi.b64 d, a, b, c, 4", {64, 64, 64, 32},
                    {{0xf, 0, 60, 0xf000000000000000}});
}

TEST(Bits, Counts) {
  expectInstruction("popc.b32 d, a", {32, 32},
                    {{0xf0f0, 0, 0, 8}, {0, 0, 0, 0}});
  expectInstruction("popc.b64 d, a", {32, 64}, {{~0ull, 0, 0, 64}});
  expectInstruction("clz.b32 d, a", {32, 32},
                    {{1, 0, 0, 31}, {0, 0, 0, 32}, {0x80000000, 0, 0, 0}});
  expectInstruction("clz.b64 d, a", {32, 64}, {{1, 0, 0, 63}, {0, 0, 0, 64}});
  expectInstruction("brev.b32 d, a", {32, 32},
                    {{1, 0, 0, 0x80000000}, {0x12345678, 0, 0, 0x1e6a2c48}});
  expectInstruction("brev.b64 d, a", {64, 64}, {{1, 0, 0, 1ull << 63}});
  expectInstruction(
      "bfind.u32 d, a", {32, 32},
      {{0, 0, 0, 0xffffffff}, {1, 0, 0, 0}, {0x80000000, 0, 0, 31}});
  expectInstruction(
      "bfind.s32 d, a", {32, 32},
      {{0xffffffff, 0, 0, 0xffffffff}, {s32(-2), 0, 0, 0}, {5, 0, 0, 2}});
  expectInstruction("bfind.shiftamt.u32 d, a", {32, 32},
                    {{1, 0, 0, 31}, {0, 0, 0, 0xffffffff}});
  expectInstruction("bfind.u64 d, a", {32, 64}, {{1ull << 40, 0, 0, 40}});
  expectInstruction("bfind.s64 d, a", {32, 64}, {{s64(-1), 0, 0, 0xffffffff}});
}

TEST(Bits, MasksAndExtensions) {
  expectInstruction("bmsk.clamp.b32 d, a, b", {32, 32, 32},
                    {{4, 4, 0, 0xf0},
                     {0, 32, 0, 0xffffffff},
                     {28, 8, 0, 0xf0000000},
                     {40, 8, 0, 0}});
  expectInstruction("bmsk.wrap.b32 d, a, b", {32, 32, 32}, {{36, 36, 0, 0xf0}});
  expectInstruction("szext.clamp.s32 d, a, b", {32, 32, 32},
                    {{0x80, 8, 0, 0xffffff80},
                     {0x7f, 8, 0, 0x7f},
                     {0x12345678, 40, 0, 0x12345678}});
  expectInstruction("szext.clamp.u32 d, a, b", {32, 32, 32},
                    {{0x1ff, 8, 0, 0xff}});
  expectInstruction("szext.wrap.u32 d, a, b", {32, 32, 32},
                    {{0x1ff, 40, 0, 0xff}});
  expectInstruction("fns.b32 d, a, b, c", {32, 32, 32, 32},
                    {{0b1010100, 0, 2, 4},
                     {0b1010100, 6, s32(-1), 6},
                     {0b1010100, 0, 4, 0xffffffff},
                     {1, 0, 0, 0}});
}

TEST(Bits, DotProducts) {
  expectInstruction("dp4a.s32.s32 d, a, b, c", {32, 32, 32, 32},
                    {{0x01020304, 0x01010101, 100, 110},
                     {0xffffffff, 0x02020202, 0, s32(-8)}});
  expectInstruction("dp4a.u32.u32 d, a, b, c", {32, 32, 32, 32},
                    {{0xffffffff, 0x02020202, 0, 2040}});
  expectInstruction("dp4a.u32.s32 d, a, b, c", {32, 32, 32, 32},
                    {{0xffffffff, 0xffffffff, 0, s32(-1020)}});
  expectInstruction("dp2a.lo.u32.u32 d, a, b, c", {32, 32, 32, 32},
                    {{0x00020003, 0x07060504, 1, 1 + 3 * 4 + 2 * 5}});
  expectInstruction("dp2a.hi.s32.s32 d, a, b, c", {32, 32, 32, 32},
                    {{0xffff0003, 0x07060504, 1, 1 + 3 * 6 - 7}});
}

TEST(Bits, MovesPackAndUnpack) {
  expectInstruction("mov.b32 d, {a, b}", {32, 16, 16},
                    {{0x1234, 0xabcd, 0, 0xabcd1234}});
  expectInstruction("mov.b64 d, {a, b}", {64, 32, 32},
                    {{0x12345678, 0x9abcdef0, 0, 0x9abcdef012345678}});
  expectInstruction("mov.b32 {d, _}, a", {16, 32},
                    {{0xabcd1234, 0, 0, 0x1234}});
  expectInstruction("mov.b64 {_, d}, a", {32, 64},
                    {{0x9abcdef012345678, 0, 0, 0x9abcdef0}});
  expectInstruction("mov.b64 d, {a, b, a, c}", {64, 16, 16, 16},
                    {{1, 2, 3, 0x0003000100020001}});
  expectInstruction("mov.u32 d, 0x80000001", {32, 32}, {{0, 0, 0, 0x80000001}});
  expectInstruction("mov.u64 d, -1", {64, 32}, {{0, 0, 0, ~0ull}});
  expectInstruction("mov.b16 d, a", {16, 16}, {{0x1234, 0, 0, 0x1234}});
  expectInstruction("mov.f32 d, 0f3F800000", {32, 32}, {{0, 0, 0, f32(1.0f)}});
  expectInstruction("mov.f64 d, 0d3FF0000000000000", {64, 32},
                    {{0, 0, 0, f64(1.0)}});
  expectInstruction("mov.f32 d, 1.5", {32, 32}, {{0, 0, 0, f32(1.5f)}});
}

TEST(Bits, Select) {
  expectInstruction("selp.b32 d, a, b, c", {32, 32, 32, 1},
                    {{1, 2, 0, 2}, {1, 2, 1, 1}});
  expectInstruction("selp.b16 d, a, b, c", {16, 16, 16, 1},
                    {{1, 2, 0, 2}, {1, 2, 1, 1}});
  expectInstruction("selp.f64 d, a, b, c", {64, 64, 64, 1},
                    {{f64(1), f64(2), 1, f64(1)}});
  expectInstruction("selp.f32 d, a, 0f40000000, c", {32, 32, 32, 1},
                    {{f32(1), 0, 0, f32(2)}});
  expectInstruction("slct.u32.s32 d, a, b, c", {32, 32, 32, 32},
                    {{1, 2, 0, 1}, {1, 2, s32(-1), 2}});
  expectInstruction("slct.f32.f32 d, a, b, c", {32, 32, 32, 32},
                    {{1, 2, f32(-0.0f), 1}, {1, 2, f32(-1), 2}});
}

TEST(Bits, Cnot) {
  expectInstruction("cnot.b32 d, a", {32, 32},
                    {{0, 0, 0, 1}, {1, 0, 0, 0}, {0x80000000u, 0, 0, 0}});
  expectInstruction("cnot.b16 d, a", {16, 16}, {{0, 0, 0, 1}, {7, 0, 0, 0}});
  expectInstruction("cnot.b64 d, a", {64, 64},
                    {{0, 0, 0, 1}, {1ull << 40, 0, 0, 0}});
}

TEST(Bits, Lop3WithAPredicate) {
  // d = a & b & c; p = (d != 0) or q, and likewise, with q negated.
  auto got = runBody(
      ".reg .pred p, q; .reg .b32 d, v, w; setp.lt.u32 q, %t, 8;\n"
      "and.b32 v, %t, 1;\n"
      "lop3.or.b32 d|p, v, -1, -1, 0x80, q; selp.b32 w, 1, 0, p;\n"
      "lop3.and.b32 d|p, v, -1, -1, 0x80, q; selp.b32 v, 2, 0, p; or.b32 w, w, "
      "v;\n"
      "and.b32 v, %t, 1; lop3.and.b32 _|p, v, -1, -1, 0x80, !q;"
      "selp.b32 v, 4, 0, p; or.b32 w, w, v; shl.b32 d, d, 3; or.b32 w, w, d;\n"
      "st.global.b32 [%out], w;",
      32);
  for (uint64_t t = 0; t < 32; ++t) {
    const bool any = t & 1, q = t < 8;
    EXPECT_EQ(got[t],
              uint64_t(any || q) + 2 * (any && q) + 4 * (any && !q) + 8 * any)
        << t;
  }
}

TEST(Bits, ProfilerEventsDoNothing) {
  EXPECT_EQ(faultOfBody("pmevent 3; pmevent.mask 0xff;"), "");
  EXPECT_THAT(faultOfBody("pmevent 70000;"),
              ::testing::HasSubstr("expected an event from 0"));
}
