// Communication inside a warp: shfl (the ISA's pseudo-code by hand), vote,
// match, redux, activemask, elect; lane registers.

#include "test/Unit/ptxsim/TestKernel.h"

using namespace ptxsim;
using namespace ptxsim::test;

namespace {
/// d and p of a shuffle of 100 + lane, p in bit 16.
std::vector<uint64_t> shuffle(const std::string &mode, const std::string &b,
                              const std::string &c) {
  return runBody(
      "  .reg .b32 v, d, q; .reg .pred p; add.s32 v, %t, 100; shfl.sync." +
          mode + ".b32 d|p, v, " + b + ", " + c +
          ", -1; selp.b32 q, 0x10000, 0, p; or.b32 d, d, q; st.global.b32 "
          "[%out], d;",
      32);
}
} // namespace

TEST(Warp, ShuffleModes) {
  auto up = shuffle("up", "1", "0"), down = shuffle("down", "2", "31"),
       bfly = shuffle("bfly", "1", "31"), idx = shuffle("idx", "5", "31");
  for (uint64_t l = 0; l < 32; ++l) {
    EXPECT_EQ(up[l], l ? (100 + l - 1) | 0x10000 : 100) << l;
    EXPECT_EQ(down[l], l + 2 <= 31 ? (100 + l + 2) | 0x10000 : 100 + l) << l;
    EXPECT_EQ(bfly[l], (100 + (l ^ 1)) | 0x10000) << l;
    EXPECT_EQ(idx[l], 105u | 0x10000) << l;
  }
}

TEST(Warp, ShuffleSegments) {
  // c = clamp | segment mask << 8: segments of 8 lanes have mask 24. up: clamp
  // 0; others 31 (segment's last lane by the OR).
  auto up = shuffle("up", "3", "0x1800"), down = shuffle("down", "3", "0x181f"),
       bfly = shuffle("bfly", "8", "0x181f"),
       idx = shuffle("idx", "10", "0x181f");
  for (uint64_t l = 0; l < 32; ++l) {
    uint64_t first = l & 24, last = first | 7;
    EXPECT_EQ(up[l], l >= first + 3 ? (100 + l - 3) | 0x10000 : 100 + l) << l;
    EXPECT_EQ(down[l], l + 3 <= last ? (100 + l + 3) | 0x10000 : 100 + l) << l;
    // lane ^ 8 leaves the segment: below it for odd segments, which the
    // comparison with the last lane allows.
    EXPECT_EQ(bfly[l], (l ^ 8) <= last ? (100 + (l ^ 8)) | 0x10000 : 100 + l)
        << l;
    EXPECT_EQ(idx[l], (100 + (first | 2)) | 0x10000) << l;
  }
}

TEST(Warp, ShuffleByRegistersAndWithoutPredicate) {
  auto got =
      runBody("  .reg .b32 d, i, m; sub.s32 i, 31, %t; mov.u32 m, 0xffffffff; "
              "shfl.sync.idx.b32 d, %t, i, 31, m; st.global.b32 [%out], d;",
              32);
  for (uint64_t l = 0; l < 32; ++l)
    EXPECT_EQ(got[l], 31 - l);
}

TEST(Warp, ShuffleWaitsForLanesOfTheOtherBranch) {
  auto got = runBody(
      "  .reg .pred p; .reg .b32 v, d; setp.lt.u32 p, %t, 9; mov.u32 v, 1; @p "
      "bra A; add.s32 v, v, %t; bra S;\nA: mov.u32 v, 1000;\n"
      "S: shfl.sync.bfly.b32 d, v, 16, 31, -1; st.global.b32 [%out], d;",
      32);
  for (uint64_t l = 0; l < 32; ++l)
    EXPECT_EQ(got[l], (l ^ 16) < 9 ? 1000 : 1 + (l ^ 16));
}

TEST(Warp, ShuffleInTiles) {
  // Two tiles of 16 lanes with membermasks of their own execute the same
  // instruction.
  auto got = runBody("  .reg .b32 m, d; .reg .pred p; setp.lt.u32 p, %t, 16; "
                     "selp.b32 m, 0xffff, 0xffff0000, p; shfl.sync.idx.b32 d, "
                     "%t, 3, 0x101f, m; st.global.b32 [%out], d;",
                     32);
  for (uint64_t l = 0; l < 32; ++l)
    EXPECT_EQ(got[l], l < 16 ? 3u : 19u);
}

TEST(Warp, SumByButterfly) {
  auto got = runBody("  .reg .b32 v, d; mov.u32 v, %t;\n"
                     "  shfl.sync.bfly.b32 d, v, 16, 31, -1; add.s32 v, v, d; "
                     "shfl.sync.bfly.b32 d, v, 8, 31, -1; add.s32 v, v, d; "
                     "shfl.sync.bfly.b32 d, v, 4, 31, -1; add.s32 v, v, d;\n"
                     "  shfl.sync.bfly.b32 d, v, 2, 31, -1; add.s32 v, v, d; "
                     "shfl.sync.bfly.b32 d, v, 1, 31, -1; add.s32 v, v, d; "
                     "st.global.b32 [%out], v;",
                     32);
  for (uint64_t v : got)
    EXPECT_EQ(v, 496u);
}

