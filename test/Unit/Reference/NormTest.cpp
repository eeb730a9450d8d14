// Rounding to bf16, norms and rope against values worked out by hand.
#include "k2c/Reference/Ops.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace k2c::reference;

static TensorOf<double> tensor(std::vector<int64_t> shape,
                               std::vector<double> values) {
  TensorOf<double> result(std::move(shape));
  result.data = std::move(values);
  return result;
}

TEST(Round, HalvesGoToEven) {
  Round round{Rounding::Bf16};
  // bf16 has 8 significant bits: between 1 and 2 the step is 2^-7.
  for (auto [x, want] : {std::pair(1 + 1.0 / 256, 1.0),
                         {1 + 3.0 / 256, 1 + 2.0 / 128},
                         {1 + 1.0 / 256 + 1e-6, 1 + 1.0 / 128},
                         {-1 - 3.0 / 256, -1 - 2.0 / 128},
                         {0.0, 0.0},
                         {3.0, 3.0},
                         {256.5, 256.0},
                         {257.0, 256.0},
                         {259.0, 260.0}}) {
    EXPECT_EQ(round(x), want) << x;
    EXPECT_EQ(round(static_cast<float>(x)), static_cast<float>(want)) << x;
  }
}

TEST(Round, EndsOfTheRange) {
  Round round{Rounding::Bf16};
  for (double x : {0x1p-133, 0x1.8p-133, 0x1p-134, 0x1.01p-134, 0x1p-126,
                   0x1.ffp-127, 0x1.fep127, 0x1.ff8p127, 0x1.fffp127})
    EXPECT_EQ(round(x), static_cast<double>(round(static_cast<float>(x)))) << x;
  EXPECT_EQ(round(0x1p-134), 0.0); // half of the least subnormal: to even
  EXPECT_EQ(round(0x1.01p-134), 0x1p-133);  // above half
  EXPECT_EQ(round(0x1.fep127), 0x1.fep127); // the greatest bf16
  EXPECT_TRUE(std::isinf(
      round(0x1.ffp127))); // half way to the next power: to even, infinity
  EXPECT_TRUE(std::isnan(round(std::nan(""))));
  EXPECT_EQ(round(-INFINITY), -INFINITY);
}

TEST(Round, DoubleRoundsOnce) {
  // Just above a tie: through float32 it would become the tie and go down.
  double x = 1 + 1.0 / 256 + 0x1p-40;
  EXPECT_EQ(Round{Rounding::Bf16}(x), 1 + 1.0 / 128);
}

TEST(RmsNorm, OfTwoElements) {
  // mean square of (3, 4) is 12.5; eps 12.5 makes the factor 1/5.
  TensorOf<double> y =
      rmsNorm(tensor({1, 2}, {3, 4}), tensor({2}, {10, -1}), 12.5, Round{});
  EXPECT_DOUBLE_EQ(y.data[0], 6);
  EXPECT_DOUBLE_EQ(y.data[1], -0.8);
}

TEST(RmsNorm, RoundsBeforeTheWeightAndAfter) {
  // n = 0.8 becomes 0.80078125 in bf16; times 3 is 2.40234375, in bf16 2.40625
  // (step 2^-6).
  TensorOf<double> y = rmsNorm(tensor({1, 2}, {3, 4}), tensor({2}, {1, 3}),
                               12.5, Round{Rounding::Bf16});
  EXPECT_EQ(y.data[1], 2.40625);
}

TEST(RmsNorm, AZeroRowStaysZero) {
  TensorOf<double> y =
      rmsNorm(tensor({1, 2}, {0, 0}), tensor({2}, {1, 1}), 1e-6, Round{});
  EXPECT_EQ(y.data, std::vector<double>({0, 0}));
}

TEST(Rope, TurnsInterleavedPairsOfTheLastColumns) {
  // Two heads of one plain column and one pair; a quarter turn takes (a, b) to
  // (-b, a).
  TensorOf<double> y =
      rope(tensor({1, 6}, {7, 1, 2, 8, 3, 4}), tensor({1, 1}, {0}),
           tensor({1, 1}, {1}), 2, 1, 2, Round{});
  EXPECT_EQ(y.data, std::vector<double>({7, -2, 1, 8, -4, 3}));
}

TEST(Rope, EveryPairHasItsAngle) {
  TensorOf<double> y =
      rope(tensor({1, 4}, {1, 0, 1, 0}), tensor({1, 2}, {0.5, 0.25}),
           tensor({1, 2}, {2, 3}), 1, 0, 4, Round{});
  EXPECT_EQ(y.data, std::vector<double>({0.5, 2, 0.25, 3}));
}
