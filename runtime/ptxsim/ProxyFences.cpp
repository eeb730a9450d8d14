#include "runtime/ptxsim/ProxyFences.h"
#include "runtime/ptxsim/Cluster.h"
#include "runtime/ptxsim/Lanes.h"

#include <fmt/format.h>

using namespace ptxsim;

unsigned ProxyFences::agentOf(const Warp &w) const {
  return w.cta->rank * unsigned(w.cta->warps.size()) + w.index;
}

uint32_t ProxyFences::stampOf(unsigned agent) const {
  return cluster.clocks ? cluster.clocks->stamp(agent) : 0;
}

void ProxyFences::clear() {
  std::fill(heads.begin(), heads.end(), 0);
  writes.resize(1);
  unused.clear();
}

void ProxyFences::write(const Warp &w, const Op &op, uint32_t lanes,
                        uint32_t offset, uint32_t bytes) {
  const unsigned agent = agentOf(w);
  const uint32_t sync = cluster.syncs, stamp = stampOf(agent);
  for (uint32_t unit = offset / 16; unit <= (offset + bytes - 1) / 16; ++unit) {
    // What a lane wrote before is covered wherever its new write is.
    uint32_t found = 0;
    for (uint32_t i = heads[unit]; i; i = writes[i].next) {
      Write &old = writes[i];
      if (old.agent != agent)
        continue;
      if (!(old.lanes & ~lanes) ||
          (old.sync == sync && old.stamp == stamp && old.fences.empty()))
        found = i;
      else
        old.lanes &= ~lanes;
    }
    if (!found) {
      if (unused.empty()) {
        found = uint32_t(writes.size());
        writes.emplace_back();
      } else {
        found = unused.back();
        unused.pop_back();
      }
      writes[found] = {unit, heads[unit], agent, 0, 0, 0, 0, &w, {}};
      heads[unit] = found;
    }
    Write &entry = writes[found];
    entry.lanes =
        entry.sync == sync && entry.stamp == stamp && entry.fences.empty()
            ? entry.lanes | lanes
            : lanes;
    entry.sync = sync, entry.stamp = stamp, entry.pc = w.indexOf(op);
    entry.fences.clear();
  }
}

/// Lanes whose writes are over for one of these lanes of the agent.
uint32_t ProxyFences::coveredBy(unsigned agent, uint32_t lanes,
                                const Write &write) const {
  uint32_t covered = agent == write.agent ? write.lanes & lanes : 0;
  if (write.sync == cluster.syncs)
    return covered; // nothing has synchronised since
  const Clocks *clocks = cluster.clocks.get();
  if (!clocks)
    return write.lanes;
  if (clocks->isUniform(agent))
    lanes &= ~(lanes - 1); // one of them speaks for all
  for (uint32_t rest = write.lanes & ~covered; rest; rest &= rest - 1) {
    const unsigned x = unsigned(std::countr_zero(rest));
    for (uint32_t by = lanes; by; by &= by - 1)
      if (clocks->knows(agent, unsigned(std::countr_zero(by)), write.agent, x,
                        write.stamp)) {
        covered |= 1u << x;
        break;
      }
  }
  return covered;
}

void ProxyFences::fence(const Warp &w, uint32_t lanes) {
  const unsigned agent = agentOf(w);
  const uint32_t sync = cluster.syncs, stamp = stampOf(agent);
  for (uint32_t i = 1; i < writes.size(); ++i) {
    Write &write = writes[i];
    if (!write.lanes)
      continue;
    const uint32_t covers = coveredBy(agent, lanes, write);
    if (!covers)
      continue;
    // Of several fences of a thread the first is known to most.
    bool isKnown = false;
    for (const Fence &f : write.fences)
      isKnown |= f.agent == agent && f.lanes == lanes && !(covers & ~f.covers);
    if (!isKnown)
      write.fences.push_back({agent, lanes, covers, sync, stamp});
  }
}

void ProxyFences::drop(uint32_t unit) {
  for (uint32_t i = heads[unit]; i;) {
    const uint32_t next = writes[i].next;
    writes[i].lanes = 0;
    writes[i].fences.clear();
    unused.push_back(i);
    i = next;
  }
  heads[unit] = 0;
}

/// Does a lane know of the fence?
bool ProxyFences::isOver(const Fence &f, const Warp &w, unsigned lane) const {
  const unsigned agent = agentOf(w);
  if (agent == f.agent && (lane == warpSize || f.lanes >> lane & 1))
    return true;
  if (f.sync == cluster.syncs)
    return false;
  const Clocks *clocks = cluster.clocks.get();
  if (!clocks)
    return true;
  const unsigned by = std::popcount(f.lanes) == 1
                          ? unsigned(std::countr_zero(f.lanes))
                          : warpSize;
  for (uint32_t rest = lane < warpSize ? 1u << lane : w.live; rest;
       rest &= rest - 1)
    if (clocks->knows(agent, unsigned(std::countr_zero(rest)), f.agent, by,
                      f.stamp))
      return true;
  return false;
}

void ProxyFences::check(Warp &w, const Op &op, unsigned lane, uint32_t unit) {
  for (uint32_t i = heads[unit]; i; i = writes[i].next) {
    const Write &write = writes[i];
    uint32_t left = write.lanes, fenced = 0;
    for (const Fence &f : write.fences) {
      fenced |= f.covers;
      if ((f.covers & left) && isOver(f, w, lane))
        left &= ~f.covers;
    }
    if (!left)
      continue;
    const bool isUnordered = !(left & ~fenced);
    const Op *by = write.warp->ops + write.pc;
    w.fault(op, lane < warpSize ? lane : 0,
            fmt::format("address {:#x} (offset {}) of shared memory is read by "
                        "the asynchronous proxy, but {}",
                        unit * 16 + sharedBegin, unit * 16,
                        isUnordered
                            ? "no barrier orders the fence.proxy.async that "
                              "has followed its last write before this read"
                            : "no fence.proxy.async has followed its last "
                              "write"),
            {{fmt::format("the write, by warp {} lane {}", write.warp->index,
                          std::countr_zero(left)),
              by},
             {isUnordered
                  ? "a barrier is missing between that fence and this "
                    "instruction"
                  : "a fence.proxy.async.shared::cta by the thread that wrote "
                    "is missing after its store and before the barrier that "
                    "precedes this instruction"}});
  }
  // Who reads it after this one need not be told again.
  drop(unit);
}
