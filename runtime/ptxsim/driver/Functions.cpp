// Functions and kernels: attributes, occupancy.

#include "runtime/ptxsim/driver/Functions.h"
#include "runtime/ptxsim/driver/DeviceFacts.h"
#include "runtime/ptxsim/driver/Driver.h"

#include <algorithm>
#include <limits>

using namespace ptxsim;
using namespace ptxsim::cuda;

namespace {

template <class F> CUresult withFunction(CUfunction function, F f) {
  return inDriver([&](Driver &driver) {
    return driver.functions.contains(function) ? f(*function)
                                               : CUDA_ERROR_INVALID_HANDLE;
  });
}

CUresult getAttribute(const CUfunc_st &f, CUfunction_attribute attribute,
                      int *out) {
  if (!out)
    return CUDA_ERROR_INVALID_VALUE;
  const Kernel &k = *f.kernel;
  const Dim3 cluster = k.cluster.value_or(Dim3{0, 0, 0});
  switch (attribute) {
  case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
    *out = maxThreads(f);
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
    *out = int(k.staticSharedBytes);
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
  case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
    *out = 0;
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
    *out = int(f.localBytes);
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_NUM_REGS:
    // What a kernel that its own limits allow to run can have at most.
    *out = std::min(255, 65536 / maxThreads(f) / 8 * 8);
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_PTX_VERSION:
  case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
    *out = 90;
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
    *out = f.maxDynamicShared;
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
    *out = f.carveout;
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
    *out = 0;
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    *out = int(cluster.x);
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    *out = int(cluster.y);
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
    *out = int(cluster.z);
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
    *out = f.nonPortableCluster;
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
    *out = f.clusterPolicy;
    return CUDA_SUCCESS;
  default:
    return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult setAttribute(CUfunc_st &f, CUfunction_attribute attribute, int value) {
  switch (attribute) {
  case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
    if (value < 0 ||
        value > sharedPerBlockOptIn - int(f.kernel->staticSharedBytes))
      return CUDA_ERROR_INVALID_VALUE;
    f.maxDynamicShared = value;
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
    if (value < -1 || value > 100)
      return CUDA_ERROR_INVALID_VALUE;
    f.carveout = value;
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
    f.nonPortableCluster = value != 0;
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
    f.clusterPolicy = value;
    return CUDA_SUCCESS;
  default:
    return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult paramInfo(const CUfunc_st &f, size_t index, size_t *offset,
                   size_t *size) {
  if (!offset || index >= f.kernel->params.size())
    return CUDA_ERROR_INVALID_VALUE;
  *offset = f.kernel->params[index].offset;
  if (size)
    *size = f.kernel->params[index].size;
  return CUDA_SUCCESS;
}

CUresult potentialBlockSize(const CUfunc_st &f, int *minGrid, int *blockSize,
                            CUoccupancyB2DSize sharedOf, size_t shared,
                            int limit) {
  if (!minGrid || !blockSize)
    return CUDA_ERROR_INVALID_VALUE;
  const int most = limit > 0 ? std::min(limit, maxThreads(f)) : maxThreads(f);
  int bestThreads = 0;
  *minGrid = *blockSize = 0;
  for (int size = (most + 31) / 32 * 32; size > 0; size -= 32) {
    const int threads = std::min(size, most);
    const int blocks =
        blocksPerSm(f, threads, sharedOf ? sharedOf(threads) : shared);
    if (blocks * threads <= bestThreads)
      continue;
    bestThreads = blocks * threads;
    *blockSize = threads;
    *minGrid = blocks * multiprocessors;
  }
  return CUDA_SUCCESS;
}

} // namespace

int ptxsim::cuda::maxThreads(const CUfunc_st &f) {
  const std::optional<Dim3> d =
      f.kernel->reqntid ? f.kernel->reqntid : f.kernel->maxntid;
  return d ? int(std::min(1024u, d->x * d->y * d->z)) : threadsPerBlock;
}

int ptxsim::cuda::blocksPerSm(const CUfunc_st &f, int threads,
                              size_t dynamicShared) {
  if (threads < 1 || threads > maxThreads(f) ||
      f.kernel->staticSharedBytes + dynamicShared > sharedPerBlockOptIn)
    return 0;
  // Shared memory comes in pieces of 128 bytes.
  const size_t shared =
      (f.kernel->staticSharedBytes + dynamicShared + 127) / 128 * 128 +
      reservedSharedPerBlock;
  return std::min({blocksPerMultiprocessor,
                   threadsPerMultiprocessor / ((threads + 31) / 32 * 32),
                   int(sharedPerMultiprocessor / shared)});
}

// --- functions ---

CUresult ptxsim::cuda::cuFuncGetAttribute(int *pi, CUfunction_attribute attrib,
                                          CUfunction hfunc) {
  return withFunction(
      hfunc, [&](CUfunc_st &f) { return getAttribute(f, attrib, pi); });
}

CUresult ptxsim::cuda::cuFuncSetAttribute(CUfunction hfunc,
                                          CUfunction_attribute attrib,
                                          int value) {
  return withFunction(
      hfunc, [&](CUfunc_st &f) { return setAttribute(f, attrib, value); });
}

CUresult ptxsim::cuda::cuFuncSetCacheConfig(CUfunction hfunc, CUfunc_cache) {
  return withFunction(hfunc, [](CUfunc_st &) { return CUDA_SUCCESS; });
}

CUresult ptxsim::cuda::cuFuncGetModule(CUmodule *hmod, CUfunction hfunc) {
  return withFunction(hfunc, [&](CUfunc_st &f) {
    if (!hmod)
      return CUDA_ERROR_INVALID_VALUE;
    *hmod = f.module;
    return CUDA_SUCCESS;
  });
}

CUresult ptxsim::cuda::cuFuncGetParamInfo(CUfunction func, size_t paramIndex,
                                          size_t *paramOffset,
                                          size_t *paramSize) {
  return withFunction(func, [&](CUfunc_st &f) {
    return paramInfo(f, paramIndex, paramOffset, paramSize);
  });
}

CUresult ptxsim::cuda::cuFuncGetName(const char **name, CUfunction hfunc) {
  return withFunction(hfunc, [&](CUfunc_st &f) {
    if (!name)
      return CUDA_ERROR_INVALID_VALUE;
    *name = f.kernel->name.c_str();
    return CUDA_SUCCESS;
  });
}

CUresult ptxsim::cuda::cuFuncLoad(CUfunction function) {
  return withFunction(function, [](CUfunc_st &) { return CUDA_SUCCESS; });
}

// --- kernels of libraries ---

CUresult ptxsim::cuda::cuKernelGetFunction(CUfunction *pFunc, CUkernel kernel) {
  return withFunction(functionOf(kernel), [&](CUfunc_st &f) {
    if (!pFunc)
      return CUDA_ERROR_INVALID_VALUE;
    *pFunc = &f;
    return CUDA_SUCCESS;
  });
}

CUresult ptxsim::cuda::cuKernelGetAttribute(int *pi,
                                            CUfunction_attribute attrib,
                                            CUkernel kernel, CUdevice) {
  return cuFuncGetAttribute(pi, attrib, functionOf(kernel));
}

CUresult ptxsim::cuda::cuKernelSetAttribute(CUfunction_attribute attrib,
                                            int val, CUkernel kernel,
                                            CUdevice) {
  return cuFuncSetAttribute(functionOf(kernel), attrib, val);
}

CUresult ptxsim::cuda::cuKernelGetName(const char **name, CUkernel hfunc) {
  return cuFuncGetName(name, functionOf(hfunc));
}

CUresult ptxsim::cuda::cuKernelGetParamInfo(CUkernel kernel, size_t paramIndex,
                                            size_t *paramOffset,
                                            size_t *paramSize) {
  return cuFuncGetParamInfo(functionOf(kernel), paramIndex, paramOffset,
                            paramSize);
}

// --- occupancy ---

CUresult ptxsim::cuda::cuOccupancyMaxActiveBlocksPerMultiprocessor(
    int *numBlocks, CUfunction func, int blockSize, size_t dynamicSMemSize) {
  return withFunction(func, [&](CUfunc_st &f) {
    if (!numBlocks || blockSize < 1)
      return CUDA_ERROR_INVALID_VALUE;
    *numBlocks = blocksPerSm(f, blockSize, dynamicSMemSize);
    return CUDA_SUCCESS;
  });
}

CUresult ptxsim::cuda::cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *numBlocks, CUfunction func, int blockSize, size_t dynamicSMemSize,
    unsigned) {
  return cuOccupancyMaxActiveBlocksPerMultiprocessor(numBlocks, func, blockSize,
                                                     dynamicSMemSize);
}

CUresult ptxsim::cuda::cuOccupancyMaxPotentialBlockSize(
    int *minGridSize, int *blockSize, CUfunction func,
    CUoccupancyB2DSize sharedOf, size_t shared, int limit) {
  return withFunction(func, [&](CUfunc_st &f) {
    return potentialBlockSize(f, minGridSize, blockSize, sharedOf, shared,
                              limit);
  });
}

CUresult ptxsim::cuda::cuOccupancyMaxPotentialBlockSizeWithFlags(
    int *minGridSize, int *blockSize, CUfunction func,
    CUoccupancyB2DSize sharedOf, size_t shared, int limit, unsigned) {
  return cuOccupancyMaxPotentialBlockSize(minGridSize, blockSize, func,
                                          sharedOf, shared, limit);
}

CUresult ptxsim::cuda::cuOccupancyAvailableDynamicSMemPerBlock(size_t *bytes,
                                                               CUfunction func,
                                                               int numBlocks,
                                                               int blockSize) {
  return withFunction(func, [&](CUfunc_st &f) {
    if (!bytes || numBlocks < 1 || blocksPerSm(f, blockSize, 0) < numBlocks)
      return CUDA_ERROR_INVALID_VALUE;
    const int each = sharedPerMultiprocessor / numBlocks / 128 * 128 -
                     reservedSharedPerBlock;
    *bytes = size_t(std::min(each, sharedPerBlockOptIn) -
                    int((f.kernel->staticSharedBytes + 127) / 128 * 128));
    return CUDA_SUCCESS;
  });
}

namespace {
unsigned clusterSizeOf(const CUlaunchConfig &config, const CUfunc_st &f) {
  Dim3 d = f.kernel->cluster.value_or(Dim3());
  for (unsigned i = 0; i < config.numAttrs; ++i)
    if (config.attrs[i].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
      d = {config.attrs[i].value.clusterDim.x,
           config.attrs[i].value.clusterDim.y,
           config.attrs[i].value.clusterDim.z};
  return std::max(1u, d.x * d.y * d.z);
}
} // namespace

/// As if clusters could use any multiprocessors.
CUresult
ptxsim::cuda::cuOccupancyMaxActiveClusters(int *numClusters, CUfunction func,
                                           const CUlaunchConfig *config) {
  return withFunction(func, [&](CUfunc_st &f) {
    if (!numClusters || !config)
      return CUDA_ERROR_INVALID_VALUE;
    const int threads =
        int(config->blockDimX * config->blockDimY * config->blockDimZ);
    *numClusters = blocksPerSm(f, threads, config->sharedMemBytes) *
                   multiprocessors / int(clusterSizeOf(*config, f));
    return CUDA_SUCCESS;
  });
}

CUresult ptxsim::cuda::cuOccupancyMaxPotentialClusterSize(
    int *clusterSize, CUfunction func, const CUlaunchConfig *config) {
  return withFunction(func, [&](CUfunc_st &f) {
    if (!clusterSize || !config)
      return CUDA_ERROR_INVALID_VALUE;
    *clusterSize =
        f.nonPortableCluster ? 2 * portableClusterSize : portableClusterSize;
    return CUDA_SUCCESS;
  });
}
