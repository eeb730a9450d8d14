// Kernel launches: the driver's checks of a launch, parameters copied so that a
// captured launch can run later.

#include "runtime/ptxsim/driver/DeviceFacts.h"
#include "runtime/ptxsim/driver/Functions.h"
#include "runtime/ptxsim/driver/Graphs.h"

#include <cstring>
#include <fmt/format.h>

using namespace ptxsim;
using namespace ptxsim::cuda;

namespace {

/// CU_LAUNCH_PARAM_*: how `extra` gives all parameters as one buffer.
constexpr uintptr_t paramEnd = 0, paramBuffer = 1, paramBufferSize = 2;

struct Attributes {
  std::optional<Dim3> cluster;
  bool cooperative = false;
  CUevent completed = nullptr; ///< to be recorded
};

Attributes attributesOf(const CUlaunchConfig &config) {
  Attributes out;
  for (unsigned i = 0; i < config.numAttrs && config.attrs; ++i) {
    const CUlaunchAttribute &a = config.attrs[i];
    switch (a.id) {
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
      if (a.value.clusterDim.x || a.value.clusterDim.y || a.value.clusterDim.z)
        out.cluster = {a.value.clusterDim.x, a.value.clusterDim.y,
                       a.value.clusterDim.z};
      break;
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
      out.cooperative = a.value.cooperative != 0;
      break;
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
    case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
      out.completed = a.value.programmaticEvent.event;
      break;
    default:
      // Priorities, cache policies, early starts of the next kernel: legal to
      // ignore.
      break;
    }
  }
  return out;
}

CUresult copyParams(Driver &driver, const Kernel &kernel,
                    void *const *kernelParams, void *const *extra,
                    std::vector<std::byte> &out) {
  out.assign(kernel.paramBytes, std::byte(0));
  if (kernelParams && extra)
    return driver.fail(CUDA_ERROR_INVALID_VALUE,
                       fmt::format("kernel '{}': expected kernelParams or "
                                   "extra, but got both",
                                   kernel.name));
  if (kernelParams) {
    for (const Param &param : kernel.params) {
      const void *value = kernelParams[&param - kernel.params.data()];
      if (!value)
        return driver.fail(
            CUDA_ERROR_INVALID_VALUE,
            fmt::format("kernel '{}': parameter '{}' is a null pointer",
                        kernel.name, param.name));
      std::memcpy(out.data() + param.offset, value, param.size);
    }
    return CUDA_SUCCESS;
  }
  const void *buffer = nullptr;
  size_t bytes = 0;
  for (; extra && reinterpret_cast<uintptr_t>(extra[0]) != paramEnd; extra += 2)
    switch (reinterpret_cast<uintptr_t>(extra[0])) {
    case paramBuffer:
      buffer = extra[1];
      break;
    case paramBufferSize:
      if (!extra[1])
        return CUDA_ERROR_INVALID_VALUE;
      bytes = *static_cast<const size_t *>(extra[1]);
      break;
    default:
      return CUDA_ERROR_INVALID_VALUE;
    }
  if (bytes < kernel.paramBytes || (kernel.paramBytes && !buffer))
    return driver.fail(
        CUDA_ERROR_INVALID_VALUE,
        fmt::format("kernel '{}': expected {} bytes of parameters, but got {}",
                    kernel.name, kernel.paramBytes, buffer ? bytes : 0));
  if (kernel.paramBytes)
    std::memcpy(out.data(), buffer, kernel.paramBytes);
  return CUDA_SUCCESS;
}

CUresult checkLaunch(Driver &driver, const CUlaunchConfig &config,
                     const CUfunc_st &function, const KernelWork &work) {
  const uint64_t threads =
      uint64_t(config.blockDimX) * config.blockDimY * config.blockDimZ;
  const std::string &name = function.kernel->name;
  if (!threads || config.blockDimX > 1024 || config.blockDimY > 1024 ||
      config.blockDimZ > 64 || threads > uint64_t(threadsPerBlock))
    return driver.fail(
        CUDA_ERROR_INVALID_VALUE,
        fmt::format("kernel '{}': expected a block of 1 to {} threads, but got "
                    "({},{},{})",
                    name, threadsPerBlock, config.blockDimX, config.blockDimY,
                    config.blockDimZ));
  if (!config.gridDimX || !config.gridDimY || !config.gridDimZ ||
      config.gridDimX > 0x7fffffffu || config.gridDimY > 65535 ||
      config.gridDimZ > 65535)
    return driver.fail(
        CUDA_ERROR_INVALID_VALUE,
        fmt::format("kernel '{}': expected a grid of 1 to "
                    "(2147483647,65535,65535), but got ({},{},{})",
                    name, config.gridDimX, config.gridDimY, config.gridDimZ));
  if (config.sharedMemBytes > unsigned(function.maxDynamicShared))
    return driver.fail(
        CUDA_ERROR_INVALID_VALUE,
        fmt::format("kernel '{}': expected at most {} bytes of dynamic shared "
                    "memory (CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES), "
                    "but got {}",
                    name, function.maxDynamicShared, config.sharedMemBytes));
  if (!registersFit(function, int(threads)))
    return driver.fail(
        CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
        fmt::format("kernel '{}': expected at most {} threads with {} "
                    "registers each, but got {}",
                    name, maxThreads(function), registersOf(function),
                    threads));
  const Dim3 c = work.cluster.value_or(Dim3());
  const uint64_t size = uint64_t(c.x) * c.y * c.z;
  if (size > uint64_t(portableClusterSize) && !function.nonPortableCluster)
    return driver.fail(
        CUDA_ERROR_INVALID_CLUSTER_SIZE,
        fmt::format("kernel '{}': expected a cluster of at most {} CTAs "
                    "(CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED), "
                    "but got {}",
                    name, portableClusterSize, size));
  if (work.cooperative) {
    const uint64_t ctas =
        uint64_t(config.gridDimX) * config.gridDimY * config.gridDimZ;
    const uint64_t room =
        uint64_t(multiprocessors) *
        unsigned(blocksPerSm(function, int(threads), config.sharedMemBytes));
    if (ctas > room)
      return driver.fail(
          CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
          fmt::format("kernel '{}': expected at most {} CTAs, which are "
                      "resident together, but got {}",
                      name, room, ctas));
  }
  return CUDA_SUCCESS;
}

} // namespace

