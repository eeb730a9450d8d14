//===- Options.cpp - The command line of k2-run ---------------------------===//
#include "tools/k2-run/Options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <numeric>

using namespace k2rt;

namespace k2run {

namespace {
Expected<std::vector<int64_t>> parseSteps(const std::string &text) {
  std::vector<int64_t> steps;
  const char *at = text.data(), *end = at + text.size();
  while (true) {
    int64_t step = 0;
    auto [next, error] = std::from_chars(at, end, step);
    if (error != std::errc() || step < 0 || (next != end && *next != ','))
      return Status::input(
          "--steps: expected numbers of columns such as 21,1,1, but got '" +
          text + "'");
    steps.push_back(step);
    if (next == end)
      return steps;
    at = next + 1;
  }
}
} // namespace

Expected<std::optional<Options>> parseOptions(int argc, char **argv) {
  Options options;
  std::string steps, generate;
  bool checkWeights = false;
  CLI::App app("Runs an artifact of k2c on a checkpoint: ids or x0 in, logits "
               "and hidden states out.",
               "k2-run");
  app.add_option("ART", options.artifact, "folder that k2c wrote")->required();
  app.add_option("--weights", options.weights,
                 "folder with the checkpoint's safetensors files")
      ->required();
  app.add_option("--input", options.input,
                 "safetensors file: input_ids or x0, optional attention_mask, "
                 "position_ids, mask, rope_cos, rope_sin")
      ->required();
  app.add_option("--output", options.output, "safetensors file to write")
      ->required();
  app.add_option("--device", options.device, "sim (default), cuda or cuda:N");
  CLI::Option *stepsOption = app.add_option(
      "--steps", steps, "columns of successive steps over the cache: 21,1,1");
  app.add_flag("--trace", options.trace,
               "also write x.<l> and the routers' choices")
      ->disable_flag_override();
  app.add_flag("--logits", options.logits, "write logits when x0 came in")
      ->disable_flag_override();
  app.add_flag("--stats{-}", options.stats,
               "figures of the run as JSON, to stdout or =FILE");
  CLI::Option *generateOption = app.add_option(
      "--generate", generate,
      "continue every row greedily by that many tokens: generated_ids");
  app.add_flag("--poison", options.poison,
               "fill memory that nothing may read with NaN; same results")
      ->disable_flag_override();
  app.add_flag("--check-weights", checkWeights, "not supported yet")
      ->disable_flag_override();
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp &) {
    std::fputs(app.help().c_str(), stdout);
    return std::optional<Options>();
  } catch (const CLI::ParseError &error) {
    std::string text = error.what();
    if (size_t at = text.find(" was given a disallowed flag override");
        at != std::string::npos)
      text = "--" + text.substr(0, at) + ": expected no value, but got one";
    return Status::input(text);
  }
  if (const char *memory = std::getenv("K2RT_STEP_MEMORY"))
    options.arena = std::string(memory) == "arena";
  if (const char *rows = std::getenv("K2RT_LOGIT_ROWS"))
    options.logitRows = std::max(std::strtoll(rows, nullptr, 10), 1LL);
  if (generateOption->count()) {
    int64_t count = -1;
    const char *end = generate.data() + generate.size();
    auto [next, error] = std::from_chars(generate.data(), end, count);
    if (error != std::errc() || next != end || count < 0 || count > INT32_MAX)
      return Status::input(
          "--generate: expected a number of tokens, but got '" + generate +
          "'");
    options.generate = count;
  }
  if (checkWeights)
    return Status::input("--check-weights: not supported yet");
  if (options.weights.starts_with("synthetic:"))
    return Status::input("--weights=synthetic: not supported yet");
  if (stepsOption->count()) {
    Expected<std::vector<int64_t>> parsed = parseSteps(steps);
    if (!parsed)
      return parsed.status();
    options.steps = std::move(*parsed);
  }
  return std::optional<Options>(std::move(options));
}

Expected<std::vector<int64_t>> stepColumns(const Options &options,
                                           int64_t columns) {
  if (!options.steps)
    return std::vector<int64_t>{columns};
  int64_t sum = 0;
  for (int64_t step : *options.steps)
    if (__builtin_add_overflow(sum, step, &sum))
      sum = INT64_MAX;
  if (sum != columns)
    return Status::input("--steps: expected steps that add up to the " +
                         std::to_string(columns) +
                         " columns of the input, but got " +
                         std::to_string(sum));
  return *options.steps;
}

} // namespace k2run
