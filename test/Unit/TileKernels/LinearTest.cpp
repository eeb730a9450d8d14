// Linear layers written as abstract tile programs: sizes with tails in M, N and
// K, against sums computed here in double.
#include "test/Unit/TileKernels/TileKernel.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

using namespace k2c::test;

namespace {
struct Shape {
  int t, n, k, tileM = 64, tileN = 64, tileK = 64, warps = 4, stride = 0,
               stages = 0;
  int rowStride() const { return stride ? stride : (k + 7) / 8 * 8; }
};

std::string schedule(const Shape &s) {
  return s.stages
             ? fmt::format(", schedule = #tile.schedule<stages = {}>", s.stages)
             : "";
}

/// y = x w^T, both stored with rows of `rowStride`.
std::string linear(const Shape &s) {
  return fmt::format(
      R"(
tile.kernel @linear(%x: memref<?x{K}xbf16, strided<[{S}, 1]>>, %w: memref<{N}x{K}xbf16, strided<[{S}, 1]>>, %y: memref<?x{N}xbf16>)
    attributes {{num_warps = {warps}{schedule}}} {{
  %tx = tile.cta_id x
  %ty = tile.cta_id y
  %c0 = arith.constant 0 : i32
  %cm = arith.constant {BM} : i32
  %cn = arith.constant {BN} : i32
  %ck = arith.constant {BK} : i32
  %K = arith.constant {K} : i32
  %m = arith.muli %ty, %cm : i32
  %n = arith.muli %tx, %cn : i32
  %zero = arith.constant dense<0.0> : tensor<{BM}x{BN}xf32>
  %acc = scf.for %k = %c0 to %K step %ck iter_args(%c = %zero) -> (tensor<{BM}x{BN}xf32>) : i32 {{
    %a = tile.load %x[%m, %k] : memref<?x{K}xbf16, strided<[{S}, 1]>> -> tensor<{BM}x{BK}xbf16>
    %b = tile.load %w[%n, %k] : memref<{N}x{K}xbf16, strided<[{S}, 1]>> -> tensor<{BN}x{BK}xbf16>
    %d = tile.dot %a, %b, %c {{b_transposed}} : tensor<{BM}x{BK}xbf16>, tensor<{BN}x{BK}xbf16>, tensor<{BM}x{BN}xf32>
    scf.yield %d : tensor<{BM}x{BN}xf32>
  }}
  %r = arith.truncf %acc : tensor<{BM}x{BN}xf32> to tensor<{BM}x{BN}xbf16>
  tile.store %r, %y[%m, %n] : tensor<{BM}x{BN}xbf16>, memref<?x{N}xbf16>
  tile.return
}})",
      fmt::arg("K", s.k), fmt::arg("N", s.n), fmt::arg("S", s.rowStride()),
      fmt::arg("BM", s.tileM), fmt::arg("BN", s.tileN), fmt::arg("BK", s.tileK),
      fmt::arg("warps", s.warps), fmt::arg("schedule", schedule(s)));
}

/// Rows of `k` values padded with NaN: padding must not reach a result.
std::vector<uint16_t> padded(Numbers &numbers, int rows, int k, int stride) {
  std::vector<uint16_t> out(size_t(rows) * stride, 0x7fc0);
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < k; ++c)
      out[size_t(r) * stride + c] = toBf16(numbers.value());
  return out;
}

void expectClose(float got, double want, double scale,
                 const std::string &where) {
  // One bf16 rounding and the order of f32 sums of values up to `scale`.
  ASSERT_LE(std::fabs(got - want), std::fabs(want) / 128 + scale * 1e-5)
      << where << ": " << got << " instead of " << want;
}

int blocks(int n, int tile) { return (n + tile - 1) / tile; }

class Linear : public testing::TestWithParam<Shape> {};
} // namespace

