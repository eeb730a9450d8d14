#ifndef RUNTIME_PTXSIM_CLOCKS_H
#define RUNTIME_PTXSIM_CLOCKS_H

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace ptxsim {

class Cluster;
struct Mbarrier;
struct Op;
class Warp;

/// A vector clock: what is known to be over, by agent. Of a warp's accesses
/// those of all lanes up to the stamp `all`, and those of single lanes up to
/// the stamps of a part.
struct Clock {
  std::vector<uint32_t> all;
  /// More is known of these lanes than of all.
  struct Part {
    unsigned agent;
    uint32_t stamps[32];
  };
  std::vector<Part> parts;

  explicit Clock(std::size_t agents = 0) : all(agents) {}
  void clear();
  void join(const Clock &other);
  /// What lanes of an agent did is over up to a stamp.
  void add(unsigned agent, uint32_t lanes, uint32_t stamp);
  /// `lane`: 32 or more for several.
  bool knows(unsigned agent, unsigned lane, uint32_t stamp) const {
    return stamp <= all[agent] ||
           (!parts.empty() && knowsPart(agent, lane, stamp));
  }
  /// Is it known of any lane?
  bool knowsAny(unsigned agent, uint32_t stamp) const;

private:
  bool knowsPart(unsigned agent, unsigned lane, uint32_t stamp) const;
};

/// What happened before what in a cluster. The agents are its warps and what
/// works asynchronously: per warp the bulk copies that groups track (what they
/// read, and in global memory what they write), per warpgroup its wgmma, and
/// the mbarriers for the copies that signal them. Each access carries its agent
/// and a stamp of one counter.
///
/// A warp has a clock of what all its lanes know, and clocks of what sets of
/// lanes know besides: a wait or a bar.warp.sync of a part of the lanes.
class Clocks {
public:
  explicit Clocks(Cluster &cluster);
  /// For a new cluster: everything so far is over. Stamps go on.
  void restart();
  /// Stamps are about to run out: once no access is remembered they can begin
  /// again.
  bool isOld() const { return now > 1u << 31; }
  void rewind() { now = 1; }

  // --- agents and stamps ---
  unsigned agentOf(const Warp &w) const;
  unsigned bulkAgent(unsigned warp) const { return fit(warps + warp); }
  /// `warp`: the first one of the warpgroup.
  unsigned wgmmaAgent(unsigned warp) const { return fit(2 * warps + warp / 4); }
  /// Of what the warp's bulk copies write to global memory: they are over only
  /// at a wait_group that is not .read. There are such agents if races in
  /// global memory are wanted.
  unsigned writeAgent(unsigned warp) const {
    return fit(2 * warps + (warps + 3) / 4 + warp);
  }
  /// The stamp of what a warp does now.
  uint32_t stamp(unsigned warp) {
    if (used[warp] != epoch[warp])
      touch(warp);
    return epoch[warp];
  }
  /// Of an asynchronous operation.
  uint32_t asyncStamp(unsigned agent, unsigned issuer) {
    issuers[agent] = issuer;
    return used[agent] = now++;
  }
  enum class Kind : uint8_t { Warp, BulkGroup, Wgmma, BulkWrite, Mbarrier };
  Kind kindOf(unsigned agent) const {
    return agent < warps                         ? Kind::Warp
           : agent < 2 * warps                   ? Kind::BulkGroup
           : agent < 2 * warps + (warps + 3) / 4 ? Kind::Wgmma
           : agent < firstMbarrier               ? Kind::BulkWrite
                                                 : Kind::Mbarrier;
  }
  /// The warp behind an agent.
  unsigned warpOf(unsigned agent) const { return issuers[agent]; }
  /// Stamps below are over, for all lanes of the warp.
  uint32_t limit(unsigned warp) const { return limits[warp]; }
  /// Is what an agent's lane did ordered before what a lane of the warp does
  /// now? The warp's own lane knows of itself. 32 or more for several lanes.
  bool knows(unsigned warp, unsigned lane, unsigned agent, unsigned otherLane,
             uint32_t stamp) const;
  /// The same, if what any lane of the agent did will do.
  bool knowsAny(unsigned warp, unsigned lane, unsigned agent,
                uint32_t stamp) const;

  /// Do all lanes of the warp know the same?
  bool isUniform(unsigned warp) const { return states[warp].groups.empty(); }

  // --- order ---
  /// Lanes publish what they know and did.
  void release(unsigned warp, uint32_t mask, Clock &into);
  void acquire(unsigned warp, uint32_t mask, const Clock &from);
  /// Lanes know what an asynchronous agent did up to a stamp.
  void learn(unsigned warp, uint32_t mask, unsigned agent, uint32_t stamp);
  /// bar.warp.sync among the lanes of mask.
  void syncWarp(const Warp &w, uint32_t mask);
  /// wgmma.fence: the loads of all lanes are over for what any of them does
  /// behind it, and for those who learn of that.
  void fenceLoads(const Warp &w);
  bool areLoadsOver(unsigned warp, unsigned lane, unsigned agent,
                    uint32_t stamp) const;
  /// All lanes of `count` warps that stand at the same place.
  void meet(const Warp *warpsThere, unsigned count);
  void arrive(const Warp &w, uint32_t mask, unsigned barrier);
  struct Waiting {
    unsigned warp;
    uint32_t mask;
    bool isAll; ///< of its lanes that live
  };
  /// Barrier `barrier` of CTA `rank` is released. `over`: warps of the CTA that
  /// have exited and count as having arrived.
  void releaseBarrier(unsigned rank, unsigned barrier,
                      const std::vector<Waiting> &waiting, uint32_t over);
  void arriveCluster(const Warp &w, uint32_t mask, bool relaxed);
  void releaseCluster();
  void waitCluster(const Warp &w, uint32_t mask);
  /// `order`: Acquire or Release or both, and the scope.
  void fence(const Warp &w, uint32_t mask, uint32_t order);
  /// Strong accesses of lanes at an address (of the host): a place where
  /// threads may meet. `order` is op.target.
  void synchronize(const Warp &w, uint32_t mask, const void *address,
                   uint32_t order);

  // --- mbarriers ---
  /// What arrivals of a phase release, and what waits acquire.
  struct Object {
    Clock open, done;
    unsigned agent = 0;
    unsigned initWarp = 0, initLane = 0;
    uint32_t initStamp = 0;
    bool isInitFenced = false, isPublished = false;
    /// A fence has made the init known to the asynchronous proxy.
    bool isProxyFenced = false;
    /// Relaxed operations work on it: its phases are ordered by other means.
    bool isRelaxed = false;
    struct Use {
      unsigned agent = 0, warp = 0, lane = 0;
      uint32_t stamp = 0;
      const Op *op = nullptr; ///< null: none
    };
    /// What has completed the phase before this one, and what completes this
    /// one.
    Use completed, completes;
    std::vector<Use> uses; ///< the last one by each warp
  };
  /// For a new mbarrier: gives Mbarrier::order.
  uint32_t addObject();
  Object &object(const Mbarrier &barrier);
  const Object &object(const Mbarrier &barrier) const;
  void completePhase(const Mbarrier &barrier);
  /// An asynchronous operation that lane `lane` of a warp issued signals the
  /// mbarrier. `known`: what the lane knew when it did, if that is not now.
  void signal(const Mbarrier &barrier, unsigned warp, unsigned lane,
              uint32_t stamp, const Clock *known);
  /// A lane uses it.
  void use(const Mbarrier &barrier, const Object::Use &by);
  /// The phase is about to be completed by this.
  void completedBy(const Mbarrier &barrier, const Object::Use &by);
  /// Who initialised it is known to those that may use it.
  void initialised(const Mbarrier &barrier, unsigned warp, unsigned lane);
  bool knowsInit(const Mbarrier &barrier, unsigned warp, unsigned lane) const;
  /// fence.mbarrier_init: the next cluster barrier publishes what the warp has
  /// initialised.
  void fenceInit(const Warp &w);
  /// fence.proxy.async: the same for the asynchronous proxy.
  void fenceProxy(const Warp &w, uint32_t mask);

  // --- groups of asynchronous copies ---
  /// A bulk copy of a lane that a group tracks, and groups as they are closed
  /// and waited for. `agent`: that of what it reads, or of what it writes,
  /// which `read` does not wait for.
  void addBulk(unsigned warp, unsigned lane, unsigned agent, uint32_t stamp,
               bool writes);
  void commitBulk(const Warp &w, uint32_t mask);
  void waitBulk(const Warp &w, uint32_t mask, uint32_t open, bool read);
  /// cp.async of a lane for which an mbarrier is signalled: a cp.async.wait of
  /// the lane covers them too.
  void addCopies(unsigned warp, unsigned lane, unsigned agent, uint32_t stamp);
  void waitCopies(const Warp &w, uint32_t mask);

  uint32_t warps; ///< of the whole cluster
  uint32_t agents;

private:
  /// Agents of mbarriers are added by so many, up to a number that the shadow
  /// memory can tell apart; beyond, mbarriers share them.
  static constexpr unsigned mbarrierAgents = 48, mostAgents = 1022;
  struct Group {
    uint32_t mask;
    Clock clock;
  };
  struct Event {
    uint32_t mask, stamp;
    const void *address;
    Clock clock;
  };
  /// What fences have made ready for relaxed accesses to release, and what
  /// relaxed accesses have read that fences acquire. The fence and the access
  /// may be of different threads with a barrier in between.
  struct Fences {
    std::vector<Event> ready, seen;
  };
  /// Adds an event; the oldest of too many are merged.
  static void note(std::vector<Event> &events, uint32_t mask, uint32_t stamp,
                   const void *address, const Clock &clock);
  /// Calls f(clock) for the events of all warps that lanes of a warp know.
  template <class F>
  void forKnown(unsigned warp, uint32_t mask, std::vector<Event> Fences::*of,
                unsigned scope, F f);
  struct WarpState {
    Clock base;
    std::vector<Group> groups;
    /// By scope: of the CTA, wider.
    Fences fences[2];
    struct Copy {
      unsigned lane, agent;
      uint32_t stamp, group;
      bool writes = false;
    };
    std::vector<Copy> bulk, copies;   ///< not waited for
    uint32_t closed[32] = {};         ///< bulk groups of each lane
    std::vector<uint32_t> loadFences; ///< stamps that are nothing but this
  };
  void touch(unsigned warp);
  void advance(unsigned warp);
  void setLimit(unsigned warp);
  /// Where there are too many agents they share.
  unsigned fit(unsigned agent) const {
    return agent < agents ? agent : warps + (agent - warps) % (agents - warps);
  }
  /// More agents, for more mbarriers.
  void grow();
  /// Does a lane (32 or more: each lane of the warp) know, by a clock of its
  /// own or of all lanes?
  template <class F> bool isKnown(unsigned warp, unsigned lane, F knows) const;
  /// Adds what lanes know, and did so far.
  void tell(unsigned warp, uint32_t mask, Clock &into);
  /// Makes sets of lanes that have no lane in common of a warp's groups.
  void separate(unsigned warp);

  Cluster &cluster;
  uint32_t ofCta;         ///< warps of a CTA
  uint32_t firstMbarrier; ///< the first agent of an mbarrier
  uint32_t now = 1;
  uint32_t highest = 0; ///< of all limits
  std::vector<uint32_t> epoch, used, limits;
  std::vector<unsigned> issuers;
  std::vector<WarpState> states;
  std::vector<Clock> barriers;
  Clock clusterOpen, clusterDone;
  struct Key {
    const void *address;
    uint32_t scope; ///< rank of the CTA, or ~0
    bool operator==(const Key &) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key &k) const {
      return (reinterpret_cast<std::size_t>(k.address) ^ std::size_t(k.scope)
                                                             << 40) *
             0x9e3779b97f4a7c15ull;
    }
  };
  std::unordered_map<Key, Clock, Hash> places;
  std::vector<Object> objects;
  uint32_t objectCount = 0;
};

} // namespace ptxsim

#endif // RUNTIME_PTXSIM_CLOCKS_H
