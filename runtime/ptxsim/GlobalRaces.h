#ifndef RUNTIME_PTXSIM_GLOBALRACES_H
#define RUNTIME_PTXSIM_GLOBALRACES_H

#include "runtime/ptxsim/Clocks.h"
#include "runtime/ptxsim/Op.h"

#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace ptxsim {

class Cluster;
struct Launch;
class Warp;

/// Finds accesses to global memory that conflict and that nothing orders, of
/// the threads of one launch (opt-in: it costs a lock per instruction, and
/// eight words per cell of memory that is touched, if not less).
///
/// Inside a cluster its Clocks tell the order. Between clusters there are
/// releases and acquires of at least gpu scope at the same address, or fences
/// around relaxed accesses. What a lane has acquired of other clusters is an
/// event of its own cluster, so that barriers hand it on.
///
/// A bulk copy accesses global memory from its issue until its completion: its
/// accesses are those of an agent of its own (Clocks), ordered after what its
/// thread knows at the issue, and before what waits for its mbarrier, or
/// follows a wait_group.
class GlobalRaces {
public:
  explicit GlobalRaces(Launch &launch);

  /// What is known of other clusters: by number, their clocks.
  using Known = std::unordered_map<uint32_t, Clock>;
  /// Of a cluster that runs.
  struct Local {
    uint32_t number = 0;
    struct Event {
      unsigned agent, lane; ///< who acquired; lane 32: several
      uint32_t stamp;
      std::shared_ptr<const Known> known;
    };
    std::vector<Event> events;
    /// What fences have made ready for relaxed accesses to release, and what
    /// relaxed accesses have read that fences acquire.
    std::vector<Event> ready, seen;
    /// What the cluster has told others of itself so far.
    Clock told;
  };
  void start(Cluster &cluster, uint32_t number);
  /// All threads of the cluster have exited.
  void finish(Cluster &cluster);

  /// An asynchronous operation instead of a lane.
  struct Agent {
    unsigned agent;
    uint32_t stamp;
  };
  void read(Warp &w, const Op &op, unsigned lane, const std::byte *p,
            uint32_t bytes, const Agent *by = nullptr);
  /// `value`: what will be written, null if it is not known.
  void write(Warp &w, const Op &op, unsigned lane, const std::byte *p,
             uint32_t bytes, const void *value, const Agent *by = nullptr);
  void atomic(Warp &w, const Op &op, unsigned lane, const std::byte *p,
              uint32_t bytes, const Agent *by = nullptr);
  void fence(Warp &w, uint32_t mask, uint32_t order);
  /// Strong accesses of lanes at an address.
  void meet(Warp &w, uint32_t mask, const void *p, uint32_t order);

private:
  struct Entry {
    uint32_t cluster = 0, stamp = 0, info = 0; ///< cluster 0: none yet
    uint32_t lanes = 0;                        ///< that access it
    uint16_t warp = 0;                         ///< that has issued it
    bool operator==(const Entry &) const = default;
  };
  /// The newest in `nodes`; 0: none.
  struct Cell {
    uint32_t writes = 0, reads = 0;
  };
  /// Accesses that nothing orders before each other, as a list that many cells
  /// share.
  struct Node {
    Entry entry;
    uint32_t next = 0; ///< an older one; 0: none
  };
  struct Step {
    uint32_t before = 0, after = 0;
    Entry entry;
  };
  struct Page {
    std::unique_ptr<Cell[]> cells;
  };
  Cell &cellAt(uint64_t address);
  bool known(Warp &w, unsigned lane, const Entry &e) const;
  Entry entryOf(Warp &w, const Op &op, unsigned lane, bool strong,
                const Agent *by) const;
  bool isForEver(const Entry &e) const;
  void add(Warp &w, unsigned lane, uint32_t &list, const Entry &mine);
  void collect();
  /// Calls f(access, whether it writes) for what a cell remembers.
  template <class F> void forAccesses(const Cell &cell, F f) const;
  bool suppressed(Warp &w, const Op &op, const Entry &e) const;
  void report(Warp &w, const Op &op, unsigned lane, uint64_t address,
              bool writes, const Entry &e, bool otherWrites) const;
  std::shared_ptr<Known> tell(Warp &w, uint32_t mask);
  void acquire(Warp &w, uint32_t mask,
               const std::shared_ptr<const Known> &known);
  void note(Warp &w, uint32_t mask, std::vector<Local::Event> &events,
            const std::shared_ptr<const Known> &known);
  bool knows(Warp &w, uint32_t mask, const Local::Event &event) const;

  Launch &launch;
  unsigned shift; ///< log2 of a cell's bytes
  std::mutex mutex;
  std::unordered_map<uint64_t, Page> pages;
  uint64_t lastPage = ~0ull;
  Cell *lastCells = nullptr;
  std::vector<Node> nodes{1};
  size_t mostNodes = 1 << 22; ///< before those not in use are thrown away
  /// The latest steps from one list to another, by a hash.
  std::vector<Step> steps;
  /// What clusters that are over have told others.
  std::unordered_map<uint32_t, Clock> told;
  std::unordered_map<const void *, std::shared_ptr<const Known>> places;
};

} // namespace ptxsim

#endif // RUNTIME_PTXSIM_GLOBALRACES_H
