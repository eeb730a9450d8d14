// What programs may not do gives CUDA's code, and never a crash: contexts that
// do not match, handles that are gone, launches of impossible sizes, captures
// that are pulled away, memory that is used up.

#include "test/Unit/ptxsim_driver/Context.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <thread>

using namespace ptxsim::cuda;
using namespace ptxsim::cuda::test;
using testing::HasSubstr;

namespace {

class BadUse : public InContext {
protected:
  CUstream stream() {
    CUstream s = nullptr;
    EXPECT_CUDA(cuStreamCreate(&s, 1));
    return s;
  }
  CUevent event() {
    CUevent e = nullptr;
    EXPECT_CUDA(cuEventCreate(&e, 0));
    return e;
  }
  /// Another context; it is current afterwards.
  CUcontext other() {
    CUcontext c = nullptr;
    EXPECT_CUDA(cuCtxCreate_v2(&c, 0, 0));
    return c;
  }
};

// --- contexts ---

TEST_F(BadUse, HandlesOfAnotherContext) {
  CUfunction add = function("add");
  CUdeviceptr x = buffer({1, 2, 3, 4});
  CUstream s = stream();
  CUevent e = event(), later = event();
  EXPECT_CUDA(cuEventRecord(e, s));
  CUcontext second = other();
  CUdeviceptr y = buffer({5});
  CUevent own = event();
  EXPECT_CUDA(cuEventRecord(own, nullptr));
  // Kernel, stream and context of a launch must be the same's.
  EXPECT_EQ(launch(add, 1, nullptr, y, 1u), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(launch(add, 1, s, x, 1u), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuEventRecord(own, s), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuEventRecord(later, nullptr), CUDA_ERROR_INVALID_HANDLE);
  float ms;
  EXPECT_EQ(cuEventElapsedTime_v2(&ms, e, own), CUDA_ERROR_INVALID_HANDLE);
  // Each context has memory of its own here.
  EXPECT_EQ(cuMemFree_v2(x), CUDA_ERROR_INVALID_VALUE);
  // Waits and copies may cross.
  EXPECT_CUDA(cuStreamWaitEvent(nullptr, e, 0));
  EXPECT_CUDA(cuEventSynchronize(e));
  uint32_t value = 9;
  EXPECT_CUDA(cuMemcpyHtoDAsync_v2(x, &value, 4, s));
  EXPECT_CUDA(cuCtxSetCurrent(context));
  EXPECT_EQ(read(x, 2), (std::vector<uint32_t>{9, 2}));
  EXPECT_CUDA(cuCtxDestroy_v2(second));
  EXPECT_EQ(cuEventQuery(own), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(BadUse, NoContextOrOneThatIsGone) {
  CUfunction add = function("add");
  CUcontext second = other();
  std::thread([&] {
    EXPECT_EQ(launch(add, 1, nullptr, CUdeviceptr(0), 1u),
              CUDA_ERROR_INVALID_CONTEXT);
    EXPECT_EQ(cuCtxPopCurrent_v2(nullptr), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT_CUDA(cuCtxSetCurrent(second));
    EXPECT_CUDA(cuCtxDestroy_v2(second));
    EXPECT_EQ(cuCtxSetCurrent(second), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT_EQ(cuCtxDestroy_v2(second), CUDA_ERROR_INVALID_CONTEXT);
  }).join();
  // It was this thread's.
  CUdeviceptr p = 0;
  EXPECT_EQ(cuMemAlloc_v2(&p, 4), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  EXPECT_CUDA(cuCtxPopCurrent_v2(nullptr));
  EXPECT_CUDA(cuMemAlloc_v2(&p, 4));
}

TEST_F(BadUse, ManyContexts) {
  // Each takes a part of the addresses and leaves at least as much.
  std::vector<CUcontext> all;
  for (int i = 0; i < 40; ++i)
    all.push_back(other());
  EXPECT_NE(read(buffer({7}), 1), std::vector<uint32_t>());
  // The host gets memory as before.
  void *volatile block = std::malloc(size_t(1) << 32);
  EXPECT_NE(block, nullptr);
  std::free(block);
  for (CUcontext c : all)
    EXPECT_CUDA(cuCtxDestroy_v2(c));
  EXPECT_CUDA(cuCtxSetCurrent(context));
}

TEST_F(BadUse, AContextGoesWhileOthersLaunch) {
  for (int round = 0; round < 20; ++round) {
    CUcontext second = other();
    CUmodule loaded = nullptr;
    CUfunction f = nullptr;
    EXPECT_CUDA(cuModuleLoadData(&loaded, kernels.c_str()));
    EXPECT_CUDA(cuModuleGetFunction(&f, loaded, "add"));
    CUdeviceptr x = buffer(std::vector<uint32_t>(32));
    std::atomic<int> launched = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 2; ++t)
      threads.emplace_back([&] {
        CUresult code = cuCtxSetCurrent(second);
        while (code == CUDA_SUCCESS) {
          code = launch(f, 32, nullptr, x, 1u);
          ++launched;
        }
        EXPECT_TRUE(code == CUDA_ERROR_CONTEXT_IS_DESTROYED ||
                    code == CUDA_ERROR_INVALID_CONTEXT)
            << code;
      });
    while (launched < 3)
      std::this_thread::yield();
    EXPECT_CUDA(cuCtxDestroy_v2(second));
    for (std::thread &t : threads)
      t.join();
  }
}

// --- modules ---

TEST_F(BadUse, FunctionsOfAModuleThatIsGone) {
  CUfunction add = function("add");
  CUdeviceptr x = buffer({1}), table = 0;
  size_t bytes = 0;
  EXPECT_CUDA(cuModuleGetGlobal_v2(&table, &bytes, module, "table"));
  CUgraph graph = nullptr;
  CUgraphNode node = nullptr;
  CUgraphExec exec = nullptr;
  EXPECT_CUDA(cuGraphCreate(&graph, 0));
  uint32_t value = 1;
  void *values[] = {&x, &value};
  CUDA_KERNEL_NODE_PARAMS p{add, 1, 1,      1,       1,       1,
                            1,   0, values, nullptr, nullptr, nullptr};
  EXPECT_CUDA(cuGraphAddKernelNode_v2(&node, graph, nullptr, 0, &p));
  EXPECT_CUDA(cuGraphInstantiateWithFlags(&exec, graph, 0));
  EXPECT_CUDA(cuGraphLaunch(exec, nullptr));
  EXPECT_CUDA(cuModuleUnload(module));
  EXPECT_EQ(launch(add, 1, nullptr, x, 1u), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuGraphLaunch(exec, nullptr), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuGraphKernelNodeGetParams_v2(node, &p), CUDA_ERROR_INVALID_VALUE);
  int number = 0;
  EXPECT_EQ(cuFuncGetAttribute(&number, CU_FUNC_ATTRIBUTE_NUM_REGS, add),
            CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuOccupancyMaxActiveBlocksPerMultiprocessor(&number, add, 32, 0),
            CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuModuleGetFunction(&add, module, "add"),
            CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuModuleUnload(module), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CUDA(cuGraphExecDestroy(exec));
  EXPECT_CUDA(cuGraphDestroy(graph));
  EXPECT_EQ(cuGraphDestroyNode(node), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(read(x, 1), std::vector<uint32_t>{2});
}

TEST_F(BadUse, TheModuleOfALibraryStays) {
  CUlibrary library = nullptr;
  CUmodule loaded = nullptr;
  CUkernel kernel = nullptr;
  EXPECT_CUDA(cuLibraryLoadData(&library, kernels.c_str(), nullptr, nullptr, 0,
                                nullptr, nullptr, 0));
  EXPECT_CUDA(cuLibraryGetModule(&loaded, library));
  EXPECT_EQ(cuModuleUnload(loaded), CUDA_ERROR_NOT_PERMITTED);
  EXPECT_CUDA(cuLibraryGetKernel(&kernel, library, "add"));
  EXPECT_CUDA(cuLibraryUnload(library));
  EXPECT_EQ(cuLibraryGetKernel(&kernel, library, "add"),
            CUDA_ERROR_INVALID_HANDLE);
  CUfunction f = nullptr;
  EXPECT_EQ(cuKernelGetFunction(&f, kernel), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(BadUse, DamagedFatBinaries) {
  // The head of a container of 1000 bytes, then the head of an image.
  alignas(8) unsigned char image[1024] = {};
  auto put = [&](size_t at, auto value) {
    std::memcpy(image + at, &value, sizeof value);
  };
  auto loadIt = [&] {
    CUmodule loaded = nullptr;
    return cuModuleLoadData(&loaded, image);
  };
  put(0, uint32_t(0xba55ed50)), put(6, uint16_t(16)), put(8, uint64_t(1000));
  // An image of no bytes would be followed by itself.
  EXPECT_EQ(loadIt(), CUDA_ERROR_NO_BINARY_FOR_GPU);
  EXPECT_THAT(ptxsimLastError(), HasSubstr("images do not fill"));
  put(16, uint16_t(1)), put(20, uint32_t(64)), put(24, ~uint64_t(0));
  EXPECT_EQ(loadIt(), CUDA_ERROR_NO_BINARY_FOR_GPU);
  put(20, ~uint32_t(0)), put(24, uint64_t(0));
  EXPECT_EQ(loadIt(), CUDA_ERROR_NO_BINARY_FOR_GPU);
}

// --- launches ---

TEST_F(BadUse, Sizes) {
  CUfunction add = function("add");
  CUdeviceptr x = buffer({1});
  uint32_t value = 1;
  void *values[] = {&x, &value};
  constexpr unsigned huge = ~0u;
  const unsigned sizes[][6] = {
      {0, 1, 1, 1, 1, 1},          {1, 0, 1, 1, 1, 1},
      {1, 1, 0, 1, 1, 1},          {1, 1, 1, 0, 1, 1},
      {1, 1, 1, 1, 0, 1},          {1, 1, 1, 1, 1, 0},
      {1, 1, 1, 1025, 1, 1},       {1, 1, 1, 1, 1, 65},
      {1, 1, 1, 32, 32, 2},        {1, 65536, 1, 1, 1, 1},
      {1, 1, 65536, 1, 1, 1},      {huge, 1, 1, 1, 1, 1},
      {1, 1, 1, huge, huge, huge}, {1, 1, 1, 65536, 65536, 65536}};
  for (const auto &s : sizes) {
    EXPECT_EQ(cuLaunchKernel(add, s[0], s[1], s[2], s[3], s[4], s[5], 0,
                             nullptr, values, nullptr),
              CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuLaunchCooperativeKernel(add, s[0], s[1], s[2], s[3], s[4], s[5],
                                        0, nullptr, values),
              CUDA_ERROR_INVALID_VALUE);
    // Not only when the graph is launched.
    CUDA_KERNEL_NODE_PARAMS p{add,  s[0], s[1],   s[2],    s[3],    s[4],
                              s[5], 0,    values, nullptr, nullptr, nullptr};
    CUgraph graph = nullptr;
    CUgraphNode node = nullptr;
    EXPECT_CUDA(cuGraphCreate(&graph, 0));
    EXPECT_EQ(cuGraphAddKernelNode_v2(&node, graph, nullptr, 0, &p),
              CUDA_ERROR_INVALID_VALUE);
    EXPECT_CUDA(cuGraphDestroy(graph));
  }
  CUlaunchAttribute attribute{};
  attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  CUlaunchConfig config{4, 1, 1, 1, 1, 1, 0, nullptr, &attribute, 1};
  for (unsigned n : {3u, 17u, 65536u, huge}) {
    attribute.value.clusterDim = {n, n, n};
    EXPECT_NE(cuLaunchKernelEx(&config, add, values, nullptr), CUDA_SUCCESS);
    int clusters = 0;
    EXPECT_EQ(cuOccupancyMaxActiveClusters(&clusters, add, &config),
              CUDA_ERROR_INVALID_CLUSTER_SIZE);
  }
  config.attrs = nullptr;
  EXPECT_CUDA(cuLaunchKernelEx(&config, add, values, nullptr));
  config.blockDimX = config.blockDimY = config.blockDimZ = 1u << 31;
  int clusters = 0;
  EXPECT_EQ(cuOccupancyMaxActiveClusters(&clusters, add, &config),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(BadUse, Parameters) {
  CUfunction add = function("add");
  CUdeviceptr x = buffer({1});
  uint32_t value = 1;
  auto with = [&](void **values, void **extra) {
    return cuLaunchKernel(add, 1, 1, 1, 1, 1, 1, 0, nullptr, values, extra);
  };
  void *values[] = {&x, &value}, *missing[] = {&x, nullptr};
  struct {
    CUdeviceptr x;
    uint32_t value;
  } packed{x, 1};
  size_t bytes = sizeof packed;
  void *end = nullptr, *buffer_ = reinterpret_cast<void *>(1),
       *size = reinterpret_cast<void *>(2),
       *unknown = reinterpret_cast<void *>(9);
  void *extra[] = {buffer_, &packed, size, &bytes, end};
  void *noSize[] = {buffer_, &packed, size, nullptr, end};
  void *onlySize[] = {size, &bytes, end}, *wrong[] = {unknown, &bytes, end};
  EXPECT_CUDA(with(values, nullptr));
  EXPECT_CUDA(with(nullptr, extra));
  EXPECT_EQ(with(values, extra), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(with(missing, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_THAT(ptxsimLastError(), HasSubstr("parameter 'value' is a null"));
  for (void **e : {static_cast<void **>(nullptr), noSize, onlySize, wrong})
    EXPECT_EQ(with(nullptr, e), CUDA_ERROR_INVALID_VALUE);
  bytes = 1;
  EXPECT_EQ(with(nullptr, extra), CUDA_ERROR_INVALID_VALUE);
  // An event that is gone.
  CUevent e = event();
  EXPECT_CUDA(cuEventDestroy_v2(e));
  CUlaunchAttribute attribute{};
  attribute.id = CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT;
  attribute.value.programmaticEvent.event = e;
  const CUlaunchConfig config{1, 1, 1, 1, 1, 1, 0, nullptr, &attribute, 1};
  EXPECT_EQ(cuLaunchKernelEx(&config, add, values, nullptr),
            CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(read(x, 1), std::vector<uint32_t>{3});
}

// --- functions that the driver calls ---

TEST_F(BadUse, HostFunctionsMayNotCallTheDriver) {
  CUresult seen[3] = {};
  EXPECT_CUDA(cuLaunchHostFunc(
      nullptr,
      [](void *data) {
        CUdeviceptr p = 0;
        auto *to = static_cast<CUresult *>(data);
        to[0] = cuMemAlloc_v2(&p, 4);
        to[1] = cuCtxSynchronize();
      },
      seen));
  EXPECT_CUDA(cuStreamAddCallback(
      nullptr,
      [](CUstream s, CUresult, void *data) {
        static_cast<CUresult *>(data)[2] = cuStreamSynchronize(s);
      },
      seen, 0));
  for (CUresult code : seen)
    EXPECT_EQ(code, CUDA_ERROR_NOT_PERMITTED);
  int grid = 0, block = 0;
  EXPECT_CUDA(cuOccupancyMaxPotentialBlockSize(
      &grid, &block, function("add"),
      [](int) -> size_t {
        EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_NOT_PERMITTED);
        return 0;
      },
      0, 0));
  EXPECT_EQ(block, 1024);
  EXPECT_CUDA(cuCtxSynchronize());
}

TEST_F(BadUse, AContextGoesDuringItsHostFunction) {
  CUcontext second = other();
  CUgraph graph = nullptr;
  CUgraphNode first = nullptr, then = nullptr;
  CUgraphExec exec = nullptr;
  EXPECT_CUDA(cuGraphCreate(&graph, 0));
  const CUDA_HOST_NODE_PARAMS host{
      [](void *c) {
        std::thread([c] {
          EXPECT_CUDA(cuCtxDestroy_v2(static_cast<CUcontext>(c)));
        }).join();
      },
      second};
  EXPECT_CUDA(cuGraphAddHostNode(&first, graph, nullptr, 0, &host));
  EXPECT_CUDA(cuGraphAddEmptyNode(&then, graph, &first, 1));
  EXPECT_CUDA(cuGraphInstantiateWithFlags(&exec, graph, 0));
  EXPECT_EQ(cuGraphLaunch(exec, nullptr), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  EXPECT_CUDA(cuCtxPopCurrent_v2(nullptr));
  EXPECT_CUDA(cuGraphExecDestroy(exec));
  EXPECT_CUDA(cuGraphDestroy(graph));
}

// --- captures ---

TEST_F(BadUse, TheGraphOfACaptureIsNotTheProgramsYet) {
  CUstream s = stream();
  CUdeviceptr x = buffer({1});
  EXPECT_CUDA(cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_RELAXED));
  EXPECT_CUDA(cuMemsetD32Async(x, 5, 1, s));
  CUstreamCaptureStatus status;
  CUgraph graph = nullptr;
  const CUgraphNode *last = nullptr;
  size_t count = 0;
  EXPECT_CUDA(
      cuStreamGetCaptureInfo_v2(s, &status, nullptr, &graph, &last, &count));
  ASSERT_EQ(count, 1u);
  CUgraphNode node = *last;
  EXPECT_EQ(cuGraphDestroy(graph), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphDestroyNode(node), CUDA_ERROR_INVALID_VALUE);
  // A circle.
  EXPECT_CUDA(cuGraphAddDependencies(graph, &node, &node, 1));
  EXPECT_CUDA(cuStreamEndCapture(s, &graph));
  CUgraphExec exec = nullptr;
  EXPECT_EQ(cuGraphInstantiateWithFlags(&exec, graph, 0),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphDestroy(graph));
}

TEST_F(BadUse, CapturesThatLoseTheirOrigin) {
  CUcontext second = other();
  CUstream origin = stream(), mine = nullptr;
  CUevent fork = event();
  EXPECT_CUDA(cuCtxSetCurrent(context));
  mine = stream();
  CUstream perThread = reinterpret_cast<CUstream>(2);
  for (bool whole : {false, true}) {
    EXPECT_CUDA(cuCtxSetCurrent(second));
    EXPECT_CUDA(
        cuStreamBeginCapture_v2(origin, CU_STREAM_CAPTURE_MODE_RELAXED));
    EXPECT_CUDA(cuEventRecord(fork, origin));
    EXPECT_CUDA(cuStreamWaitEvent(mine, fork, 0));
    EXPECT_CUDA(cuCtxSetCurrent(context));
    EXPECT_CUDA(cuStreamWaitEvent(perThread, fork, 0));
    EXPECT_CUDA(whole ? cuCtxDestroy_v2(second) : cuStreamDestroy_v2(origin));
    for (CUstream s : {mine, perThread}) {
      CUstreamCaptureStatus status;
      EXPECT_CUDA(cuStreamIsCapturing(s, &status));
      EXPECT_EQ(status, CU_STREAM_CAPTURE_STATUS_NONE);
      EXPECT_CUDA(cuMemsetD32Async(buffer({1}), 5, 1, s));
    }
    EXPECT_CUDA(cuCtxSetCurrent(whole ? context : second));
    if (!whole)
      origin = stream();
  }
}

TEST_F(BadUse, AStreamOfACaptureGoesWithItsContext) {
  CUstream origin = stream();
  CUevent fork = event();
  CUcontext second = other();
  CUstream joined = stream();
  EXPECT_CUDA(cuStreamBeginCapture_v2(origin, CU_STREAM_CAPTURE_MODE_RELAXED));
  EXPECT_CUDA(cuCtxSetCurrent(context));
  EXPECT_CUDA(cuEventRecord(fork, origin));
  EXPECT_CUDA(cuStreamWaitEvent(joined, fork, 0));
  EXPECT_CUDA(cuCtxDestroy_v2(second));
  CUgraph graph = nullptr;
  EXPECT_EQ(cuMemsetD32Async(buffer({1}), 5, 1, origin),
            CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(cuStreamEndCapture(origin, &graph),
            CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

TEST_F(BadUse, LongAndWideCaptures) {
  CUstream a = stream(), b = stream();
  CUevent fork = event(), join = event();
  CUdeviceptr x = buffer({1, 2});
  EXPECT_CUDA(cuStreamBeginCapture_v2(a, CU_STREAM_CAPTURE_MODE_RELAXED));
  EXPECT_CUDA(cuMemsetD32Async(x, 0, 1, a));
  EXPECT_CUDA(cuEventRecord(fork, a));
  EXPECT_CUDA(cuStreamWaitEvent(b, fork, 0));
  // 2^50 paths lead back, and they are 20,000 nodes long.
  for (int i = 0; i < 50; ++i) {
    EXPECT_CUDA(cuMemsetD32Async(x, 0, 1, a));
    EXPECT_CUDA(cuMemsetD32Async(x + 4, 0, 1, b));
    EXPECT_CUDA(cuEventRecord(fork, a));
    EXPECT_CUDA(cuEventRecord(join, b));
    EXPECT_CUDA(cuStreamWaitEvent(a, join, 0));
    EXPECT_CUDA(cuStreamWaitEvent(b, fork, 0));
  }
  for (unsigned i = 0; i < 20000; ++i)
    EXPECT_CUDA(cuMemsetD32Async(x, i, 1, a));
  EXPECT_CUDA(cuEventRecord(join, b));
  EXPECT_CUDA(cuStreamWaitEvent(a, join, 0));
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  EXPECT_CUDA(cuStreamEndCapture(a, &graph));
  EXPECT_CUDA(cuGraphInstantiateWithFlags(&exec, graph, 0));
  EXPECT_CUDA(cuGraphLaunch(exec, nullptr));
  EXPECT_EQ(read(x, 1), std::vector<uint32_t>{19999});
  EXPECT_CUDA(cuGraphExecDestroy(exec));
  EXPECT_CUDA(cuGraphDestroy(graph));
}

// --- memory ---

TEST_F(BadUse, AllOfTheMemory) {
  size_t room = 0, total = 0;
  EXPECT_CUDA(cuMemGetInfo_v2(&room, &total));
  const size_t piece = size_t(10) << 30;
  std::vector<CUdeviceptr> pieces;
  CUdeviceptr p = 0;
  CUresult code;
  while ((code = cuMemAlloc_v2(&p, piece)) == CUDA_SUCCESS)
    pieces.push_back(p);
  EXPECT_EQ(code, CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(pieces.size(), room / piece);
  void *host = nullptr;
  EXPECT_EQ(cuMemAllocManaged(&p, piece, 1), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(cuMemHostAlloc(&host, ~size_t(0), 0), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_CUDA(cuMemFree_v2(pieces.back()));
  EXPECT_CUDA(cuMemAlloc_v2(&pieces.back(), piece));
  // The last bytes of the last piece are there.
  EXPECT_CUDA(cuMemsetD8_v2(pieces.back() + piece - 8, 1, 8));
  for (CUdeviceptr piece_ : pieces)
    EXPECT_CUDA(cuMemFree_v2(piece_));
  size_t after = 0;
  EXPECT_CUDA(cuMemGetInfo_v2(&after, &total));
  EXPECT_EQ(after, room);
}

TEST_F(BadUse, SizesThatOverflow) {
  CUdeviceptr p = 0, x = buffer({1, 2});
  size_t pitch = 0;
  const size_t huge = size_t(1) << 33, all = ~size_t(0);
  EXPECT_EQ(cuMemAllocPitch_v2(&p, &pitch, huge, huge, 4),
            CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(cuMemAllocPitch_v2(&p, &pitch, all, 1, 4),
            CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(cuMemsetD8_v2(x, 0, all), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemsetD32_v2(x, 0, all / 4 + 3), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemsetD32_v2(x, 0, size_t(1) << 40), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemsetD2D32_v2(x, 8, 0, 2, all), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemsetD2D32_v2(x, 0, 0, 0, all));
  EXPECT_EQ(cuMemsetD2D32_v2(x, 0, 0, 1, all), CUDA_ERROR_INVALID_VALUE);
  uint32_t host[2];
  EXPECT_EQ(cuMemcpyDtoH_v2(host, x, all), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpyHtoD_v2(x + 4, host, all - 3), CUDA_ERROR_INVALID_VALUE);
  CUDA_MEMCPY3D copy{};
  copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = copy.dstDevice = x;
  copy.WidthInBytes = 4, copy.Height = 1, copy.Depth = all;
  EXPECT_EQ(cuMemcpy3D_v2(&copy), CUDA_ERROR_INVALID_VALUE);
  copy.srcPitch = copy.dstPitch = all, copy.Depth = 2;
  copy.srcHeight = copy.dstHeight = all;
  EXPECT_CUDA(cuMemcpy3D_v2(&copy)); // -1 times -1 bytes further on
  copy.Depth = 1, copy.dstMemoryType = CUmemorytype(77);
  EXPECT_EQ(cuMemcpy3D_v2(&copy), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(BadUse, MemoryThatIsGone) {
  CUdeviceptr x = buffer({1}), y = buffer({2});
  EXPECT_CUDA(cuMemFree_v2(x));
  // It is not the host's only because it is not the device's any more.
  uint32_t host = 5;
  EXPECT_EQ(cuMemcpyAsync(x, reinterpret_cast<CUdeviceptr>(&host), 4, nullptr),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpy(reinterpret_cast<CUdeviceptr>(&host), x, 4),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_THAT(ptxsimLastError(), HasSubstr("has been freed"));
  EXPECT_EQ(cuMemcpy(y, 0, 4), CUDA_ERROR_INVALID_VALUE);
  unsigned value = 0;
  EXPECT_EQ(cuPointerGetAttribute(&value, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, x),
            CUDA_ERROR_INVALID_VALUE);
  CUpointer_attribute which = CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
  void *nowhere[] = {nullptr};
  EXPECT_EQ(cuPointerGetAttributes(1, &which, nowhere, y),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(host, 5u);
  // Variables of modules are memory of the device, too.
  CUdeviceptr table = 0;
  EXPECT_CUDA(cuModuleGetGlobal_v2(&table, nullptr, module, "table"));
  EXPECT_CUDA(cuPointerGetAttribute(&value, which, table));
  EXPECT_EQ(value, unsigned(CU_MEMORYTYPE_DEVICE));
}

TEST_F(BadUse, TensorMapsMustBeAligned) {
  CUtensorMap maps[2];
  const CUdeviceptr x = buffer(std::vector<uint32_t>(64));
  const cuuint64_t dims[] = {64};
  const cuuint32_t box[] = {16}, step[] = {1};
  auto encode = [&](void *to) {
    return cuTensorMapEncodeTiled(
        static_cast<CUtensorMap *>(to), CUtensorMapDataType(2), 1,
        reinterpret_cast<void *>(x), dims, nullptr, box, step,
        CUtensorMapInterleave(0), CUtensorMapSwizzle(0),
        CUtensorMapL2promotion(0), CUtensorMapFloatOOBfill(0));
  };
  EXPECT_CUDA(encode(maps));
  EXPECT_EQ(encode(reinterpret_cast<char *>(maps) + 8),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(BadUse, LimitsAreRemembered) {
  size_t value = 0;
  EXPECT_CUDA(cuCtxSetLimit(CU_LIMIT_PRINTF_FIFO_SIZE, 4 << 20));
  EXPECT_CUDA(cuCtxGetLimit(&value, CU_LIMIT_PRINTF_FIFO_SIZE));
  EXPECT_EQ(value, size_t(4) << 20);
  EXPECT_EQ(cuCtxSetLimit(CUlimit(77), 1), CUDA_ERROR_UNSUPPORTED_LIMIT);
}

} // namespace
