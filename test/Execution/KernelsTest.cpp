//===- KernelsTest.cpp - Every kernel of a model against the reference ----===//
//
// Sizes and forms of the model: each compiles to other kernels.
//
//===----------------------------------------------------------------------===//
#include "ModelTest.h"

using namespace k2c::test;

namespace {

class Kernels : public ModelTest {};

TEST_F(Kernels, SmallModel) { check(baseConfig(), {{0, 9}}); }

TEST_F(Kernels, OneToken) { check(baseConfig(), {{0, 1}}); }

TEST_F(Kernels, NoToken) { check(baseConfig(), {{5, 0}, {0, 0}}); }

TEST_F(Kernels, RaggedBatchOverACache) {
  check(baseConfig(), {{70, 5}, {3, 0}, {0, 17}, {128, 1}});
}

// More rows than a tile, pages that end on a token, heads that are no power of
// two and do not divide a tile.
TEST_F(Kernels, RowsBeyondOneTile) {
  check(with({{"num_attention_heads", 20}, {"num_key_value_heads", 20}}),
        {{0, 64}, {63, 67}, {64, 2}});
}

// No size is a multiple of a tile or of 16 columns.
TEST_F(Kernels, OddSizes) {
  check(with({{"hidden_size", 200},
              {"q_lora_rank", 72},
              {"kv_lora_rank", 88},
              {"qk_nope_head_dim", 40},
              {"qk_rope_head_dim", 24},
              {"v_head_dim", 56},
              {"num_attention_heads", 3},
              {"num_key_value_heads", 3},
              {"intermediate_size", 100},
              {"moe_intermediate_size", 36},
              {"vocab_size", 131}}),
        {{2, 11}, {65, 3}});
}

// Rows of all heads are no multiple of 16 bytes: 3 * (20 + 6), 3 * 36.
TEST_F(Kernels, PaddedRowsOfHeads) {
  check(with({{"hidden_size", 100},
              {"q_lora_rank", 50},
              {"kv_lora_rank", 36},
              {"qk_nope_head_dim", 20},
              {"qk_rope_head_dim", 6},
              {"v_head_dim", 18},
              {"num_attention_heads", 3},
              {"num_key_value_heads", 3},
              {"intermediate_size", 34},
              {"moe_intermediate_size", 10}}),
        {{2, 70}, {65, 3}, {0, 1}});
}

TEST_F(Kernels, NoQueryLatents) {
  check(with({{"q_lora_rank", nullptr}, {"n_shared_experts", 2}}), {{0, 24}});
}

TEST_F(Kernels, WideLatents) {
  check(with({{"kv_lora_rank", 512},
              {"qk_nope_head_dim", 128},
              {"qk_rope_head_dim", 64},
              {"v_head_dim", 128},
              {"num_attention_heads", 4},
              {"num_key_value_heads", 4}}),
        {{0, 130}});
}

TEST_F(Kernels, ExpertGroups) {
  check(with({{"n_routed_experts", 16},
              {"num_experts_per_tok", 4},
              {"n_group", 4},
              {"topk_group", 2}}),
        {{0, 40}});
}

TEST_F(Kernels, GroupsThatAreNoPowerOfTwo) {
  check(with({{"n_routed_experts", 15},
              {"num_experts_per_tok", 5},
              {"n_group", 3},
              {"topk_group", 2}}),
        {{0, 21}});
}

TEST_F(Kernels, SoftmaxRouterWithoutBias) {
  check(with({{"scoring_func", "softmax"},
              {"topk_method", "greedy"},
              {"norm_topk_prob", false},
              {"routed_scaling_factor", 1.0}}),
        {{0, 13}});
}

// All scores are equal: the lower index wins, with groups and without.
TEST_F(Kernels, TiesGoToTheLowerExpert) {
  weights.zeroed = {"moe.gate", "e_score_correction_bias"};
  check(with({{"n_routed_experts", 16}, {"num_experts_per_tok", 5}}), {{0, 5}});
  check(with({{"n_routed_experts", 16},
              {"num_experts_per_tok", 5},
              {"n_group", 4},
              {"topk_group", 2}}),
        {{0, 5}});
}

// The bias chooses, all weights tie.
TEST_F(Kernels, TiedWeightsAreOrderedByExpert) {
  weights.zeroed = {"moe.gate"};
  check(with({{"n_routed_experts", 24}, {"num_experts_per_tok", 6}}), {{0, 3}});
}

TEST_F(Kernels, TokensWithoutSlotStayOutOfTheCache) {
  input.withoutSlot = {0, 4};
  only = "kv_append";
  check(with({{"first_k_dense_replace", 2}}), {{3, 3}, {0, 4}});
  EXPECT_EQ(compared, 2);
}

TEST_F(Kernels, MaskInPlaceOfCausality) {
  input.masked = true;
  only = "attention";
  check(baseConfig(), {{0, 9}});
  check(baseConfig(), {{70, 5}, {3, 0}, {0, 17}, {128, 1}, {60, 70}});
}

// A head a CTA, rows of other heads between a token's.
TEST_F(Kernels, MaskOverPaddedRowsOfHeads) {
  input.masked = true;
  only = "attention";
  check(with({{"qk_nope_head_dim", 20},
              {"qk_rope_head_dim", 6},
              {"kv_lora_rank", 36},
              {"num_attention_heads", 3},
              {"num_key_value_heads", 3}}),
        {{2, 70}, {65, 3}});
}

TEST_F(Kernels, MaskOverWideLatents) {
  input.masked = true;
  only = "attention";
  check(with({{"kv_lora_rank", 512},
              {"qk_nope_head_dim", 128},
              {"qk_rope_head_dim", 64},
              {"num_attention_heads", 4},
              {"num_key_value_heads", 4}}),
        {{40, 50}});
}

TEST_F(Kernels, ExpandedAttention) {
  isAbsorbed = false;
  only = "attention";
  check(baseConfig(), {{0, 9}});
  check(baseConfig(), {{70, 5}, {3, 0}, {0, 17}, {128, 1}, {60, 70}});
  input.masked = true;
  check(baseConfig(), {{70, 5}, {3, 0}, {0, 17}, {60, 70}});
}

// No head has a multiple of 16 columns; rows of all heads are padded.
TEST_F(Kernels, ExpandedAttentionOfOddHeads) {
  isAbsorbed = false;
  only = "attention";
  check(with({{"kv_lora_rank", 36},
              {"qk_nope_head_dim", 20},
              {"qk_rope_head_dim", 6},
              {"v_head_dim", 18},
              {"num_attention_heads", 3},
              {"num_key_value_heads", 3}}),
        {{2, 70}, {65, 3}});
}

TEST_F(Kernels, ExpandedAttentionOfKimiK2Heads) {
  isAbsorbed = false;
  only = "attention";
  auto config = with({{"kv_lora_rank", 512},
                      {"qk_nope_head_dim", 128},
                      {"qk_rope_head_dim", 64},
                      {"v_head_dim", 128},
                      {"num_attention_heads", 4},
                      {"num_key_value_heads", 4}});
  check(llvm::json::Object(config), {{40, 80}, {0, 0}, {64, 1}});
  config["quantization_config"] = quantized();
  check(llvm::json::Object(config), {{40, 30}});
}

// Sizes of a published toy model: most are below a tile, heads of 24 columns.
TEST_F(Kernels, ToySizes) {
  check(with({{"hidden_size", 64},
              {"q_lora_rank", 24},
              {"kv_lora_rank", 16},
              {"qk_nope_head_dim", 16},
              {"qk_rope_head_dim", 8},
              {"v_head_dim", 16},
              {"num_attention_heads", 4},
              {"num_key_value_heads", 4},
              {"intermediate_size", 96},
              {"moe_intermediate_size", 32},
              {"n_routed_experts", 16},
              {"num_experts_per_tok", 4},
              {"vocab_size", 128}}),
        {{0, 10}, {3, 4}});
}

// The widths of Kimi K2 in its row kernels, products and attention, with fewer
// heads.
TEST_F(Kernels, KimiK2Widths) {
  check(with({{"hidden_size", 7168},
              {"num_hidden_layers", 1},
              {"first_k_dense_replace", 1},
              {"q_lora_rank", 1536},
              {"kv_lora_rank", 512},
              {"qk_nope_head_dim", 128},
              {"qk_rope_head_dim", 64},
              {"v_head_dim", 128},
              {"intermediate_size", 256},
              {"quantization_config", quantized()}}),
        {{0, 2}, {66, 1}});
}

TEST_F(Kernels, ManyExpertsManyRows) {
  check(with({{"n_routed_experts", 96}, {"num_experts_per_tok", 8}}),
        {{0, 150}, {0, 33}});
}

// Experts with more rows than an item of the work list.
TEST_F(Kernels, FewExpertsManyRows) {
  check(with({{"n_routed_experts", 2}, {"num_experts_per_tok", 1}}),
        {{0, 200}});
}

TEST_F(Kernels, EveryExpertChosen) {
  check(with({{"n_routed_experts", 3}, {"num_experts_per_tok", 3}}), {{0, 70}});
}

TEST_F(Kernels, QuantizedWeights) {
  check(with({{"hidden_size", 256},
              {"q_lora_rank", 160},
              {"kv_lora_rank", 128},
              {"qk_nope_head_dim", 128},
              {"qk_rope_head_dim", 64},
              {"v_head_dim", 128},
              {"moe_intermediate_size", 128},
              {"quantization_config", quantized()}}),
        {{0, 23}, {30, 2}});
}

// Partial blocks everywhere, heads of less than a block.
TEST_F(Kernels, QuantizedPartialBlocks) {
  check(with({{"hidden_size", 320},
              {"q_lora_rank", 192},
              {"kv_lora_rank", 144},
              {"qk_nope_head_dim", 64},
              {"v_head_dim", 96},
              {"moe_intermediate_size", 72},
              {"quantization_config", quantized()}}),
        {{0, 18}});
}

// Heads start anywhere in a block of scales, and are longer than one.
TEST_F(Kernels, QuantizedHeadsThatStraddleBlocks) {
  check(with({{"kv_lora_rank", 72},
              {"qk_nope_head_dim", 24},
              {"v_head_dim", 20},
              {"num_attention_heads", 7},
              {"num_key_value_heads", 7},
              {"quantization_config", quantized()}}),
        {{0, 9}});
  check(with({{"qk_nope_head_dim", 136},
              {"qk_rope_head_dim", 8},
              {"v_head_dim", 140},
              {"num_attention_heads", 3},
              {"num_key_value_heads", 3},
              {"quantization_config", quantized()}}),
        {{0, 3}});
}

} // namespace
