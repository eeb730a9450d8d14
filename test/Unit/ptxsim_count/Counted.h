#ifndef TEST_UNIT_PTXSIM_COUNT_COUNTED_H
#define TEST_UNIT_PTXSIM_COUNT_COUNTED_H

// Small kernels whose counters are worked out by hand.

#include "runtime/ptxsim/counting/Collector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace counted {

using namespace ptxsim;

struct Setup {
  uint32_t threads = 32;
  Dim3 grid = {1, 1, 1};
  std::optional<Dim3> cluster = std::nullopt;
  CacheSizes caches = {}; ///< none
  DeviceOptions options = {};
  std::string declarations = {}; ///< of the module
  bool cooperative = false;
};

/// Instructions of a warp around each body.
constexpr uint64_t prologue = 5;

/// An entry k(in, out) around `body`: registers %r<32>, %d<32>, %f<64>, %h<8>,
/// %p<8>; %r0 the thread, %d0 and %d1 the parameters, `smem` 32 KiB aligned to
/// 1024, and before the body %r1 its address. `prologue` instructions with the
/// ret at the end.
std::string kernel(const std::string &body,
                   const std::string &declarations = {});

class Counted {
public:
  explicit Counted(const std::string &body, Setup setup = {});
  uint64_t operator[](Counter c) const { return counts.total[c]; }
  KernelCounts counts;
  Counters plain;            ///< the launch's own
  std::vector<uint32_t> out; ///< 16384 words, zeros at first
  std::string error;
};

} // namespace counted

#endif // TEST_UNIT_PTXSIM_COUNT_COUNTED_H
