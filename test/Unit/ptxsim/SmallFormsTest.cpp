// Forms that no compiler of the corpora emits: halves as results of set,
// fma.oob, saturating mad24, 32-bit generic addresses, fences and policies.

#include "test/Unit/ptxsim/TestKernel.h"

#include <cmath>

using namespace ptxsim;
using namespace ptxsim::test;
using ::testing::HasSubstr;

TEST(SmallForms, SetGivesHalves) {
  const uint64_t one = 0x3c00, bfOne = 0x3f80;
  expectInstruction("set.lt.f16.s32 d, a, b", {16, 32, 32},
                    {{s32(-1), 0, 0, one}, {1, 0, 0, 0}});
  expectInstruction("set.lo.f16.u16 d, a, b", {16, 16, 16},
                    {{1, 0xffff, 0, one}, {0xffff, 1, 0, 0}});
  expectInstruction(
      "set.eq.bf16.b64 d, a, b", {16, 64, 64},
      {{1ull << 40, 1ull << 40, 0, bfOne}, {1ull << 40, 0, 0, 0}});
  expectInstruction("set.gt.bf16.f64 d, a, b", {16, 64, 64},
                    {{f64(2), f64(1), 0, bfOne}, {f64(1), f64(2), 0, 0}});
  // Unordered comparisons are true for NaN.
  expectInstruction("set.geu.f16.f32 d, a, b", {16, 32, 32},
                    {{f32(NAN), f32(1), 0, one}, {f32(0), f32(1), 0, 0}});
  expectInstruction("set.ge.bf16.f32 d, a, b", {16, 32, 32},
                    {{f32(NAN), f32(1), 0, 0}, {f32(1), f32(1), 0, bfOne}});
  // Subnormals are zero with .ftz.
  expectInstruction("set.eq.ftz.f16.f32 d, a, b", {16, 32, 32},
                    {{f32(1e-40f), f32(0), 0, one}});
  expectInstruction("set.eq.f16.f32 d, a, b", {16, 32, 32},
                    {{f32(1e-40f), f32(0), 0, 0}});
  expectInstruction("set.lt.and.f16.s32 d, a, b, c", {16, 32, 32, 1},
                    {{0, 1, 1, one}, {0, 1, 0, 0}, {1, 0, 1, 0}});
  expectInstruction("set.lt.xor.bf16.f64 d, a, b, !c", {16, 64, 64, 1},
                    {{f64(0), f64(1), 1, bfOne}, {f64(0), f64(1), 0, 0}});
}

TEST(SmallForms, FmaOutOfBounds) {
  // 0x7fff is what tensor copies fill with; other NaNs stay NaNs.
  const uint64_t oob = 0x7fff, nan = 0x7e00, two = 0x4000, one = 0x3c00,
                 minus = 0xc000;
  expectInstruction("fma.rn.oob.f16 d, a, b, c", {16, 16, 16, 16},
                    {{two, two, one, 0x4500}, // 5
                     {oob, two, one, 0},
                     {two, oob, one, 0},
                     {two, two, oob, 0},
                     {nan, two, one, 0x7fff}});
  expectInstruction(
      "fma.rn.oob.relu.f16 d, a, b, c", {16, 16, 16, 16},
      {{minus, two, one, 0}, {two, two, one, 0x4500}, {oob, two, minus, 0}});
  expectInstruction(
      "fma.rn.oob.sat.f16 d, a, b, c", {16, 16, 16, 16},
      {{two, two, one, one}, {oob, two, one, 0}, {minus, two, one, 0}});
  const uint64_t bTwo = 0x4000, bOne = 0x3f80, bFive = 0x40a0;
  expectInstruction("fma.rn.oob.bf16 d, a, b, c", {16, 16, 16, 16},
                    {{bTwo, bTwo, bOne, bFive}, {bTwo, oob, bOne, 0}});
  expectInstruction("fma.rn.oob.relu.bf16 d, a, b, c", {16, 16, 16, 16},
                    {{0xc000, bTwo, bOne, 0}, {oob, bTwo, bOne, 0}});
  // Each half by itself.
  expectInstruction(
      "fma.rn.oob.f16x2 d, a, b, c", {32, 32, 32, 32},
      {{oob << 16 | two, two << 16 | two, one << 16 | one, 0x4500},
       {two << 16 | oob, two << 16 | two, one << 16 | one, 0x45000000}});
  expectInstruction(
      "fma.rn.oob.bf16x2 d, a, b, c", {32, 32, 32, 32},
      {{oob << 16 | bTwo, bTwo << 16 | bTwo, bOne << 16 | bOne, bFive}});
}

