//===- EntryUse.cpp - What the commands of an entry need ------------------===//
#include "runtime/Executor/EntryUse.h"

#include <algorithm>
#include <fmt/format.h>

namespace k2rt {

namespace {
/// The arrays that the runtime fills; a buffer of class input is one of them.
constexpr std::pair<const char *, ElementType> kInputs[] = {
    {"token_ids", ElementType::I32},   {"positions", ElementType::I32},
    {"rope_cos", ElementType::F32},    {"rope_sin", ElementType::F32},
    {"seq_start", ElementType::I32},   {"past_len", ElementType::I32},
    {"block_table", ElementType::I32}, {"slot", ElementType::I32},
    {"slot_of", ElementType::I32},     {"mask", ElementType::F32}};

Status checkInput(const Buffer &buffer) {
  const auto *found =
      std::find_if(std::begin(kInputs), std::end(kInputs),
                   [&](const auto &in) { return buffer.name == in.first; });
  if (found == std::end(kInputs))
    return Status::input("buffer '" + buffer.name +
                         "': expected the name of an array that the runtime "
                         "fills, but got none");
  if (found->second != buffer.dtype)
    return Status::input(fmt::format(
        "buffer '{}': expected elements of {}, but got {}", buffer.name,
        elementTypeName(found->second), elementTypeName(buffer.dtype)));
  return Status();
}

/// [layers, pages, tokens of a page, ...]
Status checkCache(const Buffer &buffer, const ModelFacts &model) {
  if (buffer.shape.size() < 3)
    return Status::input(
        fmt::format("buffer 'latent_cache': expected [layers, pages, page_size "
                    "{}, width], but got {} dimensions",
                    model.pageSize, buffer.shape.size()));
  Expected<int64_t> page = buffer.shape[2].evaluate(model.constants);
  if (page && *page == model.pageSize)
    return Status();
  return Status::input(fmt::format(
      "buffer 'latent_cache': expected pages of page_size {} tokens, but got "
      "{}",
      model.pageSize, buffer.shape[2].str()));
}

/// The head runs on rows of its own: arrays of the step would not fit them.
Status checkHead(const Manifest &manifest, const std::vector<Command> &head) {
  Status status;
  for (int index : collectUse(manifest, head).buffers)
    if (const Buffer &buffer = manifest.buffers[index];
        buffer.cls != BufferClass::Step)
      status = Status::input("the commands after the last layers: expected "
                             "buffers of class step only, but got '" +
                             buffer.name + "'");
  walkCommands(head, [&](const Command &command) {
    if (command.op == CommandOp::Layers || command.op == CommandOp::Trace ||
        command.op == CommandOp::Require)
      status = Status::input("the commands after the last layers: expected no "
                             "layers, trace or require, but got one");
  });
  return status;
}
} // namespace

EntryUse collectUse(const Manifest &manifest,
                    const std::vector<Command> &commands) {
  EntryUse used;
  walkCommands(commands, [&](const Command &command) {
    switch (command.op) {
    case CommandOp::Launch:
      used.kernels.insert(command.target);
      for (const LaunchArg &arg : command.args) {
        if (arg.kind == LaunchArg::BufferRef)
          used.buffers.insert(arg.target);
        if (arg.kind == LaunchArg::ParamRef)
          used.params.insert(arg.target);
      }
      break;
    case CommandOp::MakeWorklist:
      used.buffers.insert(manifest.worklists[command.target].buffer);
      break;
    case CommandOp::Copy:
      used.buffers.insert(command.target2);
      [[fallthrough]];
    case CommandOp::Zero:
    case CommandOp::Require:
    case CommandOp::Trace:
      used.buffers.insert(command.target);
      break;
    case CommandOp::Layers:
    case CommandOp::When:
      break;
    }
  });
  return used;
}

Expected<EntryParts> splitEntry(const Manifest &manifest,
                                const std::string &entry, bool withHead) {
  auto find = [&](const std::string &name) {
    auto found = manifest.entries.find(name);
    return found == manifest.entries.end() ? nullptr : &found->second;
  };
  auto endOfLayers = [](const std::vector<Command> &commands) {
    return std::find_if(commands.rbegin(), commands.rend(),
                        [](const Command &command) {
                          return command.op == CommandOp::Layers;
                        })
        .base();
  };
  const std::vector<Command> *commands = find(entry), *model = find("model");
  if (!commands)
    return Status::input("expected an entry '" + entry + "', but got none");
  EntryParts parts;
  parts.body = *commands;
  if (entry == "model")
    parts.body.assign(commands->begin(), endOfLayers(*commands));
  if (!withHead)
    return parts;
  if (const std::vector<Command> *head = find("head"))
    parts.head = *head;
  else if (model)
    parts.head.assign(endOfLayers(*model), model->end());
  if (parts.head.empty())
    return Status::input("expected an entry 'head', but got none");
  if (Status s = checkHead(manifest, parts.head); s.failed())
    return s;
  return parts;
}

Status checkBuffers(const Manifest &manifest, const std::set<int> &used) {
  for (int index : used) {
    const Buffer &buffer = manifest.buffers[index];
    Status status;
    if (buffer.cls == BufferClass::Input)
      status = checkInput(buffer);
    else if (buffer.name == "latent_cache")
      status = checkCache(buffer, manifest.model);
    if (status.failed())
      return status;
  }
  return Status();
}

} // namespace k2rt
