#include "runtime/ptxsim/BulkCopies.h"

#include "runtime/ptxsim/Cta.h"

using namespace ptxsim;

void BulkCopies::defer(Transfer transfer) {
  transfer.begin();
  const uint32_t group = closed[transfer.lane];
  pending.push_back({std::move(transfer), group});
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
    if (!read)
      c.transfer.write(), c.transfer.tellEnd();
  }
  if (!read)
    std::erase_if(pending, [&](const Copy &c) {
      const unsigned lane = c.transfer.lane;
      return (mask >> lane & 1) && closed[lane] - c.group > open;
    });
}

void BulkCopies::finish(Warp &warp) {
  for (Copy &c : pending) {
    if (!c.isRead)
      warp.fault(*c.transfer.op, c.transfer.lane,
                 "the CTA ends while this copy may still read its shared "
                 "memory: expected a cp.async.bulk.wait_group before");
    c.transfer.write();
    c.transfer.tellEnd();
  }
  pending.clear();
}

void BulkCopies::clear() {
  pending.clear();
  std::fill(std::begin(closed), std::end(closed), 0);
}
