// What orders wgmma's reads of shared memory, and what wgmma.fence orders.

#include "test/Unit/ptxsim_hopper/Ordered.h"

using namespace hopper;
using namespace ptxsim;
using testing::AllOf;

namespace {

TEST(WgmmaOrder, ReadsUntilItIsWaitedFor) {
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

TEST(WgmmaOrder, FenceEndsTheLoadsOfAllLanes) {
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

} // namespace
