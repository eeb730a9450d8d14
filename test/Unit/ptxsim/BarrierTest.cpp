// CTA barriers: full, named, counted, arrive, reductions, exited warps;
// bar.warp.sync.

#include "test/Unit/ptxsim/TestKernel.h"

using namespace ptxsim;
using namespace ptxsim::test;

TEST(Barrier, PhasesOfALoop) {
  // Each round reads what the neighbour thread (in another warp for some) wrote
  // in the round before.
  auto got = runBody(
      "  .shared .align 4 .b8 s[1024]; .reg .b32 a, n, i, v; .reg .pred p;\n"
      "  mov.u32 a, s; mad.lo.s32 n, %t, 4, a; st.shared.b32 [n], %t; mov.u32 "
      "i, 0;\n"
      "LOOP: bar.sync 0; add.s32 v, %t, 33; and.b32 v, v, 127; mad.lo.s32 v, "
      "v, 4, a; ld.shared.b32 v, [v]; bar.sync 0; st.shared.b32 [n], v;\n"
      "  add.s32 i, i, 1; setp.lt.u32 p, i, 3; @p bra LOOP; st.global.b32 "
      "[%out], v;",
      128);
  for (uint64_t t = 0; t < 128; ++t)
    EXPECT_EQ(got[t], (t + 99) % 128);
}

TEST(Barrier, NamedPartsOfACta) {
  // Warps 0-1 and 2-3 synchronise on barriers of their own, a different number
  // of times.
  auto got = runBody(
      "  .shared .align 4 .b8 s[512]; .reg .b32 a, n, v, x; .reg .pred p;\n"
      "  mov.u32 a, s; mad.lo.s32 n, %t, 4, a; st.shared.b32 [n], %t; xor.b32 "
      "x, %t, 32; mad.lo.s32 x, x, 4, a; setp.lt.u32 p, %t, 64; @p bra LOW;\n"
      "  bar.sync 2, 64; bar.sync 2, 64; ld.shared.b32 v, [x]; bra END;\nLOW: "
      "bar.sync 1, 64; ld.shared.b32 v, [x];\nEND: st.global.b32 [%out], v;",
      128);
  for (uint64_t t = 0; t < 128; ++t)
    EXPECT_EQ(got[t], t ^ 32);
}

TEST(Barrier, ProducerArrivesConsumerWaits) {
  auto got = runBody(
      "  .shared .align 4 .b8 s[4]; .reg .b32 v, w, id; .reg .pred p; mov.u32 "
      "id, 3; shr.u32 w, %t, 5; setp.eq.u32 p, w, 1; @p bra PRODUCE;\n"
      "  barrier.sync id, 64; ld.shared.b32 v, [s]; bra END;\nPRODUCE: "
      "st.shared.b32 [s], 77; barrier.arrive id, 64; mov.u32 v, 1;\nEND: "
      "st.global.b32 [%out], v;",
      64);
  for (uint64_t t = 0; t < 64; ++t)
    EXPECT_EQ(got[t], t < 32 ? 77u : 1u);
}

TEST(Barrier, Reductions) {
  auto got =
      runBody("  .reg .pred p, q, all, any; .reg .b32 n, a, b, u; rem.u32 u, "
              "%t, 3; setp.eq.u32 p, u, 0; setp.lt.u32 q, %t, 1000;\n"
              "  bar.red.popc.u32 n, 0, p; bar.red.and.pred all, 0, q; "
              "bar.red.or.pred any, 0, !q;\n"
              "  selp.b32 a, 0x1000, 0, all; selp.b32 b, 0x2000, 0, any; "
              "or.b32 n, n, a; or.b32 n, n, b; st.global.b32 [%out], n;",
              96);
  for (uint64_t v : got)
    EXPECT_EQ(v, 32u | 0x1000u);
}

TEST(Barrier, ExitedWarpsAreNotWaitedFor) {
  auto got = runBody("  .reg .pred p; setp.ge.u32 p, %t, 64; @p exit; bar.sync "
                     "0; st.global.b32 [%out], 3;",
                     128);
  for (uint64_t t = 0; t < 128; ++t)
    EXPECT_EQ(got[t], t < 64 ? 3u : 0u);
}

TEST(Barrier, LastWarpMayBePartial) {
  auto got = runBody("  .shared .align 4 .b8 s[4]; .reg .b32 v; .reg .pred p; "
                     "setp.eq.u32 p, %t, 39; @p st.shared.b32 [s], 8; bar.sync "
                     "0; ld.shared.b32 v, [s]; st.global.b32 [%out], v;",
                     40);
  for (uint64_t v : got)
    EXPECT_EQ(v, 8u);
}

