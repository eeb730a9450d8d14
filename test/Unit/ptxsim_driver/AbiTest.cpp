// Built where NVIDIA's cuda.h is found: what the library declares is compared
// with it at compile time.

#include "runtime/ptxsim/driver/CudaStructs.h"

#include <cuda.h>
#include <gtest/gtest.h>

namespace ptxsim::cuda {

/// The same as far as a call is concerned: size and kind of every parameter.
template <typename A, typename B> constexpr bool sameParameter() {
  return sizeof(A) == sizeof(B) && alignof(A) == alignof(B) &&
         std::is_pointer_v<A> == std::is_pointer_v<B> &&
         std::is_class_v<A> == std::is_class_v<B>;
}
template <typename... A, typename... B>
constexpr bool sameCall(CUresult (*)(A...), ::CUresult (*)(B...)) {
  if constexpr (sizeof...(A) != sizeof...(B))
    return false;
  else
    return (sameParameter<A, B>() && ...);
}

// Deprecated functions are part of the interface.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#define CUDA_FUNCTION(symbol, version, parameters)                             \
  static_assert(sameCall(static_cast<CUresult(*) parameters>(nullptr),         \
                         static_cast<decltype(&::symbol)>(nullptr)),           \
                #symbol);
#define CUDA_OLD_FUNCTION(symbol, version, parameters)
#include "runtime/ptxsim/driver/CudaFunctions.def"
#undef CUDA_OLD_FUNCTION
#undef CUDA_FUNCTION
#pragma GCC diagnostic pop

#define CUDA_ERROR(name, number, text)                                         \
  static_assert(unsigned(::name) == unsigned(name));
#include "runtime/ptxsim/driver/CudaErrors.def"
#undef CUDA_ERROR

#define SAME(name) static_assert(int(::name) == int(name))
SAME(CU_JIT_ERROR_LOG_BUFFER);
SAME(CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
SAME(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
SAME(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
SAME(CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES);
SAME(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
SAME(CU_FUNC_ATTRIBUTE_NUM_REGS);
SAME(CU_FUNC_ATTRIBUTE_PTX_VERSION);
SAME(CU_FUNC_ATTRIBUTE_BINARY_VERSION);
SAME(CU_FUNC_ATTRIBUTE_CACHE_MODE_CA);
SAME(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
SAME(CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT);
SAME(CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET);
SAME(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH);
SAME(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT);
SAME(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH);
SAME(CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED);
SAME(CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE);
SAME(CU_FUNC_ATTRIBUTE_MAX);
SAME(CU_LAUNCH_ATTRIBUTE_IGNORE);
SAME(CU_LAUNCH_ATTRIBUTE_COOPERATIVE);
SAME(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
SAME(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);
SAME(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT);
SAME(CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT);
SAME(CU_MEMORYTYPE_HOST);
SAME(CU_MEMORYTYPE_DEVICE);
SAME(CU_MEMORYTYPE_ARRAY);
SAME(CU_MEMORYTYPE_UNIFIED);
SAME(CU_POINTER_ATTRIBUTE_CONTEXT);
SAME(CU_POINTER_ATTRIBUTE_MEMORY_TYPE);
SAME(CU_POINTER_ATTRIBUTE_DEVICE_POINTER);
SAME(CU_POINTER_ATTRIBUTE_HOST_POINTER);
SAME(CU_POINTER_ATTRIBUTE_SYNC_MEMOPS);
SAME(CU_POINTER_ATTRIBUTE_IS_MANAGED);
SAME(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL);
SAME(CU_POINTER_ATTRIBUTE_RANGE_START_ADDR);
SAME(CU_POINTER_ATTRIBUTE_RANGE_SIZE);
SAME(CU_POINTER_ATTRIBUTE_MAPPED);
SAME(CU_STREAM_CAPTURE_MODE_GLOBAL);
SAME(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
SAME(CU_STREAM_CAPTURE_MODE_RELAXED);
SAME(CU_STREAM_CAPTURE_STATUS_NONE);
SAME(CU_STREAM_CAPTURE_STATUS_ACTIVE);
SAME(CU_STREAM_CAPTURE_STATUS_INVALIDATED);
SAME(CU_GRAPH_NODE_TYPE_KERNEL);
SAME(CU_GRAPH_NODE_TYPE_MEMCPY);
SAME(CU_GRAPH_NODE_TYPE_MEMSET);
SAME(CU_GRAPH_NODE_TYPE_HOST);
SAME(CU_GRAPH_NODE_TYPE_GRAPH);
SAME(CU_GRAPH_NODE_TYPE_EMPTY);
SAME(CU_GRAPH_NODE_TYPE_WAIT_EVENT);
SAME(CU_GRAPH_NODE_TYPE_EVENT_RECORD);
SAME(CU_GRAPH_EXEC_UPDATE_SUCCESS);
SAME(CU_GRAPH_EXEC_UPDATE_ERROR);
SAME(CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
SAME(CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED);
SAME(CUDA_GRAPH_INSTANTIATE_SUCCESS);
SAME(CUDA_GRAPH_INSTANTIATE_ERROR);
SAME(CU_GET_PROC_ADDRESS_SUCCESS);
SAME(CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
SAME(CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
SAME(CU_LIMIT_STACK_SIZE);
SAME(CU_LIMIT_PRINTF_FIFO_SIZE);
SAME(CU_LIMIT_MALLOC_HEAP_SIZE);
SAME(CU_MODULE_EAGER_LOADING);
#undef SAME

#define SAME_SIZE(type)                                                        \
  static_assert(sizeof(::type) == sizeof(type) &&                              \
                alignof(::type) == alignof(type))
#define SAME_PLACE(type, field)                                                \
  static_assert(offsetof(::type, field) == offsetof(type, field))
SAME_SIZE(CUuuid);
SAME_SIZE(CUtensorMap);
SAME_SIZE(CUmemLocation);
SAME_SIZE(CUgraphEdgeData);
SAME_SIZE(CUlaunchAttribute);
SAME_PLACE(CUlaunchAttribute, value);
SAME_PLACE(CUlaunchAttribute, value.clusterDim.z);
SAME_PLACE(CUlaunchAttribute, value.cooperative);
SAME_PLACE(CUlaunchAttribute, value.programmaticStreamSerializationAllowed);
SAME_PLACE(CUlaunchAttribute, value.programmaticEvent.event);
static_assert(offsetof(::CUlaunchAttribute, value.launchCompletionEvent) ==
              offsetof(CUlaunchAttribute, value.programmaticEvent));
SAME_SIZE(CUlaunchConfig);
SAME_PLACE(CUlaunchConfig, blockDimX);
SAME_PLACE(CUlaunchConfig, sharedMemBytes);
SAME_PLACE(CUlaunchConfig, hStream);
SAME_PLACE(CUlaunchConfig, attrs);
SAME_PLACE(CUlaunchConfig, numAttrs);
SAME_SIZE(CUDA_MEMCPY2D);
SAME_PLACE(CUDA_MEMCPY2D, srcHost);
SAME_PLACE(CUDA_MEMCPY2D, srcPitch);
SAME_PLACE(CUDA_MEMCPY2D, dstMemoryType);
SAME_PLACE(CUDA_MEMCPY2D, dstPitch);
SAME_PLACE(CUDA_MEMCPY2D, Height);
SAME_SIZE(CUDA_MEMCPY3D);
SAME_PLACE(CUDA_MEMCPY3D, srcHost);
SAME_PLACE(CUDA_MEMCPY3D, srcPitch);
SAME_PLACE(CUDA_MEMCPY3D, dstMemoryType);
SAME_PLACE(CUDA_MEMCPY3D, dstPitch);
SAME_PLACE(CUDA_MEMCPY3D, Depth);
SAME_SIZE(CUDA_KERNEL_NODE_PARAMS);
SAME_PLACE(CUDA_KERNEL_NODE_PARAMS, kernelParams);
SAME_PLACE(CUDA_KERNEL_NODE_PARAMS, ctx);
SAME_SIZE(CUDA_MEMSET_NODE_PARAMS);
SAME_PLACE(CUDA_MEMSET_NODE_PARAMS, value);
SAME_PLACE(CUDA_MEMSET_NODE_PARAMS, height);
SAME_SIZE(CUDA_HOST_NODE_PARAMS);
SAME_SIZE(CUgraphExecUpdateResultInfo);
SAME_PLACE(CUgraphExecUpdateResultInfo, errorNode);
SAME_SIZE(CUDA_GRAPH_INSTANTIATE_PARAMS);
SAME_PLACE(CUDA_GRAPH_INSTANTIATE_PARAMS, result_out);

TEST(Abi, IsThatOfTheHeader) { SUCCEED() << "checked at compile time"; }

} // namespace ptxsim::cuda
