//===- Generate.cpp - Greedy continuation of every row --------------------===//
#include "tools/k2-run/Generate.h"

#include <fmt/format.h>

using namespace k2rt;

namespace k2run {

namespace {
/// Position of a row's last token. Precondition: it has one.
int64_t lastPosition(const RunInput &input, int64_t row) {
  int64_t column = input.columns - 1;
  while (!input.isReal(row, column))
    --column;
  return input.positions[row * input.columns + column];
}
} // namespace

int64_t argmax(std::span<const float> values) {
  int64_t best = -1;
  for (size_t i = 0; i < values.size(); ++i)
    if (best < 0 ? values[i] == values[i] : values[i] > values[best])
      best = static_cast<int64_t>(i);
  return std::max<int64_t>(best, 0);
}

Status checkGenerate(const RunInput &input, const ModelFacts &model,
                     int64_t count) {
  const char *surplus = input.fromX0             ? "x0"
                        : !input.mask.empty()    ? "mask"
                        : !input.ropeCos.empty() ? "rope_cos"
                                                 : nullptr;
  if (surplus)
    return Status::input(fmt::format("--generate: expected input_ids without "
                                     "mask and rope tables, but got {}",
                                     surplus));
  std::vector<int64_t> lengths = input.lengths();
  for (int64_t row = 0; row < input.rows; ++row) {
    if (lengths[row] == 0)
      return Status::input(fmt::format(
          "--generate: expected a token to continue in every row, but got none "
          "in row {}",
          row));
    // A row's tokens may be fewer than its positions, or more.
    int64_t used = std::max(lengths[row], lastPosition(input, row) + 1);
    if (count > model.maxPositions - used)
      return Status::input(fmt::format(
          "--generate: expected at most {} positions (max_position_embeddings) "
          "of a row, but got {} and {} more in row {}",
          model.maxPositions, used, count, row));
  }
  return Status();
}

Expected<std::vector<int64_t>> generate(Executor &executor,
                                        const RunInput &input,
                                        std::vector<int32_t> next,
                                        int64_t count, int64_t logitRows) {
  std::vector<int64_t> ids(static_cast<size_t>(input.rows * count));
  StepRequest request;
  request.lengths.assign(static_cast<size_t>(input.rows), 1);
  for (int64_t row = 0; row < input.rows; ++row)
    request.positions.push_back(static_cast<int32_t>(lastPosition(input, row)));
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t row = 0; row < input.rows; ++row)
      ids[row * count + i] = next[row];
    if (i + 1 == count || input.rows == 0)
      break;
    request.tokenIds = next;
    for (int32_t &position : request.positions)
      ++position;
    if (Status s = executor.step(request); s.failed())
      return s;
    for (int64_t first = 0; first < input.rows; first += logitRows) {
      int64_t rows = std::min(logitRows, input.rows - first);
      Expected<HostArray> logits = executor.logits(first, rows);
      if (!logits)
        return logits.status();
      std::vector<float> values = logits->floats();
      size_t width = values.size() / static_cast<size_t>(rows);
      for (int64_t row = 0; row < rows; ++row)
        next[first + row] = static_cast<int32_t>(
            argmax(std::span(values).subspan(row * width, width)));
    }
  }
  return ids;
}

} // namespace k2run
