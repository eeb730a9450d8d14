// The runtime API's calls, each one or two of the driver's.

#include "test/Unit/ptxsim_nvcc/cudart/State.h"

#include <cstring>

using namespace cudart;

namespace {

CUdeviceptr device(const void *pointer) {
  return reinterpret_cast<CUdeviceptr>(pointer);
}

cudaError_t launch(const void *func, dim3 grid, dim3 block, void **args,
                   size_t shared, cudaStream_t stream,
                   CUlaunchAttribute *attributes, unsigned count) {
  return call([&] {
    CUfunction f;
    if (CUresult code = functionOf(func, f))
      return code;
    CUlaunchConfig config{};
    config.gridDimX = grid.x, config.gridDimY = grid.y;
    config.gridDimZ = grid.z;
    config.blockDimX = block.x, config.blockDimY = block.y;
    config.blockDimZ = block.z;
    config.sharedMemBytes = unsigned(shared);
    config.hStream = stream;
    config.attrs = attributes, config.numAttrs = count;
    return cuLaunchKernelEx(&config, f, args, nullptr);
  });
}

} // namespace

extern "C" {

// --- devices ---

cudaError_t cudaGetDeviceCount(int *count) {
  return call([&] { return cuDeviceGetCount(count); });
}

cudaError_t cudaGetDevice(int *ordinal) {
  *ordinal = 0;
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int ordinal) {
  return ordinal ? remember(cudaErrorInvalidDevice)
                 : call([] { return CUDA_SUCCESS; });
}

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attr, int) {
  return call([&] {
    return cuDeviceGetAttribute(value, static_cast<CUdevice_attribute>(attr),
                                0);
  });
}

cudaError_t cudaDeviceSynchronize() {
  return call([] { return cuCtxSynchronize(); });
}

cudaError_t cudaDeviceReset() { return remember(reset()); }

const char *cudaGetErrorString(cudaError_t error) {
  const char *text = nullptr;
  cuGetErrorString(static_cast<CUresult>(error), &text);
  return text ? text : "unrecognized error code";
}

const char *cudaGetErrorName(cudaError_t error) {
  const char *text = nullptr;
  cuGetErrorName(static_cast<CUresult>(error), &text);
  return text ? text : "unrecognized error code";
}

// --- memory ---

cudaError_t cudaMalloc(void **pointer, size_t bytes) {
  *pointer = nullptr;
  return bytes ? call([&] {
    return cuMemAlloc(reinterpret_cast<CUdeviceptr *>(pointer), bytes);
  })
               : cudaSuccess;
}

cudaError_t cudaMallocManaged(void **pointer, size_t bytes, unsigned flags) {
  return call([&] {
    return cuMemAllocManaged(reinterpret_cast<CUdeviceptr *>(pointer), bytes,
                             flags);
  });
}

cudaError_t cudaFree(void *pointer) {
  return call([&] { return cuMemFree(device(pointer)); });
}

cudaError_t cudaMallocHost(void **pointer, size_t bytes) {
  return call([&] { return cuMemAllocHost(pointer, bytes); });
}

cudaError_t cudaFreeHost(void *pointer) {
  return call([&] { return cuMemFreeHost(pointer); });
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes,
                            cudaMemcpyKind, cudaStream_t stream) {
  return call(
      [&] { return cuMemcpyAsync(device(to), device(from), bytes, stream); });
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes,
                       cudaMemcpyKind) {
  return call([&] { return cuMemcpy(device(to), device(from), bytes); });
}

cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes,
                            cudaStream_t stream) {
  return call([&] {
    return cuMemsetD8Async(device(to), static_cast<unsigned char>(value), bytes,
                           stream);
  });
}

cudaError_t cudaMemset(void *to, int value, size_t bytes) {
  return cudaMemsetAsync(to, value, bytes, nullptr);
}

cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *from,
                               size_t bytes, size_t offset, cudaMemcpyKind) {
  return call([&] {
    CUdeviceptr address;
    size_t size;
    if (CUresult code = variableOf(symbol, address, size))
      return code;
    return cuMemcpy(address + offset, device(from), bytes);
  });
}

cudaError_t cudaMemcpyFromSymbol(void *to, const void *symbol, size_t bytes,
                                 size_t offset, cudaMemcpyKind) {
  return call([&] {
    CUdeviceptr address;
    size_t size;
    if (CUresult code = variableOf(symbol, address, size))
      return code;
    return cuMemcpy(device(to), address + offset, bytes);
  });
}

