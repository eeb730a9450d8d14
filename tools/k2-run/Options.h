//===- Options.h - The command line of k2-run -------------------*- C++ -*-===//
#ifndef TOOLS_K2_RUN_OPTIONS_H
#define TOOLS_K2_RUN_OPTIONS_H

#include "k2rt/Status.h"

#include <optional>
#include <vector>

namespace k2run {

struct Options {
  std::string artifact, weights, input, output;
  std::string device = "sim";
  std::optional<std::vector<int64_t>> steps;
  bool trace = false, logits = false;
  std::string stats; ///< empty: none; "-": stdout
  /// Buffers of a step share memory by lifetime, as on a GPU, on any device:
  /// the environment variable K2RT_STEP_MEMORY is `arena`. For tests.
  bool arena = false;
};

/// Options, or nothing when help was asked for and printed.
k2rt::Expected<std::optional<Options>> parseOptions(int argc, char **argv);

/// Columns of every step: those of --steps, else all at once.
k2rt::Expected<std::vector<int64_t>> stepColumns(const Options &options,
                                                 int64_t columns);

} // namespace k2run

#endif // TOOLS_K2_RUN_OPTIONS_H
