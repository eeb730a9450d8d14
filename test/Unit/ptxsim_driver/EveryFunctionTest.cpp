// Every function of the library with arguments that mean nothing: null
// pointers, handles that never were, zeros, ones, the largest numbers. Each
// gives a code that CUDA has, and the library lives on.

#include "test/Unit/ptxsim_driver/Context.h"

#include <cstring>
#include <set>
#include <type_traits>

using namespace ptxsim::cuda;
using namespace ptxsim::cuda::test;

namespace {

/// What all pointers point at: zeros before each call.
alignas(128) unsigned char somewhere[4096];

struct Arguments {
  bool null;       ///< pointers are null
  uint64_t number; ///< and numbers this
};

template <class T> T make(const Arguments &with) {
  if constexpr (std::is_pointer_v<T>) {
    if constexpr (std::is_function_v<std::remove_pointer_t<T>>)
      return nullptr;
    else
      return with.null ? nullptr : reinterpret_cast<T>(somewhere);
  } else if constexpr (std::is_class_v<T>) {
    return T{};
  } else if constexpr (std::is_enum_v<T>) {
    return T(with.number & 0x7fffffff);
  } else {
    return T(with.number);
  }
}

template <class... A>
CUresult call(CUresult (*f)(A...), [[maybe_unused]] const Arguments &with) {
  std::memset(somewhere, 0, sizeof somewhere);
  return f(make<A>(with)...);
}

class EveryFunction : public InContext {
protected:
  void callAll(const Arguments &with, const std::set<std::string> &without) {
    // Some change which context is current.
    auto restore = [&] { ASSERT_CUDA(cuCtxSetCurrent(context)); };
#define CUDA_FUNCTION(symbol, version, parameters)                             \
  if (!without.contains(#symbol)) {                                            \
    const char *name = nullptr;                                                \
    EXPECT_EQ(cuGetErrorName(call(&symbol, with), &name), CUDA_SUCCESS)        \
        << #symbol;                                                            \
    restore();                                                                 \
  }
#define CUDA_OLD_FUNCTION CUDA_FUNCTION
#include "runtime/ptxsim/driver/CudaFunctions.def"
#undef CUDA_OLD_FUNCTION
#undef CUDA_FUNCTION
    EXPECT_CUDA(cuDevicePrimaryCtxReset_v2(0));
    EXPECT_EQ(read(buffer({3}), 1), std::vector<uint32_t>{3});
  }
  /// Addresses of the host are believed, and counts of arrays, too.
  const std::set<std::string> believed = {"cuMemcpy", "cuMemcpyAsync"},
                              counted = {"cuMemcpy", "cuMemcpyAsync",
                                         "cuModuleLoadDataEx",
                                         "cuLibraryLoadData"};
};

TEST_F(EveryFunction, NullPointers) { callAll({true, 0}, {}); }
TEST_F(EveryFunction, Zeros) { callAll({false, 0}, {}); }
TEST_F(EveryFunction, Ones) { callAll({false, 1}, believed); }
TEST_F(EveryFunction, NullPointersAndOnes) { callAll({true, 1}, believed); }
TEST_F(EveryFunction, TheLargestNumbers) { callAll({false, ~0ull}, counted); }

TEST_F(EveryFunction, AfterAFault) {
  EXPECT_EQ(launch(function("stop"), 1, nullptr), CUDA_ERROR_LAUNCH_FAILED);
  for (bool null : {true, false}) {
#define CUDA_FUNCTION(symbol, version, parameters)                             \
  call(&symbol, {null, 0});                                                    \
  ASSERT_CUDA(cuCtxSetCurrent(context));
#define CUDA_OLD_FUNCTION CUDA_FUNCTION
#include "runtime/ptxsim/driver/CudaFunctions.def"
#undef CUDA_OLD_FUNCTION
#undef CUDA_FUNCTION
  }
  EXPECT_CUDA(cuDevicePrimaryCtxReset_v2(0));
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED);
}

} // namespace
