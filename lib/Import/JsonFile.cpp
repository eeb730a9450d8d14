//===- JsonFile.cpp - A strict reader of JSON files -----------------------===//

#include "JsonFile.h"

using nlohmann::json;

namespace {

/// Builds the document and refuses what nlohmann's own builder lets pass.
class StrictBuilder : public nlohmann::json_sax<json> {
public:
  json root;
  std::string problem;

  bool null() override { return put(nullptr); }
  bool boolean(bool value) override { return put(value); }
  bool number_integer(number_integer_t value) override { return put(value); }
  bool number_unsigned(number_unsigned_t value) override { return put(value); }
  bool number_float(number_float_t value, const string_t &) override {
    return put(value);
  }
  bool string(string_t &value) override { return put(std::move(value)); }
  bool binary(binary_t &) override { return false; }
  bool start_object(std::size_t) override { return open(json::object()); }
  bool start_array(std::size_t) override { return open(json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t &name) override {
    if (stack.back()->contains(name)) {
      problem =
          name + ": expected one value, but got the key twice in one object";
      return false;
    }
    pendingKey = name;
    return true;
  }

  bool parse_error(std::size_t position, const std::string &,
                   const nlohmann::detail::exception &) override {
    problem = "expected valid JSON, but got an error at byte " +
              std::to_string(position);
    return false;
  }

private:
  json *place(json value) {
    if (stack.empty()) {
      root = std::move(value);
      return &root;
    }
    json &parent = *stack.back();
    if (parent.is_array()) {
      parent.push_back(std::move(value));
      return &parent.back();
    }
    return &(parent[pendingKey] = std::move(value));
  }
  bool put(json value) {
    place(std::move(value));
    return true;
  }
  bool open(json value) {
    // Deep nesting is no config.json; destroying it would recurse as deeply.
    if (stack.size() >= 64) {
      problem = "expected at most 64 levels of nesting, but got more";
      return false;
    }
    stack.push_back(place(std::move(value)));
    return true;
  }
  bool close() {
    stack.pop_back();
    return true;
  }

  std::vector<json *> stack;
  std::string pendingKey;
};

} // namespace

llvm::Expected<json> k2c::parseJson(const std::string &text,
                                    const std::string &path) {
  StrictBuilder builder;
  if (!json::sax_parse(text, &builder))
    return llvm::createStringError(path + ": " + builder.problem);
  return std::move(builder.root);
}
