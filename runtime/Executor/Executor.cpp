//===- Executor.cpp - Runs the entries of an artifact ---------------------===//
#include "runtime/Executor/Executor.h"

#include "runtime/Executor/EntryUse.h"

#include <cmath>
#include <fmt/format.h>

namespace k2rt {

namespace {
template <typename T>
std::span<const std::byte> bytesOf(const std::vector<T> &values) {
  return std::as_bytes(std::span(values));
}
} // namespace

Executor::Executor(const Artifact &artifact, Program body, Program head,
                   std::set<int> params, Kernels kernels, Device &device,
                   const ExecutorOptions &options)
    : artifact_(&artifact), options_(options), device_(&device),
      usedParams_(std::move(params)), kernels_(std::move(kernels)),
      body_(std::move(body)), head_(std::move(head)),
      x_(artifact.manifest().findBuffer("x")),
      logits_(artifact.manifest().findBuffer("logits")),
      mask_(artifact.manifest().findBuffer("mask")),
      kernelStats_(artifact.manifest().kernels.size()) {
  if (options_.poison) {
    body_.buffers.poison();
    head_.buffers.poison();
  }
}

Expected<std::unique_ptr<Executor>>
Executor::create(const Artifact &artifact, const std::string &entry,
                 Device &device, const ExecutorOptions &options) {
  const Manifest &manifest = artifact.manifest();
  Expected<EntryParts> parts = splitEntry(manifest, entry, options.head);
  if (!parts)
    return parts.status().within(artifact.folder());
  for (const char *name : {"x", "logits"})
    if ((name[0] == 'x' || options.head) && manifest.findBuffer(name) < 0)
      return Status::input(fmt::format("{}: expected a buffer '{}', but got "
                                       "none",
                                       artifact.folder(), name));
  EntryUse body = collectUse(manifest, parts->body);
  EntryUse head = collectUse(manifest, parts->head);
  if (Status s = checkBuffers(manifest, body.buffers); s.failed())
    return s;
  body.kernels.merge(std::set(head.kernels));
  body.params.merge(std::set(head.params));
  Expected<Kernels> kernels =
      Kernels::load(artifact, body.kernels, device, options.notice);
  if (!kernels)
    return kernels.status();

  bool arena =
      options.memory == StepMemory::Arena ||
      (options.memory == StepMemory::Automatic && !device.checksBounds());
  auto program = [&](std::vector<Command> commands, std::set<int> used,
                     const char *result) {
    std::vector<Lifetime> lives;
    if (arena) {
      std::set<int> kept; // read or written by the host
      if (int index = manifest.findBuffer(result); index >= 0)
        kept.insert(index);
      lives = lifetimes(manifest, commands, kept);
    }
    return Program{std::move(commands), Buffers(manifest, std::move(used),
                                                device, std::move(lives))};
  };
  // The head reads x where the body left it.
  if (int x = manifest.findBuffer("x"); x >= 0) {
    head.buffers.erase(x);
    body.buffers.insert(x);
  }
  return std::unique_ptr<Executor>(new Executor(
      artifact, program(std::move(parts->body), std::move(body.buffers), "x"),
      program(std::move(parts->head), std::move(head.buffers), "logits"),
      std::move(body.params), std::move(*kernels), device, options));
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
  // One more page when poisoned: what unused entries of block tables name.
  symbols_["P"] = pages_->pages() + (options_.poison ? 1 : 0);
  if (Status s = body_.buffers.prepare(BufferClass::Persistent, symbols_);
      s.failed())
    return s;
  stepStats_.clear();
  return Status();
}

Status Executor::step(const StepRequest &request, const TraceSink &trace) {
  assert(weights_ && pages_ && "a step needs weights and a cache");
  if (broken_)
    return Status::input("expected no step after one that failed");
  if (!request.mask.empty() && !body_.buffers.names(mask_))
    return Status::input(
        artifact_->folder() +
        ": expected kernels that take a mask (a buffer 'mask'), but got none");
  Expected<StepInputs> inputs =
      makeStepInputs(manifest().model, request, *pages_);
  if (!inputs)
    return inputs.status();
  stepStats_.push_back({inputs->tokens, 0});
  if (inputs->tokens == 0)
    return Status();
  watching_ = trace && options_.warning && !warned_;
  if (watching_ && !options_.poison) {
    // What was never written must not look like a result.
    body_.buffers.fillSteps(0);
    head_.buffers.fillSteps(0);
  }
  Status status = prepareStep(*inputs, request);
  if (status.ok())
    status = run(body_.commands, trace);
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
  symbols_["masked"] = request.mask.empty() ? 0 : 1;
  // A mask is as large as the square of a prompt.
  body_.buffers.leaveOut(request.mask.empty() && mask_ >= 0 ? std::set{mask_}
                                                            : std::set<int>());
  lists_.clear();
  const std::vector<Worklist> &worklists = manifest().worklists;
  for (size_t i = 0; i < worklists.size(); ++i) {
    std::vector<int32_t> &list = lists_[static_cast<int>(i)];
    Expected<std::vector<int32_t>> tiles =
        makeQueryTiles(worklists[i], inputs.seqStart);
    if (!tiles)
      return tiles.status();
    list = std::move(*tiles);
    symbols_["W_" + worklists[i].name] = static_cast<int64_t>(list.size() / 2);
  }
  for (BufferClass cls :
       {BufferClass::Input, BufferClass::Worklist, BufferClass::Step})
    if (Status s = body_.buffers.prepare(cls, symbols_); s.failed())
      return s;
  const std::vector<Buffer> &all = manifest().buffers;
  for (size_t i = 0; i < all.size(); ++i) {
    int index = static_cast<int>(i);
    if (!body_.buffers.used(index))
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
    return body_.buffers.upload(buffer, bytesOf(values));
  };
  if (name == "token_ids")
    return upload(inputs.tokenIds);
  if (name == "x") {
    HostArray x0{ElementType::BF16, body_.buffers.shape(buffer), {}};
    std::span<const std::byte> bytes = bytesOf(request.x0);
    x0.bytes.assign(bytes.begin(), bytes.end());
    if (watching_)
      if (std::optional<size_t> at = findNonFinite(x0))
        warn("x0", x0, *at);
    return upload(request.x0);
  }
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
    return upload(makeBlockTable(
        *pages_, body_.buffers.shape(buffer).back(),
        options_.poison ? static_cast<int32_t>(pages_->pages()) : -1));
  if (name == "mask") {
    Expected<std::vector<float>> mask = widenMask(
        request.mask, inputs.tokens, body_.buffers.shape(buffer).back(),
        options_.poison ? NAN : -HUGE_VALF);
    return mask ? upload(*mask) : mask.status();
  }
  // Every expert is resident, in the slot of its number.
  std::vector<int32_t> identity(
      static_cast<size_t>(manifest().model.numExperts));
  for (size_t e = 0; e < identity.size(); ++e)
    identity[e] = static_cast<int32_t>(e);
  return upload(identity);
}

Expected<HostArray> Executor::hidden() const {
  return body_.buffers.download(x_);
}

Expected<HostArray> Executor::logits(int64_t first, int64_t count) {
  int64_t tokens = stepStats_.empty() ? 0 : stepStats_.back().tokens;
  if (broken_)
    return Status::input("expected no logits after a step that failed");
  if (first < 0 || count < 1 || count > tokens || first > tokens - count)
    return Status::input(
        fmt::format("logits: expected tokens 0 to {} of the step, but got {} "
                    "from {}",
                    tokens, count, first));
  // Expressions of the head count its own rows.
  Symbols outer = std::exchange(symbols_, manifest().model.constants);
  symbols_["T"] = count;
  program_ = &head_;
  Status status = runHead(first);
  program_ = &body_;
  symbols_ = std::move(outer);
  broken_ = status.failed();
  if (status.failed())
    return status;
  return head_.buffers.download(logits_);
}

Status Executor::runHead(int64_t first) {
  Expected<DevicePtr> rows = body_.buffers.at(x_, first);
  if (!rows)
    return rows.status();
  if (Status s = head_.buffers.prepare(BufferClass::Step, symbols_); s.failed())
    return s;
  if (Status s = head_.buffers.lend(x_, symbols_, *rows); s.failed())
    return s;
  if (Status s = run(head_.commands, {}); s.failed())
    return s;
  return device_->synchronize();
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
        else if (*layer < 0 || *layer > manifest().model.numLayers)
          status = Status::input(fmt::format(
              "expected a layer from 0 to {}, but got {} = {}",
              manifest().model.numLayers, command.expr.str(), *layer));
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
  collectTraces(collectTraces, body_.commands);
  if (status.failed())
    return status.within("trace");
  return points;
}

} // namespace k2rt
