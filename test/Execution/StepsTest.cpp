//===- StepsTest.cpp - Every kernel in every kind of step -----------------===//
//
// One model per test, compiled once; steps of many lengths run on it.
//
//===----------------------------------------------------------------------===//
#include "ModelTest.h"

using namespace k2c::test;

namespace {

class Steps : public ModelTest {};

// 384 experts, more than a byte counts; as many rows per expert as fall.
llvm::json::Object manyExperts() {
  return with({{"n_routed_experts", 384}, {"num_experts_per_tok", 8}});
}

llvm::json::Object fp8() {
  return with({{"hidden_size", 256},
               {"kv_lora_rank", 128},
               {"intermediate_size", 208},
               {"moe_intermediate_size", 40},
               {"quantization_config", quantized()}});
}

/// One sequence of every number of tokens.
void allLengths(const std::function<void(SequenceLength)> &run) {
  for (int64_t tokens : {0, 1, 7, 16, 17, 64, 129, 300})
    run({0, tokens});
}

TEST_F(Steps, Tokens) {
  compile(baseConfig());
  allLengths([&](SequenceLength length) { run({length}); });
}

TEST_F(Steps, TokensOnQuantizedWeights) {
  compile(fp8());
  allLengths([&](SequenceLength length) { run({length}); });
}

TEST_F(Steps, TokensOn384Experts) {
  compile(manyExperts());
  allLengths([&](SequenceLength length) { run({length}); });
}

// Around a tile of 64 rows and around two.
TEST_F(Steps, TokensAroundATile) {
  compile(baseConfig());
  for (int64_t tokens : {2, 63, 65, 127, 128})
    run({{0, tokens}});
}

// Cached lengths around a page, alone and with another number of tokens in one
// ragged batch, with an empty sequence between.
TEST_F(Steps, CachedLengths) {
  compile(baseConfig());
  for (int64_t past : {0, 1, 63, 64, 65, 1000})
    for (int64_t tokens : {1, 2, 17})
      run({{past, tokens}});
  run({{0, 1},
       {63, 2},
       {64, 0},
       {1000, 3},
       {64, 17},
       {65, 1},
       {0, 0},
       {63, 65}});
}

// Decoding over long contexts: every page but the last is full.
TEST_F(Steps, LongContexts) {
  compile(baseConfig());
  only = "attention";
  for (int64_t past : {8191, 8192, 8193})
    run({{past, 1}});
  for (int64_t past : {32767, 32768, 32769})
    run({{past, 1}});
}

// Unused cache entries, and the pages that no sequence has, may hold anything:
// the same bits over zeros and over NaN.
TEST_F(Steps, UnusedCacheEntries) {
  compile(baseConfig());
  keep = true;
  std::vector<SequenceLength> lengths = {{0, 1}, {62, 1}, {64, 1}, {0, 65}};
  run(lengths);
  auto overNaN = std::exchange(kept, {});
  input.unused = 0;
  run(lengths);
  EXPECT_EQ(kept, overNaN);
  EXPECT_TRUE(kept.count("1.moe_attention"));
}

// A sequence's rows do not depend on the others, an empty one between included.
TEST_F(Steps, EmptySequenceInABatch) {
  compile(baseConfig());
  only = "attention";
  run({{5, 1}, {0, 0}, {130, 1}});
  run({{0, 0}});
  run({{0, 0}, {0, 3}, {64, 0}});
}

// Pages beyond 2^31 bytes, 2^31 and 2^32 elements into the cache of a layer.
TEST_F(Steps, LastPageOfALargeCache) {
  compile(with({{"kv_lora_rank", 512}, {"qk_rope_head_dim", 64}}));
  for (int64_t firstPage : {29'127, 58'254, 116'508, 200'000}) {
    input.firstPage = firstPage;
    for (const char *name : {"kv_append", "attention"}) {
      only = name;
      run({{60, 3}, {64, 1}});
    }
  }
}

// The rows of experts are the most that a step has: with K2's eight of 7168
// elements they pass 2^31 elements at 37,450 tokens. Here are the last rows of
// steps beyond 2^31 bytes, 2^31 and 2^32 elements of gate_up's and of down's.
TEST_F(Steps, ExpertRowsOfManyTokens) {
  compile(baseConfig());
  for (int64_t firstRow : {8'388'600, 16'777'208, 33'554'424, 67'108'860,
                           134'217'720, 700'000'000}) {
    input.firstExpertRow = firstRow;
    for (const char *name :
         {"moe_experts_gate_up", "moe_experts_down", "moe_combine"}) {
      only = name;
      run({{0, 70}, {3, 1}});
    }
  }
  EXPECT_EQ(compared, 6 * 3);
}

// Tokens of zeros, tokens with one huge element, and tokens so small that the
// norm's epsilon counts.
void zeroAndHugeRows(Tensor &table) {
  for (int64_t r = 0; r < table.rows(); ++r)
    for (int64_t c = 0; c < table.columns(); ++c) {
      if (r % 4 == 0)
        table.at(r, c) = 0;
      if (r % 4 == 1 && c == r % table.columns())
        table.at(r, c) = 3e4;
      if (r % 4 == 2 && c == r % table.columns())
        table.at(r, c) = -1e15;
      if (r % 4 == 3)
        table.at(r, c) /= 512;
    }
  for (double &v : table.data)
    v = roundToBf16(v);
}

TEST_F(Steps, ZeroAndHugeActivations) {
  weights.edited["embed_tokens"] = zeroAndHugeRows;
  check(baseConfig(), {{0, 40}, {70, 9}});
  check(fp8(), {{0, 40}, {70, 9}});
}

TEST_F(Steps, ZeroBlocks) {
  weights.zeroBlocks = true;
  check(with({{"hidden_size", 512},
              {"q_lora_rank", 256},
              {"kv_lora_rank", 256},
              {"qk_nope_head_dim", 128},
              {"v_head_dim", 128},
              {"intermediate_size", 400},
              {"moe_intermediate_size", 264},
              {"quantization_config", quantized()}}),
        {{0, 19}, {64, 1}});
}

// One expert has every token, 383 have none.
TEST_F(Steps, AllTokensOnOneExpert) {
  weights.edited["moe.gate"] = [](Tensor &gate) {
    std::fill(gate.data.begin(), gate.data.end(), 0);
  };
  weights.edited["e_score_correction_bias"] = [](Tensor &bias) {
    bias.data[377] = 9;
  };
  compile(with({{"n_routed_experts", 384}, {"num_experts_per_tok", 1}}));
  for (int64_t tokens : {0, 1, 129})
    run({{0, tokens}});
}

// The same eight of 384 for every token: rows of 64 and more per expert.
TEST_F(Steps, AllTokensOnTheSameExperts) {
  weights.edited["moe.gate"] = [](Tensor &gate) {
    std::fill(gate.data.begin(), gate.data.end(), 0);
  };
  weights.edited["e_score_correction_bias"] = [](Tensor &bias) {
    for (int64_t e = 300; e < 384; e += 11)
      bias.data[e] = 2 + 0.01 * e;
  };
  check(manyExperts(), {{0, 65}});
}

// Widths of the family that no other test has: a dense width of 10944, experts
// of 1408, 576 rows of kv_a with a last block of 64, 8 to 64 heads.
TEST_F(Steps, WidthsOfTheFamily) {
  check(with({{"intermediate_size", 10944},
              {"moe_intermediate_size", 1408},
              {"q_lora_rank", nullptr},
              {"kv_lora_rank", 512},
              {"qk_rope_head_dim", 64},
              {"quantization_config", quantized()}}),
        {{0, 2}});
}

TEST_F(Steps, NumbersOfHeads) {
  for (int64_t heads : {8, 16, 20, 64}) {
    only = "";
    compile(with({{"num_attention_heads", heads},
                  {"num_key_value_heads", heads},
                  {"num_hidden_layers", 1}}));
    for (const char *name : {"q_b", "rope", "absorb", "attention", "o_proj"}) {
      only = name;
      run({{0, 3}, {64, 2}});
    }
  }
}

} // namespace
