// The router and what follows it, on the cases that implementations get wrong.
#include "k2c/Reference/Ops.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace k2c::reference;
using testing::ElementsAre;

template <typename Real> static TensorOf<Real> row(std::vector<Real> values) {
  TensorOf<Real> result({1, static_cast<int64_t>(values.size())});
  result.data = std::move(values);
  return result;
}

template <typename Real> class Router : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(Router, Types);

TYPED_TEST(Router, ExpertsAbove255) {
  using Real = TypeParam;
  std::vector<Real> logits(384, 0);
  std::vector<int64_t> best = {300, 311, 322, 333, 344, 355, 366, 377};
  for (int64_t e : best)
    logits[e] = 4;
  Routed<Real> routed =
      router<Real>(row(logits), nullptr, {8, 1, 1, true, true, 2.827});
  EXPECT_EQ(routed.ids.data, best);
  for (Real w : routed.weights.data)
    EXPECT_NEAR(w, 0.353375, 1e-6);
}

TYPED_TEST(Router, TiesGoToTheLowerIndex) {
  using Real = TypeParam;
  EXPECT_THAT(router<Real>(row<Real>({1, 1, 1, 1, 1}), nullptr,
                           {3, 1, 1, true, true, 1})
                  .ids.data,
              ElementsAre(0, 1, 2));
  EXPECT_THAT(router<Real>(row<Real>({0, 2, 2, 1, 2}), nullptr,
                           {2, 1, 1, true, true, 1})
                  .ids.data,
              ElementsAre(1, 2));
}

TYPED_TEST(Router, DroppedGroupsCountAsMinusInfinity) {
  // All logits 0, so all scores 0.5. Group 0 is worth 1.4 - 0.2, group 1 0.6:
  // its experts are out although 0.3 beats -0.2.
  using Real = TypeParam;
  TensorOf<Real> bias = row<Real>({0.9, -0.7, -0.2, -0.2});
  Routed<Real> routed =
      router<Real>(row<Real>({0, 0, 0, 0}), &bias, {2, 2, 1, true, true, 2.5});
  EXPECT_THAT(routed.ids.data, ElementsAre(0, 1));
  EXPECT_THAT(routed.weights.data, ElementsAre(Real(1.25), Real(1.25)));
}

TYPED_TEST(Router, BiasChoosesButDoesNotWeigh) {
  using Real = TypeParam;
  TensorOf<Real> bias = row<Real>({0, 0, 1});
  Routed<Real> routed =
      router<Real>(row<Real>({2, 1, -3}), &bias, {2, 1, 1, true, false, 1});
  EXPECT_THAT(routed.ids.data,
              ElementsAre(0, 2)); // by descending weight, which has no bias
  EXPECT_NEAR(routed.weights.data[0], 1 / (1 + std::exp(-2.0)), 1e-6);
  EXPECT_NEAR(routed.weights.data[1], 1 / (1 + std::exp(3.0)), 1e-6);
}

TYPED_TEST(Router, BiasIsNotRoundedToBf16) {
  using Real = TypeParam;
  TensorOf<Real> bias = row<Real>({6.9, 6.91});
  EXPECT_THAT(
      router<Real>(row<Real>({0, -0.02}), &bias, {1, 1, 1, true, true, 1})
          .ids.data,
      ElementsAre(1));
  EXPECT_THAT(
      router<Real>(row<Real>({4.000, 4.010}), nullptr, {1, 1, 1, true, true, 1})
          .ids.data,
      ElementsAre(1));
}

TYPED_TEST(Router, AllExpertsByDescendingWeight) {
  using Real = TypeParam;
  Routed<Real> routed = router<Real>(row<Real>({0, 1, 2, 3}), nullptr,
                                     {4, 1, 1, true, true, 2.827});
  EXPECT_THAT(routed.ids.data, ElementsAre(3, 2, 1, 0));
  for (auto [got, want] : {std::pair(routed.weights.data[0], 0.87877),
                           {routed.weights.data[1], 0.81255},
                           {routed.weights.data[2], 0.67442},
                           {routed.weights.data[3], 0.46126}})
    EXPECT_NEAR(got, want, 1e-5);
}

