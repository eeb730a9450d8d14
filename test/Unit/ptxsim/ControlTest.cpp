// Control flow: guards, divergence and reconvergence, loops, indexed branches,
// exits.

#include "test/Unit/ptxsim/TestKernel.h"

using namespace ptxsim;
using namespace ptxsim::test;

TEST(Control, GuardsMask) {
  auto got = runBody(
      "  .reg .pred p; .reg .b32 v; setp.lt.u32 p, %t, 5; mov.u32 v, 1; @p "
      "mov.u32 v, 2; @!p add.s32 v, v, 10; st.global.b32 [%out], v;",
      32);
  for (uint64_t t = 0; t < 32; ++t)
    EXPECT_EQ(got[t], t < 5 ? 2u : 11u);
}

TEST(Control, LanesMeetAgainAfterABranch) {
  // Both sides run, and the join runs once for all: the number of executing
  // lanes is what activemask says.
  auto got =
      runBody("  .reg .pred p; .reg .b32 v, m; setp.lt.u32 p, %t, 7; @p bra "
              "THEN; mov.u32 v, 1; bra.uni JOIN;\n"
              "THEN: mov.u32 v, 2;\nJOIN: activemask.b32 m; popc.b32 m, m; "
              "shl.b32 m, m, 8; or.b32 v, v, m; st.global.b32 [%out], v;",
              32);
  for (uint64_t t = 0; t < 32; ++t)
    EXPECT_EQ(got[t], (32u << 8) + (t < 7 ? 2u : 1u));
}

TEST(Control, LoopsOfDifferentLength) {
  // Collatz steps of t + 1.
  auto got = runBody(
      "  .reg .pred p, q; .reg .b32 x, n, b, y, m; add.s32 x, %t, 1; mov.u32 "
      "n, 0;\n"
      "HEAD: setp.eq.u32 p, x, 1; @p bra DONE; and.b32 b, x, 1; setp.eq.u32 q, "
      "b, 0; add.s32 n, n, 1; @q bra EVEN;\n"
      "  mad.lo.s32 x, x, 3, 1; bra HEAD;\nEVEN: shr.u32 x, x, 1; bra HEAD;\n"
      "DONE: activemask.b32 m; popc.b32 m, m; shl.b32 m, m, 16; or.b32 n, n, "
      "m; st.global.b32 [%out], n;",
      32);
  const uint64_t steps[] = {0,  1,  7,  2,  5,   8,  16, 3,  19,  6, 14,
                            9,  9,  17, 17, 4,   12, 20, 20, 7,   7, 15,
                            15, 10, 23, 10, 111, 18, 18, 18, 106, 5};
  for (uint64_t t = 0; t < 32; ++t)
    EXPECT_EQ(got[t], steps[t] | 32u << 16) << t;
}

TEST(Control, LoopExitsThatLeaveEarlyWaitForTheRest) {
  // Two exits of a loop lead to a common barrier: lanes that break early must
  // not reach it before the others have left the loop.
  auto got = runBody(
      "  .reg .pred p, q; .reg .b32 i, v; mov.u32 i, 0; mov.u32 v, 0;\n"
      "HEAD: setp.eq.u32 p, i, %t; @p bra BREAK; add.s32 v, v, 2; setp.ge.u32 "
      "q, i, 20; @q bra END; add.s32 i, i, 1; bra HEAD;\n"
      "BREAK: add.s32 v, v, 100;\nEND: bar.sync 0; st.global.b32 [%out], v;",
      64);
  for (uint64_t t = 0; t < 64; ++t)
    EXPECT_EQ(got[t], t <= 20 ? 100 + 2 * t : 42) << t;
}

