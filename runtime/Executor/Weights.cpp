//===- Weights.cpp - Checkpoint tensors in their final layout -------------===//
#include "runtime/Executor/Weights.h"

#include "runtime/Checkpoint/Convert.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstring>
#include <fmt/format.h>

namespace k2rt {

namespace {
constexpr int64_t kStagingBytes = int64_t(8) << 20;

/// One part of one instance (layer, expert) of a param, found and checked.
struct Placement {
  const Param *param;
  const Part *part;
  const TensorView *tensor;
  int paramIndex;
  int64_t layer, expert;
};

std::string fill(std::string pattern, const char *key, int64_t value) {
  if (size_t at = pattern.find(key); at != std::string::npos)
    pattern.replace(at, std::strlen(key), std::to_string(value));
  return pattern;
}

/// Bytes from one row to the next, and of one instance.
int64_t strideBytes(const Param &param) {
  return param.rowStride * elementTypeSize(param.dtype);
}
int64_t instanceBytes(const Param &param) {
  return param.rows() * strideBytes(param);
}

/// The type the artifact was compiled for; f32 also takes what widens exactly.
DType storedType(ElementType type) {
  switch (type) {
  case ElementType::BF16:
    return DType::BF16;
  case ElementType::F8E4M3:
    return DType::F8_E4M3;
  case ElementType::I32:
    return DType::I32;
  case ElementType::F32:
    break;
  }
  return DType::F32;
}

Status checkTensor(const Param &param, const Part &part,
                   const TensorView &tensor) {
  std::vector<int64_t> shape{part.rows};
  if (part.columns)
    shape.push_back(part.columns);
  DType wanted = storedType(param.dtype);
  bool typeFits = tensor.dtype == wanted ||
                  (param.dtype == ElementType::F32 &&
                   (tensor.dtype == DType::BF16 || tensor.dtype == DType::F16));
  if (typeFits && tensor.shape == shape)
    return Status();
  return Status::input(fmt::format(
      "{}: tensor '{}': expected {} for '{}' of the artifact, but got {}{}",
      *tensor.file, tensor.name, typeString(wanted, shape), param.name,
      tensor.type(), typeFits ? "" : ": recompile with k2c FOLDER"));
}

/// A block scale that is not a number would spoil a whole block unseen.
Status checkScales(const TensorView &tensor) {
  Expected<std::vector<float>> values = readFloats(tensor);
  if (!values)
    return values.status();
  for (size_t i = 0; i < values->size(); ++i)
    if (!std::isfinite((*values)[i]))
      return Status::input(
          fmt::format("{}: tensor '{}': expected finite scales, but got {} at "
                      "[{}, {}]",
                      *tensor.file, tensor.name, (*values)[i],
                      i / tensor.shape.back(), i % tensor.shape.back()));
  return Status();
}

/// A weight that is used as it is has no block scale beside it: with one, it
/// would be a quantised weight of another type, or a leftover.
Status checkNoScale(const Param &param, const TensorView &tensor,
                    const std::string &name, const Checkpoint &checkpoint) {
  if (param.dtype == ElementType::F8E4M3 || !name.ends_with(".weight"))
    return Status();
  for (const char *suffix : {"_scale_inv", "_scale"}) {
    Expected<const TensorView *> scale = checkpoint.find(name + suffix);
    if (!scale)
      return scale.status();
    if (*scale)
      return Status::input(fmt::format(
          "{}: tensor '{}': expected no block scale beside {} weights, but got "
          "{}",
          *(*scale)->file, (*scale)->name, dtypeName(tensor.dtype),
          (*scale)->type()));
  }
  return Status();
}

/// The layer of `model.layers.<n>.` names, if `name` is one.
std::optional<int64_t> layerOf(const std::string &name) {
  constexpr std::string_view kStart = "layers.";
  std::string plain = Checkpoint::plainName(name);
  if (!plain.starts_with(kStart))
    return std::nullopt;
  int64_t layer = -1;
  const char *end = plain.data() + plain.size();
  auto [next, error] =
      std::from_chars(plain.data() + kStart.size(), end, layer);
  bool whole = error == std::errc() && next != end && *next == '.';
  return whole ? std::optional(layer) : std::nullopt;
}

/// Checkpoints of the family may hold one layer behind the last, which predicts
/// a further token and is skipped. More layers belong to another model.
Status checkLayers(const ModelFacts &model, const Checkpoint &checkpoint) {
  for (const TensorView *tensor : checkpoint.tensors())
    if (std::optional<int64_t> layer = layerOf(tensor->name);
        layer && *layer > model.numLayers)
      return Status::input(fmt::format(
          "{}: tensor '{}': expected layers 0 to {} (num_hidden_layers {}) and "
          "at most one that predicts a further token, but got layer {}",
          *tensor->file, tensor->name, model.numLayers - 1, model.numLayers,
          *layer));
  return Status();
}

Expected<std::vector<Placement>> place(const Manifest &manifest,
                                       const std::set<int> &used,
                                       const Checkpoint &checkpoint) {
  std::vector<Placement> placements;
  if (Status s = checkLayers(manifest.model, checkpoint); s.failed())
    return s;
  for (int index : used) {
    const Param &param = manifest.params[index];
    int64_t experts = param.per == Per::Expert ? manifest.model.numExperts : 1;
    for (int64_t layer = param.firstLayer; layer < param.endLayer; ++layer)
      for (int64_t expert = 0; expert < experts; ++expert)
        for (const Part &part : param.parts) {
          std::string name =
              fill(fill(part.tensor, "{layer}", layer), "{expert}", expert);
          Expected<const TensorView *> tensor = checkpoint.get(name);
          if (!tensor)
            return tensor.status();
          if (Status s = checkTensor(param, part, **tensor); s.failed())
            return s;
          if (Status s = checkNoScale(param, **tensor, name, checkpoint);
              s.failed())
            return s;
          if ((*tensor)->name.ends_with("_scale_inv"))
            if (Status s = checkScales(**tensor); s.failed())
              return s;
          placements.push_back({&param, &part, *tensor, index, layer, expert});
        }
  }
  return placements;
}

/// True when parts leave rows or row ends uncovered.
bool hasPadding(const Param &param) {
  int64_t covered = 0;
  bool narrow = param.rowStride > param.columns();
  for (const Part &part : param.parts) {
    covered += part.rows;
    narrow |= part.columns != 0 && part.columns < param.rowStride;
  }
  return narrow ||
         covered != (param.shape.size() == 1 ? param.columns() : param.rows());
}

/// Copies a tensor to `to`, row by row into the param's stride.
Status copyPart(const Placement &p, DevicePtr to, Device &device) {
  const Param &param = *p.param;
  const TensorView &tensor = *p.tensor;
  int64_t size = elementTypeSize(param.dtype);
  bool flat = param.shape.size() == 1;
  int64_t columns = flat ? p.part->rows : p.part->columns;
  int64_t rows = flat ? 1 : p.part->rows;
  int64_t stride = flat ? columns * size : strideBytes(param);
  bool same = tensor.dtype == storedType(param.dtype);
  if (same && columns * size == stride)
    return device.copyToDevice(to, tensor.bytes.data(), tensor.bytes.size());

  int64_t sourceRow = columns * static_cast<int64_t>(dtypeSize(tensor.dtype));
  int64_t chunk = std::clamp<int64_t>(kStagingBytes / stride, 1, rows);
  std::vector<std::byte> staging(static_cast<size_t>(chunk * stride));
  std::vector<float> wide(same ? 0 : static_cast<size_t>(columns));
  for (int64_t row = 0; row < rows; row += chunk) {
    int64_t count = std::min(chunk, rows - row);
    for (int64_t i = 0; i < count; ++i) {
      const std::byte *from = tensor.bytes.data() + (row + i) * sourceRow;
      const void *values = from;
      if (!same) {
        widenToFloat(tensor.dtype, from, wide);
        values = wide.data();
      }
      std::memcpy(staging.data() + i * stride, values,
                  static_cast<size_t>(columns * size));
    }
    if (Status s = device.copyToDevice(to + row * stride, staging.data(),
                                       static_cast<size_t>(count * stride));
        s.failed())
      return s;
  }
  return Status();
}
} // namespace

Expected<Weights> Weights::load(const Manifest &manifest,
                                const std::set<int> &used,
                                const Checkpoint &checkpoint, Device &device,
                                LoadStats &stats,
                                const LoadProgress &progress) {
  auto start = std::chrono::steady_clock::now();
  Expected<std::vector<Placement>> placements =
      place(manifest, used, checkpoint);
  if (!placements)
    return placements.status();

  Weights weights;
  for (int index : used) {
    const Param &param = manifest.params[index];
    int64_t experts = param.per == Per::Expert ? manifest.model.numExperts : 1;
    for (int64_t layer = param.firstLayer; layer < param.endLayer; ++layer) {
      size_t bytes = static_cast<size_t>(experts * instanceBytes(param));
      std::string name = param.per == Per::Model
                             ? param.name
                             : fmt::format("{}[{}]", param.name, layer);
      Expected<DeviceMemory> memory = device.allocate(bytes, name);
      if (!memory)
        return memory.status();
      if (hasPadding(param))
        if (Status s = device.fill(memory->pointer(), 0, bytes); s.failed())
          return s;
      stats.deviceBytes += bytes;
      weights.pools_[index].emplace(layer, std::move(*memory));
    }
  }

  uint64_t total = 0, done = 0;
  for (const Placement &p : *placements)
    total += p.tensor->bytes.size();
  for (const Placement &p : *placements) {
    int64_t at = p.param->shape.size() == 1
                     ? p.part->at * elementTypeSize(p.param->dtype)
                     : p.part->at * strideBytes(*p.param);
    DevicePtr to = weights.pool(p.paramIndex, p.layer) +
                   p.expert * instanceBytes(*p.param) + at;
    if (Status s = copyPart(p, to, device); s.failed())
      return s.within("tensor '" + p.tensor->name + "'");
    done += p.tensor->bytes.size();
    if (progress)
      progress(done, total);
  }
  stats.checkpointBytes += total;
  stats.seconds +=
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  return weights;
}

} // namespace k2rt
