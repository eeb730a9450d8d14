// Asynchronous operations and what may not happen while they are under way:
// each fault with its text beside the same kernel without it, under all kinds
// of delivery.

#include "test/Unit/ptxsim_hopper/Kernel.h"

using namespace hopper;
using ptxsim::Async;
using ptxsim::Dim3;

namespace {

ptxsim::DeviceOptions with(Async async, uint64_t seed = 1) {
  ptxsim::DeviceOptions options;
  options.async = async, options.asyncSeed = seed;
  return options;
}
const Async allAsync[] = {Async::Eager, Async::Lazy, Async::Random};

const std::string init = "setp.eq.u32 %p0, %r0, 0;\n"
                         "@%p0 mbarrier.init.shared.b64 [%r1], 1;\n"
                         "bar.sync 0;\n",
                  load = "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%r1], "
                         "128;\n"
                         "@%p0 cp.async.bulk.shared::cluster.global.mbarrier::"
                         "complete_tx::bytes [%r1+1024], [%d1], 128, [%r1];\n",
                  wait = "W: mbarrier.try_wait.parity.shared.b64 %p2, [%r1], "
                         "0;\n@!%p2 bra W;\n";
const std::string fill = "mad.lo.u32 %r5, %r0, 16, %r1;\n"
                         "st.shared.v4.b32 [%r5], {%r0, %r0, %r0, %r0};\n"
                         "fence.proxy.async;\nbar.sync 0;\n"
                         "setp.eq.u32 %p0, %r0, 0;\n",
                  store = "@%p0 cp.async.bulk.global.shared::cta.bulk_group "
                          "[%d0], [%r1], 512;\n",
                  commit = "@%p0 cp.async.bulk.commit_group;\n",
                  waitRead = "@%p0 cp.async.bulk.wait_group.read 0;\n"
                             "bar.sync 0;\n";

TEST(Hazard, LoadThatNobodyWaitsFor) {
  for (Async async : allAsync) {
    EXPECT_EQ(errorOf(init + load + wait, 32, with(async)), "");
    EXPECT_THAT(errorOf(init + load, 32, with(async)),
                HasSubstr("the CTA ends, but nobody has waited for this copy: "
                          "expected a wait for "));
  }
  ptxsim::DeviceOptions off;
  off.checks.exitPending = false;
  EXPECT_EQ(errorOf(init + load, 32, off), "");
}

TEST(Hazard, BytesThatNeverCome) {
  EXPECT_THAT(
      errorOf(init + "@%p0 mbarrier.expect_tx.relaxed.cta.shared.b64 [%r1], "
                     "64;\n"),
      HasSubstr(
          "ret: cta (0,0,0) warp 0: the CTA ends, but the mbarrier at address "
          "0x400 still expects bytes of copies (phase 0 (parity 0), 1 of "
          "1 arrivals pending, tx-count 64)"));
}

TEST(Hazard, StoreThatNobodyWaitsFor) {
  for (Async async : allAsync) {
    EXPECT_EQ(errorOf(fill + store + commit + waitRead, 32, with(async)), "");
    for (const std::string &rest :
         {std::string(), commit, std::string("bar.sync 0;\n"), waitRead,
          commit + "@%p0 cp.async.bulk.wait_group.read 1;\n"})
      EXPECT_THAT(errorOf(fill + store + rest, 32, with(async)),
                  HasSubstr("the CTA ends while this copy may still read its "
                            "shared memory"))
          << rest;
  }
}

TEST(Hazard, SourceOfAStoreIsReused) {
  const std::string again = "st.shared.b32 [%r5], %r0;\n";
  for (Async async : allAsync) {
    EXPECT_EQ(
        errorOf(fill + store + commit + waitRead + again, 32, with(async)), "");
    EXPECT_THAT(
        errorOf(fill + store + commit + "bar.sync 0;\n" + again + waitRead, 32,
                with(async)),
        HasSubstr("is written while the bulk copy of line "));
    // By another copy.
    EXPECT_THAT(
        errorOf(fill + "@%p0 mbarrier.init.shared.b64 [%r1+2048], 1;\n" +
                    store + commit +
                    "@%p0 cp.async.bulk.shared::cluster.global.mbarrier::"
                    "complete_tx::bytes [%r1+496], [%d1], 32, [%r1+2048];\n",
                32, with(async)),
        HasSubstr("is written while the bulk copy of line "));
  }
}

TEST(Hazard, RandomDeliveryGivesTheSameResult) {
  // Two loads, a sum, a store; what is in flight arrives in any order.
  std::vector<uint32_t> in(64);
  for (uint32_t i = 0; i < 64; ++i)
    in[i] = i * i;
  const std::string body = R"(
    setp.eq.u32 %p0, %r0, 0;
    @%p0 mbarrier.init.shared.b64 [%r1], 1;
    @%p0 mbarrier.init.shared.b64 [%r1+8], 1;
    bar.sync 0;
    @%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%r1], 128;
    @%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%r1+8], 128;
    @%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1+1024], [%d1], 64, [%r1];
    @%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1+1088], [%d1+64], 64, [%r1];
    @%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1+1152], [%d1+128], 128, [%r1+8];
  V: mbarrier.try_wait.parity.shared.b64 %p2, [%r1], 0;
    @!%p2 bra V;
  W: mbarrier.try_wait.parity.shared.b64 %p2, [%r1+8], 0;
    @!%p2 bra W;
    mad.lo.u32 %r5, %r0, 4, %r1;
    ld.shared.b32 %r9, [%r5+1024];
    ld.shared.b32 %r8, [%r5+1152];
    add.u32 %r9, %r9, %r8;
    st.shared.b32 [%r5+2048], %r9;
    fence.proxy.async;
    bar.sync 0;
    @%p0 cp.async.bulk.global.shared::cta.bulk_group [%d0], [%r1+2048], 128;
    @%p0 cp.async.bulk.commit_group;
    @%p0 cp.async.bulk.wait_group 0;
)";
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    auto out = outputOf(body, 32, 32, in, with(Async::Random, seed));
    ASSERT_EQ(out.size(), 32u);
    for (uint32_t i = 0; i < 32; ++i)
      EXPECT_EQ(out[i], i * i + (i + 32) * (i + 32));
  }
}

