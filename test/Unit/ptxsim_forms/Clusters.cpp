// Clusters: addresses of other CTAs' shared memory, cluster barriers, proxies'
// fences, and what concerns the register pool and dependent grids.

#include "test/Unit/ptxsim_forms/Machine.h"

using namespace ptxsim::forms;
using testing::HasSubstr;

namespace {

/// Four CTAs, with 100 + rank in shared memory: %r10 is the rank, %r11 the next
/// one, %d5 the generic address of shared memory, %d6 the one in its window.
/// The result of each, %r20, is out[rank].
Words inClusters(const std::string &body) {
  Setup setup;
  setup.threads = 1;
  setup.cluster = 4;
  setup.out.resize(4);
  return launch(R"(
  mov.u32 %r10, %cluster_ctarank;
  add.u32 %r11, %r10, 1;
  and.b32 %r11, %r11, 3;
  cvt.u64.u32 %d6, %r1;
  cvta.shared.u64 %d5, %d6;
  add.u32 %r12, %r10, 100;
  st.shared.b32 [%r1+8], %r12;
)" + meet() + body +
                    R"(
  mad.wide.u32 %d9, %r10, 4, %d0;
  st.global.b32 [%d9], %r20;
)" + meet(),
                setup)
      .out;
}

/// 64 threads of two CTAs exchange numbers: every thread writes to its own
/// CTA's memory and reads the other's.
void swapNumbers(const std::string &arrive, const std::string &wait) {
  Setup setup;
  setup.threads = 64;
  setup.cluster = 2;
  setup.out.resize(128);
  setup.options.schedule = ptxsim::Schedule::Greedy;
  Words expected(128);
  for (unsigned i = 0; i < 128; ++i)
    expected[i] = (i ^ 64) * 3 + 1;
  // A relaxed arrival orders nothing by itself.
  const bool relaxed = arrive.find("relaxed") != arrive.npos;
  EXPECT_EQ(launch(R"(
  mov.u32 %r10, %cluster_ctarank;
  mad.lo.u32 %r11, %r10, 64, %r0;
  mad.lo.u32 %r12, %r11, 3, 1;
  mad.lo.u32 %r13, %r0, 4, %r1;
  st.shared.b32 [%r13], %r12;
  xor.b32 %r14, %r10, 1;
  mapa.shared::cluster.u32 %r15, %r13, %r14;
)" + std::string(relaxed ? "fence.acq_rel.cluster;\n" : "") +
                       arrive + ";\n" + wait + R"(;
  ld.shared::cluster.b32 %r16, [%r15];
  mad.wide.u32 %d9, %r11, 4, %d0;
  st.global.b32 [%d9], %r16;
  barrier.cluster.arrive.aligned;
  barrier.cluster.wait.aligned;
)",
                   setup)
                .out,
            expected);
}

/// 64 threads write 16 bytes each, one of them copies all to global memory.
void readByCopies(const std::string &fence) {
  Setup setup;
  setup.threads = 64;
  setup.in0.resize(256);
  Words expected(256);
  for (unsigned i = 0; i < 256; ++i)
    expected[i] = i / 4;
  EXPECT_EQ(launch(R"(
  mad.lo.u32 %r5, %r0, 16, %r1;
  st.shared.v4.b32 [%r5], {%r0, %r0, %r0, %r0};
  setp.eq.u32 %p0, %r0, 0;
)" + fence + R"(;
  bar.sync 0;
  @!%p0 bra END;
  cp.async.bulk.global.shared::cta.bulk_group [%d1], [%r1], 1024;
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
END:
)",
                   setup)
                .in0,
            expected);
}

/// One thread writes global memory, loads it with a bulk copy and stores a word
/// of that.
void readGlobally(const std::string &fence) {
  Setup setup;
  setup.threads = 1;
  setup.in0 = numbers(4, 30), setup.out.resize(1);
  EXPECT_EQ(launch(R"(
  mbarrier.init.shared.b64 [%r1], 1;
  mov.b32 %r5, 77;
  st.global.b32 [%d1+4], %r5;
)" + fence + R"(;
  mbarrier.arrive.expect_tx.shared.b64 _, [%r1], 16;
  cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r1+64], [%d1], 16, [%r1];
)" + await("%r1") + R"(
  ld.shared.b32 %r6, [%r1+68];
  st.global.b32 [%d0], %r6;
)",
                   setup)
                .out,
            Words{77});
}

/// The warps of three warpgroups with 168 registers each: one gives, two take.
std::string pool(const std::string &least, const std::string &most) {
  Setup setup;
  setup.threads = 384;
  setup.directives = ".maxnreg 168";
  return errorOf("setp.lt.u32 %p0, %r0, 128;\n@%p0 bra P;\n"
                 "setmaxnreg.inc.sync.aligned.u32 " +
                     most +
                     ";\nbra E;\nP:\n"
                     "setmaxnreg.dec.sync.aligned.u32 " +
                     least + ";\nE:\n",
                 setup);
}

} // namespace

