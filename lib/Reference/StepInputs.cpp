//===- StepInputs.cpp - The rows of a run cut into ragged steps -----------===//

#include "StepInputs.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace k2c::reference {

static std::string shapeText(const std::vector<int64_t> &shape) {
  std::string text;
  for (int64_t extent : shape)
    text += (text.empty() ? "" : ", ") + std::to_string(extent);
  return "[" + text + "]";
}

static llvm::Error refuse(const std::string &name, const std::string &rule,
                          const std::string &fact) {
  return llvm::createStringError("input: " + name + ": expected " + rule +
                                 ", but got " + fact);
}

/// nullptr when the input has no such tensor.
static const HostTensor *find(const HostTensors &input, const char *name) {
  auto found = input.find(name);
  return found == input.end() ? nullptr : &found->second;
}

llvm::Expected<RunInputs> RunInputs::read(const HostTensors &input,
                                          k2::ConfigAttr config,
                                          const std::vector<int64_t> &steps) {
  RunInputs result;
  result.config = config;
  if (llvm::Error error = result.readTokens(input))
    return error;
  if (llvm::Error error = result.readSteps(steps))
    return error;
  if (llvm::Error error = result.readPositions(input))
    return error;
  if (llvm::Error error = result.readRope(input))
    return error;
  if (llvm::Error error = result.readMask(input))
    return error;
  return result;
}

llvm::Error RunInputs::readTokens(const HostTensors &input) {
  const HostTensor *ids = find(input, "input_ids"), *given = find(input, "x0");
  if (!ids == !given)
    return refuse("input_ids", "either input_ids or x0",
                  ids ? "both" : "neither");
  if (ids) {
    if (!ids->isInteger || ids->shape.size() != 2)
      return refuse("input_ids", "integers of shape [B, T]",
                    shapeText(ids->shape));
    hasIds = true;
    tokens = ids->integers;
  } else {
    if (given->isInteger || given->shape.size() != 3 ||
        given->shape[2] != config.getHiddenSize())
      return refuse("x0",
                    "floats of shape [B, T, " +
                        std::to_string(config.getHiddenSize()) + "]",
                    shapeText(given->shape));
    x0 = *given;
  }
  const std::vector<int64_t> &shape = ids ? ids->shape : given->shape;
  rows = shape[0];
  columns = shape[1];
  valid.assign(rows * columns, 1);
  if (const HostTensor *attention = find(input, "attention_mask")) {
    if (!attention->isInteger ||
        attention->shape != std::vector<int64_t>{rows, columns})
      return refuse("attention_mask",
                    "integers of shape " + shapeText({rows, columns}),
                    shapeText(attention->shape));
    for (size_t i = 0; i < valid.size(); ++i) {
      if (attention->integers[i] != 0 && attention->integers[i] != 1)
        return refuse("attention_mask", "0 or 1",
                      std::to_string(attention->integers[i]));
      valid[i] = attention->integers[i];
    }
  }
  for (size_t i = 0; hasIds && i < valid.size(); ++i)
    if (valid[i] && (tokens[i] < 0 || tokens[i] >= config.getVocabSize()))
      return refuse("input_ids",
                    "ids from 0 to " +
                        std::to_string(config.getVocabSize() - 1),
                    std::to_string(tokens[i]));
  return llvm::Error::success();
}

llvm::Error RunInputs::readSteps(const std::vector<int64_t> &given) {
  if (given.empty()) {
    steps = {{0, columns}};
    return llvm::Error::success();
  }
  int64_t at = 0;
  for (int64_t size : given) {
    if (size < 1)
      return refuse("--steps", "steps of at least one column",
                    std::to_string(size));
    steps.emplace_back(at, at + size);
    at += size;
  }
  if (at != columns)
    return refuse("--steps",
                  "steps that add up to T = " + std::to_string(columns),
                  std::to_string(at));
  return llvm::Error::success();
}

llvm::Error RunInputs::readPositions(const HostTensors &input) {
  positions.resize(rows * columns);
  if (const HostTensor *given = find(input, "position_ids")) {
    if (!given->isInteger ||
        given->shape != std::vector<int64_t>{rows, columns})
      return refuse("position_ids",
                    "integers of shape " + shapeText({rows, columns}),
                    shapeText(given->shape));
    positions = given->integers;
  } else {
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t column = 0; column < columns; ++column)
        positions[row * columns + column] = before(row, column);
  }
  for (size_t i = 0; i < positions.size(); ++i)
    if (valid[i] &&
        (positions[i] < 0 || positions[i] >= config.getMaxPositionEmbeddings()))
      return refuse("position_ids",
                    "positions below max_position_embeddings = " +
                        std::to_string(config.getMaxPositionEmbeddings()),
                    std::to_string(positions[i]));
  return llvm::Error::success();
}

llvm::Error RunInputs::readRope(const HostTensors &input) {
  const HostTensor *cos = find(input, "rope_cos"),
                   *sin = find(input, "rope_sin");
  if (!cos != !sin)
    return refuse(cos ? "rope_sin" : "rope_cos",
                  "rope_cos and rope_sin together", "one of them");
  if (!cos)
    return llvm::Error::success();
  int64_t pairs = config.getQkRopeHeadDim() / 2;
  for (auto [name, table] :
       {std::pair("rope_cos", cos), std::pair("rope_sin", sin)})
    if (table->isInteger ||
        (table->shape != std::vector<int64_t>{columns, pairs} &&
         table->shape != std::vector<int64_t>{rows, columns, pairs}))
      return refuse(name,
                    "floats of shape " + shapeText({columns, pairs}) + " or " +
                        shapeText({rows, columns, pairs}),
                    shapeText(table->shape));
  hasRope = true;
  ropeCos = *cos;
  ropeSin = *sin;
  return llvm::Error::success();
}

