//===- Manifest.cpp - A plan as the artifact's manifest.json --------------===//
#include "k2c/Artifact/Manifest.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace k2c;
using namespace k2c::plan;
using nlohmann::ordered_json;

static std::string str(StringRef text) { return text.str(); }

ordered_json k2c::toJSON(ExprAttr expr) {
  switch (expr.getKind()) {
  case ExprKind::Integer:
    return expr.getValue();
  case ExprKind::Symbol:
    return str(expr.getSymbol());
  default:
    return ordered_json::array({str(stringifyExprKind(expr.getKind())),
                                toJSON(cast<ExprAttr>(expr.getLhs())),
                                toJSON(cast<ExprAttr>(expr.getRhs()))});
  }
}

template <typename Range> static ordered_json listOf(Range &&range) {
  ordered_json list = ordered_json::array();
  for (auto element : range)
    list.push_back(element);
  return list;
}

ordered_json k2c::toJSON(Attribute attribute) {
  return TypeSwitch<Attribute, ordered_json>(attribute)
      .Case([](BoolAttr a) { return ordered_json(a.getValue()); })
      .Case([](IntegerAttr a) { return ordered_json(a.getInt()); })
      .Case([](FloatAttr a) { return ordered_json(a.getValueAsDouble()); })
      .Case([](StringAttr a) { return ordered_json(str(a)); })
      .Case([](DenseF32ArrayAttr a) {
        return listOf(
            llvm::map_range(a.asArrayRef(), [](float f) { return double(f); }));
      })
      .Case([](DenseI64ArrayAttr a) { return listOf(a.asArrayRef()); })
      .Case([](ArrayAttr a) {
        ordered_json list = ordered_json::array();
        for (Attribute element : a)
          list.push_back(toJSON(element));
        return list;
      })
      .Case([](DictionaryAttr a) {
        ordered_json object = ordered_json::object();
        for (NamedAttribute field : a)
          object[str(field.getName())] = toJSON(field.getValue());
        return object;
      })
      .Default([](Attribute) { return ordered_json(); });
}

static const char *dtype(Type type) {
  if (type.isBF16())
    return "bf16";
  if (type.isF32())
    return "f32";
  return type.isInteger(32) ? "i32" : "f8e4m3";
}

static ordered_json exprs(ArrayAttr list) {
  return listOf(llvm::map_range(list.getAsRange<ExprAttr>(),
                                [](ExprAttr e) { return toJSON(e); }));
}

static ordered_json paramToJSON(ParamOp param) {
  ordered_json parts = ordered_json::array();
  for (auto part : param.getParts().getAsRange<PartAttr>())
    parts.push_back({{"tensor", str(part.getTensor())},
                     {"rows", part.getRows()},
                     {"at", part.getAt()}});
  ordered_json json = {{"name", str(param.getSymName())},
                       {"dtype", dtype(param.getElement())},
                       {"shape", listOf(param.getShape())},
                       {"row_stride", param.getRowStride()},
                       {"per", str(stringifyPer(param.getPer()))}};
  if (param.getPer() != Per::Model)
    json["layers"] = listOf(param.getLayers());
  json["parts"] = parts;
  json["layout"] = "row_major";
  return json;
}

static ordered_json bufferToJSON(BufferOp buffer) {
  ordered_json json = {{"name", str(buffer.getSymName())},
                       {"dtype", dtype(buffer.getElement())},
                       {"shape", exprs(buffer.getShape())}};
  if (buffer.getRowStride())
    json["row_stride"] = *buffer.getRowStride();
  json["class"] = str(stringifyBufferClass(buffer.getBufferClass()));
  return json;
}

static ordered_json kernelToJSON(KernelOp kernel, const KernelFacts &facts,
                                 StringRef target) {
  ordered_json args = ordered_json::array();
  for (auto arg : kernel.getArgs().getAsRange<KernelArgAttr>()) {
    ordered_json json = {{"kind", str(stringifyKernelArgKind(arg.getKind()))},
                         {"name", str(arg.getName())}};
    if (arg.getKind() == KernelArgKind::Pointer)
      json["access"] = str(stringifyAccess(arg.getAccess()));
    args.push_back(json);
  }
  std::string file = "kernels/" + str(kernel.getSymName());
  ordered_json json = {{"name", str(kernel.getSymName())},
                       {"ptx", file + ".ptx"},
                       {"entry", str(kernel.getCode())},
                       {"block", kernel.getBlock()},
                       {"cluster", {1, 1, 1}},
                       {"shared_bytes", facts.sharedBytes}};
  if (facts.registers) {
    json["cubin"] = file + "." + str(target) + ".cubin";
    json["registers"] = *facts.registers;
  }
  json["ptx_sha256"] = facts.ptxSha256;
  json["args"] = args;
  json["source_ops"] = toJSON(Attribute(kernel.getSourceOps()));
  return json;
}

static ordered_json worklistToJSON(WorklistOp list) {
  return {{"name", str(list.getSymName())},
          {"maker",
           {{"kind", "query_tiles"},
            {"rows", list.getRows()},
            {"rows_per_token", list.getRowsPerToken()}}}};
}

static ordered_json commandsToJSON(Block &block);

static ordered_json bindingToJSON(BindAttr binding) {
  if (binding.getKind() == BindKind::I32)
    return {{"i32", toJSON(binding.getValue())}};
  ordered_json json = {{str(stringifyBindKind(binding.getKind())),
                        str(binding.getTarget().getValue())}};
  if (binding.getValue())
    json["index"] = toJSON(binding.getValue());
  return json;
}

