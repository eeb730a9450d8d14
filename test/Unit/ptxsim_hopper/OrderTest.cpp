// What orders accesses to shared memory on Hopper: for each kind a kernel that
// has it and one that has not, under all schedules, with copies that arrive at
// once and as late as allowed. The rules are those of the PTX ISA's memory
// consistency model and of the instructions' descriptions.

#include "test/Unit/ptxsim_hopper/Kernel.h"

using namespace hopper;
using namespace ptxsim;
using testing::AllOf;

namespace {

/// The fault under the first schedule, eagerly. A kernel has a fault under all
/// or under none. `spins`: on a flag, which the greedy schedule does long.
std::string fault(const std::string &body, uint32_t threads = 64,
                  uint32_t ctas = 1, bool spins = false, Checks checks = {}) {
  std::string first;
  bool isFirst = true;
  for (Schedule schedule : {Schedule::RoundRobin, Schedule::Reverse,
                            Schedule::Random, Schedule::Greedy})
    for (bool lazy : {false, true}) {
      if (spins && schedule == Schedule::Greedy)
        continue;
      DeviceOptions options;
      options.schedule = schedule, options.seed = 3;
      options.async = lazy ? Async::Lazy : Async::Eager;
      options.threads = 1;
      options.checks = checks;
      Program program(kernel(body), options);
      uint64_t out = program.buffer(std::vector<uint32_t>(1024), "out"),
               in = program.buffer(std::vector<uint32_t>(1024, 7), "in0");
      const std::string text =
          program.run(threads, out, in, 0, {}, {ctas, 1, 1}, Dim3{ctas, 1, 1});
      if (std::exchange(isFirst, false))
        first = text;
      else
        EXPECT_EQ(text.empty(), first.empty()) << text << first << body;
    }
  return first;
}

/// An mbarrier at smem for `count` arrivals, and another one behind it. %r2 is
/// the thread's word of data, from smem + 1024 on, %r3 that 32 threads on, %r4
/// that of the next lane; all of them are 0. %p1: warp 0, %p0: thread 0, %p3:
/// the lane 0 of a warp.
std::string begin(int count) {
  return R"(
    setp.eq.u32 %p0, %r0, 0;
    setp.lt.u32 %p1, %r0, 32;
    and.b32 %r5, %r0, 31;
    setp.eq.u32 %p3, %r5, 0;
    mad.lo.u32 %r2, %r0, 4, %r1;
    add.u32 %r2, %r2, 1024;
    xor.b32 %r3, %r2, 128;
    xor.b32 %r4, %r2, 4;
    mov.u32 %r6, 0;
    st.shared.b32 [%r2], %r6;
    @%p0 mbarrier.init.shared.b64 [%r1], )" +
         std::to_string(count) + R"(;
    @%p0 mbarrier.init.shared.b64 [%r1+8], 1;
    bar.sync 0;
)";
}

/// A loop that waits for a phase of the mbarrier at smem + offset. Threads for
/// which the guard holds go past it.
std::string waitFor(const std::string &guard, int parity = 0,
                    const std::string &modifiers = ".shared.b64",
                    int offset = 0) {
  static int number = 0;
  const std::string label = "W" + std::to_string(number++);
  return (guard.empty() ? "" : guard + " bra E" + label + ";\n") + label +
         ": mbarrier.try_wait.parity" + modifiers + " %p2, [%r1+" +
         std::to_string(offset) + "], " + std::to_string(parity) +
         ";\n@!%p2 bra " + label + ";\nE" + label + ":\n";
}

TEST(Order, MbarrierArriveAndWait) {
  // Warp 1 writes and arrives, warp 0 waits and reads.
  auto handOver = [&](const std::string &arrive, const std::string &wait) {
    return fault(begin(32) + "@!%p1 st.shared.b32 [%r2], %r0;\n@!%p1 " +
                 arrive + "\n" + wait + "@%p1 ld.shared.b32 %r7, [%r3];");
  };
  const std::string arrive = "mbarrier.arrive.shared.b64 _, [%r1];",
                    wait = waitFor("@!%p1");
  EXPECT_EQ(handOver(arrive, wait), "");
  EXPECT_THAT(handOver(arrive, ""),
              AllOf(HasSubstr("race: address 0x8"), HasSubstr("st.shared.b32"),
                    HasSubstr("ld.shared.b32"), HasSubstr("of warp"),
                    HasSubstr("no barrier orders the two")));
  // The phase of parity 1 is that before the first: nothing to wait for.
  EXPECT_NE(handOver(arrive, waitFor("@!%p1", 1)), "");
  EXPECT_THAT(
      handOver("mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [%r1];", wait),
      HasSubstr("race: "));
  EXPECT_THAT(handOver(arrive, waitFor("@!%p1", 0, ".relaxed.cta.shared.b64")),
              HasSubstr("race: "));
  EXPECT_THAT(handOver("mbarrier.arrive.shared.b64 _, [%r1+8];", wait),
              testing::Not(""));
}

