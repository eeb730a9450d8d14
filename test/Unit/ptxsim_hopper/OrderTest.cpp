// What orders accesses to shared memory on Hopper: for each kind a kernel that
// has it and one that has not, under all schedules, with copies that arrive at
// once and as late as allowed. The rules are those of the PTX ISA's memory
// consistency model and of the instructions' descriptions.

#include "test/Unit/ptxsim_hopper/Ordered.h"

using namespace hopper;
using namespace ptxsim;
using testing::AllOf;

namespace {

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
