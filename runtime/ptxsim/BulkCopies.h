#ifndef RUNTIME_PTXSIM_BULKCOPIES_H
#define RUNTIME_PTXSIM_BULKCOPIES_H

#include "runtime/ptxsim/Transfer.h"

namespace ptxsim {

/// The bulk copies of a warp's lanes that bulk groups track and that are under
/// way. A lane's copies belong to the group that its next commit_group closes.
class BulkCopies {
public:
  void defer(Transfer transfer);
  /// cp.async.bulk.commit_group of the lanes in mask.
  void commit(uint32_t mask);
  /// wait_group: completes what is not in the last `open` closed groups;
  /// .read only reads the sources.
  void wait(uint32_t mask, uint32_t open, bool read);
  /// The CTA ends: faults if a source has not been read.
  void finish(Warp &warp);
  void clear();

private:
  struct Copy {
    Transfer transfer;
    uint32_t group;
    bool isRead = false;
  };
  std::vector<Copy> pending;
  uint32_t closed[32] = {};
};

} // namespace ptxsim

#endif // RUNTIME_PTXSIM_BULKCOPIES_H
