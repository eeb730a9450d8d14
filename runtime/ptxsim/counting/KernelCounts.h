#ifndef RUNTIME_PTXSIM_COUNTING_KERNELCOUNTS_H
#define RUNTIME_PTXSIM_COUNTING_KERNELCOUNTS_H

#include "runtime/ptxsim/OpFacts.h"
#include "runtime/ptxsim/ptxsim.h"

#include <array>
#include <map>
#include <string>
#include <vector>

namespace ptxsim {

enum class Counter : unsigned {
#define PTXSIM_COUNTER(field, name, meaning) field,
#include "runtime/ptxsim/counting/Counters.def"
#undef PTXSIM_COUNTER
};
constexpr unsigned counters = unsigned(Counter::DramWriteBytes) + 1;
std::string_view counterName(Counter c);
std::string_view counterMeaning(Counter c);

/// Figures of one PTX line, or their sums.
struct EventCounts {
  std::array<uint64_t, counters> events{};
  /// By OpClass: warp instructions, and results (lanes, two for pairs and for
  /// 64-bit integers).
  std::array<uint64_t, opClasses> instructions{}, results{};

  uint64_t &operator[](Counter c) { return events[unsigned(c)]; }
  uint64_t operator[](Counter c) const { return events[unsigned(c)]; }
  EventCounts &operator+=(const EventCounts &other);
  /// Average lanes of an instruction that execute it.
  double activeLanes() const;
};

struct LineCounts {
  uint32_t op = 0; ///< index in the function
  uint32_t line = 0;
  std::string form;
  std::string source; ///< file:line:column of .loc, if there is one
  EventCounts counts;
};

/// mma and wgmma of one shape and types.
struct TensorCounts {
  uint64_t ops = 0, flops = 0;
};

/// What a CTA does to its SM: the inputs of the modelled time.
struct CtaWork {
  uint64_t number = 0; ///< of the CTA in the order of launch
  uint64_t instructions = 0;
  std::array<uint64_t, opClasses> results{};
  std::array<uint64_t, 5> tensorFlops{}; ///< by TensorType
  uint64_t wavefronts = 0;
  uint64_t bulkBytes = 0; ///< into and out of its shared memory
  uint64_t operandBytes = 0;
  uint64_t remoteBytes = 0;
  uint64_t bytesFromL2 = 0;
  uint64_t bulkBytesFromL2 = 0; ///< of these, by bulk copies
  uint64_t inFlight = 0;  ///< most bytes from L2 that it keeps outstanding
  uint32_t loadChain = 0; ///< LoadChains
};

/// Everything about one launch, or about several of the same kernel.
struct KernelCounts {
  std::string kernel, file;
  Dim3 grid, block, cluster;
  uint32_t sharedBytes = 0; ///< static and dynamic, of a CTA
  uint64_t launches = 0;
  uint64_t ctas = 0, ctasExecuted = 0;
  bool cooperative = false;
  bool gridDependency = false; ///< has griddepcontrol
  bool skippedTensor = false;  ///< DeviceOptions::skipTensor
  EventCounts total;
  std::vector<LineCounts> lines;              ///< those that were executed
  std::map<std::string, TensorCounts> tensor; ///< "m64n128k16.f32.bf16.bf16"
  bool cachesModelled = false; ///< else L2 hits, misses and DRAM bytes are 0
  /// Sectors times 32 that no cache can save: read before they are written, and
  /// written.
  uint64_t compulsoryReadBytes = 0, compulsoryWriteBytes = 0;
  std::vector<CtaWork> work; ///< of the latest launch, by CTA
  /// Of a launch: the most waits of CTAs for each other that follow from one
  /// another (GridWaits), the most loads of a warp that do (LoadChains).
  uint32_t gridWaits = 0, loadChain = 0;

  /// Adds another launch of the same kernel.
  void add(const KernelCounts &other);
};

} // namespace ptxsim

#endif // RUNTIME_PTXSIM_COUNTING_KERNELCOUNTS_H