TEST(Order, MbarrierOrdersTheLanesThatCome) {
  auto handOver = [&](const std::string &sync, const std::string &wait) {
    return fault(begin(1) + "@!%p1 st.shared.b32 [%r2], %r0;\n" + sync +
                 "\nnot.pred %p4, %p1; and.pred %p4, %p4, %p3;\n@%p4 "
                 "mbarrier.arrive.shared.b64 _, [%r1];\n" +
                 wait + "@%p1 ld.shared.b32 %r7, [%r3];");
  };
  const std::string sync = "bar.warp.sync -1;";
  EXPECT_EQ(handOver(sync, waitFor("@!%p1")), "");
  // Lane 0 arrives for the others, which it does not know about.
  EXPECT_THAT(handOver("", waitFor("@!%p1")), HasSubstr("race: "));
  // Lane 0 waits for the others.
  EXPECT_EQ(handOver(sync, waitFor("@!%p0") + "bar.warp.sync -1;\n"), "");
  EXPECT_THAT(handOver(sync, waitFor("@!%p0")), HasSubstr("race: "));
}

TEST(Order, MbarrierIsUsedAfterItsInit) {
  const std::string init = "setp.eq.u32 %p0, %r0, 0;\n@%p0 "
                           "mbarrier.init.shared.b64 [%r1], 64;\n",
                    use = "mbarrier.arrive.shared.b64 _, [%r1];";
  EXPECT_EQ(fault(init + "bar.sync 0;\n" + use), "");
  EXPECT_NE(fault(init + use), "");
  EXPECT_THAT(fault(begin(64) + "st.shared.b32 [%r1+4], %r0;"),
              HasSubstr("is written, but there is an mbarrier"));
  // A cluster: what is initialised must be published.
  const std::string
      remote = "mov.u32 %r8, %cluster_ctarank; xor.b32 %r8, %r8, 1;\n"
               "mapa.shared::cluster.u32 %r9, %r1, %r8;\n"
               "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r9];\n"
               "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;",
      relaxed = "barrier.cluster.arrive.relaxed.aligned;\n"
                "barrier.cluster.wait.acquire.aligned;\n";
  EXPECT_EQ(
      fault(init + "fence.mbarrier_init.release.cluster;\n" + relaxed + remote,
            64, 2),
      "");
  EXPECT_THAT(fault(init + relaxed + remote, 64, 2),
              HasSubstr("was initialised by warp 0 lane 0 of CTA"));
}

const std::string
    expect = "@%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 256;\n",
    copy = "@%p0 cp.async.bulk.shared::cluster.global."
           "mbarrier::complete_tx::bytes [%r1+1024], [%d1], 256, "
           "[%r1];\n";

TEST(Order, BulkCopyIsReadAfterItsMbarrier) {
  const std::string start = begin(1) + expect + copy,
                    read = "ld.shared.b32 %r7, [%r2];\n";
  EXPECT_EQ(fault(start + waitFor("") + read), "");
  EXPECT_EQ(fault(start + waitFor("@!%p1") + "bar.sync 0;\n" + read), "");
  // Warp 1 does not wait.
  EXPECT_THAT(fault(start + waitFor("@!%p1") + read),
              AllOf(HasSubstr("race: "), HasSubstr("cp.async.bulk"),
                    HasSubstr("ld.shared.b32")));
  EXPECT_THAT(fault(start + "bar.sync 0;\n" + read),
              HasSubstr("no wait for the mbarrier that it signals"));
  EXPECT_THAT(fault(start + waitFor("", 1) + read), HasSubstr("race: "));
}

