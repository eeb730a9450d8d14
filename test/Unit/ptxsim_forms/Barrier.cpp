// bar, barrier (of a CTA), bar.warp: who waits for whom, what the reductions
// give, how many warps take part. A barrier that is not waited for is seen by
// a value that is not there yet, by the check for races, or by a deadlock.

#include "test/Unit/ptxsim_forms/Form.h"
#include "test/Unit/ptxsim_forms/Names.h"

using namespace ptxsim;
using namespace ptxsim::forms;

namespace {

/// `threads` threads with 1 KiB of shared memory `area`, %s the address of the
/// thread's word in it, and %out as in runThreads, under both orders of the
/// warps.
void expectThreads(const std::string &body, size_t threads,
                   uint64_t (*expected)(uint64_t)) {
  for (const Schedule schedule : {Schedule::RoundRobin, Schedule::Reverse}) {
    DeviceOptions options;
    options.schedule = schedule;
    Program program(R"(.version 8.7
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 out) {
  .shared .align 4 .b32 area[256];
  .reg .b32 %t, %s, %w, %r<8>; .reg .b64 %out; .reg .pred %p<4>;
  ld.param.u64 %out, [out];
  mov.u32 %t, %tid.x;
  mad.wide.u32 %out, %t, 8, %out;
  mov.u32 %s, area;
  mad.lo.u32 %s, %t, 4, %s;
  shr.u32 %w, %t, 5;
)" + body + "\n  ret;\n}\n",
                    options);
    ASSERT_EQ(program.loadError, "");
    const uint64_t out = program.buffer("out", std::vector<uint64_t>(threads));
    EXPECT_EQ(program.run({out}, {uint32_t(threads), 1, 1}).message(), "")
        << body;
    const std::vector<uint64_t> got = program.read<uint64_t>(out, threads);
    for (uint64_t t = 0; t < threads; ++t)
      EXPECT_EQ(got[t], expected(t)) << body << "\nin thread " << t;
  }
}

const std::string exchange = "  st.shared.b32 [%s], %t;\n";
/// What the thread 32 places on has put there.
const std::string fetch = "  xor.b32 %r1, %s, 128;\n"
                          "  ld.shared.b32 %r1, [%r1];\n"
                          "  st.global.b32 [%out], %r1;\n";

/// All of the CTA; two pairs of warps at barriers and with counts of their own,
/// the number of the barrier in a register too.
void testSync(const std::string &name, bool aligned) {
  expectThreads(exchange + "  " + name + " 0;\n" + fetch, 64,
                [](uint64_t t) { return t ^ 32; });
  expectThreads(exchange + "  " + name + " 15;\n" + fetch, 64,
                [](uint64_t t) { return t ^ 32; });
  // A third warp, which does not come, is not waited for by the count of 64.
  expectThreads(exchange +
                    "  mov.u32 %r1, %t;\n  setp.eq.u32 %p0, %w, 2;\n"
                    "  @%p0 bra ALONE;\n  " +
                    name + " 3, 64;\n" + fetch +
                    "  bra END;\nALONE:\n  st.global.b32 [%out], 7;\nEND:\n",
                96, [](uint64_t t) { return t < 64 ? t ^ 32 : 7; });
  expectThreads(exchange +
                    "  shr.u32 %r2, %w, 1;\n  add.u32 %r2, %r2, 4;\n"
                    "  mov.u32 %r3, 64;\n  " +
                    name + " %r2, %r3;\n" + fetch,
                128, [](uint64_t t) { return t ^ 32; });
  // Again and again at the same barrier.
  expectThreads(
      "  mov.u32 %r4, 0;\n  mov.u32 %r5, 0;\nAGAIN:\n"
      "  add.u32 %r1, %t, %r4;\n  st.shared.b32 [%s], %r1;\n  " +
          name +
          " 1;\n  xor.b32 %r1, %s, 128;\n"
          "  ld.shared.b32 %r1, [%r1];\n  add.u32 %r5, %r5, %r1;\n  " +
          name +
          " 1;\n  add.u32 %r4, %r4, 1;\n"
          "  setp.lt.u32 %p0, %r4, 4;\n  @%p0 bra AGAIN;\n"
          "  st.global.b32 [%out], %r5;\n",
      64, [](uint64_t t) { return 4 * (t ^ 32) + 6; });
  if (aligned)
    return;
  // Parts of a warp at different statements.
  expectThreads(exchange +
                    "  and.b32 %r1, %t, 1;\n  setp.eq.u32 %p0, %r1, 0;\n"
                    "  @%p0 bra EVEN;\n  " +
                    name + " 2;\n  bra JOIN;\nEVEN:\n  " + name +
                    " 2;\nJOIN:\n" + fetch,
                64, [](uint64_t t) { return t ^ 32; });
}

