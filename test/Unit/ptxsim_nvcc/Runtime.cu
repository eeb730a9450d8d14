// The runtime's API as programs use it: streams, events, graphs, variables,
// errors.

#include "Device.cuh"

#include <cassert>
#include <cstdio>
#include <utility>

namespace {
__constant__ uint32_t weights[4];
__device__ uint32_t counter = 5;
__device__ __managed__ uint32_t shared = 30;

__global__ void add(uint32_t *x, uint32_t value) {
  x[blockIdx.x * blockDim.x + threadIdx.x] += value;
}
__global__ void weigh(uint32_t *x) {
  x[threadIdx.x] *= weights[threadIdx.x % 4];
  if (threadIdx.x == 0) {
    atomicAdd(&counter, 2u);
    shared += 12;
  }
}
__global__ void dynamic(uint32_t *x) {
  extern __shared__ uint32_t s[];
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  x[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}
__global__ void wild(uint32_t *x, int i) { x[i] = 1; }
__global__ void doubts(uint32_t *x, bool trap) {
  if (trap)
    __trap();
  assert(x[0] == threadIdx.x / 33);
}
__global__ void hello(float f) {
  printf("%d.%u %s %.2f\n", int(blockIdx.x), threadIdx.x, "hello", f);
}
} // namespace

std::string corpus::streamsAndGraphs() {
  return guarded([] {
    Buffer<uint32_t> x(std::vector<uint32_t>(64, 1));
    cudaStream_t a, b;
    cudaEvent_t fork, join, begin, end;
    check(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
    check(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    for (cudaEvent_t *e : {&fork, &join, &begin, &end})
      check(cudaEventCreate(e));
    check(cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal));
    add<<<1, 32, 0, a>>>(x.get(), 10);
    check(cudaEventRecord(fork, a));
    check(cudaStreamWaitEvent(b, fork, 0));
    add<<<1, 32, 0, b>>>(x.get() + 32, 100);
    add<<<1, 32, 0, a>>>(x.get(), 1000);
    check(cudaEventRecord(join, b));
    check(cudaStreamWaitEvent(a, join, 0));
    add<<<2, 32, 0, a>>>(x.get(), 10000);
    cudaGraph_t graph;
    check(cudaStreamEndCapture(a, &graph));
    cudaGraphExec_t exec;
    check(cudaGraphInstantiate(&exec, graph, 0));
    check(cudaEventRecord(begin, a));
    for (int i = 0; i < 3; ++i)
      check(cudaGraphLaunch(exec, a));
    check(cudaEventRecord(end, a));
    check(cudaStreamSynchronize(a));
    float ms = -1;
    check(cudaEventElapsedTime(&ms, begin, end));
    if (!(ms > 0))
      return std::string("expected a positive time");
    std::vector<uint32_t> expected(64, 1 + 3 * 11010);
    for (size_t i = 32; i < 64; ++i)
      expected[i] = 1 + 3 * 10100;
    return differ("element", x.read(), expected);
  });
}

std::string corpus::variables() {
  return guarded([] {
    const uint32_t values[4] = {1, 10, 100, 1000};
    check(cudaMemcpyToSymbol(weights, values, sizeof values));
    Buffer<uint32_t> x(std::vector<uint32_t>(8, 3));
    // What the module sets them to, and the host in later calls.
    static bool fresh = true;
    const uint32_t five = 5;
    if (!std::exchange(fresh, false)) {
      check(cudaMemcpyToSymbol(counter, &five, sizeof five));
      shared = 30;
    }
    const uint32_t before = shared;
    weigh<<<1, 8>>>(x.get());
    check(cudaDeviceSynchronize());
    uint32_t count = 0;
    check(cudaMemcpyFromSymbol(&count, counter, sizeof count));
    if (count != 7 || before != 30 || shared != 42)
      return "expected 7, 30, 42, but got " + std::to_string(count) + ", " +
             std::to_string(before) + ", " + std::to_string(shared);
    std::string difference =
        differ("weighed", x.read(),
               std::vector<uint32_t>{3, 30, 300, 3000, 3, 30, 300, 3000});
    // More dynamic shared memory than a launch gets without asking.
    Buffer<uint32_t> y(4);
    check(cudaFuncSetAttribute(
        dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 49152));
    dynamic<<<1, 4, 100000>>>(y.get());
    if (cudaGetLastError() != cudaErrorInvalidValue)
      return std::string("100000 bytes of shared memory were not refused");
    check(cudaFuncSetAttribute(
        dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000));
    dynamic<<<1, 4, 100000>>>(y.get());
    check(cudaGetLastError());
    return difference + differ("reversed", y.read(),
                               std::vector<uint32_t>{3, 2, 1, 0});
  });
}

std::string corpus::output() {
  return guarded([] {
    hello<<<2, 3>>>(2.5f);
    check(cudaDeviceSynchronize());
    fflush(stdout);
    return std::string();
  });
}

std::string corpus::faults() {
  try {
    auto expect = [](cudaError_t want) -> std::string {
      const cudaError_t got = cudaDeviceSynchronize();
      uint32_t *p = nullptr;
      // Like every later call, until the device is reset.
      const cudaError_t later = cudaMalloc(reinterpret_cast<void **>(&p), 4);
      check(cudaDeviceReset());
      cudaGetLastError();
      return got == want && later == want
                 ? std::string()
                 : std::string("expected ") + cudaGetErrorName(want) +
                       ", but got " + cudaGetErrorName(got) + " and " +
                       cudaGetErrorName(later) + "; ";
    };
    std::string difference;
    uint32_t *x = nullptr;
    auto fresh = [&] {
      check(cudaMalloc(reinterpret_cast<void **>(&x), 16));
      check(cudaMemset(x, 0, 16));
    };
    fresh(), wild<<<1, 1>>>(x, 1 << 20);
    difference += expect(cudaErrorIllegalAddress);
    fresh(), wild<<<1, 1>>>(reinterpret_cast<uint32_t *>(2), 0);
    difference += expect(cudaErrorMisalignedAddress);
    fresh(), doubts<<<1, 40>>>(x, false);
    difference += expect(cudaErrorAssert);
    fresh(), doubts<<<1, 40>>>(x, true);
    difference += expect(cudaErrorLaunchFailure);
    // A device that was reset is as good as new.
    fresh(), add<<<1, 4>>>(x, 3);
    uint32_t y[4] = {};
    check(cudaMemcpy(y, x, 16, cudaMemcpyDeviceToHost));
    if (y[3] != 3)
      difference += "expected 3 after the reset";
    return difference;
  } catch (const std::exception &e) {
    return e.what();
  }
}

void corpus::reset() {
  cudaDeviceReset();
  cudaGetLastError();
}
