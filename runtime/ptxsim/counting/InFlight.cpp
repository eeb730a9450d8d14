#include "runtime/ptxsim/counting/InFlight.h"

#include <algorithm>

using namespace ptxsim;

void InFlight::OfWarp::note() { peak = std::max(peak, loadBytes + asyncBytes); }

void InFlight::restart(size_t n, size_t rows) {
  warps.assign(n, {});
  for (OfWarp &w : warps)
    w.pending.resize(rows);
  barriers.clear();
  bulk = bulkPeak = 0;
}

void InFlight::use(unsigned warp, std::span<const uint32_t> rows) {
  OfWarp &w = warps[warp];
  if (w.loads.empty())
    return;
  for (uint32_t row : rows)
    // Loads come back in order: up to the last one into this row.
    while (w.pending[row / 64]) {
      const Load &first = w.loads.front();
      for (uint32_t r : first.rows)
        --w.pending[r / 64];
      w.loadBytes -= first.bytes;
      w.loads.pop_front();
    }
}

void InFlight::load(unsigned warp, std::span<const uint32_t> rows,
                    uint64_t bytes) {
  if (!bytes)
    return;
  OfWarp &w = warps[warp];
  w.loads.push_back({{rows.begin(), rows.end()}, bytes});
  for (uint32_t row : rows)
    ++w.pending[row / 64];
  w.loadBytes += bytes;
  w.note();
}

void InFlight::asyncLoad(unsigned warp, uint64_t bytes) {
  OfWarp &w = warps[warp];
  w.open += bytes;
  w.asyncBytes += bytes;
  w.note();
}

void InFlight::commit(unsigned warp) {
  OfWarp &w = warps[warp];
  w.groups.push_back(w.open);
  w.open = 0;
}

void InFlight::wait(unsigned warp, uint64_t open) {
  OfWarp &w = warps[warp];
  while (w.groups.size() > open) {
    w.asyncBytes -= w.groups.front();
    w.groups.pop_front();
  }
}

void InFlight::waitAll(unsigned warp) {
  wait(warp, 0);
  OfWarp &w = warps[warp];
  w.asyncBytes -= w.open;
  w.open = 0;
}

void InFlight::moveTo(unsigned warp, uint32_t barrier) {
  const uint64_t bytes = warps[warp].asyncBytes;
  waitAll(warp);
  bulkLoad(barrier, bytes);
}

void InFlight::bulkLoad(uint32_t barrier, uint64_t bytes) {
  barriers[barrier] += bytes;
  bulk += bytes;
  bulkPeak = std::max(bulkPeak, bulk);
}

void InFlight::passed(uint32_t barrier) {
  if (auto it = barriers.find(barrier); it != barriers.end()) {
    bulk -= it->second;
    barriers.erase(it);
  }
}

uint64_t InFlight::peak() const {
  uint64_t sum = bulkPeak;
  for (const OfWarp &w : warps)
    sum += w.peak;
  return sum;
}
