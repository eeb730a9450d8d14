//===- CommandReader.cpp - Commands of a manifest's entries ---------------===//
#include "runtime/Artifact/ManifestReader.h"

namespace k2rt {

LaunchArg ManifestReader::readLaunchArg(const JsonNode &node,
                                        const KernelArg &formal) {
  LaunchArg arg;
  const char *given = "";
  for (const char *key : {"buffer", "param", "i32", "f32"})
    if (node.has(key))
      given = key;
  if (formal.kind == ArgKind::Pointer) {
    if (node.has("buffer")) {
      node.keys({"buffer"}, {"index"});
      arg.kind = LaunchArg::BufferRef;
      arg.target = buffers_.find(node["buffer"]);
      if (node.has("index"))
        arg.index = expr(node["index"], 0);
      return arg;
    }
    if (node.has("param")) {
      node.keys({"param"});
      arg.kind = LaunchArg::ParamRef;
      arg.target = params_.find(node["param"]);
      if (arg.target < 0)
        return arg;
      const Param &param = manifest_.params[arg.target];
      if (param.per != Per::Model && !inLayers_)
        node["param"].fail("a param of the model outside layers",
                           "'" + param.name + "'");
      if (param.per != Per::Model &&
          (from_ < param.firstLayer || to_ > param.endLayer))
        node["param"].fail("a param of layers " + std::to_string(from_) +
                               " to " + std::to_string(to_),
                           "'" + param.name + "' of " +
                               std::to_string(param.firstLayer) + " to " +
                               std::to_string(param.endLayer));
      if (formal.writes)
        node["param"].fail(
            "a buffer for '" + formal.name + "', which is written", "a param");
      return arg;
    }
    node.fail("a buffer or param for pointer '" + formal.name + "'",
              *given ? given : node.json().type_name());
  } else if (formal.kind == ArgKind::I32) {
    if (!node.has("i32"))
      node.fail("an i32 for '" + formal.name + "'",
                *given ? given : node.json().type_name());
    node.keys({"i32"});
    arg.kind = LaunchArg::Integer;
    if (node.ok())
      arg.value = expr(node["i32"], INT32_MIN, INT32_MAX);
  } else {
    if (!node.has("f32"))
      node.fail("an f32 for '" + formal.name + "'",
                *given ? given : node.json().type_name());
    node.keys({"f32"});
    arg.kind = LaunchArg::Float;
    if (node.ok())
      arg.number = node["f32"].number();
  }
  return arg;
}

void ManifestReader::readLaunch(const JsonNode &node, Command &command) {
  node.keys({"op", "kernel", "grid", "args"}, {"programmatic"});
  if (!node.ok())
    return;
  command.target = kernels_.find(node["kernel"]);
  std::vector<JsonNode> grid = node["grid"].elements(3);
  for (size_t i = 0; i < grid.size(); ++i)
    command.grid[i] = expr(grid[i], 1, kGridLimit[i]);
  if (node.has("programmatic"))
    command.programmatic = node["programmatic"].boolean();
  if (command.target < 0)
    return;
  const KernelInfo &kernel = manifest_.kernels[command.target];
  std::vector<JsonNode> args = node["args"].elements();
  if (args.size() != kernel.args.size())
    return node["args"].fail(std::to_string(kernel.args.size()) +
                                 " arguments for '" + kernel.name + "'",
                             std::to_string(args.size()));
  for (size_t i = 0; i < args.size(); ++i)
    command.args.push_back(readLaunchArg(args[i], kernel.args[i]));
}

Command ManifestReader::readCommand(const JsonNode &node) {
  Command command;
  // The names are in the order of CommandOp.
  command.op = static_cast<CommandOp>(
      node["op"].choice({"launch", "layers", "when", "worklist", "copy", "zero",
                         "require", "trace"}));
  switch (command.op) {
  case CommandOp::Launch:
    readLaunch(node, command);
    break;
  case CommandOp::Layers:
    node.keys({"op", "from", "to", "block", "commands"});
    if (inLayers_)
      node.fail("no layers inside layers", "one");
    if (!node.ok())
      break;
    command.from = node["from"].integer(0, manifest_.model.numLayers);
    command.to = node["to"].integer(command.from, manifest_.model.numLayers);
    command.name = node["block"].string();
    inLayers_ = true;
    from_ = command.from, to_ = command.to;
    command.commands = readCommands(node["commands"]);
    inLayers_ = false;
    break;
  case CommandOp::When:
    node.keys({"op", "condition", "commands"}, {"else"});
    if (!node.ok())
      break;
    command.expr = expr(node["condition"]);
    command.commands = readCommands(node["commands"]);
    if (node.has("else"))
      command.otherwise = readCommands(node["else"]);
    break;
  case CommandOp::MakeWorklist:
    node.keys({"op", "name"});
    command.target = worklists_.find(node["name"]);
    break;
  case CommandOp::Copy:
    node.keys({"op", "from", "to"});
    command.target = buffers_.find(node["from"]);
    command.target2 = buffers_.find(node["to"]);
    break;
  case CommandOp::Zero:
    node.keys({"op", "buffer"});
    command.target = buffers_.find(node["buffer"]);
    break;
  case CommandOp::Require:
    node.keys({"op", "layer", "ids"});
    command.target = buffers_.find(node["ids"]);
    command.expr = expr(node["layer"], 0, manifest_.model.numLayers);
    break;
  case CommandOp::Trace:
    node.keys({"op", "name", "layer", "buffer"});
    node["name"].choice({"x", "router.ids", "router.weights"});
    command.name = node["name"].string();
    command.target = buffers_.find(node["buffer"]);
    command.expr = expr(node["layer"], 0, manifest_.model.numLayers);
    break;
  }
  return command;
}

std::vector<Command> ManifestReader::readCommands(const JsonNode &node) {
  std::vector<Command> commands;
  for (const JsonNode &entry : node.elements()) {
    if (!node.ok())
      break;
    commands.push_back(readCommand(entry));
  }
  return commands;
}

} // namespace k2rt
