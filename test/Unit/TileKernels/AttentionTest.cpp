// Absorbed attention over a paged latent cache as an abstract tile program,
// against softmax computed here in double.
#include "test/Unit/TileKernels/TileKernel.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

using namespace k2c::test;

namespace {
/// One CTA: 64 (token, head) rows of one sequence; keys in pages of 64; the
/// latent tile is K and V.
std::string attention(int C, int R, int N, int H, int warps) {
  return fmt::format(R"(
tile.kernel @attention(%ql: memref<?x{C}xbf16>, %q: memref<?x{Q}xbf16>, %cache: memref<?x64x{L}xbf16>, %bt: memref<?x8xi32>, %tiles: memref<?x2xi32>,
                       %seq: memref<?xi32>, %past: memref<?xi32>, %out: memref<?x{C}xbf16>) attributes {{num_warps = {warps}}} {{
  %w = tile.cta_id x
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %cC = arith.constant {C} : i32
  %cN = arith.constant {N} : i32
  %cH = arith.constant {H} : i32
  %s = tile.load_scalar %tiles[%w, %c0] : memref<?x2xi32> -> i32
  %row0 = tile.load_scalar %tiles[%w, %c1] : memref<?x2xi32> -> i32
  %s1 = arith.addi %s, %c1 : i32
  %start = tile.load_scalar %seq[%s] : memref<?xi32> -> i32
  %stop = tile.load_scalar %seq[%s1] : memref<?xi32> -> i32
  %p = tile.load_scalar %past[%s] : memref<?xi32> -> i32
  %end = arith.muli %stop, %cH : i32
  %qlat = tile.load %ql[%row0, %c0] bounds [%end] : memref<?x{C}xbf16> -> tensor<64x{C}xbf16>
  %qpe = tile.load %q[%row0, %cN] bounds [%end] : memref<?x{Q}xbf16> -> tensor<64x{R}xbf16>
  %r64 = arith.addi %row0, %c64 : i32
  %last = arith.minsi %r64, %end : i32
  %lm1 = arith.subi %last, %c1 : i32
  %token = arith.divsi %lm1, %cH : i32
  %rel = arith.subi %token, %start : i32
  %key = arith.addi %p, %rel : i32
  %keys = arith.addi %key, %c1 : i32
  %rio = tile.iota axis 0 : tensor<64x1xi32>
  %r0t = tile.splat %row0 : i32 -> tensor<64x1xi32>
  %rt = arith.addi %rio, %r0t : tensor<64x1xi32>
  %Ht = tile.splat %cH : i32 -> tensor<64x1xi32>
  %tok = arith.divsi %rt, %Ht : tensor<64x1xi32>
  %st = tile.splat %start : i32 -> tensor<64x1xi32>
  %tr = arith.subi %tok, %st : tensor<64x1xi32>
  %pt = tile.splat %p : i32 -> tensor<64x1xi32>
  %limit = arith.addi %tr, %pt : tensor<64x1xi32>
  %limits = tile.broadcast %limit : tensor<64x1xi32> -> tensor<64x64xi32>
  %zO = arith.constant dense<0.0> : tensor<64x{C}xf32>
  %zS = arith.constant dense<0.0> : tensor<64x64xf32>
  %ninf = arith.constant dense<0xFF800000> : tensor<64x1xf32>
  %ninfS = arith.constant dense<0xFF800000> : tensor<64x64xf32>
  %z1 = arith.constant dense<0.0> : tensor<64x1xf32>
  %scale = arith.constant dense<0.0625> : tensor<64x64xf32>
  %r:3 = scf.for %j = %c0 to %keys step %c64 iter_args(%o = %zO, %m = %ninf, %l = %z1)
      -> (tensor<64x{C}xf32>, tensor<64x1xf32>, tensor<64x1xf32>) : i32 {{
    %jp = arith.divsi %j, %c64 : i32
    %page = tile.load_scalar %bt[%s, %jp] : memref<?x8xi32> -> i32
    %left = arith.subi %keys, %j : i32
    %c = tile.load %cache[%page, %c0, %c0] bounds [%left] : memref<?x64x{L}xbf16> -> tensor<64x{C}xbf16>
    %kpe = tile.load %cache[%page, %c0, %cC] bounds [%left] : memref<?x64x{L}xbf16> -> tensor<64x{R}xbf16>
    %s0 = tile.dot %qlat, %c, %zS {{b_transposed}} : tensor<64x{C}xbf16>, tensor<64x{C}xbf16>, tensor<64x64xf32>
    %s2 = tile.dot %qpe, %kpe, %s0 {{b_transposed}} : tensor<64x{R}xbf16>, tensor<64x{R}xbf16>, tensor<64x64xf32>
    %sc = arith.mulf %s2, %scale : tensor<64x64xf32>
    %kio = tile.iota axis 1 : tensor<64x64xi32>
    %jt = tile.splat %j : i32 -> tensor<64x64xi32>
    %at = arith.addi %kio, %jt : tensor<64x64xi32>
    %ok = arith.cmpi sle, %at, %limits : tensor<64x64xi32>
    %sm = arith.select %ok, %sc, %ninfS : tensor<64x64xi1>, tensor<64x64xf32>
    %mx = tile.reduce maximum axis 1 %sm : tensor<64x64xf32> -> tensor<64x1xf32>
    %mn = arith.maximumf %m, %mx : tensor<64x1xf32>
    %never = arith.cmpf oeq, %mn, %ninf : tensor<64x1xf32>
    %mg = arith.select %never, %z1, %mn : tensor<64x1xi1>, tensor<64x1xf32>
    %mb = tile.broadcast %mg : tensor<64x1xf32> -> tensor<64x64xf32>
    %d = arith.subf %sm, %mb : tensor<64x64xf32>
    %pp = math.exp2 %d fastmath<afn> : tensor<64x64xf32>
    %da = arith.subf %m, %mg : tensor<64x1xf32>
    %alpha = math.exp2 %da fastmath<afn> : tensor<64x1xf32>
    %la = arith.mulf %l, %alpha : tensor<64x1xf32>
    %ps = tile.reduce add axis 1 %pp : tensor<64x64xf32> -> tensor<64x1xf32>
    %ln = arith.addf %la, %ps : tensor<64x1xf32>
    %ab = tile.broadcast %alpha : tensor<64x1xf32> -> tensor<64x{C}xf32>
    %oa = arith.mulf %o, %ab : tensor<64x{C}xf32>
    %pb = arith.truncf %pp : tensor<64x64xf32> to tensor<64x64xbf16>
    %on = tile.dot %pb, %c, %oa : tensor<64x64xbf16>, tensor<64x{C}xbf16>, tensor<64x{C}xf32>
    scf.yield %on, %mn, %ln : tensor<64x{C}xf32>, tensor<64x1xf32>, tensor<64x1xf32>
  }}
  %empty = arith.cmpf oeq, %r#2, %z1 : tensor<64x1xf32>
  %one = arith.constant dense<1.0> : tensor<64x1xf32>
  %lg = arith.select %empty, %one, %r#2 : tensor<64x1xi1>, tensor<64x1xf32>
  %inv = arith.divf %one, %lg : tensor<64x1xf32>
  %ib = tile.broadcast %inv : tensor<64x1xf32> -> tensor<64x{C}xf32>
  %of = arith.mulf %r#0, %ib : tensor<64x{C}xf32>
  %ob = arith.truncf %of : tensor<64x{C}xf32> to tensor<64x{C}xbf16>
  tile.store %ob, %out[%row0, %c0] bounds [%end] : tensor<64x{C}xbf16>, memref<?x{C}xbf16>
  tile.return
}})",
                     fmt::arg("C", C), fmt::arg("R", R), fmt::arg("N", N),
                     fmt::arg("Q", N + R), fmt::arg("L", C + R),
                     fmt::arg("H", H), fmt::arg("warps", warps));
}

