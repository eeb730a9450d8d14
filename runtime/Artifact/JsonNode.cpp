//===- JsonNode.cpp - Reading JSON with paths in errors -------------------===//
#include "runtime/Artifact/JsonNode.h"

#include "runtime/Checkpoint/Json.h"

#include <algorithm>
#include <cfloat>
#include <cmath>

namespace k2rt {

using nlohmann::json;

namespace {
const json kNothing;
} // namespace

JsonDocument JsonDocument::parse(const std::string &text, std::string file) {
  JsonDocument document;
  document.file = std::move(file);
  std::string twice;
  document.root = parseJson(text, twice);
  if (document.root.is_discarded()) {
    document.root = nullptr;
    document.status = Status::input(document.file +
                                    ": expected JSON, but got a syntax error");
  } else if (!twice.empty()) {
    document.status = Status::input(document.file +
                                    ": expected every name of an object "
                                    "once, but got '" +
                                    twice + "' twice");
  }
  return document;
}

void JsonNode::fail(const std::string &rule, const std::string &fact) const {
  if (document_->status.ok())
    document_->status = Status::input(document_->file + ": " +
                                      (path_.empty() ? "" : path_ + ": ") +
                                      "expected " + rule + ", but got " + fact);
}

std::string JsonNode::shown() const {
  if (value_->is_object() || value_->is_array())
    return std::string("an ") + value_->type_name();
  std::string text =
      value_->dump(-1, ' ', false, json::error_handler_t::replace);
  return text.size() > 80 ? text.substr(0, 77) + "..." : text;
}

void JsonNode::keys(std::initializer_list<const char *> required,
                    std::initializer_list<const char *> optional) const {
  if (!value_->is_object())
    return fail("an object", shown());
  for (const char *key : required)
    if (!value_->contains(key))
      return fail(std::string("a field '") + key + "'", "none");
  auto in = [](std::initializer_list<const char *> list,
               const std::string &key) {
    return std::find(list.begin(), list.end(), key) != list.end();
  };
  for (const auto &[key, value] : value_->items())
    if (!in(required, key) && !in(optional, key))
      return fail("only known fields", "'" + key + "'");
}

bool JsonNode::has(const char *key) const {
  return value_->is_object() && value_->contains(key);
}

JsonNode JsonNode::operator[](const char *key) const {
  std::string path = path_.empty() ? key : path_ + "." + key;
  if (has(key))
    return JsonNode(*this, &(*value_)[key], std::move(path));
  fail(std::string("a field '") + key + "'", "none");
  return JsonNode(*this, &kNothing, std::move(path));
}

std::vector<std::pair<std::string, JsonNode>> JsonNode::members() const {
  std::vector<std::pair<std::string, JsonNode>> members;
  if (!value_->is_object()) {
    fail("an object", shown());
    return members;
  }
  for (const auto &[key, value] : value_->items())
    members.emplace_back(
        key, JsonNode(*this, &value, path_.empty() ? key : path_ + "." + key));
  return members;
}

std::vector<JsonNode> JsonNode::elements(std::optional<size_t> count) const {
  std::vector<JsonNode> elements;
  if (!value_->is_array() || (count && value_->size() != *count)) {
    std::string rule =
        count ? "an array of " + std::to_string(*count) : "an array";
    fail(rule, value_->is_array() ? std::to_string(value_->size()) : shown());
    return elements;
  }
  for (size_t i = 0; i < value_->size(); ++i)
    elements.push_back(
        JsonNode(*this, &(*value_)[i], path_ + "[" + std::to_string(i) + "]"));
  return elements;
}

std::string JsonNode::string() const {
  if (value_->is_string())
    return value_->get<std::string>();
  fail("a string", shown());
  return "";
}

size_t JsonNode::choice(std::initializer_list<const char *> names) const {
  std::string list;
  size_t i = 0;
  for (const char *name : names) {
    if (value_->is_string() && value_->get_ref<const std::string &>() == name)
      return i;
    list += (i++ ? " | " : "") + std::string(name);
  }
  fail(list, shown());
  return 0;
}

int64_t JsonNode::integer(int64_t least, int64_t most) const {
  bool fits = value_->is_number_integer() &&
              !(value_->is_number_unsigned() &&
                value_->get<uint64_t>() > static_cast<uint64_t>(INT64_MAX));
  if (!fits) {
    fail("an integer", shown());
    return 0;
  }
  int64_t value = value_->get<int64_t>();
  if (value < least || value > most) {
    fail(most == INT64_MAX ? "an integer of at least " + std::to_string(least)
                           : "an integer from " + std::to_string(least) +
                                 " to " + std::to_string(most),
         std::to_string(value));
    return 0;
  }
  return value;
}

float JsonNode::number() const {
  if (!value_->is_number()) {
    fail("a number", shown());
    return 0;
  }
  // What is next to the largest float32 would round to infinity.
  double value = value_->get<double>();
  if (std::abs(value) > static_cast<double>(FLT_MAX)) {
    fail("a number of float32", shown());
    return 0;
  }
  return static_cast<float>(value);
}

bool JsonNode::boolean() const {
  if (value_->is_boolean())
    return value_->get<bool>();
  fail("true or false", shown());
  return false;
}

} // namespace k2rt
