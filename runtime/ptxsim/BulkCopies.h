#ifndef RUNTIME_PTXSIM_BULKCOPIES_H
#define RUNTIME_PTXSIM_BULKCOPIES_H

#include "runtime/ptxsim/Transfer.h"

namespace ptxsim {

/// The bulk copies of a warp's lanes that bulk groups track and that are under
/// way. A lane's copies belong to the group that its next commit_group closes.
class BulkCopies {
public:
  /// `done`: it has taken effect already, and only counts as under way.
  void defer(Transfer transfer, bool done);
  /// cp.async.bulk.commit_group of the lanes in mask.
  void commit(uint32_t mask);
  /// wait_group: completes what is not in the last `open` closed groups;
  /// .read only reads the sources.
  void wait(uint32_t mask, uint32_t open, bool read);
  /// The CTA ends: faults if a source has not been read.
  void finish(Warp &warp);
  /// Async::Random: lets some take effect; pick() says which.
  template <class Pick> void advance(Pick pick) {
    for (Copy &c : pending)
      if (!c.isWritten && pick()) {
        if (c.isRead)
          finish(c);
        else
          c.transfer.read(), c.isRead = true;
      }
  }
  void clear();

private:
  struct Copy {
    Transfer transfer;
    uint32_t group;
    bool isRead = false, isWritten = false;
    bool isReleased = false; ///< its source may be written again
  };
  void finish(Copy &copy);
  std::vector<Copy> pending;
  uint32_t closed[32] = {};
};

} // namespace ptxsim

#endif // RUNTIME_PTXSIM_BULKCOPIES_H
