#include "runtime/ptxsim/Cluster.h"
#include "runtime/ptxsim/FaultText.h"
#include "runtime/ptxsim/Lanes.h"

#include <fmt/format.h>

using namespace ptxsim;

namespace {
/// Back edges a split may take while others wait for it, before one of them
/// gets a turn: it may be spinning on what they will do.
constexpr unsigned spinLimit = 1024;
} // namespace

// --- running ---

void Warp::run(uint64_t quantum, bool anywhere) {
  if (!active && !select())
    return;
  for (bool again = true; again;)
    try {
      again = false;
      if (!cta->launch.observers.empty())
        anywhere ? interpret<true, true>(quantum)
                 : interpret<false, true>(quantum);
      else
        anywhere ? interpret<true, false>(quantum)
                 : interpret<false, false>(quantum);
    } catch (const FollowEverything &load) {
      // The load has done nothing yet, and counts when it does.
      const Op &op = *load.op;
      --counters->warpInstructions;
      counters->threadInstructions -=
          unsigned(std::popcount(active & (word(op.guard) ^ op.guardFlip)));
      followEverything(*this);
      pc = indexOf(op);
      again = true;
    }
}

const UndefinedStep *Warp::stepOf(const Op &op) const {
  if (!plan)
    return nullptr;
  const uint32_t step = plan->stepOf[indexOf(op)];
  return step == ~0u ? nullptr : &plan->steps[step];
}

namespace {
/// Instructions executed, added up also when the loop is left by a fault.
struct Tally {
  Counters &counters;
  uint64_t executed = 0, threads = 0;
  ~Tally() {
    counters.warpInstructions += executed;
    counters.threadInstructions += threads;
  }
};
} // namespace

template <bool Anywhere, bool Observed> void Warp::interpret(uint64_t quantum) {
  const Op *ip = ops + pc;
  Tally tally{*counters};
  uint64_t &executed = tally.executed, &threads = tally.threads;
  uint8_t attention = attentionOf();
  const bool watch =
      function->usesWgmma && cta->launch.options.checks.wgmmaHazards;
  for (;;) {
    const Op &op = *ip;
    if (Anywhere && executed >= quantum) {
      pc = indexOf(op);
      break;
    }
    if (op.flags & attention) {
      if ((op.flags & Leader) && !splits.empty() && mustSwitch(op)) {
        pc = indexOf(op);
        if (!select())
          break;
        ip = ops + pc;
        attention = attentionOf();
        continue;
      }
      // Undefined values may reach it, also by a guard that is false.
      const UndefinedStep *step =
          op.flags & attention & (FollowedRegisters | Followed) ? stepOf(op)
                                                                : nullptr;
      if (op.flags & Control) {
        const uint32_t mask = active & (word(op.guard) ^ op.guardFlip);
        ++executed;
        threads += unsigned(std::popcount(mask));
        if (!mask && !(op.flags & RunsEmpty) && !(step && step->guard.shadow)) {
          if (Observed)
            observed(op, mask);
          ++ip;
          continue;
        }
        nextPc = indexOf(op) + 1;
        if (watch)
          watchRegisters(op, mask);
        if (Observed)
          observed(op, mask);
        else if (step)
          undefinedStep(*this, op, *step, mask);
        else
          op.fn(*this, op, mask);
        pc = nextPc;
        if (stop) {
          stop = false;
          if (!select())
            break;
          attention = attentionOf();
          if (executed >= quantum)
            break;
        } else if (nextPc <= indexOf(op)) {
          if (!splits.empty())
            ++spins;
          if (executed >= quantum)
            break;
        }
        ip = ops + pc;
        continue;
      }
      if (step && !Observed) {
        const uint32_t mask = active & (word(op.guard) ^ op.guardFlip);
        ++executed;
        threads += unsigned(std::popcount(mask));
        if (mask || step->guard.shadow) {
          if (watch)
            watchRegisters(op, mask);
          undefinedStep(*this, op, *step, mask);
        }
        ++ip;
        continue;
      }
    }
    const uint32_t mask = active & (word(op.guard) ^ op.guardFlip);
    ++executed;
    threads += unsigned(std::popcount(mask));
    if (mask) {
      if (watch)
        watchRegisters(op, mask);
      Observed ? observed(op, mask) : op.fn(*this, op, mask);
    } else if (Observed) {
      observed(op, mask);
    }
    if (Observed)
      attention = attentionOf();
    ++ip;
  }
}

