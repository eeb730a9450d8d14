#include "runtime/ptxsim/Clocks.h"
#include "runtime/ptxsim/Cluster.h"
#include "runtime/ptxsim/Lanes.h"

#include <algorithm>

using namespace ptxsim;

namespace {
/// Sets of lanes of a warp of which each knows something else, before they are
/// made sets that have no lane in common.
constexpr size_t mostGroups = 40;
/// Fences, and accesses before fences, that are kept apart.
constexpr size_t mostEvents = 8;
} // namespace

void Clock::clear() {
  std::fill(all.begin(), all.end(), 0);
  parts.clear();
}

void Clock::join(const Clock &other) {
  const size_t n = other.all.size();
  if (all.size() < n)
    all.resize(n);
  for (size_t i = 0; i < n; ++i)
    all[i] = std::max(all[i], other.all[i]);
  if (parts.empty() && other.parts.empty())
    return;
  for (const Part &theirs : other.parts) {
    auto mine = std::find_if(parts.begin(), parts.end(), [&](const Part &p) {
      return p.agent == theirs.agent;
    });
    if (mine == parts.end()) {
      parts.push_back(theirs);
      continue;
    }
    for (unsigned l = 0; l < warpSize; ++l)
      mine->stamps[l] = std::max(mine->stamps[l], theirs.stamps[l]);
  }
  std::erase_if(parts, [&](const Part &p) {
    uint32_t most = 0;
    for (uint32_t stamp : p.stamps)
      most = std::max(most, stamp);
    return most <= all[p.agent];
  });
}

void Clock::add(unsigned agent, uint32_t lanes, uint32_t stamp) {
  if (stamp <= all[agent])
    return;
  auto part = std::find_if(parts.begin(), parts.end(),
                           [&](const Part &p) { return p.agent == agent; });
  if (part == parts.end())
    part = parts.insert(part, {agent, {}});
  forLanes(lanes, [&](unsigned l) {
    part->stamps[l] = std::max(part->stamps[l], stamp);
  });
}

bool Clock::knowsPart(unsigned agent, unsigned lane, uint32_t stamp) const {
  for (const Part &p : parts)
    if (p.agent == agent) {
      if (lane < warpSize)
        return stamp <= p.stamps[lane];
      unsigned knowing = 0;
      for (uint32_t at : p.stamps)
        knowing += stamp <= at;
      return knowing > 1;
    }
  return false;
}

bool Clock::knowsAny(unsigned agent, uint32_t stamp) const {
  if (stamp <= all[agent])
    return true;
  for (const Part &p : parts)
    if (p.agent == agent)
      for (uint32_t at : p.stamps)
        if (stamp <= at)
          return true;
  return false;
}

Clocks::Clocks(Cluster &cluster) : cluster(cluster) {
  const Cta &cta = cluster.ctas.front();
  const Function &f = *cta.launch.function;
  ofCta = uint32_t(cta.warps.size());
  warps = ofCta * uint32_t(cluster.ctas.size());
  agents = warps;
  firstMbarrier = 2 * warps + (warps + 3) / 4;
  if (cta.launch.globalRaces)
    firstMbarrier += warps;
  if (f.usesAsyncProxy || f.usesWgmma || f.raceFacts.mbarriers)
    agents =
        std::min(firstMbarrier + mbarrierAgents, std::max(mostAgents, warps));
  epoch.resize(agents), used.resize(agents), limits.resize(warps);
  issuers.resize(agents);
  for (unsigned w = 0; w < warps; ++w)
    issuers[w] = w;
  states.resize(warps);
  for (WarpState &s : states) {
    s.base = Clock(agents);
  }
  barriers.resize(16 * cluster.ctas.size(), Clock(agents));
  clusterOpen = clusterDone = Clock(agents);
}

void Clocks::restart() {
  for (unsigned a = 0; a < agents; ++a)
    used[a] = 0;
  ++now;
  for (unsigned w = 0; w < warps; ++w) {
    WarpState &s = states[w];
    s.base.clear();
    std::fill(s.base.all.begin(), s.base.all.end(), now - 1);
    s.groups.clear();
    s.bulk.clear(), s.copies.clear(), s.loadFences.clear();
    std::fill(std::begin(s.closed), std::end(s.closed), 0);
    for (Fences &fences : s.fences)
      fences.ready.clear(), fences.seen.clear();
    epoch[w] = now;
  }
  highest = 0;
  for (unsigned w = 0; w < warps; ++w)
    setLimit(w);
  for (Clock &b : barriers)
    b.clear();
  clusterOpen.clear(), clusterDone.clear();
  places.clear();
  objectCount = 0;
}

