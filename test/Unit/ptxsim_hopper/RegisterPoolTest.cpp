// setmaxnreg: the pool of a CTA's registers, what its instructions must be and
// do together. The rules are those of the PTX ISA's description of it.

#include "test/Unit/ptxsim_hopper/Kernel.h"

using namespace hopper;
using namespace ptxsim;
using testing::AllOf;

namespace {

const std::string dec = "setmaxnreg.dec.sync.aligned.u32 ",
                  inc = "setmaxnreg.inc.sync.aligned.u32 ";

/// The fault under round robin; there is one under all schedules or none.
std::string fault(const std::string &body, uint32_t threads = 384,
                  const std::string &directives = ".maxnreg 168",
                  const std::string &check = "setmaxnreg=on") {
  std::string first;
  for (const char *schedule : {"rr", "reverse", "greedy", "random:1"}) {
    DeviceOptions options;
    EXPECT_TRUE(readOptions(std::string("schedule=") + schedule, options).ok());
    EXPECT_TRUE(readOptions(check, options).ok());
    Program program(kernel(body, directives), options);
    EXPECT_EQ(program.loadError, "");
    const std::string text =
        program.run(threads, program.buffer(std::vector<uint32_t>(1)));
    if (schedule == std::string("rr"))
      first = text;
    else
      EXPECT_EQ(text.empty(), first.empty()) << text << first;
  }
  return first;
}

/// A producer of 128 threads, and two consumers.
std::string roles(const std::string &producer, const std::string &consumers) {
  return "setp.lt.u32 %p0, %r0, 128;\n@%p0 bra P;\n" + consumers +
         "\nbra E;\nP:\n" + producer + "\nE:\n";
}

TEST(RegisterPool, IncWaitsUntilThereAreEnough) {
  // 168 each at launch: 64512 in all; 128 * 40 + 256 * 232 is as many.
  EXPECT_EQ(fault(roles(dec + "40;", inc + "232;")), "");
  EXPECT_EQ(fault(roles(dec + "40;", inc + "232;"), 384, ".maxntid 384"), "");
  // The second consumer waits for what the first one gives back in the end.
  EXPECT_EQ(fault(roles(dec + "40;", "setp.lt.u32 %p1, %r0, 256;\n@%p1 bra A;\n"
                                     "bar.sync 1, 256;\n" +
                                         inc + "240;\nbra E;\nA: " + inc +
                                         "240;\nbar.sync 1, 256;\n" + dec +
                                         "168;\n")),
            "");
}

TEST(RegisterPool, WhatCanNeverBeMetIsADeadlock) {
  EXPECT_THAT(
      fault(roles(dec + "40;", inc + "240;")),
      AllOf(HasSubstr("setmaxnreg.inc.sync.aligned.u32: cta (0,0,0) warp "),
            HasSubstr("deadlock: no warp can go on: warp "),
            HasSubstr(" lanes 0xffffffff at line "),
            HasSubstr("(setmaxnreg.inc from 168 to 240 registers per thread "
                      "asks for 2304, of which 256 are free)")));
  EXPECT_THAT(fault(roles(dec + "40;", inc + "240;"), 384, ".maxntid 384"),
              HasSubstr("deadlock"));
  // Nobody gives any; the producer waits for what the consumers never do.
  EXPECT_THAT(fault(roles("bar.sync 1, 384;", inc + "176;\nbar.sync 1, 384;")),
              HasSubstr("(setmaxnreg.inc from 168 to 176 registers per thread "
                        "asks for 256, of which 0 are free)"));
  EXPECT_EQ(fault(roles(dec + "40;", inc + "240;"), 384, ".maxnreg 168",
                  "setmaxnreg=off"),
            "");
}

TEST(RegisterPool, DeadlockTellsWhoHoldsThem) {
  Program program(kernel(roles(dec + "40;", inc + "240;"), ".maxnreg 168"));
  const uint64_t out = program.buffer(std::vector<uint32_t>(1));
  const uint64_t in0 = 0, in1 = 0;
  TensorMap map = {};
  const void *params[] = {&out, &in0, &in1, &map};
  const std::string text =
      program.device
          .launch(*program.module, program.module->kernels().front(), {},
                  {384, 1, 1}, 0, params)
          .message();
  EXPECT_THAT(
      text, HasSubstr("of the CTA's 64512 registers (168 per thread at "
                      "launch) 256 are free; warps 0 to 3 hold 5120 (40 per "
                      "thread, exited), warps 4 to 10 hold 53760 (240 per "
                      "thread, exited), warp 11 holds 5376 (168 per thread)"));
}

TEST(RegisterPool, DecIsNotAboveAndIncNotBelowWhatTheWarpHas) {
  EXPECT_EQ(fault(dec + "168;", 128), "");
  EXPECT_EQ(fault(inc + "168;", 128), "");
  EXPECT_THAT(fault(dec + "176;", 128),
              HasSubstr("expected a count of at most the 168 registers that "
                        "each thread of the warp has, but got 176"));
  EXPECT_THAT(fault(dec + "40;\nbar.sync 0;\n" + inc + "32;", 128),
              HasSubstr("expected a count of at least the 40 registers that "
                        "each thread of the warp has, but got 32"));
  // Registers come in eights.
  EXPECT_EQ(fault(dec + "104;", 128, ".maxnreg 100"), "");
  // .maxntid says no more than how many there may be.
  EXPECT_EQ(fault(inc + "248;", 256, ".maxntid 256"), "");
  EXPECT_THAT(fault(dec + "176;", 384, ".maxntid 384"),
              HasSubstr("expected a count of at most the 168"));
  // Nothing tells how many there are: it may have no effect.
  EXPECT_EQ(fault(dec + "40;\nbar.sync 0;\n" + inc + "240;", 128, ""), "");
}

TEST(RegisterPool, WarpsOfAWarpgroupExecuteTheSame) {
  const std::string one = "setp.lt.u32 %p0, %r0, 32;\n@%p0 bra P;\n",
                    end = "\nbra E;\nP:\n";
  EXPECT_THAT(fault(one + dec + "40;" + end + dec + "48;\nE:\n", 128),
              AllOf(HasSubstr("the warps of a warpgroup must execute the same "
                              "setmaxnreg, but warp "),
                    HasSubstr(" has executed .dec 4")));
  EXPECT_THAT(fault(one + dec + "40;\nE:\nP:\n", 128),
              HasSubstr("all warps of a warpgroup must execute the same "
                        "setmaxnreg, but warp 0 has executed 0 and warp 1 1"));
  // At two places of the text, but the same.
  EXPECT_EQ(fault(one + dec + "40;" + end + dec + "40;\nE:\n", 128), "");
  // The other warpgroup need not.
  EXPECT_EQ(fault(roles(dec + "40;", ""), 256), "");
}

TEST(RegisterPool, TheWarpgroupSynchronisesBetweenTwo) {
  const auto twice = [](const std::string &between) {
    return fault(dec + "40;\n" + between + inc + "48;\n", 256);
  };
  EXPECT_EQ(twice("bar.sync 0;\n"), "");
  EXPECT_EQ(twice("shr.u32 %r2, %r0, 7;\nbar.sync %r2, 128;\n"), "");
  EXPECT_EQ(twice(dec + "40;\nbar.sync 0;\n"), ""); // changes nothing
  EXPECT_THAT(
      twice(""),
      HasSubstr("the warpgroup must synchronise between two setmaxnreg, "
                "but nothing orders this one after warp "));
  EXPECT_THAT(twice("shr.u32 %r2, %r0, 6;\nbar.sync %r2, 64;\n"),
              HasSubstr("the warpgroup must synchronise between two"));
}

} // namespace