TEST(Warp, Vote) {
  auto vote = [](const std::string &form, const std::string &condition) {
    return runBody(
        "  .reg .pred p, q; .reg .b32 v; " + condition + " vote.sync." + form +
            ".pred q, p, -1; selp.b32 v, 1, 0, q; st.global.b32 [%out], v;",
        32)[7];
  };
  const std::string some = "setp.lt.u32 p, %t, 3;",
                    none = "setp.gt.u32 p, %t, 40;",
                    all = "setp.lt.u32 p, %t, 40;";
  EXPECT_EQ(vote("all", some), 0u);
  EXPECT_EQ(vote("all", all), 1u);
  EXPECT_EQ(vote("any", some), 1u);
  EXPECT_EQ(vote("any", none), 0u);
  EXPECT_EQ(vote("uni", some), 0u);
  EXPECT_EQ(vote("uni", none), 1u);
  EXPECT_EQ(vote("uni", all), 1u);
  EXPECT_EQ(
      runBody(
          "  .reg .pred p; .reg .b32 v; setp.lt.u32 p, %t, 3; "
          "vote.sync.ballot.b32 v, !p, 0xffffffff; st.global.b32 [%out], v;",
          32)[0],
      0xfffffff8u);
  // A partial warp: lanes that are not there do not vote.
  EXPECT_EQ(runBody("  .reg .pred p; .reg .b32 v; setp.lt.u32 p, %t, 40; "
                    "vote.sync.ballot.b32 v, p, -1; st.global.b32 [%out], v;",
                    10)[9],
            0x3ffu);
}

TEST(Warp, Match) {
  auto any = runBody("  .reg .b32 v, d; and.b32 v, %t, 3; match.any.sync.b32 "
                     "d, v, -1; st.global.b32 [%out], d;",
                     32);
  for (uint64_t l = 0; l < 32; ++l)
    EXPECT_EQ(any[l], 0x11111111u << (l % 4));
  EXPECT_EQ(runBody("  .reg .b64 v; .reg .b32 d; mov.u64 v, 0x100000000; "
                    "match.any.sync.b64 d, v, -1; st.global.b32 [%out], d;",
                    32)[3],
            0xffffffffu);
  EXPECT_EQ(runBody("  .reg .b32 v, d, q; .reg .pred p; mov.u32 v, 6; "
                    "match.all.sync.b32 d|p, v, -1; selp.b32 q, 1, 0, p; "
                    "mov.b64 %offset, {d, q}; st.global.b64 [%out], %offset;",
                    32)[3],
            0x1ffffffffu);
  EXPECT_EQ(runBody("  .reg .b32 d, q; .reg .pred p; match.all.sync.b32 d|p, "
                    "%t, -1; selp.b32 q, 1, 0, p; mov.b64 %offset, {d, q}; "
                    "st.global.b64 [%out], %offset;",
                    32)[3],
            0u);
}

TEST(Warp, Redux) {
  auto redux = [](const std::string &form, const std::string &value) {
    return runBody("  .reg .b32 v, d; " + value + " redux.sync." + form +
                       " d, v, -1; st.global.b32 [%out], d;",
                   32)[5];
  };
  EXPECT_EQ(redux("add.u32", "mov.u32 v, %t;"), 496u);
  EXPECT_EQ(redux("add.s32", "sub.s32 v, 0, %t;"), s32(-496));
  EXPECT_EQ(redux("min.s32", "sub.s32 v, 3, %t;"), s32(-28));
  EXPECT_EQ(redux("min.u32", "add.s32 v, %t, 4;"), 4u);
  EXPECT_EQ(redux("max.s32", "sub.s32 v, 3, %t;"), 3u);
  EXPECT_EQ(redux("max.u32", "sub.s32 v, 3, %t;"), 0xffffffffu);
  EXPECT_EQ(redux("and.b32", "or.b32 v, %t, 0x40;"), 0x40u);
  EXPECT_EQ(redux("or.b32", "mov.u32 v, %t;"), 31u);
  EXPECT_EQ(redux("xor.b32", "mov.u32 v, %t;"), 0u);
}

TEST(Warp, ElectOneLane) {
  auto got = runBody(
      "  .reg .b32 d, q; .reg .pred p; elect.sync d|p, 0xffffffff; selp.b32 q, "
      "1, 0, p; mov.b64 %offset, {d, q}; st.global.b64 [%out], %offset;",
      32);
  for (uint64_t l = 0; l < 32; ++l)
    EXPECT_EQ(got[l], l == 0 ? 1ull << 32 : 0) << l;
}

TEST(Warp, LaneRegisters) {
  struct Row {
    const char *name;
    uint64_t lane5;
  };
  for (Row row :
       {Row{"laneid", 5}, Row{"lanemask_eq", 0x20}, Row{"lanemask_lt", 0x1f},
        Row{"lanemask_le", 0x3f}, Row{"lanemask_gt", 0xffffffc0},
        Row{"lanemask_ge", 0xffffffe0}, Row{"warpid", 1}})
    EXPECT_EQ(runBody(std::string("  .reg .b32 v; mov.u32 v, %") + row.name +
                          "; st.global.b32 [%out], v;",
                      64)[37],
              row.lane5)
        << row.name;
}
