// The checks: each fault with its text, and each check's switch.

#include "test/Unit/ptxsim/TestKernel.h"

using namespace ptxsim;
using namespace ptxsim::test;
using testing::HasSubstr;
using testing::MatchesRegex;

TEST(Check, MisalignedNamesEverything) {
  std::string fault = faultOfBody(
      "  .shared .align 16 .b8 s[4096]; .reg .b32 a, r0, r1, r2, r3; .reg "
      ".pred p; mov.u32 a, s; setp.eq.u32 p, %t, 81;\n"
      "  @p add.s32 a, a, 4; @p ld.shared.v4.b32 {r0, r1, r2, r3}, [a];",
      96);
  EXPECT_EQ(fault,
            "k.ptx:16:26: error: ld.shared.v4.b32: cta (0,0,0) warp 2 lane 17 "
            "(thread 81): address 0x404 is not 16-byte aligned");
}

TEST(Check, SourceLocation) {
  std::string text = header + R"(
.file 1 "model.mlir"
.visible .entry k(.param .u64 p) {
  .reg .b64 %a; .reg .b32 %v;
  ld.param.u64 %a, [p];
  .loc 1 12 3
  ld.global.b32 %v, [%a+2];
  ret;
}
)";
  Sim sim(text);
  ASSERT_EQ(sim.loadError, "");
  uint64_t p = sim.buffer("activations", std::vector<uint32_t>(4));
  Status status = sim.run({p}, {1, 1, 1});
  EXPECT_THAT(
      status.summary(),
      MatchesRegex(
          "k\\.ptx:10:3: error: ld\\.global\\.b32: cta \\(0,0,0\\) warp 0 lane "
          "0 \\(thread 0\\): address 0x[0-9a-f]+ is not 4-byte aligned "
          "\\('activations' \\+ 2\\) \\(at model\\.mlir:12:3\\)"));
}

TEST(Check, GlobalOutOfBounds) {
  auto access = [](const std::string &address) {
    return faultOfBody("  .reg .b64 v; ld.global.b64 v, [" + address +
                           "]; st.global.b64 [%out], v;",
                       4);
  };
  EXPECT_EQ(access("%p0+24"), "");
  EXPECT_THAT(access("%p0+32"),
              HasSubstr("is 0 bytes after the end of 'in0' of 32 bytes"));
  EXPECT_THAT(access("%p0+40"),
              HasSubstr("is 8 bytes after the end of 'in0' of 32 bytes"));
  EXPECT_THAT(access("%p0+-8"),
              HasSubstr("is 8 bytes before 'in0' of 32 bytes"));
  auto number = [](const std::string &n) {
    return faultOfBody(
        "  .reg .b64 v; mov.b64 v, " + n + "; ld.global.b64 v, [v];", 4);
  };
  EXPECT_THAT(number("0"), HasSubstr("is a null pointer"));
  EXPECT_THAT(number("4096"),
              HasSubstr("a shared address used as a global one?"));
  EXPECT_THAT(
      faultOfBody("  .reg .b32 v; mov.b32 v, 1; st.global.b32 [%out+8], v;", 4),
      HasSubstr("lane 3 (thread 3): address"));
  EXPECT_THAT(
      faultOfBody("  .reg .b32 v; atom.global.add.u32 v, [%p0+64], 1;", 4),
      HasSubstr("'in0'"));
  DeviceOptions off;
  off.checks.bounds = false;
  EXPECT_EQ(faultOfBody("  .reg .b64 v; ld.global.b64 v, [%p0+40];", 4, off),
            "");
}

TEST(Check, UseAfterFree) {
  Sim sim(header +
          ".visible .entry k(.param .u64 p) { .reg .b64 %a; .reg .b32 %v; "
          "ld.param.u64 %a, [p]; ld.global.b32 %v, [%a+4]; ret; }");
  uint64_t p = sim.buffer("cache", std::vector<uint32_t>(4));
  EXPECT_EQ(sim.run({p}).message(), "");
  ASSERT_TRUE(sim.device.free(p).ok());
  EXPECT_THAT(sim.run({p}).message(),
              HasSubstr("is 4 bytes into 'cache', which has been freed"));
}