TEST(Order, BulkCopyOverwritesWhatHasBeenRead) {
  const std::string read = begin(1) + "ld.shared.b32 %r7, [%r2];\n",
                    restart = expect + copy + waitFor("");
  EXPECT_EQ(fault(read + "bar.sync 0;\n" + restart), "");
  EXPECT_THAT(fault(read + restart),
              AllOf(HasSubstr("is written here and read by"),
                    HasSubstr("ld.shared.b32 of warp")));
  // An mbarrier of the readers, which the issuer waits for.
  const std::string empty = begin(64) + "ld.shared.b32 %r7, [%r2];\n"
                                        "mbarrier.arrive.shared.b64 _, "
                                        "[%r1];\n",
                    full = "@%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, "
                           "[%r1+8], 256;\n@%p0 cp.async.bulk.shared::cluster."
                           "global.mbarrier::complete_tx::bytes [%r1+1024], "
                           "[%d1], 256, [%r1+8];\n" +
                           waitFor("", 0, ".shared.b64", 8);
  EXPECT_EQ(fault(empty + waitFor("@!%p0") + full), "");
  EXPECT_THAT(fault(empty + full), HasSubstr("race: "));
  EXPECT_NE(fault(empty + waitFor("@!%p0", 1) + full), "");
}

TEST(Order, BulkStoreReadsUntilItsGroupIsWaitedFor) {
  auto store = [&](const std::string &before, const std::string &wait,
                   const std::string &after) {
    return fault(begin(1) +
                 "st.shared.b32 [%r2], %r0;\n"
                 "fence.proxy.async.shared::cta;\n" +
                 before +
                 "@%p0 cp.async.bulk.global.shared::cta.bulk_group [%d0], "
                 "[%r1+1024], 256;\n@%p0 cp.async.bulk.commit_group;\n" +
                 wait + after +
                 "st.shared.b32 [%r2], 5;\n"
                 "@%p0 cp.async.bulk.wait_group 0;");
  };
  const std::string bar = "bar.sync 0;\n",
                    wait = "@%p0 cp.async.bulk.wait_group.read 0;\n";
  EXPECT_EQ(store(bar, wait, bar), "");
  EXPECT_THAT(
      store(bar, "", bar),
      AllOf(HasSubstr("cp.async.bulk"), HasSubstr("cp.async.bulk.wait_group")));
  EXPECT_THAT(store(bar, "@%p0 cp.async.bulk.wait_group.read 1;\n", bar),
              HasSubstr("cp.async.bulk"));
  EXPECT_THAT(store(bar, wait, ""), HasSubstr("cp.async.bulk"));
  EXPECT_THAT(store("", wait, bar), HasSubstr("race: "));
}

TEST(Order, CopiesThatArriveAtAnMbarrier) {
  auto copies = [&](const std::string &wait) {
    return fault(begin(64) +
                 "mad.wide.u32 %d5, %r0, 4, %d1;\n"
                 "cp.async.ca.shared.global [%r2], [%d5], 4;\n"
                 "cp.async.mbarrier.arrive.noinc.shared.b64 [%r1];\n" +
                 wait + "ld.shared.b32 %r7, [%r4];\n");
  };
  EXPECT_EQ(copies(waitFor("")), "");
  EXPECT_NE(copies(waitFor("", 1)), "");
  EXPECT_NE(copies(""), "");
  // The lane's own wait is no news for the others.
  EXPECT_EQ(copies("cp.async.wait_all;\nbar.sync 0;\n"), "");
  EXPECT_NE(copies("cp.async.wait_all;\n"), "");
}

