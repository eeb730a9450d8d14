// config.json: spellings that mean the same, defaults, and an error with field,
// rule and fact for everything else.
#include "TestConfig.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

using namespace k2c;
using namespace k2c::test;
using testing::HasSubstr;
using testing::StartsWith;

using Fields = std::map<std::string, std::string>;

static Fields
with(std::initializer_list<std::pair<const char *, const char *>> changes) {
  Fields fields = smallConfig();
  for (auto [name, value] : changes) {
    if (value)
      fields[name] = value;
    else
      fields.erase(name);
  }
  return fields;
}

TEST(Config, FieldsThatMustBeThere) {
  for (const char *field : {"model_type",
                            "hidden_size",
                            "num_hidden_layers",
                            "num_attention_heads",
                            "kv_lora_rank",
                            "qk_nope_head_dim",
                            "qk_rope_head_dim",
                            "v_head_dim",
                            "intermediate_size",
                            "moe_intermediate_size",
                            "n_routed_experts",
                            "num_experts_per_tok",
                            "n_shared_experts",
                            "n_group",
                            "topk_group",
                            "norm_topk_prob",
                            "routed_scaling_factor",
                            "first_k_dense_replace",
                            "hidden_act",
                            "vocab_size",
                            "max_position_embeddings",
                            "rms_norm_eps",
                            "rope_theta"}) {
    EXPECT_THAT(errorOf(with({{field, nullptr}})),
                HasSubstr(std::string("config.json: ") + field + ": expected"))
        << field;
    EXPECT_THAT(errorOf(with({{field, nullptr}})),
                HasSubstr("but got no such field"))
        << field;
  }
}

TEST(Config, DefaultsArePrinted) {
  ModelFacts facts = factsOf(with({{"q_lora_rank", nullptr},
                                   {"scoring_func", nullptr},
                                   {"topk_method", nullptr},
                                   {"moe_layer_freq", nullptr},
                                   {"rope_scaling", nullptr}}));
  EXPECT_EQ(facts.qLoraRank, 1536);
  EXPECT_TRUE(facts.sigmoidScores);
  EXPECT_TRUE(facts.selectionBias);
  EXPECT_FALSE(facts.yarn);
  EXPECT_THAT(facts.notes,
              testing::ElementsAre(HasSubstr("q_lora_rank is absent: 1536"),
                                   HasSubstr("moe_layer_freq is absent: 1"),
                                   HasSubstr("scoring_func is absent: sigmoid"),
                                   HasSubstr("topk_method is absent: noaux_tc"),
                                   HasSubstr("rope_scaling is absent: plain")));
  facts = factsOf(with({{"model_type", "\"deepseek_v2\""},
                        {"scoring_func", nullptr},
                        {"topk_method", nullptr}}));
  EXPECT_FALSE(facts.sigmoidScores);
  EXPECT_FALSE(facts.selectionBias);
}

TEST(Config, NullQueryRankMeansNone) {
  EXPECT_EQ(factsOf(with({{"q_lora_rank", "null"}})).qLoraRank, 0);
}

