// Launches: dimensions, dynamic shared memory, limits, counters, several
// threads.

#include "test/Unit/ptxsim/TestKernel.h"

using namespace ptxsim;
using namespace ptxsim::test;
using testing::HasSubstr;

TEST(Launch, ThreadAndCtaIndices) {
  Sim sim(header + R"(
.visible .entry k(.param .u64 out) {
  .reg .b64 %o, %x; .reg .b32 %tx, %ty, %tz, %cx, %cy, %cz, %nx, %ny, %nz, %gx, %gy, %i, %v;
  ld.param.u64 %o, [out];
  mov.u32 %tx, %tid.x; mov.u32 %ty, %tid.y; mov.u32 %tz, %tid.z; mov.u32 %nx, %ntid.x; mov.u32 %ny, %ntid.y; mov.u32 %nz, %ntid.z;
  mov.u32 %cx, %ctaid.x; mov.u32 %cy, %ctaid.y; mov.u32 %cz, %ctaid.z; mov.u32 %gx, %nctaid.x; mov.u32 %gy, %nctaid.y;
  mad.lo.s32 %i, %cz, %gy, %cy; mad.lo.s32 %i, %i, %gx, %cx; mad.lo.s32 %i, %i, %nz, %tz; mad.lo.s32 %i, %i, %ny, %ty; mad.lo.s32 %i, %i, %nx, %tx;
  mul.wide.u32 %x, %i, 4; add.s64 %o, %o, %x;
  mul.lo.s32 %v, %cz, 10; add.s32 %v, %v, %cy; mul.lo.s32 %v, %v, 10; add.s32 %v, %v, %cx; mul.lo.s32 %v, %v, 10; add.s32 %v, %v, %tz;
  mul.lo.s32 %v, %v, 10; add.s32 %v, %v, %ty; mul.lo.s32 %v, %v, 10; add.s32 %v, %v, %tx;
  st.global.b32 [%o], %v;
  ret;
})");
  const Dim3 grid{3, 2, 2}, block{5, 4, 3};
  const size_t n = 12 * 60;
  uint64_t out = sim.buffer("out", std::vector<uint32_t>(n));
  ASSERT_EQ(sim.run({out}, block, grid).message(), "");
  std::vector<uint32_t> got = sim.read<uint32_t>(out, n);
  size_t i = 0;
  for (uint32_t cz = 0; cz < 2; ++cz)
    for (uint32_t cy = 0; cy < 2; ++cy)
      for (uint32_t cx = 0; cx < 3; ++cx)
        for (uint32_t tz = 0; tz < 3; ++tz)
          for (uint32_t ty = 0; ty < 4; ++ty)
            for (uint32_t tx = 0; tx < 5; ++tx)
              ASSERT_EQ(got[i++], cz * 100000 + cy * 10000 + cx * 1000 +
                                      tz * 100 + ty * 10 + tx);
}

TEST(Launch, DynamicSharedMemory) {
  Sim sim(header + R"(
.extern .shared .align 128 .b8 dyn[];
.shared .align 4 .b8 fixed[20];
.visible .entry k(.param .u64 out) {
  .reg .b64 %o; .reg .b32 %a, %f, %v, %s;
  ld.param.u64 %o, [out];
  mov.u32 %a, dyn; mov.u32 %f, fixed;
  st.shared.b32 [%f+16], 5; st.shared.b32 [dyn+124], 6; ld.shared.b32 %v, [%a+124];
  and.b32 %a, %a, 127; st.global.b32 [%o], %v; st.global.b32 [%o+4], %a; mov.u32 %s, %dynamic_smem_size; st.global.b32 [%o+8], %s;
  ret;
})");
  ASSERT_EQ(sim.loadError, "");
  uint64_t out = sim.buffer("out", std::vector<uint32_t>(3));
  ASSERT_EQ(sim.run({out}, {1, 1, 1}, {1, 1, 1}, 128).message(), "");
  EXPECT_EQ(sim.read<uint32_t>(out, 3), (std::vector<uint32_t>{6, 0, 128}));
  EXPECT_THAT(sim.run({out}, {1, 1, 1}, {1, 1, 1}, 64).message(),
              HasSubstr("are outside the"));
  EXPECT_THAT(sim.run({out}, {1, 1, 1}, {1, 1, 1}, 232448).message(),
              HasSubstr("kernel 'k': expected at most 232448 bytes of shared "
                        "memory, but got 20 static and 232448 dynamic"));
}

TEST(Launch, Limits) {
  Sim sim(header + ".visible .entry k() .reqntid 64, 1, 1 { ret; }");
  EXPECT_TRUE(sim.run({}, {64, 1, 1}).ok());
  EXPECT_EQ(
      sim.run({}, {32, 1, 1}).message(),
      "kernel 'k': expected a block of (64,1,1) (.reqntid), but got (32,1,1)");
  EXPECT_EQ(sim.run({}, {64, 1, 1}, {0, 1, 1}).message(),
            "kernel 'k': expected a grid of 1 to (2147483647,65535,65535), but "
            "got (0,1,1)");
  Sim other(header + ".visible .entry k() .maxntid 128 { ret; }");
  EXPECT_EQ(other.run({}, {160, 1, 1}).message(),
            "kernel 'k': expected a block of at most (128,1,1) (.maxntid), but "
            "got (160,1,1)");
  EXPECT_EQ(
      other.run({}, {1025, 1, 1}).message(),
      "kernel 'k': expected a block of 1 to 1024 threads, but got (1025,1,1)");
}

