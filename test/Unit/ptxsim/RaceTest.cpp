// Races in shared memory and hazards of cp.async: a kernel with the fault and
// one without, for each kind of order.

#include "test/Unit/ptxsim/TestKernel.h"

using namespace ptxsim;
using namespace ptxsim::test;
using testing::AllOf;
using testing::HasSubstr;

namespace {

/// %a: the thread's word of s, %b: the word 32 threads on, %c: the word of the
/// next lane.
const std::string begin =
    "  .shared .align 16 .b8 s[1024]; .reg .b32 a, b, c, base, u, v, w; .reg "
    ".b16 h; .reg .pred p, q;\n"
    "  mov.u32 base, s; mad.lo.s32 a, %t, 4, base; xor.b32 u, %t, 32; "
    "mad.lo.s32 "
    "b, u, 4, base; xor.b32 u, %t, 1; mad.lo.s32 c, u, 4, base;\n"
    "  setp.lt.u32 p, %t, 32; setp.eq.u32 q, %t, 0;\n";

std::string fault(const std::string &body, size_t threads = 64,
                  Checks checks = {}) {
  std::string first;
  for (Schedule schedule :
       {Schedule::RoundRobin, Schedule::Reverse, Schedule::Random}) {
    DeviceOptions options;
    options.schedule = schedule;
    options.seed = 7;
    options.checks = checks;
    std::string text = faultOfBody(begin + body, threads, options);
    if (schedule == Schedule::RoundRobin)
      first = text;
    else // A fault is found whatever the order.
      EXPECT_EQ(text.empty(), first.empty()) << text << first;
  }
  return first;
}

} // namespace

TEST(Race, BarrierBetweenWriteAndRead) {
  EXPECT_EQ(fault("st.shared.b32 [a], %t; bar.sync 0; ld.shared.b32 v, [b];"),
            "");
  Checks noUninitialised;
  noUninitialised.uninitialisedShared = false;
  EXPECT_THAT(fault("st.shared.b32 [a], %t; ld.shared.b32 v, [b];", 64,
                    noUninitialised),
              AllOf(HasSubstr("race: address 0x4"), HasSubstr("st.shared.b32"),
                    HasSubstr("of warp"), HasSubstr("barrier")));
}

TEST(Race, NamesBothAccesses) {
  EXPECT_EQ(faultOfBody(begin + "\n  @p st.shared.b32 [a], 1;\n  @!p "
                                "ld.shared.b32 v, [b];",
                        64),
            "k.ptx:20:7: error: ld.shared.b32: cta (0,0,0) warp 1 lane 0 "
            "(thread 32): "
            "race: address 0x400 (offset 0) of shared memory is read here and "
            "written by k.ptx:19: st.shared.b32 of warp 0 lane 0, and no "
            "barrier orders the two");
}

TEST(Race, BarrierBetweenReadAndTheNextWrite) {
  const std::string first =
      "st.shared.b32 [a], %t; bar.sync 0; ld.shared.b32 v, [b]; ";
  EXPECT_EQ(fault(first + "bar.sync 0; st.shared.b32 [a], 5;"), "");
  EXPECT_THAT(fault(first + "st.shared.b32 [a], 5;"),
              AllOf(HasSubstr("race: "), HasSubstr("ld.shared.b32"),
                    HasSubstr("st.shared.b32"),
                    HasSubstr("no barrier orders the two")));
}

TEST(Race, TwoWritesOfDifferentValues) {
  EXPECT_THAT(fault("st.shared.b32 [base], %t;"),
              HasSubstr("is written here and written by"));
  // The same value does no harm.
  EXPECT_EQ(fault("st.shared.b32 [base], 7; bar.sync 0; ld.shared.b32 v, "
                  "[base];"),
            "");
  // Neither do neighbouring bytes.
  EXPECT_EQ(
      fault("cvt.u16.u32 h, %t; add.u32 a, base, %t; st.shared.b8 [a], h; "
            "bar.sync 0; ld.shared.b8 h, [base];"),
      "");
}