// --- agents and stamps ---

unsigned Clocks::agentOf(const Warp &w) const {
  return w.cta->rank * ofCta + w.index;
}

/// The warp does something for the first time since it has published what it
/// did. Limits did not take it into account: its stamp must be above them.
void Clocks::touch(unsigned warp) {
  if (epoch[warp] < highest)
    epoch[warp] = now;
  used[warp] = epoch[warp];
}

/// What the warp does next has not been published.
void Clocks::advance(unsigned warp) {
  if (used[warp] == epoch[warp])
    epoch[warp] = ++now;
}

/// Agents that have done nothing since what the warp knows of them do not hold
/// it back.
void Clocks::setLimit(unsigned warp) {
  const uint32_t *known = states[warp].base.all.data();
  uint32_t least = now - 1;
  for (unsigned a = 0; a < agents; ++a)
    least = std::min(least, used[a] > known[a] ? known[a] : ~0u);
  limits[warp] = least + 1;
  highest = std::max(highest, least + 1);
}

template <class F>
bool Clocks::isKnown(unsigned warp, unsigned lane, F knows) const {
  const WarpState &s = states[warp];
  if (knows(s.base))
    return true;
  if (s.groups.empty())
    return false;
  // Several lanes: each must know.
  const uint32_t mask =
      lane < warpSize ? 1u << lane
                      : cluster.ctas[warp / ofCta].warps[warp % ofCta].live;
  uint32_t knowing = 0;
  for (const Group &g : s.groups)
    if (g.mask & mask & ~knowing && knows(g.clock))
      knowing |= g.mask;
  return !(mask & ~knowing);
}

bool Clocks::knowsAny(unsigned warp, unsigned lane, unsigned agent,
                      uint32_t stamp) const {
  return agent == warp || isKnown(warp, lane, [=](const Clock &clock) {
           return clock.knowsAny(agent, stamp);
         });
}

bool Clocks::knows(unsigned warp, unsigned lane, unsigned agent,
                   unsigned otherLane, uint32_t stamp) const {
  if (agent == warp && lane == otherLane && lane < warpSize)
    return true;
  return isKnown(warp, lane, [=](const Clock &clock) {
    return clock.knows(agent, otherLane, stamp);
  });
}

// --- order ---

void Clocks::tell(unsigned warp, uint32_t mask, Clock &into) {
  WarpState &s = states[warp];
  into.join(s.base);
  for (const Group &g : s.groups)
    if (g.mask & mask)
      into.join(g.clock);
  const unsigned ofWarp = warp % ofCta;
  const Warp &w = cluster.ctas[warp / ofCta].warps[ofWarp];
  // In an epoch that it has not used yet the warp has done nothing.
  const uint32_t last = epoch[warp] - (used[warp] != epoch[warp]);
  if (!(w.live & ~mask)) {
    into.all[warp] = std::max(into.all[warp], last);
    return;
  }
  into.add(warp, mask, last);
}

void Clocks::separate(unsigned warp) {
  WarpState &s = states[warp];
  const uint32_t live = cluster.ctas[warp / ofCta].warps[warp % ofCta].live;
  std::vector<Group> sets;
  for (uint32_t rest = live; rest;) {
    // The lanes that are in the same groups as the first one.
    const uint32_t first = rest & (0u - rest);
    uint32_t same = rest;
    bool any = false;
    for (const Group &g : s.groups) {
      same &= g.mask & first ? g.mask : ~g.mask;
      any |= (g.mask & first) != 0;
    }
    rest &= ~same;
    if (!any)
      continue;
    Group &set = sets.emplace_back(Group{same, Clock(agents)});
    for (const Group &g : s.groups)
      if (g.mask & first)
        set.clock.join(g.clock);
  }
  s.groups = std::move(sets);
}

void Clocks::release(unsigned warp, uint32_t mask, Clock &into) {
  tell(warp, mask, into);
  advance(warp);
}

