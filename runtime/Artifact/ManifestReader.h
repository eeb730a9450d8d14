//===- ManifestReader.h - Parts of reading a manifest -----------*- C++ -*-===//
#ifndef RUNTIME_ARTIFACT_MANIFESTREADER_H
#define RUNTIME_ARTIFACT_MANIFESTREADER_H

#include "runtime/Artifact/JsonNode.h"
#include "runtime/Artifact/Manifest.h"

namespace k2rt {

/// Symbols that stand in every expression; W_<list>, layer and the model's
/// integers come on top.
inline constexpr const char *kStepSymbols[] = {"T", "B", "S", "P", "masked"};

/// Names of one kind of things -> their positions.
class NameTable {
public:
  explicit NameTable(const char *kind) : kind_(kind) {}
  /// Adds the string at `node`; a second one of the same name is an error.
  std::string add(const JsonNode &node);
  /// The position of the thing that `node` names, -1 (and an error) if none.
  int find(const JsonNode &node) const;
  std::optional<int> find(const std::string &name) const;

private:
  const char *kind_;
  std::map<std::string, int> positions_;
};

/// Reads the expression at `node`; `known(symbol)` says whether it may stand
/// there.
template <typename Known> Expr readExpr(const JsonNode &node, Known &&known) {
  if (node.json().is_string()) {
    std::string name = node.string();
    if (!known(name))
      node.fail("a known symbol", "\"" + name + "\"");
    return Expr::symbol(std::move(name));
  }
  if (!node.json().is_array())
    return Expr(node.integer());
  std::vector<JsonNode> parts = node.elements(3);
  if (parts.empty())
    return Expr();
  std::string name = parts[0].string();
  std::optional<ExprOp> op = Expr::parseOp(name);
  if (!op) {
    parts[0].fail("an operator", "\"" + name + "\"");
    return Expr();
  }
  Expr lhs = readExpr(parts[1], known);
  return Expr::binary(*op, std::move(lhs), readExpr(parts[2], known));
}

/// A manifest while it is read.
class ManifestReader {
public:
  explicit ManifestReader(JsonDocument &document) : root_(document) {}
  Manifest read();

private:
  void readModel(const JsonNode &node);
  void readRope(const JsonNode &node);
  void readParam(const JsonNode &node);
  void readParts(const JsonNode &node, Param &param);
  void readBuffer(const JsonNode &node);
  void readKernel(const JsonNode &node);
  void readWorklist(const JsonNode &node);
  std::vector<Command> readCommands(const JsonNode &node);
  Command readCommand(const JsonNode &node);
  void readLaunch(const JsonNode &node, Command &command);
  LaunchArg readLaunchArg(const JsonNode &node, const KernelArg &formal);
  /// A number must lie within the bounds.
  Expr expr(const JsonNode &node, int64_t least = INT64_MIN,
            int64_t most = INT64_MAX);
  ElementType elementType(const JsonNode &node);

  JsonNode root_;
  Manifest manifest_;
  NameTable params_{"param"}, buffers_{"buffer"}, kernels_{"kernel"},
      worklists_{"worklist"};
  bool inLayers_ = false;
  int64_t from_ = 0, to_ = 0; ///< of the surrounding layers command
};

} // namespace k2rt

#endif // RUNTIME_ARTIFACT_MANIFESTREADER_H