llvm::Error RunInputs::readMask(const HostTensors &input) {
  const HostTensor *given = find(input, "mask");
  if (!given)
    return llvm::Error::success();
  if (given->isInteger ||
      (given->shape != std::vector<int64_t>{columns, columns} &&
       given->shape != std::vector<int64_t>{rows, columns, columns}))
    return refuse("mask",
                  "floats of shape " + shapeText({columns, columns}) + " or " +
                      shapeText({rows, columns, columns}),
                  shapeText(given->shape));
  hasMask = true;
  mask = *given;
  int64_t copies = mask.shape.size() == 3 ? rows : 1;
  for (auto [from, to] : steps)
    for (int64_t copy = 0; copy < copies; ++copy)
      for (int64_t query = from; query < to; ++query)
        for (int64_t key = to; key < columns; ++key)
          if (mask.floats[(copy * columns + query) * columns + key] !=
              -std::numeric_limits<double>::infinity())
            return refuse("mask",
                          "no key after the step's last column " +
                              std::to_string(to - 1) + " for query " +
                              std::to_string(query),
                          "key " + std::to_string(key));
  return llvm::Error::success();
}

int64_t RunInputs::before(int64_t row, int64_t column) const {
  return std::count(valid.begin() + row * columns,
                    valid.begin() + row * columns + column, 1);
}

int64_t RunInputs::pages() const { return rows * pagesPerRow(); }

std::vector<Place>
RunInputs::places(const std::pair<int64_t, int64_t> &step) const {
  std::vector<Place> result;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = step.first; column < step.second; ++column)
      if (real(row, column))
        result.push_back({row, column});
  return result;
}

template <typename Real>
Batch<Real> RunInputs::batch(const std::pair<int64_t, int64_t> &step) const {
  Batch<Real> batch;
  batch.seqStart = {0};
  batch.blockTable = Integers({rows, pagesPerRow()});
  std::iota(batch.blockTable.data.begin(), batch.blockTable.data.end(), 0);
  for (int64_t row = 0; row < rows; ++row) {
    int64_t past = before(row, step.first), end = before(row, step.second);
    batch.pastLen.push_back(past);
    batch.seqStart.push_back(batch.seqStart.back() + end - past);
    for (int64_t index = past; index < end; ++index)
      batch.slot.push_back(row * pagesPerRow() * pageSize + index);
  }
  if (!hasMask)
    return batch;
  std::vector<Place> queries = places(step);
  batch.mask = TensorOf<Real>({static_cast<int64_t>(queries.size()), columns});
  for (auto [t, query] : llvm::enumerate(queries)) {
    int64_t line =
        ((mask.shape.size() == 3 ? query.row : 0) * columns + query.column) *
        columns;
    int64_t key = 0; // in the cache: padded columns have no key
    for (int64_t column = 0; column < step.second; ++column)
      if (real(query.row, column))
        batch.mask->at(static_cast<int64_t>(t), key++) =
            static_cast<Real>(mask.floats[line + column]);
  }
  return batch;
}

template <typename Real>
TensorOf<Real> RunInputs::embeddings(const std::vector<Place> &places) const {
  int64_t width = config.getHiddenSize();
  TensorOf<Real> x({static_cast<int64_t>(places.size()), width});
  for (auto [t, place] : llvm::enumerate(places))
    std::transform(
        x0.floats.begin() + (place.row * columns + place.column) * width,
        x0.floats.begin() + (place.row * columns + place.column + 1) * width,
        x.row(static_cast<int64_t>(t)),
        [](double value) { return static_cast<Real>(value); });
  return x;
}

Integers RunInputs::ids(const std::vector<Place> &places) const {
  Integers result({static_cast<int64_t>(places.size())});
  for (auto [t, place] : llvm::enumerate(places))
    result.data[t] = hasIds ? tokens[place.row * columns + place.column] : 0;
  return result;
}

template <typename Real>
TensorOf<Real> RunInputs::ropeTable(const std::vector<Place> &places,
                                    bool isSin) const {
  int64_t pairs = config.getQkRopeHeadDim() / 2;
  llvm::ArrayRef<float> invFreq = config.getInvFreq().asArrayRef();
  double multiplier = config.getRopeMultiplier().getValueAsDouble();
  const HostTensor &given = isSin ? ropeSin : ropeCos;
  TensorOf<Real> table({static_cast<int64_t>(places.size()), pairs});
  for (auto [t, place] : llvm::enumerate(places))
    for (int64_t i = 0; i < pairs; ++i) {
      Real &entry = table.at(static_cast<int64_t>(t), i);
      if (hasRope) {
        int64_t line =
            (given.shape.size() == 3 ? place.row * columns : 0) + place.column;
        entry = static_cast<Real>(given.floats[line * pairs + i]);
        continue;
      }
      // The angle is a float32 product, as in the model code.
      float angle =
          static_cast<float>(positions[place.row * columns + place.column]) *
          invFreq[i];
      entry = static_cast<Real>((isSin ? std::sin(static_cast<double>(angle))
                                       : std::cos(static_cast<double>(angle))) *
                                multiplier);
    }
  return table;
}

#define INSTANTIATE(Real)                                                      \
  template Batch<Real> RunInputs::batch(const std::pair<int64_t, int64_t> &)   \
      const;                                                                   \
  template TensorOf<Real> RunInputs::embeddings(const std::vector<Place> &)    \
      const;                                                                   \
  template TensorOf<Real> RunInputs::ropeTable(const std::vector<Place> &,     \
                                               bool) const;
INSTANTIATE(float)
INSTANTIATE(double)
#undef INSTANTIATE

} // namespace k2c::reference
