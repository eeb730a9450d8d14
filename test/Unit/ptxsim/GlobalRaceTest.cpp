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
  for (const auto &[schedule, async] :
       {std::pair(Schedule::RoundRobin, Async::Eager),
        std::pair(Schedule::Reverse, Async::Eager),
        std::pair(Schedule::Random, Async::Eager),
        std::pair(Schedule::RoundRobin, Async::Lazy),
        std::pair(Schedule::Random, Async::Random)}) {
    DeviceOptions options;
    options.threads = shape.hostThreads;
    options.schedule = schedule, options.seed = 5;
    options.async = async;
    options.checks.globalRaces = true;
    Sim sim(text, options);
    EXPECT_EQ(sim.loadError, "");
    const uint64_t out = sim.buffer("out", std::vector<uint32_t>(4096)),
                   flag = sim.buffer("flag", std::vector<uint32_t>(16));
    const std::string error =
        sim.run({out, flag}, {shape.threads, 1, 1}, {shape.ctas, 1, 1})
            .message();
    if (schedule == Schedule::RoundRobin && async == Async::Eager)
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

namespace {

/// CTA 0 stores a tile by a bulk copy, waits with `wait` and sets a flag, for
/// which CTA 1 waits before it executes `use` on the words at %out.
std::string bulkStore(
    const std::string &wait, const std::string &use,
    const std::string &copy = "cp.async.bulk.global.shared::cta.bulk_group",
    const std::string &set = "st.release.gpu.global.b32 [%flag], 1; ") {
  return fault(".shared .align 16 .b32 s[4]; .reg .b32 sa; mov.b32 sa, s; "
               "setp.ne.u32 %p1, %c, 0; @!%first bra E; @%p1 bra R;\n"
               "st.shared.v4.b32 [sa], {1, 2, 3, 4}; fence.proxy.async;\n" +
                   copy + " [%out], [sa], 16;\ncp.async.bulk.commit_group;\n" +
                   wait + "\n" + set +
                   "bra F;\nR: ld.acquire.gpu.global.b32 %r2, [%flag]; "
                   "setp.eq.u32 %p2, %r2, 0; @%p2 bra R;\n" +
                   use + "\nbra E;\nF: cp.async.bulk.wait_group.read 0;\nE:",
               {32, 2, 1});
}

} // namespace

TEST(GlobalRace, BulkStoresAreWrittenAtTheirWaitGroup) {
  const std::string all = "cp.async.bulk.wait_group 0;",
                    read = "cp.async.bulk.wait_group.read 0;",
                    load = "ld.global.b32 %r3, [%out+4];",
                    store = "st.global.b32 [%out+4], 9;";
  for (const std::string &use : {load, store}) {
    EXPECT_EQ(bulkStore(all, use), "");
    for (const std::string &wait : {read, std::string()})
      EXPECT_THAT(bulkStore(wait, use),
                  AllOf(HasSubstr("race: address 0x"), HasSubstr("('out' + 4)"),
                        HasSubstr("of global memory is "),
                        HasSubstr("written by k.ptx:23: "
                                  "cp.async.bulk.global.shared::cta.bulk_group "
                                  "of cta (0,0,0) warp 0 lane 0, and nothing "
                                  "orders the two"),
                        HasSubstr("what a bulk copy writes is there only when "
                                  "its thread has executed a "
                                  "cp.async.bulk.wait_group (not .read)")));
  }
  // Reductions: atomics may meet them, others not before they are over.
  const std::string reduce =
      "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32";
  EXPECT_EQ(bulkStore(all, load, reduce), "");
  EXPECT_THAT(bulkStore(read, load, reduce), HasSubstr("race: "));
  EXPECT_EQ(bulkStore(read, "red.global.add.u32 [%out+4], 1;", reduce), "");
  // The group that is still open is not waited for.
  EXPECT_THAT(bulkStore("cp.async.bulk.wait_group 1;", load),
              HasSubstr("race: "));
  EXPECT_THAT(bulkStore(all, load,
                        "cp.async.bulk.global.shared::cta.bulk_group",
                        "st.relaxed.gpu.global.b32 [%flag], 1; "),
              HasSubstr("race: "));
}

TEST(GlobalRace, BulkStoreAndItsOwnThread) {
  const auto store = [](const std::string &wait) {
    return fault(".shared .align 16 .b32 s[4]; .reg .b32 sa; mov.b32 sa, s; "
                 "@!%first bra E; st.shared.v4.b32 [sa], {1, 2, 3, 4}; "
                 "fence.proxy.async;\n"
                 "cp.async.bulk.global.shared::cta.bulk_group [%out], [sa], "
                 "16;\ncp.async.bulk.commit_group;\n" +
                     wait +
                     "ld.global.b32 %r2, [%out];\n"
                     "cp.async.bulk.wait_group 0;\nE:",
                 {32, 1, 1});
  };
  EXPECT_EQ(store("cp.async.bulk.wait_group 0;\n"), "");
  EXPECT_THAT(store("cp.async.bulk.wait_group.read 0;\n"),
              HasSubstr("is read here and written by k.ptx:22"));
  EXPECT_THAT(store(""), HasSubstr("race: "));
}

TEST(GlobalRace, BulkLoadsReadUntilTheirMbarrierIsWaitedFor) {
  const auto load = [](const std::string &before, const std::string &after) {
    return fault(".shared .align 16 .b32 s[4]; .shared .align 8 .b64 m; .reg "
                 ".b32 sa, ma; mov.b32 sa, s; mov.b32 ma, m; "
                 "@!%first bra E; mbarrier.init.shared.b64 [ma], 1; "
                 "fence.proxy.async;\n"
                 "mbarrier.arrive.expect_tx.shared.b64 _, [ma], 16;\n"
                 "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::"
                 "bytes [sa], [%out], 16, [ma];\n" +
                     before +
                     "\nW: mbarrier.try_wait.parity.shared.b64 %p1, [ma], 0; "
                     "@!%p1 bra W;\n" +
                     after + "\nE:",
                 {32, 1, 1});
  };
  const std::string write = "st.global.b32 [%out], 5;";
  EXPECT_EQ(load("", write), "");
  EXPECT_THAT(load(write, ""),
              AllOf(HasSubstr("is written here and read by k.ptx:23: "
                              "cp.async.bulk.shared::cluster.global"),
                    HasSubstr("may read its source until the phase")));
}

TEST(GlobalRace, AllReadersAreRemembered) {
  // Each lane 0 of four warps reads the word and arrives; warp 0 writes after
  // it has met `count` threads, of whichever warps.
  const auto readers = [](const std::string &count) {
    return fault("ld.global.b32 %r2, [%out];\nsetp.ge.u32 %p1, %t, " + count +
                     ";\n@%p1 bra E;\nsetp.lt.u32 %p2, %t, 32;\n"
                     "@!%p2 bar.arrive 1, " +
                     count + ";\n@%p2 bar.sync 1, " + count +
                     ";\n@%first st.global.b32 [%out], 5;\nE:",
                 {160, 1, 1});
  };
  EXPECT_EQ(readers("160"), "");
  for (const char *count : {"64", "96", "128"})
    EXPECT_THAT(readers(count),
                AllOf(HasSubstr("race: "), HasSubstr("ld.global.b32 of cta")));
  // CTAs that have read it; the last one knows of all but the first.
  const auto ctas = [](const std::string &release) {
    return fault("@!%first bra E; ld.global.b32 %r2, [%out];\n"
                 "setp.eq.u32 %p1, %c, 4; @%p1 bra L;\n"
                 "setp.eq.u32 %p2, %c, 0;\n" +
                     release +
                     "red.release.gpu.global.add.u32 [%flag], 1; bra E;\n"
                     "L: ld.acquire.gpu.global.b32 %r3, [%flag];\n"
                     "st.global.b32 [%out], 5;\nE:",
                 {32, 5, 1});
  };
  EXPECT_EQ(ctas(""), "");
  EXPECT_THAT(ctas("@%p2 bra E;\n"), HasSubstr("ld.global.b32 of cta (0,0,0)"));
}

TEST(GlobalRace, AllAtomicsAreRemembered) {
  // CTA 0 and 1 add to a word, and only one of them releases that to CTA 2.
  const auto adders = [](const std::string &guard) {
    return fault("@!%first bra E; setp.eq.u32 %p1, %c, 2; @%p1 bra L;\n"
                 "setp.eq.u32 %p2, %c, 0; setp.eq.u32 %p3, %c, 1;\n"
                 "red.relaxed.gpu.global.add.u32 [%out], 1;\n" +
                     guard +
                     "red.release.gpu.global.add.u32 [%flag], 1; bra E;\n"
                     "L: ld.acquire.gpu.global.b32 %r3, [%flag];\n"
                     "ld.global.b32 %r2, [%out];\nE:",
                 {32, 3, 1});
  };
  EXPECT_EQ(adders(""), "");
  EXPECT_THAT(adders("@%p2 bra E;\n"),
              HasSubstr("red.relaxed.gpu.global.add.u32 of cta (0,0,0)"));
  EXPECT_THAT(adders("@%p3 bra E;\n"),
              HasSubstr("red.relaxed.gpu.global.add.u32 of cta (1,0,0)"));
}