/// Must another split run (or join) before the running one, which is at the
/// start of a block, goes on?
bool Warp::mustSwitch(const Op &op) {
  const uint32_t at = indexOf(op);
  bool other = false;
  for (const Split &split : splits) {
    if (!split.runnable())
      continue;
    if (split.pc == at)
      return true;
    if (spins > spinLimit || (!favour && ops[split.pc].order < op.order))
      other = true;
  }
  if (favour)
    --favour;
  return other;
}

void Warp::mergeSplits() {
  for (size_t i = 0; i < splits.size(); ++i)
    for (size_t j = i + 1; j < splits.size();) {
      Split &a = splits[i], &b = splits[j];
      if (a.pc == b.pc && a.barrier == b.barrier &&
          bool(a.waitingFor) == bool(b.waitingFor)) {
        a.mask |= b.mask;
        a.waitingFor |= b.waitingFor;
        b = splits.back();
        splits.pop_back();
      } else {
        ++j;
      }
    }
}

/// Chooses the split that runs; false if all wait (or none is left).
bool Warp::select() {
  uint32_t spinning = 0;
  if (active) {
    if (spins > spinLimit)
      spinning = active;
    splits.push_back({pc, active, 0, -1, false});
    active = 0;
  }
  if (splits.empty()) {
    blocked = false;
    return false;
  }
  if (splits.size() > 1)
    mergeSplits();
  // Lanes at a .sync instruction go on when those they wait for are there, or
  // have exited.
  uint32_t meeting = 0;
  for (const Split &split : splits)
    if (split.anywhere)
      meeting |= split.mask;
  for (Split &split : splits) {
    if (!split.waitingFor ||
        (split.waitingFor & live & ~(split.anywhere ? meeting : split.mask)))
      continue;
    const uint32_t members = split.waitingFor;
    split.waitingFor = 0;
    if (split.anywhere) {
      split.anywhere = false, ++split.pc;
      ++cta->cluster.syncs;
      if (cta->clocks)
        cta->clocks->syncWarp(*this, members);
    }
  }
  if (splits.size() > 1)
    mergeSplits();
  size_t best = splits.size();
  for (size_t i = 0; i < splits.size(); ++i) {
    if (!splits[i].runnable())
      continue;
    if (best == splits.size()) {
      best = i;
      continue;
    }
    bool bestSpins = splits[best].mask & spinning,
         spins = splits[i].mask & spinning;
    if (bestSpins != spins
            ? bestSpins
            : ops[splits[i].pc].order < ops[splits[best].pc].order)
      best = i;
  }
  outOfTurn = spinning != 0;
  if (spinning) {
    spins = 0;
    favour = spinLimit;
  }
  if (best == splits.size()) {
    for (const Split &split : splits)
      if (split.barrier >= 0) {
        blocked = true;
        return false;
      }
    // Every lane waits for lanes that wait themselves.
    std::string others;
    for (size_t i = 1; i < splits.size(); ++i)
      others +=
          fmt::format("{} lanes {:#x} wait at line {} for {:#x}",
                      i > 1 ? "," : "", splits[i].mask,
                      function->infos[splits[i].pc].line, splits[i].waitingFor);
    fault(ops[splits[0].pc], unsigned(std::countr_zero(splits[0].mask)),
          fmt::format("deadlock: lanes {:#x} wait for lanes {:#x}{}{}",
                      splits[0].mask, splits[0].waitingFor & live,
                      others.empty() ? " of which some never come" : ";",
                      others));
  }
  active = splits[best].mask;
  pc = splits[best].pc;
  splits[best] = splits.back();
  splits.pop_back();
  if (splits.empty())
    spins = favour = 0;
  blocked = false;
  return true;
}

// --- what control handlers call ---

/// Live lanes that the membermasks of the lanes of mask name and that are not
/// there with the same membermask.
uint32_t Warp::missingLanes(const Op &op, uint32_t mask, uint32_t members) {
  const uint32_t *m = row<uint32_t>(members);
  uint32_t missing = 0;
  // Lanes with the same membermask are a group; usually there is one.
  for (uint32_t rest = mask; rest;) {
    unsigned lane = unsigned(std::countr_zero(rest));
    uint32_t group = 0;
    forLanes(rest,
             [&](unsigned l) { group |= uint32_t(m[l] == m[lane]) << l; });
    if (group & ~m[lane])
      fault(
          op, unsigned(std::countr_zero(group & ~m[lane])),
          fmt::format("the lane is not in its own membermask {:#x}", m[lane]));
    missing |= m[lane] & live & ~group;
    rest &= ~group;
  }
  return missing;
}

