#include "test/Unit/ptxsim_count/Counted.h"

using namespace counted;

namespace {

TEST(AsyncCounters, CopiesOfLanes) {
  const Counted run(R"(
  mad.lo.u32 %r2, %r0, 16, %r1;
  mul.wide.u32 %d2, %r0, 16;
  add.s64 %d2, %d0, %d2;
  cp.async.cg.shared.global [%r2], [%d2], 16;
  setp.lt.u32 %p0, %r0, 8;
  selp.u32 %r3, 16, 0, %p0;
  add.u32 %r2, %r2, 512;
  add.s64 %d2, %d2, 512;
  cp.async.cg.shared.global [%r2], [%d2], 16, %r3;
  cp.async.commit_group;
  cp.async.wait_group 0;)");
  // 512 bytes, then 8 lanes of 16.
  EXPECT_EQ(run[Counter::AsyncBytes], 512u + 128u);
  EXPECT_EQ(run[Counter::AsyncLoadSectors], 16u + 4u);
  EXPECT_EQ(run[Counter::AsyncLoadRequests], 2u);
  EXPECT_EQ(run[Counter::SharedAsyncWavefronts], 8u);
  EXPECT_EQ(run[Counter::SharedAsyncConflicts], 0u);
  EXPECT_EQ(run[Counter::GlobalLoadSectors], 0u);
  EXPECT_EQ(run.counts.work[0].inFlight, 640u);
}

TEST(AsyncCounters, InFlightOfGroups) {
  // Three groups of 512 bytes of which two may stay open.
  const Counted run(R"(
  mad.lo.u32 %r2, %r0, 16, %r1;
  mul.wide.u32 %d2, %r0, 16;
  add.s64 %d2, %d0, %d2;
  cp.async.cg.shared.global [%r2], [%d2], 16;
  cp.async.commit_group;
  cp.async.cg.shared.global [%r2+512], [%d2+512], 16;
  cp.async.commit_group;
  cp.async.wait_group 1;
  cp.async.cg.shared.global [%r2+1024], [%d2+1024], 16;
  cp.async.commit_group;
  cp.async.wait_all;)");
  EXPECT_EQ(run.counts.work[0].inFlight, 1024u);
  EXPECT_EQ(run.counts.work[0].bytesFromL2, 1536u);
}

TEST(AsyncCounters, InFlightOfLoads) {
  // Two loads are under way when the first is used, then one more is issued.
  const Counted run(R"(
  mul.wide.u32 %d2, %r0, 4;
  add.s64 %d2, %d0, %d2;
  ld.global.b32 %r2, [%d2];
  ld.global.b32 %r3, [%d2+128];
  add.u32 %r4, %r2, 1;
  ld.global.b32 %r5, [%d2+256];)",
                    {.threads = 64});
  // %d2 + 4 lanes: the second warp begins 128 bytes later. 256 bytes in each.
  EXPECT_EQ(run.counts.work[0].inFlight, 2 * 256u);
  EXPECT_EQ(run.counts.work[0].bytesFromL2, 2 * 3 * 128u);
}

/// Thread 0 of each CTA initialises an mbarrier at smem + 16384.
const std::string init = R"(
  setp.eq.u32 %p0, %r0, 0;
  add.u32 %r20, %r1, 16384;
  @%p0 mbarrier.init.shared.b64 [%r20], 1;
  fence.mbarrier_init.release.cluster;
  bar.sync 0;
)";
const std::string waitForIt = R"(
WAIT:
  mbarrier.try_wait.parity.shared.b64 %p1, [%r20], 0;
  @!%p1 bra WAIT;
)";

TEST(AsyncCounters, BulkCopy) {
  const Counted run(init + R"(
  @%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%r20], 512;
  @%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%d0], 256, [%r20];
  @%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1+256], [%d0+256], 256, [%r20];)" +
                        waitForIt + R"(
  fence.proxy.async;
  @%p0 cp.async.bulk.global.shared::cta.bulk_group [%d1], [%r1], 128;
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;)",
                    {.threads = 64, .caches = {.l2Bytes = 1 << 20}});
  EXPECT_EQ(run[Counter::BulkLoadBytes], 512u);
  EXPECT_EQ(run[Counter::BulkStoreBytes], 128u);
  EXPECT_EQ(run[Counter::L2ReadSectors], 16u);
  EXPECT_EQ(run[Counter::L2WriteSectors], 4u);
  EXPECT_EQ(run[Counter::DramReadBytes], 512u);
  EXPECT_EQ(run[Counter::DramWriteBytes], 128u);
  const CtaWork &work = run.counts.work[0];
  EXPECT_EQ(work.bulkBytes, 640u);
  EXPECT_EQ(work.bytesFromL2, 512u);
  EXPECT_EQ(work.bulkBytesFromL2, 512u);
  EXPECT_EQ(work.inFlight, 512u);
  EXPECT_EQ(run[Counter::MbarrierWaits], 2u); // one per warp
}

