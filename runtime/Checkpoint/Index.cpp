//===- Index.cpp - model.safetensors.index.json ---------------------------===//
#include "runtime/Checkpoint/Index.h"

#include "runtime/Checkpoint/Json.h"
#include "runtime/Checkpoint/MappedFile.h"

#include <fmt/format.h>

namespace k2rt {

Expected<std::map<std::string, std::vector<std::string>>>
readIndex(const std::string &path) {
  using nlohmann::json;
  Expected<std::string> text = readTextFile(path);
  if (!text)
    return text.status();

  std::string twice;
  json index = parseJson(*text, twice);
  if (index.is_discarded())
    return Status::input(path + ": expected JSON, but got a syntax error");
  if (!twice.empty())
    return Status::input(path + ": expected every name once, but got '" +
                         twice + "' twice");
  if (!index.is_object() || !index.contains("weight_map") ||
      !index["weight_map"].is_object())
    return Status::input(path + ": expected an object 'weight_map', but got " +
                         (index.is_object() && index.contains("weight_map")
                              ? index["weight_map"].type_name()
                              : "none"));

  std::map<std::string, std::vector<std::string>> files;
  for (const auto &[tensor, file] : index["weight_map"].items()) {
    if (!file.is_string())
      return Status::input(fmt::format(
          "{}: expected the file of '{}' to be a string, but got {}", path,
          tensor, file.type_name()));
    std::string name = file.get<std::string>();
    if (name.empty() || name.find('/') != std::string::npos || name == "." ||
        name == "..")
      return Status::input(fmt::format(
          "{}: expected '{}' to be in a file of the folder, but got '{}'", path,
          tensor, name));
    files[name].push_back(tensor);
  }
  return files;
}

} // namespace k2rt
