//===- ConfigObject.h - Typed access to the fields of a config --*- C++ -*-===//
#ifndef LIB_IMPORT_CONFIGOBJECT_H
#define LIB_IMPORT_CONFIGOBJECT_H

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace k2c {

/// Errors of one reading; the first is kept.
class ConfigErrors {
public:
  void add(const std::string &message) {
    if (first.empty())
      first = message;
  }
  bool any() const { return !first.empty(); }
  const std::string &message() const { return first; }

private:
  std::string first;
};

/// Reads fields of one JSON object. A required field that is absent, null,
/// mistyped or out of range is an error naming it; reading goes on with a
/// harmless value.
class ConfigObject {
public:
  ConfigObject(const nlohmann::json &object, std::string prefix,
               ConfigErrors &errors)
      : object(object), prefix(std::move(prefix)), errors(errors) {}

  /// Whether the field is there and not null.
  bool has(const std::string &field) const;
  bool isNull(const std::string &field) const {
    return object.contains(field) && object[field].is_null();
  }
  const nlohmann::json &raw(const std::string &field) const {
    return object[field];
  }

  int64_t integer(const std::string &field, int64_t least) const;
  double number(const std::string &field) const;
  bool boolean(const std::string &field) const;
  std::string text(const std::string &field) const;

  /// Records `field: expected <rule>, but got <fact>`.
  void refuse(const std::string &field, const std::string &rule,
              const std::string &fact) const;

private:
  const nlohmann::json *find(const std::string &field, const char *type) const;

  const nlohmann::json &object;
  std::string prefix;
  ConfigErrors &errors;
};

} // namespace k2c

#endif // LIB_IMPORT_CONFIGOBJECT_H