struct Case {
  int C, R, N, H, warps;
};
class Attention : public testing::TestWithParam<Case> {};
} // namespace

TEST_P(Attention, RaggedBatchOverPages) {
  auto [C, R, N, H, warps] = GetParam();
  TileKernel kernel(attention(C, R, N, H, warps));
  ASSERT_FALSE(HasFatalFailure());
  const int L = C + R;
  // Two sequences: a prompt in one go, and new tokens over a cached prefix that
  // fills a page and a half.
  std::vector<int32_t> seq = {0, 70 / H, 70 / H + 5}, past = {0, 93};
  const int tokens = seq.back(), rows = tokens * H, pages = 7;
  Numbers numbers(C + warps);
  auto ql = numbers.bf16(size_t(rows) * C),
       q = numbers.bf16(size_t(rows) * (N + R));
  // Slots that no token has written hold NaN.
  std::vector<uint16_t> cache(size_t(pages) * 64 * L, 0x7fc0);
  std::vector<int32_t> table = {3, 5, 0, 0, 0, 0, 0, 0, 6, 1, 4, 0, 0, 0, 0, 0};
  for (int s = 0; s < 2; ++s)
    for (int key = 0; key < past[s] + seq[s + 1] - seq[s]; ++key)
      for (int i = 0; i < L; ++i)
        cache[(size_t(table[s * 8 + key / 64]) * 64 + key % 64) * L + i] =
            toBf16(numbers.value());
  std::vector<int32_t> tiles;
  for (int s = 0; s < 2; ++s)
    for (int row = seq[s] * H; row < seq[s + 1] * H; row += 64)
      tiles.insert(tiles.end(), {s, row});

  kernel.in(ql);
  kernel.i32(rows);
  kernel.in(q);
  kernel.i32(rows);
  kernel.in(cache);
  kernel.i32(pages);
  kernel.in(table);
  kernel.i32(2);
  kernel.in(tiles);
  kernel.i32(tiles.size() / 2);
  kernel.in(seq);
  kernel.i32(3);
  kernel.in(past);
  kernel.i32(2);
  uint64_t out = kernel.out(size_t(rows) * C * 2);
  kernel.i32(rows);
  ASSERT_EQ(kernel.run({uint32_t(tiles.size() / 2), 1, 1}), "");

  double error = 0, size = 0;
  for (int row = 0; row < rows; ++row) {
    int s = row >= seq[1] * H, keys = past[s] + row / H - seq[s] + 1;
    std::vector<double> p(keys), o(C, 0);
    double most = -1e30, sum = 0;
    auto latent = [&](int key, int i) {
      return double(fromBf16(
          cache[(size_t(table[s * 8 + key / 64]) * 64 + key % 64) * L + i]));
    };
    for (int key = 0; key < keys; ++key) {
      double score = 0;
      for (int i = 0; i < C; ++i)
        score += fromBf16(ql[size_t(row) * C + i]) * latent(key, i);
      for (int i = 0; i < R; ++i)
        score +=
            fromBf16(q[size_t(row) * (N + R) + N + i]) * latent(key, C + i);
      p[key] = score * 0.0625;
      most = std::max(most, p[key]);
    }
    for (double &x : p)
      sum += x = std::exp2(x - most);
    for (int key = 0; key < keys; ++key)
      for (int i = 0; i < C; ++i)
        o[i] += p[key] / sum * latent(key, i);
    for (int i = 0; i < C; ++i) {
      double got = fromBf16(kernel.data<uint16_t>(out)[size_t(row) * C + i]);
      error += (got - o[i]) * (got - o[i]);
      size += o[i] * o[i];
    }
  }
  // P and the output are rounded to bf16: 2^-9 each.
  EXPECT_LT(std::sqrt(error / size), 4e-3);
  EXPECT_EQ(kernel.counters.sharedWavefronts,
            kernel.counters.sharedIdealWavefronts)
      << "bank conflicts";
}

