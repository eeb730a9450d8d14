// Clusters: registers, barriers, distributed shared memory, remote mbarriers.

#include "test/Unit/ptxsim_hopper/Kernel.h"

using namespace hopper;
using ptxsim::Dim3;

namespace {

TEST(Cluster, RegistersTellPlaceAndSize) {
  // A grid of 4 x 4 x 1 in clusters of 2 x 2: 12 words per CTA.
  Program program(kernel(R"(
    mov.u32 %r10, %ctaid.x;
    mov.u32 %r11, %ctaid.y;
    mad.lo.u32 %r12, %r11, 4, %r10;
    mad.wide.u32 %d9, %r12, 48, %d0;
    mov.u32 %r20, %cluster_ctarank;    st.global.b32 [%d9], %r20;
    mov.u32 %r20, %cluster_nctarank;   st.global.b32 [%d9+4], %r20;
    mov.u32 %r20, %cluster_ctaid.x;    st.global.b32 [%d9+8], %r20;
    mov.u32 %r20, %cluster_ctaid.y;    st.global.b32 [%d9+12], %r20;
    mov.u32 %r20, %clusterid.x;        st.global.b32 [%d9+16], %r20;
    mov.u32 %r20, %clusterid.y;        st.global.b32 [%d9+20], %r20;
    mov.u32 %r20, %nclusterid.x;       st.global.b32 [%d9+24], %r20;
    mov.u32 %r20, %nclusterid.y;       st.global.b32 [%d9+28], %r20;
    mov.u32 %r20, %cluster_nctaid.x;   st.global.b32 [%d9+32], %r20;
    mov.u32 %r20, %cluster_nctaid.z;   st.global.b32 [%d9+36], %r20;
    mov.u32 %r20, %nctaid.x;           st.global.b32 [%d9+40], %r20;
    )"));
  uint64_t out = program.buffer(std::vector<uint32_t>(16 * 12));
  ASSERT_EQ(program.run(1, out, 0, 0, {}, {4, 4, 1}, Dim3{2, 2, 1}), "");
  auto got = program.read<uint32_t>(out, 16 * 12);
  for (uint32_t y = 0; y < 4; ++y)
    for (uint32_t x = 0; x < 4; ++x)
      EXPECT_THAT(std::vector<uint32_t>(&got[(y * 4 + x) * 12],
                                        &got[(y * 4 + x) * 12] + 11),
                  testing::ElementsAre(x % 2 + y % 2 * 2, 4, x % 2, y % 2,
                                       x / 2, y / 2, 2, 2, 2, 1, 4));
}

/// Every thread writes to its own shared memory and reads its neighbour CTA's.
std::string neighbours(const std::string &address, const std::string &read) {
  return kernel(R"(
    mov.u32 %r10, %cluster_ctarank;
    mad.lo.u32 %r11, %r10, 1000, %r0;
    mad.lo.u32 %r12, %r0, 4, %r1;
    st.shared.b32 [%r12], %r11;
    barrier.cluster.arrive.release.aligned;
    barrier.cluster.wait.acquire.aligned;
    add.u32 %r13, %r10, 1;
    and.b32 %r13, %r13, 3;
    )" + address + read +
                    R"(
    mad.lo.u32 %r15, %r10, 64, %r0;
    mad.wide.u32 %d9, %r15, 4, %d0;
    st.global.b32 [%d9], %r14;
    barrier.cluster.arrive;
    barrier.cluster.wait;)",
                ".explicitcluster .reqnctapercluster 4, 1, 1");
}

TEST(Cluster, ReadsTheSharedMemoryOfOthers) {
  const std::string window = "mapa.shared::cluster.u32 %r16, %r12, %r13;\n",
                    generic = "cvt.u64.u32 %d5, %r12;\n"
                              "cvta.shared.u64 %d6, %d5;\n"
                              "mapa.u64 %d7, %d6, %r13;\n";
  for (const std::string &ptx :
       {neighbours(window, "ld.shared::cluster.b32 %r14, [%r16];"),
        neighbours(window, "atom.shared::cluster.add.u32 %r14, [%r16], 0;"),
        neighbours(generic, "ld.b32 %r14, [%d7];")}) {
    Program program(ptx);
    uint64_t out = program.buffer(std::vector<uint32_t>(256));
    ASSERT_EQ(program.run(64, out, 0, 0, {}, {4, 1, 1}), "");
    auto got = program.read<uint32_t>(out, 256);
    for (uint32_t cta = 0; cta < 4; ++cta)
      for (uint32_t t = 0; t < 64; ++t)
        EXPECT_EQ(got[cta * 64 + t], (cta + 1) % 4 * 1000 + t);
  }
}

