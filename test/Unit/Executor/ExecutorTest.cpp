//===- ExecutorTest.cpp - What is launched with which arguments -----------===//
#include "runtime/Executor/Executor.h"
#include "runtime/Checkpoint/SafetensorsWriter.h"
#include "test/Unit/Checkpoint/TestFiles.h"
#include "test/Unit/Device/FakeDriver.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace k2rt;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {
/// The tiny artifact on a device that records launches.
class ExecutorTest : public testing::Test {
protected:
  ExecutorTest()
      : artifact_(
            Artifact::open(K2C_SOURCE_DIR "/test/Runtime/Inputs/tiny.art")) {
    auto writer = SafetensorsWriter::create(dir_.path("model.safetensors"));
    auto declare = [&](const std::string &name, DType dtype,
                       std::vector<int64_t> shape) {
      EXPECT_TRUE(writer->declare(name, dtype, std::move(shape)).ok());
    };
    declare("model.embed_tokens.weight", DType::BF16, {10, 6});
    declare("lm_head.weight", DType::BF16, {10, 6});
    for (int layer : {0, 1})
      declare("model.layers." + std::to_string(layer) + ".w", DType::F32, {6});
    for (int e = 0; e < 4; ++e)
      declare("model.layers.1.mlp.experts." + std::to_string(e) + ".weight",
              DType::BF16, {1, 6});
    EXPECT_TRUE(writer->commit().ok());
  }

  void start(const char *entry, std::vector<int64_t> capacities) {
    options_.head = std::string(entry) == "model";
    auto executor = Executor::create(*artifact_, entry, device_, options_);
    ASSERT_TRUE(executor) << executor.status().message();
    executor_ = std::move(*executor);
    auto checkpoint = Checkpoint::open(dir_.str());
    ASSERT_TRUE(checkpoint);
    Status status = executor_->bindWeights(*checkpoint);
    ASSERT_TRUE(status.ok()) << status.message();
    ASSERT_TRUE(executor_->openCache(capacities).ok());
  }

  StepRequest ids(std::vector<int64_t> lengths) {
    StepRequest request;
    request.lengths = lengths;
    for (int64_t length : lengths)
      for (int64_t i = 0; i < length; ++i) {
        request.tokenIds.push_back(1);
        request.positions.push_back(static_cast<int32_t>(i));
      }
    return request;
  }

  std::vector<std::string> launched() {
    std::vector<std::string> names;
    for (const FakeDriver::Launch &launch : fake_.launches)
      names.push_back(launch.entry);
    return names;
  }

  ScratchFolder dir_;
  Expected<Artifact> artifact_;
  FakeDriver fake_;
  Device device_{fake_.table()};
  ExecutorOptions options_;
  std::unique_ptr<Executor> executor_;
};

TEST_F(ExecutorTest, RunsLayersInOrder) {
  start("model", {3, 4});
  ASSERT_TRUE(executor_->step(ids({1, 2})).ok());
  EXPECT_THAT(launched(), ElementsAre("embed", "append", "attend", "append",
                                      "attend", "route", "experts"));
  EXPECT_EQ(fake_.launches[0].config.grid[0], 3u);
  EXPECT_EQ(fake_.launches[0].config.block[0], 32u);
  EXPECT_EQ(executor_->stepStats()[0].launches, 7u);
  EXPECT_EQ(executor_->stepStats()[0].tokens, 3);
  EXPECT_EQ(executor_->kernelStats()[1].launches, 2u);
}

TEST_F(ExecutorTest, BindsArraysLayersAndIntegers) {
  start("model", {3, 4});
  ASSERT_TRUE(executor_->step(ids({2, 1})).ok());
  fake_.launches.clear();
  fake_.paramsOfLaunch = 5; // the fewest arguments of any kernel
  ASSERT_TRUE(executor_->step(ids({1, 3})).ok());
  const auto &attend0 = fake_.launches[2], &attend1 = fake_.launches[4];
  // Two tiles of two rows for the second sequence, one for the first.
  EXPECT_EQ(attend0.config.grid[0], 3u);
  EXPECT_EQ(static_cast<int32_t>(attend0.params[1]), 4); // T
  EXPECT_EQ(static_cast<int32_t>(attend0.params[4]), 2); // P
  EXPECT_NE(attend0.params[2], attend1.params[2]);       // w of its layer
  // The cache of layer 1 is P pages of 4 rows of 8 bf16 behind that of layer 0.
  EXPECT_EQ(attend1.params[3] - attend0.params[3], 2u * 4 * 8 * 2);
}