TEST(Check, SharedOutOfBounds) {
  const std::string begin =
      "  .shared .align 16 .b8 s[64]; .reg .b32 a, v; mov.u32 a, s; ";
  EXPECT_EQ(faultOfBody(begin + "st.shared.b32 [a+60], 1;", 1), "");
  EXPECT_THAT(
      faultOfBody(begin + "st.shared.b32 [a+64], 1;", 1),
      HasSubstr("(offset 64) are outside the 64 bytes of shared memory"));
  EXPECT_THAT(
      faultOfBody(begin + "mov.u32 a, 0; ld.shared.b32 v, [a];", 1),
      HasSubstr("address 0x0 is before the start of shared memory at 0x400"));
  EXPECT_THAT(
      faultOfBody("  .reg .b32 v; ld.shared.b32 v, [%p0];", 1),
      HasSubstr(
          "is not in shared memory (a global address used as a shared one?)"));
  EXPECT_THAT(faultOfBody("  .shared .b32 s; .reg .b64 g; mov.u64 g, s; "
                          "cvta.shared.u64 g, g; st.shared.b32 [g], 1;",
                          1),
              HasSubstr("is a generic address, expected an offset"));
  EXPECT_THAT(faultOfBody("  .shared .b32 s; .reg .b64 g; mov.u64 g, s; "
                          "cvta.shared.u64 g, g; st.global.b32 [g], 1;",
                          1),
              HasSubstr("is a generic address of another space"));
  EXPECT_THAT(
      faultOfBody(
          "  .reg .b64 x; cvta.to.shared.u64 x, %p0; st.shared.b32 [x], 1;", 1),
      HasSubstr("are outside the 0 bytes of shared memory"));
}

TEST(Check, UninitialisedShared) {
  const std::string begin =
      "  .shared .align 16 .b8 s[256]; .reg .b32 a, v, w; .reg .b16 h; mov.u32 "
      "a, s; mad.lo.s32 w, %t, 4, a; ";
  EXPECT_EQ(
      faultOfBody(begin +
                  "st.shared.b32 [w], 1; bar.sync 0; ld.shared.b32 v, [w];"),
      "");
  EXPECT_THAT(
      faultOfBody(begin + "ld.shared.b32 v, [w]; st.global.b32 [%out], v;"),
      HasSubstr(
          "st.global.b32: cta (0,0,0) warp 0 lane 0 (thread 0): the value "
          "is undefined: 4 bytes at address 0x400 (offset 0) of shared "
          "memory are read at line 15, but byte 0 was never written"));
  EXPECT_THAT(faultOfBody(begin +
                              "st.shared.b8 [a+2], 7; ld.shared.b16 h, [a+2]; "
                              "st.global.b16 [%out], h;",
                          1),
              HasSubstr("but byte 3 was never written"));
  // One lane of a full warp is missing.
  EXPECT_THAT(faultOfBody(begin + ".reg .pred p; setp.ne.u32 p, %t, 9; @p "
                                  "st.shared.b32 [w], 1; ld.shared.b32 v, [w]; "
                                  "st.global.b32 [%out], v;"),
              HasSubstr("lane 9 (thread 9): the value"));
  EXPECT_THAT(faultOfBody(begin + "atom.shared.add.u32 v, [a], 1;", 1),
              HasSubstr("never written"));
  // What cannot be followed is reported where it is read.
  DeviceOptions unfollowed;
  unfollowed.checks.undefinedRegisters = false;
  EXPECT_THAT(faultOfBody(begin + "ld.shared.b32 v, [w];", 32, unfollowed),
              HasSubstr("ld.shared.b32: cta (0,0,0) warp 0 lane 0 (thread 0): "
                        "4 bytes at address 0x400 (offset 0) of shared memory "
                        "are read, but byte 0 was never written"));
  DeviceOptions off;
  off.checks.uninitialisedShared = false;
  EXPECT_EQ(
      faultOfBody(begin + "ld.shared.b32 v, [w]; st.global.b32 [%out], v;", 32,
                  off),
      "");
}

TEST(Check, SharedIsUninitialisedInEveryCta) {
  Sim sim(header + R"(
.visible .entry k() {
  .shared .align 4 .b8 s[4]; .reg .b32 %c, %v; .reg .pred %p;
  mov.u32 %c, %ctaid.x; setp.lt.u32 %p, %c, 3;
  @%p st.shared.b32 [s], %c;
  ld.shared.b32 %v, [s];
  setp.eq.u32 %p, %v, %c;
  @%p bra L;
L:
  ret;
})",
          onThreads(1));
  EXPECT_THAT(sim.run({}, {1, 1, 1}, {5, 1, 1}).message(),
              HasSubstr("cta (3,0,0)"));
}

