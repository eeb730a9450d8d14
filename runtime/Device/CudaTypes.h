//===- CudaTypes.h - The part of the CUDA driver ABI in use -----*- C++ -*-===//
//
// Declared here so that neither a CUDA header nor libcuda is needed to build.
// The names and values are those of NVIDIA's cuda.h (driver API, 12.x).
//
//===----------------------------------------------------------------------===//
#ifndef RUNTIME_DEVICE_CUDATYPES_H
#define RUNTIME_DEVICE_CUDATYPES_H

#include <cstddef>
#include <cstdint>

namespace k2rt::cuda {

inline constexpr int kJitErrorLogBuffer = 5;
inline constexpr int kJitErrorLogBufferSize = 6;
inline constexpr int kFuncMaxDynamicSharedBytes = 8;
inline constexpr int kDeviceComputeMajor = 75;
inline constexpr int kDeviceComputeMinor = 76;
inline constexpr int kLaunchClusterDimension = 4;
inline constexpr int kLaunchProgrammaticSerialization = 6;

/// CUdeviceptr: not uint64_t, which is another type of the same size here.
using DevicePointer = unsigned long long;

struct LaunchAttribute {
  int id;
  char pad[4];
  union {
    char bytes[64];
    struct {
      uint32_t x, y, z;
    } cluster;
    int programmaticAllowed;
  } value;
};

struct LaunchConfigEx {
  uint32_t gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes;
  void *stream;
  LaunchAttribute *attributes;
  uint32_t attributeCount;
};

// our name of a function, its symbol in the library, its parameters
#define K2RT_CUDA_FUNCTIONS(X)                                                 \
  X(init, cuInit, (unsigned))                                                  \
  X(driverVersion, cuDriverGetVersion, (int *))                                \
  X(deviceCount, cuDeviceGetCount, (int *))                                    \
  X(deviceGet, cuDeviceGet, (int *, int))                                      \
  X(deviceName, cuDeviceGetName, (char *, int, int))                           \
  X(deviceAttribute, cuDeviceGetAttribute, (int *, int, int))                  \
  X(contextRetain, cuDevicePrimaryCtxRetain, (void **, int))                   \
  X(contextRelease, cuDevicePrimaryCtxRelease_v2, (int))                       \
  X(contextSetCurrent, cuCtxSetCurrent, (void *))                              \
  X(contextSynchronize, cuCtxSynchronize, ())                                  \
  X(errorName, cuGetErrorName, (int, const char **))                           \
  X(errorText, cuGetErrorString, (int, const char **))                         \
  X(memAlloc, cuMemAlloc_v2, (DevicePointer *, size_t))                        \
  X(memFree, cuMemFree_v2, (DevicePointer))                                    \
  X(memGetInfo, cuMemGetInfo_v2, (size_t *, size_t *))                         \
  X(copyHtoD, cuMemcpyHtoD_v2, (DevicePointer, const void *, size_t))          \
  X(copyDtoH, cuMemcpyDtoH_v2, (void *, DevicePointer, size_t))                \
  X(copyHtoDAsync, cuMemcpyHtoDAsync_v2,                                       \
    (DevicePointer, const void *, size_t, void *))                             \
  X(copyDtoHAsync, cuMemcpyDtoHAsync_v2,                                       \
    (void *, DevicePointer, size_t, void *))                                   \
  X(copyDtoDAsync, cuMemcpyDtoDAsync_v2,                                       \
    (DevicePointer, DevicePointer, size_t, void *))                            \
  X(memsetAsync, cuMemsetD8Async,                                              \
    (DevicePointer, unsigned char, size_t, void *))                            \
  X(moduleLoad, cuModuleLoadDataEx,                                            \
    (void **, const void *, unsigned, int *, void **))                         \
  X(moduleUnload, cuModuleUnload, (void *))                                    \
  X(moduleFunction, cuModuleGetFunction, (void **, void *, const char *))      \
  X(functionSet, cuFuncSetAttribute, (void *, int, int))                       \
  X(launch, cuLaunchKernelEx,                                                  \
    (const LaunchConfigEx *, void *, void **, void **))                        \
  X(streamCreate, cuStreamCreate, (void **, unsigned))                         \
  X(streamDestroy, cuStreamDestroy_v2, (void *))                               \
  X(streamSynchronize, cuStreamSynchronize, (void *))                          \
  X(streamBeginCapture, cuStreamBeginCapture_v2, (void *, int))                \
  X(streamEndCapture, cuStreamEndCapture, (void *, void **))                   \
  X(eventCreate, cuEventCreate, (void **, unsigned))                           \
  X(eventDestroy, cuEventDestroy_v2, (void *))                                 \
  X(eventRecord, cuEventRecord, (void *, void *))                              \
  X(eventSynchronize, cuEventSynchronize, (void *))                            \
  X(eventElapsed, cuEventElapsedTime, (float *, void *, void *))               \
  X(graphInstantiate, cuGraphInstantiateWithFlags,                             \
    (void **, void *, unsigned long long))                                     \
  X(graphLaunch, cuGraphLaunch, (void *, void *))                              \
  X(graphExecDestroy, cuGraphExecDestroy, (void *))                            \
  X(graphDestroy, cuGraphDestroy, (void *))

} // namespace k2rt::cuda

#endif // RUNTIME_DEVICE_CUDATYPES_H
