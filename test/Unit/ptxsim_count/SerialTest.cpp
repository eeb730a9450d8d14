// What goes one after the other: waits of CTAs for each other, loads whose
// addresses depend on loads.

#include "runtime/ptxsim/model/Model.h"
#include "test/Unit/ptxsim_count/Counted.h"
#include "test/Unit/ptxsim_count/Modelled.h"

#include <fmt/format.h>

using namespace counted;
using testing::Contains;
using testing::HasSubstr;

namespace {

Setup gridOf(uint32_t ctas, uint32_t threads = 64) {
  Setup s;
  s.threads = threads, s.grid = {ctas, 1, 1}, s.cooperative = true;
  return s;
}

/// `n` barriers of the grid: thread 0 of each CTA counts it in and reads the
/// counter until all are there.
std::string gridBarriers(unsigned n, const char *load = "ld.acquire.gpu") {
  return fmt::format(R"(
  mov.u32 %r2, %nctaid.x;
  mov.u32 %r3, 0;
  mov.u32 %r4, 0;
NEXT:
  add.u32 %r3, %r3, %r2;
  bar.sync 0;
  setp.ne.u32 %p0, %r0, 0;
  @%p0 bra ALL;
  red.release.gpu.global.add.u32 [%d1], 1;
POLL:
  {}.global.u32 %r5, [%d1];
  setp.lt.u32 %p1, %r5, %r3;
  @%p1 bra POLL;
ALL:
  bar.sync 0;
  add.u32 %r4, %r4, 1;
  setp.lt.u32 %p2, %r4, {};
  @%p2 bra NEXT;)",
                     load, n);
}

TEST(GridWaits, EveryBarrierCountsOnce) {
  for (const char *load : {"ld.acquire.gpu", "ld.volatile", "ld.relaxed.gpu"})
    for (unsigned ctas : {2u, 3u, 8u})
      for (unsigned n : {1u, 2u, 5u})
        EXPECT_EQ(Counted(gridBarriers(n, load), gridOf(ctas)).counts.gridWaits,
                  n)
            << load << ", " << ctas << " CTAs";
}

TEST(GridWaits, OneCtaWaitsForNobody) {
  EXPECT_EQ(Counted(gridBarriers(3), gridOf(1)).counts.gridWaits, 0u);
}

TEST(GridWaits, DoNotDependOnTheSchedule) {
  for (Schedule schedule :
       {Schedule::Reverse, Schedule::Random, Schedule::Greedy}) {
    counted::Setup s = gridOf(4);
    s.options.schedule = schedule;
    EXPECT_EQ(Counted(gridBarriers(3), s).counts.gridWaits, 3u);
  }
}

// CTA i waits for CTA i - 1 to say that it is through: a chain over all.
TEST(GridWaits, ChainOfCtas) {
  const Counted run(R"(
  setp.ne.u32 %p0, %r0, 0;
  @%p0 bra END;
  mov.u32 %r2, %ctaid.x;
  mul.wide.u32 %d2, %r2, 4;
  add.s64 %d2, %d1, %d2;
  setp.eq.u32 %p1, %r2, 0;
  @%p1 bra TELL;
POLL:
  ld.acquire.gpu.global.u32 %r5, [%d2+-4];
  setp.eq.u32 %p2, %r5, 0;
  @%p2 bra POLL;
TELL:
  mov.u32 %r6, 0;
DELAY:
  add.u32 %r6, %r6, 1;
  setp.lt.u32 %p3, %r6, 20000;
  @%p3 bra DELAY;
  mov.u32 %r6, 1;
  st.release.gpu.global.u32 [%d2], %r6;
END:)",
                    gridOf(5));
  EXPECT_EQ(run.counts.gridWaits, 4u);
}

// Neither loops over what others write, nor counters that hand out work.
TEST(GridWaits, CountersOfWorkAreNoWaits) {
  const Counted run(R"(
TAKE:
  setp.ne.u32 %p0, %r0, 0;
  @%p0 bra END;
  atom.relaxed.gpu.global.add.u32 %r5, [%d1], 1;
  setp.lt.u32 %p1, %r5, 1000;
  @%p1 bra TAKE;
END:)",
                    gridOf(4));
  EXPECT_EQ(run.counts.gridWaits, 0u);
}

