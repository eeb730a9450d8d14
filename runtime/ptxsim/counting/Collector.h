#ifndef RUNTIME_PTXSIM_COUNTING_COLLECTOR_H
#define RUNTIME_PTXSIM_COUNTING_COLLECTOR_H

#include "runtime/ptxsim/Observer.h"
#include "runtime/ptxsim/counting/GridWaits.h"
#include "runtime/ptxsim/counting/InFlight.h"
#include "runtime/ptxsim/counting/KernelCounts.h"
#include "runtime/ptxsim/counting/LoadChains.h"
#include "runtime/ptxsim/counting/SectorCache.h"
#include "runtime/ptxsim/counting/Touched.h"

#include <memory>
#include <unordered_map>

namespace ptxsim {

/// Sizes of the caches; 0: not modelled.
struct CacheSizes {
  uint64_t l2Bytes = 0;
  uint64_t l1AndSharedBytes = 0; ///< of an SM: shared memory is taken from it
  uint64_t sharedReservedBytes = 0; ///< of each CTA
  /// The L2 cache keeps its contents from launch to launch; else each launch
  /// begins with an empty one and ends with writing back what it wrote.
  bool keepL2 = false;
};

/// Counts what launches execute, by PTX line. Deterministic: clusters run in
/// order, and cache sets follow from the order of allocations.
class Collector : public Observer {
public:
  explicit Collector(CacheSizes sizes);
  ~Collector() override;
  /// What the latest launch did.
  const KernelCounts &latest() const { return result; }

  void launchStarts(const Launch &launch) override;
  void launchEnds(const Launch &launch) override;
  void ctaStarts(const Cta &cta) override;
  void ctaEnds(const Cta &cta) override;
  void issue(Warp &w, const Op &op, uint32_t mask) override;
  void access(Warp &w, const Op &op, const MemoryAccess &a) override;
  void executed(Warp &w, const Op &op, uint32_t mask, uint32_t again) override;
  void copyStarts(const Transfer &t) override;
  void copyMoves(const Transfer &t, uint64_t address, uint32_t bytes,
                 bool writes) override;

private:
  struct OfCta;
  OfCta &of(const Cta &cta);
  EventCounts &line(const Warp &w, const Op &op) {
    return lines[w.indexOf(op)];
  }
  void count(Warp &w, const Op &op, uint32_t mask);
  void globalAccess(Warp &w, const Op &op, const MemoryAccess &a);
  void sharedAccess(Warp &w, const Op &op, const MemoryAccess &a);
  void prefetches(Warp &w, const Op &op, const MemoryAccess &a);
  enum class Traffic { Read, Write, Atomic, Reduction, Prefetch };
  void l2(EventCounts &c, uint64_t sector, Traffic traffic);

  CacheSizes sizes;
  SectorCache l2Cache;
  std::unique_ptr<Touched> touched;
  GridWaits gridWaits; ///< of a cooperative launch
  uint64_t base = 0;   ///< of the arena
  const Launch *launch = nullptr;
  std::vector<EventCounts> lines; ///< by op
  /// CTAs under way: those of a cluster, or all of a cooperative launch.
  std::unordered_map<const Cta *, std::unique_ptr<OfCta>> ctas;
  std::pair<const Cta *, OfCta *> latestCta{};
  std::vector<CtaWork> work;
  KernelCounts result;
};

} // namespace ptxsim

#endif // RUNTIME_PTXSIM_COUNTING_COLLECTOR_H
