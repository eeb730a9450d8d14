//===- ConfigObject.cpp - Typed access to the fields of a config ----------===//

#include "ConfigObject.h"

#include <cmath>
#include <limits>

using namespace k2c;
using nlohmann::json;

/// Extents must survive products of two of them in 64 bits.
static constexpr int64_t greatest = std::numeric_limits<int32_t>::max();

bool ConfigObject::has(const std::string &field) const {
  return object.contains(field) && !object[field].is_null();
}

void ConfigObject::refuse(const std::string &field, const std::string &rule,
                          const std::string &fact) const {
  errors.add(prefix + field + ": expected " + rule + ", but got " + fact);
}

const json *ConfigObject::find(const std::string &field,
                               const char *type) const {
  if (!object.contains(field)) {
    refuse(field, type, "no such field");
    return nullptr;
  }
  return &object[field];
}

int64_t ConfigObject::integer(const std::string &field, int64_t least) const {
  const json *value = find(field, "an integer");
  if (!value)
    return least;
  std::string rule = "an integer from " + std::to_string(least) + " to " +
                     std::to_string(greatest);
  bool fits =
      value->is_number_unsigned()
          ? value->get<uint64_t>() <= static_cast<uint64_t>(greatest)
          : value->is_number_integer() && value->get<int64_t>() <= greatest;
  if (!fits || value->get<int64_t>() < least) {
    refuse(field, rule, value->dump());
    return least;
  }
  return value->get<int64_t>();
}

double ConfigObject::number(const std::string &field) const {
  const json *value = find(field, "a number");
  if (!value)
    return 1;
  if (!value->is_number()) {
    refuse(field, "a number", value->dump());
    return 1;
  }
  // Everything is computed with it as one.
  if (!(std::abs(value->get<double>()) <= std::numeric_limits<float>::max())) {
    refuse(field, "a number that float32 holds", value->dump());
    return 1;
  }
  return value->get<double>();
}

bool ConfigObject::boolean(const std::string &field) const {
  const json *value = find(field, "true or false");
  if (value && !value->is_boolean())
    refuse(field, "true or false", value->dump());
  return value && value->is_boolean() && value->get<bool>();
}

std::string ConfigObject::text(const std::string &field) const {
  const json *value = find(field, "a string");
  if (value && !value->is_string())
    refuse(field, "a string", value->dump());
  return value && value->is_string() ? value->get<std::string>()
                                     : std::string();
}
