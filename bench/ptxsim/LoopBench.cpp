// Loops of one kind of instruction (loops.ptx): rates of the interpreter and of
// the tensor instructions, what each check costs, and two cores against one.

#include "bench/ptxsim/Bench.h"

#include <chrono>

using namespace ptxsim;
using namespace ptxsim::bench;

namespace {

/// Launches a loop of `turns` until the benchmark has enough. `rate` becomes
/// what `amount` of the counters is per second.
void runLoop(benchmark::State &state, DeviceOptions options, const char *entry,
             uint32_t threads, uint32_t turns,
             uint64_t (*amount)(const Counters &), uint32_t ctas = 4) {
  Bench bench(state, options, "bench/ptxsim/loops.ptx", entry);
  if (!bench.ok())
    return;
  uint64_t data = bench.allocate(size_t(ctas) * threads * 16);
  double total = 0;
  for (auto _ : state) {
    if (!bench.launch({ctas, 1, 1}, {threads, 1, 1}, 0, {&data, &turns}))
      return;
    total += double(amount(bench.counters));
  }
  state.counters["rate"] =
      benchmark::Counter(total, benchmark::Counter::kIsRate);
}

uint64_t instructions(const Counters &c) { return c.warpInstructions; }
uint64_t flops(const Counters &c) { return c.tensorFlops; }

void alu(benchmark::State &state, DeviceOptions options) {
  runLoop(state, options, "alu", 256, 4000, instructions);
}
void memory(benchmark::State &state, DeviceOptions options) {
  runLoop(state, options, "memory", 256, 1000, instructions);
}
void mma(benchmark::State &state, DeviceOptions options) {
  runLoop(state, options, "mma", 128, 400, flops);
}
void wgmma(benchmark::State &state, DeviceOptions options) {
  runLoop(state, options, "wgmma", 128, 20, flops);
}

BENCHMARK_CAPTURE(alu, unchecked, unchecked())->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(alu, checked, checked())->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(mma, checked, checked())->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(wgmma, checked, checked())->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(memory, unchecked, unchecked())
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(memory, checked, checked())->Unit(benchmark::kMillisecond);

/// The default checks without one of them.
DeviceOptions without(bool Checks::*check) {
  DeviceOptions options = checked();
  options.checks.*check = false;
  return options;
}
BENCHMARK_CAPTURE(memory, no_shared_races, without(&Checks::sharedRaces))
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(memory, no_uninitialised_shared,
                  without(&Checks::uninitialisedShared))
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(memory, no_async_hazards, without(&Checks::asyncHazards))
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(memory, no_bounds, without(&Checks::bounds))
    ->Unit(benchmark::kMillisecond);

/// 32 CTAs on one thread and on two by turns, in pairs, so that what else the
/// machine does meets both alike. `scaling` is the least time of the ones over
/// the least of the others.
void scaling(benchmark::State &state) {
  DeviceOptions one = checked(), two = checked();
  two.threads = 2;
  Bench single(state, one, "bench/ptxsim/loops.ptx", "alu"),
      both(state, two, "bench/ptxsim/loops.ptx", "alu");
  if (!single.ok() || !both.ok())
    return;
  const uint32_t ctas = 32, turns = 400;
  uint64_t out1 = single.allocate(size_t(ctas) * 1024),
           out2 = both.allocate(size_t(ctas) * 1024);
  auto seconds = [&](Bench &bench, uint64_t out) {
    auto start = std::chrono::steady_clock::now();
    bench.launch({ctas, 1, 1}, {256, 1, 1}, 0, {&out, &turns});
    return std::chrono::duration<double>(std::chrono::steady_clock::now() -
                                         start)
        .count();
  };
  double best1 = 1e9, best2 = 1e9;
  for (auto _ : state) {
    best1 = std::min(best1, seconds(single, out1));
    best2 = std::min(best2, seconds(both, out2));
  }
  state.counters["scaling"] = best1 / best2;
}
BENCHMARK(scaling)->Unit(benchmark::kMillisecond)->Iterations(60);

} // namespace
