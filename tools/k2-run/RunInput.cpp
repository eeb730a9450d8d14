//===- RunInput.cpp - The tensors that k2-run is given --------------------===//
#include "tools/k2-run/RunInput.h"

#include "runtime/Checkpoint/Convert.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

using namespace k2rt;

namespace k2run {

namespace {
using Shape = std::vector<int64_t>;

/// What is wrong with a tensor, as an error that names it.
Status wrong(const TensorView &tensor, const std::string &wanted) {
  return Status::input(fmt::format("{}: {}: expected {}, but got {}",
                                   *tensor.file, tensor.name, wanted,
                                   tensor.type()));
}

bool isInteger(DType dtype) {
  return dtype == DType::I64 || dtype == DType::I32;
}

Status checkNames(const SafetensorsFile &file) {
  for (const TensorView &tensor : file.tensors()) {
    bool known = false;
    for (const char *name : {"input_ids", "x0", "attention_mask",
                             "position_ids", "mask", "rope_cos", "rope_sin"})
      known |= tensor.name == name;
    if (!known)
      return Status::input(
          fmt::format("{}: expected input_ids or x0, attention_mask, "
                      "position_ids, mask, rope_cos and rope_sin, but got "
                      "'{}'",
                      file.path(), tensor.name));
  }
  return Status();
}

Status readIds(const TensorView &tensor, RunInput &input) {
  if (!isInteger(tensor.dtype) || tensor.shape.size() != 2)
    return wrong(tensor, "I32 or I64 [B, T]");
  input.rows = tensor.shape[0];
  input.columns = tensor.shape[1];
  return Status();
}

/// Ids of padding may be anything; those of tokens must be in the vocabulary.
Status checkIds(const TensorView &tensor, int64_t vocabulary, RunInput &input) {
  Expected<std::vector<int64_t>> ids = readIntegers(tensor);
  if (!ids)
    return ids.status();
  for (size_t i = 0; i < ids->size(); ++i) {
    int64_t id = (*ids)[i];
    bool inside = id >= 0 && id < vocabulary;
    if (input.real[i] && !inside)
      return Status::input(fmt::format(
          "{}: input_ids: expected ids from 0 to {} (vocab_size {}), but got "
          "{} in row {}, column {}",
          *tensor.file, vocabulary - 1, vocabulary, id, i / input.columns,
          i % input.columns));
    input.tokenIds.push_back(inside ? static_cast<int32_t>(id) : 0);
  }
  return Status();
}

Status readX0(const TensorView &tensor, int64_t hidden, RunInput &input) {
  if ((tensor.dtype != DType::F32 && tensor.dtype != DType::BF16) ||
      tensor.shape.size() != 3 || tensor.shape[2] != hidden)
    return wrong(tensor, fmt::format("F32 or BF16 [B, T, {}]", hidden));
  input.fromX0 = true;
  input.rows = tensor.shape[0];
  input.columns = tensor.shape[1];
  Expected<std::vector<float>> values = readFloats(tensor);
  if (!values)
    return values.status();
  for (float value : *values)
    input.x0.push_back(floatToBf16(value));
  return Status();
}

Status readMask(const TensorView *tensor, RunInput &input) {
  input.real.assign(static_cast<size_t>(input.rows * input.columns), 1);
  if (!tensor)
    return Status();
  if ((!isInteger(tensor->dtype) && tensor->dtype != DType::BOOL) ||
      tensor->shape != Shape{input.rows, input.columns})
    return wrong(*tensor, fmt::format("I32, I64 or BOOL [{}, {}]", input.rows,
                                      input.columns));
  Expected<std::vector<int64_t>> values = readIntegers(*tensor);
  if (!values)
    return values.status();
  for (size_t i = 0; i < values->size(); ++i) {
    if ((*values)[i] != 0 && (*values)[i] != 1)
      return Status::input(
          fmt::format("{}: attention_mask: expected 0 or 1, but got {}",
                      *tensor->file, (*values)[i]));
    input.real[i] = static_cast<char>((*values)[i]);
  }
  return Status();
}

Status readPositions(const TensorView *tensor, const ModelFacts &model,
                     RunInput &input) {
  std::vector<int64_t> values;
  if (tensor) {
    if (!isInteger(tensor->dtype) ||
        tensor->shape != Shape{input.rows, input.columns})
      return wrong(*tensor, fmt::format("I32 or I64 [{}, {}]", input.rows,
                                        input.columns));
    Expected<std::vector<int64_t>> given = readIntegers(*tensor);
    if (!given)
      return given.status();
    values = std::move(*given);
  } else {
    for (int64_t row = 0; row < input.rows; ++row)
      for (int64_t column = 0, next = 0; column < input.columns; ++column)
        values.push_back(input.isReal(row, column) ? next++ : 0);
  }
  for (size_t i = 0; i < values.size(); ++i) {
    bool inside = values[i] >= 0 && values[i] < model.maxPositions;
    if (input.real[i] && !inside)
      return Status::input(fmt::format(
          "{}: expected positions from 0 to {} (max_position_embeddings {}), "
          "but got {} in row {}, column {}",
          tensor ? *tensor->file + ": position_ids" : "input_ids",
          model.maxPositions - 1, model.maxPositions, values[i],
          i / input.columns, i % input.columns));
    input.positions.push_back(inside ? static_cast<int32_t>(values[i]) : 0);
  }
  return Status();
}

/// F32 [T, T] or [B, T, T].
Status readAdditive(const TensorView &tensor, RunInput &input) {
  int64_t columns = input.columns;
  input.sharedMask = tensor.shape == Shape{columns, columns};
  if (tensor.dtype != DType::F32 ||
      (!input.sharedMask &&
       tensor.shape != Shape{input.rows, columns, columns}))
    return wrong(tensor, fmt::format("F32 [{1}, {1}] or [{0}, {1}, {1}]",
                                     input.rows, columns));
  Expected<std::vector<float>> values = readFloats(tensor);
  if (!values)
    return values.status();
  input.mask = std::move(*values);
  for (size_t i = 0; i < input.mask.size(); ++i)
    if (!(input.mask[i] < HUGE_VALF))
      return Status::input(fmt::format(
          "{}: mask: expected finite numbers and -inf, but got {} in row {}, "
          "column {}",
          *tensor.file, input.mask[i], i / columns % columns, i % columns));
  return Status();
}

constexpr int64_t kMostRows = 1 << 20;

/// F32 [T, R/2] or [B, T, R/2], as [B, T, R/2].
Status readRope(const TensorView &tensor, int64_t pairs, const RunInput &input,
                std::vector<float> &out) {
  bool shared = tensor.shape == Shape{input.columns, pairs};
  if (tensor.dtype != DType::F32 ||
      (!shared && tensor.shape != Shape{input.rows, input.columns, pairs}))
    return wrong(tensor, fmt::format("F32 [{1}, {2}] or [{0}, {1}, {2}]",
                                     input.rows, input.columns, pairs));
  Expected<std::vector<float>> values = readFloats(tensor);
  if (!values)
    return values.status();
  for (float value : *values)
    if (!std::isfinite(value))
      return Status::input(
          fmt::format("{}: {}: expected finite numbers, but got {}",
                      *tensor.file, tensor.name, value));
  for (int64_t copy = 0; copy < (shared ? input.rows : 1); ++copy)
    out.insert(out.end(), values->begin(), values->end());
  return Status();
}
} // namespace

bool RunInput::padded() const {
  return std::find(real.begin(), real.end(), 0) != real.end();
}

std::vector<int64_t> RunInput::lengths() const {
  std::vector<int64_t> lengths(static_cast<size_t>(rows));
  for (int64_t row = 0; row < rows; ++row)
    lengths[row] = std::count(real.begin() + row * columns,
                              real.begin() + (row + 1) * columns, 1);
  return lengths;
}

Expected<RunInput> readRunInput(const std::string &path,
                                const ModelFacts &model) {
  Expected<std::shared_ptr<SafetensorsFile>> opened =
      SafetensorsFile::open(path);
  if (!opened)
    return opened.status();
  const SafetensorsFile &file = **opened;
  if (Status s = checkNames(file); s.failed())
    return s;
  const TensorView *ids = file.find("input_ids"), *x0 = file.find("x0");
  if (!ids == !x0)
    return Status::input(path + ": expected input_ids or x0, but got " +
                         (ids ? "both" : "none of them"));
  RunInput input;
  if (Status s =
          ids ? readIds(*ids, input) : readX0(*x0, model.hiddenSize, input);
      s.failed())
    return s;
  // Rows without columns cost no byte of the file.
  if (input.rows > kMostRows)
    return wrong(ids ? *ids : *x0, fmt::format("at most {} rows", kMostRows));
  if (Status s = readMask(file.find("attention_mask"), input); s.failed())
    return s;
  if (ids)
    if (Status s = checkIds(*ids, model.vocabSize, input); s.failed())
      return s;
  if (Status s = readPositions(file.find("position_ids"), model, input);
      s.failed())
    return s;

  if (const TensorView *mask = file.find("mask"))
    if (Status s = readAdditive(*mask, input); s.failed())
      return s;

  const TensorView *cos = file.find("rope_cos"), *sin = file.find("rope_sin");
  if (!cos != !sin)
    return Status::input(path + ": expected rope_cos and rope_sin, but got "
                                "one of them only");
  if (cos) {
    int64_t pairs = model.ropeHeadDim / 2;
    if (Status s = readRope(*cos, pairs, input, input.ropeCos); s.failed())
      return s;
    if (Status s = readRope(*sin, pairs, input, input.ropeSin); s.failed())
      return s;
  }
  return input;
}

RunStep cutStep(const RunInput &input, const ModelFacts &model, int64_t from,
                int64_t to) {
  RunStep step;
  StepRequest &request = step.request;
  auto append = [](auto &out, const auto &all, int64_t place, int64_t width) {
    if (!all.empty())
      out.insert(out.end(), all.begin() + place * width,
                 all.begin() + (place + 1) * width);
  };
  auto realIn = [&](int64_t row, int64_t begin, int64_t end) {
    auto first = input.real.begin() + row * input.columns;
    return std::count(first + begin, first + end, 1);
  };
  int64_t longest = 0; // tokens of a row up to the step's end
  for (int64_t row = 0; row < input.rows; ++row)
    longest = std::max(longest, realIn(row, 0, to));
  for (int64_t row = 0; row < input.rows; ++row) {
    int64_t count = 0;
    for (int64_t column = from; column < to; ++column) {
      if (!input.isReal(row, column))
        continue;
      int64_t place = row * input.columns + column;
      ++count;
      step.places.push_back(place);
      append(request.positions, input.positions, place, 1);
      append(request.tokenIds, input.tokenIds, place, 1);
      append(request.x0, input.x0, place, model.hiddenSize);
      append(request.ropeCos, input.ropeCos, place, model.ropeHeadDim / 2);
      append(request.ropeSin, input.ropeSin, place, model.ropeHeadDim / 2);
      if (input.mask.empty())
        continue;
      // Keys of a sequence are its tokens: columns of padding drop out.
      const float *keys = input.maskRow(row, column);
      size_t end = request.mask.size() + static_cast<size_t>(longest);
      for (int64_t key = 0; key < to; ++key)
        if (input.isReal(row, key))
          request.mask.push_back(keys[key]);
      request.mask.resize(end, -HUGE_VALF);
    }
    if (count && realIn(row, to, input.columns) == 0)
      step.ends.emplace_back(static_cast<int64_t>(step.places.size()) - 1, row);
    request.lengths.push_back(count);
  }
  return step;
}

Status checkMask(const RunInput &input, const std::string &path,
                 const std::vector<int64_t> &steps) {
  if (input.mask.empty())
    return Status();
  int64_t from = 0;
  for (int64_t count : steps) {
    int64_t end = from + count;
    for (int64_t row = 0; row < input.rows; ++row)
      for (int64_t column = from; column < end; ++column) {
        const float *keys = input.maskRow(row, column);
        for (int64_t key = end; key < input.columns; ++key)
          if (input.isReal(row, column) && input.isReal(row, key) &&
              keys[key] != -HUGE_VALF)
            return Status::input(fmt::format(
                "{}: mask: expected -inf at and after column {}, where the "
                "step of row {} ends, but got {} in column {}{}",
                path, end, column, keys[key], key,
                input.sharedMask ? "" : fmt::format(" of input row {}", row)));
      }
    from = end;
  }
  return Status();
}

} // namespace k2run
