// Kernels of another compiler, nvcc, most of them out of NVIDIA's libraries,
// unchanged and with all checks on. Without nvcc every test is skipped.

#include "test/Unit/ptxsim_nvcc/Corpus.h"

#include <gtest/gtest.h>

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
CORPUS(Wmma, Half, wmmaHalf)
CORPUS(Wmma, Bf16, wmmaBf16)
CORPUS(Wmma, Integer, wmmaInteger)
CORPUS(Wmma, Tf32AndDouble, wmmaTf32)
CORPUS(Runtime, StreamsAndGraphs, streamsAndGraphs)
CORPUS(Runtime, Variables, variables)
// The last one: it leaves the device unusable.
CORPUS(Runtime, Faults, faults)