CUresult ptxsim::cuda::makeKernelWork(Driver &driver,
                                      const CUlaunchConfig &config,
                                      CUfunction function,
                                      void *const *kernelParams,
                                      void *const *extra, KernelWork &out) {
  if (!driver.functions.contains(function))
    return CUDA_ERROR_INVALID_HANDLE;
  const Attributes attributes = attributesOf(config);
  out.function = function;
  out.grid = {config.gridDimX, config.gridDimY, config.gridDimZ};
  out.block = {config.blockDimX, config.blockDimY, config.blockDimZ};
  out.shared = config.sharedMemBytes;
  out.cluster = attributes.cluster;
  out.cooperative = attributes.cooperative;
  if (CUresult code = checkLaunch(driver, config, *function, out))
    return code;
  return copyParams(driver, *function->kernel, kernelParams, extra, out.params);
}

CUresult ptxsim::cuda::cuLaunchKernelEx(const CUlaunchConfig *config,
                                        CUfunction f, void **kernelParams,
                                        void **extra) {
  return inContext([&](Driver &driver, CUctx_st &context) {
    if (!config)
      return CUDA_ERROR_INVALID_VALUE;
    const Attributes attributes = attributesOf(*config);
    CUstream stream = findStream(driver, context, config->hStream);
    // All that a launch names is of the current context.
    if (!driver.functions.contains(f) || !stream ||
        stream->context != &context || f->module->context != &context ||
        (attributes.completed && !driver.events.has(attributes.completed)))
      return CUDA_ERROR_INVALID_HANDLE;
    KernelWork work;
    if (CUresult code =
            makeKernelWork(driver, *config, f, kernelParams, extra, work))
      return code;
    if (CUresult code = submit(context, config->hStream, std::move(work)))
      return code;
    return attributes.completed ? submit(context, config->hStream,
                                         RecordWork{attributes.completed})
                                : CUDA_SUCCESS;
  });
}

CUresult ptxsim::cuda::cuLaunchKernel(CUfunction f, unsigned gridDimX,
                                      unsigned gridDimY, unsigned gridDimZ,
                                      unsigned blockDimX, unsigned blockDimY,
                                      unsigned blockDimZ,
                                      unsigned sharedMemBytes, CUstream hStream,
                                      void **kernelParams, void **extra) {
  const CUlaunchConfig config{gridDimX,  gridDimY,  gridDimZ,       blockDimX,
                              blockDimY, blockDimZ, sharedMemBytes, hStream,
                              nullptr,   0};
  return cuLaunchKernelEx(&config, f, kernelParams, extra);
}

CUresult ptxsim::cuda::cuLaunchCooperativeKernel(
    CUfunction f, unsigned gridDimX, unsigned gridDimY, unsigned gridDimZ,
    unsigned blockDimX, unsigned blockDimY, unsigned blockDimZ,
    unsigned sharedMemBytes, CUstream hStream, void **kernelParams) {
  CUlaunchAttribute attribute{};
  attribute.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
  attribute.value.cooperative = 1;
  const CUlaunchConfig config{gridDimX,   gridDimY,  gridDimZ,       blockDimX,
                              blockDimY,  blockDimZ, sharedMemBytes, hStream,
                              &attribute, 1};
  return cuLaunchKernelEx(&config, f, kernelParams, nullptr);
}
