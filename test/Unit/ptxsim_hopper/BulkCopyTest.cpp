// cp.async.bulk without tensor maps: copies in all directions, groups, hazards.

#include "test/Unit/ptxsim_hopper/Kernel.h"

#include <numeric>

using namespace hopper;
using ptxsim::Dim3;

namespace {

std::vector<uint32_t> counting(size_t n, uint32_t first = 1) {
  std::vector<uint32_t> v(n);
  std::iota(v.begin(), v.end(), first);
  return v;
}

const std::string wait =
    "W: mbarrier.try_wait.parity.shared.b64 %p2, [%r1], 0;\n"
    "@!%p2 bra W;\n";
const std::string toShared = R"(
    setp.eq.u32 %p0, %r0, 0;
    @%p0 mbarrier.init.shared.b64 [%r1], 1;
    bar.sync 0;
    @%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%r1], 128;
    @%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1+1024], [%d1], 128, [%r1];
)";
const std::string load = "mad.lo.u32 %r5, %r0, 4, %r1;\n"
                         "ld.shared.b32 %r9, [%r5+1024];\n"
                         "mad.wide.u32 %d9, %r0, 4, %d0;\n"
                         "st.global.b32 [%d9], %r9;\n";

TEST(BulkCopy, ToSharedMemory) {
  for (auto options : {ptxsim::DeviceOptions(), lazy()})
    EXPECT_EQ(outputOf(toShared + wait + load, 32, 32, counting(32), options),
              counting(32));
}

TEST(BulkCopy, LanesThatWaitTogetherSeeTheSame) {
  // Of two copies to one mbarrier one may arrive while the lanes look; what
  // follows the loop must be executed by the whole warp.
  const std::string body = R"(
    setp.eq.u32 %p0, %r0, 0;
    @%p0 mbarrier.init.shared.b64 [%r1], 1;
    bar.sync 0;
    @%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%r1], 128;
    @%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1+1024], [%d1], 64, [%r1];
    @%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1+1088], [%d1+64], 64, [%r1];
  W: mbarrier.try_wait.parity.shared.b64 %p2, [%r1], 0;
    @!%p2 bra.uni W;
    movmatrix.sync.aligned.m8n8.trans.b16 %r7, %r0;
)";
  ptxsim::DeviceOptions options;
  options.async = ptxsim::Async::Random;
  for (options.asyncSeed = 1; options.asyncSeed < 40; ++options.asyncSeed)
    EXPECT_EQ(outputOf(body + load, 32, 32, counting(32), options),
              counting(32));
}

TEST(BulkCopy, ReadBeforeTheWaitIsReported) {
  EXPECT_THAT(errorOf(toShared + "bar.sync 0;\n" + load, 32, lazy()),
              HasSubstr("are read, but the asynchronous copy of line "));
}

TEST(BulkCopy, ToGlobalMemory) {
  // Written by all threads, stored by one. The second store waits for the
  // first's reads only.
  const std::string body = R"(
    mad.lo.u32 %r5, %r0, 4, %r1;
    add.u32 %r6, %r0, 1;
    st.shared.b32 [%r5], %r6;
    fence.proxy.async.shared::cta;
    bar.sync 0;
    setp.eq.u32 %p0, %r0, 0;
    @!%p0 bra NEXT;
    cp.async.bulk.global.shared::cta.bulk_group [%d0], [%r1], 128;
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group.read 0;
  NEXT:
    bar.sync 0;
    add.u32 %r6, %r0, 33;
    st.shared.b32 [%r5], %r6;
    fence.proxy.async;
    bar.sync 0;
    @!%p0 bra END;
    cp.async.bulk.global.shared::cta.bulk_group [%d0+128], [%r1], 128;
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;
  END:)";
  for (auto options : {ptxsim::DeviceOptions(), lazy()})
    EXPECT_EQ(outputOf(body, 32, 64, {}, options), counting(64));
}

TEST(BulkCopy, StoreHazards) {
  const std::string write = "mad.lo.u32 %r5, %r0, 16, %r1;\n"
                            "st.shared.v4.b32 [%r5], {%r0, %r0, %r0, %r0};\n",
                    fence = "fence.proxy.async;\n",
                    copy = "bar.sync 0;\nsetp.eq.u32 %p0, %r0, 0;\n"
                           "@%p0 cp.async.bulk.global.shared::cta.bulk_group "
                           "[%d0], [%r1], 512;\n"
                           "@%p0 cp.async.bulk.commit_group;\n",
                    wait = "@%p0 cp.async.bulk.wait_group.read 0;\nbar.sync "
                           "0;\n";
  EXPECT_EQ(errorOf(write + fence + copy + wait + write, 32, lazy()), "");
  EXPECT_THAT(errorOf(write + copy + wait),
              HasSubstr("is read by the asynchronous proxy, but no "
                        "fence.proxy.async has followed its last write"));
  EXPECT_THAT(errorOf(write + fence + copy + write, 32, lazy()),
              HasSubstr("may still read it: expected a "
                        "cp.async.bulk.wait_group.read before"));
  EXPECT_THAT(errorOf(write + fence + copy, 32, lazy()),
              HasSubstr("the CTA ends while this copy may still read"));
  EXPECT_THAT(errorOf(fence + copy + wait),
              HasSubstr("byte 0 was never written"));
}

