// Kernels that nvcc compiled (Inputs/*.cu), against references in double: the
// parser, the scheduler and the tensor families on another compiler's output.

#include "Kernel.h"
#include "runtime/ptxsim/numeric/Fp8.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

using namespace harness;
using namespace ptxsim;

namespace {

std::vector<uint16_t> randomBF16(size_t n, unsigned seed, float scale = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, scale);
  std::vector<uint16_t> v(n);
  for (uint16_t &h : v)
    h = HalfBF16::narrow(normal(random));
  return v;
}
double value(uint16_t h) { return HalfBF16::widen(h); }

DeviceOptions optionsFor(bool lazy) {
  DeviceOptions options;
  options.async = lazy ? ptxsim::Async::Lazy : ptxsim::Async::Eager;
  return options;
}

void checkGemmNT(int M, int N, int K, bool lazy) {
  Program kernel(readFile("gemm.ptx"), optionsFor(lazy));
  auto a = randomBF16(size_t(M) * K, 1), b = randomBF16(size_t(N) * K, 2);
  uint64_t pa = kernel.buffer(a, "A"), pb = kernel.buffer(b, "B");
  // NaN where nothing is stored.
  uint64_t pc = kernel.buffer(std::vector<uint32_t>(size_t(M) * N, ~0u), "C");
  Dim3 grid{uint32_t(N + 63) / 64, uint32_t(M + 63) / 64, 1};
  kernel.launch("gemm_nt", grid, {128, 1, 1}, pa, pb, pc, M, N, K);
  ASSERT_EQ(kernel.error, "");
  auto c = kernel.read<float>(pc, size_t(M) * N);
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j) {
      double sum = 0, magnitude = 0;
      for (int k = 0; k < K; ++k) {
        double p = value(a[size_t(i) * K + k]) * value(b[size_t(j) * K + k]);
        sum += p, magnitude += std::fabs(p);
      }
      // K roundings of 2^-24 each, of partial sums.
      ASSERT_NEAR(c[size_t(i) * N + j], sum, magnitude * K * 0x1p-24)
          << i << "," << j;
    }
  // All tiles in full: 2 * 64 * 64 * 32 for each step.
  EXPECT_EQ(kernel.counters.tensorFlops,
            uint64_t(grid.x) * grid.y * ((K + 31) / 32) * 2 * 64 * 64 * 32);
  // The swizzle is free of conflicts.
  EXPECT_EQ(kernel.counters.sharedWavefronts,
            kernel.counters.sharedIdealWavefronts);
}

TEST(NvccKernels, GemmWithAsyncCopiesAndTails) {
  for (bool lazy : {false, true}) {
    checkGemmNT(64, 64, 32, lazy);
    checkGemmNT(128, 64, 256, lazy);
    checkGemmNT(70, 130, 104, lazy);
    checkGemmNT(1, 8, 8, lazy);
  }
}

TEST(NvccKernels, GemmWithTransposedLoads) {
  for (bool lazy : {false, true}) {
    const int M = 128, N = 192, K = 160;
    Program kernel(readFile("gemm.ptx"), optionsFor(lazy));
    auto a = randomBF16(M * K, 3), b = randomBF16(K * N, 4);
    uint64_t pa = kernel.buffer(a, "A"), pb = kernel.buffer(b, "B");
    uint64_t pc = kernel.buffer(std::vector<uint16_t>(M * N, 0xffff), "C");
    kernel.launch("gemm_nn", {N / 64, M / 64, 1}, {128, 1, 1}, pa, pb, pc, M, N,
                  K);
    ASSERT_EQ(kernel.error, "");
    auto c = kernel.read<uint16_t>(pc, M * N);
    for (int i = 0; i < M; ++i)
      for (int j = 0; j < N; ++j) {
        double sum = 0, magnitude = 0;
        for (int k = 0; k < K; ++k) {
          double p = value(a[i * K + k]) * value(b[k * N + j]);
          sum += p, magnitude += std::fabs(p);
        }
        ASSERT_NEAR(value(c[i * N + j]), sum,
                    std::fabs(sum) * 0x1p-8 + magnitude * K * 0x1p-24)
            << i << "," << j;
      }
  }
}

TEST(NvccKernels, Fp8Dot) {
  const int K = 256;
  Program kernel(readFile("gemm.ptx"));
  std::mt19937 random(5);
  auto codes = [&](size_t n) {
    std::vector<uint8_t> v(n);
    for (uint8_t &b : v)
      do
        b = uint8_t(random());
      while ((b & 0x7f) == 0x7f);
    return v;
  };
  auto a = codes(16 * K), b = codes(8 * K);
  uint64_t pc = kernel.buffer(std::vector<float>(16 * 8));
  uint64_t pa = kernel.buffer(a), pb = kernel.buffer(b);
  kernel.launch("fp8_dot", {}, {32, 1, 1}, pa, pb, pc, K);
  ASSERT_EQ(kernel.error, "");
  auto c = kernel.read<float>(pc, 16 * 8);
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 8; ++j) {
      double sum = 0, magnitude = 0;
      for (int k = 0; k < K; ++k) {
        double p = double(widenFp8<Fp8E4M3>(a[i * K + k])) *
                   widenFp8<Fp8E4M3>(b[j * K + k]);
        sum += p, magnitude += std::fabs(p);
      }
      ASSERT_NEAR(c[i * 8 + j], sum, magnitude * K * 0x1p-24);
    }
}

