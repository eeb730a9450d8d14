//===- k2-run.cpp - Runs an artifact --------------------------------------===//
//
// Exit code 0: done, 1: bad input or usage, 2: device fault. Errors and remarks
// go to stderr.
//
//===----------------------------------------------------------------------===//
#include "runtime/Executor/Executor.h"
#include "tools/k2-run/Generate.h"
#include "tools/k2-run/Options.h"
#include "tools/k2-run/RunInput.h"
#include "tools/k2-run/RunOutput.h"
#include "tools/k2-run/RunStats.h"

#include <chrono>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fmt/format.h>

using namespace k2rt;
using namespace k2run;

namespace {
void note(const std::string &text) {
  fmt::print(stderr, "k2-run: note: {}\n", text);
}

void warn(const std::string &text) {
  fmt::print(stderr, "k2-run: warning: {}\n", text);
}

/// Prints how far the weights are, every two seconds.
LoadProgress loadProgress() {
  auto last = std::chrono::steady_clock::now();
  return [last](uint64_t done, uint64_t total) mutable {
    auto now = std::chrono::steady_clock::now();
    if (now - last < std::chrono::seconds(2))
      return;
    last = now;
    fmt::print(stderr, "k2-run: loading weights: {:.1f} of {:.1f} GB\n",
               done / 1e9, total / 1e9);
  };
}

/// What a run of all steps needs.
struct Run {
  const Options &options;
  const RunInput &input;
  Executor &executor;
  RunOutput &output;
  bool logits;
  std::vector<int32_t> next; ///< greedy token after each row
};

Status declareOutputs(Run &run) {
  const Manifest &manifest = run.executor.manifest();
  auto declare = [&](const char *name, const char *buffer) {
    return run.output.declare(name, manifest, manifest.findBuffer(buffer));
  };
  if (Status s = declare("x_final", "x"); s.failed())
    return s;
  if (run.logits)
    if (Status s = declare("logits", "logits"); s.failed())
      return s;
  if (run.options.generate)
    if (Status s = run.output.declareGenerated(*run.options.generate);
        s.failed())
      return s;
  if (run.options.trace) {
    Expected<std::vector<TracePoint>> points = run.executor.tracePoints();
    if (!points)
      return points.status();
    for (const TracePoint &point : *points)
      if (Status s = run.output.declare(RunOutput::traceName(point), manifest,
                                        point.buffer);
          s.failed())
        return s;
  }
  return run.output.begin();
}

/// Logits of a step, some rows at a time; of rows that end the next token too.
Status writeLogits(Run &run, const RunStep &step) {
  int64_t tokens = static_cast<int64_t>(step.places.size());
  auto end = step.ends.begin();
  for (int64_t first = 0; first < tokens; first += run.options.logitRows) {
    int64_t count = std::min(run.options.logitRows, tokens - first);
    Expected<HostArray> logits = run.executor.logits(first, count);
    if (!logits)
      return logits.status();
    if (Status s = run.output.write(
            "logits", *logits, std::span(step.places).subspan(first, count));
        s.failed())
      return s;
    if (!run.options.generate)
      continue;
    std::vector<float> values = logits->floats();
    size_t width = values.size() / static_cast<size_t>(count);
    for (; end != step.ends.end() && end->first < first + count; ++end)
      run.next[end->second] = static_cast<int32_t>(argmax(
          std::span(values).subspan((end->first - first) * width, width)));
  }
  return Status();
}

Status runStep(Run &run, const RunStep &step) {
  TraceSink sink;
  if (run.options.trace)
    sink = [&](const TracePoint &point, const HostArray &value) {
      return run.output.write(RunOutput::traceName(point), value, step.places);
    };
  if (Status s = run.executor.step(step.request, sink); s.failed())
    return s;
  if (step.places.empty())
    return Status();
  Expected<HostArray> hidden = run.executor.hidden();
  if (!hidden)
    return hidden.status();
  if (Status s = run.output.write("x_final", *hidden, step.places); s.failed())
    return s;
  return run.logits ? writeLogits(run, step) : Status();
}

Status runSteps(Run &run, const std::vector<int64_t> &columns) {
  const ModelFacts &model = run.executor.manifest().model;
  int64_t from = 0;
  for (int64_t count : columns) {
    RunStep step = cutStep(run.input, model, from, from + count);
    if (Status s = runStep(run, step); s.failed())
      return s;
    from += count;
  }
  if (!run.options.generate)
    return Status();
  Expected<std::vector<int64_t>> ids =
      generate(run.executor, run.input, run.next, *run.options.generate,
               run.options.logitRows);
  return ids ? run.output.writeGenerated(*ids) : ids.status();
}

/// What the run reads is not written over.
Status checkTargets(const Options &options, const Checkpoint &checkpoint) {
  namespace fs = std::filesystem;
  for (auto [option, path] :
       {std::pair("--output", &options.output), {"--stats", &options.stats}}) {
    std::error_code ec;
    if (checkpoint.reads(*path) || fs::equivalent(*path, options.input, ec) ||
        fs::equivalent(*path, fs::path(options.artifact) / "manifest.json", ec))
      return Status::input(fmt::format(
          "{}: expected a file that the run does not read, but got {}", option,
          *path));
  }
  return Status();
}

Status run(const Options &options) {
  Expected<Artifact> artifact = Artifact::open(options.artifact);
  if (!artifact)
    return artifact.status();
  const ModelFacts &model = artifact->manifest().model;
  Expected<RunInput> input = readRunInput(options.input, model);
  if (!input)
    return input.status();
  Expected<std::vector<int64_t>> columns = stepColumns(options, input->columns);
  if (!columns)
    return columns.status();
  if (Status s = checkMask(*input, options.input, *columns); s.failed())
    return s;
  if (!input->mask.empty() && artifact->manifest().findBuffer("mask") < 0)
    return Status::input(options.artifact +
                         ": expected kernels that take a mask (a buffer "
                         "'mask'), but got none");
  int64_t more = options.generate.value_or(0);
  if (options.generate)
    if (Status s = checkGenerate(*input, model, more); s.failed())
      return s;
  Expected<RunOutput> output = RunOutput::create(options.output, *input);
  if (!output)
    return output.status();
  Expected<Checkpoint> checkpoint = Checkpoint::open(options.weights);
  if (!checkpoint)
    return checkpoint.status();
  if (Status s = checkTargets(options, *checkpoint); s.failed())
    return s;
  Expected<std::unique_ptr<Device>> device = Device::open(options.device);
  if (!device)
    return device.status();

  ExecutorOptions how;
  how.notice = note;
  how.warning = warn;
  how.memory = options.arena ? StepMemory::Arena : StepMemory::Automatic;
  how.head = !input->fromX0 || options.logits;
  how.poison = options.poison;
  Expected<std::unique_ptr<Executor>> executor = Executor::create(
      *artifact, input->fromX0 ? "stack" : "model", **device, how);
  if (!executor)
    return executor.status();
  if (Status s = (*executor)->bindWeights(*checkpoint, loadProgress());
      s.failed())
    return s;
  std::vector<int64_t> capacities = input->lengths();
  for (int64_t &capacity : capacities)
    capacity += more;
  if (Status s = (*executor)->openCache(capacities); s.failed())
    return s;
  Run run{options, *input, **executor, *output, how.head, {}};
  run.next.resize(static_cast<size_t>(input->rows));
  if (Status s = declareOutputs(run); s.failed())
    return s;
  if (Status s = runSteps(run, *columns); s.failed())
    return s;
  if (!options.stats.empty())
    if (Status s = writeStats(**executor, **device, options.stats); s.failed())
      return s;
  return output->commit();
}
} // namespace

int main(int argc, char **argv) {
  try {
    Expected<std::optional<Options>> options = parseOptions(argc, argv);
    Status status = options ? Status() : options.status();
    if (options && *options)
      status = run(**options);
    if (status.ok())
      return 0;
    fmt::print(stderr, "k2-run: error: {}\n", status.message());
    return static_cast<int>(status.code());
  } catch (const std::bad_alloc &) {
    std::fputs("k2-run: error: memory of the host: expected enough for the "
               "run, but got too little\n",
               stderr);
    return 1;
  } catch (const std::exception &error) {
    std::fputs("k2-run: error: ", stderr);
    std::fputs(error.what(), stderr);
    std::fputs("\n", stderr);
    return 1;
  }
}
