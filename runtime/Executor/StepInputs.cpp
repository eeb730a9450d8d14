//===- StepInputs.cpp - The arrays of one step ----------------------------===//
#include "runtime/Executor/StepInputs.h"

#include "runtime/Executor/Rope.h"

#include <algorithm>
#include <fmt/format.h>

namespace k2rt {

namespace {
Status checkSize(const char *what, size_t got, int64_t wanted) {
  if (static_cast<int64_t>(got) == wanted)
    return Status();
  return Status::input(
      fmt::format("{}: expected {} values, but got {}", what, wanted, got));
}

Status checkRequest(const ModelFacts &model, const StepRequest &request,
                    int64_t tokens) {
  if (Status s = checkSize("positions", request.positions.size(), tokens);
      s.failed())
    return s;
  bool ids = !request.tokenIds.empty() || request.x0.empty();
  if (Status s =
          ids ? checkSize("token ids", request.tokenIds.size(), tokens)
              : checkSize("x0", request.x0.size(), tokens * model.hiddenSize);
      s.failed())
    return s;
  for (int32_t id : request.tokenIds)
    if (id < 0 || id >= model.vocabSize)
      return Status::input(
          fmt::format("input_ids: expected ids from 0 to {}, but got {}",
                      model.vocabSize - 1, id));
  for (int32_t position : request.positions)
    if (position < 0 || position >= model.maxPositions)
      return Status::input(
          fmt::format("position_ids: expected positions from 0 to {} "
                      "(max_position_embeddings - 1), but got {}",
                      model.maxPositions - 1, position));
  int64_t angles = tokens * (model.ropeHeadDim / 2);
  if (request.ropeCos.empty() && request.ropeSin.empty())
    return Status();
  if (Status s = checkSize("rope_cos", request.ropeCos.size(), angles);
      s.failed())
    return s;
  return checkSize("rope_sin", request.ropeSin.size(), angles);
}
} // namespace

Expected<StepInputs> makeStepInputs(const ModelFacts &model,
                                    const StepRequest &request,
                                    PageTable &pages) {
  if (Status s = pages.canAppend(request.lengths); s.failed())
    return s;
  StepInputs inputs;
  inputs.sequences = pages.sequences();
  inputs.seqStart.push_back(0);
  for (int64_t b = 0; b < inputs.sequences; ++b) {
    int64_t past = pages.length(b), count = request.lengths[b];
    inputs.tokens += count;
    if (inputs.tokens > INT32_MAX)
      return Status::input("expected fewer than 2^31 tokens in a step");
    inputs.longest = std::max(inputs.longest, past + count);
    inputs.pastLen.push_back(static_cast<int32_t>(past));
    inputs.seqStart.push_back(static_cast<int32_t>(inputs.tokens));
  }
  if (Status s = checkRequest(model, request, inputs.tokens); s.failed())
    return s;
  if (!request.mask.empty())
    if (Status s = checkSize("mask", request.mask.size(),
                             inputs.tokens * inputs.longest);
        s.failed())
      return s;
  inputs.tokenIds = request.tokenIds;
  inputs.positions = request.positions;
  inputs.ropeCos = request.ropeCos;
  inputs.ropeSin = request.ropeSin;
  if (inputs.ropeCos.empty())
    makeRopeTables(inputs.positions, model.inverseFrequencies, model.ropeScale,
                   inputs.ropeCos, inputs.ropeSin);
  Expected<std::vector<int32_t>> slots = pages.append(request.lengths);
  if (!slots)
    return slots.status();
  inputs.slot = std::move(*slots);
  return inputs;
}

std::vector<int32_t> makeBlockTable(const PageTable &pages, int64_t width,
                                    int32_t none) {
  std::vector<int32_t> table(static_cast<size_t>(pages.sequences() * width),
                             none);
  for (int64_t b = 0; b < pages.sequences(); ++b) {
    const std::vector<int32_t> &own = pages.pagesOf(b);
    std::copy_n(own.begin(), std::min<int64_t>(own.size(), width),
                table.begin() + b * width);
  }
  return table;
}

Expected<std::vector<float>> widenMask(const std::vector<float> &mask,
                                       int64_t rows, int64_t width,
                                       float filler) {
  int64_t columns = static_cast<int64_t>(mask.size()) / rows;
  if (width < columns)
    return Status::input(
        fmt::format("buffer 'mask': expected rows of at least {} keys, but got "
                    "{}",
                    columns, width));
  std::vector<float> wide(static_cast<size_t>(rows * width), filler);
  for (int64_t row = 0; row < rows; ++row)
    std::copy_n(mask.begin() + row * columns, columns,
                wide.begin() + row * width);
  return wide;
}

Expected<std::vector<int32_t>>
makeQueryTiles(const Worklist &list, const std::vector<int32_t> &seqStart) {
  // Flat rows are numbered with 32 bits.
  if (seqStart.back() > INT32_MAX / list.rowsPerToken)
    return Status::input(fmt::format(
        "work list '{}': expected at most {} tokens in a step ({} rows each), "
        "but got {}",
        list.name, INT32_MAX / list.rowsPerToken, list.rowsPerToken,
        seqStart.back()));
  std::vector<int32_t> tiles;
  for (size_t b = 0; b + 1 < seqStart.size(); ++b) {
    int64_t first = seqStart[b] * list.rowsPerToken;
    int64_t end = seqStart[b + 1] * list.rowsPerToken;
    for (int64_t row = first; row < end; row += list.rows) {
      tiles.push_back(static_cast<int32_t>(b));
      tiles.push_back(static_cast<int32_t>(row));
    }
  }
  return tiles;
}

} // namespace k2rt