TEST(Launch, Counters) {
  Sim sim(header + R"(
.visible .entry k(.param .u64 p) {
  .reg .b64 %a; .reg .b32 %t, %v, %s; .reg .pred %p; .shared .align 4 .b8 sh[8192];
  ld.param.u64 %a, [p];
  mov.u32 %t, %tid.x;
  setp.lt.u32 %p, %t, 8;
  @%p ld.global.b32 %v, [%a];
  mov.u32 %s, sh;
  mad.lo.s32 %v, %t, 128, %s;
  st.shared.b32 [%v], %t;
  mad.lo.s32 %v, %t, 4, %s;
  st.shared.b32 [%v], %t;
  ret;
})");
  uint64_t p = sim.buffer("p", std::vector<uint32_t>(1));
  ASSERT_EQ(sim.run({p}, {32, 1, 1}, {3, 1, 1}).message(), "");
  EXPECT_EQ(sim.counters.warpInstructions, 3u * 10);
  EXPECT_EQ(sim.counters.threadInstructions, 3u * (9 * 32 + 8));
  EXPECT_EQ(sim.counters.globalLoadBytes, 3u * 32);
  EXPECT_EQ(sim.counters.tensorFlops, 0u);
  // A stride of 128 bytes puts all lanes into one bank; consecutive words do
  // not conflict.
  EXPECT_EQ(sim.counters.sharedWavefronts, 3u * 33);
  EXPECT_EQ(sim.counters.sharedIdealWavefronts, 3u * 2);
}

TEST(Launch, SameResultWithAnyNumberOfThreads) {
  const std::string text = header + R"(
.visible .entry k(.param .u64 out) {
  .reg .b64 %o, %x; .reg .b32 %t, %c, %n, %i, %v; .reg .pred %p;
  ld.param.u64 %o, [out]; mov.u32 %t, %tid.x; mov.u32 %c, %ctaid.x; mov.u32 %n, %ntid.x; mad.lo.s32 %i, %c, %n, %t;
  mul.wide.u32 %x, %i, 4; add.s64 %o, %o, %x; mov.u32 %v, %i;
L: mad.lo.s32 %v, %v, 1664525, 1013904223; sub.s32 %i, %i, 1; setp.gt.s32 %p, %i, 0; @%p bra L;
  st.global.b32 [%o], %v; ret;
})";
  std::vector<uint32_t> first;
  for (unsigned threads : {1u, 2u, 3u, 8u}) {
    Sim sim(text, onThreads(threads));
    uint64_t out = sim.buffer("out", std::vector<uint32_t>(64 * 20));
    for (int round = 0; round < 5; ++round)
      ASSERT_EQ(sim.run({out}, {64, 1, 1}, {20, 1, 1}).message(), "");
    auto got = sim.read<uint32_t>(out, 64 * 20);
    if (first.empty())
      first = got;
    EXPECT_EQ(got, first);
  }
  // x -> 1664525 x + 1013904223 applied once and twice.
  EXPECT_EQ(first[1], 1664525u + 1013904223u);
  EXPECT_EQ(first[2], 1664525u * (1664525u * 2 + 1013904223u) + 1013904223u);
}

TEST(Launch, SchedulesShowAMissingBarrier) {
  // Each warp reads what the next one wrote. With a barrier every schedule
  // gives the same; without one the order of warps shows.
  auto run = [](const std::string &barrier, Schedule schedule, uint64_t seed) {
    DeviceOptions options = onThreads(1);
    options.schedule = schedule;
    options.seed = seed;
    options.checks.uninitialisedShared = options.checks.sharedRaces = false;
    Sim sim(header +
                ".visible .entry k(.param .u64 out) { .shared .align 4 .b8 "
                "s[512]; .reg .b64 %o, %x; .reg .b32 %t, %a, %n, %v;\n"
                "ld.param.u64 %o, [out]; mov.u32 %t, %tid.x; mov.u32 %a, s; "
                "mad.lo.s32 %n, %t, 4, %a; st.shared.b32 [%n], %t;\n" +
                barrier +
                "add.s32 %n, %t, 32; and.b32 %n, %n, 127; mad.lo.s32 %n, %n, "
                "4, %a; ld.shared.b32 %v, [%n]; mul.wide.u32 %x, %t, 4;\n"
                "add.s64 %o, %o, %x; st.global.b32 [%o], %v; ret; }",
            options);
    uint64_t out = sim.buffer("out", std::vector<uint32_t>(128));
    EXPECT_EQ(sim.run({out}, {128, 1, 1}).message(), "");
    return sim.read<uint32_t>(out, 128);
  };
  const auto right = run("bar.sync 0;", Schedule::RoundRobin, 0);
  EXPECT_EQ(right[0], 32u);
  EXPECT_EQ(run("bar.sync 0;", Schedule::Reverse, 0), right);
  for (uint64_t seed = 0; seed < 10; ++seed)
    EXPECT_EQ(run("bar.sync 0;", Schedule::Random, seed), right);
  EXPECT_NE(run("", Schedule::RoundRobin, 0), right);
  EXPECT_NE(run("", Schedule::RoundRobin, 0), run("", Schedule::Reverse, 0));
}
