//===- NumbersTest.cpp - Kernels on numbers that were computed by hand ----===//
//
// Single kernels of small models on given inputs. Expected values come from the
// model's definition, not from the reference of this repository.
//
//===----------------------------------------------------------------------===//
#include "ModelTest.h"

#include "gmock/gmock.h"
#include <cmath>

using namespace mlir;
using namespace k2c;
using namespace k2c::test;
using testing::DoubleNear;
using testing::Each;
using testing::ElementsAre;
using testing::Pointwise;

namespace {

// f32 arithmetic with ex2.approx and division: 1e-6 of the value.
constexpr double kF32 = 2e-6;

class Numbers : public ModelTest {
protected:
  /// Launches a kernel alone for `tokens` tokens; `inputs` are the values that
  /// it reads from outside, by the op that defines them: a kernel's name.
  void launch(StringRef name, int64_t tokens,
              std::map<std::string, RefValue> inputs) {
    std::mt19937 random(1);
    step = makeStep({{0, tokens}}, random);
    runner->setStep(step);
    llvm::Error error =
        runner->launch(kernel(name), 1, [&](mlir::Value value) -> RefValue & {
          std::string from = "argument";
          if (auto result = dyn_cast<OpResult>(value)) {
            from = cast<k2::KernelOp>(result.getOwner()).getName().str();
            if (result.getOwner()->getNumResults() > 1)
              from += "#" + std::to_string(result.getResultNumber());
          }
          auto found = inputs.find(from);
          if (found == inputs.end())
            llvm::report_fatal_error("no value for " + Twine(from));
          return found->second;
        });
    if (error)
      FAIL() << llvm::toString(std::move(error));
  }

  /// The router on these logits, each row a token's.
  void route(std::vector<double> logits, int64_t tokens = 1) {
    Tensor rows({tokens, static_cast<int64_t>(logits.size()) / tokens});
    rows.data = std::move(logits);
    launch("moe_router", tokens, {{"moe_router_logits", rows}});
    auto router = kernel("moe_router");
    ids = runner->result(router, 0);
    chosen = runner->result(router, 1);
  }

  void setBias(std::vector<double> values) {
    weights.edited["e_score_correction_bias"] = [=](Tensor &bias) {
      bias.data.assign(values.begin(), values.end());
      bias.data.resize(bias.shape[0], 0);
      for (double &v : bias.data)
        v = static_cast<float>(v);
    };
  }

