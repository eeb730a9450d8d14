#include "test/Unit/ptxsim_count/Counted.h"

#include <fmt/format.h>

using namespace counted;

namespace {

// One set of 16 lines.
const CacheSizes oneSet = {.l2Bytes = 2048};

/// `passes` times over `lines` lines of 128 bytes, a word per lane.
std::string overLines(unsigned lines, unsigned passes,
                      const std::string &access) {
  return fmt::format(R"(
  mul.wide.u32 %d2, %r0, 4;
  mov.u32 %r4, 0;
PASS:
  add.s64 %d3, %d0, %d2;
  mov.u32 %r5, 0;
LINE:
  {}
  add.s64 %d3, %d3, 128;
  add.u32 %r5, %r5, 1;
  setp.lt.u32 %p0, %r5, {};
  @%p0 bra LINE;
  add.u32 %r4, %r4, 1;
  setp.lt.u32 %p1, %r4, {};
  @%p1 bra PASS;)",
                     access, lines, passes);
}

TEST(L2, SecondPassHitsWhatFits) {
  const Counted run(overLines(16, 2, "ld.global.cg.b32 %r3, [%d3];"),
                    {.caches = oneSet});
  EXPECT_EQ(run[Counter::L2ReadSectors], 2 * 16 * 4u);
  EXPECT_EQ(run[Counter::L2Hits], 64u);
  EXPECT_EQ(run[Counter::L2Misses], 64u);
  EXPECT_EQ(run[Counter::DramReadBytes], 2048u);
  EXPECT_EQ(run[Counter::DramWriteBytes], 0u);
  EXPECT_EQ(run.counts.compulsoryReadBytes, 2048u);
  EXPECT_TRUE(run.counts.cachesModelled);
}

TEST(L2, CyclesThatDoNotFitMissAlways) {
  const Counted run(overLines(17, 2, "ld.global.cg.b32 %r3, [%d3];"),
                    {.caches = oneSet});
  EXPECT_EQ(run[Counter::L2Hits], 0u);
  EXPECT_EQ(run[Counter::DramReadBytes], 2 * 17 * 128u);
  EXPECT_EQ(run.counts.compulsoryReadBytes, 17 * 128u);
}

TEST(L2, WrittenSectorsGoToDramOnce) {
  const Counted fits(overLines(16, 3, "st.global.b32 [%d3], %r0;"),
                     {.caches = oneSet}),
      tooMany(overLines(17, 2, "st.global.b32 [%d3], %r0;"),
              {.caches = oneSet});
  EXPECT_EQ(fits[Counter::DramWriteBytes], 2048u); // at the end
  EXPECT_EQ(fits[Counter::DramReadBytes], 0u);
  EXPECT_EQ(fits.counts.compulsoryWriteBytes, 2048u);
  EXPECT_EQ(tooMany[Counter::DramWriteBytes], 2 * 17 * 128u);
}

TEST(L2, WhatTheKernelWroteIsNoCompulsoryRead) {
  const Counted run(overLines(4, 1,
                              "st.global.b32 [%d3], %r0;\n"
                              "ld.global.cg.b32 %r3, [%d3];"),
                    {.caches = oneSet});
  EXPECT_EQ(run.counts.compulsoryReadBytes, 0u);
  EXPECT_EQ(run.counts.compulsoryWriteBytes, 512u);
  EXPECT_EQ(run[Counter::L2Hits], 16u);
  EXPECT_EQ(run[Counter::DramReadBytes], 0u);
}

TEST(L2, OneSectorOfALine) {
  const Counted run("  ld.global.cg.b32 %r3, [%d0];\n"
                    "  ld.global.cg.b32 %r4, [%d0+32];\n"
                    "  ld.global.cg.b32 %r5, [%d0+8];",
                    {.caches = oneSet});
  EXPECT_EQ(run[Counter::L2Misses], 2u); // sectors come one by one
  EXPECT_EQ(run[Counter::L2Hits], 1u);
  EXPECT_EQ(run[Counter::DramReadBytes], 64u);
}

