// cp.async: sizes, zero fill, groups, and delivery at the wait.

#include "Kernel.h"

#include <gtest/gtest.h>

using namespace harness;

namespace {

const char sharedArray[] = ".shared .align 16 .b8 s[2048];\n";

/// %r1: the lane's 16 bytes of shared memory; %d1: its 16 bytes of `in`, which
/// is at out + 1024; %d2: its 16 bytes of out.
const char setUp[] = "shl.b32 %r2, %r0, 4;\nmov.u32 %r1, s;\n"
                     "add.u32 %r1, %r1, %r2;\nmad.wide.u32 %d2, %r0, 16, %d0;\n"
                     "add.u64 %d1, %d2, 1024;\n";
const char storeOut[] = "ld.shared.v4.b32 {%r20, %r21, %r22, %r23}, [%r1];\n"
                        "st.global.v4.b32 [%d2], {%r20, %r21, %r22, %r23};\n";
const char waitAll[] = "cp.async.wait_all;\n";

struct Result {
  std::string error;
  std::vector<uint8_t> out;
  ptxsim::Counters counters;
};

Result run(const std::string &body, bool lazy = false) {
  ptxsim::DeviceOptions options;
  options.async = lazy ? ptxsim::Async::Lazy : ptxsim::Async::Eager;
  // No copy may be in flight at the exit.
  Program kernel(warpKernel(setUp + body + "cp.async.wait_all;\n", sharedArray),
                 options);
  std::vector<uint8_t> data(1024 + 512);
  for (size_t i = 0; i < 512; ++i)
    data[1024 + i] = uint8_t(i * 7 + 1);
  uint64_t out = kernel.buffer(data);
  kernel.launch("k", {}, {32, 1, 1}, out);
  return {kernel.error, kernel.read<uint8_t>(out, 512), kernel.counters};
}

/// The bytes of a lane: `size` copied of each `bytes`, zeros after.
void expectCopied(const Result &r, unsigned bytes, unsigned size,
                  const std::string &what) {
  ASSERT_EQ(r.error, "") << what;
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned i = 0; i < bytes; ++i) {
      uint8_t expected = i < size ? uint8_t((lane * 16 + i) * 7 + 1) : 0;
      ASSERT_EQ(r.out[lane * 16 + i], expected)
          << what << " lane " << lane << " byte " << i;
    }
}

const char zeroFirst[] = "mov.u32 %r5, 0xffffffff;\n"
                         "st.shared.v4.b32 [%r1], {%r5, %r5, %r5, %r5};\n";

TEST(AsyncCopy, SizesAndZeroFill) {
  for (bool lazy : {false, true}) {
    for (unsigned bytes : {4u, 8u, 16u}) {
      std::string n = std::to_string(bytes);
      expectCopied(run(std::string(zeroFirst) +
                           "cp.async.ca.shared.global [%r1], [%d1], " + n +
                           ";\n" + waitAll + storeOut,
                       lazy),
                   bytes, bytes, "cp " + n);
      for (unsigned size = 0; size <= bytes; ++size)
        expectCopied(run(std::string(zeroFirst) + "mov.u32 %r3, " +
                             std::to_string(size) +
                             ";\ncp.async.ca.shared::cta.global.L2::128B "
                             "[%r1], [%d1], " +
                             n + ", %r3;\n" + waitAll + storeOut,
                         lazy),
                     bytes, size, "cp " + n + " of " + std::to_string(size));
    }
    expectCopied(run(std::string("cp.async.cg.shared.global [%r1], [%d1], 16, "
                                 "0;\n") +
                         waitAll + storeOut,
                     lazy),
                 16, 0, "immediate size 0");
    expectCopied(run(std::string("mov.b64 %d5, 0;\n"
                                 "cp.async.cg.shared.global.L2::cache_hint "
                                 "[%r1], [%d1], 16, %d5;\n") +
                         waitAll + storeOut,
                     lazy),
                 16, 16, "cache hint");
  }
}

TEST(AsyncCopy, LanesOfOneInstructionMayDiffer) {
  // Lanes read 0 or 16 bytes by turns, over bytes that were something else.
  std::string text = std::string(zeroFirst) +
                     "and.b32 %r3, %r0, 1;\nshl.b32 %r3, %r3, 4;\n"
                     "cp.async.cg.shared.global [%r1], [%d1], 16, %r3;\n" +
                     waitAll + storeOut;
  for (bool lazy : {false, true}) {
    Result r = run(text, lazy);
    ASSERT_EQ(r.error, "");
    for (unsigned i = 0; i < 512; ++i)
      ASSERT_EQ(r.out[i], i / 16 % 2 ? uint8_t(i * 7 + 1) : 0) << i;
    EXPECT_EQ(r.counters.globalLoadBytes, 16u * 16);
  }
}

TEST(AsyncCopy, IgnoreSource) {
  Result r = run(std::string("setp.lt.u32 %p1, %r0, 8;\n"
                             "cp.async.cg.shared.global [%r1], [%d1], 16, "
                             "!%p1;\n") +
                 waitAll + storeOut);
  ASSERT_EQ(r.error, "");
  EXPECT_EQ(r.out[7 * 16], uint8_t(7 * 16 * 7 + 1));
  EXPECT_EQ(r.out[8 * 16], 0);
}

