#include "runtime/ptxsim/BulkCopies.h"

#include "runtime/ptxsim/Cta.h"

using namespace ptxsim;

void BulkCopies::defer(Transfer transfer, bool done) {
  if (done)
    transfer.data = {};
  transfer.begin();
  const uint32_t group = closed[transfer.lane];
  pending.push_back({std::move(transfer), group, done, done});
}

void BulkCopies::commit(uint32_t mask) {
  for (unsigned lane = 0; lane < 32; ++lane)
    closed[lane] += mask >> lane & 1;
}

void BulkCopies::wait(uint32_t mask, uint32_t open, bool read) {
  for (Copy &c : pending) {
    const unsigned lane = c.transfer.lane;
    if (!(mask >> lane & 1) || closed[lane] - c.group <= open)
      continue;
    if (!c.isRead)
      c.transfer.read(), c.isRead = true;
    if (!c.isReleased)
      c.transfer.release(), c.isReleased = true;
    if (!read && !c.isWritten)
      finish(c);
  }
  if (!read)
    std::erase_if(pending, [&](const Copy &c) {
      const unsigned lane = c.transfer.lane;
      return (mask >> lane & 1) && closed[lane] - c.group > open;
    });
}

void BulkCopies::finish(Copy &copy) {
  copy.transfer.write();
  copy.transfer.tellEnd();
  copy.isWritten = true;
}

void BulkCopies::finish(Warp &warp) {
  for (Copy &c : pending) {
    if (!c.isReleased && warp.cta->launch.options.checks.exitPending)
      warp.fault(*c.transfer.op, c.transfer.lane,
                 "the CTA ends while this copy may still read its shared "
                 "memory: expected a cp.async.bulk.wait_group before");
    if (!c.isRead)
      c.transfer.read();
    if (!c.isWritten)
      finish(c);
  }
  pending.clear();
}

void BulkCopies::clear() {
  pending.clear();
  std::fill(std::begin(closed), std::end(closed), 0);
}
