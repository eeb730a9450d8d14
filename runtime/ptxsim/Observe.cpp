// The instrumented variant of executing one op: tells the observers.

#include "runtime/ptxsim/Cta.h"
#include "runtime/ptxsim/Lanes.h"
#include "runtime/ptxsim/Observer.h"

#include <algorithm>

using namespace ptxsim;

namespace {

void tell(Warp &w, const Op &op, const MemoryAccess &access) {
  for (Observer *o : w.cta->launch.observers)
    o->access(w, op, access);
}

void tellAccess(Warp &w, const Op &op, uint32_t mask, const OpFacts &facts) {
  uint64_t at[warpSize];
  const bool matrix = facts.memory == MemoryKind::LoadMatrix ||
                      facts.memory == MemoryKind::StoreMatrix;
  if (matrix)
    mask = op.count >= 4 ? allLanes : (1u << 8 * op.count) - 1;
  for (unsigned l = 0; l < warpSize; ++l)
    at[l] = w.addressOf(op, l);
  observeAccess(w, op, facts.memory, op.space, mask, at, facts.bytes);
}

} // namespace

void ptxsim::observeAccess(Warp &w, const Op &op, MemoryKind kind, Space space,
                           uint32_t mask, const uint64_t *addresses,
                           uint32_t bytes) {
  MemoryAccess access;
  access.kind = kind;
  access.cached = w.cta->launch.facts[w.indexOf(op)].cached;
  access.bytes = bytes;
  access.at = addresses;
  if (space != Space::Generic) {
    access.space = space;
    access.mask = mask;
    return tell(w, op, access);
  }
  uint64_t at[warpSize];
  std::copy_n(addresses, warpSize, at);
  access.at = at;
  for (uint32_t rest = mask; rest;) {
    const uint64_t window = at[std::countr_zero(rest)] & windowMask;
    uint32_t same = 0;
    forLanes(rest, [&](unsigned l) {
      same |= uint32_t((at[l] & windowMask) == window) << l;
    });
    rest &= ~same;
    access.mask = same;
    access.space = window == sharedWindow  ? Space::SharedCluster
                   : window == localWindow ? Space::Local
                   : window == paramWindow ? Space::Param
                                           : Space::Global;
    forLanes(same, [&](unsigned l) { at[l] -= window; });
    tell(w, op, access);
  }
}

void Warp::observed(const Op &op, uint32_t mask) {
  const Launch &launch = cta->launch;
  for (Observer *o : launch.observers)
    o->issue(*this, op, mask);
  const UndefinedStep *step = stepOf(op);
  if (!mask && !(op.flags & RunsEmpty)) {
    if (step && step->guard.shadow)
      undefinedStep(*this, op, *step, mask);
    return;
  }
  const OpFacts &facts = launch.facts[indexOf(op)];
  if (mask && facts.memory != MemoryKind::None && !facts.tellsItself)
    tellAccess(*this, op, mask, facts);
  try {
    step ? undefinedStep(*this, op, *step, mask) : op.fn(*this, op, mask);
  } catch (const FollowEverything &) {
    followEverything(*this);
    step = stepOf(op);
    step ? undefinedStep(*this, op, *step, mask) : op.fn(*this, op, mask);
  }
  uint32_t again = 0;
  if (stop)
    for (const Split &split : splits)
      if (split.pc == indexOf(op) && !split.runnable() && !split.anywhere)
        again |= split.mask & mask;
  for (Observer *o : launch.observers)
    o->executed(*this, op, mask, again);
}

void ptxsim::observeAsyncCopy(Warp &w, const Op &op, uint32_t mask,
                              const uint64_t *sources, const uint64_t *targets,
                              const uint32_t *sizes) {
  MemoryAccess access;
  access.kind = MemoryKind::AsyncLoad;
  access.cached = w.cta->launch.facts[w.indexOf(op)].cached;
  access.at = sources;
  // Lanes that read equally much at a time.
  uint32_t rest = mask;
  forLanes(mask, [&](unsigned l) { rest &= ~(uint32_t(!sizes[l]) << l); });
  while (rest) {
    access.bytes = sizes[std::countr_zero(rest)];
    access.mask = 0;
    forLanes(rest, [&](unsigned l) {
      access.mask |= uint32_t(sizes[l] == access.bytes) << l;
    });
    rest &= ~access.mask;
    tell(w, op, access);
  }
  access.kind = MemoryKind::AsyncStore;
  access.space = Space::Shared;
  access.at = targets, access.bytes = op.count, access.mask = mask;
  tell(w, op, access);
}