FORMS(clusterAddresses) {
  const Words next = {101, 102, 103, 100};
  form("mapa.shared::cluster.u32", [=] {
    const std::string read = "ld.shared::cluster.b32 %r20, [%r13+8];";
    EXPECT_EQ(inClusters("mapa.shared::cluster.u32 %r13, %r1, %r11;\n" + read),
              next);
    EXPECT_EQ(inClusters("mapa.shared::cluster.u32 %r13, %r1, 2;\n" + read),
              Words(4, 102));
  });
  form("mapa.shared::cluster.u64", [=] {
    EXPECT_EQ(inClusters("mapa.shared::cluster.u64 %d7, %d6, %r11;\n"
                         "ld.shared::cluster.b32 %r20, [%d7+8];"),
              next);
  });
  form("mapa.u64", [=] {
    EXPECT_EQ(inClusters("mapa.u64 %d7, %d5, %r11;\nld.b32 %r20, [%d7+8];"),
              next);
  });
  // No generic address of shared memory has 32 bits.
  for (const char *name : {"mapa.u32", "getctarank.u32"})
    form(name, [=] {
      const std::string rank = name[0] == 'm' ? ", 0;" : ";";
      EXPECT_THAT(errorOf(std::string(name) + " %r5, %r1" + rank, {}),
                  HasSubstr("is not in shared memory"));
    });
  // Ten times the rank of the next one's address, plus that of the own one's.
  const Words ranks = {10, 21, 32, 3};
  const std::string both = "mad.lo.u32 %r20, %r21, 10, %r22;";
  form("getctarank.shared::cluster.u32", [=] {
    EXPECT_EQ(inClusters("mapa.shared::cluster.u32 %r13, %r1, %r11;\n"
                         "getctarank.shared::cluster.u32 %r21, %r13;\n"
                         "getctarank.shared::cluster.u32 %r22, %r1;\n" +
                         both),
              ranks);
  });
  form("getctarank.shared::cluster.u64", [=] {
    EXPECT_EQ(inClusters("mapa.shared::cluster.u64 %d7, %d6, %r11;\n"
                         "getctarank.shared::cluster.u64 %r21, %d7;\n"
                         "getctarank.shared::cluster.u64 %r22, %d6;\n" +
                         both),
              ranks);
  });
  form("getctarank.u64", [=] {
    EXPECT_EQ(inClusters("mapa.u64 %d7, %d5, %r11;\n"
                         "getctarank.u64 %r21, %d7;\n"
                         "getctarank.u64 %r22, %d5;\n" +
                         both),
              ranks);
  });
}

FORMS(clusterBarriers) {
  for (const char *aligned : {"", ".aligned"}) {
    for (const char *sem : {"", ".release", ".relaxed"}) {
      const std::string name =
          std::string("barrier.cluster.arrive") + sem + aligned;
      form(name, [=] { swapNumbers(name, "barrier.cluster.wait.aligned"); });
    }
    for (const char *sem : {"", ".acquire"}) {
      const std::string name =
          std::string("barrier.cluster.wait") + sem + aligned;
      form(name, [=] { swapNumbers("barrier.cluster.arrive.aligned", name); });
    }
  }
}

FORMS(proxyFences) {
  for (const char *name :
       {"fence.proxy.async", "fence.proxy.async.shared::cta",
        "fence.proxy.async.shared::cluster",
        "fence.proxy.async::generic.release.sync_restrict::shared::cta."
        "cluster"})
    form(name, [=] { readByCopies(name); });
  for (const char *name :
       {"fence.proxy.alias", "fence.proxy.async.global",
        "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster."
        "cluster"})
    form(name, [=] { readGlobally(name); }, Effect::Unseen);
  // With it a relaxed barrier is enough for the other CTA to know the mbarrier.
  form("fence.mbarrier_init.release.cluster", [] {
    Setup setup;
    setup.threads = 1;
    setup.cluster = 2;
    setup.out.resize(1);
    EXPECT_EQ(launch(R"(
  mov.u32 %r10, %cluster_ctarank;
  setp.eq.u32 %p1, %r10, 1;
  @%p1 mbarrier.init.shared.b64 [%r1], 1;
  fence.mbarrier_init.release.cluster;
  barrier.cluster.arrive.relaxed;
  barrier.cluster.wait;
  mapa.shared::cluster.u32 %r11, %r1, 1;
  @!%p1 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r11];
  barrier.cluster.arrive;
  barrier.cluster.wait;
  @!%p1 bra END;
  mbarrier.test_wait.parity.acquire.cluster.shared::cta.b64 %p2, [%r1], 0;
  selp.b32 %r12, 1, 0, %p2;
  st.global.b32 [%d0], %r12;
END:
)",
                     setup)
                  .out,
              Words{1});
  });
}

FORMS(registersAndGrids) {
  // 384 * 168 = 128 * 40 + 256 * 232.
  form("setmaxnreg.dec.sync.aligned.u32", [] {
    EXPECT_EQ(pool("40", "232"), "");
    EXPECT_THAT(pool("48", "232"),
                HasSubstr("asks for 2048, of which 1024 are free"));
  });
  form("setmaxnreg.inc.sync.aligned.u32", [] {
    EXPECT_EQ(pool("40", "232"), "");
    EXPECT_THAT(pool("40", "240"),
                HasSubstr("asks for 2304, of which 256 are free"));
  });
  for (const char *name :
       {"griddepcontrol.wait", "griddepcontrol.launch_dependents"})
    form(
        name,
        [=] {
          EXPECT_EQ(
              runThreads(std::string(name) + ";\nst.global.b32 [%out], %t;", 2),
              (std::vector<uint64_t>{0, 1}));
        },
        Effect::Unseen);
}