  Step step;
  std::vector<double> ids, chosen;
};

TEST_F(Numbers, ExpertsAbove255) {
  setBias({});
  compile(with({{"n_routed_experts", 384}, {"num_experts_per_tok", 8}}));
  std::vector<double> logits(384, 0),
      best = {300, 311, 322, 333, 344, 355, 366, 377};
  for (double e : best)
    logits[e] = 4;
  route(logits);
  EXPECT_EQ(ids, best);
  // 2.827 / 8.
  EXPECT_THAT(chosen, Each(DoubleNear(0.353375, kF32)));
}

// All equal, and nine equal best with eight to choose: the lowest of the tied,
// in every position of a batch.
TEST_F(Numbers, Ties) {
  setBias({});
  compile(with({{"n_routed_experts", 384}, {"num_experts_per_tok", 8}}));
  std::vector<double> logits(3 * 384, 0);
  std::vector<double> nine = {5, 50, 100, 127, 128, 200, 255, 256, 383};
  for (double e : nine)
    logits[384 + e] = 1.5;
  route(logits, 3);
  std::vector<double> first = {0, 1, 2, 3, 4, 5, 6, 7};
  std::vector<double> want = first;
  want.insert(want.end(), nine.begin(), nine.begin() + 8);
  want.insert(want.end(), first.begin(), first.end());
  EXPECT_EQ(ids, want);
  EXPECT_THAT(chosen, Each(DoubleNear(0.353375, kF32)));
  std::vector<double> again = ids;
  route(logits, 3);
  EXPECT_EQ(ids, again);
}

// Group 0 is worth 1.4 - 0.2, group 1 0.6: experts of group 1 are out although
// 0.3 beats -0.2. Weights come from scores without bias: 0.5 / 1 * 2.5.
TEST_F(Numbers, DroppedGroupsCountAsMinusInfinity) {
  setBias({0.9, -0.7, -0.2, -0.2});
  compile(with({{"n_routed_experts", 4},
                {"num_experts_per_tok", 2},
                {"n_group", 2},
                {"topk_group", 1},
                {"routed_scaling_factor", 2.5}}));
  route({0, 0, 0, 0});
  EXPECT_THAT(ids, ElementsAre(0, 1));
  EXPECT_THAT(chosen, Each(DoubleNear(1.25, kF32)));
}

TEST_F(Numbers, BiasIsNotRoundedToBf16) {
  setBias({6.9000, 6.9100});
  compile(with({{"n_routed_experts", 2}, {"num_experts_per_tok", 1}}));
  route({0, -0.02});
  EXPECT_THAT(ids, ElementsAre(1));
}

// As bf16 both logits are 4: as given to the router, and as the product that
// makes them, 1 * 4 + 1 * 0.01.
TEST_F(Numbers, LogitsAreNotRoundedToBf16) {
  setBias({});
  weights.edited["moe.gate"] = [](Tensor &gate) {
    std::fill(gate.data.begin(), gate.data.end(), 0);
    gate.at(0, 0) = gate.at(1, 0) = 4;
    gate.at(1, 1) = roundToBf16(0.01);
  };
  compile(with({{"n_routed_experts", 2}, {"num_experts_per_tok", 1}}));
  route({4.000, 4.010});
  EXPECT_THAT(ids, ElementsAre(1));

  Tensor x({1, 128});
  x.data[0] = x.data[1] = 1;
  launch("moe_router_logits", 1, {{"moe_post_attention_layernorm#1", x}});
  std::vector<double> logits = runner->result(kernel("moe_router_logits"), 0);
  EXPECT_THAT(logits, ElementsAre(4, 4 + roundToBf16(0.01)));
  route(logits);
  EXPECT_THAT(ids, ElementsAre(1));
}

// sigmoid(0..3) over their sum, times 2.827, by descending weight.
TEST_F(Numbers, EveryExpertChosen) {
  setBias({});
  compile(with({{"n_routed_experts", 4}, {"num_experts_per_tok", 4}}));
  route({0, 1, 2, 3});
  EXPECT_THAT(ids, ElementsAre(3, 2, 1, 0));
  std::vector<double> want = {0.87877, 0.81255, 0.67442, 0.46126};
  EXPECT_THAT(chosen, Pointwise(testing::DoubleNear(5e-6), want));
}

// One expert, normalised: its weight is the scaling factor. Not normalised: its
// score times that.
TEST_F(Numbers, OneExpert) {
  setBias({});
  compile(with({{"n_routed_experts", 4}, {"num_experts_per_tok", 1}}));
  route({0, 1, 3, 2});
  EXPECT_THAT(ids, ElementsAre(2));
  EXPECT_THAT(chosen, ElementsAre(DoubleNear(2.827, kF32)));
  compile(with({{"n_routed_experts", 4},
                {"num_experts_per_tok", 1},
                {"norm_topk_prob", false}}));
  route({0, 1, 3, 2});
  EXPECT_THAT(chosen,
              ElementsAre(DoubleNear(2.827 / (1 + std::exp(-3.0)), 3 * kF32)));
}

// V2-Lite: softmax over 64, greedy, no bias, neither normalised nor scaled.
TEST_F(Numbers, SoftmaxRouter) {
  compile(with({{"n_routed_experts", 64},
                {"num_experts_per_tok", 6},
                {"scoring_func", "softmax"},
                {"topk_method", "greedy"},
                {"norm_topk_prob", false},
                {"routed_scaling_factor", 1.0}}));
  std::vector<double> logits(64, 0), best = {60, 3, 17, 31, 32, 5};
  double sum = 58;
  for (int i = 0; i < 6; ++i)
    sum += std::exp(logits[best[i]] = 3 - 0.5 * i);
  route(logits);
  EXPECT_EQ(ids, best);
  for (int i = 0; i < 6; ++i)
    EXPECT_NEAR(chosen[i], std::exp(3 - 0.5 * i) / sum, kF32);
}

// Scores far out: sigmoid saturates, a softmax of large logits stays finite.
TEST_F(Numbers, ExtremeLogits) {
  setBias({});
  compile(with({{"n_routed_experts", 4}, {"num_experts_per_tok", 2}}));
  route({-200, 200, 90, -90});
  EXPECT_THAT(ids, ElementsAre(1, 2));
  EXPECT_THAT(chosen, Each(DoubleNear(2.827 / 2, kF32)));
  // Scores of 0: over 0 + 1e-20, not over 0.
  route({-200, -200, -200, -200});
  EXPECT_THAT(chosen, Each(0));
  compile(with({{"n_routed_experts", 4},
                {"num_experts_per_tok", 2},
                {"scoring_func", "softmax"},
                {"topk_method", "greedy"},
                {"norm_topk_prob", false},
                {"routed_scaling_factor", 1.0}}));
  route({1e4, 1e4, -1e4, 0});
  EXPECT_THAT(ids, ElementsAre(0, 1));
  EXPECT_THAT(chosen, Each(DoubleNear(0.5, kF32)));
}

// Routed outputs of R = 2 each, a shared output of S = 16: 2.827 R once on the
// routed sum, never on S, over a residual of 0. bf16 to 2^-8.
TEST_F(Numbers, RoutedScalingLeavesTheSharedExpertAlone) {
  setBias({});
  compile(with({{"n_routed_experts", 16}, {"num_experts_per_tok", 8}}));
  std::vector<double> logits(16, -1);
  std::fill_n(logits.begin(), 8, 1);
  route(logits);
  Integers choice({1, 8});
  for (int i = 0; i < 8; ++i)
    choice.data[i] = ids[i];
  Tensor given({1, 8}), rows({8, 128}), shared({1, 128}), residual({1, 128});
  given.data = chosen;
  std::fill(rows.data.begin(), rows.data.end(), 2);
  std::fill(shared.data.begin(), shared.data.end(), 16);
  launch("moe_combine", 1,
         {{"moe_experts_down", rows},
          {"moe_router#1", given},
          {"moe_expert_work", reference::dispatch(choice, 16)},
          {"moe_shared_experts_down", shared},
          {"moe_post_attention_layernorm#0", residual}});
  std::vector<double> sum = runner->result(kernel("moe_combine"), 0);
  ASSERT_EQ(sum.size(), 128u);
  EXPECT_THAT(sum, Each(DoubleNear(2 * 2.827 + 16, 21.7 / 256)));
}

} // namespace