TEST(L2, AtomicsReadAndWrite) {
  const Counted run("  red.global.add.u32 [%d0], 1;", {.caches = oneSet});
  EXPECT_EQ(run[Counter::DramReadBytes], 32u);
  EXPECT_EQ(run[Counter::DramWriteBytes], 32u);
}

TEST(L2, NotModelledWithoutASize) {
  const Counted run("  ld.global.b32 %r3, [%d0];");
  EXPECT_FALSE(run.counts.cachesModelled);
  EXPECT_EQ(run[Counter::L2ReadSectors], 1u);
  EXPECT_EQ(run[Counter::L2Misses], 0u);
}

TEST(L1, ServesPlainLoadsOnly) {
  // 32 KiB are static shared memory of the test kernel.
  const CacheSizes caches = {.l1AndSharedBytes = 32768 + 4096};
  auto twice = [&](const char *load) {
    return Counted(overLines(8, 2, load), {.caches = caches});
  };
  const Counted plain = twice("ld.global.b32 %r3, [%d3];"),
                strong = twice("ld.relaxed.gpu.global.b32 %r3, [%d3];"),
                none(overLines(8, 2, "ld.global.b32 %r3, [%d3];"));
  EXPECT_EQ(plain[Counter::GlobalLoadSectors], 64u);
  EXPECT_EQ(plain[Counter::GlobalLoadHits], 32u);
  EXPECT_EQ(plain[Counter::L2ReadSectors], 32u);
  EXPECT_EQ(strong[Counter::GlobalLoadHits], 0u);
  EXPECT_EQ(strong[Counter::L2ReadSectors], 64u);
  EXPECT_EQ(none[Counter::L2ReadSectors], 64u);
}

TEST(L1, EveryCtaBeginsWithAnEmptyOne) {
  const CacheSizes caches = {.l2Bytes = 1 << 20,
                             .l1AndSharedBytes = 32768 + 4096};
  const Counted run(overLines(8, 1, "ld.global.b32 %r3, [%d3];"),
                    {.grid = {3, 1, 1}, .caches = caches});
  EXPECT_EQ(run[Counter::GlobalLoadHits], 0u);
  EXPECT_EQ(run[Counter::L2ReadSectors], 3 * 32u);
  EXPECT_EQ(run[Counter::L2Hits], 2 * 32u);
  EXPECT_EQ(run[Counter::DramReadBytes], 1024u);
}

TEST(L2, KeptFromLaunchToLaunch) {
  Device device;
  CacheSizes caches = oneSet;
  caches.keepL2 = true;
  Collector collector(caches);
  device.observe({&collector});
  auto module =
      device.loadModule(kernel(overLines(8, 1,
                                         "st.global.b32 [%d3], %r0;\n"
                                         "ld.global.cg.b32 %r3, [%d3];")),
                        "k.ptx");
  ASSERT_TRUE(module) << module.message();
  const uint64_t in = *device.allocate(4096, "in");
  const void *params[] = {&in, &in};
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(device.launch(**module, (*module)->kernels()[0], {}, {32, 1, 1},
                              0, params));
    // 32 sectors written and read; what stays in the cache is not written back.
    EXPECT_EQ(collector.latest().total[Counter::L2Hits], i ? 64u : 32u);
    EXPECT_EQ(collector.latest().total[Counter::DramWriteBytes], 0u);
  }
}

TEST(L2, SameFiguresOnAnyHostSchedule) {
  const std::string body = overLines(17, 2, "ld.global.cg.b32 %r3, [%d3];");
  auto run = [&](unsigned threads, Schedule schedule) {
    DeviceOptions options;
    options.threads = threads, options.schedule = schedule;
    return Counted(body, {.threads = 64,
                          .grid = {5, 1, 1},
                          .caches = oneSet,
                          .options = options});
  };
  const Counted one = run(1, Schedule::RoundRobin),
                two = run(4, Schedule::RoundRobin);
  EXPECT_EQ(one.counts.total.events, two.counts.total.events);
  EXPECT_EQ(run(1, Schedule::Reverse)[Counter::Instructions],
            one[Counter::Instructions]);
}

} // namespace