cudaError_t cudaGetSymbolAddress(void **pointer, const void *symbol) {
  return call([&] {
    size_t size;
    return variableOf(symbol, *reinterpret_cast<CUdeviceptr *>(pointer), size);
  });
}

// --- functions and launches ---

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *out, const void *func) {
  return call([&] {
    CUfunction f;
    if (CUresult code = functionOf(func, f))
      return code;
    auto get = [&](CUfunction_attribute attribute) {
      int value = 0;
      cuFuncGetAttribute(&value, attribute, f);
      return value;
    };
    *out = {};
    out->sharedSizeBytes = size_t(get(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES));
    out->localSizeBytes = size_t(get(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES));
    out->maxThreadsPerBlock = get(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    out->numRegs = get(CU_FUNC_ATTRIBUTE_NUM_REGS);
    out->ptxVersion = get(CU_FUNC_ATTRIBUTE_PTX_VERSION);
    out->binaryVersion = get(CU_FUNC_ATTRIBUTE_BINARY_VERSION);
    out->maxDynamicSharedSizeBytes =
        get(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
    return CUDA_SUCCESS;
  });
}

cudaError_t cudaFuncSetAttribute(const void *func, cudaFuncAttribute attribute,
                                 int value) {
  return call([&] {
    CUfunction f;
    if (CUresult code = functionOf(func, f))
      return code;
    return cuFuncSetAttribute(f, static_cast<CUfunction_attribute>(attribute),
                              value);
  });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *blocks, const void *func, int threads, size_t shared, unsigned flags) {
  return call([&] {
    CUfunction f;
    if (CUresult code = functionOf(func, f))
      return code;
    return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        blocks, f, threads, shared, flags);
  });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks,
                                                          const void *func,
                                                          int threads,
                                                          size_t shared) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
      blocks, func, threads, shared, 0);
}

cudaError_t cudaLaunchKernel(const void *func, dim3 grid, dim3 block,
                             void **args, size_t shared, cudaStream_t stream) {
  return launch(func, grid, block, args, shared, stream, nullptr, 0);
}

cudaError_t cudaLaunchCooperativeKernel(const void *func, dim3 grid, dim3 block,
                                        void **args, size_t shared,
                                        cudaStream_t stream) {
  CUlaunchAttribute attribute{};
  attribute.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
  attribute.value.cooperative = 1;
  return launch(func, grid, block, args, shared, stream, &attribute, 1);
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config,
                                const void *func, void **args) {
  // The driver's attributes under other names.
  static_assert(sizeof(cudaLaunchAttribute) == sizeof(CUlaunchAttribute));
  return launch(func, config->gridDim, config->blockDim, args,
                config->dynamicSmemBytes, config->stream,
                reinterpret_cast<CUlaunchAttribute *>(config->attrs),
                config->numAttrs);
}

// --- streams, events, graphs ---

cudaError_t cudaStreamCreate(cudaStream_t *stream) {
  return call([&] { return cuStreamCreate(stream, 0); });
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags) {
  return call([&] { return cuStreamCreate(stream, flags); });
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return call([&] { return cuStreamDestroy(stream); });
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return call([&] { return cuStreamSynchronize(stream); });
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event,
                                unsigned flags) {
  return call([&] { return cuStreamWaitEvent(stream, event, flags); });
}
cudaError_t cudaEventCreate(cudaEvent_t *event) {
  return call([&] { return cuEventCreate(event, 0); });
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return call([&] { return cuEventRecord(event, stream); });
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return call([&] { return cuEventSynchronize(event); });
}
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to) {
  return call([&] { return cuEventElapsedTime(ms, from, to); });
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return call([&] { return cuEventDestroy(event); });
}
cudaError_t cudaStreamBeginCapture(cudaStream_t stream,
                                   cudaStreamCaptureMode mode) {
  return call([&] {
    return cuStreamBeginCapture(stream, static_cast<CUstreamCaptureMode>(mode));
  });
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph) {
  return call([&] { return cuStreamEndCapture(stream, graph); });
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph,
                                 unsigned long long flags) {
  return call([&] { return cuGraphInstantiate(exec, graph, flags); });
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  return call([&] { return cuGraphLaunch(exec, stream); });
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  return call([&] { return cuGraphExecDestroy(exec); });
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return call([&] { return cuGraphDestroy(graph); });
}

} // extern "C"