TEST(Cluster, RemoteArrivals) {
  // The threads of CTA 1 to 3 arrive at the mbarrier of CTA 0, which waits.
  Program program(kernel(R"(
    mov.u32 %r10, %cluster_ctarank;
    setp.eq.u32 %p0, %r0, 0;
    @%p0 mbarrier.init.shared.b64 [%r1], 96;
    fence.mbarrier_init.release.cluster;
    barrier.cluster.arrive.relaxed.aligned;
    barrier.cluster.wait.aligned;
    setp.eq.u32 %p1, %r10, 0;
    @%p1 bra WAIT;
    mapa.shared::cluster.u32 %r11, %r1, 0;
    mad.lo.u32 %r13, %r0, 4, %r11;
    red.relaxed.cluster.shared::cluster.add.u32 [%r11+64], 1;
    mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r11];
    bra END;
  WAIT:
    mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [%r1], 0;
    @!%p2 bra WAIT;
    ld.shared.b32 %r12, [%r1+64];
    st.global.b32 [%d0], %r12;
  END:
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;)",
                         ".reqnctapercluster 4"));
  ASSERT_EQ(program.loadError, "");
  uint64_t out = program.buffer(std::vector<uint32_t>(1));
  // The counter's bytes were never written: seen, not missed.
  EXPECT_THAT(program.run(32, out, 0, 0, {}, {4, 1, 1}),
              HasSubstr("was never written"));
  ptxsim::DeviceOptions unchecked;
  unchecked.checks.uninitialisedShared = false;
  Program again(kernel(R"(
    mov.u32 %r10, %cluster_ctarank;
    setp.eq.u32 %p0, %r0, 0;
    @%p0 mbarrier.init.shared.b64 [%r1], 96;
    @%p0 st.shared.b32 [%r1+64], 0;
    fence.mbarrier_init.release.cluster;
    barrier.cluster.arrive.release.aligned;
    barrier.cluster.wait.aligned;
    setp.eq.u32 %p1, %r10, 0;
    @%p1 bra WAIT;
    mapa.shared::cluster.u32 %r11, %r1, 0;
    red.relaxed.cluster.shared::cluster.add.u32 [%r11+64], 1;
    mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r11];
    bra END;
  WAIT:
    mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [%r1], 0;
    @!%p2 bra WAIT;
    ld.shared.b32 %r12, [%r1+64];
    st.global.b32 [%d0], %r12;
  END:
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;)",
                       ".reqnctapercluster 4"));
  out = again.buffer(std::vector<uint32_t>(1));
  ASSERT_EQ(again.run(32, out, 0, 0, {}, {4, 1, 1}), "");
  EXPECT_EQ(again.read<uint32_t>(out, 1)[0], 96u);
}

TEST(Cluster, FaultsNameTheRule) {
  auto run = [](const std::string &body, Dim3 grid, Dim3 cluster) {
    Program program(kernel(body));
    uint64_t out = program.buffer(std::vector<uint32_t>(64));
    return program.run(32, out, 0, 0, {}, grid, cluster);
  };
  EXPECT_THAT(
      run("mapa.shared::cluster.u32 %r2, %r1, 2;", {2, 1, 1}, {2, 1, 1}),
      HasSubstr("expected the rank of one of 2 CTAs of the cluster, "
                "but got 2"));
  EXPECT_THAT(
      run("barrier.cluster.wait;", {2, 1, 1}, {2, 1, 1}),
      HasSubstr("barrier.cluster.wait without a barrier.cluster.arrive"));
  EXPECT_THAT(run("barrier.cluster.arrive;\nbarrier.cluster.arrive;", {2, 1, 1},
                  {2, 1, 1}),
              HasSubstr("arrive again without a barrier.cluster.wait"));
  const std::string other = R"(
    mov.u32 %r10, %cluster_ctarank;
    xor.b32 %r10, %r10, 1;
    mapa.shared::cluster.u32 %r2, %r1, %r10;)";
  EXPECT_THAT(run(other + "ld.shared.b32 %r3, [%r2];", {2, 1, 1}, {2, 1, 1}),
              HasSubstr("is in the shared memory of CTA 1 of the cluster, "
                        "expected one of this CTA (0)"));
  // CTA 0 is gone when CTA 1 reads.
  EXPECT_THAT(run(other + "setp.eq.u32 %p0, %r10, 1;\n@%p0 ret;\n"
                          "ld.shared::cluster.b32 %r3, [%r2];",
                  {2, 1, 1}, {2, 1, 1}),
              HasSubstr("which has exited"));
  EXPECT_THAT(run("", {3, 1, 1}, {2, 1, 1}),
              HasSubstr("expected a grid of whole clusters, but got (3,1,1) "
                        "with clusters of (2,1,1)"));
  EXPECT_THAT(run("", {32, 1, 1}, {32, 1, 1}),
              HasSubstr("expected a cluster of 1 to 16 CTAs"));
}

TEST(Cluster, ExitedThreadsAreNotWaitedFor) {
  Program program(kernel(R"(
    mov.u32 %r10, %cluster_ctarank;
    setp.eq.u32 %p0, %r10, 1;
    @%p0 ret;
    barrier.cluster.arrive;
    barrier.cluster.wait;
    mov.u32 %r9, 7;
    st.global.b32 [%d0], %r9;)"));
  uint64_t out = program.buffer(std::vector<uint32_t>(1));
  ASSERT_EQ(program.run(32, out, 0, 0, {}, {2, 1, 1}, Dim3{2, 1, 1}), "");
  EXPECT_EQ(program.read<uint32_t>(out, 1)[0], 7u);
}

} // namespace

TEST(Cluster, RankOfAnAddress) {
  // Of the own window, of a mapped one, and of a generic address.
  Program program(kernel(R"(
    mov.u32 %r10, %cluster_ctarank;
    xor.b32 %r11, %r10, 1;
    mapa.shared::cluster.u32 %r12, %r1, %r11;
    getctarank.shared::cluster.u32 %r13, %r12;
    getctarank.shared::cluster.u32 %r14, %r1;
    cvt.u64.u32 %d5, %r1;
    cvta.shared.u64 %d5, %d5;
    mapa.u64 %d6, %d5, %r11;
    getctarank.u64 %r15, %d6;
    mad.wide.u32 %d9, %r10, 12, %d0;
    st.global.b32 [%d9], %r13;
    st.global.b32 [%d9+4], %r14;
    st.global.b32 [%d9+8], %r15;)",
                         ".explicitcluster .reqnctapercluster 2, 1, 1"));
  uint64_t out = program.buffer(std::vector<uint32_t>(6));
  ASSERT_EQ(program.run(1, out, 0, 0, {}, {2, 1, 1}), "");
  EXPECT_THAT(program.read<uint32_t>(out, 6),
              testing::ElementsAre(1, 0, 1, 0, 1, 0));
}
