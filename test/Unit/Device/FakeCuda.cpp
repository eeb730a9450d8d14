//===- FakeCuda.cpp - A libcuda.so.1 without a GPU ------------------------===//
//
// Exports the functions of the CUDA driver API that the runtime looks up, over
// host memory; a launch is recorded as the driver would see it. Structures are
// written down here once more, from the driver API's documentation; only the
// name of the runtime's own is known, for UBSan compares the types of functions
// that are called through pointers.
//
//===----------------------------------------------------------------------===//
#include "FakeCuda.h"

#include <cstdlib>
#include <cstring>

namespace k2rt::cuda {
struct LaunchConfigEx;
}

namespace {
FakeCudaState state;

struct CUlaunchAttribute {
  int id;
  char pad[4];
  union {
    char bytes[64];
    unsigned clusterDim[3];
    int programmaticStreamSerializationAllowed;
  } value;
};
struct CUlaunchConfig {
  unsigned gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ;
  unsigned sharedMemBytes;
  void *hStream;
  CUlaunchAttribute *attrs;
  unsigned numAttrs;
};

int fail(int code) { return code; }
} // namespace

#define FAKE extern "C" __attribute__((visibility("default"))) int

extern "C" __attribute__((visibility("default")))
FakeCudaState *fakeCudaState() {
  return &state;
}