TEST(Config, WrongTypesAndRanges) {
  EXPECT_THAT(errorOf(with({{"num_attention_heads", "\"four\""}})),
              HasSubstr("num_attention_heads: expected an integer from 1 to "
                        "2147483647, but got \"four\""));
  EXPECT_THAT(errorOf(with({{"hidden_size", "-256"}})),
              HasSubstr("hidden_size: expected an integer from 1 to "
                        "2147483647, but got -256"));
  EXPECT_THAT(errorOf(with({{"hidden_size", "256.5"}})),
              HasSubstr("hidden_size: expected an integer"));
  EXPECT_THAT(errorOf(with({{"hidden_size", "1e30"}})),
              HasSubstr("hidden_size: expected an integer"));
  EXPECT_THAT(errorOf(with({{"hidden_size", "18446744073709551615"}})),
              HasSubstr("hidden_size: expected an integer"));
  EXPECT_THAT(errorOf(with({{"qk_rope_head_dim", "33"}})),
              HasSubstr("qk_rope_head_dim: expected an even number (pairs are "
                        "turned), but got 33"));
  EXPECT_THAT(
      errorOf(with({{"rms_norm_eps", "0"}})),
      HasSubstr(
          "rms_norm_eps: expected a positive number of float32, but got 0"));
  EXPECT_THAT(errorOf(with({{"rms_norm_eps", "1e-300"}})),
              HasSubstr("rms_norm_eps: expected a positive number of float32, "
                        "but got 1e-300"));
  for (const char *field :
       {"rms_norm_eps", "routed_scaling_factor", "rope_theta"})
    EXPECT_THAT(
        errorOf(with({{field, "1e300"}})),
        HasSubstr(std::string(field) +
                  ": expected a number that float32 holds, but got 1e+300"));
  EXPECT_THAT(
      errorOf(with({{"routed_scaling_factor", "null"}})),
      HasSubstr("routed_scaling_factor: expected a number, but got null"));
  EXPECT_THAT(errorOf(with({{"norm_topk_prob", "1"}})),
              HasSubstr("norm_topk_prob: expected true or false, but got 1"));
  EXPECT_THAT(errorOf(with({{"hidden_act", "\"gelu\""}})),
              HasSubstr("hidden_act: expected \"silu\", but got \"gelu\""));
  EXPECT_THAT(errorOf(with({{"hidden_size", "2147483647"},
                            {"vocab_size", "2147483647"}})),
              HasSubstr("hidden_size: expected a model of fewer than"));
}

TEST(Config, OtherModels) {
  EXPECT_THAT(errorOf(with({{"index_topk", "2048"}})),
              HasSubstr("index_topk: expected no such field"));
  EXPECT_THAT(errorOf(with({{"model_type", "\"llama\""}})),
              HasSubstr("model_type: expected kimi_k2, deepseek_v3, "
                        "deepseek_v2 or glm4_moe_lite"));
  EXPECT_THAT(errorOf(with({{"attention_bias", "true"}})),
              HasSubstr("attention_bias: expected false, but got true"));
  EXPECT_THAT(errorOf(with({{"tie_word_embeddings", "true"}})),
              HasSubstr("tie_word_embeddings: expected false"));
  EXPECT_THAT(
      errorOf(with({{"num_key_value_heads", "2"}})),
      HasSubstr(
          "num_key_value_heads: expected num_attention_heads = 4, but got 2"));
  EXPECT_THAT(errorOf(with({{"qk_head_dim", "128"}})),
              HasSubstr("qk_head_dim: expected qk_nope_head_dim + "
                        "qk_rope_head_dim = 96, but got 128"));
}

TEST(Config, SizesThatOneThreadBlockCannotHold) {
  for (auto [field, value, most] : {std::tuple("hidden_size", "16385", "16384"),
                                    {"q_lora_rank", "8193", "8192"},
                                    {"kv_lora_rank", "8194", "8192"},
                                    {"qk_rope_head_dim", "1026", "1024"},
                                    {"n_routed_experts", "2049", "2048"}})
    EXPECT_EQ(factsOf(with({{field, value}})).compileProblem,
              std::string(field) + ": expected at most " + most +
                  " (kernels hold a whole row), but got " + value);
  EXPECT_EQ(factsOf(with({{"n_routed_experts", "512"},
                          {"num_experts_per_tok", "65"}}))
                .compileProblem,
            "num_experts_per_tok: expected at most 64 (kernels hold a whole "
            "row), but got 65");
  for (const char *field : {"kv_lora_rank", "qk_nope_head_dim"})
    EXPECT_EQ(factsOf(with({{field, "65"}})).compileProblem,
              std::string(field) + ": expected an even number, but got 65");
}

