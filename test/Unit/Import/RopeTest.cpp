// The scales and frequencies that the model's notes derive by hand, for every
// published spelling of YaRN.
#include "k2c/Import/ModelFacts.h"
#include "runtime/Checkpoint/SafetensorsFile.h"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>

using namespace k2c;

static RopeParameters yarn(double theta, double factor, double fast,
                           double slow, double mscale = 1) {
  return {theta, true, factor, fast, slow, mscale, mscale, 4096};
}

TEST(Rope, SoftmaxScaleOfEveryModel) {
  EXPECT_NEAR(computeSoftmaxScale(yarn(5e4, 32, 1, 1), 192), 0.1308608,
              1e-7); // Kimi-K2-Instruct
  EXPECT_NEAR(computeSoftmaxScale(yarn(5e4, 64, 1, 1), 192), 0.1446796,
              1e-7); // Kimi-K2-Instruct-0905
  EXPECT_NEAR(computeSoftmaxScale(yarn(1e4, 40, 32, 1), 192), 0.1352338,
              1e-7); // DeepSeek-V3
  EXPECT_NEAR(computeSoftmaxScale(yarn(1e4, 40, 32, 1, 0.707), 192), 0.1147214,
              1e-7); // DeepSeek-V2-Lite
  EXPECT_NEAR(computeSoftmaxScale({5e4}, 192), 0.0721688, 1e-7); // Moonlight
}

TEST(Rope, TablesOfK2AreNotScaled) {
  EXPECT_EQ(computeRopeMultiplier(yarn(5e4, 32, 1, 1)), 1.0);
}

TEST(Rope, K2sYarnIsAStepAfterPair19) {
  std::vector<float> plain = computeInvFreq({5e4}, 64),
                     stretched = computeInvFreq(yarn(5e4, 32, 1, 1), 64);
  ASSERT_EQ(stretched.size(), 32u);
  for (int i = 0; i < 32; ++i) {
    EXPECT_NEAR(plain[i], std::pow(5e4, -2.0 * i / 64), 1e-7 * plain[i]) << i;
    EXPECT_FLOAT_EQ(stretched[i], i <= 19 ? plain[i] : plain[i] / 32) << i;
  }
}

TEST(Rope, RampOfV3RunsFrom10To23) {
  std::vector<float> plain = computeInvFreq({1e4}, 64),
                     stretched = computeInvFreq(yarn(1e4, 40, 32, 1), 64);
  for (int i = 0; i < 32; ++i) {
    double slow = std::clamp((i - 10) / 13.0, 0.0, 1.0);
    EXPECT_NEAR(stretched[i], plain[i] * (1 - slow) + plain[i] / 40 * slow,
                1e-6 * plain[i])
        << i;
  }
}

// Hugging Face's own float32 frequencies, for the golden cases of the tree and
// those that K2C_GOLDEN names: equal but for a last bit. (Its vectorised power
// is good to one unit in the last place, ours is rounded correctly; of theta
// 50000 and 64 columns pair 5 differs, where the exact power is near a tie.)
TEST(Rope, FrequenciesOfTheGoldenCases) {
  std::vector<std::string> folders = {std::string(K2C_SOURCE_DIR) +
                                      "/test/golden"};
  if (const char *other = std::getenv("K2C_GOLDEN"))
    folders.push_back(other);
  int compared = 0, different = 0;
  for (const std::string &folder : folders)
    for (const auto &entry : std::filesystem::directory_iterator(folder)) {
      std::string path = entry.path().string() + "/golden.safetensors";
      if (!std::filesystem::exists(path))
        continue;
      auto facts = readModelFacts(entry.path().string());
      ASSERT_TRUE(bool(facts));
      auto file = k2rt::SafetensorsFile::open(path);
      ASSERT_TRUE(bool(file));
      if (const k2rt::TensorView *scale = (*file)->find("softmax_scale"))
        EXPECT_FLOAT_EQ(k2rt::readFloats(*scale)->front(), facts->softmaxScale)
            << path;
      const k2rt::TensorView *tensor = (*file)->find("rope.inv_freq");
      if (!tensor)
        continue;
      auto want = k2rt::readFloats(*tensor);
      ASSERT_TRUE(bool(want));
      ASSERT_EQ(facts->invFreq.size(), want->size());
      for (size_t i = 0; i < want->size(); ++i) {
        float got = facts->invFreq[i];
        EXPECT_LE(std::nextafter((*want)[i], 0.0f), got) << path << " " << i;
        EXPECT_GE(std::nextafter((*want)[i], 2.0f), got) << path << " " << i;
        different += got != (*want)[i];
      }
      ++compared;
    }
  EXPECT_GE(compared, 4);
  EXPECT_LE(different, compared);
}