TEST(Check, LocalAndParameters) {
  EXPECT_THAT(faultOfBody("  .local .align 4 .b8 l[16]; .reg .b64 a; mov.u64 "
                          "a, l; st.local.b32 [a+16], 1;",
                          1),
              HasSubstr("are outside the 16 bytes of local memory"));
  EXPECT_THAT(
      faultOfBody(
          "  .reg .b64 a; .reg .b32 v; mov.b64 a, in1; ld.param.b32 v, [a+8];",
          1),
      HasSubstr("are outside the 24 bytes of parameters"));
  EXPECT_THAT(
      faultOfBody(
          "  .reg .b64 a; mov.b64 a, in1; cvta.param.u64 a, a; st.b32 [a], 1;",
          1),
      HasSubstr("kernel parameters cannot be written"));
  EXPECT_THAT(faultOfBody("  .reg .b64 a; ld.param.b64 a, [out+4];", 1),
              HasSubstr("misaligned parameter"));
}

TEST(Check, DivergentBarrier) {
  std::string fault = faultOfBody("  .reg .pred p; setp.lt.u32 p, %t, 3; @p "
                                  "bra END;\n  bar.sync 0;\nEND: bar.sync 0;",
                                  32);
  EXPECT_EQ(
      fault,
      "k.ptx:16:3: error: bar.sync: cta (0,0,0) warp 0 lane 3 (thread 3): "
      "the warp must execute this together, but only lanes "
      "0xfffffff8 of 0xffffffff do; lanes 0x7 are "
      "at line 17");
  EXPECT_THAT(
      faultOfBody("  .reg .pred p; setp.lt.u32 p, %t, 3; @p bar.sync 0;", 32),
      HasSubstr("lanes 0xfffffff8 have a false guard"));
}

TEST(Check, BarrierMisuse) {
  EXPECT_THAT(faultOfBody("  bar.sync 16;"),
              HasSubstr("expected a barrier from 0 to 15, but got 16"));
  EXPECT_THAT(
      faultOfBody("  bar.sync 1, 48;"),
      HasSubstr(
          "expected a thread count that is a multiple of 32, but got 48"));
  EXPECT_THAT(faultOfBody("  bar.sync 1, 64;"),
              HasSubstr("barrier 1 waits for 64 threads, but the CTA has 32"));
  const std::string counts =
      "  .reg .pred p; .reg .b32 n; setp.lt.u32 p, %t, 32; "
      "selp.b32 n, 96, 64, p; bar.sync 1, n;";
  EXPECT_THAT(faultOfBody(counts, 96),
              HasSubstr("barrier 1 is used with 64 threads here, but with 96 "
                        "by another warp"));
  // Without the check the first one's count stands.
  DeviceOptions off = onThreads(1);
  off.checks.barriers = false;
  EXPECT_EQ(faultOfBody(counts, 96, off), "");
  EXPECT_THAT(faultOfBody("  bar.sync %t;"),
              HasSubstr("the lanes of the warp give different barriers"));
}

TEST(Check, Deadlock) {
  std::string fault =
      faultOfBody("  .reg .pred p; setp.lt.u32 p, %t, 32; @p bra A;\n  "
                  "bar.sync 1, 64; bra END;\nA: bar.sync 2, 64;\nEND:",
                  64);
  EXPECT_EQ(
      fault,
      "k.ptx:17:4: error: bar.sync: cta (0,0,0) warp 0: deadlock: no warp "
      "can go on: warp 0 lanes 0xffffffff at line 17 (barrier 2: "
      "32 of 64 threads); warp 1 lanes "
      "0xffffffff at line 16 (barrier 1: 32 of 64 threads)");
}

TEST(Check, ShuffleThatNeverMeets) {
  std::string fault =
      faultOfBody("  .reg .pred p; .reg .b32 v; setp.lt.u32 p, %t, 16; @p bra "
                  "A;\n  shfl.sync.bfly.b32 v, %t, 1, 31, -1; bra END;\n"
                  "A: bar.warp.sync 0xffffffff;\nEND:",
                  32);
  EXPECT_THAT(fault, HasSubstr("deadlock: lanes"));
  EXPECT_THAT(fault, HasSubstr("at line"));
  EXPECT_THAT(
      faultOfBody("  .reg .b32 v; shfl.sync.bfly.b32 v, %t, 1, 31, 0xffff;"),
      HasSubstr(
          "lane 16 (thread 16): the lane is not in its own membermask 0xffff"));
}

