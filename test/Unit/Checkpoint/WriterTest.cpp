//===- WriterTest.cpp - Files are written whole or not at all -------------===//
#include "TestFiles.h"
#include "runtime/Checkpoint/SafetensorsFile.h"
#include "runtime/Checkpoint/SafetensorsWriter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace k2rt;
using testing::HasSubstr;

namespace {
size_t entries(const ScratchFolder &dir) {
  auto it = std::filesystem::directory_iterator(dir.str());
  return static_cast<size_t>(std::distance(begin(it), end(it)));
}

TEST(Writer, WritesInPartsAndPadsWithZeros) {
  ScratchFolder dir;
  std::string path = dir.path("o.safetensors");
  {
    auto writer = SafetensorsWriter::create(path);
    ASSERT_TRUE(writer) << writer.status().message();
    ASSERT_TRUE(writer->declare("x", DType::I32, {2, 2}).ok());
    ASSERT_TRUE(writer->declare("empty", DType::F32, {1, 0}).ok());
    EXPECT_THAT(writer->declare("x", DType::F32, {1}).message(),
                HasSubstr("expected every name once"));
    int32_t values[2] = {7, -1};
    ASSERT_TRUE(writer->write("x", 8, std::as_bytes(std::span(values))).ok());
    EXPECT_FALSE(std::filesystem::exists(path));
    ASSERT_TRUE(writer->commit().ok());
  }
  EXPECT_EQ(entries(dir), 1u);
  auto file = SafetensorsFile::open(path);
  ASSERT_TRUE(file) << file.status().message();
  auto x = readIntegers(*(*file)->find("x"));
  ASSERT_TRUE(x);
  EXPECT_EQ(*x, (std::vector<int64_t>{0, 0, 7, -1}));
  EXPECT_EQ((*file)->find("empty")->shape, (std::vector<int64_t>{1, 0}));
}

TEST(Writer, LeavesNothingBehindWithoutCommit) {
  ScratchFolder dir;
  std::string path = dir.write("o.safetensors", "old");
  {
    auto writer = SafetensorsWriter::create(path);
    ASSERT_TRUE(writer);
    ASSERT_TRUE(writer->declare("x", DType::U8, {1}).ok());
    std::byte one[1] = {};
    ASSERT_TRUE(writer->write("x", 0, one).ok());
  }
  EXPECT_EQ(entries(dir), 1u);
  EXPECT_EQ(std::filesystem::file_size(path), 3u);
}

TEST(Writer, NamesAPathThatCannotBeWritten) {
  EXPECT_THAT(
      SafetensorsWriter::create("/nonexistent/o.safetensors")
          .status()
          .message(),
      HasSubstr("/nonexistent/o.safetensors: cannot be written: No such file"));
  ScratchFolder dir;
  EXPECT_THAT(SafetensorsWriter::create(dir.str()).status().message(),
              HasSubstr("expected a path for a file, but got a folder"));
}
} // namespace