TEST_F(ExecutorTest, RunsTheHeadOnSomeRows) {
  start("model", {3, 4});
  ASSERT_TRUE(executor_->step(ids({3, 2})).ok());
  fake_.launches.clear();
  fake_.paramsOfLaunch = 5;
  auto logits = executor_->logits(2, 3);
  ASSERT_TRUE(logits) << logits.status().message();
  EXPECT_EQ(logits->shape, (std::vector<int64_t>{3, 10}));
  EXPECT_EQ(executor_->stepStats()[0].launches, 8u);
  ASSERT_TRUE(executor_->logits(0, 1));
  ASSERT_THAT(launched(), ElementsAre("logits", "logits"));
  EXPECT_EQ(fake_.launches[0].config.grid[0], 3u);
  EXPECT_EQ(static_cast<int32_t>(fake_.launches[0].params[1]), 3);
  // A row of x is 8 bf16 long.
  EXPECT_EQ(fake_.launches[0].params[0] - fake_.launches[1].params[0],
            2u * 8 * 2);
  EXPECT_THAT(executor_->logits(3, 3).status().message(),
              HasSubstr("logits: expected tokens 0 to 5 of the step, but got 3 "
                        "from 3"));
  EXPECT_TRUE(executor_->logits(-1, 1).failed());
  EXPECT_TRUE(executor_->logits(0, 0).failed());
}

TEST_F(ExecutorTest, PoisonIsWhereNothingIsRead) {
  options_.poison = true;
  start("stack", {3, 4});
  StepRequest request;
  request.lengths = {1, 0};
  request.positions = {0};
  request.x0 = {1, 2, 3, 4, 5, 6};
  ASSERT_TRUE(executor_->step(request).ok());
  auto bytes = [&](const char *name) {
    return fake_.memory.at(fake_.latest.at(name));
  };
  // Two pages and one more, which block tables name where they end.
  auto cache = bytes("latent_cache");
  EXPECT_EQ(cache.size(), 2u * 3 * 4 * 8 * 2);
  EXPECT_THAT(cache, testing::Each(std::byte{0xff}));
  std::vector<int32_t> table(2);
  std::memcpy(table.data(), bytes("block_table").data(), 8);
  EXPECT_THAT(table, ElementsAre(0, 2));
  EXPECT_THAT(bytes("router_weights"), testing::Each(std::byte{0xff}));
  // Rows of x are 6 values and room for 2.
  std::vector<uint16_t> x(8);
  std::memcpy(x.data(), bytes("x").data(), 16);
  EXPECT_THAT(x, ElementsAre(1, 2, 3, 4, 5, 6, 0xffff, 0xffff));
}

TEST_F(ExecutorTest, MasksAreWidenedToTheBuffer) {
  start("model", {1, 3});
  StepRequest request = ids({1, 3});
  request.mask.assign(4 * 3, -1.0f);
  ASSERT_TRUE(executor_->step(request).ok());
  EXPECT_THAT(launched(), testing::Contains("attend_masked").Times(2));
  EXPECT_THAT(launched(), testing::Not(testing::Contains("attend")));
  std::vector<float> mask(4 * 4);
  auto &stored = fake_.memory.at(fake_.latest.at("mask"));
  ASSERT_EQ(stored.size(), mask.size() * 4);
  std::memcpy(mask.data(), stored.data(), stored.size());
  EXPECT_EQ(mask[2], -1.0f);
  EXPECT_EQ(mask[3], -HUGE_VALF) << "behind the longest sequence";
  request.mask.pop_back();
  EXPECT_TRUE(executor_->openCache({1, 3}).ok());
  EXPECT_THAT(executor_->step(request).message(),
              HasSubstr("mask: expected 12 values, but got 11"));
}

TEST_F(ExecutorTest, WarnsOfTheFirstValueThatIsNotFinite) {
  std::vector<std::string> warnings;
  options_.warning = [&](const std::string &text) { warnings.push_back(text); };
  start("stack", {2});
  StepRequest request;
  request.lengths = {2};
  request.positions = {0, 1};
  request.x0.assign(12, 0x3f80);
  request.x0[7] = 0x7f80;
  ASSERT_TRUE(executor_->step(request).ok());
  EXPECT_THAT(warnings, testing::IsEmpty()) << "only traced steps are watched";
  ASSERT_TRUE(executor_->openCache({2}).ok());
  auto ignore = [](const TracePoint &, const HostArray &) { return Status(); };
  ASSERT_TRUE(executor_->step(request, ignore).ok());
  EXPECT_THAT(warnings, ElementsAre("x0: expected finite values, but got inf "
                                    "first in row 1, column 1"));
}