TEST(Check, TrapIsAFault) {
  EXPECT_EQ(
      faultOfBody("  .reg .pred p; setp.eq.u32 p, %t, 6; @p trap;"),
      "k.ptx:15:42: error: trap: cta (0,0,0) warp 0 lane 6 (thread 6): trap");
}

// Where a compiler puts what a failed assertion leads to: behind the rest. The
// other lanes wait at the barrier; the report is about the assertion.
TEST(Check, TrapsComeBeforeTheBarrierTheirLanesMiss) {
  EXPECT_THAT(faultOfBody("  .reg .pred p; setp.ge.u32 p, %t, 26; @p bra "
                          "FAILED; bar.sync 0; ret;\nFAILED: trap;"),
              testing::HasSubstr("lane 26 (thread 26): trap"));
}

TEST(Check, UniformBranchThatIsNot) {
  EXPECT_THAT(
      faultOfBody("  .reg .pred p; setp.eq.u32 p, %t, 6; @p bra.uni L; L:"),
      HasSubstr("bra.uni is taken by a part of the lanes only"));
}

TEST(Check, HangIsReported) {
  DeviceOptions options;
  options.instructionLimit = 100000;
  EXPECT_THAT(
      faultOfBody("L: bra L;", 32, options),
      HasSubstr(
          "the CTA has executed more than 100000 warp instructions: it hangs"));
}

TEST(Check, IndexedBranchOutOfRange) {
  EXPECT_THAT(faultOfBody("  .reg .b32 i; mov.u32 i, 2; T: .branchtargets A, "
                          "B; brx.idx i, T; A: B:"),
              HasSubstr("the index 2 is not below the 2 targets"));
}

TEST(Check, AFaultEndsTheLaunchAndTheDeviceGoesOn) {
  Sim sim(header + ".visible .entry k(.param .u64 p) { .reg .b64 %a; "
                   "ld.param.u64 %a, [p]; st.global.b32 [%a], 1; ret; }");
  uint64_t p = sim.buffer("x", std::vector<uint32_t>(1));
  EXPECT_FALSE(sim.run({0}, {32, 1, 1}, {1000, 1, 1}).ok());
  EXPECT_TRUE(sim.run({p}, {32, 1, 1}, {1000, 1, 1}).ok());
  EXPECT_EQ(sim.read<uint32_t>(p, 1)[0], 1u);
}

TEST(Check, UninitialisedGlobal) {
  DeviceOptions on;
  on.checks.uninitialisedGlobal = true;
  const std::string entry = ".visible .entry k(.param .u64 p, .param .u64 q) "
                            "{ .reg .b64 %a, %b; .reg .b32 %v, %t; .reg .pred "
                            "%p; ld.param.u64 %a, [p]; ld.param.u64 %b, [q]; "
                            "mov.u32 %t, %tid.x;\n";
  const auto run = [&](const std::string &body, size_t written,
                       DeviceOptions options) {
    Sim sim(header + entry + body + " ret; }", options);
    EXPECT_EQ(sim.loadError, "");
    auto p = sim.device.allocate(256, "scores"),
         q = sim.device.allocate(256, "out");
    EXPECT_TRUE(sim.device.fill8(*p, 0, written).ok());
    return sim.run({*p, *q}, {32, 1, 1}).summary();
  };
  const std::string load = "ld.global.b32 %v, [%a+16];";
  EXPECT_EQ(run(load, 20, on), "");
  EXPECT_THAT(run(load, 18, on),
              MatchesRegex(".*ld\\.global\\.b32: .* lane 0 .*: 4 bytes at "
                           "address 0x[0-9a-f]+ \\('scores' \\+ 16\\) are "
                           "read, but byte 18 was never written"));
  EXPECT_EQ(run(load, 0, {}), "");
  // What a kernel writes it may read; what it copies must be there.
  EXPECT_EQ(run("st.global.v2.b32 [%a+16], {%t, %t};" + load, 0, on), "");
  EXPECT_THAT(run("st.global.b16 [%a+16], 1;" + load, 0, on),
              HasSubstr("but byte 18 was never written"));
  EXPECT_THAT(run("atom.global.add.u32 %v, [%a], 1;", 0, on),
              HasSubstr("but byte 0 was never written"));
  EXPECT_THAT(run(".shared .align 16 .b8 s[512]; .reg .b32 %s; mov.u32 %s, s; "
                  "mad.lo.u32 %s, %t, 16, %s; cp.async.cg.shared.global [%s], "
                  "[%a+32], 16; cp.async.wait_all;",
                  40, on),
              HasSubstr("but byte 40 was never written"));
}
