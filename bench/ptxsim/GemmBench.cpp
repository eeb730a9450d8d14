// D = A B^T of 1024 x 1024 x 1024 in bf16 by kernels that nvcc compiled: one
// with TMA, mbarriers and wgmma, one with cp.async, ldmatrix and mma. A sample
// of the result is compared with a product in double.

#include "bench/ptxsim/Bench.h"
#include "runtime/ptxsim/TensorMap.h"

#include <bit>
#include <chrono>
#include <cmath>
#include <random>

using namespace ptxsim;
using namespace ptxsim::bench;

namespace {

constexpr int size = 1024;

struct Problem {
  std::vector<uint16_t> a, b;
  explicit Problem(unsigned seed) : a(size * size), b(size * size) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    for (auto *v : {&a, &b})
      for (uint16_t &h : *v)
        h = uint16_t(std::bit_cast<uint32_t>(normal(random)) >> 16);
  }
  static double value(uint16_t h) {
    return std::bit_cast<float>(uint32_t(h) << 16);
  }
  /// Every 61st element: all rows, all columns, all tiles are hit.
  bool isProduct(const float *d) const {
    for (int e = 0; e < size * size; e += 61) {
      double sum = 0, magnitude = 0;
      for (int k = 0; k < size; ++k) {
        double p = value(a[size_t(e / size) * size + k]) *
                   value(b[size_t(e % size) * size + k]);
        sum += p, magnitude += std::fabs(p);
      }
      // A rounding of 2^-24 of the partial sum for each product.
      if (!(std::fabs(d[e] - sum) <= magnitude * size * 0x1p-24))
        return false;
    }
    return true;
  }
};

TensorMap mapOf(uint64_t address) {
  TensorMapDesc d;
  d.type = TensorMapDesc::BFloat16;
  d.rank = 2;
  d.address = address;
  d.dims = {size, size};
  d.strides = {size * 2};
  d.box = {64, 128};
  d.swizzle = TensorMapDesc::Swizzle128B;
  auto map = encodeTiled(d);
  return map ? *map : TensorMap();
}

/// Launches by `launch(bench, a, b, d)`, then compares. `least_s` is the least
/// wall time of a launch.
template <class L>
void gemm(benchmark::State &state, unsigned threads, const char *path,
          const char *entry, L launch) {
  DeviceOptions options;
  options.threads = threads;
  Bench bench(state, options, path, entry);
  if (!bench.ok())
    return;
  static const Problem problem(1);
  uint64_t a = bench.allocate(size * size * 2),
           b = bench.allocate(size * size * 2),
           d = bench.allocate(size * size * 4);
  if (!bench.device.copyToDevice(a, problem.a.data(), size * size * 2) ||
      !bench.device.copyToDevice(b, problem.b.data(), size * size * 2))
    return state.SkipWithError("no memory");
  double least = 1e9;
  for (auto _ : state) {
    const auto start = std::chrono::steady_clock::now();
    if (!launch(bench, a, b, d))
      return;
    least = std::min(least, std::chrono::duration<double>(
                                std::chrono::steady_clock::now() - start)
                                .count());
  }
  state.counters["least_s"] = least;
  if (!problem.isProduct(reinterpret_cast<const float *>(d)))
    state.SkipWithError("the result is wrong");
}

void gemmWgmma(benchmark::State &state) {
  gemm(state, unsigned(state.range(0)),
       "test/Unit/ptxsim_hopper/Inputs/gemm_sm90.ptx", "gemm",
       [](Bench &bench, uint64_t a, uint64_t b, uint64_t d) {
         const TensorMap mapA = mapOf(a), mapB = mapOf(b);
         return bench.launch({size / 128, size / 128, 1}, {384, 1, 1},
                             3 * 32768 + 2048,
                             {&mapA, &mapB, &d, &size, &size, &size});
       });
}
void gemmMma(benchmark::State &state) {
  gemm(state, unsigned(state.range(0)),
       "test/Unit/ptxsim_tensor/Inputs/gemm.ptx", "gemm_nt",
       [](Bench &bench, uint64_t a, uint64_t b, uint64_t d) {
         return bench.launch({size / 64, size / 64, 1}, {128, 1, 1}, 0,
                             {&a, &b, &d, &size, &size, &size});
       });
}

// The argument is the number of host threads.
BENCHMARK(gemmWgmma)->Arg(1)->Arg(2)->UseRealTime()->Unit(
    benchmark::kMillisecond);
BENCHMARK(gemmMma)->Arg(1)->Arg(2)->UseRealTime()->Unit(
    benchmark::kMillisecond);

} // namespace
