//===- Lifetimes.cpp - When the buffers of an entry hold values -----------===//
#include "runtime/Executor/Lifetimes.h"

#include <algorithm>
#include <numeric>

namespace k2rt {

namespace {
/// Walks an entry and notes every access to a buffer.
class Walker {
public:
  Walker(const Manifest &manifest, std::vector<Lifetime> &lifetimes)
      : manifest_(manifest), lifetimes_(lifetimes) {}

  void walk(const std::vector<Command> &commands) {
    for (const Command &command : commands)
      visit(command);
  }
  int64_t end() const { return position_; }

private:
  void visit(const Command &command) {
    ++position_;
    switch (command.op) {
    case CommandOp::Launch: {
      const KernelInfo &kernel = manifest_.kernels[command.target];
      // A kernel reads its inputs before the values it writes exist.
      for (bool writing : {false, true})
        for (size_t i = 0; i < command.args.size(); ++i)
          if (command.args[i].kind == LaunchArg::BufferRef) {
            bool pure = kernel.args[i].writes && !kernel.args[i].reads;
            if (pure == writing)
              access(command.args[i].target, pure);
          }
      break;
    }
    case CommandOp::Layers:
      layers(command);
      break;
    case CommandOp::When:
      ++conditional_;
      walk(command.commands);
      walk(command.otherwise);
      --conditional_;
      break;
    case CommandOp::MakeWorklist:
      access(manifest_.worklists[command.target].buffer, true);
      break;
    case CommandOp::Copy:
      access(command.target, false);
      access(command.target2, true);
      break;
    case CommandOp::Zero:
      access(command.target, true);
      break;
    case CommandOp::Require:
    case CommandOp::Trace:
      access(command.target, false);
      break;
    }
  }

  void layers(const Command &command) {
    int64_t first = position_;
    seen_.clear();
    carried_.clear();
    walk(command.commands);
    ++position_;
    for (int buffer : carried_) {
      extend(buffer, first);
      extend(buffer, position_);
    }
    seen_.clear();
    carried_.clear();
  }

  void access(int buffer, bool overwrites) {
    extend(buffer, position_);
    // What is not certainly overwritten first may come from an earlier layer.
    if (seen_.insert(buffer).second && (!overwrites || conditional_ > 0))
      carried_.insert(buffer);
  }

  void extend(int buffer, int64_t position) {
    Lifetime &life = lifetimes_[buffer];
    life.first = std::min(life.first, position);
    life.last = std::max(life.last, position);
  }

  const Manifest &manifest_;
  std::vector<Lifetime> &lifetimes_;
  int64_t position_ = 0;
  int conditional_ = 0;
  std::set<int> seen_, carried_; ///< in the body of `layers` at hand
};
} // namespace

std::vector<Lifetime> lifetimes(const Manifest &manifest,
                                const std::vector<Command> &entry,
                                const std::set<int> &kept) {
  std::vector<Lifetime> lives(manifest.buffers.size());
  Walker walker(manifest, lives);
  walker.walk(entry);
  for (int buffer : kept)
    lives[buffer] = {0, walker.end() + 1};
  return lives;
}

ArenaPlan planArena(const std::vector<uint64_t> &bytes,
                    const std::vector<Lifetime> &lifetimes,
                    uint64_t alignment) {
  ArenaPlan plan;
  plan.offsets.resize(bytes.size());
  // Large blocks first, each at the lowest place that is free all its life.
  std::vector<size_t> order(bytes.size()), placed;
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return bytes[a] != bytes[b] ? bytes[a] > bytes[b] : a < b;
  });
  auto aligned = [&](uint64_t size) {
    return (size + alignment - 1) / alignment * alignment;
  };
  for (size_t block : order) {
    std::vector<std::pair<uint64_t, uint64_t>> taken;
    for (size_t other : placed)
      if (lifetimes[block].meets(lifetimes[other]))
        taken.emplace_back(plan.offsets[other],
                           plan.offsets[other] + aligned(bytes[other]));
    std::sort(taken.begin(), taken.end());
    uint64_t at = 0;
    for (auto [begin, end] : taken) {
      if (begin >= at + bytes[block])
        break;
      at = std::max(at, end);
    }
    plan.offsets[block] = at;
    plan.bytes = std::max(plan.bytes, at + aligned(bytes[block]));
    placed.push_back(block);
  }
  return plan;
}

} // namespace k2rt
