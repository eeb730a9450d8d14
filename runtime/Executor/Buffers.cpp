//===- Buffers.cpp - The named device memory of a run ---------------------===//
#include "runtime/Executor/Buffers.h"

#include "runtime/Checkpoint/Convert.h"

#include <cstring>
#include <fmt/format.h>

namespace k2rt {

std::vector<float> HostArray::floats() const {
  std::vector<float> values(bytes.size() /
                            static_cast<size_t>(elementTypeSize(dtype)));
  widenToFloat(dtype == ElementType::BF16 ? DType::BF16 : DType::F32,
               bytes.data(), values);
  return values;
}

std::optional<size_t> findNonFinite(const HostArray &values) {
  // The exponent is all ones, in bf16 as in the upper half of f32.
  size_t size = static_cast<size_t>(elementTypeSize(values.dtype));
  for (size_t at = 0; at + size <= values.bytes.size(); at += size) {
    uint32_t bits = 0;
    std::memcpy(reinterpret_cast<std::byte *>(&bits) + (4 - size),
                values.bytes.data() + at, size);
    bool written = size == 2 ? bits != 0xffff0000 : bits != 0xffffffff;
    if ((bits & 0x7f800000) == 0x7f800000 && written)
      return at / size;
  }
  return std::nullopt;
}

void Buffers::leaveOut(std::set<int> buffers) {
  left_ = std::move(buffers);
  for (int buffer : left_)
    states_[buffer] = State();
}

Expected<Buffers::State> Buffers::layOut(const Buffer &buffer,
                                         const Symbols &symbols) const {
  State state;
  for (const Expr &dim : buffer.shape) {
    Expected<int64_t> extent = dim.evaluate(symbols);
    if (!extent)
      return extent.status().within("buffer '" + buffer.name + "'");
    if (*extent < 0)
      return Status::input(fmt::format(
          "buffer '{}': expected extents of at least 0, but got {} = {}",
          buffer.name, dim.str(), *extent));
    state.shape.push_back(*extent);
  }
  int64_t size = elementTypeSize(buffer.dtype), bytes = 0;
  state.rows = 1;
  bool overflow = false;
  for (size_t i = 0; i + 1 < state.shape.size(); ++i)
    overflow |= __builtin_mul_overflow(state.rows, state.shape[i], &state.rows);
  overflow |= __builtin_mul_overflow(state.shape.back(), size, &state.rowBytes);
  state.strideBytes =
      buffer.rowStride ? *buffer.rowStride * size : state.rowBytes;
  overflow |= __builtin_mul_overflow(state.rows, state.strideBytes, &bytes);
  if (overflow)
    return Status::input(fmt::format(
        "buffer '{}': expected a size of 64 bits, but got more", buffer.name));
  state.bytes = static_cast<size_t>(bytes);
  return state;
}

/// Gives `wanted` the buffer's old memory if it fits, else new memory.
Status Buffers::prepareOwn(int index, State &wanted) {
  DeviceMemory &old = states_[index].memory;
  bool fits = old.pointer() != 0 &&
              (device_->checksBounds() ? old.bytes() == wanted.bytes
                                       : old.bytes() >= wanted.bytes);
  if (!fits) {
    old = DeviceMemory(); // freed before its successor is taken
    Expected<DeviceMemory> memory =
        device_->allocate(wanted.bytes, manifest_->buffers[index].name);
    if (!memory)
      return memory.status();
    old = std::move(*memory);
  }
  wanted.memory = std::move(old);
  wanted.pointer = wanted.memory.pointer();
  return Status();
}

Status Buffers::prepareArena(const Symbols &symbols) {
  std::vector<int> indices;
  std::vector<uint64_t> bytes;
  std::vector<Lifetime> lives;
  for (int index : used_) {
    if (manifest_->buffers[index].cls != BufferClass::Step)
      continue;
    Expected<State> wanted = layOut(manifest_->buffers[index], symbols);
    if (!wanted)
      return wanted.status();
    indices.push_back(index);
    bytes.push_back(wanted->bytes);
    lives.push_back(lifetimes_[index]);
    states_[index] = std::move(*wanted);
  }
  ArenaPlan plan = planArena(bytes, lives);
  arenaBytes_ = plan.bytes;
  if (arena_.pointer() == 0 || arena_.bytes() < plan.bytes) {
    arena_ = DeviceMemory();
    Expected<DeviceMemory> memory = device_->allocate(plan.bytes, "step arena");
    if (!memory)
      return memory.status();
    arena_ = std::move(*memory);
  }
  for (size_t i = 0; i < indices.size(); ++i)
    states_[indices[i]].pointer = arena_.pointer() + plan.offsets[i];
  return stepFill_ ? device_->fill(arena_.pointer(), *stepFill_, plan.bytes)
                   : Status();
}

Status Buffers::fillPersistent(int index) {
  bool cache = manifest_->buffers[index].name == "latent_cache";
  return device_->fill(pointer(index), cache && poisoned_ ? kPoison : 0,
                       states_[index].bytes);
}

Status Buffers::lend(int buffer, const Symbols &symbols, DevicePtr memory) {
  Expected<State> state = layOut(manifest_->buffers[buffer], symbols);
  if (!state)
    return state.status();
  states_[buffer] = std::move(*state);
  states_[buffer].pointer = memory;
  return Status();
}

Status Buffers::prepare(BufferClass cls, const Symbols &symbols) {
  if (cls == BufferClass::Step && !lifetimes_.empty())
    return prepareArena(symbols);
  for (int index : used_) {
    if (manifest_->buffers[index].cls != cls || left_.count(index) != 0)
      continue;
    Expected<State> wanted = layOut(manifest_->buffers[index], symbols);
    if (!wanted)
      return wanted.status();
    if (Status s = prepareOwn(index, *wanted); s.failed())
      return s;
    states_[index] = std::move(*wanted);
    Status filled;
    if (cls == BufferClass::Persistent)
      filled = fillPersistent(index);
    else if (cls == BufferClass::Step && stepFill_)
      filled = device_->fill(pointer(index), *stepFill_, states_[index].bytes);
    if (filled.failed())
      return filled;
  }
  return Status();
}

DevicePtr Buffers::pointer(int buffer) const { return states_[buffer].pointer; }

Expected<DevicePtr> Buffers::at(int buffer, int64_t index) const {
  const State &state = states_[buffer];
  if (index < 0 || index >= state.shape[0])
    return Status::input(
        fmt::format("buffer '{}': expected an index below {}, but got {}",
                    manifest_->buffers[buffer].name, state.shape[0], index));
  return state.pointer +
         static_cast<uint64_t>(index) * (state.bytes / state.shape[0]);
}

Status Buffers::upload(int buffer, std::span<const std::byte> data) {
  const State &state = states_[buffer];
  if (static_cast<int64_t>(data.size()) != state.rows * state.rowBytes)
    return Status::input(fmt::format(
        "buffer '{}': expected the shape {} of the manifest to hold {} bytes, "
        "but got {}",
        manifest_->buffers[buffer].name, shapeString(state.shape), data.size(),
        state.rows * state.rowBytes));
  if (state.strideBytes == state.rowBytes)
    return device_->copyToDevice(state.pointer, data.data(), data.size());
  std::vector<std::byte> staging(state.bytes,
                                 std::byte{poisoned_ ? kPoison : uint8_t(0)});
  for (int64_t row = 0; row < state.rows; ++row)
    std::memcpy(staging.data() + row * state.strideBytes,
                data.data() + row * state.rowBytes,
                static_cast<size_t>(state.rowBytes));
  return device_->copyToDevice(state.pointer, staging.data(), staging.size());
}

Expected<HostArray> Buffers::download(int buffer) const {
  const State &state = states_[buffer];
  HostArray array;
  array.dtype = manifest_->buffers[buffer].dtype;
  array.shape = state.shape;
  std::vector<std::byte> padded(state.bytes);
  if (Status s = device_->copyToHost(padded.data(), state.pointer, state.bytes);
      s.failed())
    return s;
  if (state.strideBytes == state.rowBytes) {
    array.bytes = std::move(padded);
    return array;
  }
  array.bytes.resize(static_cast<size_t>(state.rows * state.rowBytes));
  for (int64_t row = 0; row < state.rows; ++row)
    std::memcpy(array.bytes.data() + row * state.rowBytes,
                padded.data() + row * state.strideBytes,
                static_cast<size_t>(state.rowBytes));
  return array;
}

Status Buffers::zero(int buffer) {
  return device_->fill(pointer(buffer), 0, states_[buffer].bytes);
}

Status Buffers::copy(int from, int to) {
  if (states_[from].bytes != states_[to].bytes)
    return Status::input(fmt::format(
        "copy: expected buffers of one size, but got '{}' of {} and '{}' of {} "
        "bytes",
        manifest_->buffers[from].name, states_[from].bytes,
        manifest_->buffers[to].name, states_[to].bytes));
  return device_->copyOnDevice(pointer(to), pointer(from), states_[from].bytes);
}

uint64_t Buffers::bytesOf(BufferClass cls) const {
  if (cls == BufferClass::Step && !lifetimes_.empty())
    return arenaBytes_;
  uint64_t bytes = 0;
  for (int index : used_)
    if (manifest_->buffers[index].cls == cls)
      bytes += states_[index].bytes;
  return bytes;
}

} // namespace k2rt