TEST(Race, NamedBarriersOrderOnlyThoseWhoCome) {
  const std::string produce = "@p bra P; ", consume =
                                                "ld.shared.b32 v, [b]; "
                                                "bra E;\nP: st.shared.b32 "
                                                "[a], 3; ";
  EXPECT_EQ(
      fault(produce + "bar.sync 1, 64; " + consume + "bar.arrive 1, 64;\nE:"),
      "");
  EXPECT_THAT(
      fault("@p bar.arrive 1, 64; @p st.shared.b32 [a], 3; @!p bar.sync "
            "1, 64; @!p st.shared.b32 [b], 4;"),
      HasSubstr("race"));
}

TEST(Race, InsideAWarp) {
  const std::string write = "st.shared.b32 [a], %t; ";
  EXPECT_EQ(fault(write + "ld.shared.b32 v, [a];", 32), "");
  EXPECT_EQ(fault(write + "bar.warp.sync -1; ld.shared.b32 v, [c];", 32), "");
  EXPECT_EQ(fault(write + "bar.sync 0; ld.shared.b32 v, [c];", 32), "");
  EXPECT_THAT(fault(write + "ld.shared.b32 v, [c];", 32),
              HasSubstr("no bar.warp.sync or barrier orders the two"));
  EXPECT_THAT(fault(write + "bar.warp.sync -1; ld.shared.b32 v, [c]; "
                            "st.shared.b32 [a], 5;",
                    32),
              HasSubstr("is written here and read by"));
}

TEST(Race, APartOfAWarp) {
  // Pairs of lanes meet; %c is the word of the other one of the pair.
  const std::string write = "st.shared.b32 [a], %t; ",
                    read = "ld.shared.b32 v, [c]; ";
  const auto meet = [](const std::string &mask) {
    return "and.b32 u, %t, 30; " + mask + " bar.warp.sync w; ";
  };
  const std::string pairs = "shl.b32 w, 3, u;", quarter = "shr.u32 u, %t, 3; "
                                                          "shl.b32 u, u, 3; "
                                                          "shl.b32 w, 255, u;";
  EXPECT_EQ(fault(write + meet(pairs) + read, 32), "");
  EXPECT_EQ(fault(write + meet(quarter) + read, 32), "");
  // The pair meets, but another lane's word is read.
  const std::string far = "xor.b32 c, c, 32; ld.shared.b32 v, [c];";
  EXPECT_THAT(fault(write + meet(pairs) + far, 32),
              HasSubstr("no bar.warp.sync or barrier orders the two"));
  EXPECT_THAT(fault(write + meet(quarter) + far, 32), HasSubstr("race"));
  // What was learnt in pairs is handed on: 0 and 1 meet, then all even lanes.
  EXPECT_EQ(fault(write + meet(pairs) +
                      "and.b32 u, %t, 1; shl.b32 w, 0x55555555, u; "
                      "bar.warp.sync w; " +
                      far,
                  32),
            "");
  // The halves of a warp that has split up.
  const auto halves = [&](const std::string &low, const std::string &high) {
    return fault("setp.lt.u32 p, %t, 16; and.b32 u, %t, 15; mad.lo.u32 b, u, "
                 "4, base; @p bra L; " +
                     high + " bra E;\nL: " + low + "\nE:",
                 32);
  };
  EXPECT_EQ(halves("st.shared.b32 [b], %t; barrier.sync 0;",
                   "barrier.sync 0; ld.shared.b32 v, [b];"),
            "");
  EXPECT_THAT(halves("st.shared.b32 [b], %t; bar.warp.sync 0xffff;",
                     "bar.warp.sync 0xffff0000; st.shared.b32 [b], 77;"),
              HasSubstr("race"));
}