TEST(SmallForms, Mad24Saturates) {
  // Bits 47 to 16 of the product of 24-bit numbers, plus c.
  expectInstruction(
      "mad24.hi.sat.s32 d, a, b, c", {32, 32, 32, 32},
      {{0x7fffff, 0x7fffff, INT32_MAX - 5, uint32_t(INT32_MAX)},
       {0x7fffff, 0x7fffff, 7, (0x3fffff000001ull >> 16) + 7},
       {0x800000, 0x7fffff, s32(INT32_MIN + 3), uint32_t(INT32_MIN)},
       {0x10000, 3, s32(-5), s32(-2)},
       {0xff000001, 0x10000, 4, 5}});
}

TEST(SmallForms, NoGenericAddressOfSharedMemoryHas32Bits) {
  const std::string address = ".reg .b32 a; .reg .pred p;\n"
                              "mov.b32 a, 1024;\n";
  EXPECT_THAT(faultOfBody(address + "mapa.u32 a, a, 0;"),
              HasSubstr("address 0x400 is not in shared memory"));
  EXPECT_THAT(faultOfBody(address + "getctarank.u32 a, a;"),
              HasSubstr("address 0x400 is not in shared memory"));
  const auto got =
      runBody(address + ".reg .b64 r;\n"
                        "isspacep.shared p, a; selp.b64 r, 1, 0, p;\n"
                        "@p trap; isspacep.local p, a; @p trap;\n"
                        "isspacep.global p, a; selp.b64 r, 2, 0, p;\n"
                        "st.global.b64 [%out], r;",
              32);
  for (uint64_t value : got)
    EXPECT_EQ(value, 2u);
}

TEST(SmallForms, FencesAndPoliciesChangeNoResult) {
  const auto got = runBody(
      ".reg .b64 policy, x; .shared .align 8 .b64 word;\n"
      ".reg .pred p; .reg .b32 t; mov.b32 t, %tid.x; setp.eq.u32 p, t, 0;\n"
      "@p st.shared.b64 [word], 5;\n"
      "fence.release.sync_restrict::shared::cta.cluster;\n"
      "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster;\n"
      "membar.proxy.alias;\n"
      "bar.sync 0;\n"
      "fence.acquire.sync_restrict::shared::cluster.cluster;\n"
      "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster."
      "cluster;\n"
      "createpolicy.range.L2::evict_last.b64 policy, [%p0], 128, 256;\n"
      "createpolicy.range.global.L2::evict_normal.L2::evict_first.b64 policy, "
      "[%p0], 128, 256;\n"
      "createpolicy.cvt.L2.b64 policy, policy;\n"
      "ld.shared.b64 x, [word];\n"
      "st.global.L2::cache_hint.b64 [%out], x, policy;",
      32, {1});
  for (uint64_t value : got)
    EXPECT_EQ(value, 5u);
  for (const char *line :
       {"fence.release.sync_restrict::shared::cluster.cluster;",
        "fence.acquire.sync_restrict::shared::cluster.gpu;",
        "membar.proxy.async;",
        "createpolicy.range.shared.L2::evict_last.b64 "
        "%p0, [%p0], 1, 2;"})
    EXPECT_THAT(faultOfBody(line), HasSubstr("unsupported form")) << line;
}