// The family's other class: its parameters can be counted without the field.
TEST(Config, NoDefaultScoresOfGlm) {
  ModelFacts facts = factsOf(
      with({{"model_type", "\"glm4_moe_lite\""}, {"scoring_func", nullptr}}));
  EXPECT_EQ(facts.compileProblem,
            "scoring_func: expected \"sigmoid\" or \"softmax\" (no default of "
            "glm4_moe_lite is established), but got no such field");
}

TEST(Config, RouterNumbersThatCannotBe) {
  EXPECT_THAT(errorOf(with({{"scoring_func", "\"tanh\""}})),
              HasSubstr("scoring_func: expected \"sigmoid\" or \"softmax\", "
                        "but got \"tanh\""));
  EXPECT_THAT(errorOf(with({{"topk_method", "\"best\""}})),
              HasSubstr("topk_method: expected \"noaux_tc\" or \"greedy\", but "
                        "got \"best\""));
  EXPECT_THAT(
      errorOf(with({{"num_experts_per_tok", "99"}})),
      HasSubstr("num_experts_per_tok: expected at most the 16 experts"));
  EXPECT_THAT(errorOf(with({{"num_experts_per_tok", "0"}})),
              HasSubstr("num_experts_per_tok: expected an integer from 1"));
  EXPECT_THAT(
      errorOf(with({{"n_group", "3"}})),
      HasSubstr(
          "n_group: expected a divisor of n_routed_experts = 16, but got 3"));
  EXPECT_THAT(errorOf(with({{"n_group", "4"}, {"topk_group", "5"}})),
              HasSubstr("topk_group: expected at most n_group = 4, but got 5"));
  EXPECT_THAT(errorOf(with({{"n_group", "16"}, {"topk_group", "8"}})),
              HasSubstr("n_group: expected groups of at least two experts"));
  EXPECT_THAT(errorOf(with({{"n_group", "8"}, {"topk_group", "1"}})),
              HasSubstr("num_experts_per_tok: expected at most the 2 experts "
                        "of the kept groups"));
}

TEST(Config, DenseLayers) {
  ModelFacts facts = factsOf(with({{"first_k_dense_replace", "3"},
                                   {"n_routed_experts", nullptr},
                                   {"num_experts_per_tok", nullptr}}));
  EXPECT_EQ(facts.moeLayers(), 0);
  EXPECT_EQ(facts.denseLayers(), 3);
  facts = factsOf(
      with({{"first_k_dense_replace", "0"}, {"intermediate_size", nullptr}}));
  EXPECT_EQ(facts.denseLayers(), 0);
  EXPECT_EQ(factsOf(with({{"mlp_layer_types",
                           "[\"dense\", \"sparse\", \"sparse\"]"}}))
                .moeLayers(),
            2);
  EXPECT_THAT(errorOf(with(
                  {{"mlp_layer_types", "[\"dense\", \"dense\", \"sparse\"]"}})),
              HasSubstr("mlp_layer_types: expected \"sparse\" for layer 1"));
  EXPECT_THAT(errorOf(with({{"mlp_layer_types", "[\"dense\"]"}})),
              HasSubstr("mlp_layer_types: expected one entry for each of the 3 "
                        "layers, but got 1 entries"));
  // The accounting works for any pattern, code for one run of each kind.
  facts =
      factsOf(with({{"moe_layer_freq", "2"}, {"first_k_dense_replace", "0"}}));
  EXPECT_EQ(facts.moeLayers(), 2);
  EXPECT_THAT(
      facts.compileProblem,
      StartsWith(
          "moe_layer_freq: expected the dense layers and then the MoE layers"));
}

