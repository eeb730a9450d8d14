//===- Executor.h - Runs the entries of an artifact -------------*- C++ -*-===//
//
// One executor is one model on one device with one paged cache. It interprets
// the commands of an entry for a step of new tokens; everything a step needs
// from the step before is in the cache.
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

/// Where the buffers of a step are.
enum class StepMemory {
  Automatic, ///< Own on a device that checks bounds, else Arena
  Own,       ///< each in an allocation of its own
  Arena,     ///< one allocation, shared by lifetime
};

class Executor {
public:
  /// Prepares an entry: loads its kernels and resolves its buffers. The
  /// artifact and the device must outlive the executor.
  static Expected<std::unique_ptr<Executor>>
  create(const Artifact &artifact, const std::string &entry, Device &device,
         const Notice &notice = {}, StepMemory memory = StepMemory::Automatic);

  /// Loads the weights that the entry reads, and no others.
  Status bindWeights(const Checkpoint &checkpoint,
                     const LoadProgress &progress = {});

  /// Makes an empty cache with room for capacities[b] tokens of sequence b.
  Status openCache(const std::vector<int64_t> &capacities);

  /// Runs the entry on new tokens. Needs weights and a cache. After a failure
  /// inside (not a refused request) the executor refuses further steps.
  Status step(const StepRequest &request, const TraceSink &trace = {});

  /// The contents of `x` or `logits` after a step. (Others share their memory
  /// by lifetime, so that they may be gone.)
  Expected<HostArray> read(const std::string &buffer) const;

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
  uint64_t bufferBytes(BufferClass cls) const { return buffers_.bytesOf(cls); }

private:
  struct Used {
    std::set<int> params, buffers, kernels;
  };
  Executor(const Artifact &artifact, const std::vector<Command> &entry,
           const Used &used, Kernels kernels, Device &device,
           std::vector<Lifetime> lifetimes);
  static Used collect(const Manifest &manifest,
                      const std::vector<Command> &entry);

  Status prepareStep(const StepInputs &inputs, const StepRequest &request);
  Status uploadInput(int buffer, const StepInputs &inputs,
                     const StepRequest &request);
  Status run(const std::vector<Command> &commands, const TraceSink &trace);
  Status runOne(const Command &command, const TraceSink &trace);
  Status launch(const Command &command);
  Status bindArgument(const LaunchArg &arg, uint64_t &slot);

  const Artifact *artifact_;
  const std::vector<Command> *entry_;
  Device *device_;
  std::set<int> usedParams_;
  Kernels kernels_;
  Buffers buffers_;
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
