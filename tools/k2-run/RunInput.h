//===- RunInput.h - The tensors that k2-run is given ------------*- C++ -*-===//
#ifndef TOOLS_K2_RUN_RUNINPUT_H
#define TOOLS_K2_RUN_RUNINPUT_H

#include "runtime/Artifact/Manifest.h"
#include "runtime/Checkpoint/SafetensorsFile.h"
#include "runtime/Executor/StepInputs.h"

namespace k2run {

/// The whole input, B rows of T columns. Columns that are no token are padding:
/// they never reach the model.
struct RunInput {
  int64_t rows = 0, columns = 0;
  bool fromX0 = false;                 ///< x0 came in, not ids
  std::vector<int32_t> tokenIds;       ///< [B, T], or
  std::vector<uint16_t> x0;            ///< bf16 [B, T, d]
  std::vector<char> real;              ///< [B, T]
  std::vector<int32_t> positions;      ///< [B, T]
  std::vector<float> ropeCos, ropeSin; ///< [B, T, R/2] or empty
  /// [T, T] or [B, T, T], or empty: what is added to the score of a query
  /// column (row) and a key column.
  std::vector<float> mask;
  bool sharedMask = false; ///< [T, T]

  bool isReal(int64_t row, int64_t column) const {
    return real[row * columns + column];
  }
  bool padded() const;
  /// Tokens of every row.
  std::vector<int64_t> lengths() const;
  const float *maskRow(int64_t row, int64_t column) const {
    return mask.data() + ((sharedMask ? 0 : row) * columns + column) * columns;
  }
};

/// Reads IN. Errors name the tensor.
k2rt::Expected<RunInput> readRunInput(const std::string &path,
                                      const k2rt::ModelFacts &model);

/// The tokens of columns [from, to), and where each stands in [B, T].
struct RunStep {
  k2rt::StepRequest request;
  std::vector<int64_t> places; ///< row * columns + column of every token
  /// (token of the step, row) where a row's last token is in the step.
  std::vector<std::pair<int64_t, int64_t>> ends;
};
RunStep cutStep(const RunInput &input, const k2rt::ModelFacts &model,
                int64_t from, int64_t to);

/// A mask must be -inf where a token looks at tokens of later steps; `path` is
/// that of IN, for messages.
k2rt::Status checkMask(const RunInput &input, const std::string &path,
                       const std::vector<int64_t> &steps);

} // namespace k2run

#endif // TOOLS_K2_RUN_RUNINPUT_H
