#ifndef TEST_UNIT_PTXSIM_HOPPER_KERNEL_H
#define TEST_UNIT_PTXSIM_HOPPER_KERNEL_H

// Kernels around a hand-written body, in tests of Hopper's instructions.

#include "runtime/ptxsim/TensorMap.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hopper {

using testing::HasSubstr;

/// An entry k(out, in0, in1, map) around `body`: registers %r<64>, %d<32>,
/// %h<8>, %p<8>; %d0 to %d2 are out, in0, in1, %d3 the generic address of the
/// tensor map, %r0 the thread, %r1 the address of `smem`, 64 KiB aligned to
/// 1024. `directives` stand before the body's brace.
std::string kernel(const std::string &body, const std::string &directives = "");

ptxsim::DeviceOptions lazy();

class Program {
public:
  explicit Program(const std::string &ptx, ptxsim::DeviceOptions options = {});
  template <class T>
  uint64_t buffer(const std::vector<T> &data, const char *name = "buffer") {
    return allocate(data.data(), data.size() * sizeof(T), name);
  }
  template <class T> std::vector<T> read(uint64_t address, size_t count) {
    std::vector<T> data(count);
    EXPECT_TRUE(
        device.copyToHost(data.data(), address, count * sizeof(T)).ok());
    return data;
  }
  /// The launch's error, empty if there is none. The first entry runs.
  std::string run(uint32_t threads, uint64_t out, uint64_t in0 = 0,
                  uint64_t in1 = 0, ptxsim::TensorMap map = {},
                  ptxsim::Dim3 grid = {},
                  std::optional<ptxsim::Dim3> cluster = std::nullopt);

  ptxsim::Device device;
  std::shared_ptr<ptxsim::Module> module;
  std::string loadError;
  ptxsim::Counters counters;

private:
  uint64_t allocate(const void *data, size_t bytes, const char *name);
};

/// Runs a body on one CTA with an `out` of `words` 32-bit words, 0 at first,
/// and in0 with `input`; out's content, or empty after the test has failed.
std::vector<uint32_t> outputOf(const std::string &body, uint32_t threads,
                               size_t words,
                               const std::vector<uint32_t> &input = {},
                               ptxsim::DeviceOptions options = {});
/// What loading or running such a body says.
std::string errorOf(const std::string &body, uint32_t threads = 32,
                    ptxsim::DeviceOptions options = {});

} // namespace hopper

#endif // TEST_UNIT_PTXSIM_HOPPER_KERNEL_H