INSTANTIATE_TEST_SUITE_P(Sizes, Attention,
                         testing::Values(Case{64, 16, 32, 4, 4},
                                         Case{128, 32, 32, 2, 8},
                                         Case{512, 64, 128, 64, 8}),
                         [](const testing::TestParamInfo<Case> &info) {
                           return fmt::format("C{}R{}w{}", info.param.C,
                                              info.param.R, info.param.warps);
                         });

// One latent tile of odd width in both roles: all its columns against x, then
// its first C columns (a slice of the buffer) times the scores.
class LatentTwice : public testing::TestWithParam<std::pair<int, int>> {};
TEST_P(LatentTwice, SliceOfABuffer) {
  auto [C, R] = GetParam();
  const int L = C + R;
  TileKernel kernel(fmt::format(R"(
tile.kernel @twice(%x: memref<64x{L}xbf16>, %page: memref<64x{L}xbf16>, %y: memref<64x{C}xf32>) attributes {{num_warps = 8}} {{
  %c0 = arith.constant 0 : i32
  %zs = arith.constant dense<0.0> : tensor<64x64xf32>
  %zo = arith.constant dense<0.0> : tensor<64x{C}xf32>
  %a = tile.load %x[%c0, %c0] : memref<64x{L}xbf16> -> tensor<64x{L}xbf16>
  %p = tile.load %page[%c0, %c0] : memref<64x{L}xbf16> -> tensor<64x{L}xbf16>
  %s = tile.dot %a, %p, %zs {{b_transposed}} : tensor<64x{L}xbf16>, tensor<64x{L}xbf16>, tensor<64x64xf32>
  %sb = arith.truncf %s : tensor<64x64xf32> to tensor<64x64xbf16>
  %v = tile.slice %p [0, 0] : tensor<64x{L}xbf16> -> tensor<64x{C}xbf16>
  %o = tile.dot %sb, %v, %zo : tensor<64x64xbf16>, tensor<64x{C}xbf16>, tensor<64x{C}xf32>
  tile.store %o, %y[%c0, %c0] : tensor<64x{C}xf32>, memref<64x{C}xf32>
  tile.return
}})",
                                fmt::arg("L", L), fmt::arg("C", C)));
  ASSERT_FALSE(HasFatalFailure());
  Numbers numbers(L);
  auto x = numbers.bf16(64 * L), page = numbers.bf16(64 * L);
  kernel.in(x);
  kernel.in(page);
  uint64_t y = kernel.out(64 * C * 4);
  ASSERT_EQ(kernel.run({1, 1, 1}), "");
  for (int r = 0; r < 64; ++r) {
    std::vector<double> scores(64);
    for (int k = 0; k < 64; ++k) {
      // Products of eighths: the f32 sum is exact, and so is its rounding here.
      float sum = 0;
      for (int i = 0; i < L; ++i)
        sum += fromBf16(x[r * L + i]) * fromBf16(page[k * L + i]);
      scores[k] = fromBf16(toBf16(sum));
    }
    for (int i = 0; i < C; ++i) {
      double want = 0;
      for (int k = 0; k < 64; ++k)
        want += scores[k] * fromBf16(page[k * L + i]);
      ASSERT_NEAR(kernel.data<float>(y)[r * C + i], want,
                  1e-3 + std::fabs(want) * 1e-5)
          << r << " " << i;
    }
  }
  EXPECT_EQ(kernel.counters.sharedWavefronts,
            kernel.counters.sharedIdealWavefronts)
      << "bank conflicts";
}
INSTANTIATE_TEST_SUITE_P(
    Sizes, LatentTwice,
    testing::Values(std::pair(64, 16), std::pair(128, 64), std::pair(512, 64)),
    [](const testing::TestParamInfo<std::pair<int, int>> &info) {
      return fmt::format("C{}R{}", info.param.first, info.param.second);
    });