TEST_F(ExecutorTest, ChecksTheManifestAgainstWhatItCanFill) {
  auto refusal = [&](auto change) {
    Artifact changed = *artifact_;
    change(const_cast<Manifest &>(changed.manifest()));
    return Executor::create(changed, "model", device_).status().message();
  };
  auto buffer = [](Manifest &m, const char *name) -> Buffer & {
    return m.buffers[m.findBuffer(name)];
  };
  EXPECT_THAT(refusal([&](Manifest &m) { m.model.pageSize = 64; }),
              HasSubstr("buffer 'latent_cache': expected pages of page_size 64 "
                        "tokens, but got 4"));
  EXPECT_THAT(
      refusal([&](Manifest &m) { buffer(m, "latent_cache").shape.resize(2); }),
      HasSubstr("expected [layers, pages, page_size 4, width], but got "
                "2 dimensions"));
  EXPECT_THAT(
      refusal([&](Manifest &m) { buffer(m, "slot").name = "slots"; }),
      HasSubstr("buffer 'slots': expected the name of an array that the "
                "runtime fills, but got none"));
  EXPECT_THAT(
      refusal([&](Manifest &m) { buffer(m, "slot").dtype = ElementType::F32; }),
      HasSubstr("buffer 'slot': expected elements of i32, but got f32"));
  EXPECT_THAT(refusal([&](Manifest &m) { buffer(m, "logits").name = "l"; }),
              HasSubstr("expected a buffer 'logits', but got none"));
  EXPECT_THAT(
      refusal([&](Manifest &m) { m.entries["head"] = m.entries["model"]; }),
      HasSubstr("the commands after the last layers: expected"));
  EXPECT_THAT(refusal([&](Manifest &m) {
                m.entries.erase("head");
                m.entries["model"].pop_back();
              }),
              HasSubstr("expected an entry 'head', but got none"));
}

TEST_F(ExecutorTest, ExtentsOfAGridHaveLimits) {
  for (auto [extent, value] :
       {std::pair(Expr::binary(ExprOp::Sub, Expr::symbol("T"), 2),
                  "sub(T, 2) = 0"),
        std::pair(Expr::binary(ExprOp::Sub, Expr::symbol("T"), 3),
                  "sub(T, 3) = -1"),
        std::pair(
            Expr::binary(ExprOp::Mul, Expr::symbol("T"), int64_t(1) << 30),
            "mul(T, 1073741824) = 2147483648")}) {
    const_cast<Manifest &>(artifact_->manifest()).entries["model"][0].grid[0] =
        extent;
    start("model", {2});
    Status status = executor_->step(ids({2}));
    EXPECT_EQ(status.code(), StatusCode::Input);
    EXPECT_EQ(status.message(),
              std::string("kernel 'embed': grid[0]: expected an extent from 1 "
                          "to 2147483647, but got ") +
                  value);
    EXPECT_TRUE(fake_.launches.empty());
  }
}

TEST_F(ExecutorTest, NoTokensNoLaunch) {
  start("model", {0, 0});
  ASSERT_TRUE(executor_->step(ids({0, 0})).ok());
  EXPECT_TRUE(fake_.launches.empty());
  EXPECT_EQ(executor_->stepStats()[0].tokens, 0);
}

