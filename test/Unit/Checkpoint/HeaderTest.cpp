//===- HeaderTest.cpp - Every rule of a safetensors header ----------------===//
#include "TestFiles.h"
#include "runtime/Checkpoint/SafetensorsHeader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace k2rt;
using testing::HasSubstr;

namespace {
Expected<SafetensorsHeader> parse(const std::string &file) {
  return parseSafetensorsHeader(
      {reinterpret_cast<const std::byte *>(file.data()), file.size()},
      "f.safetensors");
}

/// The message for a file with this header and `bytes` bytes of data.
std::string refusal(const std::string &header, size_t bytes) {
  auto parsed = parse(safetensors(header, std::string(bytes, '\0')));
  return parsed ? "accepted" : parsed.status().message();
}

TEST(Header, ReadsTensorsInOrderOfData) {
  auto header = parse(safetensors(
      R"(  {"b":{"dtype":"BF16","shape":[2,3],"data_offsets":[4,16]},)"
      R"("__metadata__":{"format":"pt"},)"
      R"("a":{"data_offsets":[0,4],"shape":[],"dtype":"F32"}} )",
      std::string(16, 'x')));
  ASSERT_TRUE(header) << header.status().message();
  ASSERT_EQ(header->tensors.size(), 2u);
  EXPECT_EQ(header->tensors[0].name, "a");
  EXPECT_TRUE(header->tensors[0].shape.empty());
  EXPECT_EQ(header->tensors[1].dtype, DType::BF16);
  EXPECT_EQ(header->tensors[1].shape, (std::vector<int64_t>{2, 3}));
}

TEST(Header, AcceptsNoTensorsAndEmptyTensors) {
  EXPECT_TRUE(parse(safetensors("{}", "")));
  EXPECT_TRUE(parse(safetensors(
      R"({"e":{"dtype":"F32","shape":[0,9223372036854775807,4],"data_offsets":[0,0]},)"
      R"("a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})",
      "x")));
}

TEST(Header, ChecksTheLengthField) {
  EXPECT_THAT(parse("").status().message(),
              HasSubstr("f.safetensors: expected at least the 8 bytes of a "
                        "header length, but got 0"));
  EXPECT_THAT(parse("1234567").status().message(), HasSubstr("but got 7"));
  EXPECT_THAT(parse(std::string(8, '\0')).status().message(),
              HasSubstr("but got length 0"));
  std::string bigEndian = std::string("\0\0\0\0\0\0\0\x02{}", 10);
  EXPECT_THAT(parse(bigEndian).status().message(),
              HasSubstr("at most 100000000 bytes, but got 144115188075855872 "
                        "(a big-endian length?)"));
  std::string cut = safetensors("{        }", "").substr(0, 12);
  EXPECT_THAT(parse(cut).status().message(),
              HasSubstr("expected a header of 10 bytes, but got a file with 4 "
                        "after the length"));
}

TEST(Header, ChecksTheDataSize) {
  const char *header =
      R"({"a":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}})";
  EXPECT_EQ(refusal(header, 16), "accepted");
  EXPECT_THAT(refusal(header, 15),
              HasSubstr("f.safetensors: tensor 'a': expected the file to have "
                        "its F32 [4] data bytes up to 16, but got 15"));
  EXPECT_THAT(refusal(header, 17),
              HasSubstr("expected 16 bytes of data by the header, but got 17"));
}

TEST(Header, RefusesOverlapsAndHoles) {
  auto two = [](const char *a, const char *b) {
    return std::string(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":)") +
           a + R"(},"b":{"dtype":"U8","shape":[4],"data_offsets":)" + b + "}}";
  };
  EXPECT_THAT(refusal(two("[0,4]", "[3,7]"), 7),
              HasSubstr("tensor 'b': expected data apart from other tensors, "
                        "but got [3, 7], which overlaps 'a' at [0, 4]"));
  EXPECT_THAT(refusal(two("[0,4]", "[0,4]"), 4), HasSubstr("overlaps 'a'"));
  EXPECT_THAT(refusal(two("[0,4]", "[5,9]"), 9),
              HasSubstr("tensor 'b': expected data without holes, but got 1 "
                        "unused bytes before it, at 4"));
  EXPECT_THAT(refusal(two("[1,5]", "[5,9]"), 9), HasSubstr("tensor 'a'"));
}

