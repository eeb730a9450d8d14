//===- CudaAbiTest.cpp - Our declarations are those of cuda.h -------------===//
// Built where NVIDIA's header is found: what CudaTypes.h declares is compared
// with it at compile time.
#include "runtime/Device/CudaTypes.h"

#include <cuda.h>
#include <gtest/gtest.h>

using namespace k2rt::cuda;

namespace {
/// The same as far as a call is concerned: integers by type, else size and kind
/// (an enumeration of theirs is an int of ours, a handle is a void *).
template <typename A, typename B> constexpr bool sameParameter() {
  if constexpr (std::is_integral_v<A> && std::is_integral_v<B>)
    return std::is_same_v<A, B>;
  return sizeof(A) == sizeof(B) && alignof(A) == alignof(B) &&
         std::is_pointer_v<A> == std::is_pointer_v<B>;
}
template <typename... A, typename R, typename... B>
constexpr bool sameCall(int (*)(A...), R (*)(B...)) {
  if constexpr (sizeof...(A) != sizeof...(B))
    return false;
  else
    return sizeof(R) == sizeof(int) && (sameParameter<A, B>() && ...);
}

#define X(name, symbol, parameters)                                            \
  static_assert(sameCall(static_cast<int(*) parameters>(nullptr),              \
                         static_cast<decltype(&::symbol)>(nullptr)),           \
                #symbol);
K2RT_CUDA_FUNCTIONS(X)
#undef X

static_assert(kJitErrorLogBuffer == CU_JIT_ERROR_LOG_BUFFER);
static_assert(kJitErrorLogBufferSize == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
static_assert(kFuncMaxDynamicSharedBytes ==
              CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
static_assert(kDeviceComputeMajor ==
              CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
static_assert(kDeviceComputeMinor ==
              CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
static_assert(kLaunchClusterDimension == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
static_assert(kLaunchProgrammaticSerialization ==
              CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);
static_assert(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL == 1);

static_assert(sizeof(LaunchAttribute) == sizeof(CUlaunchAttribute));
static_assert(offsetof(LaunchAttribute, value) ==
              offsetof(CUlaunchAttribute, value));
static_assert(offsetof(LaunchAttribute, value.cluster.z) ==
              offsetof(CUlaunchAttribute, value.clusterDim.z));
static_assert(offsetof(LaunchAttribute, value.programmaticAllowed) ==
              offsetof(CUlaunchAttribute,
                       value.programmaticStreamSerializationAllowed));
static_assert(sizeof(LaunchConfigEx) == sizeof(CUlaunchConfig));
static_assert(offsetof(LaunchConfigEx, blockX) ==
              offsetof(CUlaunchConfig, blockDimX));
static_assert(offsetof(LaunchConfigEx, sharedBytes) ==
              offsetof(CUlaunchConfig, sharedMemBytes));
static_assert(offsetof(LaunchConfigEx, stream) ==
              offsetof(CUlaunchConfig, hStream));
static_assert(offsetof(LaunchConfigEx, attributes) ==
              offsetof(CUlaunchConfig, attrs));
static_assert(offsetof(LaunchConfigEx, attributeCount) ==
              offsetof(CUlaunchConfig, numAttrs));

TEST(CudaAbi, IsThatOfTheHeader) { SUCCEED() << "checked at compile time"; }
} // namespace