TEST(GridWaits, AreTheSerialTerm) {
  const Counted run(gridBarriers(3), gridOf(4));
  auto t = modelTime(h200(), run.counts);
  ASSERT_TRUE(t) << t.message();
  EXPECT_NEAR(t->serial, 3 * 1.1e-6, 1e-12);
  EXPECT_THAT(t->assumed,
              Contains("waits of CTAs for each other, as counted: 3"));
  // What is given wins.
  t = modelTime(h200(), run.counts, {.gridBarriers = 1});
  EXPECT_NEAR(t->serial, 1.1e-6, 1e-12);
}

uint32_t chainOf(const std::string &body, Setup setup = {}) {
  return Counted(body, std::move(setup)).counts.loadChain;
}

TEST(LoadChains, OfRegisters) {
  EXPECT_EQ(chainOf("  add.u32 %r2, %r0, 1;"), 0u);
  EXPECT_EQ(chainOf("  ld.global.u32 %r2, [%d0];\n"
                    "  ld.global.u32 %r3, [%d0+4];\n  add.u32 %r4, %r2, %r3;"),
            1u);
  // An index, then what it stands for, by way of arithmetic.
  const std::string gather = "  ld.global.u32 %r2, [%d0];\n"
                             "  mad.lo.u32 %r3, %r2, 8, %r0;\n"
                             "  mul.wide.u32 %d2, %r3, 4;\n"
                             "  add.s64 %d2, %d0, %d2;\n";
  EXPECT_EQ(chainOf(gather + "  ld.global.u32 %r4, [%d2];"), 2u);
  EXPECT_EQ(chainOf(gather + "  atom.global.add.u32 %r4, [%d2], 1;\n"
                             "  mul.wide.u32 %d3, %r4, 0;\n"
                             "  add.s64 %d3, %d0, %d3;\n"
                             "  ld.global.u32 %r5, [%d3];"),
            3u);
  EXPECT_EQ(chainOf(gather + "  and.b64 %d2, %d2, -16;\n"
                             "  mad.lo.u32 %r5, %r0, 16, %r1;\n"
                             "  cp.async.cg.shared.global [%r5], [%d2], 16;\n"
                             "  cp.async.wait_all;"),
            2u);
  // Overwritten in between.
  EXPECT_EQ(chainOf(gather + "  mov.u64 %d2, %d0;\n"
                             "  ld.global.u32 %r4, [%d2];"),
            1u);
  // A store needs the value, but fetches nothing.
  EXPECT_EQ(chainOf(gather + "  st.global.u32 [%d2], %r2;"), 1u);
}

TEST(LoadChains, OfLists) {
  EXPECT_EQ(chainOf(R"(
  mov.u32 %r2, 0;
  mov.u64 %d2, %d0;
CHASE:
  ld.global.u32 %r3, [%d2];
  mul.wide.u32 %d3, %r3, 4;
  add.s64 %d2, %d2, %d3;
  add.u32 %r2, %r2, 1;
  setp.lt.u32 %p0, %r2, 7;
  @%p0 bra CHASE;)"),
            7u);
}

TEST(LoadChains, NotThroughMemoryAndBranches) {
  EXPECT_EQ(chainOf("  ld.global.u32 %r2, [%d0];\n"
                    "  st.shared.u32 [%r1], %r2;\n"
                    "  ld.shared.u32 %r3, [%r1];\n"
                    "  mul.wide.u32 %d2, %r3, 4;\n"
                    "  add.s64 %d2, %d0, %d2;\n"
                    "  ld.global.u32 %r4, [%d2];"),
            1u);
}

// Why they are no term by default: a warp that follows a list has one load in
// flight, so the term of the bytes in flight is all of its trips already.
TEST(LoadChains, AreInTheBytesInFlight) {
  const Counted run(R"(
  mov.u32 %r2, 0;
  mov.u64 %d2, %d0;
CHASE:
  ld.global.u32 %r3, [%d2];
  add.u32 %r3, %r3, 32;
  cvt.u64.u32 %d3, %r3;
  add.s64 %d2, %d2, %d3;
  add.u32 %r2, %r2, 1;
  setp.lt.u32 %p0, %r2, 100;
  @%p0 bra CHASE;)",
                    {.threads = 1, .caches = h200().cacheSizes()});
  EXPECT_EQ(run.counts.loadChain, 100u);
  auto t = modelTime(h200(), run.counts);
  ASSERT_TRUE(t) << t.message();
  EXPECT_NEAR(term(*t, "inflight"), 100 * 345e-9, 1e-12);
  EXPECT_EQ(t->serial, 0);
  EXPECT_THAT(t->assumed,
              Contains(HasSubstr("(loads that follow from one another, as "
                                 "counted: 100)")));
}

} // namespace
