// What nvcc's start-up code and its launches call.

#include "test/Unit/ptxsim_nvcc/cudart/State.h"

#include <utility>

namespace cudart {

State &state() {
  static State *all = new State;
  return *all;
}

namespace {
thread_local cudaError_t lastError = cudaSuccess;

CUresult moduleOf(Image &image) {
  return image.module ? CUDA_SUCCESS
                      : cuModuleLoadFatBinary(&image.module, image.fatBinary);
}

struct Configuration {
  dim3 grid, block;
  size_t shared;
  void *stream;
};
thread_local std::vector<Configuration> configurations;
} // namespace

cudaError_t remember(cudaError_t code) {
  if (code != cudaSuccess)
    lastError = code;
  return code;
}

CUresult initialise() {
  State &s = state();
  std::lock_guard lock(s.mutex);
  if (s.context)
    return cuCtxSetCurrent(s.context);
  if (CUresult code = cuInit(0))
    return code;
  if (CUresult code = cuDevicePrimaryCtxRetain(&s.context, 0))
    return code;
  cuCtxSetCurrent(s.context);
  // Managed variables are pointers that the host reads.
  for (auto &[pointer, symbol] : s.managed) {
    CUdeviceptr address = 0;
    if (CUresult code = moduleOf(*symbol.image))
      return code;
    if (CUresult code = cuModuleGetGlobal(
            &address, nullptr, symbol.image->module, symbol.name.c_str()))
      return code;
    *pointer = reinterpret_cast<void *>(address);
  }
  return CUDA_SUCCESS;
}

CUresult reset() {
  State &s = state();
  std::lock_guard lock(s.mutex);
  for (Image *image : s.images)
    image->module = nullptr;
  s.loaded.clear();
  s.context = nullptr;
  return cuDevicePrimaryCtxReset(0);
}

CUresult functionOf(const void *host, CUfunction &out) {
  State &s = state();
  std::lock_guard lock(s.mutex);
  auto found = s.loaded.find(host);
  if (found != s.loaded.end()) {
    out = found->second;
    return CUDA_SUCCESS;
  }
  auto symbol = s.functions.find(host);
  if (symbol == s.functions.end())
    return static_cast<CUresult>(cudaErrorInvalidDeviceFunction);
  if (CUresult code = moduleOf(*symbol->second.image))
    return code;
  CUresult code = cuModuleGetFunction(&out, symbol->second.image->module,
                                      symbol->second.name.c_str());
  if (code == CUDA_SUCCESS)
    s.loaded[host] = out;
  return code == CUDA_ERROR_NOT_FOUND
             ? static_cast<CUresult>(cudaErrorInvalidDeviceFunction)
             : code;
}

CUresult variableOf(const void *host, CUdeviceptr &out, size_t &bytes) {
  State &s = state();
  std::lock_guard lock(s.mutex);
  auto symbol = s.variables.find(host);
  if (symbol == s.variables.end())
    return static_cast<CUresult>(cudaErrorInvalidSymbol);
  if (CUresult code = moduleOf(*symbol->second.image))
    return code;
  return cuModuleGetGlobal(&out, &bytes, symbol->second.image->module,
                           symbol->second.name.c_str());
}

} // namespace cudart

using namespace cudart;

extern "C" {

void **__cudaRegisterFatBinary(void *fatCubin) {
  auto *image = new Image{fatCubin, nullptr};
  state().images.push_back(image);
  return reinterpret_cast<void **>(image);
}

void __cudaRegisterFatBinaryEnd(void **) {}
/// At the end of the process, when nothing is left to do.
void __cudaUnregisterFatBinary(void **) {}
char __cudaInitModule(void **) { return 1; }

void __cudaRegisterFunction(void **handle, const char *hostFun, char *,
                            const char *deviceName, int, uint3 *, uint3 *,
                            dim3 *, dim3 *, int *) {
  state().functions[hostFun] = {reinterpret_cast<Image *>(handle), deviceName};
}

void __cudaRegisterVar(void **handle, char *hostVar, char *,
                       const char *deviceName, int, size_t, int, int) {
  state().variables[hostVar] = {reinterpret_cast<Image *>(handle), deviceName};
}

void __cudaRegisterManagedVar(void **handle, void **hostVarPtrAddress, char *,
                              const char *deviceName, int, size_t, int, int) {
  state().managed[hostVarPtrAddress] = {reinterpret_cast<Image *>(handle),
                                        deviceName};
}

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared,
                                     cudaStream_t stream) {
  configurations.push_back({grid, block, shared, stream});
  return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared,
                                       void *stream) {
  if (configurations.empty())
    return remember(cudaErrorMissingConfiguration);
  const Configuration c = configurations.back();
  configurations.pop_back();
  *grid = c.grid, *block = c.block, *shared = c.shared;
  *static_cast<void **>(stream) = c.stream;
  return cudaSuccess;
}

cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *host) {
  // The start-up code asks for it while the program may not have got so far as
  // to use a GPU: the launch looks it up.
  *kernel = static_cast<cudaKernel_t>(const_cast<void *>(host));
  return cudaSuccess;
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block,
                               void **args, size_t shared,
                               cudaStream_t stream) {
  return cudaLaunchKernel(kernel, grid, block, args, shared, stream);
}

cudaError_t cudaGetLastError() { return std::exchange(lastError, cudaSuccess); }

cudaError_t cudaPeekAtLastError() { return lastError; }

} // extern "C"
