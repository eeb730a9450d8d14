//===- KernelsTest.cpp - Every kernel of a model against the reference ----===//
//
// Sizes and forms of the model: each compiles to other kernels.
//
//===----------------------------------------------------------------------===//
#include "ModelTest.h"

using namespace k2c::test;

namespace {

<<<<<<< Updated upstream
/// A config.json of the family; tests change what they are about.
llvm::json::Object baseConfig() {
  return llvm::json::Object{
      {"architectures", llvm::json::Array{"DeepseekV3ForCausalLM"}},
      {"model_type", "kimi_k2"},
      {"attention_bias", false},
      {"hidden_act", "silu"},
      {"hidden_size", 128},
      {"num_hidden_layers", 2},
      {"first_k_dense_replace", 1},
      {"moe_layer_freq", 1},
      {"num_attention_heads", 2},
      {"num_key_value_heads", 2},
      {"q_lora_rank", 96},
      {"kv_lora_rank", 64},
      {"qk_nope_head_dim", 64},
      {"qk_rope_head_dim", 32},
      {"v_head_dim", 64},
      {"intermediate_size", 208},
      {"moe_intermediate_size", 40},
      {"n_routed_experts", 6},
      {"num_experts_per_tok", 3},
      {"n_shared_experts", 1},
      {"n_group", 1},
      {"topk_group", 1},
      {"topk_method", "noaux_tc"},
      {"scoring_func", "sigmoid"},
      {"norm_topk_prob", true},
      {"routed_scaling_factor", 2.827},
      {"vocab_size", 500},
      {"max_position_embeddings", 4096},
      {"rms_norm_eps", 1e-6},
      {"rope_theta", 50000.0},
      {"tie_word_embeddings", false},
      {"num_nextn_predict_layers", 0},
      {"torch_dtype", "bfloat16"}};
}

llvm::json::Object quantized() {
  return llvm::json::Object{{"quant_method", "fp8"},
                            {"fmt", "e4m3"},
                            {"activation_scheme", "dynamic"},
                            {"weight_block_size", llvm::json::Array{128, 128}}};
}

constexpr const char *kModelPasses =
    "k2.model(k2-fuse-parallel-linears,k2-absorb-attention,k2-form-kernels,"
    "k2-choose-kernel-configs,k2-verify-fused),convert-k2-to-tile";

class Kernels : public testing::Test {
protected:
  Kernels() {
    DialectRegistry registry;
    registerAllDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    static bool once = (registerAllPasses(), true);
    (void)once;
  }

  /// The kernels of a model, each compared where the reference runs it.
  void check(llvm::json::Object config, ArrayRef<SequenceLength> lengths,
             unsigned seed = 1) {
    OwningOpRef<ModuleOp> module = import(std::move(config));
    ASSERT_TRUE(module);
    PassManager passes(&context);
    ASSERT_TRUE(succeeded(parsePassPipeline(kModelPasses, passes)));
    ASSERT_TRUE(succeeded(passes.run(*module)));
    auto model = *module->getOps<k2::ModelOp>().begin();
    k2::ConfigAttr facts = model.getConfig();

    std::mt19937 random(seed);
    Step step;
    step.batch = makeBatch(lengths, step.pages, random);
    for (int64_t token : withoutSlot)
      step.batch.slot[token] = -1;
    if (isMasked)
      step.batch.mask = makeMask(step.batch, random);
    int64_t tokens = step.batch.tokens();
    step.ids = Integers({tokens});
    for (int64_t &id : step.ids.data)
      id = random() % facts.getVocabSize();
    step.cos = Tensor({tokens, facts.getQkRopeHeadDim() / 2});
    step.sin = step.cos;
    for (size_t i = 0; i < step.cos.data.size(); ++i) {
      double angle = std::uniform_real_distribution<double>(0, 6.28)(random);
      step.cos.data[i] = static_cast<float>(std::cos(angle));
      step.sin.data[i] = static_cast<float>(std::sin(angle));
    }
    step.slotOf.resize(std::max<int64_t>(facts.getNRoutedExperts(), 0));
    std::iota(step.slotOf.begin(), step.slotOf.end(), 0);
    std::shuffle(step.slotOf.begin(), step.slotOf.end(), random);

    RandomParameters parameters(seed);
    parameters.zeroed = zeroed;
    KernelRunner runner(*module, parameters, step);
    reference::Interpreter<Real> reference(reference::Rounding::Bf16,
                                           &parameters);
    for (int64_t l = 0; l < facts.getNumHiddenLayers(); ++l)
      reference.caches.push_back(makeCache(step.batch, step.pages,
                                           facts.getKvLoraRank(),
                                           facts.getQkRopeHeadDim(), random));
    llvm::StringSet<> failed;
    reference.hooks.before = [&](Operation *op, int64_t layer,
                                 ValueOf valueOf) {
      auto kernel = dyn_cast<k2::KernelOp>(op);
      if (!kernel || !kernel.getName().contains(only))
        return;
      if (llvm::Error error = runner.launch(kernel, layer, valueOf)) {
        ADD_FAILURE() << llvm::toString(std::move(error));
        failed.insert(kernel.getName());
      }
    };
    reference.hooks.after = [&](Operation *op, int64_t, ValueOf valueOf) {
      auto kernel = dyn_cast<k2::KernelOp>(op);
      if (!kernel || !kernel.getName().contains(only) ||
          failed.contains(kernel.getName()))
        return;
      ++compared;
      if (llvm::Error error = runner.compare(kernel, valueOf))
        ADD_FAILURE() << llvm::toString(std::move(error));
    };
    auto entry = model.lookupSymbol<k2::EntryOp>("model");
    auto result = reference.run(entry.getBody(),
                                {step.ids, step.cos, step.sin, step.batch});
    if (!result)
      FAIL() << llvm::toString(result.takeError());
    EXPECT_GT(compared, 0);
  }

