// Cooperative launches: CTAs that wait for each other. Kinds of faults.

#include "test/Unit/ptxsim/TestKernel.h"

using namespace ptxsim;
using namespace ptxsim::test;
using testing::HasSubstr;

namespace {
/// Two grid barriers: every thread of every CTA stores, all wait, and each adds
/// what its neighbour has stored. A warp that waits spins.
const std::string gridBarrier = header + R"(
.visible .entry k(.param .u64 data, .param .u64 counter) {
  .reg .b64 %d, %n, %c; .reg .b32 %cta, %ctas, %i, %v, %old, %want, %t, %nt, %next; .reg .pred %p, %leader;
  ld.param.u64 %d, [data]; ld.param.u64 %c, [counter];
  mov.u32 %cta, %ctaid.x; mov.u32 %ctas, %nctaid.x; mov.u32 %t, %tid.x; mov.u32 %nt, %ntid.x;
  mad.lo.u32 %i, %cta, %nt, %t;
  add.u32 %next, %cta, 1; rem.u32 %next, %next, %ctas; mad.lo.u32 %next, %next, %nt, %t;
  mul.wide.u32 %n, %next, 4; add.u64 %n, %d, %n;
  .reg .b64 %m; mul.wide.u32 %m, %i, 4; add.u64 %m, %d, %m;
  st.global.u32 [%m], %i;
  setp.eq.u32 %leader, %t, 0;
  bar.sync 0;
  @!%leader bra FIRST;
  atom.add.release.gpu.global.u32 %old, [%c], 1;
SPIN0:
  ld.acquire.gpu.global.u32 %v, [%c]; setp.lt.u32 %p, %v, %ctas; @%p bra SPIN0;
FIRST:
  bar.sync 0;
  ld.global.u32 %v, [%n]; ld.global.u32 %i, [%m]; add.u32 %v, %v, %i;
  bar.sync 0;
  mul.lo.u32 %want, %ctas, 2;
  @!%leader bra SECOND;
  atom.add.release.gpu.global.u32 %old, [%c], 1;
SPIN1:
  ld.acquire.gpu.global.u32 %old, [%c]; setp.lt.u32 %p, %old, %want; @%p bra SPIN1;
SECOND:
  bar.sync 0;
  st.global.u32 [%m], %v;
  ret;
})";
} // namespace

TEST(Cooperative, CtasWaitForEachOther) {
  const uint32_t ctas = 11, threads = 64, n = ctas * threads;
  for (unsigned hostThreads : {1u, 2u})
    for (const char *schedule : {"rr", "reverse", "random:3", "greedy"}) {
      DeviceOptions options = onThreads(hostThreads);
      ASSERT_TRUE(readSchedule(schedule, options).ok());
      Sim sim(gridBarrier, options);
      ASSERT_EQ(sim.loadError, "");
      uint64_t data = sim.buffer("data", std::vector<uint32_t>(n));
      uint64_t counter = sim.buffer("counter", std::vector<uint32_t>(1));
      const void *params[] = {&data, &counter};
      Status status = sim.device.launch(
          *sim.module, sim.module->kernels()[0], {ctas, 1, 1}, {threads, 1, 1},
          0, params, nullptr, std::nullopt, /*cooperative=*/true);
      ASSERT_EQ(status.message(), "") << schedule;
      std::vector<uint32_t> expected(n);
      for (uint32_t i = 0; i < n; ++i)
        expected[i] = i + (i + threads) % n;
      EXPECT_EQ(sim.read<uint32_t>(data, n), expected) << schedule;
    }
}

TEST(Cooperative, OtherLaunchesRunOneCtaAfterTheOther) {
  DeviceOptions options = onThreads(1);
  options.instructionLimit = 100000;
  Sim sim(gridBarrier, options);
  uint64_t data = sim.buffer("data", std::vector<uint32_t>(128));
  uint64_t counter = sim.buffer("counter", std::vector<uint32_t>(1));
  Status status = sim.run({data, counter}, {64, 1, 1}, {2, 1, 1});
  EXPECT_THAT(status.message(), HasSubstr("it hangs"));
  EXPECT_EQ(status.fault(), FaultKind::Hang);
}

