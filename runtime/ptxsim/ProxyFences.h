#ifndef RUNTIME_PTXSIM_PROXYFENCES_H
#define RUNTIME_PTXSIM_PROXYFENCES_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ptxsim {

class Cluster;
class Warp;
struct Op;

/// Which writes of the generic proxy to a CTA's shared memory the asynchronous
/// proxy may read. A write and the read need a proxy fence between them: after
/// the write in the writer's own order or by synchronisation, and before the
/// read in the same sense. So each writer may fence and a barrier follow, or
/// one thread may fence behind the barrier.
///
/// Shared memory is looked at in units of 16 bytes. Who has synchronised with
/// whom is told by the cluster's clocks; without them (races and asynchronous
/// hazards switched off) a thread counts as having synchronised with another
/// one when anything that synchronises threads of the cluster has happened in
/// between (Cluster::syncs).
class ProxyFences {
public:
  ProxyFences(const Cluster &cluster, size_t sharedBytes)
      : cluster(cluster), heads((sharedBytes + 15) / 16) {}
  void clear();
  /// Lanes of a warp write; offsets count from the start of shared memory.
  void write(const Warp &w, const Op &op, uint32_t lanes, uint32_t offset,
             uint32_t bytes);
  /// A fence.proxy.async of these lanes.
  void fence(const Warp &w, uint32_t lanes);
  /// Has nothing been written in the unit since it was last found fenced?
  bool isClean(uint32_t unit) const { return !heads[unit]; }
  /// Lane `lane` (32: any of the warp's) reads with the asynchronous proxy:
  /// faults if that is too early.
  void check(Warp &w, const Op &op, unsigned lane, uint32_t unit);

private:
  /// Lanes of a warp that have fenced, and the lanes whose writes that covers.
  struct Fence {
    unsigned agent;
    uint32_t lanes, covers;
    uint32_t sync, stamp; ///< Cluster::syncs, and by the clocks
  };
  /// The last writes of a warp's lanes to a unit.
  struct Write {
    uint32_t unit, next; ///< next: another write to the unit; 0: none
    unsigned agent;
    uint32_t lanes, sync, stamp, pc;
    const Warp *warp;
    std::vector<Fence> fences;
  };
  unsigned agentOf(const Warp &w) const;
  uint32_t stampOf(unsigned agent) const;
  bool isOver(const Fence &fence, const Warp &w, unsigned lane) const;
  uint32_t coveredBy(unsigned agent, uint32_t lanes, const Write &write) const;
  void drop(uint32_t unit);

  const Cluster &cluster;
  std::vector<uint32_t> heads; ///< by unit: its first write, 0 if clean
  std::vector<Write> writes{1};
  std::vector<uint32_t> unused; ///< entries of writes
};

} // namespace ptxsim

#endif // RUNTIME_PTXSIM_PROXYFENCES_H