void Clocks::acquire(unsigned warp, uint32_t mask, const Clock &from) {
  WarpState &s = states[warp];
  const Warp &w = cluster.ctas[warp / ofCta].warps[warp % ofCta];
  if (!(w.live & ~mask)) {
    s.base.join(from);
    return setLimit(warp);
  }
  for (Group &g : s.groups)
    if (g.mask == mask)
      return g.clock.join(from);
  if (s.groups.size() >= mostGroups)
    separate(warp);
  s.groups.push_back({mask, from});
}

void Clocks::learn(unsigned warp, uint32_t mask, unsigned agent,
                   uint32_t stamp) {
  WarpState &s = states[warp];
  const Warp &w = cluster.ctas[warp / ofCta].warps[warp % ofCta];
  if (s.base.all[agent] >= stamp)
    return;
  if (w.live & ~mask) {
    for (Group &g : s.groups)
      if (g.mask == mask) {
        g.clock.all[agent] = std::max(g.clock.all[agent], stamp);
        return;
      }
    Clock clock(agents);
    clock.all[agent] = stamp;
    return acquire(warp, mask, clock);
  }
  s.base.all[agent] = stamp;
  setLimit(warp);
}

void Clocks::syncWarp(const Warp &w, uint32_t mask) {
  const unsigned warp = agentOf(w);
  WarpState &s = states[warp];
  mask &= w.live;
  if (!(w.live & ~mask)) {
    for (const Group &g : s.groups)
      s.base.join(g.clock);
    s.groups.clear();
    tell(warp, mask, s.base);
    advance(warp);
    return setLimit(warp);
  }
  Clock clock(agents);
  tell(warp, mask, clock);
  advance(warp);
  std::erase_if(s.groups, [&](const Group &g) { return !(g.mask & ~mask); });
  s.groups.push_back({mask, std::move(clock)});
}

void Clocks::fenceLoads(const Warp &w) {
  constexpr size_t most = 1 << 16;
  std::vector<uint32_t> &fences = states[agentOf(w)].loadFences;
  if (fences.size() == most)
    fences.erase(fences.begin(), fences.begin() + most / 2);
  fences.push_back(++now);
  epoch[agentOf(w)] = ++now;
}

bool Clocks::areLoadsOver(unsigned warp, unsigned lane, unsigned agent,
                          uint32_t stamp) const {
  if (agent >= warps)
    return false;
  const std::vector<uint32_t> &fences = states[agent].loadFences;
  const auto next = std::upper_bound(fences.begin(), fences.end(), stamp);
  return next != fences.end() && knowsAny(warp, lane, agent, *next);
}

void Clocks::meet(const Warp *warpsThere, unsigned count) {
  Clock met(agents);
  const unsigned first = agentOf(warpsThere[0]);
  for (unsigned i = 0; i < count; ++i)
    release(first + i, warpsThere[i].live, met);
  for (unsigned i = 0; i < count; ++i) {
    states[first + i].base.join(met);
    states[first + i].groups.clear();
    setLimit(first + i);
  }
}

void Clocks::arrive(const Warp &w, uint32_t mask, unsigned barrier) {
  release(agentOf(w), mask, barriers[w.cta->rank * 16 + barrier]);
}

void Clocks::releaseBarrier(unsigned rank, unsigned barrier,
                            const std::vector<Waiting> &waiting,
                            uint32_t over) {
  Clock &b = barriers[rank * 16 + barrier];
  // Warps that stand at the barrier have done nothing since they arrived.
  for (const Waiting &w : waiting)
    if (w.isAll)
      b.all[rank * ofCta + w.warp] = now;
  forLanes(over, [&](unsigned u) { b.all[rank * ofCta + u] = now; });
  ++now;
  for (const Waiting &w : waiting) {
    const unsigned warp = rank * ofCta + w.warp;
    WarpState &s = states[warp];
    if (w.isAll) {
      s.base.join(b);
      s.groups.clear();
      epoch[warp] = now;
      setLimit(warp);
    } else {
      acquire(warp, w.mask, b);
    }
  }
  b.clear();
}

