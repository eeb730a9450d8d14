// The first kernel of the model from abstract tile IR through layout inference
// to the simulator, for whole, odd and masked rows.
#include "TileRunner.h"

#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace k2c;
using namespace k2c::test;

namespace {

struct Row {
  int64_t width, tile;
  int warps;
};

class RmsNorm : public ::testing::TestWithParam<Row> {};

TEST_P(RmsNorm, EqualsTheDefinition) {
  auto [width, tile, warps] = GetParam();
  TileRunner runner;
  std::mt19937 random(15);
  std::string text = llvm::formatv(R"(
    tile.kernel @rms_norm(%x: memref<?x{0}xbf16>, %w: memref<{0}xf32>, %y: memref<?x{0}xbf16>) attributes {{num_warps = {2}} {{
      %t = tile.cta_id x
      %c0 = arith.constant 0 : i32
      %v = tile.load %x[%t, %c0] : memref<?x{0}xbf16> -> tensor<1x{1}xbf16>
      %f = arith.extf %v : tensor<1x{1}xbf16> to tensor<1x{1}xf32>
      %q = arith.mulf %f, %f : tensor<1x{1}xf32>
      %s = tile.reduce add axis 1 %q : tensor<1x{1}xf32> -> tensor<1x1xf32>
      %n = arith.constant dense<{0}.0> : tensor<1x1xf32>
      %m = arith.divf %s, %n : tensor<1x1xf32>
      %eps = arith.constant dense<1.0e-6> : tensor<1x1xf32>
      %e = arith.addf %m, %eps : tensor<1x1xf32>
      %r = math.rsqrt %e fastmath<afn> : tensor<1x1xf32>
      %rb = tile.broadcast %r : tensor<1x1xf32> -> tensor<1x{1}xf32>
      %p = arith.mulf %f, %rb : tensor<1x{1}xf32>
      %pb = arith.truncf %p : tensor<1x{1}xf32> to tensor<1x{1}xbf16>
      %g = tile.load %w[%c0] : memref<{0}xf32> -> tensor<{1}xf32>
      %g2 = tile.reshape %g : tensor<{1}xf32> -> tensor<1x{1}xf32>
      %gb = arith.truncf %g2 : tensor<1x{1}xf32> to tensor<1x{1}xbf16>
      %o = arith.mulf %pb, %gb : tensor<1x{1}xbf16>
      tile.store %o, %y[%t, %c0] : tensor<1x{1}xbf16>, memref<?x{0}xbf16>
      tile.return
    })",
                                   width, tile, warps);
  const int rows = 3;
  std::normal_distribution<float> normal;
  std::vector<uint16_t> x(rows * width);
  std::vector<float> w(width);
  for (uint16_t &value : x)
    value = toBf16(normal(random));
  for (float &value : w)
    value = fromBf16(toBf16(1 + 0.1f * normal(random)));
  Arguments arguments(runner.device());
  arguments.buffer(x);
  arguments.i32(rows);
  arguments.buffer(w);
  uint16_t *y = arguments.buffer(std::vector<uint16_t>(x.size(), 0x7fc0));
  arguments.i32(rows);
  // One CTA more than there are rows: it must touch nothing.
  ASSERT_EQ(runner.run(text, arguments, {rows + 1, 1, 1}, /*infer=*/true), "");
  int wrong = 0;
  for (int r = 0; r < rows; ++r) {
    double sum = 0;
    for (int64_t c = 0; c < width; ++c)
      sum += static_cast<double>(fromBf16(x[r * width + c])) *
             fromBf16(x[r * width + c]);
    double scale = 1 / std::sqrt(sum / width + 1e-6);
    for (int64_t c = 0; c < width; ++c) {
      float n = fromBf16(
          toBf16(static_cast<float>(fromBf16(x[r * width + c]) * scale)));
      float want = fromBf16(toBf16(n * w[c])),
            have = fromBf16(y[r * width + c]);
      // An element next to a rounding boundary may round the other way: one
      // unit in the last place, and rarely.
      ASSERT_LE(std::fabs(have - want), std::fabs(want) / 64) << r << ", " << c;
      wrong += have != want;
    }
  }
  EXPECT_LE(wrong, rows * width / 200);
}

INSTANTIATE_TEST_SUITE_P(Widths, RmsNorm,
                         ::testing::Values(Row{7168, 7168, 4},
                                           Row{7168, 7168, 8},
                                           Row{1536, 1536, 4}, Row{512, 512, 4},
                                           Row{128, 128, 4}, Row{96, 96, 1},
                                           Row{500, 512, 4}, Row{500, 512, 1}),
                         [](const auto &info) {
                           return std::to_string(info.param.width) + "on" +
                                  std::to_string(info.param.warps) + "warps" +
                                  std::to_string(info.index);
                         });

} // namespace
