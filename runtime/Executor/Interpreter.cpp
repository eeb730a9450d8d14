//===- Interpreter.cpp - The commands of an entry -------------------------===//
#include "runtime/Executor/Executor.h"

#include <cstring>
#include <fmt/format.h>

namespace k2rt {

Status Executor::run(const std::vector<Command> &commands,
                     const TraceSink &trace) {
  for (const Command &command : commands)
    if (Status s = runOne(command, trace); s.failed())
      return s;
  return Status();
}

Status Executor::runOne(const Command &command, const TraceSink &trace) {
  switch (command.op) {
  case CommandOp::Launch:
    return launch(command).within(
        "kernel '" + manifest().kernels[command.target].name + "'");
  case CommandOp::Layers:
    for (int64_t layer = command.from; layer < command.to; ++layer) {
      symbols_["layer"] = layer;
      if (Status s = run(command.commands, trace); s.failed())
        return s.within(fmt::format("layer {}", layer));
    }
    symbols_.erase("layer");
    return Status();
  case CommandOp::When: {
    Expected<int64_t> condition = command.expr.evaluate(symbols_);
    if (!condition)
      return condition.status().within("when");
    return run(*condition ? command.commands : command.otherwise, trace);
  }
  case CommandOp::MakeWorklist:
    return program_->buffers.upload(
        manifest().worklists[command.target].buffer,
        std::as_bytes(std::span(lists_[command.target])));
  case CommandOp::Copy:
    return program_->buffers.copy(command.target, command.target2);
  case CommandOp::Zero:
    return program_->buffers.zero(command.target);
  case CommandOp::Require:
    return Status(); // every expert is resident
  case CommandOp::Trace: {
    if (!trace)
      return Status();
    Expected<int64_t> layer = command.expr.evaluate(symbols_);
    if (!layer)
      return layer.status().within("trace");
    Expected<HostArray> value = program_->buffers.download(command.target);
    if (!value)
      return value.status().within("trace");
    return trace({command.name, *layer, command.target}, *value);
  }
  }
  return Status();
}

/// Writes the value of an argument into an 8-byte slot.
Status Executor::bindArgument(const LaunchArg &arg, uint64_t &slot) {
  switch (arg.kind) {
  case LaunchArg::BufferRef: {
    slot = program_->buffers.pointer(arg.target);
    if (!arg.index)
      return Status();
    Expected<int64_t> index = arg.index->evaluate(symbols_);
    if (!index)
      return index.status();
    Expected<DevicePtr> pointer = program_->buffers.at(arg.target, *index);
    if (!pointer)
      return pointer.status();
    slot = *pointer;
    return Status();
  }
  case LaunchArg::ParamRef:
    slot = weights_->pool(arg.target,
                          manifest().params[arg.target].per == Per::Model
                              ? 0
                              : symbols_["layer"]);
    return Status();
  case LaunchArg::Integer: {
    Expected<int64_t> value = arg.value.evaluate(symbols_);
    if (!value)
      return value.status();
    if (*value < INT32_MIN || *value > INT32_MAX)
      return Status::input(
          fmt::format("expected an i32 argument, but got {} = {}",
                      arg.value.str(), *value));
    int32_t narrow = static_cast<int32_t>(*value);
    std::memcpy(&slot, &narrow, sizeof(narrow));
    return Status();
  }
  case LaunchArg::Float:
    std::memcpy(&slot, &arg.number, sizeof(arg.number));
    return Status();
  }
  return Status();
}

Status Executor::launch(const Command &command) {
  const KernelInfo &kernel = manifest().kernels[command.target];
  LaunchConfig config{};
  for (int i = 0; i < 3; ++i) {
    Expected<int64_t> extent = command.grid[i].evaluate(symbols_);
    if (!extent)
      return extent.status();
    // Steps without tokens launch nothing, and others leave no kernel out.
    if (*extent < 1 || *extent > kGridLimit[i])
      return Status::input(fmt::format(
          "grid[{}]: expected an extent from 1 to {}, but got {} = {}", i,
          kGridLimit[i], command.grid[i].str(), *extent));
    config.grid[i] = static_cast<uint32_t>(*extent);
    config.cluster[i] = static_cast<uint32_t>(kernel.cluster[i]);
    config.block[i] = 1;
  }
  config.block[0] = static_cast<uint32_t>(kernel.block);
  config.sharedBytes = static_cast<uint32_t>(kernel.sharedBytes);
  config.programmatic = command.programmatic;
  config.registers = static_cast<uint32_t>(kernel.registers);

  std::vector<uint64_t> slots(command.args.size());
  std::vector<void *> params;
  for (size_t i = 0; i < slots.size(); ++i) {
    if (Status s = bindArgument(command.args[i], slots[i]); s.failed())
      return s.within("argument '" + kernel.args[i].name + "'");
    params.push_back(&slots[i]);
  }
  KernelStats &stats = kernelStats_[command.target];
  ++stats.launches;
  ++stepStats_.back().launches;
  Status status =
      device_->launch(kernels_.function(command.target), config, params.data());
  device_->takeCounters(stats.counters);
  return status.ok() && watching_ ? watch(command) : status;
}

Status Executor::watch(const Command &command) {
  const KernelInfo &kernel = manifest().kernels[command.target];
  for (size_t i = 0; i < command.args.size() && watching_; ++i) {
    int buffer = command.args[i].target;
    if (command.args[i].kind != LaunchArg::BufferRef || !kernel.args[i].writes)
      continue;
    const Buffer &info = manifest().buffers[buffer];
    bool floats =
        info.dtype == ElementType::BF16 || info.dtype == ElementType::F32;
    if (info.cls != BufferClass::Step || !floats)
      continue;
    Expected<HostArray> values = program_->buffers.download(buffer);
    if (!values)
      return values.status();
    std::optional<size_t> at = findNonFinite(*values);
    if (!at)
      continue;
    auto layer = symbols_.find("layer");
    std::string ops;
    for (const std::string &op : kernel.sourceOps)
      ops += (ops.empty() ? " (" : ", ") + op;
    warn(fmt::format("{}kernel '{}'{}: buffer '{}'",
                     layer == symbols_.end()
                         ? ""
                         : fmt::format("layer {}: ", layer->second),
                     kernel.name, ops.empty() ? ops : ops + ")", info.name),
         *values, *at);
  }
  return Status();
}

void Executor::warn(const std::string &where, const HostArray &values,
                    size_t element) {
  watching_ = false, warned_ = true;
  size_t width = static_cast<size_t>(values.shape.back());
  options_.warning(fmt::format(
      "{}: expected finite values, but got {} first in row {}, column {}",
      where, values.floats()[element], element / width, element % width));
}

} // namespace k2rt
