// Kernels of another compiler, nvcc, most of them out of NVIDIA's libraries,
// unchanged and with all checks on. Without nvcc every test is skipped.

#include "test/Unit/ptxsim_nvcc/Corpus.h"

#include <fstream>
#include <gtest/gtest.h>
#include <set>
#include <sstream>

#ifdef K2C_HAVE_NVCC
#include "ptxsim/ptxsim_c.h"

namespace {
/// A race-free program gives the same under all of them, and none may report
/// anything.
const char *const settings[] = {
    "schedule=rr,async=eager,uninitialised-global=off",
    "schedule=reverse,async=lazy,uninitialised-global=on",
    "schedule=greedy,async=random:1",
    "schedule=random:1,async=lazy",
    "schedule=random:2,async=random:2",
};

void expectSame(std::string (*function)()) {
  for (const std::string setting : settings) {
    ASSERT_EQ(ptxsimSetOptions(setting.c_str()), 0) << ptxsimLastError();
    const std::string difference = function();
    EXPECT_EQ(difference, "") << setting << "\n" << ptxsimLastError();
    if (!difference.empty())
      return corpus::reset();
  }
}
} // namespace
#define EXPECT_SAME(function) expectSame(corpus::function)
#else
#define EXPECT_SAME(function) GTEST_SKIP() << "nvcc was not found"
#endif

#define CORPUS(suite, name, function)                                          \
  TEST(suite, name) { EXPECT_SAME(function); }

CORPUS(Cub, Scan, cubScan)
CORPUS(Cub, Reduce, cubReduce)
CORPUS(Cub, SortKeys, cubSortKeys)
CORPUS(Cub, SortPairs, cubSortPairs)
CORPUS(Cub, Select, cubSelect)
CORPUS(Cub, Histogram, cubHistogram)
CORPUS(Cub, RunLength, cubRunLength)
CORPUS(Cub, Segments, cubSegments)
CORPUS(Cub, MergeSort, cubMergeSort)
CORPUS(Cub, Block, cubBlock)
CORPUS(Cub, Warp, cubWarp)
CORPUS(CooperativeGroups, Warp, groupsOfAWarp)
CORPUS(CooperativeGroups, Block, groupsOfABlock)
CORPUS(CooperativeGroups, Grid, groupsOfAGrid)
CORPUS(CooperativeGroups, Cluster, groupsOfACluster)
CORPUS(Libcuxx, Barrier, barrier)
CORPUS(Libcuxx, Pipeline, pipeline)
CORPUS(Libcuxx, MemcpyAsync, memcpyAsync)
CORPUS(Cuda, BulkCopies, bulkCopies)
CORPUS(Cuda, TensorCopies, tensorCopies)
CORPUS(Math, Single, mathSingle)
CORPUS(Math, Double, mathDouble)
CORPUS(Formats, Fp8, fp8)
CORPUS(Formats, Bf16, bf16)
CORPUS(Formats, Half, half)
CORPUS(Wmma, Half, wmmaHalf)
CORPUS(Wmma, Bf16, wmmaBf16)
CORPUS(Wmma, Integer, wmmaInteger)
CORPUS(Wmma, Tf32AndDouble, wmmaTf32)
CORPUS(Runtime, StreamsAndGraphs, streamsAndGraphs)
CORPUS(Runtime, Variables, variables)

#ifdef K2C_HAVE_NVCC
TEST(Runtime, Faults) {
  ptxsimReportToStderr(0);
  expectSame(corpus::faults);
  ptxsimReportToStderr(1);
}

TEST(Runtime, Printf) {
  testing::internal::CaptureStdout();
  const std::string error = corpus::output();
  std::istringstream text(testing::internal::GetCapturedStdout());
  ASSERT_EQ(error, "") << ptxsimLastError();
  // CTAs may run at the same time.
  std::multiset<std::string> lines;
  for (std::string line; std::getline(text, line);)
    lines.insert(line);
  EXPECT_EQ(lines, (std::multiset<std::string>{
                       "0.0 hello 2.50", "0.1 hello 2.50", "0.2 hello 2.50",
                       "1.0 hello 2.50", "1.1 hello 2.50", "1.2 hello 2.50"}));
}
#else
TEST(Runtime, Faults) { GTEST_SKIP() << "nvcc was not found"; }
TEST(Runtime, Printf) { GTEST_SKIP() << "nvcc was not found"; }
#endif

TEST(Table, HasARowForEachTest) {
  std::ifstream file(K2C_SOURCE_DIR "/docs/ptxsim-corpora.md");
  std::ostringstream text;
  text << file.rdbuf();
  const testing::UnitTest &all = *testing::UnitTest::GetInstance();
  for (int s = 0; s < all.total_test_suite_count(); ++s)
    for (int i = 0; i < all.GetTestSuite(s)->total_test_count(); ++i) {
      const testing::TestInfo &test = *all.GetTestSuite(s)->GetTestInfo(i);
      const std::string name =
          std::string(test.test_suite_name()) + "." + test.name();
      if (name != "Table.HasARowForEachTest")
        EXPECT_NE(text.str().find("| `" + name + "` |"), std::string::npos)
            << name;
    }
}