TEST(BulkCopy, Reductions) {
  // out starts at zero; -5 is added and compared as s32.
  auto out = outputOf(R"(
    mov.u32 %r5, 0xfffffffb;
    st.shared.v4.b32 [%r1], {%r5, 1, 2, 3};
    fence.proxy.async;
    cp.reduce.async.bulk.global.shared::cta.bulk_group.add.s32 [%d0], [%r1], 16;
    cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%d0], [%r1], 16;
    cp.reduce.async.bulk.global.shared::cta.bulk_group.min.s32 [%d0+16], [%r1], 16;
    cp.reduce.async.bulk.global.shared::cta.bulk_group.max.u32 [%d0+32], [%r1], 16;
    cp.reduce.async.bulk.global.shared::cta.bulk_group.or.b64 [%d0+48], [%r1], 16;
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;
    mov.b32 %r6, 0x40003f80;   // bf16 1, 2
    st.shared.v4.b32 [%r1], {%r6, %r6, %r6, %r6};
    fence.proxy.async;
    cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.bf16 [%d0+64], [%r1], 16;
    cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.bf16 [%d0+64], [%r1], 16;
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;)",
                      1, 20);
  EXPECT_EQ(
      out,
      (std::vector<uint32_t>{
          0xfffffff6, 2,          4,          6,         0xfffffffb, 0, 0, 0,
          0xfffffffb, 1,          2,          3,         0xfffffffb, 1, 2, 3,
          0x40804000, 0x40804000, 0x40804000, 0x40804000}));
}

TEST(BulkCopy, ToAnotherCtaOfTheCluster) {
  // CTA 0 fills shared memory of CTA 1, which waits on its own mbarrier.
  for (auto options : {ptxsim::DeviceOptions(), lazy()}) {
    Program program(kernel(R"(
    mov.u32 %r10, %cluster_ctarank;
    setp.eq.u32 %p0, %r0, 0;
    setp.eq.and.u32 %p3, %r10, 1, %p0;
    @%p0 mbarrier.init.shared.b64 [%r1], 1;
    @%p3 mbarrier.arrive.expect_tx.shared.b64 _, [%r1], 128;
    mad.lo.u32 %r5, %r0, 4, %r1;
    add.u32 %r6, %r0, 1;
    st.shared.b32 [%r5+2048], %r6;
    fence.proxy.async;
    fence.mbarrier_init.release.cluster;
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
    setp.eq.u32 %p1, %r10, 1;
    @%p1 bra RECEIVE;
    @!%p0 bra END;
    mapa.shared::cluster.u32 %r11, %r1, 1;
    add.u32 %r12, %r11, 1024;
    add.u32 %r13, %r1, 2048;
    cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r12], [%r13], 128, [%r11];
    bra END;
  RECEIVE:
)" + wait + load + R"(
  END:
    barrier.cluster.arrive;
    barrier.cluster.wait;)",
                           ".reqnctapercluster 2"),
                    options);
    uint64_t out = program.buffer(std::vector<uint32_t>(32));
    ASSERT_EQ(program.run(32, out, 0, 0, {}, {2, 1, 1}), "");
    EXPECT_EQ(program.read<uint32_t>(out, 32), counting(32));
  }
}

TEST(BulkCopy, MisuseIsReported) {
  const std::string init = "mbarrier.init.shared.b64 [%r1], 1;\n",
                    copy = "cp.async.bulk.shared::cluster.global.mbarrier::"
                           "complete_tx::bytes ";
  EXPECT_THAT(
      errorOf(init + copy + "[%r1+1024], [%d1], 24, [%r1];", 1),
      HasSubstr("expected a size that is a multiple of 16, but got 24"));
  EXPECT_THAT(errorOf(init + copy + "[%r1+1032], [%d1], 16, [%r1];", 1),
              HasSubstr("is not 16-byte aligned"));
  EXPECT_THAT(errorOf(init + copy + "[%r1+1024], [%d1+8], 16, [%r1];", 1),
              HasSubstr("is not 16-byte aligned ('in0' + 8)"));
  EXPECT_THAT(errorOf(init + copy + "[%r1+1024], [%d1+4080], 32, [%r1];", 1),
              HasSubstr("run over the end of 'in0' of 4096 bytes"));
  EXPECT_THAT(errorOf(copy + "[%r1+1024], [%d1], 16, [%r1];", 1),
              HasSubstr("there is no mbarrier at address 0x400"));
  EXPECT_THAT(errorOf("cp.async.bulk.global.shared::cta.mbarrier::complete_tx::"
                      "bytes [%d0], [%r1], 16, [%r1];",
                      1),
              HasSubstr("unsupported form"));
}

} // namespace