TEST_P(Linear, Bf16) {
  Shape s = GetParam();
  TileKernel kernel(linear(s));
  ASSERT_FALSE(HasFatalFailure());
  Numbers numbers(s.t + s.n + s.k);
  auto x = padded(numbers, s.t, s.k, s.rowStride()),
       w = padded(numbers, s.n, s.k, s.rowStride());
  kernel.in(x);
  kernel.i32(s.t);
  kernel.in(w);
  uint64_t y = kernel.out(size_t(s.t) * s.n * 2);
  kernel.i32(s.t);
  ASSERT_EQ(kernel.run({uint32_t(blocks(s.n, s.tileN)),
                        uint32_t(blocks(s.t, s.tileM)), 1}),
            "");
  for (int r = 0; r < s.t; ++r)
    for (int c = 0; c < s.n; ++c) {
      double want = 0;
      for (int k = 0; k < s.k; ++k)
        want += double(fromBf16(x[size_t(r) * s.rowStride() + k])) *
                fromBf16(w[size_t(c) * s.rowStride() + k]);
      expectClose(fromBf16(kernel.data<uint16_t>(y)[size_t(r) * s.n + c]), want,
                  s.k, fmt::format("[{}, {}]", r, c));
      if (HasFatalFailure())
        return;
    }
  // Warps that find no room repeat the work of others. Columns that are never
  // stored are never computed.
  int room = (s.tileM & -s.tileM) / 16 * ((s.tileN & -s.tileN) / 8);
  int copies = std::max(1, s.warps / room);
  if (s.n % s.tileN == 0)
    EXPECT_EQ(kernel.counters.tensorFlops, 2ull * copies *
                                               blocks(s.t, s.tileM) * s.tileM *
                                               blocks(s.n, s.tileN) * s.tileN *
                                               blocks(s.k, s.tileK) * s.tileK);
  if (s.stride == 0) {
    EXPECT_GT(count(kernel.ptx(), "ldmatrix"), 0u);
    EXPECT_EQ(kernel.counters.sharedWavefronts,
              kernel.counters.sharedIdealWavefronts)
        << "bank conflicts";
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, Linear,
    testing::Values(
        Shape{64, 64, 64},                       // one tile, one trip
        Shape{64, 64, 256},                      // several trips
        Shape{1, 64, 128},                       // one row
        Shape{70, 72, 200},                      // tails in M, N and K
        Shape{65, 130, 1000, 128, 64, 64, 4},    // tall tiles
        Shape{33, 200, 192, 64, 128, 64, 8},     // wide tiles, 8 warps
        Shape{20, 24, 96, 16, 8, 32, 1},         // one instruction wide
        Shape{17, 50, 80, 32, 32, 16, 2},        // 32-byte rows
        Shape{64, 192, 128, 64, 192, 64, 4},     // odd repeats in N
        Shape{40, 40, 256, 48, 24, 128, 2},      // odd rows, two panels
        Shape{40, 40, 96, 48, 24, 96, 1},        // odd repeats everywhere
        Shape{40, 40, 96, 48, 24, 96, 2},        // two warps that do the same
        Shape{64, 64, 300, 64, 64, 64, 4, 300},  // 8-byte pieces
        Shape{30, 30, 102, 32, 32, 32, 4, 102},  // 4-byte pieces
        Shape{30, 30, 101, 32, 32, 32, 4, 101},  // no asynchronous copy
        Shape{70, 72, 200, 64, 64, 64, 4, 0, 1}, // no overlap
        Shape{70, 72, 200, 64, 64, 64, 4, 0, 2},
        Shape{70, 72, 200, 64, 64, 64, 4, 0, 4}),
    [](const testing::TestParamInfo<Shape> &info) {
      const Shape &s = info.param;
      return fmt::format("T{}N{}K{}tile{}x{}x{}w{}s{}p{}", s.t, s.n, s.k,
                         s.tileM, s.tileN, s.tileK, s.warps, s.stages,
                         s.stride);
    });

// Random sizes, tiles, pitches and warps, also those that fit no shared buffer.
INSTANTIATE_TEST_SUITE_P(Random, Linear, testing::ValuesIn([] {
                           Numbers numbers(99);
                           auto pick = [&](std::initializer_list<int> from) {
                             return from.begin()[numbers.next() % from.size()];
                           };
                           std::vector<Shape> shapes;
                           for (int i = 0; i < 24; ++i) {
                             Shape s{1 + int(numbers.next() % 130),
                                     1 + int(numbers.next() % 130),
                                     1 + int(numbers.next() % 300)};
                             s.tileM = pick({16, 32, 48, 64, 96, 128});
                             s.tileN = pick({8, 16, 24, 40, 64, 128});
                             s.tileK = pick({16, 32, 48, 64, 96, 128, 192});
                             s.warps = pick({1, 2, 4, 8});
                             s.stages = pick({0, 1, 2, 3});
                             if (numbers.next() % 3 == 0)
                               s.stride = s.k + numbers.next() % 9;
                             shapes.push_back(s);
                           }
                           return shapes;
                         }()));

// e4m3 weights with 128x128 block scales on the partial sums.
TEST(Weights8Bit, BlockScales) {
  const int t = 37, n = 200, k = 400, stride = 400;
  TileKernel kernel(R"(
tile.kernel @w8(%x: memref<?x400xbf16>, %w: memref<200x400xf8E4M3FN>, %s: memref<2x4xf32>, %y: memref<?x200xbf16>) attributes {num_warps = 4} {
  %tx = tile.cta_id x
  %ty = tile.cta_id y
  %c64 = arith.constant 64 : i32
  %c128 = arith.constant 128 : i32
  %c0 = arith.constant 0 : i32
  %K = arith.constant 400 : i32
  %m = arith.muli %ty, %c64 : i32
  %n = arith.muli %tx, %c64 : i32
  %nb = arith.divsi %n, %c128 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %acc = scf.for %k = %c0 to %K step %c128 iter_args(%c = %zero) -> (tensor<64x64xf32>) : i32 {
    %a = tile.load %x[%m, %k] : memref<?x400xbf16> -> tensor<64x128xbf16>
    %b8 = tile.load %w[%n, %k] : memref<200x400xf8E4M3FN> -> tensor<64x128xf8E4M3FN>
    %b = tile.convert %b8 : tensor<64x128xf8E4M3FN> -> tensor<64x128xbf16>
    %d = tile.dot %a, %b, %zero {b_transposed} : tensor<64x128xbf16>, tensor<64x128xbf16>, tensor<64x64xf32>
    %kb = arith.divsi %k, %c128 : i32
    %sc = tile.load_scalar %s[%nb, %kb] : memref<2x4xf32> -> f32
    %st = tile.splat %sc : f32 -> tensor<64x64xf32>
    %p = arith.mulf %d, %st : tensor<64x64xf32>
    %c2 = arith.addf %c, %p : tensor<64x64xf32>
    scf.yield %c2 : tensor<64x64xf32>
  }
  %r = arith.truncf %acc : tensor<64x64xf32> to tensor<64x64xbf16>
  tile.store %r, %y[%m, %n] : tensor<64x64xbf16>, memref<?x200xbf16>
  tile.return
})");
  ASSERT_FALSE(HasFatalFailure());
  Numbers numbers(5);
  auto x = padded(numbers, t, k, stride);
  auto w = numbers.e4m3(size_t(n) * k);
  std::vector<float> scales = {0.5f,   0.25f, 2.0f, 1.0f,
                               0.125f, 0.75f, 1.5f, 3.0f};
  kernel.in(x);
  kernel.i32(t);
  kernel.in(w);
  kernel.in(scales);
  uint64_t y = kernel.out(size_t(t) * n * 2);
  kernel.i32(t);
  ASSERT_EQ(kernel.run({4, 1, 1}), "");
  for (int r = 0; r < t; ++r)
    for (int c = 0; c < n; ++c) {
      double want = 0, size = 0;
      for (int i = 0; i < k; ++i) {
        double term = double(fromBf16(x[size_t(r) * stride + i])) *
                      fromE4m3(w[size_t(c) * k + i]) *
                      scales[c / 128 * 4 + i / 128];
        want += term;
        size += std::fabs(term);
      }
      expectClose(fromBf16(kernel.data<uint16_t>(y)[size_t(r) * n + c]), want,
                  size, fmt::format("[{}, {}]", r, c));
      if (HasFatalFailure())
        return;
    }
}

// Rows gathered by index, several weights per kernel, row bounds: what an
// expert does.
TEST(Experts, GatheredGateUp) {
  const int tokens = 21, rows = 90, first = 20, n = 64, k = 160;
  TileKernel kernel(R"(
tile.kernel @experts(%x: memref<?x160xbf16>, %ids: memref<?xi32>, %g: memref<3x64x160xbf16>, %u: memref<3x64x160xbf16>, %y: memref<?x64xbf16>, %end: i32)
    attributes {num_warps = 4} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c20 = arith.constant 20 : i32
  %c64 = arith.constant 64 : i32
  %K = arith.constant 160 : i32
  %row = tile.cta_id x
  %r64 = arith.muli %row, %c64 : i32
  %first = arith.addi %r64, %c20 : i32
  %io = tile.iota axis 0 : tensor<64xi32>
  %ft = tile.splat %first : i32 -> tensor<64xi32>
  %at = arith.addi %io, %ft : tensor<64xi32>
  %et = tile.splat %end : i32 -> tensor<64xi32>
  %in = arith.cmpi slt, %at, %et : tensor<64xi32>
  %none = arith.constant dense<-1> : tensor<64xi32>
  %loaded = tile.load %ids[%first] bounds [%end] : memref<?xi32> -> tensor<64xi32>
  %id = arith.select %in, %loaded, %none : tensor<64xi1>, tensor<64xi32>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %acc:2 = scf.for %k = %c0 to %K step %c64 iter_args(%a = %zero, %b = %zero) -> (tensor<64x64xf32>, tensor<64x64xf32>) : i32 {
    %t = tile.gather %x[%k] rows %id : memref<?x160xbf16>, tensor<64xi32> -> tensor<64x64xbf16>
    %wg = tile.load %g[%c1, %c0, %k] : memref<3x64x160xbf16> -> tensor<64x64xbf16>
    %wu = tile.load %u[%c1, %c0, %k] : memref<3x64x160xbf16> -> tensor<64x64xbf16>
    %d = tile.dot %t, %wg, %a {b_transposed} : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    %e = tile.dot %t, %wu, %b {b_transposed} : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    scf.yield %d, %e : tensor<64x64xf32>, tensor<64x64xf32>
  }
  %h = arith.mulf %acc#0, %acc#1 : tensor<64x64xf32>
  %r = arith.truncf %h : tensor<64x64xf32> to tensor<64x64xbf16>
  tile.store %r, %y[%first, %c0] bounds [%end] : tensor<64x64xbf16>, memref<?x64xbf16>
  tile.return
})");
  ASSERT_FALSE(HasFatalFailure());
  Numbers numbers(6);
  auto x = numbers.bf16(size_t(tokens) * k),
       g = numbers.bf16(size_t(3) * n * k), u = numbers.bf16(size_t(3) * n * k);
  std::vector<int32_t> ids(rows);
  for (int &id : ids)
    id = numbers.next() % tokens;
  const int end = 87;
  kernel.in(x);
  kernel.i32(tokens);
  kernel.in(ids);
  kernel.i32(rows);
  kernel.in(g);
  kernel.in(u);
  uint64_t y = kernel.out(size_t(rows) * n * 2);
  kernel.i32(rows);
  kernel.i32(end);
  ASSERT_EQ(kernel.run({2, 1, 1}), "");
  const uint16_t *got = kernel.data<uint16_t>(y);
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < n; ++c) {
      if (r < first || r >= end) {
        ASSERT_EQ(got[r * n + c], 0x7b7b) << "row " << r << " is nobody's";
        continue;
      }
      double a = 0, b = 0;
      for (int i = 0; i < k; ++i) {
        double v = fromBf16(x[size_t(ids[r]) * k + i]);
        a += v * fromBf16(g[size_t(n + c) * k + i]);
        b += v * fromBf16(u[size_t(n + c) * k + i]);
      }
      ASSERT_LE(std::fabs(fromBf16(got[r * n + c]) - a * b),
                std::fabs(a * b) / 128 + 1e-2)
          << r << " " << c;
    }
}

