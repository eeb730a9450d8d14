#ifndef TEST_UNIT_PTXSIM_TENSOR_KERNEL_H
#define TEST_UNIT_PTXSIM_TENSOR_KERNEL_H

// Running PTX text in tests: whole kernels, or one instruction on arrays.

#include "runtime/ptxsim/ptxsim.h"

#include <string>
#include <vector>

namespace harness {

/// A device with one module and its buffers. Errors are collected in `error`,
/// empty when all went well.
class Program {
public:
  explicit Program(const std::string &ptx, ptxsim::DeviceOptions options = {});

  /// A buffer holding `data`; its address.
  template <class T>
  uint64_t buffer(const std::vector<T> &data, const char *name = "buffer") {
    return allocate(data.data(), data.size() * sizeof(T), name);
  }
  template <class T> std::vector<T> read(uint64_t address, size_t count) {
    std::vector<T> data(count);
    copyOut(data.data(), address, count * sizeof(T));
    return data;
  }

  /// Launches entry `name` with 8-byte or 4-byte arguments.
  template <class... A>
  void launch(const char *name, ptxsim::Dim3 grid, ptxsim::Dim3 block,
              A... args) {
    const void *params[] = {&args..., nullptr};
    start(name, grid, block, params);
  }

  std::string error;
  ptxsim::Counters counters;
  uint32_t dynamicShared = 0;

private:
  uint64_t allocate(const void *data, size_t bytes, const char *name);
  void copyOut(void *data, uint64_t address, size_t bytes);
  void start(const char *name, ptxsim::Dim3 grid, ptxsim::Dim3 block,
             const void *const *params);

  ptxsim::Device device;
  std::shared_ptr<ptxsim::Module> module;
};

std::string readFile(const std::string &name);

/// PTX of an entry `k(out)` of one warp around `body`, with registers
/// %h, %r, %f, %d, %p of 16, 32, 32 (.f32), 64 bits and predicates; %d0 is
/// `out`, %r0 the lane.
std::string warpKernel(const std::string &body,
                       const std::string &declarations = "");

/// What loading a kernel with this one statement says: empty if it loads.
std::string loadError(const std::string &statement);

/// One source of an instruction: an element per lane.
struct Source {
  unsigned bits;
  std::vector<uint64_t> values;
};
/// Runs `instruction`, which names d (of dBits; 1 for a predicate) and a, b, c,
/// on every element. Fails the test on any error.
std::vector<uint64_t> apply(const std::string &instruction, unsigned dBits,
                            const std::vector<Source> &sources);

} // namespace harness

#endif // TEST_UNIT_PTXSIM_TENSOR_KERNEL_H