TYPED_TEST(Router, SoftmaxScoresWithoutNormalisation) {
  using Real = TypeParam;
  Routed<Real> routed = router<Real>(row<Real>({0, std::log(Real(3))}), nullptr,
                                     {1, 1, 1, false, false, 1});
  EXPECT_THAT(routed.ids.data, ElementsAre(1));
  EXPECT_NEAR(routed.weights.data[0], 0.75, 1e-6);
}

TEST(Dispatch, RowsByExpertThenToken) {
  Integers ids({3, 2});
  ids.data = {2, 0, 0, 3, 2, 3};
  Routing routing = dispatch(ids, 4);
  EXPECT_THAT(routing.expertCount, ElementsAre(2, 0, 2, 2));
  EXPECT_THAT(routing.expertStart, ElementsAre(0, 2, 2, 4, 6));
  EXPECT_THAT(routing.tokenOfRow, ElementsAre(0, 1, 0, 2, 1, 2));
  EXPECT_THAT(routing.rowOf.data, ElementsAre(2, 0, 1, 4, 3, 5));
}

TEST(Dispatch, NoTokens) {
  Routing routing = dispatch(Integers({0, 2}), 3);
  EXPECT_THAT(routing.expertStart, ElementsAre(0, 0, 0, 0));
  EXPECT_TRUE(routing.tokenOfRow.empty());
}

TEST(Experts, EveryRowMeetsItsExpert) {
  // Expert e multiplies by e + 1; token 0 takes experts 1 and 0, token 1 takes
  // 0 and 1.
  Integers ids({2, 2});
  ids.data = {1, 0, 0, 1};
  Routing routing = dispatch(ids, 2);
  Weight<double> weight;
  weight.values = TensorOf<double>({2, 1, 1});
  weight.values.data = {1, 2};
  TensorOf<double> x({2, 1}), weights({2, 2});
  x.data = {10, 100};
  weights.data = {0.5, 0.25, 2, 4};
  TensorOf<double> rows = expertLinear(x, weight, routing, true, Round{});
  EXPECT_THAT(rows.data, ElementsAre(10, 100, 20, 200));
  EXPECT_THAT(combine(rows, weights, routing, Round{}).data,
              ElementsAre(0.5 * 20 + 0.25 * 10, 2 * 100 + 4 * 200));
  EXPECT_THAT(expertLinear(rows, weight, routing, false, Round{}).data,
              ElementsAre(10, 100, 40, 400));
}

TEST(Linear, ScalesOfPartialBlocks) {
  // 3 columns in blocks of 2: scale 10 for the first two, 100 for the last;
  // second row of blocks at row 2.
  Weight<double> weight;
  weight.values = TensorOf<double>({3, 3});
  weight.values.data = {1, 2, 3, 1, 1, 1, 1, 0, 1};
  weight.scales = TensorOf<double>({2, 2});
  weight.scales.data = {10, 100, 1000, 0.5};
  weight.block[0] = weight.block[1] = 2;
  TensorOf<double> x({1, 3});
  x.data = {1, 1, 2};
  EXPECT_THAT(linear(x, weight, true, Round{}).data,
              ElementsAre(30 + 600, 20 + 200, 1000 + 1));
}

TEST(Swiglu, RoundsSiluThenTheProduct) {
  TensorOf<double> gate({1, 1}), up({1, 1});
  gate.data = {1};
  up.data = {3};
  // silu(1) = 0.7310586, in bf16 0.73046875; times 3 is 2.19140625, in
  // bf16 2.1875.
  EXPECT_NEAR(swiglu(gate, up, Round{}).data[0], 2.1931757, 1e-7);
  EXPECT_EQ(swiglu(gate, up, Round{Rounding::Bf16}).data[0], 2.1875);
}
