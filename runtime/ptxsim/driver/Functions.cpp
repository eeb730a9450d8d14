// Functions and kernels: attributes.

#include "runtime/ptxsim/driver/Functions.h"
#include "runtime/ptxsim/driver/DeviceFacts.h"
#include "runtime/ptxsim/driver/Driver.h"

#include <algorithm>
#include <limits>

using namespace ptxsim;
using namespace ptxsim::cuda;

namespace {

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
    *out = registersOf(f) ? registersOf(f) : mostRegisters(f, 1);
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

} // namespace

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