TEST(Order, WgmmaReadsUntilItIsWaitedFor) {
  // 128 threads fill A and B (4 KiB from smem + 1024 on).
  auto multiply = [&](const std::string &before, const std::string &wait,
                      const std::string &bar, const std::string &last,
                      unsigned times = 1, Checks checks = {}) {
    std::string products;
    for (unsigned i = 0; i < times; ++i)
      products += "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 "
                  "{%f0, %f1, %f2, %f3}, %d5, %d6, %p1, 1, 1, 0, 0;\n";
    return fault(R"(
    mad.lo.u32 %r2, %r0, 16, %r1;
    mov.u32 %r6, 0;
    st.shared.v4.b32 [%r2+1024], {%r6, %r6, %r6, %r6};
    st.shared.v4.b32 [%r2+3072], {%r6, %r6, %r6, %r6};
    fence.proxy.async.shared::cta;
    )" + before + R"(
    shr.u32 %r7, %r1, 4;
    add.u32 %r8, %r7, 64;
    add.u32 %r9, %r7, 192;
    cvt.u64.u32 %d5, %r8;
    cvt.u64.u32 %d6, %r9;
    or.b64 %d5, %d5, 0x0000001000080000;
    or.b64 %d6, %d6, 0x0000001000080000;
    mov.u32 %r20, 0; mov.u32 %r21, 0; mov.u32 %r22, 0; mov.u32 %r23, 0;
    mov.b32 %f0, %r20; mov.b32 %f1, %r20; mov.b32 %f2, %r20; mov.b32 %f3, %r20;
    setp.eq.u32 %p1, %r6, 1;
    wgmma.fence.sync.aligned;
    )" + products + "wgmma.commit_group.sync.aligned;\n" +
                     wait + bar + R"(
    st.shared.v4.b32 [%r2+1024], {%r0, %r0, %r0, %r0};
    )" + last,
                 128, 1, false, checks);
  };
  const std::string bar = "bar.sync 0;\n",
                    wait = "wgmma.wait_group.sync.aligned 0;\n";
  EXPECT_EQ(multiply(bar, wait, bar, ""), "");
  EXPECT_THAT(multiply(bar, "", bar, wait), HasSubstr("wgmma.wait_group"));
  EXPECT_THAT(multiply(bar, "wgmma.wait_group.sync.aligned 1;\n", bar, wait),
              HasSubstr("wgmma.wait_group"));
  EXPECT_THAT(multiply("", wait, bar, ""),
              AllOf(HasSubstr("race: "), HasSubstr("wgmma.mma_async")));
  // More in one group than a warpgroup's records have room for at first: a
  // warp issues all before another one begins.
  EXPECT_EQ(multiply(bar, wait, bar, "", 200), "");
  EXPECT_THAT(multiply(bar, "", bar, wait, 200), HasSubstr("wgmma.wait_group"));
  // What FlashMLA assumes: the fence is a barrier of the warpgroup.
  Checks meets;
  meets.warpgroupOrder = false;
  EXPECT_EQ(multiply("", wait, bar, "", 1, meets), "");
  EXPECT_THAT(multiply("", "", bar, wait, 1, meets),
              HasSubstr("wgmma.wait_group"));
}

TEST(Order, WgmmaFenceEndsTheLoadsOfAllLanes) {
  // Lane 0 of each warp tells thread 128 that its warp has read what a bulk
  // copy then overwrites, as DeepGEMM's consumers do.
  auto consume = [&](const std::string &access, const std::string &order) {
    return fault(
        begin(4) + "setp.ge.u32 %p4, %r0, 128;\n@%p4 bra PRODUCER;\n" + access +
            order +
            "@%p3 mbarrier.arrive.shared.b64 _, [%r1];\nbra DONE;\n"
            "PRODUCER:\n" +
            waitFor("") +
            "setp.ne.u32 %p5, %r0, 128;\n@%p5 bra DONE;\n"
            "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1+8], 512;\n"
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
            "[%r1+1024], [%d1], 512, [%r1+8];\nDONE:\n" +
            waitFor("", 0, ".shared.b64", 8),
        160);
  };
  const std::string load = "ld.shared.b32 %r7, [%r2];\n",
                    store = "st.shared.b32 [%r2], %r6;\n",
                    fence = "wgmma.fence.sync.aligned;\n";
  EXPECT_EQ(consume(load, fence), "");
  EXPECT_EQ(consume(load, "bar.warp.sync -1;\n"), "");
  EXPECT_THAT(consume(load, ""), AllOf(HasSubstr("is written here and read by"),
                                       HasSubstr("ld.shared.b32 of warp")));
  EXPECT_THAT(consume(fence + load, ""), HasSubstr("race: "));
  // It orders no stores.
  EXPECT_THAT(consume(store, fence), HasSubstr("race: "));
}

/// %r9 is the thread's word in the other CTA of two.
const std::string other = "mov.u32 %r8, %cluster_ctarank;\n"
                          "xor.b32 %r10, %r8, 1;\n"
                          "mapa.shared::cluster.u32 %r9, %r2, %r10;\n"
                          "mapa.shared::cluster.u32 %r11, %r1, %r10;\n",
                  meet = "barrier.cluster.arrive.release.aligned;\n"
                         "barrier.cluster.wait.acquire.aligned;\n",
                  meetRelaxed = "barrier.cluster.arrive.relaxed.aligned;\n"
                                "barrier.cluster.wait.acquire.aligned;\n";