TEST(AsyncCopy, OnlyTheBytesThatAreReadMustExist) {
  // `out + 1024 + 512` is the end of the buffer: with size 0 the address may
  // be anything, with 4 of 16 the last four bytes are enough.
  EXPECT_EQ(run("mov.u64 %d3, 0;\ncp.async.cg.shared.global [%r1], [%d3], 16, "
                "0;\n")
                .error,
            "");
  EXPECT_EQ(run("add.u64 %d3, %d0, 1536;\n"
                "cp.async.cg.shared.global [%r1], [%d3+-16], 16;\n")
                .error,
            "");
  std::string beyond = run("add.u64 %d3, %d0, 1536;\n"
                           "cp.async.cg.shared.global [%r1], [%d3], 16, 4;\n")
                           .error;
  EXPECT_NE(beyond.find("'buffer'"), std::string::npos) << beyond;
  std::string last = run("add.u64 %d3, %d1, 16;\n"
                         "cp.async.cg.shared.global [%r1], [%d3], 16;\n")
                         .error;
  EXPECT_NE(last.find("lane 31"), std::string::npos) << last;
  EXPECT_NE(last.find("after the end of 'buffer'"), std::string::npos) << last;
  std::string misaligned =
      run("cp.async.cg.shared.global [%r1], [%d1+8], 16;\n").error;
  EXPECT_NE(misaligned.find("not 16-byte aligned"), std::string::npos)
      << misaligned;
  EXPECT_NE(run("cp.async.cg.shared.global [%r1+4], [%d1], 16;\n")
                .error.find("not 16-byte aligned"),
            std::string::npos);
  EXPECT_NE(run("mov.u32 %r3, 17;\n"
                "cp.async.cg.shared.global [%r1], [%d1], 16, %r3;\n")
                .error.find("must be at most 16, but is 17"),
            std::string::npos);
}

TEST(AsyncCopy, BytesReadAreCounted) {
  Result r = run("cp.async.cg.shared.global [%r1], [%d1], 16, 12;\n"
                 "cp.async.wait_all;\n");
  EXPECT_EQ(r.error, "");
  EXPECT_EQ(r.counters.globalLoadBytes, 32u * 12);
}

/// Three copies in three groups into the lane's row and the rows 512 and 1024
/// bytes on; waits for all but `open`; stores row `row`.
std::string groups(unsigned open, unsigned row) {
  std::string text;
  for (unsigned i = 0; i < 3; ++i)
    text += "cp.async.cg.shared.global [%r1+" + std::to_string(512 * i) +
            "], [%d1], 16;\ncp.async.commit_group;\n";
  text += "cp.async.wait_group " + std::to_string(open) + ";\n";
  return text + "add.u32 %r1, %r1, " + std::to_string(512 * row) + ";\n" +
         storeOut;
}

TEST(AsyncCopy, WaitGroupDeliversAllButTheLast) {
  for (unsigned open = 0; open <= 3; ++open)
    for (unsigned row = 0; row < 3; ++row) {
      Result eager = run(groups(open, row)), r = run(groups(open, row), true);
      if (row + open < 3) {
        EXPECT_EQ(eager.error, "");
        expectCopied(r, 16, 16, "group " + std::to_string(row));
      } else {
        EXPECT_NE(eager.error.find("a cp.async that writes it is in flight"),
                  std::string::npos)
            << open << " open, row " << row << ": " << eager.error;
        EXPECT_NE(r.error.find("never written"), std::string::npos)
            << open << " open, row " << row << ": " << r.error;
      }
    }
}

TEST(AsyncCopy, UncommittedCopiesAreNotCoveredByWaitGroup) {
  std::string copy = "cp.async.cg.shared.global [%r1], [%d1], 16;\n";
  Result r = run(copy + "cp.async.wait_group 0;\n" + storeOut, true);
  EXPECT_NE(r.error.find("never written"), std::string::npos) << r.error;
  expectCopied(run(copy + "cp.async.wait_all;\n" + storeOut, true), 16, 16,
               "wait_all");
}

TEST(AsyncCopy, AReusedStageIsUnreadableUntilItsWait) {
  std::string text = "cp.async.cg.shared.global [%r1], [%d1], 16;\n"
                     "cp.async.wait_all;\n"
                     "cp.async.cg.shared.global [%r1], [%d1], 16;\n"
                     "cp.async.commit_group;\n";
  EXPECT_NE(run(text + storeOut, true).error.find("never written"),
            std::string::npos);
  EXPECT_EQ(run(text + "cp.async.wait_group 0;\n" + storeOut, true).error, "");
}

TEST(AsyncCopy, GroupsBelongToLanes) {
  // Lanes below 16 close two groups, the others one that holds both copies.
  std::string text = "setp.lt.u32 %p1, %r0, 16;\n"
                     "cp.async.cg.shared.global [%r1], [%d1], 16;\n"
                     "@%p1 cp.async.commit_group;\n"
                     "cp.async.cg.shared.global [%r1+512], [%d1], 16;\n"
                     "cp.async.commit_group;\ncp.async.wait_group 1;\n";
  std::string first =
      run(text + "@%p1 ld.shared.b32 %r3, [%r1];\n", true).error;
  EXPECT_EQ(first, "");
  EXPECT_NE(run(text + "@!%p1 ld.shared.b32 %r3, [%r1];\n", true)
                .error.find("lane 16"),
            std::string::npos);
}

TEST(AsyncCopy, FormsThatDoNotExistAreRefused) {
  for (const char *text :
       {"cp.async.cg.shared.global [%r1], [%d1], 8;",
        "cp.async.ca.shared.global [%r1], [%d1], 12;",
        "cp.async.ca.shared.global [%r1], [%d1], 4, 5;",
        "cp.async.ca.shared.global [%r1], [%d1];",
        "cp.async.ca.global.shared [%d1], [%r1], 16;",
        "cp.async.ca.shared.global [%r1], [%r1], 16;",
        "cp.async.wait_group %r1;", "cp.async.wait_group -1;",
        "cp.async.commit_group 1;", "cp.async.shared.global [%r1], [%d1], 16;"})
    EXPECT_NE(loadError(text), "") << text;
}

} // namespace
