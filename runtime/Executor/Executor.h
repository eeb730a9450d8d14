//===- Executor.h - Runs the entries of an artifact -------------*- C++ -*-===//
//
// One executor is one model on one device with one paged cache. It interprets
// the commands of an entry for a step of new tokens; everything a step needs
// from the step before is in the cache.
//
// The head (what entry `model` does after its last layers, also entry `head`)
// is run apart, on as many rows as the caller wants at a time, so that logits
// of long prompts need no memory for all of them.
//
// Threads: one thread at a time uses an executor and its device. Steps on one
// cache are ordered; a step has ended when step() returns.
//
//===----------------------------------------------------------------------===//
#ifndef RUNTIME_EXECUTOR_EXECUTOR_H
#define RUNTIME_EXECUTOR_EXECUTOR_H

#include "runtime/Executor/Buffers.h"
#include "runtime/Executor/Kernels.h"
#include "runtime/Executor/StepInputs.h"
#include "runtime/Executor/Weights.h"

namespace k2rt {

/// A value that an entry can show: `x` and a layer, for example.
struct TracePoint {
  std::string name; ///< x, router.ids or router.weights
  int64_t layer = 0;
  int buffer = -1;
};

/// Receives the values of trace points as they are computed.
using TraceSink =
    std::function<Status(const TracePoint &point, const HostArray &value)>;

struct KernelStats {
  uint64_t launches = 0;
  LaunchCounters counters;
};

struct StepStats {
  int64_t tokens = 0;
  uint64_t launches = 0;
};

/// A good number of rows for Executor::logits() of long steps.
inline constexpr int64_t kLogitRows = 256;

/// Where the buffers of a step are.
enum class StepMemory {
  Automatic, ///< Own on a device that checks bounds, else Arena
  Own,       ///< each in an allocation of its own
  Arena,     ///< one allocation, shared by lifetime
};

struct ExecutorOptions {
  Notice notice;  ///< for remarks
  Notice warning; ///< for the first value of a traced step that is not finite
  StepMemory memory = StepMemory::Automatic;
  bool head = true;    ///< logits() will be called, where the entry allows it
  bool poison = false; ///< fill what nobody may read with NaN
};

class Executor {
public:
  /// Prepares entry `model` (from ids) or `stack` (from x0): loads its kernels
  /// and resolves its buffers. The artifact and the device must outlive the
  /// executor.
  static Expected<std::unique_ptr<Executor>>
  create(const Artifact &artifact, const std::string &entry, Device &device,
         const ExecutorOptions &options = {});

  /// Loads the weights that the entry reads, and no others.
  Status bindWeights(const Checkpoint &checkpoint,
                     const LoadProgress &progress = {});

  /// Makes an empty cache with room for capacities[b] tokens of sequence b.
  Status openCache(const std::vector<int64_t> &capacities);

  /// Runs the layers on new tokens. Needs weights and a cache. After a failure
  /// inside (not a refused request) the executor refuses further steps.
  Status step(const StepRequest &request, const TraceSink &trace = {});

  /// x after the last layer, of all tokens of the latest step.
  Expected<HostArray> hidden() const;
  /// Runs the head on tokens [first, first + count) of the latest step: f32
  /// [count, V]. Needs ExecutorOptions::head.
  Expected<HostArray> logits(int64_t first, int64_t count);

  /// All trace points of the entry, in order, each once.
  Expected<std::vector<TracePoint>> tracePoints() const;

  const Manifest &manifest() const { return artifact_->manifest(); }
  const PageTable &pages() const { return *pages_; }
  /// True after a step that failed inside; see step().
  bool broken() const { return broken_; }
  const std::vector<KernelStats> &kernelStats() const { return kernelStats_; }
  const std::vector<StepStats> &stepStats() const { return stepStats_; }
  const LoadStats &loadStats() const { return loadStats_; }
  /// False when the device cannot count what launches execute.
  bool hasCounters() const { return device_->table().launchCounters; }
  /// Device bytes of the buffers of a class, as of the latest step.
  uint64_t bufferBytes(BufferClass cls) const {
    return body_.buffers.bytesOf(cls) + head_.buffers.bytesOf(cls);
  }

private:
  /// Commands with the buffers they work on.
  struct Program {
    std::vector<Command> commands;
    Buffers buffers;
  };
  Executor(const Artifact &artifact, Program body, Program head,
           std::set<int> params, Kernels kernels, Device &device,
           const ExecutorOptions &options);

  Status prepareStep(const StepInputs &inputs, const StepRequest &request);
  Status uploadInput(int buffer, const StepInputs &inputs,
                     const StepRequest &request);
  Status runHead(int64_t first);
  Status run(const std::vector<Command> &commands, const TraceSink &trace);
  Status runOne(const Command &command, const TraceSink &trace);
  Status launch(const Command &command);
  Status bindArgument(const LaunchArg &arg, uint64_t &slot);
  /// Warns of the first value that a launch wrote and that is not finite.
  Status watch(const Command &command);
  void warn(const std::string &where, const HostArray &values, size_t element);

  const Artifact *artifact_;
  ExecutorOptions options_;
  Device *device_;
  std::set<int> usedParams_;
  Kernels kernels_;
  Program body_, head_;
  Program *program_ = &body_;            ///< the one that runs
  int x_ = -1, logits_ = -1, mask_ = -1; ///< buffers
  bool watching_ = false, warned_ = false;
  std::optional<Weights> weights_;
  std::optional<PageTable> pages_;
  std::map<int, std::vector<int32_t>> lists_; ///< by work list, of the step
  Symbols symbols_;
  bool broken_ = false;
  LoadStats loadStats_;
  std::vector<KernelStats> kernelStats_;
  std::vector<StepStats> stepStats_;
};

} // namespace k2rt

#endif // RUNTIME_EXECUTOR_EXECUTOR_H