TEST(Order, ClusterBarrier) {
  auto exchange = [&](const std::string &before, const std::string &after) {
    return fault(begin(1) + other + before +
                     "st.shared::cluster.b32 [%r9], %r8;\n" + after +
                     "ld.shared.b32 %r7, [%r2];\n" + meet,
                 64, 2);
  };
  EXPECT_EQ(exchange(meet, meet), "");
  EXPECT_THAT(exchange(meetRelaxed, meet), HasSubstr("race: "));
  EXPECT_THAT(exchange(meet, meetRelaxed),
              AllOf(HasSubstr("race: "), HasSubstr("of cta (")));
  EXPECT_THAT(exchange(meet, "bar.sync 0;\n"), HasSubstr("race: "));
  EXPECT_EQ(exchange(meet, "fence.acq_rel.cluster;\n" + meetRelaxed), "");
  EXPECT_THAT(exchange(meet, "fence.acq_rel.cta;\n" + meetRelaxed),
              HasSubstr("race: "));
}

TEST(Order, RemoteArrivals) {
  auto exchange = [&](const std::string &wait) {
    return fault(begin(64) + other + meet +
                     "st.shared::cluster.b32 [%r9], %r8;\n"
                     "mbarrier.arrive.release.cluster.shared::cluster.b64 _, "
                     "[%r11];\n" +
                     wait + "ld.shared.b32 %r7, [%r2];\n" + meet,
                 64, 2);
  };
  EXPECT_EQ(exchange(waitFor("", 0, ".acquire.cluster.shared::cta.b64")), "");
  EXPECT_THAT(exchange(""), HasSubstr("race: "));
  EXPECT_NE(exchange(waitFor("", 1, ".acquire.cluster.shared::cta.b64")), "");
}

TEST(Order, Multicast) {
  auto multicast = [&](const std::string &wait) {
    return fault(begin(1) + other + expect + meet +
                     "setp.eq.and.u32 %p4, %r8, 0, %p0;\n"
                     "mov.u16 %h0, 3;\n@%p4 cp.async.bulk.shared::cluster."
                     "global.mbarrier::complete_tx::bytes.multicast::cluster "
                     "[%r1+1024], [%d1], 256, [%r1], %h0;\n" +
                     wait + "ld.shared.b32 %r7, [%r2];\n" + waitFor("") + meet,
                 64, 2);
  };
  EXPECT_EQ(multicast(waitFor("")), "");
  EXPECT_THAT(multicast(""),
              AllOf(HasSubstr("multicast"), HasSubstr("of shared memory")));
}

TEST(Order, ScopesOfReleaseAndAcquire) {
  // CTA 0 writes to CTA 1's memory and sets a flag there; CTA 1 spins.
  auto flag = [&](const std::string &set, const std::string &test) {
    return fault(begin(1) + other + "@%p0 st.shared.b32 [%r1+512], %r6;\n" +
                     meet +
                     "setp.ne.u32 %p4, %r8, 0;\n@%p4 bra R;\n@!%p0 bra E;\n"
                     "st.shared::cluster.b32 [%r9], 9;\n" +
                     set + "\nbra E;\nR: @!%p0 bra E;\nL: " + test +
                     "\nsetp.eq.u32 %p5, %r12, 0;\n@%p5 bra L;\n"
                     "ld.shared.b32 %r7, [%r2];\nE: bar.warp.sync -1;\n" +
                     meet,
                 32, 2, true);
  };
  EXPECT_EQ(flag("st.release.cluster.shared::cluster.b32 [%r11+512], 1;",
                 "ld.acquire.cluster.shared.b32 %r12, [%r1+512];"),
            "");
  EXPECT_EQ(flag("fence.acq_rel.cluster;\nst.relaxed.cluster.shared::cluster."
                 "b32 [%r11+512], 1;",
                 "ld.relaxed.cluster.shared.b32 %r12, [%r1+512];\n"
                 "fence.acq_rel.cluster;"),
            "");
  EXPECT_THAT(flag("st.release.cta.shared::cluster.b32 [%r11+512], 1;",
                   "ld.acquire.cluster.shared.b32 %r12, [%r1+512];"),
              HasSubstr("race: "));
  EXPECT_THAT(flag("fence.acq_rel.cta;\nst.relaxed.cluster.shared::cluster."
                   "b32 [%r11+512], 1;",
                   "ld.relaxed.cluster.shared.b32 %r12, [%r1+512];\n"
                   "fence.acq_rel.cluster;"),
              HasSubstr("race: "));
}

