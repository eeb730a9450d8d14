//===- FuzzTest.cpp - Damaged files are refused or read, never a crash ----===//
// Run under the address sanitizer (preset asan) this also shows that nothing is
// read outside the file.
#include "TestFiles.h"
#include "runtime/Checkpoint/SafetensorsFile.h"
#include "runtime/Checkpoint/SafetensorsHeader.h"

#include <cstring>
#include <gtest/gtest.h>
#include <random>

using namespace k2rt;

namespace {
/// Reads a file from memory; every byte of every tensor is touched.
Status readAll(const std::string &file) {
  std::vector<std::byte> bytes(file.size()); // no spare room behind the end
  std::memcpy(bytes.data(), file.data(), file.size());
  auto header = parseSafetensorsHeader(bytes, "f.safetensors");
  if (!header)
    return header.status();
  volatile unsigned sum = 0;
  for (const TensorEntry &tensor : header->tensors)
    for (uint64_t i = tensor.begin; i < tensor.end; ++i)
      sum = sum + static_cast<unsigned>(bytes[header->dataStart + i]);
  return Status();
}

TEST(Fuzz, ChangedBytes) {
  const std::string good = safetensors(
      R"({"__metadata__":{"format":"pt"},"a":{"dtype":"BF16","shape":[2,3],"data_offsets":[0,12]},)"
      R"("b":{"dtype":"F32","shape":[1],"data_offsets":[12,16]}})",
      std::string(16, '\x01'));
  std::mt19937 random(20240711);
  int accepted = 0, refused = 0;
  for (int round = 0; round < 4000; ++round) {
    std::string file = good;
    for (unsigned i = 0; i <= random() % 3; ++i)
      switch (random() % 4) {
      case 0:
        file[random() % file.size()] = static_cast<char>(random());
        break;
      case 1:
        file[random() % file.size()] = "0123456789[]{},:\""[random() % 17];
        break;
      case 2:
        file.resize(random() % (file.size() + 8) + 1);
        break;
      default:
        file.insert(random() % file.size(), 1, static_cast<char>(random()));
      }
    Status status = readAll(file);
    accepted += status.ok();
    refused += status.failed();
    if (status.failed())
      EXPECT_EQ(status.message().rfind("f.safetensors: ", 0), 0u);
  }
  // Changes of data bytes and of names are legal, most others are not.
  EXPECT_GT(accepted, 0);
  EXPECT_GT(refused, 2000);
}

TEST(Fuzz, EveryTruncation) {
  const std::string good = safetensors(
      R"({"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]}})", "xyz");
  ScratchFolder dir;
  for (size_t size = 0; size < good.size(); ++size)
    EXPECT_FALSE(
        SafetensorsFile::open(dir.write("f.safetensors", good.substr(0, size))))
        << size;
  EXPECT_TRUE(SafetensorsFile::open(dir.write("f.safetensors", good)));
  EXPECT_FALSE(SafetensorsFile::open(dir.write("f.safetensors", good + "1")));
}

TEST(Fuzz, DeeplyNestedHeader) {
  for (const char *open : {"[", "{\"a\":"}) {
    std::string nested;
    for (int i = 0; i < 200000; ++i)
      nested += open;
    EXPECT_TRUE(readAll(safetensors(nested, "")).failed());
  }
}
} // namespace