TEST(Barrier, UnalignedBarrierCollectsAWarp) {
  // The two halves of a warp reach different barrier.sync instructions.
  auto got =
      runBody("  .reg .pred p; .reg .b32 v; setp.lt.u32 p, %t, 16; @p bra A; "
              "mov.u32 v, 1; barrier.sync 0; bra END;\nA: mov.u32 v, 2; "
              "barrier.sync 0;\nEND: st.global.b32 [%out], v;",
              64);
  for (uint64_t t = 0; t < 64; ++t)
    EXPECT_EQ(got[t], t < 16 ? 2u : 1u);
}

TEST(Barrier, WarpSync) {
  auto got = runBody(
      "  .shared .align 4 .b8 s[128]; .reg .b32 a, v, x; .reg .pred p; mov.u32 "
      "a, s; mad.lo.s32 v, %t, 4, a; setp.lt.u32 p, %t, 16; @p bra L;\n"
      "  st.shared.b32 [v], 5; bra M;\nL: st.shared.b32 [v], 6;\nM: "
      "bar.warp.sync 0xffffffff; xor.b32 x, %t, 16; mad.lo.s32 x, x, 4, a; "
      "ld.shared.b32 v, [x]; st.global.b32 [%out], v;",
      32);
  for (uint64_t t = 0; t < 32; ++t)
    EXPECT_EQ(got[t], t < 16 ? 5u : 6u);
}

TEST(Barrier, WarpSyncAtTwoPlaces) {
  // Each half waits in its own branch; what the other wrote before is visible
  // behind it.
  auto got = runBody("  .shared .align 4 .b8 s[128]; .reg .b32 a, v, x; .reg "
                     ".pred p; mov.u32 a, s; mad.lo.s32 v, %t, 4, a; xor.b32 "
                     "x, %t, 16; mad.lo.s32 x, x, 4, a;\n"
                     "  setp.lt.u32 p, %t, 16; @p bra L;\n"
                     "  st.shared.b32 [v], 5; bar.warp.sync 0xffffffff; "
                     "ld.shared.b32 v, [x]; bra M;\n"
                     "L: st.shared.b32 [v], 6; bar.warp.sync 0xffffffff; "
                     "ld.shared.b32 v, [x];\nM: st.global.b32 [%out], v;",
                     32);
  for (uint64_t t = 0; t < 32; ++t)
    EXPECT_EQ(got[t], t < 16 ? 5u : 6u);
}

TEST(Barrier, ArrivalsThatNobodyHasWaitedFor) {
  // Opt-in: a barrier may be left with arrivals when its CTA ends.
  const auto run = [](const std::string &body, bool on = true) {
    DeviceOptions options;
    options.checks.unmatchedArrivals = on;
    return faultOfBody("  .reg .pred p; setp.lt.u32 p, %t, 32;\n" + body, 96,
                       options);
  };
  const std::string arrive = "@p bar.arrive 3, 96;\n@p bra E;\n";
  EXPECT_EQ(run(arrive + "bar.sync 3, 96;\nE:"), "");
  EXPECT_EQ(run(arrive + "bar.sync 4, 64;\nE:"),
            "k.ptx:16:4: error: bar.arrive: cta (0,0,0) warp 0: the CTA ends, "
            "but nobody has waited for this arrival of warp 0: barrier 3 has "
            "32 of 96 threads");
  EXPECT_EQ(run(arrive + "bar.sync 4, 64;\nE:", false), "");
  EXPECT_FALSE(Checks().unmatchedArrivals);
}

TEST(Barrier, AWarpArrivesOncePerRound) {
  const std::string begin = "  .reg .pred p; setp.lt.u32 p, %t, 32;\n";
  EXPECT_EQ(faultOfBody(begin + "@p bar.arrive 1, 64;\n@!p bar.sync 1, 64;\n"
                                "bar.sync 2;\n"
                                "@p bar.arrive 1, 64;\n@!p bar.sync 1, 64;",
                        64),
            "");
  const std::string twice = begin +
                            "@p bar.arrive 1, 96;\n"
                            "@p bar.sync 1, 96;\n"
                            "@!p bra E;\nbra F;\nE: bar.sync 1, 96;\nF:";
  EXPECT_THAT(
      faultOfBody(twice, 96),
      testing::HasSubstr("warp 0 arrives at barrier 1 again, which has "));
  // Without the check arrivals add up, so that one warp is left over.
  DeviceOptions off;
  off.checks.barriers = false;
  EXPECT_THAT(faultOfBody(twice, 96, off), testing::HasSubstr("deadlock"));
}