TEST(Order, NoMoreReadersThanAreRemembered) {
  // Four warps read a word; warp 0 writes it after it has met some of them.
  auto readers = [&](const std::string &count) {
    return fault(begin(1) +
                     "ld.shared.b32 %r7, [%r1+1024];\n"
                     "setp.ge.u32 %p4, %r0, " +
                     count + ";\n@%p4 bra E;\n@!%p1 bar.arrive 1, " + count +
                     ";\n@%p1 bar.sync 1, " + count +
                     ";\n@%p0 st.shared.b32 [%r1+1024], 5;\nE:",
                 160);
  };
  EXPECT_EQ(readers("160"), "");
  for (const char *count : {"64", "96", "128"})
    EXPECT_THAT(readers(count),
                AllOf(HasSubstr("race: "), HasSubstr("ld.shared.b32 of warp")));
}

TEST(Order, LanesOfSeveralWarpsThatHaveRead) {
  // Two warps read the same words, all lanes or the same lane of each; lane 0
  // of each arrives for its warp, and warp 2 writes.
  auto readers = [&](const std::string &load, const std::string &sync) {
    return fault(begin(2) +
                     "setp.lt.u32 %p4, %r0, 64;\n@!%p4 bra B;\nand.b32 %r10, "
                     "%r0, 7;\nmad.lo.u32 %r10, %r10, 16, %r1;\n"
                     "mad.lo.u32 %r11, %r5, 4, %r1;\n" +
                     load + sync +
                     "@%p3 mbarrier.arrive.shared.b64 _, [%r1];\nbra E;\nB: " +
                     waitFor("") + "st.shared.b32 [%r2+-256], %r0;\nE:",
                 96);
  };
  const std::string matrix = "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r7}, "
                             "[%r10+1024];\n",
                    scalar = "ld.shared.b32 %r7, [%r11+1024];\n";
  for (const std::string &load : {matrix, scalar}) {
    EXPECT_EQ(readers(load, "bar.warp.sync -1;\n"), "");
    EXPECT_THAT(readers(load, ""), HasSubstr("race: "));
  }
}

TEST(Order, AsynchronousStoresAreReadAfterTheirMbarrier) {
  // Thread 0 of each CTA stores to the other one's word, which thread 1 reads.
  auto store = [&](const std::string &before, const std::string &send,
                   const std::string &after) {
    return fault(begin(1) +
                     "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%r1], 4;\n"
                     "@%p0 fence.mbarrier_init.release.cluster;\n"
                     "barrier.cluster.arrive.aligned;\n"
                     "barrier.cluster.wait.aligned;\n"
                     "mov.u32 %r8, %cluster_ctarank; xor.b32 %r8, %r8, 1;\n"
                     "mapa.shared::cluster.u32 %r9, %r1, %r8;\n"
                     "setp.eq.u32 %p4, %r0, 1;\n" +
                     before + "@%p0 " + send + ".mbarrier::complete_tx::bytes" +
                     (send.starts_with("red") ? ".add.u32" : ".b32") +
                     " [%r9+1024], %r8, [%r9];\n" + after +
                     "barrier.cluster.arrive.aligned;\n"
                     "barrier.cluster.wait.aligned;\n",
                 32, 2);
  };
  const std::string read = "@%p4 ld.shared.b32 %r7, [%r1+1024];\n",
                    sync = "barrier.cluster.arrive.aligned;\n"
                           "barrier.cluster.wait.aligned;\n",
                    relaxed = waitFor("", 0, ".relaxed.cta.shared.b64");
  for (const std::string &send :
       {std::string("st.async.weak.shared::cluster"),
        std::string("red.async.relaxed.cluster.shared::cluster")}) {
    EXPECT_EQ(store("", send, waitFor("") + read), "");
    EXPECT_THAT(store("", send, relaxed + read), HasSubstr("race: "));
    EXPECT_THAT(store("", send, read + waitFor("")),
                AllOf(HasSubstr("of shared memory of cta ("),
                      testing::AnyOf(HasSubstr("race: "),
                                     HasSubstr("has not been waited for"))));
    // What is overwritten must have been read.
    EXPECT_EQ(store(read + sync, send, waitFor("")), "");
    EXPECT_THAT(store(read, send, waitFor("")), HasSubstr("race: "));
  }
}

