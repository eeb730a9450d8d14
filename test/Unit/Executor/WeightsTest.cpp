//===- WeightsTest.cpp - Checkpoint tensors in their final layout ---------===//
#include "runtime/Executor/Weights.h"
#include "runtime/Checkpoint/SafetensorsWriter.h"
#include "test/Unit/Checkpoint/TestFiles.h"
#include "test/Unit/Device/FakeDriver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace k2rt;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {
class WeightsTest : public testing::Test {
protected:
  /// A tensor of the checkpoint, given as its raw elements.
  template <typename T>
  void add(const std::string &name, DType dtype, std::vector<int64_t> shape,
           std::vector<T> values) {
    std::vector<std::byte> bytes(values.size() * sizeof(T));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    tensors_.push_back({name, dtype, std::move(shape), std::move(bytes)});
  }

  Param &param(ElementType dtype, std::vector<int64_t> shape, int64_t stride) {
    Param param;
    param.name = "p";
    param.dtype = dtype;
    param.shape = std::move(shape);
    param.rowStride = stride;
    manifest_.params = {param};
    return manifest_.params[0];
  }

  /// Loads the param; what went wrong, or "".
  std::string load() {
    auto writer = SafetensorsWriter::create(dir_.path("model.safetensors"));
    for (Tensor &t : tensors_)
      EXPECT_TRUE(writer->declare(t.name, t.dtype, t.shape).ok());
    for (Tensor &t : tensors_)
      EXPECT_TRUE(writer->write(t.name, 0, t.bytes).ok());
    EXPECT_TRUE(writer->commit().ok());
    auto checkpoint = Checkpoint::open(dir_.str());
    EXPECT_TRUE(checkpoint);
    progress_.clear();
    auto weights = Weights::load(manifest_, {0}, *checkpoint, device_, stats_,
                                 [&](uint64_t done, uint64_t total) {
                                   progress_.emplace_back(done, total);
                                 });
    if (!weights)
      return weights.status().message();
    weights_ = std::move(*weights);
    return "";
  }

  template <typename T> std::vector<T> pool(int64_t layer, size_t count) {
    std::vector<T> values(count);
    EXPECT_EQ(fake_.memory.at(weights_->pool(0, layer)).size(),
              count * sizeof(T));
    std::memcpy(values.data(),
                reinterpret_cast<void *>(weights_->pool(0, layer)),
                count * sizeof(T));
    return values;
  }

  struct Tensor {
    std::string name;
    DType dtype;
    std::vector<int64_t> shape;
    std::vector<std::byte> bytes;
  };
  ScratchFolder dir_;
  std::vector<Tensor> tensors_;
  Manifest manifest_;
  FakeDriver fake_;
  Device device_{fake_.table()};
  LoadStats stats_;
  std::optional<Weights> weights_;
  std::vector<std::pair<uint64_t, uint64_t>> progress_;
};