TEST(Race, Atomics) {
  const std::string zero = "@q st.shared.b32 [base], 0; bar.sync 0; "
                           "atom.shared.add.u32 v, [base], 1; ";
  EXPECT_EQ(fault(zero + "bar.sync 0; ld.shared.b32 v, [base];"), "");
  EXPECT_THAT(fault(zero + "ld.shared.b32 v, [base];"), HasSubstr("race"));
  // A flag: release and acquire, or fences around relaxed accesses.
  const auto flag = [&](const std::string &set, const std::string &test) {
    return fault(
        "@q st.shared.b32 [base+512], 0; bar.sync 0; @p bra P;\nW: " + test +
        " setp.eq.u32 q, v, 0; @q bra W; @q bra W; ld.shared.b32 v, "
        "[base+256]; bra E;\nP: setp.ne.u32 q, %t, 0; @q bra E; "
        "st.shared.b32 [base+256], 9; " +
        set + "\nE:");
  };
  EXPECT_EQ(flag("st.release.cta.shared.b32 [base+512], 1;",
                 "ld.acquire.cta.shared.b32 v, [base+512];"),
            "");
  EXPECT_EQ(flag("fence.acq_rel.cta; st.relaxed.cta.shared.b32 [base+512], 1;",
                 "ld.relaxed.cta.shared.b32 v, [base+512]; fence.acq_rel.cta;"),
            "");
  EXPECT_THAT(flag("st.relaxed.cta.shared.b32 [base+512], 1;",
                   "ld.relaxed.cta.shared.b32 v, [base+512];"),
              HasSubstr("race"));
}

TEST(Race, Switch) {
  Checks off;
  off.sharedRaces = false;
  EXPECT_EQ(fault("st.shared.b32 [base], %t;", 64, off), "");
}

TEST(AsyncHazard, OverwrittenReadOrLeftInFlight) {
  const std::string copy =
      "shl.b32 a, %t, 4; add.u32 a, a, base; .reg .b64 g; and.b32 u, %t, 1; "
      "mad.wide.u32 g, u, 16, %p0; cp.async.cg.shared.global [a], [g], 16; "
      "cp.async.commit_group; ";
  const std::string wait = "cp.async.wait_group 0; ";
  EXPECT_EQ(fault(copy + wait + "ld.shared.b32 v, [a];"), "");
  EXPECT_THAT(fault(copy + "ld.shared.b32 v, [a]; " + wait),
              HasSubstr("is read, but a cp.async that writes it is in flight"));
  EXPECT_THAT(fault(copy + "st.shared.b32 [a], 1; " + wait),
              HasSubstr("is written, but a cp.async that writes it is"));
  EXPECT_THAT(fault(copy),
              HasSubstr("is still in flight when its thread exits"));
  // Other threads need a barrier too.
  const std::string other = "xor.b32 a, a, 16; ld.shared.b32 v, [a];";
  EXPECT_EQ(fault(copy + wait + "bar.sync 0; " + other), "");
  EXPECT_THAT(fault(copy + wait + other), HasSubstr("race"));
  EXPECT_THAT(fault(copy + "bar.sync 0; " + other + wait),
              HasSubstr("in flight"));
  Checks off;
  off.sharedRaces = off.asyncHazards = false;
  EXPECT_EQ(fault(copy + "ld.shared.b32 v, [a];", 64, off), "");
}

TEST(Race, CopiesOfAKernelOfOneThread) {
  const std::string copy = "cp.async.ca.shared.global [a], [%p0], 4; "
                           "cp.async.commit_group; ",
                    wait = "cp.async.wait_group 0; ";
  EXPECT_EQ(faultOfBody(begin + copy + wait + "ld.shared.b32 v, [a];", 1), "");
  EXPECT_THAT(faultOfBody(begin + copy + "ld.shared.b32 v, [a]; " + wait, 1),
              HasSubstr("is read, but a cp.async that writes it is in flight"));
  EXPECT_THAT(faultOfBody(begin + copy + "st.shared.b32 [a], 1; " + wait, 1),
              HasSubstr("is written, but a cp.async that writes it is in "
                        "flight"));
}

TEST(Race, LanesOfOneWarp) {
  EXPECT_EQ(fault("st.shared.b32 [a], %t; bar.warp.sync -1; ld.shared.b32 v, "
                  "[c];",
                  32),
            "");
  EXPECT_THAT(fault("st.shared.b32 [a], %t; bar.warp.sync -1; ld.shared.b32 v, "
                    "[c]; st.shared.b32 [a], 5;",
                    32),
              HasSubstr("race: "));
  // Two threads are enough.
  EXPECT_THAT(fault("st.shared.b32 [base], %t;", 2), HasSubstr("race: "));
}
