//===- Json.h - JSON without repeated names ---------------------*- C++ -*-===//
#ifndef RUNTIME_CHECKPOINT_JSON_H
#define RUNTIME_CHECKPOINT_JSON_H

#include <nlohmann/json.hpp>

#include <string>

namespace k2rt {

/// Parses `text`; discarded() if it is no JSON. `twice` gets a name that an
/// object has twice (of which the result keeps the last), if there is one.
nlohmann::json parseJson(const std::string &text, std::string &twice);

} // namespace k2rt

#endif // RUNTIME_CHECKPOINT_JSON_H