static ordered_json commandToJSON(Operation &command) {
  return TypeSwitch<Operation *, ordered_json>(&command)
      .Case([](LaunchOp op) {
        return ordered_json(
            {{"op", "launch"},
             {"kernel", str(op.getKernel())},
             {"grid", exprs(op.getGrid())},
             {"args",
              listOf(llvm::map_range(op.getBindings().getAsRange<BindAttr>(),
                                     bindingToJSON))},
             {"programmatic", false}});
      })
      .Case([](LayersOp op) {
        return ordered_json(
            {{"op", "layers"},
             {"from", op.getFrom()},
             {"to", op.getTo()},
             {"block", str(op.getBlockKind())},
             {"commands", commandsToJSON(op.getBody().front())}});
      })
      .Case([](WhenOp op) {
        return ordered_json(
            {{"op", "when"},
             {"condition", toJSON(op.getCondition())},
             {"commands", commandsToJSON(op.getThenBody().front())},
             {"else", commandsToJSON(op.getElseBody().front())}});
      })
      .Case([](MakeWorklistOp op) {
        return ordered_json(
            {{"op", "worklist"}, {"name", str(op.getWorklist())}});
      })
      .Case([](CopyOp op) {
        return ordered_json({{"op", "copy"},
                             {"from", str(op.getSource())},
                             {"to", str(op.getTarget())}});
      })
      .Case([](ZeroOp op) {
        return ordered_json({{"op", "zero"}, {"buffer", str(op.getBuffer())}});
      })
      .Case([](RequireOp op) {
        return ordered_json({{"op", "require"},
                             {"layer", toJSON(op.getLayer())},
                             {"ids", str(op.getIds())}});
      })
      .Case([](TraceOp op) {
        return ordered_json({{"op", "trace"},
                             {"name", str(op.getTrace())},
                             {"layer", toJSON(op.getLayer())},
                             {"buffer", str(op.getBuffer())}});
      });
}

static ordered_json commandsToJSON(Block &block) {
  ordered_json list = ordered_json::array();
  for (Operation &command : block)
    list.push_back(commandToJSON(command));
  return list;
}

ordered_json k2c::buildManifest(ProgramOp program,
                                const llvm::StringMap<KernelFacts> &facts) {
  ordered_json manifest = {
      {"format", 1},
      {"compiler", {{"name", "k2c"}, {"version", K2C_VERSION}}},
      {"target", str(program.getTarget())},
      {"options", toJSON(Attribute(program.getOptions()))},
      {"model", toJSON(Attribute(program.getModel()))}};
  for (const char *key : {"params", "buffers", "kernels", "worklists"})
    manifest[key] = ordered_json::array();
  manifest["entries"] = ordered_json::object();
  for (Operation &op : program.getBody().front()) {
    TypeSwitch<Operation *>(&op)
        .Case([&](ParamOp o) { manifest["params"].push_back(paramToJSON(o)); })
        .Case(
            [&](BufferOp o) { manifest["buffers"].push_back(bufferToJSON(o)); })
        .Case([&](KernelOp o) {
          auto known = facts.find(o.getCode());
          manifest["kernels"].push_back(kernelToJSON(
              o, known == facts.end() ? KernelFacts() : known->second,
              program.getTarget()));
        })
        .Case([&](WorklistOp o) {
          manifest["buffers"].push_back(
              {{"name", str(o.getSymName())},
               {"dtype", "i32"},
               {"shape", {"W_" + str(o.getSymName()), 2}},
               {"class", "worklist"}});
          manifest["worklists"].push_back(worklistToJSON(o));
        })
        .Case([&](EntryOp o) {
          manifest["entries"][str(o.getSymName())] =
              commandsToJSON(o.getBody().front());
        });
  }
  return manifest;
}

/// Prints arrays and objects one element a line down to `levels`, below that
/// on one line.
static void print(std::string &out, const ordered_json &json, int levels,
                  int indent) {
  if (!json.is_structured()) {
    out += json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
    return;
  }
  // Commands nest: a body is as much worth a line each as the entry.
  bool open = !json.empty() &&
              (levels > 0 || (json.is_object() && json.contains("commands")));
  std::string pad(indent + 2, ' ');
  out += json.is_object() ? "{" : "[";
  bool first = true;
  for (auto item = json.begin(); item != json.end(); ++item) {
    out += open ? (first ? "\n" : ",\n") + pad : first ? "" : ", ";
    first = false;
    bool body = false;
    if (json.is_object()) {
      out += ordered_json(item.key()).dump() + ": ";
      body = item.key() == "commands" || item.key() == "else";
    }
    print(out, *item, body ? 1 : levels - 1, indent + 2);
  }
  if (open)
    out += "\n" + std::string(indent, ' ');
  out += json.is_object() ? "}" : "]";
}

std::string k2c::printManifest(const ordered_json &manifest) {
  std::string out;
  // Top level, its lists and objects, and the commands of the entries.
  out += "{";
  bool first = true;
  for (auto item = manifest.begin(); item != manifest.end(); ++item) {
    out += (first ? "\n  " : ",\n  ") + ordered_json(item.key()).dump() + ": ";
    first = false;
    print(out, *item, item.key() == "entries" ? 2 : 1, 2);
  }
  return out + "\n}\n";
}