TEST(Config, RopeSpellingsMeanTheSame) {
  const std::string yarn =
      "\"factor\": 32, \"original_max_position_embeddings\": 4096, "
      "\"beta_fast\": 1, \"beta_slow\": 1.0, \"mscale\": 1.0, "
      "\"mscale_all_dim\": 1.0";
  std::string typed = "{\"type\": \"yarn\", " + yarn + "}",
              roped = "{\"rope_type\": \"yarn\", " + yarn + "}";
  std::string both =
      "{\"rope_type\": \"yarn\", \"type\": \"yarn\", " + yarn + "}";
  std::string inside =
      "{\"rope_type\": \"yarn\", \"rope_theta\": 50000, " + yarn + "}";
  ModelFacts want = factsOf(smallConfig());
  EXPECT_TRUE(want.yarn);
  for (const ModelFacts &got :
       {factsOf(with({{"rope_scaling", typed.c_str()}})),
        factsOf(with({{"rope_scaling", roped.c_str()}})),
        factsOf(with({{"rope_scaling", both.c_str()}})),
        factsOf(with({{"rope_scaling", nullptr},
                      {"rope_theta", nullptr},
                      {"rope_parameters", inside.c_str()}})),
        factsOf(with({{"rope_parameters", inside.c_str()}}))}) {
    EXPECT_EQ(got.invFreq, want.invFreq);
    EXPECT_EQ(got.softmaxScale, want.softmaxScale);
    EXPECT_EQ(got.ropeTheta, 50000.0);
  }
  for (const char *plain :
       {"null", "{\"rope_type\": \"default\"}", "{\"type\": \"default\"}"}) {
    ModelFacts got = factsOf(with({{"rope_scaling", plain}}));
    EXPECT_FALSE(got.yarn) << plain;
    EXPECT_DOUBLE_EQ(got.softmaxScale, 1 / std::sqrt(96.0)) << plain;
  }
}

TEST(Config, RopeErrors) {
  EXPECT_THAT(
      errorOf(with({{"rope_scaling", "{\"factor\": 32.0}"}})),
      HasSubstr(
          "rope_scaling.type: expected the name of a method beside factor"));
  EXPECT_THAT(errorOf(with({{"rope_scaling",
                             "{\"type\": \"linear\", \"factor\": 2.0}"}})),
              HasSubstr("rope_scaling.type: expected \"yarn\" or \"default\", "
                        "but got \"linear\""));
  EXPECT_THAT(
      errorOf(with({{"rope_scaling",
                     "{\"rope_type\": \"deepseek_yarn\", \"factor\": 2.0}"}})),
      HasSubstr("rope_scaling.rope_type: expected \"yarn\""));
  EXPECT_THAT(
      errorOf(with({{"rope_scaling", "{\"type\": \"yarn\", \"rope_type\": "
                                     "\"default\", \"factor\": 2.0}"}})),
      HasSubstr("rope_scaling.rope_type: expected the method that type names"));
  EXPECT_THAT(errorOf(with(
                  {{"rope_scaling", "{\"type\": \"yarn\", \"factor\": 2.0}"}})),
              HasSubstr("rope_scaling.original_max_position_embeddings: "
                        "expected an integer, but got no such field"));
  EXPECT_THAT(errorOf(with({{"rope_scaling", "\"yarn\""}})),
              HasSubstr("rope_scaling: expected an object, but got \"yarn\""));
  EXPECT_THAT(
      errorOf(with({{"rope_scaling", nullptr},
                    {"rope_parameters",
                     "{\"rope_type\": \"default\", \"rope_theta\": 10000}"}})),
      HasSubstr("rope_theta: expected the value of rope_parameters.rope_theta, "
                "10000, but got 50000.0"));
  EXPECT_THAT(errorOf(with({{"rope_theta", "0"}})),
              HasSubstr("rope_theta: expected a number above 1"));
}

