//===- k2-run.cpp - Runs an artifact --------------------------------------===//
//
// Exit code 0: done, 1: bad input or usage, 2: device fault. Errors and remarks
// go to stderr.
//
//===----------------------------------------------------------------------===//
#include "runtime/Executor/Executor.h"
#include "tools/k2-run/Options.h"
#include "tools/k2-run/RunInput.h"
#include "tools/k2-run/RunOutput.h"
#include "tools/k2-run/RunStats.h"

#include <chrono>
#include <cstdio>
#include <exception>
#include <fmt/format.h>

using namespace k2rt;
using namespace k2run;

namespace {
void note(const std::string &text) {
  fmt::print(stderr, "k2-run: note: {}\n", text);
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

Status declareOutputs(const Executor &executor, const Options &options,
                      bool logits, RunOutput &output) {
  const Manifest &manifest = executor.manifest();
  auto declare = [&](const char *name, const char *buffer) {
    int index = manifest.findBuffer(buffer);
    if (index < 0)
      return Status::input(fmt::format(
          "{}: expected a buffer '{}' in the manifest, but got none",
          options.artifact, buffer));
    return output.declare(name, manifest, index);
  };
  if (Status s = declare("x_final", "x"); s.failed())
    return s;
  if (logits)
    if (Status s = declare("logits", "logits"); s.failed())
      return s;
  if (options.trace) {
    Expected<std::vector<TracePoint>> points = executor.tracePoints();
    if (!points)
      return points.status();
    for (const TracePoint &point : *points)
      if (Status s = output.declare(RunOutput::traceName(point), manifest,
                                    point.buffer);
          s.failed())
        return s;
  }
  return output.begin();
}

Status runStep(Executor &executor, const RunStep &step, bool trace, bool logits,
               RunOutput &output) {
  TraceSink sink;
  if (trace)
    sink = [&](const TracePoint &point, const HostArray &value) {
      return output.write(RunOutput::traceName(point), value, step.places);
    };
  if (Status s = executor.step(step.request, sink); s.failed())
    return s;
  if (step.places.empty())
    return Status();
  auto write = [&](const char *name, const char *buffer) {
    Expected<HostArray> value = executor.read(buffer);
    return value ? output.write(name, *value, step.places) : value.status();
  };
  if (Status s = write("x_final", "x"); s.failed() || !logits)
    return s;
  return write("logits", "logits");
}

Status run(const Options &options) {
  Expected<Artifact> artifact = Artifact::open(options.artifact);
  if (!artifact)
    return artifact.status();
  const ModelFacts &model = artifact->manifest().model;
  Expected<RunInput> input = readRunInput(options.input, model);
  if (!input)
    return input.status();
  if (input->fromX0 && options.logits)
    return Status::input("--logits: not supported yet when x0 is given");
  Expected<std::vector<int64_t>> columns = stepColumns(options, input->columns);
  if (!columns)
    return columns.status();
  Expected<RunOutput> output = RunOutput::create(options.output, *input);
  if (!output)
    return output.status();
  Expected<Checkpoint> checkpoint = Checkpoint::open(options.weights);
  if (!checkpoint)
    return checkpoint.status();
  Expected<std::unique_ptr<Device>> device = Device::open(options.device);
  if (!device)
    return device.status();

  Expected<std::unique_ptr<Executor>> created = Executor::create(
      *artifact, input->fromX0 ? "stack" : "model", **device, note,
      options.arena ? StepMemory::Arena : StepMemory::Automatic);
  if (!created)
    return created.status();
  Executor &executor = **created;
  if (Status s = executor.bindWeights(*checkpoint, loadProgress()); s.failed())
    return s;
  if (Status s = executor.openCache(input->lengths()); s.failed())
    return s;
  bool logits = !input->fromX0;
  if (Status s = declareOutputs(executor, options, logits, *output); s.failed())
    return s;
  int64_t from = 0;
  for (int64_t count : *columns) {
    RunStep step = cutStep(*input, model, from, from + count);
    if (Status s = runStep(executor, step, options.trace, logits, *output);
        s.failed())
      return s;
    from += count;
  }
  if (!options.stats.empty())
    if (Status s = writeStats(executor, **device, options.stats); s.failed())
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
  } catch (const std::exception &error) {
    // Memory of the host that is not there, for instance.
    std::fputs("k2-run: error: ", stderr);
    std::fputs(error.what(), stderr);
    std::fputs("\n", stderr);
    return 1;
  }
}
