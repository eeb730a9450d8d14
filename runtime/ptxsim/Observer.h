#ifndef RUNTIME_PTXSIM_OBSERVER_H
#define RUNTIME_PTXSIM_OBSERVER_H

#include "runtime/ptxsim/OpFacts.h"
#include "runtime/ptxsim/Transfer.h"
#include "runtime/ptxsim/Warp.h"

namespace ptxsim {

class Cluster;
struct Launch;

/// Addresses of one memory access of a warp, in one space.
struct MemoryAccess {
  MemoryKind kind = MemoryKind::None;
  Space space = Space::Global;  ///< never Generic: a generic access is split up
                                ///< by the spaces of its lanes
  bool cached = false;          ///< a load that the L1 cache may serve
  uint32_t mask = 0;            ///< lanes; of ldmatrix: rows of 16 bytes
  uint32_t bytes = 0;           ///< of each lane
  const uint64_t *at = nullptr; ///< by lane: host pointers of global memory;
                                ///< others count in their window (shared memory
                                ///< of other CTAs with the rank above bit 24)
};

/// Watches launches: counters, timelines and traces. While a device has
/// observers its launches run their clusters one after the other, in order (of
/// a cooperative launch in turn), on one host thread, in an instrumented
/// variant of the interpreter loop; without any, nothing is slower. Hooks see
/// `Warp::cta` (id, rank, launch), registers (Warp::row, word) and
/// `launch.function->infos[w.indexOf(op)]` (line, form).
class Observer {
public:
  virtual ~Observer() = default;
  virtual void launchStarts(const Launch &) {}
  /// Also after a fault.
  virtual void launchEnds(const Launch &) {}
  virtual void ctaStarts(const Cta &) {}
  /// When all CTAs of its cluster have ended.
  virtual void ctaEnds(const Cta &) {}

  /// Before op executes for the lanes of mask; 0: its guard is false in all. An
  /// op that has to wait (mbarrier.try_wait, shfl.sync) is issued again when it
  /// goes on.
  virtual void issue(Warp &, const Op &, uint32_t mask) {}
  /// Between issue and execution: what ld, st, atom, red, ldmatrix, stmatrix
  /// and cp.async access. A cp.async gives two accesses: the global one (of 0
  /// bytes in lanes that only fill with zeros: not in mask) and the shared one.
  virtual void access(Warp &, const Op &, const MemoryAccess &) {}
  /// After it has executed. `again`: lanes that wait, and for which it will be
  /// issued again.
  virtual void executed(Warp &, const Op &, uint32_t mask, uint32_t again) {}

  // --- what waiting warps wait for ---
  /// A CTA barrier lets them go on.
  virtual void barrierReleased(const Cta &, unsigned barrier) {}
  /// A phase of the mbarrier at this address completes.
  virtual void phaseEnds(const Cta &, uint32_t mbarrier) {}
  virtual void clusterReleased(const Cluster &) {}

  // --- bulk copies, once for each destination of a multicast ---
  virtual void copyStarts(const Transfer &) {}
  /// A run of global memory that a copy reads or writes.
  virtual void copyMoves(const Transfer &, uint64_t address, uint32_t bytes,
                         bool writes) {}
  /// Its bytes are there; its mbarrier has been told.
  virtual void copyEnds(const Transfer &) {}
};

} // namespace ptxsim

#endif // RUNTIME_PTXSIM_OBSERVER_H