/// The first warp announces what it has written, and goes on: it writes again
/// only behind a barrier at which the second one announces that it has read.
void testArrive(const std::string &name) {
  const std::string sync = "barrier.sync.aligned"; // not under test here
  expectThreads("  setp.eq.u32 %p0, %w, 0;\n  @!%p0 bra CONSUMER;\n"
                "  add.u32 %r1, %t, 100;\n  st.shared.b32 [%s], %r1;\n  " +
                    name + " 1, 64;\n  st.global.b32 [%out], 5;\n  " + sync +
                    " 2, 64;\n  st.shared.b32 [%s], 9;\n  " + name +
                    " 3, 64;\n  bra END;\nCONSUMER:\n  " + sync +
                    " 1, 64;\n  ld.shared.b32 %r1, [%s+-128];\n  " + name +
                    " 2, 64;\n  " + sync +
                    " 3, 64;\n  ld.shared.b32 %r2, [%s+-128];\n"
                    "  add.u32 %r1, %r1, %r2;\n"
                    "  st.global.b32 [%out], %r1;\nEND:\n",
                64, [](uint64_t t) { return t < 32 ? 5 : t + 68 + 9; });
  // Both warps announce and then wait for the other one: a wait in place of
  // the announcement would never end.
  expectThreads(exchange + "  setp.eq.u32 %p0, %w, 0;\n  @!%p0 bra OTHER;\n  " +
                    name + " 1, 64;\n  " + sync +
                    " 2, 64;\n  bra BOTH;\nOTHER:\n  " + name + " 2, 64;\n  " +
                    sync + " 1, 64;\nBOTH:\n" + fetch,
                64, [](uint64_t t) { return t ^ 32; });
}

/// Predicates of nobody, somebody, everybody; negated; with counts; and what
/// was written before is there behind it.
void testRed(const std::string &name) {
  const std::vector<std::string> words = wordsOf(name);
  const bool popc = hasWord(words, "popc"), all = hasWord(words, "and");
  static uint64_t expectedFirst, expectedSecond; // for captureless functions
  for (uint32_t yes : {0u, 1u, 33u, 63u, 64u})
    for (const bool negated : {false, true})
      for (const bool counted : {false, true}) {
        // Two pairs of warps if counted: in the first one `yes` threads say
        // yes, in the second all do but one.
        const auto result = [&](uint32_t n) -> uint64_t {
          const uint32_t holds = negated ? 64 - n : n;
          return popc ? holds : all ? holds == 64 : holds > 0;
        };
        expectedFirst = result(yes);
        expectedSecond = counted ? result(63) : expectedFirst;
        const std::string d = popc ? "%r4" : "%p2";
        const std::string c = negated ? "!%p1" : "%p1";
        expectThreads(
            exchange + "  setp.lt.u32 %p1, %t, " + std::to_string(yes) +
                ";\n  setp.gt.u32 %p3, %t, 64;\n  or.pred %p1, %p1, %p3;\n"
                "  shr.u32 %r2, %w, 1;\n  mov.u32 %r4, 99;\n"
                "  setp.eq.u32 %p2, %t, 5;\n  " +
                name + " " + d + ", %r2, " + (counted ? "64, " : "") + c +
                ";\n" + (popc ? "" : "  selp.b32 %r4, 1, 0, %p2;\n") +
                "  xor.b32 %r1, %s, 128;\n  ld.shared.b32 %r1, [%r1];\n"
                "  st.global.b32 [%out+4], %r1;\n  st.global.b32 [%out], "
                "%r4;\n",
            counted ? 128 : 64, [](uint64_t t) {
              return (t < 64 ? expectedFirst : expectedSecond) | (t ^ 32) << 32;
            });
      }
}

/// Orders the memory of lanes: of the whole warp, and of two halves apart.
void testWarpSync() {
  const std::string body = exchange + "  bar.warp.sync MASK;\n"
                                      "  xor.b32 %r1, %s, 4;\n"
                                      "  ld.shared.b32 %r1, [%r1];\n"
                                      "  st.global.b32 [%out], %r1;\n";
  const auto with = [&](const std::string &mask) {
    std::string text = body;
    return text.replace(text.find("MASK"), 4, mask);
  };
  const auto neighbour = [](uint64_t t) { return t ^ 1; };
  expectThreads(with("0xffffffff"), 32, neighbour);
  expectThreads("  setp.lt.u32 %p0, %t, 12;\n"
                "  selp.b32 %r5, 0x00000fff, 0xfffff000, %p0;\n"
                "  @%p0 bra LOW;\n" +
                    with("%r5") + "  bra END;\nLOW:\n" + with("%r5") + "END:\n",
                32, neighbour);
}

} // namespace

FORMS(barriers) {
  for (const std::string &name :
       namesOf({{"barrier", "barrier.cta"}, {"sync"}, {"", "aligned"}}))
    form(name, [=] { testSync(name, name.ends_with("aligned")); });
  for (const std::string name : {"bar.sync", "bar.cta.sync"})
    form(name, [=] { testSync(name, true); });
  for (const std::string &name :
       namesOf({{"barrier", "barrier.cta"}, {"arrive"}, {"", "aligned"}}))
    form(name, [=] { testArrive(name); });
  for (const std::string name : {"bar.arrive", "bar.cta.arrive"})
    form(name, [=] { testArrive(name); });
  for (const std::string &name :
       namesOf({{"barrier.red", "barrier.cta.red"},
                {"popc.u32", "and.pred", "or.pred", "popc.aligned.u32",
                 "and.aligned.pred", "or.aligned.pred"}}))
    form(name, [=] { testRed(name); });
  for (const std::string &name : namesOf(
           {{"bar.red", "bar.cta.red"}, {"popc.u32", "and.pred", "or.pred"}}))
    form(name, [=] { testRed(name); });
  form("bar.warp.sync", testWarpSync);
}
