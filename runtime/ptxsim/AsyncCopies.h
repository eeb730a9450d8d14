#ifndef RUNTIME_PTXSIM_ASYNCCOPIES_H
#define RUNTIME_PTXSIM_ASYNCCOPIES_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ptxsim {

/// The cp.async operations of a warp's lanes that are under way. A lane's
/// copies belong to the group that its next commit_group closes; wait_group
/// counts closed groups.
class AsyncCopies {
public:
  struct Copy {
    std::byte *to = nullptr;
    const std::byte *from = nullptr; ///< null if size is 0
    uint8_t lane = 0, bytes = 0;
    uint8_t size = 0;     ///< bytes that are read; the rest is zero
    bool arrived = false; ///< its bytes, before the wait
    uint32_t group = 0;
    uint32_t pc = 0;
  };
  /// A copy of these lanes that is under way, or null.
  const Copy *find(uint32_t mask) const {
    for (const Copy &copy : pending)
      if (mask >> copy.lane & 1)
        return &copy;
    return nullptr;
  }

  /// Keeps a copy until its group is waited for.
  void defer(Copy copy) {
    copy.group = closed[copy.lane];
    pending.push_back(copy);
  }
  /// commit_group of the lanes in mask.
  void commit(uint32_t mask) {
    for (unsigned lane = 0; lane < 32; ++lane)
      closed[lane] += mask >> lane & 1;
  }
  /// wait_group: calls deliver for what is not in the last `open` closed groups
  /// of each lane in mask, nor in the group that is still open.
  template <class Deliver>
  void wait(uint32_t mask, uint32_t open, Deliver deliver) {
    deliverIf(deliver, [&](const Copy &copy) {
      return (mask >> copy.lane & 1) && closed[copy.lane] - copy.group > open;
    });
  }
  /// wait_all: also what no group has closed yet.
  template <class Deliver> void waitAll(uint32_t mask, Deliver deliver) {
    deliverIf(deliver, [&](const Copy &copy) { return mask >> copy.lane & 1; });
  }
  /// Calls f for each copy under way.
  template <class F> void forPending(F f) {
    for (Copy &copy : pending)
      f(copy);
  }
  /// For a new CTA. What nobody waited for is never delivered.
  void clear() {
    pending.clear();
    std::fill(std::begin(closed), std::end(closed), 0);
  }

private:
  /// In the order of issue.
  template <class Deliver, class Due> void deliverIf(Deliver deliver, Due due) {
    std::erase_if(pending, [&](const Copy &copy) {
      if (!due(copy))
        return false;
      deliver(copy);
      return true;
    });
  }
  std::vector<Copy> pending;
  uint32_t closed[32] = {}; ///< groups that each lane has closed
};

} // namespace ptxsim

#endif // RUNTIME_PTXSIM_ASYNCCOPIES_H