TEST(Cooperative, WorkspaceOfTheGrid) {
  // {bytes, arrivals}, and new for every launch; nothing in other launches.
  Sim sim(header + R"(
.visible .entry k(.param .u64 out) {
  .reg .b64 %o, %w; .reg .b32 %lo, %hi, %v; .reg .pred %p;
  ld.param.u64 %o, [out];
  mov.u32 %hi, %envreg1; mov.u32 %lo, %envreg2; mov.b64 %w, {%lo, %hi};
  setp.eq.u64 %p, %w, 0; @%p bra NONE;
  atom.global.add.u32 %v, [%w+4], 1; st.global.u32 [%o+4], %v;
  ld.global.u32 %v, [%w]; st.global.u32 [%o], %v;
NONE:
  ret;
})");
  ASSERT_EQ(sim.loadError, "");
  uint64_t out = sim.buffer("out", std::vector<uint32_t>{7, 7});
  ASSERT_EQ(sim.run({out}, {1, 1, 1}).message(), "");
  EXPECT_EQ(sim.read<uint32_t>(out, 2), (std::vector<uint32_t>{7, 7}));
  const void *params[] = {&out};
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(sim.device
                  .launch(*sim.module, sim.module->kernels()[0], {1, 1, 1},
                          {1, 1, 1}, 0, params, nullptr, std::nullopt, true)
                  .message(),
              "");
    EXPECT_EQ(sim.read<uint32_t>(out, 2), (std::vector<uint32_t>{64, 0}));
  }
}

TEST(FaultKinds, TellWhatADriverWould) {
  auto kindOf = [](const std::string &body, DeviceOptions options = {}) {
    Sim sim(header + ".visible .entry k() { .reg .b64 %a; .reg .b32 %v; " +
                body + " ret; }",
            options);
    EXPECT_EQ(sim.loadError, "");
    Status status = sim.run({}, {32, 1, 1});
    EXPECT_FALSE(status.ok());
    return status.fault();
  };
  EXPECT_EQ(kindOf("mov.u64 %a, 0; ld.global.u32 %v, [%a];"),
            FaultKind::IllegalAddress);
  EXPECT_EQ(kindOf("mov.u32 %v, 64; ld.shared.u32 %v, [%v];"),
            FaultKind::IllegalAddress);
  EXPECT_EQ(kindOf("mov.u64 %a, 2; ld.global.u32 %v, [%a];"),
            FaultKind::Misaligned);
  EXPECT_EQ(kindOf("trap;"), FaultKind::Other);
  DeviceOptions shortLived;
  shortLived.instructionLimit = 10000;
  EXPECT_EQ(kindOf("L: bra L;", shortLived), FaultKind::Hang);
  // What the host asked for is no fault of the kernel.
  Sim sim(header + ".visible .entry k() { ret; }");
  EXPECT_EQ(sim.run({}, {2000, 1, 1}).fault(), FaultKind::None);
}

TEST(Cooperative, LanesThatSpinBeforeAnAlignedBarrierAreWaitedFor) {
  // One warp's leader spins on what the other warp does later; its other lanes
  // must not be at the barrier alone meanwhile.
  Sim sim(header + R"(
.visible .entry k(.param .u64 out) {
  .reg .b64 %o; .reg .b32 %t, %v, %n; .reg .pred %p, %leader, %second;
  ld.param.u64 %o, [out]; mov.u32 %t, %tid.x; mov.u32 %n, 0;
  setp.ge.u32 %second, %t, 32; setp.eq.u32 %leader, %t, 0;
  @%second bra WORK;
  @!%leader bra JOIN;
SPIN:
  ld.volatile.global.u32 %v, [%o]; setp.eq.u32 %p, %v, 0; @%p bra SPIN;
  bra JOIN;
WORK:
  add.u32 %n, %n, 1; setp.lt.u32 %p, %n, 30000; @%p bra WORK;
  st.volatile.global.u32 [%o], %n;
JOIN:
  bar.sync 0;
  setp.eq.u32 %leader, %t, 5; @!%leader bra END;
  st.global.u32 [%o+4], %t;
END:
  ret;
})");
  ASSERT_EQ(sim.loadError, "");
  for (const char *schedule : {"rr", "random:1", "random:2"}) {
    DeviceOptions options = sim.device.options();
    ASSERT_TRUE(readSchedule(schedule, options).ok());
    sim.device.setOptions(options);
    uint64_t out = sim.buffer("out", std::vector<uint32_t>(2));
    ASSERT_EQ(sim.run({out}, {64, 1, 1}).message(), "") << schedule;
    EXPECT_EQ(sim.read<uint32_t>(out, 2), (std::vector<uint32_t>{30000, 5}));
  }
}
