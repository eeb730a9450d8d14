// Loading of several MB of PTX: the kernels of the tests that nvcc compiled,
// over and over, under names of their own.

#include "bench/ptxsim/Bench.h"
#include "runtime/ptxsim/Scanner.h"

using namespace ptxsim;
using namespace ptxsim::bench;

namespace {

constexpr const char *sources[] = {
    "test/Unit/ptxsim_tensor/Inputs/gemm.ptx",
    "test/Unit/ptxsim_tensor/Inputs/formats.ptx",
    "test/Unit/ptxsim_hopper/Inputs/gemm_sm90.ptx"};

std::string manyKernels(benchmark::State &state, unsigned copies) {
  std::string all;
  for (const char *path : sources) {
    const std::string text = readSource(state, path);
    for (unsigned i = 0; i < copies; ++i)
      for (size_t at = 0; at < text.size();) {
        size_t entry = text.find(".entry ", at);
        size_t name = entry == text.npos ? text.npos : text.find('(', entry);
        all.append(text, at, name == text.npos ? name : name - at);
        if (name != text.npos)
          all += "_" + std::to_string(i);
        at = name == text.npos ? text.size() : name;
      }
  }
  return all;
}

void rate(benchmark::State &state, size_t bytes) {
  state.counters["rate"] = benchmark::Counter(
      double(bytes) * double(state.iterations()), benchmark::Counter::kIsRate);
}

void parse(benchmark::State &state) {
  const std::string text = manyKernels(state, 24);
  for (auto _ : state) {
    Device device(checked());
    auto module = device.loadModule(text, "all.ptx");
    if (!module)
      return state.SkipWithError(module.message().c_str());
  }
  rate(state, text.size());
}
BENCHMARK(parse)->Unit(benchmark::kMillisecond);

/// The scanner alone: the words and signs of the text.
void scan(benchmark::State &state) {
  const std::string text = manyKernels(state, 24);
  for (auto _ : state) {
    size_t words = 0;
    for (Scanner s(text); !s.atEnd(); ++words)
      if (s.dottedName().empty() && s.name().empty())
        s.accept(s.peek());
    benchmark::DoNotOptimize(words);
  }
  rate(state, text.size());
}
BENCHMARK(scan)->Unit(benchmark::kMillisecond);

} // namespace