TEST(Hazard, RegistersOfTheCta) {
  Program program(kernel("", ".maxnreg 200"));
  EXPECT_THAT(program.run(384, program.buffer(std::vector<uint32_t>(1))),
              HasSubstr("kernel 'k': expected at most 65536 registers per CTA, "
                        "but got 384 threads with 200 each (.maxnreg)"));
}

TEST(Hazard, LimitsOfTheDevice) {
  ptxsim::DeviceOptions small;
  small.maxSharedBytes = 49152, small.maxThreads = 128,
  small.maxClusterCtas = 8;
  const auto run = [&](uint32_t threads, Dim3 grid, Dim3 cluster) {
    Program program(".version 8.0\n.target sm_90a\n.address_size 64\n"
                    ".entry k(.param .u64 a, .param .u64 b, .param .u64 c, "
                    ".param .align 64 .b8 map[128]) { .shared .b8 s[49152]; "
                    ".reg .b32 r; mov.u32 r, s; ret; }",
                    small);
    EXPECT_EQ(program.loadError, "");
    return program.run(threads, 0, 0, 0, {}, grid, cluster);
  };
  EXPECT_EQ(run(128, {8, 1, 1}, {8, 1, 1}), "");
  EXPECT_THAT(run(160, {}, {}),
              HasSubstr("expected a block of 1 to 128 threads, but got "
                        "(160,1,1)"));
  EXPECT_THAT(run(32, {16, 1, 1}, {16, 1, 1}),
              HasSubstr("expected a cluster of 1 to 8 CTAs, but got (16,1,1)"));
  small.maxSharedBytes = 49151;
  EXPECT_THAT(run(32, {}, {}),
              HasSubstr("expected at most 49151 bytes of shared memory, but "
                        "got 49152 static and 0 dynamic"));
  small.checks.limits = false;
  EXPECT_EQ(run(32, {}, {}), "");
}

} // namespace
