// Kernels of another compiler, nvcc, most of them out of NVIDIA's libraries,
// unchanged and with all checks on. Without nvcc every test is skipped.

#include "test/Unit/ptxsim_nvcc/Corpus.h"

#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

#ifdef K2C_HAVE_NVCC
#include "ptxsim/ptxsim_c.h"
#define EXPECT_SAME(function)                                                  \
  EXPECT_EQ(corpus::function(), "") << ptxsimLastError()
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
CORPUS(Cub, Block, cubBlock)
CORPUS(Cub, Warp, cubWarp)
CORPUS(CooperativeGroups, Warp, groupsOfAWarp)
CORPUS(CooperativeGroups, Block, groupsOfABlock)
CORPUS(CooperativeGroups, Grid, groupsOfAGrid)
CORPUS(CooperativeGroups, Cluster, groupsOfACluster)
CORPUS(Libcuxx, Barrier, barrier)
CORPUS(Libcuxx, Pipeline, pipeline)
CORPUS(Libcuxx, MemcpyAsync, memcpyAsync)
CORPUS(Formats, Fp8, fp8)
CORPUS(Formats, Bf16, bf16)
CORPUS(Formats, Half, half)
CORPUS(Runtime, StreamsAndGraphs, streamsAndGraphs)
CORPUS(Runtime, Variables, variables)
// The last one: it leaves the device unusable.
CORPUS(Runtime, Faults, faults)

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