TEST(Config, NestedTextConfig) {
  Folder folder;
  std::string inner = "{";
  for (const auto &[name, value] : smallConfig())
    inner += (inner.size() > 1 ? ", \"" : "\"") + name + "\": " + value;
  inner += ", \"quantization_config\": {\"quant_method\": \"fp8\", "
           "\"weight_block_size\": [128, 128]}}";
  auto read = [&](const std::string &top) -> std::string {
    auto facts = readModelFacts(
        folder.write("config.json", "{\"model_type\": \"kimi_k25\"" + top +
                                        ", \"text_config\": " + inner + "}"));
    if (!facts)
      return llvm::toString(facts.takeError());
    return facts->quantization.kind == Quantization::Kind::Fp8 &&
                   facts->hiddenSize == 256
               ? "fine"
               : "wrong facts";
  };
  EXPECT_EQ(read(""), "fine");
  EXPECT_EQ(read(", \"quantization_config\": {\"weight_block_size\": [128, "
                 "128], \"quant_method\": \"fp8\"}"),
            "fine");
  // No block at all: weights as the tensors are.
  std::string plain =
      inner.substr(0, inner.find(", \"quantization_config\"")) + "}";
  auto facts = readModelFacts(folder.write(
      "config.json",
      "{\"model_type\": \"kimi_k25\", \"text_config\": " + plain + "}"));
  ASSERT_TRUE(bool(facts));
  EXPECT_EQ(facts->quantization.kind, Quantization::Kind::None);
  EXPECT_THAT(
      read(", \"quantization_config\": {\"quant_method\": \"awq\"}"),
      HasSubstr("quantization_config: expected the block of text_config"));
}

TEST(Config, QuantizationSchemes) {
  auto problem = [&](const char *text) {
    return factsOf(with({{"quantization_config", text}})).compileProblem;
  };
  EXPECT_EQ(problem("null"), "");
  EXPECT_EQ(problem("{\"quant_method\": \"fp8\", \"fmt\": \"e4m3\", "
                    "\"activation_scheme\": \"dynamic\", "
                    "\"weight_block_size\": [128, 128]}"),
            "");
  EXPECT_THAT(
      problem("{\"quant_method\": \"fp8\", \"weight_block_size\": [64, 128]}"),
      HasSubstr("but got weight_block_size [64,128]"));
  EXPECT_THAT(
      problem("{\"quant_method\": \"compressed-tensors\", \"config_groups\": "
              "{\"group_0\": {\"weights\": {\"num_bits\": 4, \"type\": "
              "\"int\"}}}}"),
      HasSubstr("but got \"compressed-tensors\" with 4-bit integer weights"));
  EXPECT_THAT(
      problem("{\"quant_method\": \"modelopt\", \"quant_algo\": \"NVFP4\"}"),
      HasSubstr("but got \"modelopt\" with quant_algo NVFP4"));
  EXPECT_THAT(errorOf(with({{"quantization_config", "{}"}})),
              HasSubstr("quantization_config.quant_method: expected a string, "
                        "but got no such field"));
}

TEST(Config, BrokenFiles) {
  Folder folder;
  auto read = [&](const std::string &text) {
    auto facts = readModelFacts(folder.write("config.json", text));
    return facts ? std::string("fine") : llvm::toString(facts.takeError());
  };
  EXPECT_THAT(read("{\"hidden_size\": 1, \"hidden_size\": 2}"),
              HasSubstr("hidden_size: expected one value, but got the key "
                        "twice in one object"));
  EXPECT_THAT(read("{\"hidden_size\": 1"),
              HasSubstr("expected valid JSON, but got an error at byte"));
  EXPECT_THAT(read(""), HasSubstr("expected valid JSON"));
  EXPECT_THAT(read("[1, 2]"),
              HasSubstr("expected a JSON object, but got array"));
  EXPECT_THAT(read(std::string(100000, '[')),
              HasSubstr("expected at most 64 levels of nesting"));
  EXPECT_THAT(read(std::string((16 << 20) + 1, ' ')),
              HasSubstr("config.json: expected at most 16777216 bytes, but got "
                        "16777217"));
  std::string pipe = folder.path + "/pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const std::string &path : {pipe, std::string("/dev/zero")})
    EXPECT_EQ(llvm::toString(readModelFacts(path).takeError()),
              path + ": expected a regular file");
  auto absent = readModelFacts(folder.path + "/nothing");
  EXPECT_THAT(llvm::toString(absent.takeError()),
              HasSubstr("nothing: expected a readable config.json"));
}
