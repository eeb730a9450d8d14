//===- CAPITest.cpp - C interface of the runtime --------------------------===//
#include "k2rt/k2rt.h"

#include "runtime/Checkpoint/SafetensorsFile.h"
#include "runtime/Checkpoint/SafetensorsWriter.h"
#include "test/Unit/Checkpoint/TestFiles.h"

#include <atomic>
#include <cmath>
#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thread>

using testing::ElementsAre;
using testing::HasSubstr;

extern "C" int openNothing(void);

namespace {
constexpr const char *kArtifact =
    K2C_SOURCE_DIR "/test/Runtime/Inputs/tiny.art";

/// The tiny model; every weight is one, but the layers' `w` are zero.
class CAPITest : public testing::Test {
protected:
  CAPITest() {
    auto writer =
        k2rt::SafetensorsWriter::create(dir_.path("model.safetensors"));
    std::vector<std::pair<std::string, int64_t>> bf16 = {
        {"model.embed_tokens.weight", 10}, {"lm_head.weight", 10}};
    for (int e = 0; e < 4; ++e)
      bf16.emplace_back(
          "model.layers.1.mlp.experts." + std::to_string(e) + ".weight", 1);
    for (auto &[name, rows] : bf16)
      EXPECT_TRUE(writer->declare(name, k2rt::DType::BF16, {rows, 6}).ok());
    for (const char *name : {"model.layers.0.w", "model.layers.1.w"})
      EXPECT_TRUE(writer->declare(name, k2rt::DType::F32, {6}).ok());
    for (auto &[name, rows] : bf16) {
      std::vector<uint16_t> ones(static_cast<size_t>(rows * 6), 0x3f80);
      EXPECT_TRUE(writer->write(name, 0, std::as_bytes(std::span(ones))).ok());
    }
    EXPECT_TRUE(writer->commit().ok());
  }
  ~CAPITest() override { k2rt_close(model_); }

  void start(const char *entry, std::vector<int64_t> room) {
    ASSERT_EQ(k2rt_open(kArtifact, "sim", entry, &model_), K2RT_OK)
        << k2rt_last_error();
    ASSERT_EQ(k2rt_bind_weights(model_, dir_.str().c_str()), K2RT_OK)
        << k2rt_last_error();
    ASSERT_EQ(k2rt_open_cache(model_, room.data(), room.size()), K2RT_OK)
        << k2rt_last_error();
  }

