// What mbarriers and groups of asynchronous copies order.

#include "runtime/ptxsim/Clocks.h"
#include "runtime/ptxsim/Cluster.h"
#include "runtime/ptxsim/Lanes.h"

#include <algorithm>

using namespace ptxsim;

// --- mbarriers ---

uint32_t Clocks::addObject() {
  if (objectCount == objects.size()) {
    Object &added = objects.emplace_back();
    added.open = added.done = Clock(agents);
  }
  if (firstMbarrier + objectCount >= agents && agents < mostAgents)
    grow();
  Object &o = objects[objectCount];
  o.open.clear(), o.done.clear();
  o.isInitFenced = o.isPublished = o.isProxyFenced = o.isRelaxed = false;
  o.completed = o.completes = {};
  o.uses.clear();
  o.agent = fit(firstMbarrier + objectCount);
  return objectCount++;
}

void Clocks::grow() {
  agents = std::min(agents + mbarrierAgents, mostAgents);
  epoch.resize(agents), used.resize(agents), issuers.resize(agents);
  const auto widen = [this](Clock &clock) { clock.all.resize(agents); };
  for (WarpState &s : states) {
    // What an agent did before there was one is over.
    s.base.all.resize(agents, now - 1);
    for (Group &g : s.groups)
      widen(g.clock);
    for (Fences &fences : s.fences)
      for (std::vector<Event> *events : {&fences.ready, &fences.seen})
        for (Event &e : *events)
          widen(e.clock);
  }
  for (Clock &b : barriers)
    widen(b);
  widen(clusterOpen), widen(clusterDone);
  for (auto &[key, clock] : places)
    widen(clock);
  for (Object &o : objects)
    widen(o.open), widen(o.done);
}

Clocks::Object &Clocks::object(const Mbarrier &barrier) {
  return objects[barrier.order];
}

const Clocks::Object &Clocks::object(const Mbarrier &barrier) const {
  return objects[barrier.order];
}

void Clocks::completePhase(const Mbarrier &barrier) {
  Object &o = object(barrier);
  o.done.join(o.open);
  o.open.clear();
  o.completed = o.completes;
  o.completes = {};
}

void Clocks::signal(const Mbarrier &barrier, unsigned warp, unsigned lane,
                    uint32_t stamp, const Clock *known) {
  Object &o = object(barrier);
  o.open.all[o.agent] = std::max(o.open.all[o.agent], stamp);
  // A cp.async.mbarrier.arrive covers what earlier ones of the lane covered.
  for (const WarpState::Copy &c : states[warp].copies)
    if (c.lane == lane && c.stamp <= stamp)
      o.open.all[c.agent] = std::max(o.open.all[c.agent], c.stamp);
  if (known)
    o.open.join(*known);
  else
    release(warp, 1u << lane, o.open);
}

void Clocks::use(const Mbarrier &barrier, const Object::Use &by) {
  Object &o = object(barrier);
  o.uses.resize(warps);
  o.uses[by.warp] = by;
}

void Clocks::completedBy(const Mbarrier &barrier, const Object::Use &by) {
  object(barrier).completes = by;
}

void Clocks::initialised(const Mbarrier &barrier, unsigned warp,
                         unsigned lane) {
  Object &o = object(barrier);
  o.initWarp = warp, o.initLane = lane, o.initStamp = stamp(warp);
}

bool Clocks::knowsInit(const Mbarrier &barrier, unsigned warp,
                       unsigned lane) const {
  const Object &o = objects[barrier.order];
  return o.initStamp < limits[warp] || o.isPublished ||
         knows(warp, lane, o.initWarp, o.initLane, o.initStamp);
}

void Clocks::fenceInit(const Warp &w) {
  for (uint32_t i = 0; i < objectCount; ++i)
    if (objects[i].initWarp == agentOf(w))
      objects[i].isInitFenced = objects[i].isProxyFenced = true;
}

void Clocks::fenceProxy(const Warp &w, uint32_t mask) {
  for (uint32_t i = 0; i < objectCount; ++i) {
    Object &o = objects[i];
    if (!o.isProxyFenced)
      forLanes(mask, [&](unsigned l) {
        o.isProxyFenced |=
            knows(agentOf(w), l, o.initWarp, o.initLane, o.initStamp);
      });
  }
}

// --- groups of asynchronous copies ---

void Clocks::addBulk(unsigned warp, unsigned lane, unsigned agent,
                     uint32_t stamp, bool writes) {
  WarpState &s = states[warp];
  s.bulk.push_back({lane, agent, stamp, s.closed[lane], writes});
}

void Clocks::commitBulk(const Warp &w, uint32_t mask) {
  WarpState &s = states[agentOf(w)];
  forLanes(mask, [&](unsigned l) { ++s.closed[l]; });
}

void Clocks::waitBulk(const Warp &w, uint32_t mask, uint32_t open, bool read) {
  const unsigned warp = agentOf(w);
  WarpState &s = states[warp];
  std::erase_if(s.bulk, [&](const WarpState::Copy &c) {
    if (!(mask >> c.lane & 1) || s.closed[c.lane] - c.group <= open ||
        (read && c.writes))
      return false;
    learn(warp, 1u << c.lane, c.agent, c.stamp);
    return true;
  });
}

void Clocks::addCopies(unsigned warp, unsigned lane, unsigned agent,
                       uint32_t stamp) {
  WarpState &s = states[warp];
  if (s.copies.size() >= 256)
    waitCopies(cluster.ctas[warp / ofCta].warps[warp % ofCta], allLanes);
  s.copies.push_back({lane, agent, stamp, 0});
}

void Clocks::waitCopies(const Warp &w, uint32_t mask) {
  const unsigned warp = agentOf(w);
  std::erase_if(states[warp].copies, [&](const WarpState::Copy &c) {
    if (!(mask >> c.lane & 1))
      return false;
    learn(warp, 1u << c.lane, c.agent, c.stamp);
    return true;
  });
}
