// mbarrier: counts, phases and faults as the PTX ISA describes them.

#include "test/Unit/ptxsim_hopper/Kernel.h"

using namespace hopper;
using ptxsim::Dim3;

namespace {

/// Thread 0 initialises the mbarrier at smem, then all meet.
std::string initialise(int count) {
  return "setp.eq.u32 %p0, %r0, 0;\n@%p0 mbarrier.init.shared::cta.b64 "
         "[%r1], " +
         std::to_string(count) + ";\nbar.sync 0;\n";
}

const std::string store = "mad.wide.u32 %d9, %r0, 4, %d0;\n"
                          "st.global.b32 [%d9], %r9;\n";

TEST(Mbarrier, PhaseCompletesWhenAllHaveArrived) {
  // One thread: two arrivals of a count of 3 leave the phase open, the third
  // completes it. test_wait by state and by parity after each.
  auto out = outputOf(R"(
    mbarrier.init.shared.b64 [%r1], 3;
    mbarrier.arrive.shared.b64 %d5, [%r1];
    mbarrier.pending_count.b64 %r9, %d5;
    st.global.b32 [%d0], %r9;
    mbarrier.arrive.shared::cta.b64 %d6, [%r1];
    mbarrier.pending_count.b64 %r9, %d6;
    st.global.b32 [%d0+4], %r9;
    mbarrier.test_wait.shared.b64 %p1, [%r1], %d5;
    selp.b32 %r9, 1, 0, %p1;
    st.global.b32 [%d0+8], %r9;
    mbarrier.test_wait.parity.shared.b64 %p1, [%r1], 0;
    selp.b32 %r9, 1, 0, %p1;
    st.global.b32 [%d0+12], %r9;
    mbarrier.arrive.release.cta.shared::cta.b64 _, [%r1], 1;
    mbarrier.test_wait.acquire.cta.shared.b64 %p1, [%r1], %d5;
    selp.b32 %r9, 1, 0, %p1;
    st.global.b32 [%d0+16], %r9;
    mbarrier.test_wait.parity.shared.b64 %p1, [%r1], 0;
    selp.b32 %r9, 1, 0, %p1;
    st.global.b32 [%d0+20], %r9;
    // The next phase has parity 1 and is open again with 3 pending.
    mbarrier.try_wait.parity.shared.b64 %p1, [%r1], 1, 100;
    selp.b32 %r9, 1, 0, %p1;
    st.global.b32 [%d0+24], %r9;
    mbarrier.arrive.noComplete.shared.b64 %d5, [%r1], 2;
    mbarrier.pending_count.b64 %r9, %d5;
    st.global.b32 [%d0+28], %r9;
    mbarrier.inval.shared.b64 [%r1];
    mbarrier.init.shared.b64 [%r1], 1;)",
                      1, 8);
  EXPECT_EQ(out, (std::vector<uint32_t>{3, 2, 0, 0, 1, 1, 0, 3}));
}

TEST(Mbarrier, DroppedArrivalsAreNotExpectedAgain) {
  auto out = outputOf(R"(
    mbarrier.init.shared.b64 [%r1], 3;
    mbarrier.arrive_drop.shared.b64 %d5, [%r1], 1;
    mbarrier.arrive.shared.b64 %d5, [%r1], 2;
    mbarrier.arrive.shared.b64 %d5, [%r1], 1;
    mbarrier.pending_count.b64 %r9, %d5;
    st.global.b32 [%d0], %r9;)",
                      1, 1);
  EXPECT_EQ(out[0], 2u);
}

TEST(Mbarrier, TransactionsHoldThePhaseOpen) {
  auto out = outputOf(R"(
    mbarrier.init.shared.b64 [%r1], 1;
    mbarrier.arrive.expect_tx.shared::cta.b64 %d5, [%r1], 64;
    mbarrier.test_wait.shared.b64 %p1, [%r1], %d5;
    selp.b32 %r9, 1, 0, %p1;
    st.global.b32 [%d0], %r9;
    mbarrier.complete_tx.shared::cta.b64 [%r1], 48;
    mbarrier.test_wait.shared.b64 %p1, [%r1], %d5;
    selp.b32 %r9, 1, 0, %p1;
    st.global.b32 [%d0+4], %r9;
    mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%r1], 16;
    mbarrier.test_wait.shared.b64 %p1, [%r1], %d5;
    selp.b32 %r9, 1, 0, %p1;
    st.global.b32 [%d0+8], %r9;
    // Completed before expected: negative for a while.
    mbarrier.complete_tx.shared::cta.b64 [%r1], 16;
    mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r1], 16;
    mbarrier.test_wait.parity.shared.b64 %p1, [%r1], 1;
    selp.b32 %r9, 1, 0, %p1;
    st.global.b32 [%d0+12], %r9;
    mbarrier.arrive.shared.b64 _, [%r1];
    mbarrier.test_wait.parity.shared.b64 %p1, [%r1], 1;
    selp.b32 %r9, 1, 0, %p1;
    st.global.b32 [%d0+16], %r9;)",
                      1, 5);
  EXPECT_EQ(out, (std::vector<uint32_t>{0, 0, 1, 0, 1}));
}

