// Occupancy and registers. Expected values are NVIDIA's: cuda_occupancy.h,
// compiled for the host.

#include "test/Unit/ptxsim_driver/Context.h"

#include <cstdio>
#include <fstream>

#if __has_include(<cuda_occupancy.h>)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include <cuda_occupancy.h>
#pragma GCC diagnostic pop
#define HAS_CUDA_OCCUPANCY 1
#endif

using namespace ptxsim::cuda;
using namespace ptxsim::cuda::test;
using testing::HasSubstr;

namespace {

class Occupancy : public InContext {
protected:
  void TearDown() override {
    // They are of the process: the next test starts without.
    EXPECT_EQ(ptxsimSetOptions("registers=none"), 0);
    InContext::TearDown();
  }

  CUfunction kernel(const std::string &directives,
                    const std::string &name = "k") {
    CUmodule loaded = nullptr;
    CUfunction f = nullptr;
    const std::string ptx =
        ".version 8.4\n.target sm_90a\n.address_size 64\n.visible .entry " +
        name + "() " + directives +
        "{ .shared .b8 s[1000]; .reg .b32 %r; st.shared.b32 [s], 0; ret; }\n";
    EXPECT_CUDA(cuModuleLoadData(&loaded, ptx.c_str()));
    EXPECT_CUDA(cuModuleGetFunction(&f, loaded, name.c_str()));
    return f;
  }
  int attribute(CUfunction f, CUfunction_attribute which) {
    int value = -1;
    EXPECT_CUDA(cuFuncGetAttribute(&value, which, f));
    return value;
  }
  int registers(CUfunction f) {
    return attribute(f, CU_FUNC_ATTRIBUTE_NUM_REGS);
  }
  int mostThreads(CUfunction f) {
    return attribute(f, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  }
  int blocks(CUfunction f, int threads, size_t shared = 0) {
    int value = -1;
    EXPECT_CUDA(cuOccupancyMaxActiveBlocksPerMultiprocessor(&value, f, threads,
                                                            shared));
    return value;
  }
  CUresult launch(CUfunction f, unsigned threads) {
    return cuLaunchKernel(f, 1, 1, 1, threads, 1, 1, 0, nullptr, nullptr,
                          nullptr);
  }
};

TEST_F(Occupancy, WithoutRegisters) {
  CUfunction f = kernel("");
  // Threads: 2048 / 768; shared memory: 228 KiB / (100 + 1 + 1) KiB.
  EXPECT_EQ(blocks(f, 768), 2);
  EXPECT_EQ(blocks(f, 64, 102400), 2);
  EXPECT_EQ(blocks(f, 1024), 2);
  EXPECT_EQ(blocks(f, 1025), 0);
  // 1024 threads must be able to run.
  EXPECT_EQ(registers(f), 64);
  EXPECT_EQ(registers(kernel(".maxntid 128")), 255);
  EXPECT_EQ(registers(kernel(".maxntid 384, 2")), 80);
  int grid = 0, block = 0;
  EXPECT_CUDA(
      cuOccupancyMaxPotentialBlockSize(&grid, &block, f, nullptr, 0, 0));
  EXPECT_EQ(block, 1024);
  EXPECT_EQ(grid, 264);
}

TEST_F(Occupancy, ByDirectives) {
  CUfunction f = kernel(".maxntid 256 .maxnreg 128");
  EXPECT_EQ(registers(f), 128);
  // 16 warps of 4096 registers.
  EXPECT_EQ(blocks(f, 256), 2);
  EXPECT_EQ(blocks(f, 128), 4);
  EXPECT_CUDA(launch(f, 256));
  CUfunction wide = kernel(".maxnreg 128");
  EXPECT_EQ(mostThreads(wide), 512);
  EXPECT_EQ(launch(wide, 513), CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
  EXPECT_THAT(ptxsimLastError(),
              HasSubstr("kernel 'k': expected at most 512 threads with 128 "
                        "registers each, but got 513"));
  EXPECT_CUDA(launch(wide, 512));
  EXPECT_EQ(launch(kernel(".maxntid 64 .maxnreg 255"), 96),
            CUDA_ERROR_INVALID_VALUE);
  // Three CTAs of 8 warps: 24 warps, 6 for each quarter, 16384 / 6 / 256 * 256
  // registers for each.
  CUfunction three = kernel(".maxntid 256 .minnctapersm 3");
  EXPECT_EQ(registers(three), 80);
  EXPECT_EQ(blocks(three, 256), 3);
}

TEST_F(Occupancy, ByFacts) {
  CUfunction f = kernel(".maxnreg 128"), other = kernel("", "other");
  ASSERT_EQ(ptxsimSetOptions("schedule=rr,registers=72"), 0);
  EXPECT_EQ(registers(f), 72);
  EXPECT_EQ(mostThreads(f), 896);
  EXPECT_EQ(blocks(f, 896), 1);
  EXPECT_EQ(launch(other, 1024), CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
  const std::string file = testing::TempDir() + "ptxsim_registers.txt";
  std::ofstream(file) << "ptxas info    : Compiling entry function 'other' for "
                         "'sm_90a'\nptxas info    : Used 40 registers, 0 "
                         "bytes smem\n";
  ASSERT_EQ(ptxsimSetOptions(("registers=" + file).c_str()), 0);
  EXPECT_EQ(registers(other), 40);
  EXPECT_EQ(registers(f), 128);
  std::ofstream(file) << R"({"k": 33})";
  ASSERT_EQ(ptxsimSetOptions(("registers=" + file).c_str()), 0);
  EXPECT_EQ(registers(f), 33);
  std::ofstream(file) << R"({"k": 300})";
  EXPECT_EQ(ptxsimSetOptions(("registers=" + file).c_str()), 1);
  EXPECT_THAT(ptxsimLastError(),
              HasSubstr("k: expected a number of registers from 1 to 255"));
  std::remove(file.c_str());
}

TEST_F(Occupancy, WrongFacts) {
  for (const char *value : {"", "0", "256", "99999999999999", "-1", "/no/file"})
    for (const std::string before : {"", "schedule=reverse,"}) {
      EXPECT_EQ(ptxsimSetOptions((before + "registers=" + value).c_str()), 1);
      EXPECT_EQ(
          std::string(ptxsimLastError()),
          "registers: expected none, a number from 1 to 255, or a file with "
          "the output of ptxas -v or JSON, but got '" +
              std::string(value) + "'");
    }
}

#ifdef HAS_CUDA_OCCUPANCY
TEST_F(Occupancy, AsNvidiaComputesIt) {
  cudaOccDeviceProp properties{};
  properties.computeMajor = 9;
  properties.maxThreadsPerBlock = 1024;
  properties.maxThreadsPerMultiprocessor = 2048;
  properties.regsPerBlock = properties.regsPerMultiprocessor = 65536;
  properties.warpSize = 32;
  properties.sharedMemPerBlock = 49152;
  properties.sharedMemPerMultiprocessor = 233472;
  properties.numSms = 132;
  properties.sharedMemPerBlockOptin = 232448;
  properties.reservedSharedMemPerBlock = 1024;
  CUfunction f = kernel("");
  cudaOccFuncAttributes attributes{};
  attributes.sharedSizeBytes = 1000;
  attributes.maxDynamicSharedSizeBytes = 231000;
  attributes.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
  cudaOccDeviceState state{};
  state.carveoutConfig = SHAREDMEM_CARVEOUT_MAX_SHARED;
  for (int r : {1, 16, 24, 32, 33, 40, 56, 64, 65, 72, 80, 96, 104, 128, 168,
                200, 224, 255}) {
    ASSERT_EQ(ptxsimSetOptions(("registers=" + std::to_string(r)).c_str()), 0);
    for (int threads : {1, 32, 33, 64, 96, 128, 160, 192, 256, 288, 352, 384,
                        416, 512, 640, 768, 896, 992, 1024})
      for (size_t shared : {0, 8192, 30000, 49152, 100000, 115000, 231000}) {
        attributes.maxThreadsPerBlock = mostThreads(f);
        attributes.numRegs = r;
        cudaOccResult result{};
        ASSERT_EQ(cudaOccMaxActiveBlocksPerMultiprocessor(&result, &properties,
                                                          &attributes, &state,
                                                          threads, shared),
                  CUDA_OCC_SUCCESS);
        const int expected = threads > attributes.maxThreadsPerBlock
                                 ? 0
                                 : result.activeBlocksPerMultiprocessor;
        ASSERT_EQ(blocks(f, threads, shared), expected)
            << r << " registers, " << threads << " threads, " << shared;
      }
  }
}
#endif

} // namespace