void Clocks::arriveCluster(const Warp &w, uint32_t mask, bool relaxed) {
  const unsigned warp = agentOf(w);
  if (!relaxed) {
    release(warp, mask, clusterOpen);
    for (uint32_t i = 0; i < objectCount; ++i)
      objects[i].isInitFenced |= objects[i].initWarp == warp;
  } else {
    forKnown(warp, mask, &Fences::ready, 1,
             [&](const Clock &clock) { clusterOpen.join(clock); });
  }
}

void Clocks::releaseCluster() {
  // The barrier does not wait for warps that have exited.
  for (unsigned w = 0; w < warps; ++w)
    if (!cluster.ctas[w / ofCta].warps[w % ofCta].live)
      clusterOpen.all[w] = std::max(clusterOpen.all[w], epoch[w]);
  std::swap(clusterOpen, clusterDone);
  clusterOpen.clear();
  for (uint32_t i = 0; i < objectCount; ++i)
    objects[i].isPublished |= objects[i].isInitFenced;
}

void Clocks::waitCluster(const Warp &w, uint32_t mask) {
  acquire(agentOf(w), mask, clusterDone);
}

void Clocks::note(std::vector<Event> &events, uint32_t mask, uint32_t stamp,
                  const void *address, const Clock &clock) {
  for (Event &e : events)
    if (e.mask == mask && e.stamp == stamp && e.address == address)
      return e.clock.join(clock);
  if (events.size() >= mostEvents) {
    events[1].clock.join(events[0].clock);
    events.erase(events.begin());
  }
  events.push_back({mask, stamp, address, clock});
}

template <class F>
void Clocks::forKnown(unsigned warp, uint32_t mask,
                      std::vector<Event> Fences::*of, unsigned scope, F f) {
  for (unsigned u = 0; u < warps; ++u)
    for (const Event &e : states[u].fences[scope].*of) {
      bool isKnown = u == warp && (e.mask & mask);
      for (uint32_t rest = mask; rest && !isKnown; rest &= rest - 1)
        isKnown =
            knows(warp, unsigned(std::countr_zero(rest)), u,
                  e.mask & (e.mask - 1) ? warpSize
                                        : unsigned(std::countr_zero(e.mask)),
                  e.stamp);
      if (isKnown)
        f(e.clock);
    }
}

void Clocks::fence(const Warp &w, uint32_t mask, uint32_t order) {
  if (!w.function->raceFacts.fences)
    return;
  const unsigned warp = agentOf(w);
  const uint32_t at = stamp(warp);
  const unsigned end = Order::scopeOf(order) == Order::Cta ? 1 : 2;
  for (unsigned i = 0; i < end && order & Order::Acquire; ++i) {
    Clock seen(agents);
    forKnown(warp, mask, &Fences::seen, i,
             [&](const Clock &clock) { seen.join(clock); });
    acquire(warp, mask, seen);
  }
  if (!(order & Order::Release))
    return;
  Clock ready(agents);
  tell(warp, mask, ready);
  for (unsigned i = 0; i < end; ++i)
    note(states[warp].fences[i].ready, mask, at, nullptr, ready);
  advance(warp);
}

void Clocks::synchronize(const Warp &w, uint32_t mask, const void *address,
                         uint32_t order) {
  if (!w.function->raceFacts.fences)
    return;
  const unsigned warp = agentOf(w);
  // Of the CTA, and of wider scopes: the accesses of two threads synchronise if
  // the scopes of both include both.
  for (unsigned i = 0; i < 2; ++i) {
    if (i == 1 && Order::scopeOf(order) == Order::Cta)
      break;
    const Key key{address, i == 0 ? w.cta->rank : ~0u};
    auto at = places.find(key);
    if (at != places.end()) {
      if (order & Order::Acquire)
        acquire(warp, mask, at->second);
      else
        note(states[warp].fences[i].seen, mask, stamp(warp), address,
             at->second);
    }
    const auto place = [&]() -> Clock & {
      if (at == places.end())
        at = places.emplace(key, Clock(agents)).first;
      return at->second;
    };
    if (order & Order::Release)
      tell(warp, mask, place());
    else if (!(order & Order::Load))
      forKnown(warp, mask, &Fences::ready, i,
               [&](const Clock &clock) { place().join(clock); });
  }
  if (order & Order::Release)
    advance(warp);
}