TEST(Header, ChecksEveryField) {
  auto tensor = [](const std::string &fields) {
    return refusal(R"({"w":{)" + fields + "}}", 16);
  };
  EXPECT_THAT(tensor(R"("dtype":"F32","shape":[3],"data_offsets":[0,16])"),
              HasSubstr("tensor 'w': expected data_offsets to span the 12 "
                        "bytes of F32 [3], but got [0, 16], which is 16"));
  EXPECT_THAT(tensor(R"("dtype":"F32","shape":[4],"data_offsets":[16,0])"),
              HasSubstr("expected data_offsets to ascend, but got [16, 0]"));
  EXPECT_THAT(tensor(R"("dtype":"F33","shape":[4],"data_offsets":[0,16])"),
              HasSubstr("tensor 'w': expected a known dtype, but got \"F33\""));
  EXPECT_THAT(tensor(R"("dtype":7,"shape":[4],"data_offsets":[0,16])"),
              HasSubstr("expected 'dtype' to be a string, but got 7"));
  EXPECT_THAT(
      tensor(R"("dtype":"F32","shape":[-4],"data_offsets":[0,16])"),
      HasSubstr("expected dimensions to be non-negative integers, but got -4"));
  EXPECT_THAT(tensor(R"("dtype":"F32","shape":[4.0],"data_offsets":[0,16])"),
              HasSubstr("non-negative integers, but got 4.0"));
  EXPECT_THAT(tensor(R"("dtype":"F32","shape":["4"],"data_offsets":[0,16])"),
              HasSubstr("but got \"4\""));
  EXPECT_THAT(tensor(R"("dtype":"F32","shape":[[4]],"data_offsets":[0,16])"),
              HasSubstr("but got an array"));
  EXPECT_THAT(tensor(R"("dtype":"F32","shape":4,"data_offsets":[0,16])"),
              HasSubstr("expected 'shape' to be an array of integers"));
  EXPECT_THAT(tensor(R"("dtype":"F32","shape":[4],"data_offsets":[0,8,16])"),
              HasSubstr("expected 2 data_offsets, but got 3"));
  EXPECT_THAT(tensor(R"("dtype":"F32","shape":[4])"),
              HasSubstr("expected a field 'data_offsets', but got none"));
  EXPECT_THAT(
      tensor(R"("dtype":"F32","shape":[4],"data_offsets":[0,16],"x":1)"),
      HasSubstr("expected only dtype, shape and data_offsets, but got 'x'"));
  EXPECT_THAT(
      tensor(R"("dtype":"F32","shape":[4],"shape":[4],"data_offsets":[0,16])"),
      HasSubstr("expected field 'shape' once"));
  EXPECT_THAT(
      tensor(
          R"("dtype":"F64","shape":[4611686018427387904,4],"data_offsets":[0,16])"),
      HasSubstr("expected a size below 2^63 bytes"));
  EXPECT_THAT(
      tensor(
          R"("dtype":"F64","shape":[18446744073709551615],"data_offsets":[0,16])"),
      HasSubstr("expected dimensions below 2^63"));
}

TEST(Header, ChecksTheObject) {
  EXPECT_THAT(refusal("[]", 0), HasSubstr("header to be an object"));
  EXPECT_THAT(refusal("7", 0), HasSubstr("header to be an object, but got 7"));
  EXPECT_THAT(refusal("{", 0), HasSubstr("expected a JSON header, but got an "
                                         "error at byte"));
  EXPECT_THAT(refusal("{}x", 0), HasSubstr("expected a JSON header"));
  EXPECT_THAT(refusal(R"({"w":3})", 0),
              HasSubstr("tensor 'w': expected an object, but got 3"));
  EXPECT_THAT(refusal(R"({"w":[]})", 0), HasSubstr("but got an array"));
  EXPECT_THAT(refusal(R"({"__metadata__":{"a":1}})", 0),
              HasSubstr("expected 'a' to be a string, but got 1"));
  EXPECT_THAT(refusal(R"({"__metadata__":"x"})", 0),
              HasSubstr("expected an object"));
  EXPECT_THAT(
      refusal(R"({"w":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
              R"("w":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})",
              2),
      HasSubstr("tensor 'w': expected every name once, but got it twice"));
}

TEST(Header, SizesAroundARoundNumberAreOrdinary) {
  std::string body = R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})";
  for (size_t size : {99993u, 99994u, 100000u, 100001u}) {
    std::string header = body + std::string(size - body.size(), ' ');
    EXPECT_TRUE(parse(safetensors(header, "x"))) << size;
  }
}
} // namespace
