#include "test/Unit/ptxsim_forms/Names.h"

#include <algorithm>

namespace ptxsim::forms {

std::vector<std::string> wordsOf(const std::string &name) {
  std::vector<std::string> words;
  for (size_t at = 0; at <= name.size();) {
    const size_t end = std::min(name.find('.', at), name.size());
    words.push_back(name.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

bool hasWord(const std::vector<std::string> &words, const std::string &word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::vector<std::string>
namesOf(const std::vector<std::vector<std::string>> &parts) {
  std::vector<std::string> names{""};
  for (const std::vector<std::string> &choices : parts) {
    std::vector<std::string> longer;
    for (const std::string &name : names)
      for (const std::string &choice : choices)
        longer.push_back(name.empty() || choice.empty() ? name + choice
                                                        : name + "." + choice);
    names = std::move(longer);
  }
  return names;
}

std::vector<std::string> singleTypes() {
  return {"b8",  "b16", "b32", "b64", "u8",  "s8",  "u16",
          "s16", "u32", "s32", "u64", "s64", "f32", "f64"};
}

std::vector<std::string> quadTypes() {
  return {"b8", "b16", "b32", "u8", "s8", "u16", "s16", "u32", "s32", "f32"};
}

std::vector<std::string> scopes() { return {"cta", "cluster", "gpu", "sys"}; }

std::vector<std::string> strongSpaces() {
  return {"", "global", "shared", "shared::cta", "shared::cluster"};
}

} // namespace ptxsim::forms