  ScratchFolder dir_;
  k2rt_model *model_ = nullptr;
};

TEST_F(CAPITest, OpensBindsStepsAndReads) {
  start("model", {2, 1});
  k2rt_info info;
  ASSERT_EQ(k2rt_get_info(model_, &info), K2RT_OK);
  EXPECT_EQ(info.hidden_size, 6);
  EXPECT_EQ(info.vocab_size, 10);
  EXPECT_EQ(info.rope_pairs, 1);

  int64_t lengths[] = {1, 1};
  int32_t ids[] = {3, 4};
  k2rt_step_input input = {lengths, 2,       ids,     nullptr,
                           nullptr, nullptr, nullptr, nullptr};
  ASSERT_EQ(k2rt_step(model_, &input), K2RT_OK) << k2rt_last_error();
  // x = 1 + 0 * sum + 1 of the expert; a logit is six of them.
  std::vector<float> x(12), logits(20);
  ASSERT_EQ(k2rt_read(model_, "x", x.data(), x.size()), K2RT_OK);
  EXPECT_THAT(x, testing::Each(2.0f));
  ASSERT_EQ(k2rt_read(model_, "logits", logits.data(), logits.size()), K2RT_OK);
  EXPECT_THAT(logits, testing::Each(12.0f));

  lengths[1] = 0;
  ASSERT_EQ(k2rt_step(model_, &input), K2RT_OK) << k2rt_last_error();
  EXPECT_EQ(k2rt_step(model_, &input), K2RT_INPUT);
  EXPECT_THAT(k2rt_last_error(),
              HasSubstr("sequence 0: expected at most 2 tokens"));
  EXPECT_EQ(k2rt_read(model_, "x", x.data(), 6), K2RT_OK)
      << "a refused step leaves the results of the one before";

  // A new cache begins anew.
  int64_t room = 1;
  ASSERT_EQ(k2rt_open_cache(model_, &room, 1), K2RT_OK);
  EXPECT_EQ(k2rt_read(model_, "x", x.data(), 6), K2RT_INPUT);
  input.num_sequences = 1;
  ASSERT_EQ(k2rt_step(model_, &input), K2RT_OK) << k2rt_last_error();
  EXPECT_EQ(k2rt_read(model_, "x", x.data(), 6), K2RT_OK);
}

TEST_F(CAPITest, TheStackTakesX0) {
  start("stack", {3});
  int64_t length = 1;
  std::vector<uint16_t> x0(6, 0x4000);
  k2rt_step_input input = {&length, 1,       nullptr, x0.data(),
                           nullptr, nullptr, nullptr, nullptr};
  ASSERT_EQ(k2rt_step(model_, &input), K2RT_OK) << k2rt_last_error();
  std::vector<float> x(6);
  ASSERT_EQ(k2rt_read(model_, "x", x.data(), 6), K2RT_OK);
  EXPECT_THAT(x, testing::Each(3.0f));
  EXPECT_EQ(k2rt_read(model_, "logits", x.data(), 6), K2RT_INPUT);
  EXPECT_THAT(k2rt_last_error(), HasSubstr("expected the name x, but got"));
}

TEST_F(CAPITest, TakesAMask) {
  // Layer 0 adds w * (x[0] + mask) of the keys that a token may see.
  std::vector<float> ones(6, 1.0f);
  auto text = *k2rt::readTextFile(dir_.path("model.safetensors"));
  auto header = k2rt::SafetensorsFile::open(dir_.path("model.safetensors"));
  const k2rt::TensorView *w = (*header)->find("model.layers.0.w");
  ASSERT_NE(w, nullptr);
  // The data of w begins as many bytes before the file's end as it does here.
  const k2rt::TensorView &last = (*header)->tensors().back();
  size_t behind = static_cast<size_t>(last.bytes.data() + last.bytes.size() -
                                      w->bytes.data());
  std::memcpy(text.data() + text.size() - behind, ones.data(), 24);
  dir_.write("model.safetensors", text);
  start("stack", {3});
  std::vector<uint16_t> x0(12, 0x3f80);
  k2rt_step_input input = {};
  int64_t length = 2;
  float mask[] = {-HUGE_VALF, 3, -HUGE_VALF, -HUGE_VALF};
  input.lengths = &length;
  input.num_sequences = 1;
  input.x0 = x0.data();
  input.mask = mask;
  ASSERT_EQ(k2rt_step(model_, &input), K2RT_OK) << k2rt_last_error();
  // Token 0: 1 + (1 + 3) and the expert's 1; token 1 sees nothing.
  std::vector<float> x(12);
  ASSERT_EQ(k2rt_read(model_, "x", x.data(), 12), K2RT_OK);
  EXPECT_THAT(std::span(x).first(6), testing::Each(6.0f));
  EXPECT_THAT(std::span(x).last(6), testing::Each(2.0f));
}

// Two steps at once over one cache: one of them is refused and has changed
// nothing, so that the tokens of the others all find room.
TEST_F(CAPITest, ASecondThreadIsRefused) {
  constexpr int kSteps = 10000;
  start("stack", {kSteps});
  int64_t length = 1;
  int32_t position = 0;
  std::vector<uint16_t> x0(6, 0x4000);
  k2rt_step_input input = {};
  input.lengths = &length;
  input.num_sequences = 1;
  input.x0 = x0.data();
  input.positions = &position;
  std::atomic<int> done = 0, refused = 0, wrong = 0;
  auto work = [&] {
    while (done + refused < kSteps && refused < 3) {
      if (k2rt_step(model_, &input) == K2RT_OK)
        ++done;
      else if (std::string(k2rt_last_error())
                   .starts_with("expected one call at a time on a model"))
        ++refused;
      else
        ++wrong, refused += 3;
    }
  };
  std::thread other(work);
  work();
  other.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(done, 0);
  EXPECT_GE(refused, 3);
}

TEST_F(CAPITest, RefusesWhatIsOutOfOrder) {
  EXPECT_EQ(openNothing(), K2RT_INPUT);
  EXPECT_THAT(k2rt_last_error(), HasSubstr("/nonexistent.art"));
  EXPECT_EQ(k2rt_open(nullptr, "sim", "model", &model_), K2RT_INPUT);
  EXPECT_EQ(k2rt_step(nullptr, nullptr), K2RT_INPUT);
  EXPECT_THAT(k2rt_last_error(), HasSubstr("expected a model, but got NULL"));

  ASSERT_EQ(k2rt_open(kArtifact, "sim", "model", &model_), K2RT_OK);
  int64_t length = 1;
  int32_t id = 10;
  k2rt_step_input input = {&length, 1,       &id,     nullptr,
                           nullptr, nullptr, nullptr, nullptr};
  EXPECT_EQ(k2rt_step(model_, &input), K2RT_INPUT);
  EXPECT_THAT(k2rt_last_error(),
              HasSubstr("expected weights and a cache before a step"));
  int64_t negative = -1;
  EXPECT_EQ(k2rt_open_cache(model_, &negative, 1), K2RT_INPUT);
  EXPECT_THAT(k2rt_last_error(),
              HasSubstr("cache: expected room for 0 to 2147483647 tokens"));
  k2rt_close(model_);

  start("model", {4});
  float value;
  EXPECT_EQ(k2rt_read(model_, "x", &value, 1), K2RT_INPUT);
  EXPECT_THAT(k2rt_last_error(), HasSubstr("expected a step before"));
  EXPECT_EQ(k2rt_step(model_, &input), K2RT_INPUT);
  EXPECT_THAT(k2rt_last_error(),
              HasSubstr("input_ids: expected ids from 0 to 9"));
  input.token_ids = nullptr;
  EXPECT_EQ(k2rt_step(model_, &input), K2RT_INPUT);
  EXPECT_THAT(k2rt_last_error(), HasSubstr("token_ids: expected an array"));
  input.num_sequences = 2;
  EXPECT_EQ(k2rt_step(model_, &input), K2RT_INPUT);
  EXPECT_THAT(
      k2rt_last_error(),
      HasSubstr("num_sequences: expected the 1 of the cache, but got 2"));
}
} // namespace