TEST_F(ExecutorTest, TheStackNeedsNeitherEmbeddingNorHead) {
  dir_.write("model.safetensors.index.json", R"({"weight_map":{
    "model.layers.0.w":"model.safetensors","model.layers.1.w":"model.safetensors",
    "model.layers.1.mlp.experts.0.weight":"model.safetensors",
    "model.layers.1.mlp.experts.1.weight":"model.safetensors",
    "model.layers.1.mlp.experts.2.weight":"model.safetensors",
    "model.layers.1.mlp.experts.3.weight":"model.safetensors"}})");
  start("stack", {1});
  StepRequest request;
  request.lengths = {1};
  request.positions = {0};
  request.x0 = {1, 2, 3, 4, 5, 6};
  ASSERT_TRUE(executor_->step(request).ok());
  auto x = executor_->hidden();
  ASSERT_TRUE(x);
  EXPECT_EQ(x->shape, (std::vector<int64_t>{1, 6}));
  std::vector<uint16_t> values(6);
  std::memcpy(values.data(), x->bytes.data(), 12);
  EXPECT_THAT(values, ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST_F(ExecutorTest, TracesEveryLayer) {
  start("model", {2});
  std::vector<std::string> seen;
  Status status = executor_->step(
      ids({2}), [&](const TracePoint &point, const HostArray &value) {
        seen.push_back(point.name + "@" + std::to_string(point.layer) + " " +
                       shapeString(value.shape));
        return Status();
      });
  ASSERT_TRUE(status.ok());
  EXPECT_THAT(seen,
              ElementsAre("x@0 [2, 6]", "x@1 [2, 6]", "router.ids@1 [2, 2]",
                          "router.weights@1 [2, 2]", "x@2 [2, 6]"));
  auto points = executor_->tracePoints();
  ASSERT_TRUE(points);
  EXPECT_EQ(points->size(), seen.size());
}

/// Runs the tiny model on the simulator; x and logits of two steps.
std::vector<std::byte> simulate(const Artifact &artifact,
                                const std::string &weights, StepMemory memory,
                                uint64_t &stepBytes) {
  std::vector<std::byte> result;
  auto device = Device::open("sim");
  ExecutorOptions options;
  options.memory = memory;
  auto executor = Executor::create(artifact, "model", **device, options);
  auto checkpoint = Checkpoint::open(weights);
  EXPECT_TRUE((*executor)->bindWeights(*checkpoint).ok());
  EXPECT_TRUE((*executor)->openCache({3, 4}).ok());
  for (int64_t length : {2, 1}) {
    StepRequest request;
    request.lengths = {length, length};
    for (int32_t i = 0; i < 2 * length; ++i) {
      request.tokenIds.push_back(3 + i);
      request.positions.push_back(i);
    }
    Status status = (*executor)->step(request);
    EXPECT_TRUE(status.ok()) << status.message();
    for (bool head : {false, true}) {
      auto value =
          head ? (*executor)->logits(0, 2 * length) : (*executor)->hidden();
      EXPECT_TRUE(value);
      result.insert(result.end(), value->bytes.begin(), value->bytes.end());
    }
    if (length == 2)
      stepBytes = (*executor)->bufferBytes(BufferClass::Step);
  }
  return result;
}

TEST_F(ExecutorTest, SharedMemoryGivesTheSameBits) {
  // Weights that are not all zero: the bytes of small bf16 and f32 numbers.
  auto text = *readTextFile(dir_.path("model.safetensors"));
  size_t data = text.find_last_of('}') + 1;
  data = (data + 7) / 8 * 8;
  for (size_t i = data; i + 1 < text.size(); i += 2) {
    text[i] = static_cast<char>(i % 3 << 6);
    text[i + 1] = 0x3f;
  }
  dir_.write("model.safetensors", text);
  uint64_t own = 0, arena = 0;
  auto first = simulate(*artifact_, dir_.str(), StepMemory::Own, own);
  auto second = simulate(*artifact_, dir_.str(), StepMemory::Arena, arena);
  EXPECT_TRUE(first == second);
  EXPECT_TRUE(std::any_of(first.begin(), first.end(),
                          [](std::byte b) { return b != std::byte{0}; }));
  EXPECT_GT(own, 0u);
  EXPECT_GT(arena, 0u);
}

TEST_F(ExecutorTest, AFaultNamesKernelAndLayerAndEndsTheRun) {
  start("model", {4});
  fake_.failLaunch = 4;
  Status status = executor_->step(ids({1}));
  EXPECT_EQ(status.code(), StatusCode::Device);
  EXPECT_THAT(status.message(),
              HasSubstr("layer 1: kernel 'attend': it broke"));
  EXPECT_THAT(executor_->step(ids({1})).message(),
              HasSubstr("expected no step after one that failed"));
}

TEST_F(ExecutorTest, ARefusedRequestDoesNotEndTheRun) {
  start("model", {1});
  EXPECT_EQ(executor_->step(ids({2})).code(), StatusCode::Input);
  EXPECT_TRUE(executor_->step(ids({1})).ok());
}

TEST_F(ExecutorTest, UnknownEntriesAreNamed) {
  EXPECT_THAT(Executor::create(*artifact_, "other", device_).status().message(),
              HasSubstr("expected an entry 'other', but got none"));
}
} // namespace