// What is counted does not depend on when copies take effect.
TEST(AsyncCounters, LazyCopiesCountTheSame) {
  auto run = [&](Async async) {
    DeviceOptions options;
    options.async = async;
    return Counted(init + R"(
  @%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%r20], 256;
  @%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%d0], 256, [%r20];)" +
                       waitForIt + R"(
  fence.proxy.async;
  @%p0 cp.async.bulk.global.shared::cta.bulk_group [%d1], [%r1], 128;
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;)",
                   {.caches = {.l2Bytes = 1 << 20}, .options = options});
  };
  const Counted eager = run(Async::Eager), lazy = run(Async::Lazy);
  EXPECT_EQ(lazy[Counter::BulkLoadBytes], 256u);
  EXPECT_EQ(lazy[Counter::DramReadBytes], 256u);
  EXPECT_EQ(lazy[Counter::DramWriteBytes], 128u);
  EXPECT_EQ(lazy[Counter::Instructions], eager[Counter::Instructions]);
  EXPECT_EQ(lazy.counts.work[0].inFlight, eager.counts.work[0].inFlight);
}

TEST(AsyncCounters, MulticastIsReadOnce) {
  const Counted run(init + R"(
  @%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%r20], 256;
  barrier.cluster.arrive;
  barrier.cluster.wait;
  mov.u32 %r3, %cluster_ctarank;
  setp.eq.and.u32 %p2, %r3, 0, %p0;
  mov.u16 %h0, 3;
  @%p2 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r1], [%d0], 256, [%r20], %h0;)" +
                        waitForIt + R"(
  barrier.cluster.arrive;
  barrier.cluster.wait;)",
                    {.grid = {2, 1, 1}, .cluster = Dim3{2, 1, 1}});
  EXPECT_EQ(run[Counter::L2ReadSectors], 8u);
  EXPECT_EQ(run[Counter::BulkLoadBytes], 2 * 256u);
  ASSERT_EQ(run.counts.work.size(), 2u);
  for (const CtaWork &work : run.counts.work) {
    EXPECT_EQ(work.bulkBytes, 256u);
    EXPECT_EQ(work.bytesFromL2, 256u); // through the port of each SM
    EXPECT_EQ(work.inFlight, 256u);
  }
  EXPECT_EQ(run[Counter::ClusterBarriers], 2 * 4u);
}

TEST(AsyncCounters, RemoteShared) {
  const Counted run(R"(
  mov.u32 %r3, %cluster_ctarank;
  xor.b32 %r3, %r3, 1;
  mapa.shared::cluster.u32 %r4, %r1, %r3;
  mad.lo.u32 %r4, %r0, 4, %r4;
  barrier.cluster.arrive;
  barrier.cluster.wait;
  st.shared::cluster.b32 [%r4], %r0;
  barrier.cluster.arrive;
  barrier.cluster.wait;)",
                    {.grid = {2, 1, 1}, .cluster = Dim3{2, 1, 1}});
  EXPECT_EQ(run[Counter::RemoteSharedBytes], 2 * 128u);
  EXPECT_EQ(run.counts.work[1].remoteBytes, 128u);
  EXPECT_EQ(run[Counter::SharedStoreWavefronts], 0u);
}

TEST(AsyncCounters, WgmmaReadsItsOperands) {
  DeviceOptions options;
  options.skipTensor = true;
  const std::string d = "{%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7}";
  const Counted run(
      "  mov.b64 %d2, 0x4000004000400040;\n"
      "  wgmma.fence.sync.aligned;\n"
      "  wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 " +
          d +
          ", %d2, %d2, 0, 1, 1, 0, 0;\n"
          "  wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 " +
          d +
          ", {%r2,%r3,%r4,%r5}, %d2, 1, 1, 1, 0;\n"
          "  wgmma.commit_group.sync.aligned;\n"
          "  wgmma.wait_group.sync.aligned 0;",
      {.threads = 128, .options = options});
  // A: 64 rows of 32 bytes, once in registers; B: 16 rows of 32 bytes.
  EXPECT_EQ(run[Counter::WgmmaOperandBytes], 64 * 32u + 2 * 16 * 32u);
  EXPECT_EQ(run[Counter::TensorFlops], 2 * 2u * 64 * 16 * 16);
  EXPECT_EQ(run[Counter::TensorOps], 2 * 4u);
  EXPECT_EQ(run.counts.tensor.at("wgmma.m64n16k16.f32.bf16.bf16").ops, 8u);
}

// The second warp, which has released the barrier, comes first and is
// suspended: its wait counts once.
TEST(AsyncCounters, WaitsThatSuspendCountOnce) {
  const Counted run(init + R"(
  setp.ge.u32 %p3, %r0, 32;
  @!%p3 bra ARRIVE;
  mbarrier.try_wait.parity.shared.b64 %p1, [%r20], 0;
  bra END;
ARRIVE:
  @%p0 mbarrier.arrive.shared.b64 %d5, [%r20];
END:)",
                    {.threads = 64});
  EXPECT_EQ(run[Counter::MbarrierWaits], 1u);
  EXPECT_EQ(run[Counter::Spins], 1u);
}

} // namespace
