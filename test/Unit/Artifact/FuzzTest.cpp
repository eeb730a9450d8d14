//===- FuzzTest.cpp - Damaged manifests are refused or read, never a crash ===//
#include "runtime/Artifact/Manifest.h"
#include "runtime/Checkpoint/MappedFile.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <random>

using namespace k2rt;
using nlohmann::json;

namespace {
std::string tinyText() {
  return *readTextFile(K2C_SOURCE_DIR
                       "/test/Runtime/Inputs/tiny.art/manifest.json");
}

/// Every value of a document, by its pointer.
void collect(const json &value, const json::json_pointer &at,
             std::vector<json::json_pointer> &out) {
  out.push_back(at);
  if (value.is_object())
    for (const auto &[key, member] : value.items())
      collect(member, at / key, out);
  if (value.is_array())
    for (size_t i = 0; i < value.size(); ++i)
      collect(value[i], at / i, out);
}

TEST(Fuzz, EveryValueReplaced) {
  const json good = json::parse(tinyText());
  std::vector<json::json_pointer> places;
  collect(good, json::json_pointer(), places);
  ASSERT_GT(places.size(), 500u);
  const json replacements[] = {
      nullptr, true,      -1, 1.5,           "",
      "T",     INT64_MAX, {}, json::array(), UINT64_MAX};
  size_t refused = 0, tried = 0;
  for (const json::json_pointer &place : places)
    for (int i = 0; i < 3; ++i) {
      // Neighbours are given different values, so that every kind of place
      // sees all of them.
      const json &replacement = replacements[tried++ % 10];
      json changed = good;
      changed[place] = replacement;
      auto parsed = parseManifest(changed.dump(), "m.json");
      if (!parsed) {
        ++refused;
        EXPECT_EQ(parsed.status().message().rfind("m.json: ", 0), 0u)
            << parsed.status().message();
      }
    }
  EXPECT_GT(refused, places.size());
}

TEST(Fuzz, ChangedBytes) {
  const std::string good = tinyText();
  std::mt19937 random(7);
  for (int round = 0; round < 500; ++round) {
    std::string text = good;
    for (int i = 0; i < 3; ++i)
      text[random() % text.size()] = "0123456789[]{},:\"Tax"[random() % 20];
    (void)parseManifest(text, "m.json").failed();
  }
}
} // namespace
