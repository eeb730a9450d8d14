// Modules, functions, launches, faults, counters.

#include "test/Unit/ptxsim_driver/Context.h"

#include <cstring>
#include <thread>

using namespace ptxsim::cuda;
using namespace ptxsim::cuda::test;
using testing::HasSubstr;

namespace {
using Launch = InContext;
using Module = InContext;

TEST_F(Module, LogOfTheLoader) {
  CUmodule bad = nullptr;
  char log[512] = "", small[10];
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER,
                            CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void *values[] = {log, reinterpret_cast<void *>(sizeof log)};
  const std::string text = ".version 8.4\n.target sm_90a\n.address_size 64\n"
                           ".visible .entry k() { frobnicate.b32 1; ret; }\n";
  EXPECT_EQ(cuModuleLoadDataEx(&bad, text.c_str(), 2, options, values),
            CUDA_ERROR_INVALID_PTX);
  EXPECT_THAT(log, HasSubstr(":4:"));
  EXPECT_THAT(log, HasSubstr("frobnicate"));
  EXPECT_STREQ(ptxsimLastError(), log);
  void *smallValues[] = {small, reinterpret_cast<void *>(sizeof small)};
  EXPECT_EQ(cuModuleLoadDataEx(&bad, text.c_str(), 2, options, smallValues),
            CUDA_ERROR_INVALID_PTX);
  EXPECT_EQ(std::string(small).size(), 9u); // cut, with the NUL in it
  EXPECT_EQ(std::string(small).substr(0, 6), "module");
}

TEST_F(Module, ImagesThatHoldNoText) {
  CUmodule bad = nullptr;
  EXPECT_EQ(cuModuleLoadData(&bad, "\x7f"
                                   "ELF"),
            CUDA_ERROR_NO_BINARY_FOR_GPU);
  EXPECT_THAT(ptxsimLastError(), HasSubstr("got a cubin"));
  EXPECT_EQ(cuModuleLoadData(nullptr, kernels.c_str()),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuModuleLoad(&bad, "/no/such/file"), CUDA_ERROR_FILE_NOT_FOUND);
  CUfunction f;
  EXPECT_EQ(cuModuleGetFunction(&f, module, "missing"), CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(cuModuleGetFunction(&f, reinterpret_cast<CUmodule>(&bad), "add"),
            CUDA_ERROR_INVALID_HANDLE);
}

/// A container as nvcc writes it, with one image.
std::vector<char> fatBinary(uint16_t kind, uint32_t arch, const char *text,
                            uint32_t compressed) {
  const uint32_t headerBytes = 80;
  const uint64_t bytes = (std::strlen(text) + 8) / 8 * 8;
  std::vector<char> out(16 + headerBytes + bytes);
  auto put = [&](size_t at, auto value) {
    std::memcpy(out.data() + at, &value, sizeof value);
  };
  put(0, uint32_t(0xba55ed50)), put(4, uint16_t(1)), put(6, uint16_t(16));
  put(8, uint64_t(headerBytes + bytes));
  put(16, kind), put(18, uint16_t(0x101)), put(20, headerBytes), put(24, bytes);
  put(32, compressed), put(44, arch);
  std::memcpy(out.data() + 16 + headerBytes, text, std::strlen(text));
  return out;
}

TEST_F(Module, FatBinaries) {
  CUmodule fat = nullptr;
  CUfunction f = nullptr;
  std::vector<char> good = fatBinary(1, 90, kernels.c_str(), 0);
  ASSERT_CUDA(cuModuleLoadData(&fat, good.data()));
  EXPECT_CUDA(cuModuleGetFunction(&f, fat, "add"));
  struct {
    uint32_t magic, version;
    const void *data, *unused;
  } wrapper{0x466243b1, 1, good.data(), nullptr};
  EXPECT_CUDA(cuModuleLoadFatBinary(&fat, &wrapper));
  EXPECT_EQ(
      cuModuleLoadData(&fat, fatBinary(1, 90, kernels.c_str(), 100).data()),
      CUDA_ERROR_NO_BINARY_FOR_GPU);
  EXPECT_THAT(ptxsimLastError(), HasSubstr("--no-compress"));
  EXPECT_EQ(cuModuleLoadData(&fat, fatBinary(2, 90, "cubin", 0).data()),
            CUDA_ERROR_NO_BINARY_FOR_GPU);
  EXPECT_EQ(
      cuModuleLoadData(&fat, fatBinary(1, 100, kernels.c_str(), 0).data()),
      CUDA_ERROR_NO_BINARY_FOR_GPU);
}

TEST_F(Module, VariablesAndEnumeration) {
  CUdeviceptr table = 0;
  size_t bytes = 0;
  ASSERT_CUDA(cuModuleGetGlobal_v2(&table, &bytes, module, "table"));
  EXPECT_EQ(bytes, 16u);
  EXPECT_EQ(read(table, 4), (std::vector<uint32_t>{1, 2, 3, 4}));
  EXPECT_EQ(cuModuleGetGlobal_v2(&table, &bytes, module, "chair"),
            CUDA_ERROR_NOT_FOUND);
  unsigned count = 0;
  EXPECT_CUDA(cuModuleGetFunctionCount(&count, module));
  ASSERT_EQ(count, 8u);
  std::vector<CUfunction> all(count);
  EXPECT_CUDA(cuModuleEnumerateFunctions(all.data(), count, module));
  const char *name = nullptr;
  EXPECT_CUDA(cuFuncGetName(&name, all[0]));
  EXPECT_STREQ(name, "add");
  EXPECT_EQ(all[0], function("add"));
  EXPECT_CUDA(cuModuleUnload(module));
  EXPECT_EQ(cuFuncGetName(&name, all[0]), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(Module, Libraries) {
  CUlibrary library = nullptr;
  CUkernel kernel = nullptr;
  CUfunction f = nullptr;
  ASSERT_CUDA(cuLibraryLoadData(&library, kernels.c_str(), nullptr, nullptr, 0,
                                nullptr, nullptr, 0));
  ASSERT_CUDA(cuLibraryGetKernel(&kernel, library, "add"));
  ASSERT_CUDA(cuKernelGetFunction(&f, kernel));
  CUdeviceptr x = buffer({1, 2});
  EXPECT_CUDA(launch(f, 2, nullptr, x, 5u));
  // A kernel may be launched as if it were a function.
  EXPECT_CUDA(launch(reinterpret_cast<CUfunction>(kernel), 2, nullptr, x, 5u));
  EXPECT_EQ(read(x, 2), (std::vector<uint32_t>{11, 12}));
  EXPECT_CUDA(cuLibraryUnload(library));
  EXPECT_EQ(launch(f, 2, nullptr, x, 5u), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(Launch, ParametersBothWays) {
  CUdeviceptr x = buffer({1, 2, 3});
  CUfunction add = function("add");
  EXPECT_CUDA(launch(add, 3, nullptr, x, 10u));
  struct {
    CUdeviceptr x;
    uint32_t value;
  } packed{x, 100};
  size_t bytes = 12;
  void *extra[] = {reinterpret_cast<void *>(1), &packed,
                   reinterpret_cast<void *>(2), &bytes, nullptr};
  EXPECT_CUDA(
      cuLaunchKernel(add, 1, 1, 1, 3, 1, 1, 0, nullptr, nullptr, extra));
  EXPECT_EQ(read(x, 3), (std::vector<uint32_t>{111, 112, 113}));
  bytes = 8;
  EXPECT_EQ(cuLaunchKernel(add, 1, 1, 1, 3, 1, 1, 0, nullptr, nullptr, extra),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_THAT(ptxsimLastError(),
              HasSubstr("kernel 'add': expected 12 bytes of parameters"));
  size_t offset, size;
  EXPECT_CUDA(cuFuncGetParamInfo(add, 1, &offset, &size));
  EXPECT_EQ(offset, 8u);
  EXPECT_EQ(size, 4u);
  EXPECT_EQ(cuFuncGetParamInfo(add, 2, &offset, &size),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Launch, ConfigurationsThatAreRefused) {
  CUdeviceptr x = buffer({0});
  CUfunction f = function("shared");
  void *params[] = {&x};
  auto run = [&](unsigned grid, unsigned block, unsigned shared) {
    return cuLaunchKernel(f, grid, 1, 1, block, 1, 1, shared, nullptr, params,
                          nullptr);
  };
  EXPECT_EQ(run(0, 1, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(run(1, 0, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(run(1, 1025, 0), CUDA_ERROR_INVALID_VALUE);
  // 48 KiB without asking, 227 KiB after asking.
  EXPECT_CUDA(run(1, 1, 49152));
  EXPECT_EQ(read(x, 1)[0], 49152u);
  EXPECT_EQ(run(1, 1, 49153), CUDA_ERROR_INVALID_VALUE);
  EXPECT_THAT(ptxsimLastError(), HasSubstr("at most 49152 bytes of dynamic"));
  EXPECT_EQ(cuFuncSetAttribute(
                f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 232449),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuFuncSetAttribute(
      f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 232448));
  EXPECT_CUDA(run(1, 1, 232448));
  EXPECT_EQ(read(x, 1)[0], 232448u);
  // None of this has hurt the context.
  EXPECT_CUDA(cuCtxSynchronize());
}

TEST_F(Launch, Clusters) {
  CUdeviceptr x = buffer(std::vector<uint32_t>(16));
  CUfunction f = function("cluster");
  void *params[] = {&x};
  CUlaunchAttribute attributes[2] = {};
  attributes[0].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  attributes[1].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
  attributes[1].value.programmaticStreamSerializationAllowed = 1;
  CUlaunchConfig config{16, 1, 1, 1, 1, 1, 0, nullptr, attributes, 2};
  attributes[0].value.clusterDim = {4, 1, 1};
  EXPECT_CUDA(cuLaunchKernelEx(&config, f, params, nullptr));
  EXPECT_EQ(read(x, 16), std::vector<uint32_t>(16, 4));
  attributes[0].value.clusterDim = {16, 1, 1};
  EXPECT_EQ(cuLaunchKernelEx(&config, f, params, nullptr),
            CUDA_ERROR_INVALID_CLUSTER_SIZE);
  EXPECT_CUDA(cuFuncSetAttribute(
      f, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
  EXPECT_CUDA(cuLaunchKernelEx(&config, f, params, nullptr));
  EXPECT_EQ(read(x, 16), std::vector<uint32_t>(16, 16));
}

TEST_F(Launch, Cooperative) {
  const uint32_t n = 40;
  CUdeviceptr counter = buffer({0}), out = buffer(std::vector<uint32_t>(n, 99));
  void *params[] = {&counter, &out};
  CUfunction f = function("barrier");
  EXPECT_CUDA(
      cuLaunchCooperativeKernel(f, n, 1, 1, 1, 1, 1, 0, nullptr, params));
  std::vector<uint32_t> expected(n);
  for (uint32_t i = 0; i < n; ++i)
    expected[i] = i;
  EXPECT_EQ(read(out, n), expected);
  // 32 CTAs on each of 132 multiprocessors.
  int blocks = 0;
  EXPECT_CUDA(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, 1, 0));
  EXPECT_EQ(blocks, 32);
  EXPECT_EQ(cuLaunchCooperativeKernel(f, 32 * 132 + 1, 1, 1, 1, 1, 1, 0,
                                      nullptr, params),
            CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
}

TEST_F(Launch, FaultsEndTheContext) {
  CUdeviceptr x = buffer({1, 2});
  CUfunction add = function("add");
  EXPECT_EQ(launch(function("wild"), 1, nullptr, x + 8),
            CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_THAT(ptxsimLastError(), HasSubstr("ld.global.u32"));
  EXPECT_THAT(ptxsimLastError(), HasSubstr("0 bytes after the end of"));
  // Like every later call.
  uint32_t value;
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(cuMemcpyDtoH_v2(&value, x, 4), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(launch(add, 1, nullptr, x, 1u), CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST_F(Launch, KindsOfFaults) {
  auto faultOf = [&](const char *name, CUdeviceptr address) {
    CUcontext own = nullptr;
    CUmodule loaded = nullptr;
    CUfunction f = nullptr;
    EXPECT_CUDA(cuCtxCreate_v2(&own, 0, 0));
    EXPECT_CUDA(cuModuleLoadData(&loaded, kernels.c_str()));
    EXPECT_CUDA(cuModuleGetFunction(&f, loaded, name));
    const CUresult code = launch(f, 1, nullptr, address);
    EXPECT_EQ(cuCtxSynchronize(), code);
    EXPECT_CUDA(cuCtxDestroy_v2(own));
    return code;
  };
  EXPECT_EQ(faultOf("wild", 0), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(faultOf("wild", 4098), CUDA_ERROR_MISALIGNED_ADDRESS);
  EXPECT_EQ(faultOf("stop", 0), CUDA_ERROR_LAUNCH_FAILED);
  // The context of the test has not seen them.
  EXPECT_CUDA(cuCtxSynchronize());
}

TEST_F(Launch, Counters) {
  CUdeviceptr x = buffer({1, 2, 3, 4});
  ptxsimResetCounters();
  EXPECT_CUDA(launch(function("add"), 4, nullptr, x, 1u));
  EXPECT_CUDA(launch(function("add"), 4, nullptr, x, 1u));
  ptxsimCounters counters;
  ptxsimGetCounters(&counters, sizeof counters);
  EXPECT_EQ(counters.launches, 2u);
  EXPECT_EQ(counters.warpInstructions, 2u * 9);
  EXPECT_EQ(counters.threadInstructions, 2u * 9 * 4);
  EXPECT_EQ(counters.globalLoadBytes, 2u * 16);
  EXPECT_THAT(ptxsimCountersJson(),
              HasSubstr("\"launches\": 2, \"warp_instructions\": 18"));
  // A caller with an older, shorter struct.
  std::memset(&counters, 0xff, sizeof counters);
  ptxsimGetCounters(&counters, 8);
  EXPECT_EQ(counters.launches, 2u);
  EXPECT_EQ(counters.warpInstructions, ~0ull);
}

TEST_F(Launch, CountersByLine) {
  CUdeviceptr x = buffer({1, 2, 3, 4});
  ptxsimResetCounters();
  ptxsimCollect(1);
  EXPECT_CUDA(launch(function("add"), 4, nullptr, x, 1u));
  ptxsimCollect(0);
  EXPECT_CUDA(launch(function("scale"), 4, nullptr, x, 1u));
  const std::string report = ptxsimReportJson();
  EXPECT_THAT(report, HasSubstr("\"kernel\": \"add\""));
  EXPECT_THAT(report, testing::Not(HasSubstr("scale")));
  EXPECT_THAT(report, HasSubstr("\"smsp__inst_executed.sum\": 9"));
  ptxsimResetCounters();
  EXPECT_THAT(ptxsimReportJson(), testing::Not(HasSubstr("add")));
}

TEST_F(Launch, FromManyThreads) {
  CUdeviceptr x = buffer(std::vector<uint32_t>(4 * 32));
  CUfunction add = function("add");
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      EXPECT_CUDA(cuCtxSetCurrent(context));
      CUstream stream;
      EXPECT_CUDA(cuStreamCreate(&stream, 1));
      for (int i = 0; i < 25; ++i) {
        CUdeviceptr other = buffer({1, 2, 3});
        EXPECT_CUDA(launch(add, 32, stream, x + CUdeviceptr(t) * 128, 1u));
        EXPECT_CUDA(cuMemFree_v2(other));
      }
      EXPECT_CUDA(cuStreamSynchronize(stream));
      EXPECT_CUDA(cuStreamDestroy_v2(stream));
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(read(x, 4 * 32), std::vector<uint32_t>(4 * 32, 25));
}
} // namespace