bool Warp::together(const Op &op, uint32_t mask, uint32_t members) {
  uint32_t missing = missingLanes(op, mask, members);
  if (!missing)
    return true;
  splits.push_back({indexOf(op), mask, mask | missing, -1, false});
  active &= ~mask;
  stop = true;
  return false;
}

void Warp::meet(const Op &op, uint32_t mask, uint32_t members) {
  uint32_t missing = missingLanes(op, mask, members);
  if (!missing) {
    ++cta->cluster.syncs;
    if (cta->clocks)
      for (uint32_t rest = mask; rest;) {
        const uint32_t group =
            row<uint32_t>(members)[std::countr_zero(rest)] & live;
        cta->clocks->syncWarp(*this, group);
        rest &= ~group;
      }
    return;
  }
  splits.push_back({indexOf(op), mask, mask | missing, -1, true});
  active &= ~mask;
  stop = true;
}

bool Warp::waitsForSpinning(const Op &op, uint32_t mask) {
  if (mask == live)
    return false;
  bool wait = outOfTurn;
  for (const Split &split : splits)
    wait |= split.waitingFor && split.pc == indexOf(op);
  if (!wait)
    return false;
  splits.push_back({indexOf(op), mask, live, -1, false});
  active &= ~mask;
  stop = true;
  return true;
}

void Warp::waitAtBarrier(const Op &op, uint32_t mask, int barrier) {
  splits.push_back({indexOf(op) + 1, mask, 0, barrier, false});
  active &= ~mask;
  stop = true;
}

void Warp::waitForMbarrier(const Op &op, uint32_t mask, uint32_t offset) {
  splits.push_back({indexOf(op), mask, 0, waitsForMbarrier, false, offset});
  active &= ~mask;
  stop = true;
}

void Warp::waitForWarpgroup(const Op &op, uint32_t mask) {
  splits.push_back({indexOf(op), mask, 0, waitsForWarpgroup, false});
  active &= ~mask;
  stop = true;
}

void Warp::waitForRegisters(const Op &op, uint32_t mask) {
  splits.push_back({indexOf(op), mask, 0, waitsForRegisters, false});
  active &= ~mask;
  stop = true;
}

void Warp::jump(uint32_t mask, uint32_t target) {
  if (mask == active) {
    nextPc = target;
    return;
  }
  splits.push_back({target, mask, 0, -1, false});
  active &= ~mask;
  stop = true;
}

void Warp::exitLanes(uint32_t mask) {
  if (cta->launch.options.checks.exitPending)
    if (const AsyncCopies::Copy *copy = copies.find(mask))
      fault(ops[copy->pc], copy->lane,
            "the copy is still in flight when its thread exits: expected a "
            "cp.async.wait_group before",
            {{"the last cp.async.wait_group leaves it in flight, or there is "
              "none: cp.async.wait_all before the end covers it"}});
  live &= ~mask;
  active &= ~mask;
  stop = true;
}

// --- errors ---

void Warp::requireConverged(const Op &op, uint32_t mask) {
  if (mask == live || !cta->launch.options.checks.divergence)
    return;
  std::string others;
  Notes notes;
  for (const Split &split : splits) {
    others +=
        fmt::format("{} lanes {:#x} are at line {}", others.empty() ? ";" : ",",
                    split.mask, function->infos[split.pc].line);
    notes.push_back(
        {fmt::format("lanes {:#x} are here", split.mask), &ops[split.pc]});
  }
  if (uint32_t off = active & ~mask)
    others += fmt::format("{} lanes {:#x} have a false guard",
                          others.empty() ? ";" : ",", off);
  fault(op, unsigned(std::countr_zero(mask)),
        fmt::format("the warp must execute this together, but only lanes {:#x} "
                    "of {:#x} do{}",
                    mask, live, others),
        notes);
}

void Warp::fault(const Op &op, unsigned lane, const std::string &message,
                 const Notes &notes, FaultKind kind) {
  throw Fault{faultText(*this, op, lane, message, notes), kind};
}
