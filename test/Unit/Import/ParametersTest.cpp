// The accounting of the published models, to the digit (derived by hand from
// the shapes in the model's notes).
#include "TestConfig.h"

#include <gmock/gmock.h>

using namespace k2c;
using namespace k2c::test;
using testing::HasSubstr;

static std::string print(const std::string &path, ParameterFormat format,
                         int expected = 0) {
  std::string out, errors;
  llvm::raw_string_ostream outStream(out), errorStream(errors);
  EXPECT_EQ(printParameters(path, format, outStream, errorStream), expected)
      << errors;
  return expected ? errors : out;
}

TEST(Parameters, KimiK2Instruct) {
  std::string path =
      std::string(K2C_SOURCE_DIR) + "/test/configs/kimi-k2-instruct-0711.json";
  EXPECT_EQ(print(path, ParameterFormat::Json), R"({
  "blocks": {
    "dense": {
      "parameters": 497500160,
      "count": 1
    },
    "moe": {
      "parameters": 17059365248,
      "count": 60
    }
  },
  "stack_parameters": 1024059415040,
  "ends": {
    "embed": 1174405120,
    "final_norm": 7168,
    "lm_head": 1174405120
  }
}
)");
  std::string text = print(path, ParameterFormat::Text);
  for (const char *line : {"497,500,160\n", "17,059,365,248\n",
                           "1,024,059,415,040\n", "1,026,408,232,448\n"})
    EXPECT_THAT(text, HasSubstr(line));
}

TEST(Parameters, WithoutQueryRankAndWithTwoSharedExperts) {
  auto fields = smallConfig();
  fields["q_lora_rank"] = "null";
  fields["n_shared_experts"] = "2";
  Folder folder;
  std::string json = print(folder.writeConfig(fields), ParameterFormat::Json);
  // attention: 4*96*256 + 160*256 + 128 + 4*128*128 + 256*256 + 2*256; dense: +
  // 3*256*512; moe: + 16*256 + 16 + 3*256*64*(16 + 2)
  EXPECT_THAT(json, HasSubstr("\"parameters\": 664192"));
  EXPECT_THAT(json, HasSubstr("\"parameters\": 1159824"));
}

TEST(Parameters, ASchemeWithoutCodeIsCounted) {
  auto fields = smallConfig();
  fields["quantization_config"] =
      "{\"quant_method\": \"modelopt\", \"quant_algo\": \"NVFP4\"}";
  Folder folder;
  EXPECT_THAT(print(folder.writeConfig(fields), ParameterFormat::Json),
              HasSubstr("stack_parameters"));
}

TEST(Parameters, ErrorsNameTheField) {
  auto fields = smallConfig();
  fields.erase("hidden_size");
  Folder folder;
  EXPECT_THAT(print(folder.writeConfig(fields), ParameterFormat::Json, 1),
              HasSubstr("k2c: error: "));
  EXPECT_THAT(
      print(folder.writeConfig(fields), ParameterFormat::Json, 1),
      HasSubstr("hidden_size: expected an integer, but got no such field"));
}
