#ifndef RUNTIME_PTXSIM_COUNTING_TIMELINE_H
#define RUNTIME_PTXSIM_COUNTING_TIMELINE_H

#include "runtime/ptxsim/Observer.h"

#include <deque>
#include <map>
#include <string>
#include <unordered_map>

namespace ptxsim {

/// Records what warps do and wait for, as a timeline for chrome://tracing or
/// Perfetto: a process per CTA, a track per warp named by its role, a slice for
/// each run of instructions of one kind and for each wait, an asynchronous
/// event for each copy.
///
/// Time is logical: every warp has a clock that an instruction advances by one;
/// a barrier or mbarrier takes those that waited to the clock of the latest
/// arrival. All CTAs begin at zero. It shows who waits for whom, not how long.
class Timeline : public Observer {
public:
  /// Keeps this many events at most.
  explicit Timeline(size_t limit = 1000000) : limit(limit) {}
  /// Of all launches so far, one behind the other.
  std::string json() const;
  /// Were there more events than the limit?
  bool isTruncated() const { return truncated; }

  void launchStarts(const Launch &launch) override;
  void launchEnds(const Launch &launch) override;
  void ctaStarts(const Cta &cta) override;
  void ctaEnds(const Cta &cta) override;
  void issue(Warp &w, const Op &op, uint32_t mask) override;
  void executed(Warp &w, const Op &op, uint32_t mask, uint32_t again) override;
  void access(Warp &w, const Op &op, const MemoryAccess &a) override;
  void copyStarts(const Transfer &t) override;
  void barrierReleased(const Cta &cta, unsigned barrier) override;
  void phaseEnds(const Cta &cta, uint32_t mbarrier) override;
  void clusterReleased(const Cluster &cluster) override;

private:
  enum class Activity : uint8_t { None, Compute, Memory, Tensor, Copy, Sync };
  struct Copy {
    std::string name;
    uint64_t begin = 0, bytes = 0;
    uint32_t line = 0, process = 0, track = 0;
  };
  struct Event {
    char phase; ///< X, i, or b: a pair of b and e
    std::string name;
    const char *category;
    uint32_t process, track;
    uint64_t begin, end;
    std::string arguments; ///< members of a JSON object
  };
  struct OfWarp {
    uint64_t clock = 0;
    Activity activity = Activity::None;
    uint64_t begin = 0, instructions = 0;
    uint32_t firstLine = 0, lastLine = 0;
    bool waits = false;    ///< at a CTA barrier, the cluster's, or an mbarrier
    int barrier = -1;      ///< the first
    uint64_t resumeAt = 0; ///< clock at which the barrier that it is just
                           ///< arriving at has been released
    uint64_t clusterArrival = 0; ///< generation at its arrival
    bool copies = false, multiplies = false;
    std::vector<Copy> open; ///< of the group that is not yet closed
    std::deque<std::vector<Copy>> groups;
  };
  struct OfMbarrier {
    uint64_t arrivals = 0, completed = 0; ///< latest clocks
    std::vector<Copy> pending, done;
  };
  struct OfCluster {
    uint64_t arrivals = 0, released = 0, generation = 0;
  };
  struct OfCta {
    uint32_t process = 0;
    std::vector<OfWarp> warps;
    uint64_t barriers[16] = {};
    std::map<uint32_t, OfMbarrier> mbarriers;
  };

  OfCta &of(const Cta &cta);
  OfWarp &of(const Warp &w);
  void add(Event event);
  void nameTracks(const OfCta &cta);
  void closeSlice(const OfCta &cta, uint32_t track, OfWarp &w);
  void endWait(const OfCta &cta, uint32_t track, OfWarp &w, uint64_t at,
               const std::string &what);
  void endCopies(std::vector<Copy> &copies, uint64_t at);
  void waitGroups(OfWarp &w, uint64_t open);

  size_t limit;
  bool truncated = false;
  uint32_t processes = 0;
  const OfWarp *arriving = nullptr; ///< who arrived last at a CTA barrier
  const Launch *launch = nullptr;
  /// Under way: those of a cluster, or all of a cooperative launch.
  std::unordered_map<const Cta *, OfCta> ctas;
  std::unordered_map<const Cluster *, OfCluster> clusters;
  std::vector<Event> events;
  std::vector<std::string> metadata;
};

} // namespace ptxsim

#endif // RUNTIME_PTXSIM_COUNTING_TIMELINE_H