TEST(Mbarrier, ParityIsASignExtendedBit) {
  // Triton gives 0 and -1. After one phase: parity 0 is over, 1 is not.
  auto out = outputOf(initialise(1) + R"(
    mbarrier.arrive.shared.b64 _, [%r1];
    mbarrier.test_wait.parity.shared.b64 %p1, [%r1], -1;
    selp.b32 %r9, 1, 0, %p1;
    st.global.b32 [%d0], %r9;
    mbarrier.arrive.shared.b64 _, [%r1];
    mbarrier.test_wait.parity.shared.b64 %p1, [%r1], -1;
    selp.b32 %r9, 1, 0, %p1;
    st.global.b32 [%d0+4], %r9;)",
                      1, 2);
  EXPECT_EQ(out, (std::vector<uint32_t>{0, 1}));
  EXPECT_THAT(errorOf(initialise(1) +
                          "mbarrier.test_wait.parity.shared.b64 %p1, [%r1], 2;",
                      1),
              HasSubstr("expected a phase parity of 0 or 1, but got 2"));
}

TEST(Mbarrier, WarpsHandDataOver) {
  // Warp 1 produces eight values, one per phase; warp 0 adds them up. Full at
  // smem, empty at smem + 8, the value at smem + 16.
  for (auto schedule : {ptxsim::Schedule::RoundRobin, ptxsim::Schedule::Reverse,
                        ptxsim::Schedule::Random}) {
    ptxsim::DeviceOptions options;
    options.schedule = schedule;
    auto out = outputOf(R"(
    setp.eq.u32 %p0, %r0, 0;
    @%p0 mbarrier.init.shared.b64 [%r1], 32;
    @%p0 mbarrier.init.shared.b64 [%r1+8], 32;
    bar.sync 0;
    mov.u32 %r5, 0;       // phase
    mov.u32 %r9, 0;
    and.b32 %r10, %r0, 31;
    mad.lo.u32 %r11, %r10, 4, %r1;
    setp.ge.u32 %p1, %r0, 32;
    @%p1 bra PRODUCER;
  CONSUMER:
    and.b32 %r6, %r5, 1;
  W1: mbarrier.try_wait.parity.shared.b64 %p2, [%r1], %r6;
    @!%p2 bra W1;
    ld.shared.b32 %r7, [%r11+16];
    add.u32 %r9, %r9, %r7;
    mbarrier.arrive.shared.b64 _, [%r1+8];
    add.u32 %r5, %r5, 1;
    setp.lt.u32 %p2, %r5, 8;
    @%p2 bra CONSUMER;
    bra END;
  PRODUCER:
    and.b32 %r6, %r5, 1;
    xor.b32 %r6, %r6, 1;
  W2: mbarrier.try_wait.parity.shared.b64 %p2, [%r1+8], %r6, 1000;
    @%p2 bra D2;
    bra W2;
  D2: mad.lo.u32 %r7, %r5, 100, %r10;
    st.shared.b32 [%r11+16], %r7;
    mbarrier.arrive.shared.b64 _, [%r1];
    add.u32 %r5, %r5, 1;
    setp.lt.u32 %p2, %r5, 8;
    @%p2 bra PRODUCER;
  END:)" + store,
                        64, 64, {}, options);
    for (uint32_t t = 0; t < 32; ++t)
      EXPECT_EQ(out[t], 2800 + 8 * t);
  }
}

TEST(Mbarrier, WaitsThatCanTimeOutGoOn) {
  // Thread 0 looks once, then completes the phase itself.
  auto out = outputOf(R"(
    mbarrier.init.shared.b64 [%r1], 1;
    mbarrier.try_wait.parity.shared.b64 %p1, [%r1], 0;
    selp.b32 %r9, 1, 0, %p1;
    mbarrier.arrive.shared.b64 _, [%r1];
    mbarrier.try_wait.parity.shared.b64 %p1, [%r1], 0;
    selp.b32 %r8, 2, 0, %p1;
    add.u32 %r9, %r9, %r8;)" +
                          store,
                      1, 1);
  EXPECT_EQ(out[0], 2u);
}

TEST(Mbarrier, DeadlockTellsBarriersAndPhases) {
  std::string error = errorOf(initialise(2) + R"(
    @%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%r1], 16;
  W: mbarrier.try_wait.parity.shared.b64 %p2, [%r1], 0;
    @!%p2 bra W;)",
                              64);
  EXPECT_THAT(error, HasSubstr("deadlock: no warp can go on: warp 0 lanes "
                               "0xffffffff at line "));
  EXPECT_THAT(error, HasSubstr("(mbarrier at 0x400: phase 0 (parity 0), 1 of "
                               "2 arrivals pending, tx-count 16)"));
  EXPECT_THAT(error, HasSubstr("; warp 1 lanes"));
}