TEST_F(WeightsTest, RowsAreCopiedAsTheyAre) {
  add<uint16_t>("w", DType::BF16, {2, 2}, {1, 2, 3, 4});
  param(ElementType::BF16, {2, 2}, 2).parts = {{"w", 2, 0, 2}};
  ASSERT_EQ(load(), "");
  EXPECT_THAT(pool<uint16_t>(0, 4), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(stats_.checkpointBytes, 8u);
  EXPECT_EQ(stats_.deviceBytes, 8u);
}

TEST_F(WeightsTest, PartsAndStridesLeaveZeros) {
  add<uint8_t>("l.3.a", DType::F8_E4M3, {1, 3}, {1, 2, 3});
  add<uint8_t>("l.3.b", DType::F8_E4M3, {2, 3}, {4, 5, 6, 7, 8, 9});
  add<uint8_t>("l.4.a", DType::F8_E4M3, {1, 3}, {11, 12, 13});
  add<uint8_t>("l.4.b", DType::F8_E4M3, {2, 3}, {14, 15, 16, 17, 18, 19});
  Param &p = param(ElementType::F8E4M3, {4, 3}, 4);
  p.per = Per::Layer;
  p.firstLayer = 3, p.endLayer = 5;
  p.parts = {{"l.{layer}.a", 1, 0, 3}, {"l.{layer}.b", 2, 2, 3}};
  ASSERT_EQ(load(), "");
  EXPECT_THAT(pool<uint8_t>(3, 16),
              ElementsAre(1, 2, 3, 0, 0, 0, 0, 0, 4, 5, 6, 0, 7, 8, 9, 0));
  EXPECT_THAT(pool<uint8_t>(4, 16), ElementsAre(11, 12, 13, 0, 0, 0, 0, 0, 14,
                                                15, 16, 0, 17, 18, 19, 0));
  EXPECT_THAT(fake_.names, ElementsAre("p[3]", "p[4]"));
}

TEST_F(WeightsTest, ExpertsFollowEachOther) {
  for (int e = 0; e < 3; ++e)
    add<uint16_t>("e." + std::to_string(e), DType::BF16, {1, 2},
                  {static_cast<uint16_t>(10 * e), 7});
  manifest_.model.numExperts = 3;
  Param &p = param(ElementType::BF16, {1, 2}, 4);
  p.per = Per::Expert;
  p.parts = {{"e.{expert}", 1, 0, 2}};
  ASSERT_EQ(load(), "");
  EXPECT_THAT(progress_, ElementsAre(std::pair(4u, 12u), std::pair(8u, 12u),
                                     std::pair(12u, 12u)));
  EXPECT_THAT(pool<uint16_t>(0, 12),
              ElementsAre(0, 7, 0, 0, 10, 7, 0, 0, 20, 7, 0, 0));
}

TEST_F(WeightsTest, Float32TakesWhatWidens) {
  add<uint16_t>("a", DType::BF16, {2}, {0x3f80, 0xc000});
  add<uint16_t>("b", DType::F16, {1}, {0x3800});
  add<float>("c", DType::F32, {1}, {0.3f});
  param(ElementType::F32, {5}, 5).parts = {
      {"a", 2, 0, 0}, {"b", 1, 2, 0}, {"c", 1, 4, 0}};
  ASSERT_EQ(load(), "");
  EXPECT_THAT(pool<float>(0, 5), ElementsAre(1.0f, -2.0f, 0.5f, 0.0f, 0.3f));
}

TEST_F(WeightsTest, ScaleColumnsAreWidenedIntoTheirStride) {
  add<uint16_t>("w_scale_inv", DType::BF16, {2, 1}, {0x3f00, 0x3e80});
  param(ElementType::F32, {2, 1}, 4).parts = {{"w_scale_inv", 2, 0, 1}};
  ASSERT_EQ(load(), "");
  EXPECT_THAT(pool<float>(0, 8), ElementsAre(0.5f, 0, 0, 0, 0.25f, 0, 0, 0));
}

TEST_F(WeightsTest, NamesTensorAndBothTypes) {
  add<uint16_t>("w", DType::BF16, {2, 3}, {0, 0, 0, 0, 0, 0});
  param(ElementType::BF16, {3, 2}, 2).parts = {{"w", 3, 0, 2}};
  EXPECT_THAT(load(), HasSubstr("model.safetensors: tensor 'w': expected BF16 "
                                "[3, 2] for 'p' of the artifact, but got BF16 "
                                "[2, 3]"));
  param(ElementType::F8E4M3, {2, 3}, 16).parts = {{"w", 2, 0, 3}};
  EXPECT_THAT(load(),
              HasSubstr("tensor 'w': expected F8_E4M3 [2, 3] for 'p' of the "
                        "artifact, but got BF16 [2, 3]: recompile with k2c "
                        "FOLDER"));
  param(ElementType::BF16, {2, 3}, 8).parts = {{"missing", 2, 0, 3}};
  EXPECT_THAT(load(), HasSubstr("expected tensor 'missing', but got none"));
  EXPECT_TRUE(fake_.names.empty()) << "checked before anything is allocated";
}

TEST_F(WeightsTest, RefusesScalesThatAreNoNumbers) {
  add<uint32_t>("w_scale_inv", DType::F32, {1, 3},
                {0x3f800000, 0x00000001, 0x7f800000});
  param(ElementType::F32, {1, 3}, 4).parts = {{"w_scale_inv", 1, 0, 3}};
  EXPECT_THAT(load(),
              HasSubstr("tensor 'w_scale_inv': expected finite scales, but got "
                        "inf at [0, 2]"));
}

TEST_F(WeightsTest, RefusesAScaleBesideAWeightThatIsNotQuantised) {
  add<uint16_t>("model.layers.0.o_proj.weight", DType::BF16, {1, 2}, {1, 2});
  add<float>("model.layers.0.o_proj.weight_scale_inv", DType::F32, {1, 1}, {1});
  manifest_.model.numLayers = 1;
  Param &p = param(ElementType::BF16, {1, 2}, 2);
  p.per = Per::Layer;
  p.parts = {{"model.layers.{layer}.o_proj.weight", 1, 0, 2}};
  EXPECT_THAT(load(), HasSubstr("model.safetensors: tensor "
                                "'model.layers.0.o_proj.weight_scale_inv': "
                                "expected no block scale beside BF16 weights, "
                                "but got F32 [1, 1]"));
  tensors_[1].name = "model.layers.0.o_proj.weight_scale";
  EXPECT_THAT(load(), HasSubstr("expected no block scale beside BF16 weights"));
  tensors_[1].name = "model.layers.0.o_proj.bias";
  EXPECT_EQ(load(), "");
}

TEST_F(WeightsTest, SkipsOneLayerThatPredictsFurther) {
  add<float>("w", DType::F32, {1}, {1});
  add<float>("language_model.model.layers.3.eh_proj.weight", DType::F32, {1},
             {1});
  manifest_.model.numLayers = 3;
  param(ElementType::F32, {1}, 1).parts = {{"w", 1, 0, 0}};
  EXPECT_EQ(load(), "");
  tensors_[1].name = "language_model.model.layers.4.eh_proj.weight";
  EXPECT_THAT(
      load(),
      HasSubstr("tensor 'language_model.model.layers.4.eh_proj.weight': "
                "expected layers 0 to 2 (num_hidden_layers 3) and at most one "
                "that predicts a further token, but got layer 4"));
  tensors_[1].name = "vision_tower.layers.9.weight";
  EXPECT_EQ(load(), "");
}

TEST_F(WeightsTest, RunningOutOfMemoryIsNoCrash) {
  add<uint16_t>("w", DType::BF16, {2, 2}, {1, 2, 3, 4});
  param(ElementType::BF16, {2, 2}, 2).parts = {{"w", 2, 0, 2}};
  fake_.memoryLimit = 4;
  EXPECT_THAT(load(), HasSubstr("allocation of 8 bytes for 'p': it broke"));
}
} // namespace