TEST(NvccKernels, QuantiseToE4M3AndBack) {
  const int rows = 6;
  std::mt19937 random(6);
  std::normal_distribution<float> normal;
  std::vector<float> in(rows * 128);
  for (int r = 0; r < rows; ++r)
    for (int i = 0; i < 128; ++i)
      in[r * 128 + i] = r == 1 ? 0 : normal(random) * std::ldexp(1, 6 * r - 12);
  Program kernel(readFile("formats.ptx"));
  uint64_t pi = kernel.buffer(in),
           po = kernel.buffer(std::vector<uint8_t>(rows * 128)),
           ps = kernel.buffer(std::vector<float>(rows)),
           pb = kernel.buffer(std::vector<uint16_t>(rows * 128));
  kernel.launch("quantise", {rows, 1, 1}, {128, 1, 1}, pi, po, ps, pb);
  ASSERT_EQ(kernel.error, "");
  auto codes = kernel.read<uint8_t>(po, rows * 128);
  auto scales = kernel.read<float>(ps, rows);
  auto back = kernel.read<uint16_t>(pb, rows * 128);
  for (int r = 0; r < rows; ++r) {
    float most = 0;
    for (int i = 0; i < 128; ++i)
      most = std::fmax(most, std::fabs(in[r * 128 + i]));
    float scale = most > 0 ? most / 448.0f : 1.0f;
    ASSERT_EQ(scales[r], scale);
    for (int i = 0; i < 128; ++i) {
      uint8_t code = uint8_t(pack(
          formatE4M3,
          unpack(formatF32, std::bit_cast<uint32_t>(in[r * 128 + i] / scale)),
          Rounding::NearestEven, true));
      ASSERT_EQ(codes[r * 128 + i], code);
      ASSERT_EQ(back[r * 128 + i],
                HalfBF16::narrow(widenFp8<Fp8E4M3>(code) * scale));
    }
  }
}

TEST(NvccKernels, Softmax) {
  const int rows = 5;
  auto in = randomBF16(rows * 256, 7, 4);
  Program kernel(readFile("formats.ptx"));
  uint64_t pi = kernel.buffer(in),
           po = kernel.buffer(std::vector<uint16_t>(rows * 256));
  kernel.launch("softmax", {rows, 1, 1}, {32, 1, 1}, pi, po);
  ASSERT_EQ(kernel.error, "");
  auto out = kernel.read<uint16_t>(po, rows * 256);
  for (int r = 0; r < rows; ++r) {
    double most = -INFINITY, sum = 0;
    for (int i = 0; i < 256; ++i)
      most = std::fmax(most, value(in[r * 256 + i]));
    for (int i = 0; i < 256; ++i)
      sum += std::exp(value(in[r * 256 + i]) - most);
    for (int i = 0; i < 256; ++i) {
      double p = std::exp(value(in[r * 256 + i]) - most) / sum;
      ASSERT_NEAR(value(out[r * 256 + i]), p, p * 0x1.1p-8) << r << "," << i;
    }
  }
}

TEST(NvccKernels, PackedHalves) {
  const int n = 256;
  auto a = randomBF16(2 * n, 8), b = randomBF16(2 * n, 9),
       c = randomBF16(2 * n, 10);
  b[5] = 0x7fc0; // NaN
  Program kernel(readFile("formats.ptx"));
  uint64_t pa = kernel.buffer(a), pb = kernel.buffer(b), pc = kernel.buffer(c);
  uint64_t out[3];
  for (uint64_t &p : out)
    p = kernel.buffer(std::vector<uint16_t>(2 * n));
  kernel.launch("packed", {n / 64, 1, 1}, {64, 1, 1}, pa, pb, pc, out[0],
                out[1], out[2]);
  ASSERT_EQ(kernel.error, "");
  auto fma = kernel.read<uint16_t>(out[0], 2 * n),
       max = kernel.read<uint16_t>(out[1], 2 * n),
       half = kernel.read<uint16_t>(out[2], 2 * n);
  for (int i = 0; i < 2 * n; ++i) {
    if (i == 5) {
      EXPECT_EQ(fma[i], 0x7fff);
      EXPECT_EQ(max[i], 0x7fff);
      continue;
    }
    // Products of two bf16 and their sums with a third are exact in double
    // for numbers of this size.
    double exact = std::fmax(value(a[i]) * value(b[i]) + value(c[i]), 0);
    uint16_t rounded = uint16_t(
        pack(formatBF16, unpack(formatF64, std::bit_cast<uint64_t>(exact)),
             Rounding::NearestEven));
    ASSERT_EQ(fma[i], rounded) << i;
    ASSERT_EQ(value(max[i]), std::fmax(value(a[i]), value(b[i])));
    double x = HalfF16::widen(HalfF16::narrow(float(value(a[i])))),
           y = HalfF16::widen(HalfF16::narrow(float(value(b[i]))));
    ASSERT_EQ(half[i], HalfF16::narrow(float(x + y)));
  }
}

} // namespace
