// fence.proxy.async between writes of threads and reads of the asynchronous
// proxy: by the writer and then a barrier, or by one thread behind the barrier.

#include "test/Unit/ptxsim_hopper/Kernel.h"

using namespace hopper;
using ptxsim::Schedule;

namespace {

const std::string missing = "is read by the asynchronous proxy, but no "
                            "fence.proxy.async has followed its last write",
                  unordered = "is read by the asynchronous proxy, but no "
                              "barrier orders the fence.proxy.async that has "
                              "followed its last write before this read";

/// 64 threads write 16 bytes each; thread `by` stores them with a bulk copy.
std::string run(const std::string &between, const std::string &by = "0",
                ptxsim::DeviceOptions options = {}) {
  std::string error;
  for (Schedule schedule :
       {Schedule::RoundRobin, Schedule::Reverse, Schedule::Random}) {
    options.schedule = schedule;
    const std::string here = errorOf(
        "mad.lo.u32 %r5, %r0, 16, %r1;\n"
        "st.shared.v4.b32 [%r5], {%r0, %r0, %r0, %r0};\n"
        "setp.eq.u32 %p0, %r0, " +
            by +
            ";\n"
            "setp.lt.u32 %p1, %r0, 32;\n" +
            between +
            "@%p0 cp.async.bulk.global.shared::cta.bulk_group [%d0], [%r1], "
            "1024;\n"
            "@%p0 cp.async.bulk.commit_group;\n"
            "@%p0 cp.async.bulk.wait_group 0;\n",
        64, options);
    if (schedule != Schedule::RoundRobin && here.empty() != error.empty())
      return "depends on the schedule: " + error + " / " + here;
    error = here;
  }
  return error;
}
const std::string fence = "fence.proxy.async.shared::cta;\n",
                  barrier = "bar.sync 0;\n";

TEST(Proxy, EachWriterFencesAndThenABarrier) {
  EXPECT_EQ(run(fence + barrier), "");
  EXPECT_EQ(run("fence.proxy.async;\n" + barrier), "");
  EXPECT_EQ(run("fence.proxy.async.shared::cluster;\n" + barrier, "40"), "");
}

TEST(Proxy, OneThreadFencesBehindTheBarrier) {
  EXPECT_EQ(run(barrier + fence), "");
  EXPECT_EQ(run(barrier + "@%p0 " + fence), "");
  EXPECT_EQ(run(barrier + "@%p0 " + fence, "40"), "");
  // Another one than the reader, and a barrier between them.
  EXPECT_EQ(run(barrier + "@%p1 " + fence + barrier, "40"), "");
}

TEST(Proxy, LostFences) {
  EXPECT_THAT(run(barrier), HasSubstr(missing));
  // Before the writes of the other warp are known.
  EXPECT_THAT(run("@%p1 " + fence + barrier), HasSubstr(missing));
  EXPECT_THAT(run("@!%p1 " + fence + barrier), HasSubstr(missing));
  EXPECT_THAT(run("@%p0 " + fence + barrier), HasSubstr(missing));
  EXPECT_THAT(run("setp.ne.u32 %p2, %r0, 37;\n@%p2 " + fence + barrier),
              HasSubstr(missing));
  // Written again behind the fence.
  EXPECT_THAT(run(fence +
                  "setp.eq.u32 %p2, %r0, 50;\n"
                  "@%p2 st.shared.b32 [%r5], %r0;\n" +
                  barrier),
              HasSubstr(missing));
  // Global memory only.
  EXPECT_THAT(run("fence.proxy.async.global;\n" + barrier), HasSubstr(missing));
  ptxsim::DeviceOptions off;
  off.checks.proxyFence = false;
  EXPECT_EQ(run(barrier, "0", off), "");
}

TEST(Proxy, FenceThatTheReaderDoesNotKnow) {
  // Thread 40 fences for all, thread 0 reads; warp 1 goes on first.
  const std::string other = "setp.eq.u32 %p2, %r0, 40;\n";
  EXPECT_EQ(run(other + barrier + "@%p2 " + fence + barrier, "0"), "");
  const std::string error = errorOf(
      "mad.lo.u32 %r5, %r0, 16, %r1;\n"
      "st.shared.v4.b32 [%r5], {%r0, %r0, %r0, %r0};\n"
      "setp.eq.u32 %p0, %r0, 0;\n"
      "setp.eq.u32 %p2, %r0, 40;\n" +
          barrier + "@%p2 " + fence +
          "@%p0 cp.async.bulk.global.shared::cta.bulk_group [%d0], [%r1], "
          "1024;\n"
          "@%p0 cp.async.bulk.commit_group;\n"
          "@%p0 cp.async.bulk.wait_group 0;\n",
      64);
  EXPECT_THAT(error, HasSubstr(unordered));
}

TEST(Proxy, StoredAsMatrices) {
  const auto store = [](const std::string &behind) {
    return errorOf("shl.b32 %r5, %r0, 4;\nadd.u32 %r5, %r5, %r1;\n"
                   "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r5], {%r0, %r0, "
                   "%r0, %r0};\n"
                   "setp.eq.u32 %p0, %r0, 0;\n" +
                       behind +
                       "@%p0 cp.async.bulk.global.shared::cta.bulk_group "
                       "[%d0], [%r1], 512;\n"
                       "@%p0 cp.async.bulk.commit_group;\n"
                       "@%p0 cp.async.bulk.wait_group 0;\n",
                   32);
  };
  EXPECT_EQ(store(fence + barrier), "");
  EXPECT_THAT(store(barrier), HasSubstr(missing));
}

TEST(Proxy, CopiedByThreads) {
  // cp.async writes with the generic proxy.
  const auto copy = [](const std::string &behind) {
    return errorOf("mad.lo.u32 %r5, %r0, 16, %r1;\n"
                   "mad.wide.u32 %d5, %r0, 16, %d1;\n"
                   "cp.async.cg.shared.global [%r5], [%d5], 16;\n"
                   "cp.async.wait_all;\n"
                   "setp.eq.u32 %p0, %r0, 0;\n" +
                       behind +
                       "@%p0 cp.async.bulk.global.shared::cta.bulk_group "
                       "[%d0], [%r1], 512;\n"
                       "@%p0 cp.async.bulk.commit_group;\n"
                       "@%p0 cp.async.bulk.wait_group 0;\n",
                   32, lazy());
  };
  EXPECT_EQ(copy(fence + barrier), "");
  EXPECT_EQ(copy(barrier + fence), "");
  EXPECT_THAT(copy(barrier), HasSubstr(missing));
}

} // namespace
