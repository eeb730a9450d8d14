//===- ManifestReader.cpp - Model, params, buffers, kernels ---------------===//
#include "runtime/Artifact/ManifestReader.h"

namespace k2rt {

std::string NameTable::add(const JsonNode &node) {
  std::string name = node.string();
  if (name.empty())
    node.fail("a name", "\"\"");
  else if (!positions_.emplace(name, static_cast<int>(positions_.size()))
                .second)
    node.fail(std::string("every ") + kind_ + " once", "'" + name + "' twice");
  return name;
}

std::optional<int> NameTable::find(const std::string &name) const {
  auto it = positions_.find(name);
  return it == positions_.end() ? std::nullopt : std::optional(it->second);
}

int NameTable::find(const JsonNode &node) const {
  std::string name = node.string();
  std::optional<int> position = find(name);
  if (!position)
    node.fail(std::string("the name of a ") + kind_, "'" + name + "'");
  return position.value_or(-1);
}

Expr ManifestReader::expr(const JsonNode &node, int64_t least, int64_t most) {
  // Others are looked at when their symbols have values.
  if (node.json().is_number())
    return {node.integer(least, most)};
  return readExpr(node, [&](const std::string &name) {
    for (const char *symbol : kStepSymbols)
      if (name == symbol)
        return true;
    if (name == "layer")
      return inLayers_;
    if (name.starts_with("W_"))
      return worklists_.find(name.substr(2)).has_value();
    return manifest_.model.constants.count(name) != 0;
  });
}

ElementType ManifestReader::elementType(const JsonNode &node) {
  return static_cast<ElementType>(
      node.choice({"bf16", "f32", "f8e4m3", "i32"}));
}

void ManifestReader::readRope(const JsonNode &node) {
  node.keys({"inv_freq", "scale"});
  ModelFacts &model = manifest_.model;
  for (const JsonNode &value :
       node["inv_freq"].elements(static_cast<size_t>(model.ropeHeadDim / 2)))
    if (model.inverseFrequencies.push_back(value.number());
        model.inverseFrequencies.back() < 0)
      value.fail("a number of at least 0", value.json().dump());
  model.ropeScale = node["scale"].number();
  if (model.ropeScale <= 0)
    node["scale"].fail("a positive number", node["scale"].json().dump());
}

void ManifestReader::readModel(const JsonNode &node) {
  ModelFacts &model = manifest_.model;
  for (const auto &[key, value] : node.members()) {
    if (value.json().is_number_integer())
      model.constants[key] = value.integer();
    else if (!value.json().is_string() && key != "rope" && key != "moe_layers")
      value.fail("an integer or a string", value.json().type_name());
  }
  auto size = [&](const char *key, int64_t least) {
    return node[key].integer(least, INT32_MAX);
  };
  model.hiddenSize = size("hidden_size", 1);
  model.numLayers = size("num_hidden_layers", 1);
  model.kvLoraRank = size("kv_lora_rank", 1);
  model.ropeHeadDim = size("qk_rope_head_dim", 2);
  model.vocabSize = size("vocab_size", 1);
  model.maxPositions = size("max_position_embeddings", 1);
  model.pageSize = size("page_size", 1);
  if (node.has("n_routed_experts"))
    model.numExperts = size("n_routed_experts", 0);
  if (node.has("num_experts_per_tok"))
    model.expertsPerToken = size("num_experts_per_tok", 0);
  if (model.expertsPerToken > model.numExperts)
    node["num_experts_per_tok"].fail("at most the n_routed_experts " +
                                         std::to_string(model.numExperts),
                                     std::to_string(model.expertsPerToken));
  if (model.ropeHeadDim % 2)
    node["qk_rope_head_dim"].fail("an even number",
                                  std::to_string(model.ropeHeadDim));
  readRope(node["rope"]);
  if (node.has("moe_layers"))
    for (int64_t least = 0;
         const JsonNode &layer : node["moe_layers"].elements(2))
      least = layer.integer(least, model.numLayers);
  if (node.has("config_sha256"))
    model.configHash = node["config_sha256"].string();
}

void ManifestReader::readParts(const JsonNode &node, Param &param) {
  int64_t end = 0;
  bool flat = param.shape.size() == 1;
  int64_t extent = flat ? param.columns() : param.rows();
  for (const JsonNode &entry : node.elements()) {
    entry.keys({"tensor", "rows", "at"}, {"cols"});
    if (!entry.ok())
      return;
    Part part;
    part.tensor = entry["tensor"].string();
    part.rows = entry["rows"].integer(1);
    part.at = entry["at"].integer(end);
    if (__builtin_add_overflow(part.at, part.rows, &end) || end > extent)
      entry.fail("rows within the " + std::to_string(extent) + " of the param",
                 std::to_string(part.rows) + " at " + std::to_string(part.at));
    if (!flat)
      part.columns = entry.has("cols")
                         ? entry["cols"].integer(1, param.columns())
                         : param.columns();
    bool perLayer = part.tensor.find("{layer}") != std::string::npos;
    bool perExpert = part.tensor.find("{expert}") != std::string::npos;
    if (perLayer != (param.per != Per::Model) ||
        perExpert != (param.per == Per::Expert))
      entry["tensor"].fail("{layer} and {expert} as 'per' says",
                           "'" + part.tensor + "'");
    param.parts.push_back(std::move(part));
  }
  if (param.parts.empty())
    node.fail("at least one part", "none");
}

void ManifestReader::readParam(const JsonNode &node) {
  node.keys({"name", "dtype", "shape", "row_stride", "per", "parts"},
            {"layers", "layout"});
  if (!node.ok())
    return;
  Param param;
  param.name = params_.add(node["name"]);
  param.dtype = elementType(node["dtype"]);
  for (const JsonNode &dim : node["shape"].elements())
    param.shape.push_back(dim.integer(1, INT32_MAX));
  if (param.shape.empty() || param.shape.size() > 2) {
    node["shape"].fail("one or two dimensions",
                       std::to_string(param.shape.size()));
    return;
  }
  param.rowStride = node["row_stride"].integer(
      param.shape.size() == 1 ? 1 : param.columns(), INT32_MAX);
  if (param.shape.size() == 1)
    param.rowStride = param.columns();
  param.per =
      static_cast<Per>(node["per"].choice({"model", "layer", "expert"}));
  if (node.has("layout"))
    node["layout"].choice({"row_major"});
  if (param.per != Per::Model) {
    std::vector<JsonNode> layers = node["layers"].elements(2);
    if (layers.size() == 2) {
      param.firstLayer = layers[0].integer(0, manifest_.model.numLayers);
      param.endLayer =
          layers[1].integer(param.firstLayer, manifest_.model.numLayers);
    }
  }
  if (param.per == Per::Expert && manifest_.model.numExperts == 0)
    node["per"].fail("a model with n_routed_experts", "none");
  readParts(node["parts"], param);
  manifest_.params.push_back(std::move(param));
}

void ManifestReader::readBuffer(const JsonNode &node) {
  node.keys({"name", "dtype", "shape", "class"}, {"row_stride"});
  if (!node.ok())
    return;
  Buffer buffer;
  buffer.name = buffers_.add(node["name"]);
  buffer.dtype = elementType(node["dtype"]);
  for (const JsonNode &dim : node["shape"].elements())
    buffer.shape.push_back(expr(dim, 0));
  if (buffer.shape.empty()) {
    node["shape"].fail("at least one dimension", "none");
    return;
  }
  buffer.cls = static_cast<BufferClass>(
      node["class"].choice({"step", "persistent", "input", "worklist"}));
  // Only rows of a known length can be padded.
  std::optional<int64_t> columns = buffer.shape.back().constant();
  if (node.has("row_stride")) {
    bool padded = buffer.shape.size() > 1 && columns;
    int64_t stride =
        node["row_stride"].integer(padded ? *columns : 0, INT32_MAX);
    if (padded)
      buffer.rowStride = stride;
  }
  manifest_.buffers.push_back(std::move(buffer));
}

void ManifestReader::readWorklist(const JsonNode &node) {
  node.keys({"name", "maker"});
  if (!node.ok())
    return;
  Worklist list;
  list.name = worklists_.add(node["name"]);
  JsonNode maker = node["maker"];
  maker.keys({"kind", "rows", "rows_per_token"});
  maker["kind"].choice({"query_tiles"});
  list.rows = maker["rows"].integer(1, INT32_MAX);
  list.rowsPerToken = maker["rows_per_token"].integer(1, INT32_MAX);
  manifest_.worklists.push_back(std::move(list));
}

void ManifestReader::readKernel(const JsonNode &node) {
  node.keys(
      {"name", "ptx", "entry", "block", "shared_bytes", "args", "ptx_sha256"},
      {"cubin", "cluster", "registers", "source_ops"});
  if (!node.ok())
    return;
  KernelInfo kernel;
  kernel.name = kernels_.add(node["name"]);
  auto file = [&](const char *key) {
    std::string path = node[key].string();
    if (path.empty() || path[0] == '/' || path.find("..") != std::string::npos)
      node[key].fail("a path inside the artifact", "'" + path + "'");
    return path;
  };
  kernel.ptx = file("ptx");
  if (node.has("cubin") && !node["cubin"].json().is_null())
    kernel.cubin = file("cubin");
  kernel.entry = node["entry"].string();
  kernel.ptxHash = node["ptx_sha256"].string();
  kernel.block = node["block"].integer(1, 1024);
  kernel.sharedBytes = node["shared_bytes"].integer(0, 232448);
  if (node.has("registers") && !node["registers"].json().is_null())
    kernel.registers = node["registers"].integer(0, 255);
  if (node.has("cluster")) {
    std::vector<JsonNode> cluster = node["cluster"].elements(3);
    for (size_t i = 0; i < cluster.size(); ++i)
      kernel.cluster[i] = cluster[i].integer(1, 16);
    int64_t ctas = kernel.cluster[0] * kernel.cluster[1] * kernel.cluster[2];
    if (ctas > 16)
      node["cluster"].fail("at most 16 CTAs", std::to_string(ctas));
  }
  for (const JsonNode &arg : node["args"].elements()) {
    arg.keys({"kind", "name"}, {"access"});
    if (!arg.ok())
      return;
    KernelArg formal;
    formal.kind =
        static_cast<ArgKind>(arg["kind"].choice({"pointer", "i32", "f32"}));
    formal.name = arg["name"].string();
    if (arg.has("access")) {
      size_t access = arg["access"].choice({"read", "write", "readwrite"});
      formal.reads = access != 1;
      formal.writes = access != 0;
    } else {
      formal.writes = formal.kind == ArgKind::Pointer;
    }
    kernel.args.push_back(std::move(formal));
  }
  if (node.has("source_ops"))
    for (const JsonNode &op : node["source_ops"].elements())
      kernel.sourceOps.push_back(op.string());
  manifest_.kernels.push_back(std::move(kernel));
}

Manifest ManifestReader::read() {
  // A newer format may differ in anything else, so it is looked at first.
  int64_t format = root_["format"].integer(1);
  if (format > kManifestFormat)
    root_["format"].fail("a format of at most " +
                             std::to_string(kManifestFormat) +
                             " (a newer runtime is needed)",
                         std::to_string(format));
  if (!root_.ok())
    return {};
  root_.keys(
      {"format", "target", "model", "params", "buffers", "kernels", "entries"},
      {"compiler", "options", "worklists"});
  if (!root_.ok())
    return {};
  manifest_.target = root_["target"].string();
  readModel(root_["model"]);
  for (const JsonNode &node : root_["params"].elements())
    readParam(node);
  if (root_.has("worklists"))
    for (const JsonNode &node : root_["worklists"].elements())
      readWorklist(node);
  for (const JsonNode &node : root_["buffers"].elements())
    readBuffer(node);
  if (!root_.ok())
    return {};
  for (size_t i = 0; i < manifest_.worklists.size(); ++i) {
    Worklist &list = manifest_.worklists[i];
    list.buffer = buffers_.find(list.name).value_or(-1);
    if (list.buffer < 0 ||
        manifest_.buffers[list.buffer].cls != BufferClass::Worklist)
      root_["worklists"].elements()[i].fail(
          "a buffer of class worklist with its name", "none");
  }
  for (const JsonNode &node : root_["kernels"].elements())
    readKernel(node);
  if (!root_.ok())
    return {};
  for (const auto &[name, node] : root_["entries"].members())
    manifest_.entries[name] = readCommands(node);
  return std::move(manifest_);
}

} // namespace k2rt
