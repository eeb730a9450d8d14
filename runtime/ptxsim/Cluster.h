#ifndef RUNTIME_PTXSIM_CLUSTER_H
#define RUNTIME_PTXSIM_CLUSTER_H

#include "runtime/ptxsim/Cta.h"
#include "runtime/ptxsim/MapFences.h"
#include "runtime/ptxsim/Transfer.h"

#include <deque>

namespace ptxsim {

/// The CTAs of a cluster, executed in turn by one host thread, so that what
/// they do to each other's shared memory is in order. A CTA launched without
/// clusters is a cluster of one. The object is reused for one cluster after the
/// other.
class Cluster {
public:
  explicit Cluster(Launch &launch);
  Cluster(const Cluster &) = delete;
  Cluster &operator=(const Cluster &) = delete;
  /// Runs cluster number `number` of the grid to its end; throws Fault.
  void run(uint64_t number);
  /// The same in steps, for clusters that wait for each other: turn() gives
  /// every warp a turn, and is false when all threads have exited or the launch
  /// has failed.
  void start(uint64_t number);
  bool turn();
  Counters counters() const;

  // --- barrier.cluster ---
  void arrive(Warp &warp, const Op &op, uint32_t mask);
  void wait(Warp &warp, const Op &op, uint32_t mask);
  /// Completes the barrier if all threads that live have arrived.
  void checkBarrier();

  // --- asynchronous copies that signal an mbarrier ---
  /// Starts a copy: it arrives at once, or with Async::Lazy when its mbarrier
  /// is waited for.
  void start(Transfer transfer);
  /// Delivers what is under way for this mbarrier; false if nothing was.
  bool deliver(const Cta &cta, uint32_t barrier);
  /// The copy under way that writes one of these bytes, or null.
  const Transfer *writing(const Cta &cta, uint32_t offset,
                          uint32_t bytes) const;

  /// A copy under way that will signal an mbarrier of this CTA, or null.
  const Transfer *pendingFor(const Cta &cta) const;
  /// Async::Random: lets some of what is under way take effect.
  void deliverRandomly();
  /// splitmix64.
  uint64_t random();

  Launch &launch;
  std::deque<Cta> ctas;           ///< by rank
  std::unique_ptr<Clocks> clocks; ///< null if no races are to be found
  GlobalRaces::Local globalOrder;
  MapFences maps;
  std::vector<MemoryOrigin> origins; ///< of undefined values read from memory
  /// Counts what synchronises threads.
  uint32_t syncs = 1;
  uint64_t events = 0; ///< counts what may let a waiting warp go on

private:
  bool wakeWaiters();
  [[noreturn]] void deadlock();

  std::vector<Transfer> transfers; ///< in the order of issue
  uint64_t randomState = 0;
  uint32_t generation = 0; ///< completed cluster barriers
  uint64_t eventsAtWake = 0;
  uint64_t instructionsBefore = 0; ///< of the clusters before this one
  unsigned timeouts = 0; ///< rounds of timed-out waits without an event
};

} // namespace ptxsim

#endif // RUNTIME_PTXSIM_CLUSTER_H
