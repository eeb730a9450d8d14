// Races in global memory (opt-in): for each kind of order a kernel that has it
// and one that has not.

#include "test/Unit/ptxsim/TestKernel.h"

using namespace ptxsim;
using namespace ptxsim::test;
using testing::AllOf;
using testing::HasSubstr;

namespace {

struct Shape {
  uint32_t threads = 64, ctas = 2;
  unsigned hostThreads = 1;
};

/// The fault of a body under the first schedule; a kernel has a fault under all
/// or under none. %out is the buffer `out`, %flag another one, both of zeros;
/// %t the thread, %c the CTA, %a the address of the thread's word of the grid
/// in `out`, %b that of the thread in the next CTA.
std::string fault(const std::string &body, Shape shape = {}) {
  const std::string text = header + R"(
.visible .entry k(.param .u64 out, .param .u64 flag) {
  .reg .b32 %t, %c, %n, %r<16>;
  .reg .b64 %out, %flag, %a, %b, %d<8>;
  .reg .pred %first, %p<8>;
  .shared .align 4 .b32 last;
  ld.param.u64 %out, [out];
  ld.param.u64 %flag, [flag];
  mov.u32 %t, %tid.x;
  mov.u32 %c, %ctaid.x;
  mov.u32 %n, %ntid.x;
  mad.lo.u32 %r0, %c, %n, %t;
  mad.wide.u32 %a, %r0, 4, %out;
  xor.b32 %r1, %c, 1;
  mad.lo.u32 %r1, %r1, %n, %t;
  mad.wide.u32 %b, %r1, 4, %out;
  setp.eq.u32 %first, %t, 0;
)" + body + "\n  ret;\n}\n";
  std::string first;
  for (Schedule schedule :
       {Schedule::RoundRobin, Schedule::Reverse, Schedule::Random}) {
    DeviceOptions options;
    options.threads = shape.hostThreads;
    options.schedule = schedule, options.seed = 5;
    options.checks.globalRaces = true;
    Sim sim(text, options);
    EXPECT_EQ(sim.loadError, "");
    const uint64_t out = sim.buffer("out", std::vector<uint32_t>(4096)),
                   flag = sim.buffer("flag", std::vector<uint32_t>(16));
    const std::string error =
        sim.run({out, flag}, {shape.threads, 1, 1}, {shape.ctas, 1, 1})
            .message();
    if (schedule == Schedule::RoundRobin)
      first = error;
    else
      EXPECT_EQ(error.empty(), first.empty()) << error << first;
  }
  return first;
}

} // namespace

TEST(GlobalRace, IsOptIn) {
  DeviceOptions options;
  EXPECT_FALSE(options.checks.globalRaces);
  ASSERT_TRUE(readOptions("global-races=on", options).ok());
  EXPECT_TRUE(options.checks.globalRaces);
}

TEST(GlobalRace, WritesOfSeveralCtas) {
  EXPECT_EQ(fault("st.global.b32 [%a], %t;"), "");
  EXPECT_EQ(fault("st.global.b32 [%out], 7;"), ""); // the same value
  EXPECT_THAT(fault("@%first st.global.b32 [%out+16], %c;"),
              AllOf(HasSubstr("race: address 0x"), HasSubstr("('out' + 16)"),
                    HasSubstr("of global memory is written here and written "
                              "by k.ptx:21: st.global.b32 of cta (0,0,0) warp "
                              "0 lane 0, and nothing orders the two")));
  EXPECT_THAT(fault("st.global.b32 [%a], 5; ld.global.b32 %r2, [%b];"),
              HasSubstr("race: "));
  // Neighbouring bytes.
  EXPECT_EQ(fault("cvt.u64.u32 %d0, %r0; add.u64 %d0, %d0, %out; .reg .b16 h; "
                  "cvt.u16.u32 h, %t; st.global.b8 [%d0], h;"),
            "");
}

TEST(GlobalRace, BulkStoresOfSeveralCtas) {
  auto store = [](const std::string &value) {
    return fault(".shared .align 16 .b32 s[4]; .reg .b32 sa; mov.b32 sa, s; "
                 "@!%first bra E; st.shared.v4.b32 [sa], {1, 2, 3, " +
                 value +
                 "}; fence.proxy.async; "
                 "cp.async.bulk.global.shared::cta.bulk_group [%out], [sa], "
                 "16; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; "
                 "E:");
  };
  EXPECT_EQ(store("7"), ""); // the same bytes
  EXPECT_THAT(store("%c"),
              AllOf(HasSubstr("race: address 0x"), HasSubstr("('out' + 12)"),
                    HasSubstr("cp.async.bulk.global.shared::cta")));
}