TEST(Order, MatricesAreChangedInPlace) {
  // As in CUTLASS's epilogue: each lane stores the elements that it has loaded.
  auto change = [&](const std::string &load, const std::string &between,
                    const std::string &store) {
    return fault(begin(1) +
                     "and.b32 %r10, %r0, 7;\nmad.lo.u32 %r10, %r10, 16, %r1;\n"
                     "and.b32 %r11, %r0, 32;\nmad.lo.u32 %r10, %r11, 4, %r10;\n"
                     "ldmatrix.sync.aligned.m8n8.x1" +
                     load + ".shared.b16 {%r7}, [%r10+1024];\n" + between +
                     "stmatrix.sync.aligned.m8n8.x1" + store +
                     ".shared.b16 [%r10+1024], {%r7};\n",
                 64);
  };
  const std::string sync = "bar.warp.sync -1;\n";
  EXPECT_EQ(change("", sync, ""), "");
  EXPECT_EQ(change("", "", ""), "");
  EXPECT_EQ(change(".trans", "", ".trans"), "");
  // Transposed in place, a lane overwrites what another one loads.
  EXPECT_EQ(change(".trans", sync, ""), "");
  EXPECT_THAT(change(".trans", "", ""), HasSubstr("race: "));
}

TEST(Order, WhichLanesHaveReleasedIsRemembered) {
  // Lane 0 of warp 0 arrives twice, before and after its warp has met; what
  // lane 1 did in between is no part of either.
  auto arrivals = [&](const std::string &sync) {
    return fault(begin(2) +
                 "@!%p1 bra B;\n@%p3 mbarrier.arrive.shared.b64 _, [%r1];\n"
                 "st.shared.b32 [%r2], %r0;\n" +
                 sync +
                 "setp.eq.u32 %p4, %r5, 1;\n"
                 "@%p4 mbarrier.arrive.shared.b64 _, [%r1];\nbra E;\nB: " +
                 waitFor("") + "ld.shared.b32 %r7, [%r3];\nE:");
  };
  EXPECT_EQ(arrivals("bar.warp.sync -1;\n"), "");
  EXPECT_THAT(arrivals(""), HasSubstr("race: "));
}

TEST(Order, ManySetsOfLanes) {
  // Each lane of warp 1 waits for an mbarrier of its own, and then for another
  // one, and reads what was written before that; or what was written later.
  auto waits = [&](const std::string &read) {
    std::string body = begin(1) + "@!%p1 bra B;\n"
                                  "@!%p0 bra E;\n";
    for (int i = 0; i < 64; ++i)
      body += "mbarrier.init.shared.b64 [%r1+" + std::to_string(4096 + 8 * i) +
              "], 1;\n";
    body += "st.shared.b32 [%r1+8448], 5;\nE: bar.sync 0;\n@!%p0 bra F;\n";
    for (int i = 0; i < 64; ++i)
      body += "st.shared.b32 [%r1+" + std::to_string(8192 + 4 * i) +
              "], 5;\nmbarrier.arrive.shared.b64 _, [%r1+" +
              std::to_string(4096 + 8 * i) + "];\n";
    body += "bra F;\nB: bar.sync 0;\nmad.lo.u32 %r8, %r5, 8, %r1;\n"
            "mad.lo.u32 %r9, %r5, 4, %r1;\n";
    for (const char *offset : {"4096", "4352"})
      body += "W" + std::string(offset) +
              ": mbarrier.try_wait.parity.shared.b64 %p2, [%r8+" + offset +
              "], 0;\n@!%p2 bra W" + offset + ";\n";
    return fault(body + read + "\nF:");
  };
  EXPECT_EQ(waits("ld.shared.b32 %r7, [%r9+8192];\n"
                  "ld.shared.b32 %r7, [%r9+8320];"),
            "");
  // The next lane's word: stored after the arrival that the lane knows of.
  EXPECT_THAT(waits("ld.shared.b32 %r7, [%r9+8324];"), HasSubstr("race: "));
}

