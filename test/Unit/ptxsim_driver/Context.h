#ifndef TEST_UNIT_PTXSIM_DRIVER_CONTEXT_H
#define TEST_UNIT_PTXSIM_DRIVER_CONTEXT_H

#include "ptxsim/ptxsim_c.h"
#include "runtime/ptxsim/driver/Exports.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ptxsim::cuda::test {

/// Kernels on u32 buffers, one thread per element:
///   add(x, value)          x[i] += value
///   scale(x, value)        x[i] *= value
///   combine(a, b, out)     out[i] = a[i] * 1000 + b[i]
///   wild(address)          loads from this address
///   stop()                 traps
///   shared(out)            out[i] = bytes of dynamic shared memory
///   cluster(out)           out[i] = CTAs of the cluster
///   barrier(counter, out)  out[i] = i, after a barrier of the grid
/// and variables: `table` (4 x u32, {1, 2, 3, 4}).
extern const std::string kernels;

#define EXPECT_CUDA(call) EXPECT_EQ(call, CUDA_SUCCESS) << ptxsimLastError()
#define ASSERT_CUDA(call) ASSERT_EQ(call, CUDA_SUCCESS) << ptxsimLastError()

/// A context of its own for every test, and the module of `kernels`.
class InContext : public testing::Test {
protected:
  void SetUp() override;
  void TearDown() override;

  CUfunction function(const char *name);
  CUdeviceptr buffer(const std::vector<uint32_t> &values);
  std::vector<uint32_t> read(CUdeviceptr pointer, size_t n);
  /// One CTA of n threads.
  template <class... A>
  CUresult launch(CUfunction f, unsigned n, CUstream stream, A... values) {
    void *params[] = {&values..., nullptr};
    return cuLaunchKernel(f, 1, 1, 1, n, 1, 1, 0, stream, params, nullptr);
  }

  CUcontext context = nullptr;
  CUmodule module = nullptr;
};

} // namespace ptxsim::cuda::test

#endif // TEST_UNIT_PTXSIM_DRIVER_CONTEXT_H
