//===- JsonNode.h - Reading JSON with paths in errors -----------*- C++ -*-===//
#ifndef RUNTIME_ARTIFACT_JSONNODE_H
#define RUNTIME_ARTIFACT_JSONNODE_H

#include "k2rt/Status.h"

#include <initializer_list>
#include <nlohmann/json.hpp>

namespace k2rt {

/// Where a document comes from and the first thing that was wrong with it.
struct JsonDocument {
  std::string file;
  nlohmann::json root;
  Status status;

  /// Parses `text`; a name that stands twice in an object is an error.
  static JsonDocument parse(const std::string &text, std::string file);
};

/// A value of a document and its path, as `kernels[3].args[0].kind`. Reading
/// something that is not there records an error in the document (the first one
/// stays) and gives an empty value, so that readers need no checks in between.
class JsonNode {
public:
  explicit JsonNode(JsonDocument &document)
      : document_(&document), value_(&document.root) {}

  const std::string &path() const { return path_; }
  const nlohmann::json &json() const { return *value_; }
  bool ok() const { return document_->status.ok(); }
  void fail(const std::string &rule, const std::string &fact) const;

  /// An object with all of `required`, perhaps some of `optional`, no others.
  void keys(std::initializer_list<const char *> required,
            std::initializer_list<const char *> optional = {}) const;
  bool has(const char *key) const;
  JsonNode operator[](const char *key) const;
  /// Members of an object, in order of name.
  std::vector<std::pair<std::string, JsonNode>> members() const;
  /// Elements of an array, of which there must be `count` if given.
  std::vector<JsonNode> elements(std::optional<size_t> count = {}) const;

  std::string string() const;
  /// A string out of a list; gives its position.
  size_t choice(std::initializer_list<const char *> names) const;
  int64_t integer(int64_t least = INT64_MIN, int64_t most = INT64_MAX) const;
  /// Finite as a float32 too.
  float number() const;
  bool boolean() const;

private:
  JsonNode(const JsonNode &parent, const nlohmann::json *value,
           std::string path)
      : document_(parent.document_), value_(value), path_(std::move(path)) {}
  std::string shown() const;

  JsonDocument *document_;
  const nlohmann::json *value_;
  std::string path_;
};

} // namespace k2rt

#endif // RUNTIME_ARTIFACT_JSONNODE_H
