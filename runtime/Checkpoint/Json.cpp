//===- Json.cpp - JSON without repeated names -----------------------------===//
#include "runtime/Checkpoint/Json.h"

#include <unordered_set>

namespace k2rt {

using nlohmann::json;

json parseJson(const std::string &text, std::string &twice) {
  // The DOM keeps the last of two equal names, so they are looked for here.
  std::vector<std::unordered_set<std::string>> open;
  auto watch = [&](int, json::parse_event_t event, json &value) {
    if (event == json::parse_event_t::object_start)
      open.emplace_back();
    else if (event == json::parse_event_t::object_end)
      open.pop_back();
    else if (event == json::parse_event_t::key &&
             !open.back().insert(value.get<std::string>()).second)
      twice = value.get<std::string>();
    return true;
  };
  return json::parse(text, watch, /*allow_exceptions=*/false);
}

} // namespace k2rt
