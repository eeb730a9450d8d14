//===- CheckpointTest.cpp - Which files are read, how tensors are found ---===//
#include "runtime/Checkpoint/Checkpoint.h"
#include "TestFiles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

using namespace k2rt;
using testing::HasSubstr;

namespace {
/// A file with one U8 [1] tensor per name.
std::string bytesFile(const std::vector<std::string> &names,
                      const std::string &data) {
  std::string header = "{";
  for (size_t i = 0; i < names.size(); ++i)
    header += (i ? ",\"" : "\"") + names[i] +
              R"(":{"dtype":"U8","shape":[1],"data_offsets":[)" +
              std::to_string(i) + "," + std::to_string(i + 1) + "]}";
  return safetensors(header + "}", data);
}

char first(const Expected<const TensorView *> &tensor) {
  return static_cast<char>((*tensor)->bytes[0]);
}

TEST(Checkpoint, ReadsOnlyWhatTheIndexNames) {
  ScratchFolder dir;
  dir.write("x-1.safetensors", bytesFile({"a", "extra"}, "1e"));
  dir.write("x-2.safetensors", bytesFile({"b"}, "2"));
  dir.write("model.safetensors", "not read at all");
  dir.write(
      "model.safetensors.index.json",
      R"({"metadata":{},"weight_map":{"a":"x-1.safetensors","b":"x-2.safetensors"}})");
  auto checkpoint = Checkpoint::open(dir.str());
  ASSERT_TRUE(checkpoint) << checkpoint.status().message();
  EXPECT_EQ(first(checkpoint->get("a")), '1');
  EXPECT_EQ(first(checkpoint->get("b")), '2');
  auto extra = checkpoint->find("extra");
  ASSERT_TRUE(extra);
  EXPECT_EQ(*extra, nullptr);
}

TEST(Checkpoint, PrefersTheSingleFileToShards) {
  ScratchFolder dir;
  dir.write("model.safetensors", bytesFile({"a"}, "s"));
  dir.write("model-00001-of-00001.safetensors", "not read at all");
  auto checkpoint = Checkpoint::open(dir.str());
  ASSERT_TRUE(checkpoint) << checkpoint.status().message();
  EXPECT_EQ(first(checkpoint->get("a")), 's');
}

// As caches of downloads leave them.
TEST(Checkpoint, ALinkToNothingIsNoAbsentFile) {
  for (const char *name : {"model.safetensors", "model.safetensors.index.json",
                           "model-1-of-1.safetensors"}) {
    ScratchFolder dir;
    std::filesystem::create_symlink("gone", dir.path(name));
    EXPECT_TRUE(Checkpoint::present(dir.str()));
    auto checkpoint = Checkpoint::open(dir.str());
    EXPECT_THAT(checkpoint.status().message(),
                HasSubstr(std::string(name) +
                          ": cannot be opened: No such file or directory"));
  }
}

TEST(Checkpoint, PipesAndDevicesAreNoFiles) {
  for (const char *name : {"model.safetensors", "model.safetensors.index.json",
                           "model-1-of-1.safetensors"}) {
    ScratchFolder pipe, device;
    ASSERT_EQ(::mkfifo(pipe.path(name).c_str(), 0600), 0);
    std::filesystem::create_symlink("/dev/zero", device.path(name));
    for (const ScratchFolder *dir : {&pipe, &device})
      EXPECT_THAT(Checkpoint::open(dir->str()).status().message(),
                  HasSubstr(std::string(name) + ": expected a regular file"));
  }
}

TEST(Checkpoint, ReadsShardsWithoutIndex) {
  ScratchFolder dir;
  dir.write("model-1-of-2.safetensors", bytesFile({"a"}, "1"));
  dir.write("model-2-of-2.safetensors", bytesFile({"b"}, "2"));
  dir.write("consolidated.safetensors", "not read at all");
  auto checkpoint = Checkpoint::open(dir.str());
  ASSERT_TRUE(checkpoint) << checkpoint.status().message();
  EXPECT_EQ(checkpoint->tensors().size(), 2u);
  EXPECT_EQ(first(checkpoint->get("b")), '2');

  dir.write("model-2-of-2.safetensors", bytesFile({"a"}, "2"));
  EXPECT_THAT(Checkpoint::open(dir.str()).status().message(),
              HasSubstr("expected tensor 'a' in one file, but got it also in"));
}

TEST(Checkpoint, NamesWhatIsMissing) {
  ScratchFolder dir;
  EXPECT_THAT(Checkpoint::open(dir.str()).status().message(),
              HasSubstr("expected model.safetensors.index.json, "
                        "model.safetensors or model-*-of-*.safetensors"));
  EXPECT_THAT(Checkpoint::open(dir.path("nowhere")).status().message(),
              HasSubstr("but got nothing there"));
  dir.write("model.safetensors", bytesFile({"a"}, "1"));
  EXPECT_THAT(
      Checkpoint::open(dir.path("model.safetensors")).status().message(),
      HasSubstr("but got a file"));
  auto checkpoint = Checkpoint::open(dir.str());
  ASSERT_TRUE(checkpoint);
  EXPECT_THAT(checkpoint->get("model.norm.weight").status().message(),
              HasSubstr("expected tensor 'model.norm.weight', but got none"));
}

TEST(Checkpoint, ChecksTheIndex) {
  ScratchFolder dir;
  dir.write("x.safetensors", bytesFile({"a"}, "1"));
  auto refusal = [&](const std::string &index) {
    dir.write("model.safetensors.index.json", index);
    auto checkpoint = Checkpoint::open(dir.str());
    return checkpoint ? "accepted" : checkpoint.status().message();
  };
  EXPECT_EQ(refusal(R"({"weight_map":{"a":"x.safetensors"}})"), "accepted");
  EXPECT_THAT(refusal("{"), HasSubstr("index.json: expected JSON"));
  EXPECT_THAT(refusal("{}"),
              HasSubstr("expected an object 'weight_map', but got none"));
  EXPECT_THAT(
      refusal(R"({"weight_map":{"a":3}})"),
      HasSubstr("expected the file of 'a' to be a string, but got number"));
  EXPECT_THAT(refusal(R"({"weight_map":{"a":"../x.safetensors"}})"),
              HasSubstr("expected 'a' to be in a file of the folder"));
  EXPECT_THAT(
      refusal(R"({"weight_map":{"a":"x.safetensors","a":"x.safetensors"}})"),
      HasSubstr("expected every name once, but got 'a' twice"));
  EXPECT_THAT(
      refusal(R"({"weight_map":{"a":"x.safetensors","b":"x.safetensors"}})"),
      HasSubstr("expected tensor 'b' in 'x.safetensors'"));
  EXPECT_THAT(
      refusal(R"({"weight_map":{"b":"y.safetensors","c":"y.safetensors"}})"),
      HasSubstr("expected file 'y.safetensors', which holds 2 tensors "
                "such as 'b', but got nothing there"));
}

TEST(Checkpoint, FindsTensorsUnderEveryPrefix) {
  for (const char *prefix :
       {"model.", "language_model.model.", "language_model."}) {
    ScratchFolder dir;
    dir.write("model.safetensors",
              bytesFile({std::string(prefix) + "norm.weight",
                         "vision_tower.norm.weight", "mm_projector.a"},
                        "nvm"));
    auto checkpoint = Checkpoint::open(dir.str());
    ASSERT_TRUE(checkpoint) << checkpoint.status().message();
    auto norm = checkpoint->get("model.norm.weight");
    ASSERT_TRUE(norm) << prefix << norm.status().message();
    EXPECT_EQ(first(norm), 'n');
  }
  ScratchFolder dir;
  dir.write("model.safetensors",
            bytesFile({"model.norm.weight", "language_model.model.norm.weight"},
                      "12"));
  auto checkpoint = Checkpoint::open(dir.str());
  ASSERT_TRUE(checkpoint);
  EXPECT_THAT(checkpoint->find("model.norm.weight").status().message(),
              HasSubstr("under one prefix, but got"));
}

TEST(Checkpoint, ReadsUnalignedTensorsRight) {
  // One U8 first, so that the F32 and BF16 values start at odd offsets.
  float values[2] = {0.5f, -3.0f};
  std::string data(1, 'x');
  data.append(reinterpret_cast<const char *>(values), sizeof(values));
  data.append("\x40\x3f\0\xc0", 4);
  ScratchFolder dir;
  dir.write(
      "model.safetensors",
      safetensors(R"({"p":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                  R"("f":{"dtype":"F32","shape":[2],"data_offsets":[1,9]},)"
                  R"("h":{"dtype":"BF16","shape":[2],"data_offsets":[9,13]}})",
                  data));
  auto checkpoint = Checkpoint::open(dir.str());
  ASSERT_TRUE(checkpoint);
  auto floats = readFloats(**checkpoint->get("f"));
  ASSERT_TRUE(floats);
  EXPECT_EQ(*floats, (std::vector<float>{0.5f, -3.0f}));
  floats = readFloats(**checkpoint->get("h"));
  ASSERT_TRUE(floats);
  EXPECT_EQ(*floats, (std::vector<float>{0.75f, -2.0f}));
  EXPECT_THAT(readFloats(**checkpoint->get("p")).status().message(),
              HasSubstr("tensor 'p': expected a type that widens to float32, "
                        "but got U8"));
}
} // namespace