FAKE cuInit(unsigned flags) { return flags == 0 ? 0 : fail(1); }
FAKE cuDriverGetVersion(int *version) {
  *version = 13000;
  return 0;
}
FAKE cuDeviceGetCount(int *count) {
  *count = state.devices;
  return state.devices ? 0 : fail(100);
}
FAKE cuDeviceGet(int *device, int ordinal) {
  *device = 40 + ordinal;
  return 0;
}
FAKE cuDeviceGetName(char *name, int size, int device) {
  std::strncpy(name, device == 40 ? "Fake H200" : "wrong device",
               static_cast<size_t>(size));
  return 0;
}
FAKE cuDeviceGetAttribute(int *value, int attribute, int) {
  *value = attribute == 75 ? 9 : attribute == 76 ? 0 : -1;
  return 0;
}
FAKE cuDevicePrimaryCtxRetain(void **context, int device) {
  *context = &state;
  state.retained += device == 40;
  return 0;
}
FAKE cuDevicePrimaryCtxRelease_v2(int device) {
  state.retained -= device == 40;
  return 0;
}
FAKE cuCtxSetCurrent(void *context) {
  return context == &state ? 0 : fail(201);
}
FAKE cuCtxSynchronize() { return 0; }
FAKE cuGetErrorName(int code, const char **name) {
  *name = code == 2     ? "CUDA_ERROR_OUT_OF_MEMORY"
          : code == 100 ? "CUDA_ERROR_NO_DEVICE"
          : code == 218 ? "CUDA_ERROR_INVALID_PTX"
          : code == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS"
                        : nullptr;
  return *name ? 0 : 1;
}
FAKE cuGetErrorString(int code, const char **text) {
  *text = code == 218 ? "a PTX JIT compilation failed" : "a text";
  return 0;
}
FAKE cuMemAlloc_v2(unsigned long long *out, size_t bytes) {
  if (bytes > 1 << 20)
    return fail(2);
  *out = reinterpret_cast<unsigned long long>(std::malloc(bytes));
  ++state.allocations;
  return 0;
}
FAKE cuMemFree_v2(unsigned long long pointer) {
  std::free(reinterpret_cast<void *>(pointer));
  --state.allocations;
  return 0;
}
FAKE cuMemGetInfo_v2(size_t *free, size_t *total) {
  *free = 1, *total = 2;
  return 0;
}
FAKE cuMemcpyHtoD_v2(unsigned long long to, const void *from, size_t n) {
  std::memcpy(reinterpret_cast<void *>(to), from, n);
  return 0;
}
FAKE cuMemcpyDtoH_v2(void *to, unsigned long long from, size_t n) {
  std::memcpy(to, reinterpret_cast<void *>(from), n);
  return 0;
}
FAKE cuMemcpyHtoDAsync_v2(unsigned long long to, const void *from, size_t n,
                          void *) {
  return cuMemcpyHtoD_v2(to, from, n);
}
FAKE cuMemcpyDtoHAsync_v2(void *to, unsigned long long from, size_t n, void *) {
  return cuMemcpyDtoH_v2(to, from, n);
}
FAKE cuMemcpyDtoDAsync_v2(unsigned long long to, unsigned long long from,
                          size_t n, void *) {
  return cuMemcpyHtoD_v2(to, reinterpret_cast<void *>(from), n);
}
FAKE cuMemsetD8Async(unsigned long long to, unsigned char value, size_t n,
                     void *) {
  std::memset(reinterpret_cast<void *>(to), value, n);
  return 0;
}
FAKE cuModuleLoadDataEx(void **module, const void *image, unsigned count,
                        int *options, void **values) {
  std::string text = static_cast<const char *>(image);
  if (text.find("nonsense") != std::string::npos) {
    // 5 and 6: error log buffer and its size.
    if (count == 2 && options[0] == 5 && options[1] == 6 &&
        reinterpret_cast<size_t>(values[1]) > 32)
      std::strcpy(static_cast<char *>(values[0]), "line 3: what is nonsense?");
    return fail(218);
  }
  state.modules.push_back(text);
  *module = &state.modules.back();
  return 0;
}
FAKE cuModuleUnload(void *) { return 0; }
FAKE cuModuleGetFunction(void **function, void *module, const char *name) {
  *function = module;
  return std::strcmp(name, "missing") ? 0 : fail(500);
}
FAKE cuFuncSetAttribute(void *, int attribute, int value) {
  return attribute == 8 && value <= 232448 ? 0 : fail(1);
}
FAKE cuFuncGetParamInfo(void *, size_t index, size_t *offset, size_t *size) {
  // A pointer and an int.
  if (index > 1)
    return fail(1);
  *offset = index * 8;
  *size = index ? 4 : 8;
  return 0;
}
FAKE cuLaunchKernelEx(const k2rt::cuda::LaunchConfigEx *given, void *,
                      void **params, void **) {
  auto *config = reinterpret_cast<const CUlaunchConfig *>(given);
  if (config->gridDimX == 13)
    return fail(700);
  FakeCudaState::Launch launch{};
  unsigned dims[] = {config->gridDimX,  config->gridDimY,  config->gridDimZ,
                     config->blockDimX, config->blockDimY, config->blockDimZ};
  std::memcpy(launch.dims, dims, sizeof(dims));
  launch.sharedBytes = config->sharedMemBytes;
  launch.stream = config->hStream;
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    const CUlaunchAttribute &a = config->attrs[i];
    if (a.id == 4)
      std::memcpy(launch.cluster, a.value.clusterDim, sizeof(launch.cluster));
    if (a.id == 6)
      launch.programmatic = a.value.programmaticStreamSerializationAllowed;
  }
  launch.pointer = *static_cast<unsigned long long *>(params[0]);
  launch.number = *static_cast<int *>(params[1]);
  state.launches.push_back(launch);
  return 0;
}
FAKE cuStreamCreate(void **stream, unsigned) {
  *stream = &state.launches;
  return 0;
}
FAKE cuStreamDestroy_v2(void *) { return 0; }
FAKE cuStreamSynchronize(void *) { return 0; }
FAKE cuStreamBeginCapture_v2(void *, int) { return 0; }
FAKE cuStreamEndCapture(void *, void **graph) {
  *graph = nullptr;
  return 0;
}
FAKE cuEventCreate(void **event, unsigned) {
  *event = nullptr;
  return 0;
}
FAKE cuEventDestroy_v2(void *) { return 0; }
FAKE cuEventRecord(void *, void *) { return 0; }
FAKE cuEventSynchronize(void *) { return 0; }
FAKE cuEventElapsedTime(float *ms, void *, void *) {
  *ms = 1.5f;
  return 0;
}
FAKE cuGraphInstantiateWithFlags(void **exec, void *, unsigned long long) {
  *exec = nullptr;
  return 0;
}
FAKE cuGraphLaunch(void *, void *) { return 0; }
FAKE cuGraphExecDestroy(void *) { return 0; }
FAKE cuGraphDestroy(void *) { return 0; }
