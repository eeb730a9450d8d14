#ifndef RUNTIME_PTXSIM_CTA_H
#define RUNTIME_PTXSIM_CTA_H

#include "runtime/ptxsim/GlobalRaces.h"
#include "runtime/ptxsim/Mbarrier.h"
#include "runtime/ptxsim/Memory.h"
#include "runtime/ptxsim/OpFacts.h"
#include "runtime/ptxsim/Program.h"
#include "runtime/ptxsim/ProxyFences.h"
#include "runtime/ptxsim/Races.h"
#include "runtime/ptxsim/RegisterPool.h"
#include "runtime/ptxsim/Warp.h"

#include <array>
#include <atomic>
#include <mutex>

namespace ptxsim {

/// Memory for CTAs, kept from launch to launch: fresh pages would cost more
/// than a short kernel.
class StoragePool {
public:
  struct Block {
    std::unique_ptr<std::byte[]> memory;
    size_t bytes = 0;
  };
  /// At least this many bytes, with any content.
  Block take(size_t bytes);
  void give(Block block);

private:
  std::mutex mutex;
  std::vector<Block> blocks;
};

class Observer;

/// What all CTAs of a launch share.
struct Launch {
  const Function *function = nullptr;
  Dim3 grid, block;
  Dim3 cluster; ///< CTAs of a cluster
  uint32_t dynamicShared = 0;
  std::array<uint32_t, 32> envreg{}; ///< %envreg0 to %envreg31
  std::vector<std::byte> params;
  const Arena *arena = nullptr;
  StoragePool *storage = nullptr;
  DeviceOptions options;
  uint64_t gridId = 0;
  std::vector<Observer *> observers;
  std::vector<OpFacts> facts; ///< of each op, if there are observers
  /// Clusters of the grid, and how many of them are executed, evenly spaced.
  uint64_t clusters = 0, sampled = 0;
  /// Of a cooperative launch: what grid barriers count in. Then all CTAs are
  /// resident.
  uint64_t workspace = 0;
  unsigned threads = 1; ///< host threads that execute it
  std::atomic<uint64_t> next{0};
  std::atomic<bool> failed{false};
  std::mutex mutex; ///< of what follows
  std::string error;
  FaultKind errorKind = FaultKind::None;
  uint64_t errorCta = ~0ull;
  Counters counters;
  std::unique_ptr<GlobalRaces> globalRaces; ///< null unless they are wanted
  /// The CTA of a rank in a cluster.
  Dim3 idOf(uint64_t clusterNumber, unsigned rank) const;
};

/// A CTA barrier (bar, barrier). Aligned arrivals count a warp at a time;
/// others count when the last live lane of a warp is there.
struct Barrier {
  enum class Reduce : uint8_t { None, Popc, And, Or };
  struct Waiter {
    unsigned warp;
    uint32_t mask;
    uint32_t destination; ///< row of bar.red's result
  };
  uint32_t expected = 0;    ///< threads; 0: as many as are live
  uint32_t arrived = 0;     ///< threads, in whole warps
  uint32_t warps = 0;       ///< those that have arrived
  bool used = false;        ///< someone has arrived in this round
  const Op *last = nullptr; ///< the last arrival in this round
  unsigned lastWarp = 0;
  Reduce reduce = Reduce::None;
  uint32_t popc = 0;
  bool all = true, any = false;
  std::vector<Waiter> waiters;
  std::vector<uint32_t> lanes; ///< per warp: lanes that arrived and wait for
                               ///< the rest of their warp
};

class Cluster;

/// A CTA being executed by one host thread. The object is reused for one CTA
/// after the other.
class Cta {
public:
  Cta(Launch &launch, Cluster &cluster, unsigned rank);
  ~Cta();
  Cta(const Cta &) = delete;
  Cta &operator=(const Cta &) = delete;
  /// Makes it the CTA of its rank in the cluster at `clusterAt`.
  void start(Dim3 clusterAt);
  /// Gives every warp that can run a turn; throws Fault.
  void runWarps(bool &alive, bool &progress);
  /// All threads have exited: nothing may be under way.
  void finish();
  /// Where lanes wait and for what.
  std::string describeWait(const Warp &warp, const Split &split) const;

  /// A warp's arrival at barrier `id`. `blocks` is false for bar.arrive.
  void arrive(Warp &warp, const Op &op, uint32_t mask, unsigned id,
              uint32_t expected, bool blocks, Barrier::Reduce reduce,
              uint32_t ones, uint32_t destination);

  /// The mbarrier that this CTA has at `offset`; null if none was initialised
  /// there.
  Mbarrier *mbarrier(uint32_t offset);
  /// Completes the phase if it is due, and lets those that wait for it look
  /// again.
  void update(Mbarrier &barrier);
  unsigned liveWarps() const;

  Launch &launch;
  Cluster &cluster;
  unsigned rank;
  Dim3 id, clusterId;
  Counters counters;
  std::vector<Warp> warps;
  Barrier barriers[16];
  /// Shared memory of the window [sharedBegin, sharedEnd): shared[address -
  /// sharedBegin].
  std::byte *shared = nullptr;
  uint32_t sharedEnd = 0;
  /// One bit per byte of shared memory: something has written it.
  std::vector<uint64_t> initialised;
  /// Null unless undefined values have been stored.
  std::unique_ptr<SharedShadow> sharedShadow;
  LocalShadow localShadow; ///< empty if nobody wants to know
  /// If the kernel has instructions of the asynchronous proxy.
  std::unique_ptr<ProxyFences> proxies;
  std::vector<Mbarrier> mbarriers;
  std::vector<WgmmaGroup> wgmmaGroups; ///< of four warps each
  RegisterPool registerPool;
  /// Ranges that bulk copies under way still read: [offset, end), and the
  /// copy's line.
  struct Reading {
    uint32_t offset, end, line;
  };
  std::vector<Reading> reading;
  /// All shared memory that a wgmma under way may read lies between these.
  uint32_t wgmmaLow = ~0u, wgmmaHigh = 0;
  /// May something asynchronous still use bytes of this range?
  bool isInUse(uint32_t address, uint32_t bytes) const {
    return !reading.empty() ||
           (address < wgmmaHigh && address + bytes > wgmmaLow);
  }
  Clocks *clocks = nullptr;     ///< of the cluster, or null: no races wanted
  std::unique_ptr<Races> races; ///< null if nothing is to be found
  std::vector<std::byte> local; ///< of all threads: [warp][lane][localBytes]

private:
  void checkMbarriers() const;
  void checkArrivals();
  /// Ends the launch with a fault of the CTA as a whole, at the end of the
  /// kernel.
  [[noreturn]] void faultAtEnd(const Warp &warp, const std::string &message,
                               const Notes &notes = {}) const;
  void runInSlices(Warp &w, uint64_t instructions);
  void runWarp(Warp &w, uint64_t instructions, bool anywhere);
  void release(unsigned id);
  void checkRelease(unsigned id);
  uint64_t random();

  std::vector<Warp *> order; ///< in which the warps run
  uint64_t randomState = 0;
  StoragePool::Block storage; ///< registers and shared memory
  std::byte *registers = nullptr;
};

} // namespace ptxsim

#endif // RUNTIME_PTXSIM_CTA_H