// The weight's rows are summed over (absorbing the query into W_UK): B is read
// transposed from its rows, in bf16 and in e4m3.
class PerHead : public testing::TestWithParam<bool> {};
TEST_P(PerHead, RowsOfTheWeightAreSummed) {
  bool eight = GetParam();
  const int t = 50, heads = 3, q = 48, nope = 32, rowsPerHead = 64, c = 64;
  std::string type = eight ? "f8E4M3FN" : "bf16";
  TileKernel kernel(fmt::format(
      R"(
tile.kernel @absorb(%q: memref<?x144xbf16>, %w: memref<192x64x{type}>, %y: memref<?x192xbf16>) attributes {{num_warps = 4}} {{
  %h = tile.cta_id x
  %c0 = arith.constant 0 : i32
  %c48 = arith.constant 48 : i32
  %c64 = arith.constant 64 : i32
  %qcol = arith.muli %h, %c48 : i32
  %row = arith.muli %h, %c64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %a = tile.load %q[%c0, %qcol] : memref<?x144xbf16> -> tensor<64x32xbf16>
  %w0 = tile.load %w[%row, %c0] : memref<192x64x{type}> -> tensor<32x64x{type}>
  {convert}
  %d = tile.dot %a, {b}, %zero : tensor<64x32xbf16>, tensor<32x64xbf16>, tensor<64x64xf32>
  %r = arith.truncf %d : tensor<64x64xf32> to tensor<64x64xbf16>
  tile.store %r, %y[%c0, %row] : tensor<64x64xbf16>, memref<?x192xbf16>
  tile.return
}})",
      fmt::arg("type", type), fmt::arg("b", eight ? "%b" : "%w0"),
      fmt::arg("convert", eight ? "%b = tile.convert %w0 : "
                                  "tensor<32x64xf8E4M3FN> -> tensor<32x64xbf16>"
                                : "")));
  ASSERT_FALSE(HasFatalFailure());
  Numbers numbers(7);
  auto x = numbers.bf16(size_t(t) * heads * q);
  auto w16 = numbers.bf16(size_t(heads) * rowsPerHead * c);
  auto w8 = numbers.e4m3(size_t(heads) * rowsPerHead * c);
  kernel.in(x);
  kernel.i32(t);
  if (eight)
    kernel.in(w8);
  else
    kernel.in(w16);
  uint64_t y = kernel.out(size_t(t) * heads * c * 2);
  kernel.i32(t);
  ASSERT_EQ(kernel.run({heads, 1, 1}), "");
  for (int r = 0; r < t; ++r)
    for (int h = 0; h < heads; ++h)
      for (int i = 0; i < c; ++i) {
        double want = 0, size = 0;
        for (int k = 0; k < nope; ++k) {
          size_t at = size_t(h * rowsPerHead + k) * c + i;
          double term = double(fromBf16(x[size_t(r) * heads * q + h * q + k])) *
                        (eight ? fromE4m3(w8[at]) : fromBf16(w16[at]));
          want += term;
          size += std::fabs(term);
        }
        expectClose(
            fromBf16(kernel.data<uint16_t>(y)[(size_t(r) * heads + h) * c + i]),
            want, size, fmt::format("{} {} {}", r, h, i));
        if (HasFatalFailure())
          return;
      }
  if (!eight)
    EXPECT_GT(count(kernel.ptx(), "ldmatrix.sync.aligned.m8n8.x4.trans"), 0u);
}
INSTANTIATE_TEST_SUITE_P(Types, PerHead, testing::Bool());
