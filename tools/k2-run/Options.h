//===- Options.h - The command line of k2-run -------------------*- C++ -*-===//
#ifndef TOOLS_K2_RUN_OPTIONS_H
#define TOOLS_K2_RUN_OPTIONS_H

#include "runtime/Executor/Executor.h"

#include <optional>
#include <vector>

namespace k2run {

struct Options {
  std::string artifact, weights, input, output;
  std::string device = "sim";
  std::optional<std::vector<int64_t>> steps;
  std::optional<int64_t> generate; ///< tokens to continue every row by
  bool trace = false, logits = false, poison = false;
  std::string stats; ///< empty: none; "-": stdout
  /// Buffers of a step share memory by lifetime, as on a GPU, on any device:
  /// the environment variable K2RT_STEP_MEMORY is `arena`. For tests.
  bool arena = false;
  /// Rows of logits at a time: the environment variable K2RT_LOGIT_ROWS, for
  /// tests.
  int64_t logitRows = k2rt::kLogitRows;
};

/// Options, or nothing when help was asked for and printed.
k2rt::Expected<std::optional<Options>> parseOptions(int argc, char **argv);

/// Columns of every step: those of --steps, else all at once.
k2rt::Expected<std::vector<int64_t>> stepColumns(const Options &options,
                                                 int64_t columns);

} // namespace k2run

#endif // TOOLS_K2_RUN_OPTIONS_H
