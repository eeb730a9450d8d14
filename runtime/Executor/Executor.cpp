//===- Executor.cpp - Runs the entries of an artifact ---------------------===//
#include "runtime/Executor/Executor.h"

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

Status checkInputs(const Manifest &manifest, const std::set<int> &used) {
  for (int index : used) {
    const Buffer &buffer = manifest.buffers[index];
    if (buffer.cls != BufferClass::Input)
      continue;
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
  }
  return Status();
}

template <typename T>
std::span<const std::byte> bytesOf(const std::vector<T> &values) {
  return std::as_bytes(std::span(values));
}
} // namespace

Executor::Used Executor::collect(const Manifest &manifest,
                                 const std::vector<Command> &entry) {
  Used used;
  walkCommands(entry, [&](const Command &command) {
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

Executor::Executor(const Artifact &artifact, const std::vector<Command> &entry,
                   const Used &used, Kernels kernels, Device &device,
                   std::vector<Lifetime> lives)
    : artifact_(&artifact), entry_(&entry), device_(&device),
      usedParams_(used.params), kernels_(std::move(kernels)),
      buffers_(artifact.manifest(), used.buffers, device, std::move(lives)),
      kernelStats_(artifact.manifest().kernels.size()) {}

Expected<std::unique_ptr<Executor>>
Executor::create(const Artifact &artifact, const std::string &entry,
                 Device &device, const Notice &notice, StepMemory memory) {
  const Manifest &manifest = artifact.manifest();
  auto found = manifest.entries.find(entry);
  if (found == manifest.entries.end())
    return Status::input(artifact.folder() + ": expected an entry '" + entry +
                         "', but got none");
  Used used = collect(manifest, found->second);
  if (Status s = checkInputs(manifest, used.buffers); s.failed())
    return s;
  Expected<Kernels> kernels =
      Kernels::load(artifact, used.kernels, device, notice);
  if (!kernels)
    return kernels.status();
  std::vector<Lifetime> lives;
  if (memory == StepMemory::Arena ||
      (memory == StepMemory::Automatic && !device.checksBounds())) {
    std::set<int> kept; // read or written by the host
    for (const char *name : {"x", "logits"})
      if (int index = manifest.findBuffer(name); index >= 0)
        kept.insert(index);
    lives = lifetimes(manifest, found->second, kept);
  }
  return std::unique_ptr<Executor>(new Executor(artifact, found->second, used,
                                                std::move(*kernels), device,
                                                std::move(lives)));
}

Status Executor::bindWeights(const Checkpoint &checkpoint,
                             const LoadProgress &progress) {
  Expected<Weights> weights = Weights::load(manifest(), usedParams_, checkpoint,
                                            *device_, loadStats_, progress);
  if (!weights)
    return weights.status();
  weights_ = std::move(*weights);
  return Status();
}

Status Executor::openCache(const std::vector<int64_t> &capacities) {
  // Slots are 32 bits wide; page by page the sum cannot overflow 64.
  int64_t pageSize = manifest().model.pageSize, slots = 0;
  for (int64_t capacity : capacities) {
    if (capacity < 0 || capacity > INT32_MAX)
      return Status::input(
          fmt::format("cache: expected room for 0 to {} tokens of a sequence, "
                      "but got {}",
                      INT32_MAX, capacity));
    slots += (capacity + pageSize - 1) / pageSize * pageSize;
    if (slots > INT32_MAX)
      return Status::input(
          fmt::format("cache: expected at most {} slots, but got {} and more",
                      INT32_MAX, slots));
  }
  pages_.emplace(capacities, pageSize);
  symbols_ = manifest().model.constants;
  symbols_["P"] = pages_->pages();
  if (Status s = buffers_.prepare(BufferClass::Persistent, symbols_);
      s.failed())
    return s;
  stepStats_.clear();
  return Status();
}

Status Executor::step(const StepRequest &request, const TraceSink &trace) {
  assert(weights_ && pages_ && "a step needs weights and a cache");
  if (broken_)
    return Status::input("expected no step after one that failed");
  Expected<StepInputs> inputs =
      makeStepInputs(manifest().model, request, *pages_);
  if (!inputs)
    return inputs.status();
  stepStats_.push_back({inputs->tokens, 0});
  if (inputs->tokens == 0)
    return Status();
  Status status = prepareStep(*inputs, request);
  if (status.ok())
    status = run(*entry_, trace);
  if (status.ok())
    status = device_->synchronize();
  broken_ = status.failed();
  return status;
}

Status Executor::prepareStep(const StepInputs &inputs,
                             const StepRequest &request) {
  symbols_["T"] = inputs.tokens;
  symbols_["B"] = inputs.sequences;
  symbols_["S"] = inputs.longest;
  symbols_["masked"] = 0;
  lists_.clear();
  const std::vector<Worklist> &worklists = manifest().worklists;
  for (size_t i = 0; i < worklists.size(); ++i) {
    std::vector<int32_t> &list = lists_[static_cast<int>(i)];
    list = makeQueryTiles(worklists[i], inputs.seqStart);
    symbols_["W_" + worklists[i].name] = static_cast<int64_t>(list.size() / 2);
  }
  for (BufferClass cls :
       {BufferClass::Input, BufferClass::Worklist, BufferClass::Step})
    if (Status s = buffers_.prepare(cls, symbols_); s.failed())
      return s;
  const std::vector<Buffer> &all = manifest().buffers;
  for (size_t i = 0; i < all.size(); ++i) {
    int index = static_cast<int>(i);
    if (!buffers_.used(index))
      continue;
    bool isX0 = all[i].name == "x" && !request.x0.empty();
    if (all[i].cls != BufferClass::Input && !isX0)
      continue;
    if (Status s = uploadInput(index, inputs, request); s.failed())
      return s;
  }
  return Status();
}

Status Executor::uploadInput(int buffer, const StepInputs &inputs,
                             const StepRequest &request) {
  const std::string &name = manifest().buffers[buffer].name;
  auto upload = [&](const auto &values) {
    return buffers_.upload(buffer, bytesOf(values));
  };
  if (name == "token_ids")
    return upload(inputs.tokenIds);
  if (name == "x")
    return upload(request.x0);
  if (name == "positions")
    return upload(inputs.positions);
  if (name == "rope_cos")
    return upload(inputs.ropeCos);
  if (name == "rope_sin")
    return upload(inputs.ropeSin);
  if (name == "seq_start")
    return upload(inputs.seqStart);
  if (name == "past_len")
    return upload(inputs.pastLen);
  if (name == "slot")
    return upload(inputs.slot);
  if (name == "block_table")
    return upload(makeBlockTable(*pages_, buffers_.shape(buffer).back()));
  if (name == "mask")
    return Status(); // not read: steps bring none yet
  // Every expert is resident, in the slot of its number.
  std::vector<int32_t> identity(
      static_cast<size_t>(manifest().model.numExperts));
  for (size_t e = 0; e < identity.size(); ++e)
    identity[e] = static_cast<int32_t>(e);
  return upload(identity);
}

Expected<HostArray> Executor::read(const std::string &buffer) const {
  int index = manifest().findBuffer(buffer);
  if (index < 0 || !buffers_.used(index))
    return Status::input("expected a buffer '" + buffer +
                         "' in the entry, but got none");
  return buffers_.download(index);
}

Expected<std::vector<TracePoint>> Executor::tracePoints() const {
  std::vector<TracePoint> points;
  std::set<std::pair<std::string, int64_t>> seen;
  Symbols symbols = manifest().model.constants;
  Status status;
  auto collectTraces = [&](auto &self,
                           const std::vector<Command> &commands) -> void {
    for (const Command &command : commands) {
      if (command.op == CommandOp::Trace) {
        Expected<int64_t> layer = command.expr.evaluate(symbols);
        if (!layer)
          status = layer.status();
        else if (seen.emplace(command.name, *layer).second)
          points.push_back({command.name, *layer, command.target});
      }
      for (int64_t l = command.from;
           command.op == CommandOp::Layers && l < command.to; ++l) {
        symbols["layer"] = l;
        self(self, command.commands);
      }
      if (command.op == CommandOp::When) {
        self(self, command.commands);
        self(self, command.otherwise);
      }
    }
  };
  collectTraces(collectTraces, *entry_);
  if (status.failed())
    return status.within("trace");
  return points;
}

} // namespace k2rt
