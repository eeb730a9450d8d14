#ifndef BENCH_PTXSIM_BENCH_H
#define BENCH_PTXSIM_BENCH_H

// What the simulator's benchmarks share: files, and launches whose errors end
// the benchmark.

#include "runtime/ptxsim/ptxsim.h"

#include <benchmark/benchmark.h>

namespace ptxsim::bench {

/// A file of the source tree; an empty text ends the benchmark with an error.
std::string readSource(benchmark::State &state, const char *path);

/// One core, and every optional check off.
DeviceOptions unchecked();
/// One core, with the checks that are on by default.
DeviceOptions checked();

/// A kernel on a device of its own.
class Bench {
public:
  Bench(benchmark::State &state, DeviceOptions options, const char *path,
        const char *entry);
  bool ok() const { return kernel != nullptr; }
  uint64_t allocate(size_t bytes);
  /// False when the launch failed, which ends the benchmark.
  bool launch(Dim3 grid, Dim3 block, uint32_t shared,
              std::initializer_list<const void *> params);

  Device device;
  Counters counters; ///< of the last launch

private:
  benchmark::State &state;
  std::shared_ptr<Module> module;
  const Kernel *kernel = nullptr;
};

} // namespace ptxsim::bench

#endif // BENCH_PTXSIM_BENCH_H