TEST(Mbarrier, MisuseIsReported) {
  EXPECT_THAT(errorOf("mbarrier.arrive.shared.b64 _, [%r1];", 1),
              HasSubstr("there is no mbarrier at address 0x400"));
  EXPECT_THAT(errorOf("mbarrier.init.shared.b64 [%r1], 1;\n"
                      "mbarrier.inval.shared.b64 [%r1];\n"
                      "mbarrier.test_wait.parity.shared.b64 %p1, [%r1], 0;",
                      1),
              HasSubstr("expected an mbarrier.init before (and no inval"));
  const std::string again =
      "mbarrier.init.shared.b64 [%r1], 2;\n"
      "mbarrier.init.shared.b64 [%r1], 1;\n"
      "mbarrier.arrive.shared.b64 _, [%r1];\n"
      "mbarrier.test_wait.parity.shared.b64 %p1, [%r1], 0;\n"
      "@!%p1 trap;\n";
  EXPECT_THAT(errorOf(again, 1),
              HasSubstr("there is an mbarrier at address 0x400 already"));
  // Without the check the new one takes its place.
  ptxsim::DeviceOptions off;
  off.checks.barriers = false;
  EXPECT_EQ(errorOf(again, 1, off), "");
  EXPECT_THAT(errorOf(initialise(1) + R"(
    @!%p0 bra W;
    mov.u32 %r5, 0;
  L: add.u32 %r5, %r5, 1;
    setp.lt.u32 %p1, %r5, 9999;
    @%p1 bra L;
    mbarrier.init.shared.b64 [%r1], 1;
  W: mbarrier.try_wait.parity.shared.b64 %p2, [%r1], 0;
    @!%p2 bra W;)",
                      64),
              HasSubstr("and it is being waited for"));
  EXPECT_THAT(errorOf("mbarrier.init.shared.b64 [%r1], 0;", 1),
              HasSubstr("expected an arrival count from 1 to 1048575"));
  EXPECT_THAT(errorOf("mbarrier.init.shared.b64 [%r1+4], 1;", 1),
              HasSubstr("is not 8-byte aligned"));
  EXPECT_THAT(
      errorOf(initialise(4) + "mbarrier.arrive.shared.b64 _, [%r1], 5;", 1),
      HasSubstr("5 arrivals at the mbarrier at 0x400, but it expects "
                "only 4 more"));
  EXPECT_THAT(errorOf(initialise(1) +
                          "mbarrier.expect_tx.shared::cta.b64 [%r1], 1048575;\n"
                          "mbarrier.expect_tx.shared::cta.b64 [%r1], 1;",
                      1),
              HasSubstr("the tx-count of the mbarrier at 0x400 overflows"));
  EXPECT_THAT(
      errorOf(initialise(2) +
                  "mbarrier.arrive.noComplete.shared.b64 %d5, [%r1], 2;",
              1),
      HasSubstr("which .noComplete excludes"));
  EXPECT_THAT(errorOf(initialise(1) + R"(
    mbarrier.arrive.shared.b64 %d5, [%r1];
    mbarrier.arrive.shared.b64 _, [%r1];
    mbarrier.test_wait.shared.b64 %p1, [%r1], %d5;)",
                      1),
              HasSubstr("the state is of phase 0, but the mbarrier at address "
                        "0x400 is in phase 2"));
}

TEST(Mbarrier, CopiesArrive) {
  // 32 lanes copy 16 bytes each and arrive; .noinc counts, without it the
  // pending count is raised first.
  for (bool noinc : {false, true})
    for (bool isLazy : {false, true}) {
      std::vector<uint32_t> in(128);
      for (uint32_t i = 0; i < 128; ++i)
        in[i] = i * i;
      auto out =
          outputOf(initialise(32) + R"(
    mad.wide.u32 %d5, %r0, 16, %d1;
    mad.lo.u32 %r5, %r0, 16, %r1;
    cp.async.cg.shared.global [%r5+128], [%d5], 16;
    cp.async.mbarrier.arrive)" +
                       (noinc ? ".noinc" : "") + R"(.shared.b64 [%r1];
    )" + (noinc ? "" : "mbarrier.arrive.shared.b64 _, [%r1];") +
                       R"(
  W: mbarrier.try_wait.parity.shared.b64 %p2, [%r1], 0;
    @!%p2 bra W;
    xor.b32 %r6, %r0, 5;
    mad.lo.u32 %r5, %r6, 16, %r1;
    ld.shared.b32 %r9, [%r5+136];)" +
                       store,
                   32, 32, in, isLazy ? lazy() : ptxsim::DeviceOptions());
      for (uint32_t t = 0; t < 32; ++t)
        EXPECT_EQ(out[t], in[(t ^ 5) * 4 + 2]);
    }
}

} // namespace