TEST(Order, MbarrierIsInvalidatedAfterItsUses) {
  auto inval = [&](const std::string &order) {
    return fault(begin(64) + "mbarrier.arrive.shared.b64 _, [%r1];\n" +
                 waitFor("") + order +
                 "@%p0 mbarrier.inval.shared.b64 [%r1];\n");
  };
  EXPECT_EQ(inval("bar.sync 0;\n"), "");
  EXPECT_THAT(inval(""),
              AllOf(HasSubstr("race: the mbarrier at address 0x400 of shared "
                              "memory is invalidated here and used by k.ptx:"),
                    HasSubstr("mbarrier.try_wait.parity.shared.b64 of warp 1 "
                              "lane "),
                    HasSubstr("and no barrier orders the two")));
  // The last one to come invalidates it, as in libcu++.
  auto count = [&](const std::string &fence) {
    return fault(begin(64) +
                 "@%p0 st.shared.b32 [%r1+512], 0;\nbar.sync 0;\n"
                 "mbarrier.arrive.shared.b64 _, [%r1];\n" +
                 waitFor("") + "bar.warp.sync -1;\n@!%p3 bra E;\n" + fence +
                 "atom.add.acquire.cta.shared.u32 %r8, [%r1+512], 1;\n"
                 "setp.ne.u32 %p4, %r8, 1;\n@%p4 bra E;\n"
                 "mbarrier.inval.shared.b64 [%r1];\nE:\n");
  };
  EXPECT_EQ(count("fence.sc.cta;\n"), "");
  EXPECT_THAT(count(""), HasSubstr("race: the mbarrier at address 0x400"));
}

TEST(Order, AnArrivalCountsForOnePhase) {
  // Two warps arrive and wait, three times; with one arrival too few in the
  // count it depends on the order for which phase the last one counts.
  auto rounds = [&](int count, const std::string &between) {
    std::string body = begin(count);
    for (int i = 0; i < 3; ++i)
      body += "mbarrier.arrive.shared.b64 _, [%r1];\n" +
              (i < 2 ? between : std::string());
    return fault(body);
  };
  EXPECT_EQ(rounds(64, "bar.sync 0;\n"), "");
  EXPECT_THAT(rounds(63, "bar.sync 0;\n"),
              AllOf(HasSubstr("the arrival counts for phase 1 of the mbarrier "
                              "at address 0x400 here, but nothing orders it "
                              "after the end of the phase before by k.ptx:"),
                    HasSubstr("mbarrier.arrive.shared.b64 of warp "),
                    HasSubstr("it may count for that one (phase 1 (parity 1), "
                              "63 of 63 arrivals pending, tx-count 0)")));
  // Without waiting in between a warp's next arrival may come too early.
  EXPECT_THAT(rounds(64, ""), HasSubstr("nothing orders it after the end"));
  // Arrivals of copies: where one thread is not counted.
  auto copies = [&](int count) {
    std::string body = begin(count);
    for (int i = 0; i < 2; ++i)
      body += "cp.async.ca.shared.global [%r2], [%d1], 4;\n"
              "cp.async.mbarrier.arrive.noinc.shared.b64 [%r1];\n" +
              waitFor("", i) + "bar.sync 0;\n";
    return fault(body + "cp.async.wait_all;");
  };
  EXPECT_EQ(copies(64), "");
  EXPECT_THAT(copies(63), HasSubstr("nothing orders it after the end of the"));
  DeviceOptions off;
  off.checks.mbarrierPhases = false;
  EXPECT_EQ(
      errorOf(begin(63) + "mbarrier.arrive.shared.b64 _, [%r1];\n", 64, off),
      "");
}

TEST(Order, CopiesAndTheFenceOfAnInit) {
  DeviceOptions options;
  EXPECT_FALSE(options.checks.mbarrierInitFence);
  options.checks.mbarrierInitFence = true;
  auto copy = [&](const std::string &before, const std::string &after) {
    return errorOf("setp.eq.u32 %p0, %r0, 0;\n" + before +
                       "@%p0 mbarrier.init.shared.b64 [%r1], 1;\n" + after +
                       "bar.sync 0;\n"
                       "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%r1], "
                       "128;\n@%p0 cp.async.bulk.shared::cluster.global."
                       "mbarrier::complete_tx::bytes [%r1+1024], [%d1], 128, "
                       "[%r1];\n" +
                       waitFor(""),
                   32, options);
  };
  const std::string init = "@%p0 fence.mbarrier_init.release.cluster;\n",
                    proxy = "@%p0 fence.proxy.async.shared::cta;\n";
  EXPECT_EQ(copy("", init), "");
  EXPECT_EQ(copy("", proxy), "");
  for (const std::string &before : {std::string(), init, proxy})
    EXPECT_THAT(copy(before, ""),
                HasSubstr("the copy signals the mbarrier at address 0x400 of "
                          "shared memory, but no fence has published its init "
                          "to the asynchronous proxy"));
}

} // namespace