TEST(Control, NestedDivergence) {
  auto got = runBody(
      "  .reg .pred p, q; .reg .b32 v, a, b; and.b32 a, %t, 1; and.b32 b, %t, "
      "2; setp.ne.u32 p, a, 0; setp.ne.u32 q, b, 0; mov.u32 v, 0;\n"
      "  @!p bra E; @!q bra F; add.s32 v, v, 3; bra G;\nF: add.s32 v, v, "
      "1;\nG: add.s32 v, v, 10; bra H;\nE: @!q bra H; add.s32 v, v, 2;\n"
      "H: bar.sync 0; st.global.b32 [%out], v;",
      32);
  const uint64_t expected[] = {0, 11, 2, 13};
  for (uint64_t t = 0; t < 32; ++t)
    EXPECT_EQ(got[t], expected[t % 4]);
}

TEST(Control, IndexedBranch) {
  auto got =
      runBody("  .reg .b32 i, v; and.b32 i, %t, 3; mov.u32 v, 0;\n"
              "TABLE: .branchtargets A, B, C, D;\n  brx.idx i, TABLE;\n"
              "A: add.s32 v, v, 1;\nB: add.s32 v, v, 10;\nC: add.s32 v, v, "
              "100; bra END;\nD: mov.u32 v, 7;\nEND: st.global.b32 [%out], v;",
              32);
  const uint64_t expected[] = {111, 110, 100, 7};
  for (uint64_t t = 0; t < 32; ++t)
    EXPECT_EQ(got[t], expected[t % 4]);
}

TEST(Control, SomeLanesExit) {
  auto got = runBody("  .reg .pred p; .reg .b32 m; mov.u32 m, 5; st.global.b32 "
                     "[%out], m; setp.lt.u32 p, %t, 10; @p exit; "
                     "activemask.b32 m; st.global.b32 [%out], m;",
                     32);
  for (uint64_t t = 0; t < 32; ++t)
    EXPECT_EQ(got[t], t < 10 ? 5u : 0xfffffc00u);
}

TEST(Control, SpinningLanesDoNotStarveTheOthers) {
  // Lane 0 comes last to a loop that the others spin in until it has stored: a
  // scheme that always ran the first block would hang.
  auto got = runBody("  .reg .pred p, q; .reg .b64 f; .reg .b32 v; mov.b64 f, "
                     "%p0; setp.eq.u32 p, %t, 0; @p bra SET;\n"
                     "SPIN: ld.relaxed.gpu.global.b32 v, [f]; setp.eq.u32 q, "
                     "v, 0; @q bra SPIN; bra END;\n"
                     "SET: st.relaxed.gpu.global.b32 [f], 9; mov.u32 v, "
                     "9;\nEND: st.global.b32 [%out], v;",
                     32, {0});
  for (uint64_t v : got)
    EXPECT_EQ(v, 9u);
}

TEST(Control, IntraWarpSpinLock) {
  // Each lane takes a lock by cas and increments: the lock's holder must get
  // its turn.
  auto got =
      runBody("  .reg .pred p; .reg .b32 v, o; .reg .b64 l; mov.b64 l, %p0;\n"
              "AGAIN: atom.global.cas.b32 o, [l], 0, 1; setp.ne.u32 p, o, 0; "
              "@p bra AGAIN;\n"
              "  ld.volatile.global.b32 v, [l+8]; add.s32 v, v, 1; "
              "st.volatile.global.b32 [l+8], v; membar.gl; "
              "atom.global.exch.b32 o, [l], 0;\n"
              "  st.global.b32 [%out], v;",
              32, {0, 0});
  uint64_t sum = 0;
  for (uint64_t v : got)
    sum += v;
  EXPECT_EQ(sum, 32u * 33 / 2);
}

TEST(Control, ScopesHideNamesAndLabels) {
  auto got =
      runBody("  .reg .b32 x; mov.u32 x, 1;\n"
              "  { .reg .b32 x; .reg .pred p; mov.u32 x, 5; L: sub.s32 x, x, "
              "1; setp.ne.u32 p, x, 0; @p bra L; bra DONE; DONE: }\n"
              "  { .reg .pred p; L: add.s32 x, x, 1; setp.lt.u32 p, x, 4; @p "
              "bra L; bra.uni DONE; DONE: }\n"
              "  st.global.b32 [%out], x;",
              1);
  EXPECT_EQ(got[0], 4u);
}