TEST(GlobalRace, InsideACta) {
  const std::string write = "xor.b32 %r2, %t, 32; mad.lo.u32 %r2, %c, 64, %r2; "
                            "mad.wide.u32 %d0, %r2, 4, %out; st.global.b32 "
                            "[%a], %r2; ",
                    read = "ld.global.b32 %r3, [%d0];";
  EXPECT_EQ(fault(write + "bar.sync 0; " + read), "");
  EXPECT_THAT(fault(write + read), HasSubstr("race: "));
}

TEST(GlobalRace, Atomics) {
  const std::string add = "red.global.add.u32 [%out], 1; ";
  EXPECT_EQ(fault(add), "");
  EXPECT_THAT(fault(add + "ld.global.b32 %r2, [%out];"),
              AllOf(HasSubstr("race: "), HasSubstr("red.global.add.u32")));
  EXPECT_EQ(fault(add + "ld.relaxed.gpu.global.b32 %r2, [%out];"), "");
}

TEST(GlobalRace, ReleaseAndAcquireByScope) {
  // CTA 0 writes and sets a flag, CTA 1 spins on it and reads.
  auto flag = [&](const std::string &set, const std::string &test) {
    return fault("setp.ne.u32 %p1, %c, 0; @%p1 bra R; st.global.b32 [%a], 3; "
                 "bar.sync 0; @!%first bra E; " +
                 set + " bra E;\nR: @!%first bra S;\nL: " + test +
                 " setp.eq.u32 %p2, %r2, 0; @%p2 bra L;\nS: bar.sync 0; "
                 "ld.global.b32 %r3, [%b];\nE:");
  };
  EXPECT_EQ(flag("st.release.gpu.global.b32 [%flag], 1;",
                 "ld.acquire.gpu.global.b32 %r2, [%flag];"),
            "");
  EXPECT_EQ(flag("fence.acq_rel.gpu; st.relaxed.gpu.global.b32 [%flag], 1;",
                 "ld.relaxed.gpu.global.b32 %r2, [%flag]; fence.acq_rel.gpu;"),
            "");
  EXPECT_EQ(flag("membar.gl; st.volatile.global.b32 [%flag], 1;",
                 "ld.volatile.global.b32 %r2, [%flag]; membar.gl;"),
            "");
  EXPECT_THAT(flag("st.release.cta.global.b32 [%flag], 1;",
                   "ld.acquire.gpu.global.b32 %r2, [%flag];"),
              HasSubstr("race: "));
  EXPECT_THAT(flag("fence.acq_rel.cta; st.relaxed.gpu.global.b32 [%flag], 1;",
                   "ld.relaxed.gpu.global.b32 %r2, [%flag]; fence.acq_rel."
                   "gpu;"),
              HasSubstr("race: "));
  EXPECT_THAT(flag("st.relaxed.gpu.global.b32 [%flag], 1;",
                   "ld.relaxed.gpu.global.b32 %r2, [%flag];"),
              HasSubstr("race: "));
}

TEST(GlobalRace, TheLastCtaAddsUp) {
  // As in CUDA's threadFenceReduction.
  auto reduction = [&](const std::string &fence, const std::string &barrier) {
    return fault("st.global.b32 [%a], %t; " + fence + barrier +
                     "@!%first bra W; atom.global.inc.u32 %r2, [%flag], 3; "
                     "st.shared.b32 [last], %r2;\nW: bar.sync 0; "
                     "ld.shared.b32 %r2, [last]; setp.ne.u32 %p1, %r2, 3; "
                     "@%p1 bra E; " +
                     fence +
                     "mad.wide.u32 %d0, %t, 4, %out; ld.global.b32 %r3, [%d0]; "
                     "ld.global.b32 %r3, [%d0+256]; ld.global.b32 %r3, "
                     "[%d0+512];\nE:",
                 {64, 4});
  };
  const std::string fence = "membar.gl; ", barrier = "bar.sync 0; ";
  EXPECT_EQ(reduction(fence, barrier), "");
  EXPECT_THAT(reduction("", barrier), HasSubstr("race: "));
  EXPECT_THAT(reduction(fence, ""), HasSubstr("race: "));
}

TEST(GlobalRace, GridBarrier) {
  // As in cooperative groups: thread 0 of each CTA arrives and spins.
  auto exchange = [&](const std::string &before, const std::string &fence) {
    return fault("st.global.b32 [%a], %t; " + before + "@!%first bra W; " +
                     fence +
                     "atom.add.release.gpu.global.u32 %r2, [%flag], 1;\nL: "
                     "ld.acquire.gpu.global.b32 %r3, [%flag]; setp.lt.u32 %p1, "
                     "%r3, 2; @%p1 bra L; " +
                     fence + "\nW: barrier.sync 0; ld.global.b32 %r4, [%b];",
                 {64, 2, 2});
  };
  EXPECT_EQ(exchange("barrier.sync 0; ", "fence.acq_rel.gpu; "), "");
  EXPECT_EQ(exchange("barrier.sync 0; ", ""), "");
  EXPECT_THAT(exchange("", ""), HasSubstr("race: "));
}