  /// Every kind of entry, in any order of keys. Row 0 of the step sees no key,
  /// row 1 sees all of them alike: the lowest number swallows its scores.
  /// Columns past a sequence's keys are NaN.
  static Tensor makeMask(const reference::Batch<Real> &batch,
                         std::mt19937 &random) {
    constexpr Real none = -std::numeric_limits<Real>::infinity();
    const Real lowest = std::numeric_limits<float>::lowest();
    auto keysOf = [&](int64_t b) {
      return batch.pastLen[b] + batch.seqStart[b + 1] - batch.seqStart[b];
    };
    int64_t longest = 0;
    for (int64_t b = 0; b < batch.sequences(); ++b)
      longest = std::max(longest, keysOf(b));
    Tensor mask({batch.tokens(), longest});
    mask.data.assign(mask.data.size(), std::nan(""));
    for (int64_t b = 0; b < batch.sequences(); ++b)
      for (int64_t t = batch.seqStart[b]; t < batch.seqStart[b + 1]; ++t)
        for (int64_t key = 0; key < keysOf(b); ++key) {
          float some = std::uniform_real_distribution<float>(-4, 4)(random);
          const Real kinds[] = {0, 0, some, some, none, lowest};
          mask.at(t, key) = t == 0   ? none
                            : t == 1 ? lowest
                                     : kinds[random() % std::size(kinds)];
        }
    return mask;
  }

  OwningOpRef<ModuleOp> import(llvm::json::Object config) {
    llvm::SmallString<128> path;
    int file;
    if (llvm::sys::fs::createTemporaryFile("config", "json", file, path))
      return nullptr;
    llvm::raw_fd_ostream(file, /*shouldClose=*/true)
        << llvm::json::Value(std::move(config));
    auto module = importModel(path.str(), context);
    llvm::sys::fs::remove(path);
    if (module)
      return std::move(*module);
    ADD_FAILURE() << llvm::toString(module.takeError());
    return nullptr;
  }

  MLIRContext context;
  /// As RandomParameters::zeroed.
  std::vector<std::string> zeroed;
  /// Tokens whose slot is -1.
  std::vector<int64_t> withoutSlot;
  /// Whether the step has a mask.
  bool isMasked = false;
  /// Only kernels with this in their name run.
  std::string only;
  int compared = 0;
};

llvm::json::Object
with(std::initializer_list<std::pair<const char *, llvm::json::Value>> fields) {
  llvm::json::Object config = baseConfig();
  for (const auto &[name, value] : fields)
    config[name] = value;
  return config;
}
=======
class Kernels : public ModelTest {};
>>>>>>> Stashed changes

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
  isMasked = true;
  only = "attention";
  check(baseConfig(), {{0, 9}});
  check(baseConfig(), {{70, 5}, {3, 0}, {0, 17}, {128, 1}, {60, 70}});
}

// A head a CTA, rows of other heads between a token's.
TEST_F(Kernels, MaskOverPaddedRowsOfHeads) {
  isMasked = true;
  only = "attention";
  check(with({{"qk_nope_head_dim", 20},
              {"qk_rope_head_dim", 6},
              {"kv_lora_rank", 36},
              {"num_attention_heads", 3},
              {"num_key_value_heads", 3}}),
        {{2, 70}, {65, 3}});
}

TEST_F(Kernels, MaskOverWideLatents) {
  isMasked = true;
  only = "attention";
  check(with({{"kv_lora_rank", 512},
              {"qk_nope_head_dim", 128},
              {"qk_rope_head_dim", 64},
              {"num_attention_heads", 4},
              {"num_key_value_heads", 4}}),
        {{40, 50}});
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
