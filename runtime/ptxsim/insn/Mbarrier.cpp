// mbarrier.*, and cp.async.mbarrier.arrive.

#include "runtime/ptxsim/Access.h"
#include "runtime/ptxsim/Cluster.h"
#include "runtime/ptxsim/Decoder.h"
#include "runtime/ptxsim/Lanes.h"

#include <fmt/format.h>

using namespace ptxsim;

namespace {

// Op: a, e, imm, space = address; b = count, bytes, state or parity; c != 0:
// there is a count; d = result.

SharedPlace placeOf(Warp &w, const Op &op, unsigned lane) {
  return sharedPlace(w, op, lane, op.space, w.addressOf(op, lane), 8, 8);
}

/// `k.ptx:17: mbarrier.arrive.b64 of warp 3 lane 0`
std::string userOf(const Warp &w, const Cta &cta,
                   const Clocks::Object::Use &use) {
  const OpInfo &info = w.function->infos[w.indexOf(*use.op)];
  const size_t ofCta = cta.warps.size();
  return fmt::format(
      "{}:{}: {} of {}warp {} lane {}", w.function->module->filename, info.line,
      info.form,
      cta.cluster.ctas.size() > 1
          ? fmt::format("CTA {} of the cluster, ", use.warp / ofCta)
          : "",
      use.warp % ofCta, use.lane);
}

/// Who uses an mbarrier must have synchronised with who initialised it.
void requireInit(Warp &w, const Op &op, unsigned lane, const Cta &cta,
                 const Mbarrier &b) {
  const Clocks *clocks = cta.clocks;
  if (!clocks || !cta.launch.options.checks.sharedRaces ||
      clocks->knowsInit(b, clocks->agentOf(w), lane))
    return;
  const unsigned warp = clocks->object(b).initWarp;
  w.fault(op, lane,
          fmt::format("race: the mbarrier at address {:#x} of shared memory is "
                      "used here and was initialised by warp {} lane {}{}, and "
                      "no barrier orders the two",
                      b.offset, warp % cta.warps.size(),
                      clocks->object(b).initLane,
                      cta.cluster.ctas.size() > 1
                          ? fmt::format(" of CTA {} of the cluster",
                                        warp / cta.warps.size())
                          : ""));
}

/// `stamp`: of what the warp does, if that is not its present one.
Mbarrier &barrierAt(Warp &w, const Op &op, unsigned lane,
                    const SharedPlace &place, uint32_t stamp = 0) {
  if (Mbarrier *b = place.cta->mbarrier(place.address)) {
    requireInit(w, op, lane, *place.cta, *b);
    if (Clocks *clocks = place.cta->clocks;
        clocks && w.function->raceFacts.invals) {
      const unsigned warp = clocks->agentOf(w);
      clocks->use(*b,
                  {warp, warp, lane, stamp ? stamp : clocks->stamp(warp), &op});
    }
    return *b;
  }
  w.fault(op, lane,
          fmt::format("there is no mbarrier at address {:#x} of shared memory: "
                      "expected an mbarrier.init before (and no inval since)",
                      place.address),
          {{"one thread must execute mbarrier.init, and then all threads a "
            "barrier, before this instruction"}});
}

/// All uses must be ordered before the inval. Of a warp that has used it the
/// release by any lane will do: libcu++ has its lanes meet at a match.sync,
/// which promises no order of memory, and one of them release.
void requireOver(Warp &w, const Op &op, unsigned lane, const Cta &cta,
                 const Mbarrier &b) {
  const Clocks *clocks = cta.clocks;
  if (!clocks || !cta.launch.options.checks.sharedRaces)
    return;
  for (const Clocks::Object::Use &use : clocks->object(b).uses)
    if (use.op &&
        !clocks->knowsAny(clocks->agentOf(w), lane, use.agent, use.stamp))
      w.fault(op, lane,
              fmt::format("race: the mbarrier at address {:#x} of shared "
                          "memory is invalidated here and used by {}, and no "
                          "barrier orders the two",
                          b.offset, userOf(w, cta, use)),
              {{"the use", use.op},
               {"a barrier of all threads that use it, or a release by each "
                "of them that this thread acquires, is missing between the "
                "two"}});
}

/// An arrival must be ordered after the end of the phase before: else it may
/// come before that and count for that phase.
void requirePhase(Warp &w, const Op &op, unsigned lane, const Cta &cta,
                  const Mbarrier &b) {
  const Clocks *clocks = cta.clocks;
  if (!clocks || !cta.launch.options.checks.mbarrierPhases)
    return;
  const Clocks::Object &o = clocks->object(b);
  const Clocks::Object::Use &end = o.completed;
  const unsigned warp = clocks->agentOf(w);
  if (!end.op || o.isRelaxed || end.stamp < clocks->limit(warp))
    return;
  // Of another warp what any lane has released will do: DeepGEMM's lanes arrive
  // by one instruction at an mbarrier of each CTA, and wait for one of them.
  if (end.agent == warp ? clocks->knows(warp, lane, warp, end.lane, end.stamp)
                        : clocks->knowsAny(warp, lane, end.agent, end.stamp))
    return;
  w.fault(op, lane,
          fmt::format("the arrival counts for phase {} of the mbarrier at "
                      "address {:#x} here, but nothing orders it after the end "
                      "of the phase before by {}: it may count for that one "
                      "({})",
                      b.phase, b.offset, userOf(w, cta, end), b.describe()),
          {{"this has completed the phase before", end.op},
           {"the count of the mbarrier's init is too small, an arrival is one "
            "too many, or this thread must first wait for the phase before"}});
}

void require(Warp &w, const Op &op, unsigned lane, const Mbarrier::Error &e) {
  if (e)
    w.fault(op, lane, *e);
}

void init(Warp &w, const Op &op, uint32_t mask) {
  const uint32_t *count = w.row<uint32_t>(op.b);
  forLanes(mask, [&](unsigned l) {
    const SharedPlace place = placeOf(w, op, l);
    if (count[l] < 1 || count[l] > Mbarrier::maxCount)
      w.fault(op, l,
              fmt::format("expected an arrival count from 1 to {}, but got {}",
                          Mbarrier::maxCount, count[l]));
    if (const Mbarrier *b = place.cta->mbarrier(place.address)) {
      bool waited = false;
      for (const Warp &other : place.cta->warps)
        for (const Split &split : other.splits)
          waited |= split.barrier == waitsForMbarrier &&
                    split.object == place.address;
      if (w.cta->launch.options.checks.barriers)
        w.fault(op, l,
                fmt::format("there is an mbarrier at address {:#x} already "
                            "({}){}: expected an mbarrier.inval before",
                            place.address, b->describe(),
                            waited ? ", and it is being waited for" : ""));
      std::erase_if(place.cta->mbarriers, [&](const Mbarrier &other) {
        return other.offset == place.address;
      });
      if (Races *races = place.cta->races.get())
        races->setMbarrier(place.address - sharedBegin, false);
    }
    Mbarrier b;
    b.offset = place.address, b.expected = b.pending = count[l];
    if (Races *races = place.cta->races.get()) {
      const uint32_t offset = place.address - sharedBegin;
      races->write(w, op, l, offset, 8, nullptr);
      races->setMbarrier(offset, true);
      b.order = place.cta->clocks->addObject();
      place.cta->clocks->initialised(b, place.cta->clocks->agentOf(w), l);
    }
    place.cta->mbarriers.push_back(b);
    markShared(*place.cta, place.address, 8, true);
  });
}

void inval(Warp &w, const Op &op, uint32_t mask) {
  forLanes(mask, [&](unsigned l) {
    const SharedPlace place = placeOf(w, op, l);
    const Mbarrier &b = barrierAt(w, op, l, place);
    for (const Warp &other : place.cta->warps)
      for (const Split &split : other.splits)
        if (w.cta->launch.options.checks.barriers &&
            split.barrier == waitsForMbarrier && split.object == place.address)
          w.fault(op, l,
                  fmt::format("the mbarrier at address {:#x} is being waited "
                              "for by warp {} ({})",
                              place.address, other.index, b.describe()));
    requireOver(w, op, l, *place.cta, b);
    std::erase_if(place.cta->mbarriers, [&](const Mbarrier &other) {
      return other.offset == place.address;
    });
    if (Races *races = place.cta->races.get()) {
      races->setMbarrier(place.address - sharedBegin, false);
      races->write(w, op, l, place.address - sharedBegin, 8, nullptr);
    }
  });
}

template <bool complete>
void transactions(Warp &w, const Op &op, uint32_t mask) {
  const uint32_t *bytes = w.row<uint32_t>(op.b);
  forLanes(mask, [&](unsigned l) {
    const SharedPlace place = placeOf(w, op, l);
    Mbarrier &b = barrierAt(w, op, l, place);
    require(w, op, l, complete ? b.complete(bytes[l]) : b.expect(bytes[l]));
    place.cta->update(b);
  });
}

enum class Arrive : uint8_t { Plain, Expect, NoComplete };

template <Arrive kind, bool drop>
void arrive(Warp &w, const Op &op, uint32_t mask) {
  const uint32_t *operand = w.row<uint32_t>(op.b);
  uint64_t *state = w.row<uint64_t>(op.d);
  Clocks *const all = w.cta->clocks,
                *const clocks = op.target ? nullptr : all; // .relaxed
  const unsigned warp = all ? all->agentOf(w) : 0;
  // Of what is released: afterwards the warp is past it.
  const uint32_t stamp = all ? all->stamp(warp) : 0;
  const Mbarrier *last = nullptr;
  uint32_t lastPhase = 0;
  uint32_t rest = mask;
  forLanes(mask, [&](unsigned l) {
    const SharedPlace place = placeOf(w, op, l);
    Mbarrier &b = barrierAt(w, op, l, place, stamp);
    const uint64_t before = b.state();
    if (all && op.target)
      all->object(b).isRelaxed = true;
    requirePhase(w, op, l, *place.cta, b);
    // The lanes release what they did before, into the phase that they count
    // for.
    if (clocks && (&b != last || b.phase != lastPhase)) {
      uint32_t same = 0;
      forLanes(rest, [&](unsigned other) {
        same |= uint32_t(w.addressOf(op, other) == w.addressOf(op, l)) << other;
      });
      clocks->release(warp, same, clocks->object(b).open);
      last = &b, lastPhase = b.phase;
    }
    rest &= ~(1u << l);
    uint64_t count = 1;
    if (kind == Arrive::Expect)
      require(w, op, l, b.expect(operand[l]));
    else if (op.c)
      count = operand[l];
    require(w, op, l, drop ? b.drop(count) : b.arrive(count));
    if (kind == Arrive::NoComplete && b.pending == 0)
      w.fault(op, l,
              fmt::format("the arrival completes the phase of the mbarrier at "
                          "address {:#x}, which .noComplete excludes",
                          place.address));
    if (clocks && b.due())
      clocks->completedBy(b, {warp, warp, l, stamp, &op});
    place.cta->update(b);
    state[l] = before;
  });
}

template <Arrive kind> Handler arriveBy(bool drop) {
  return drop ? arrive<kind, true> : arrive<kind, false>;
}

bool passed(Warp &w, const Op &op, unsigned lane, Mbarrier &b, bool parity) {
  if (parity) {
    const uint32_t p = w.row<uint32_t>(op.b)[lane];
    // The ISA names 0 and 1; a sign-extended bit is what Triton gives, and
    // hardware looks at the lowest one.
    if (p > 1 && p != ~0u)
      w.fault(op, lane,
              fmt::format("expected a phase parity of 0 or 1, but got {}", p));
    if (!b.passedParity(p & 1))
      return false;
    b.observed = b.phase;
    return true;
  }
  const uint32_t phase = uint32_t(w.row<uint64_t>(op.b)[lane] >> 32);
  if (phase == b.phase)
    return false;
  if (phase + 1 != b.phase)
    w.fault(op, lane,
            fmt::format("the state is of phase {}, but the mbarrier at address "
                        "{:#x} is in phase {}: expected the current phase or "
                        "the one before",
                        phase, b.offset, b.phase));
  b.observed = b.phase;
  return true;
}

/// try_wait suspends the lanes whose phase is not complete until it is, or
/// until a time limit.
template <bool parity, bool blocks>
void wait(Warp &w, const Op &op, uint32_t mask) {
  uint32_t done = 0, object = 0;
  const auto look = [&](uint32_t lanes) {
    forLanes(lanes, [&](unsigned l) {
      const SharedPlace place = placeOf(w, op, l);
      Mbarrier &b = barrierAt(w, op, l, place);
      if (op.target && w.cta->clocks)
        w.cta->clocks->object(b).isRelaxed = true;
      done |= uint32_t(passed(w, op, l, b, parity)) << l;
    });
  };
  look(mask);
  // What is under way arrives for all lanes at once: those that look at one
  // barrier together must see the same.
  bool delivered = false;
  SharedPlace last{};
  forLanes(mask & ~done, [&](unsigned l) {
    const SharedPlace place = placeOf(w, op, l);
    if (place.cta == last.cta && place.address == last.address)
      return;
    last = place;
    object = place.address;
    delivered |= w.cta->cluster.deliver(*place.cta, place.address);
  });
  if (delivered)
    look(mask & ~done);
  if (Clocks *clocks = op.target ? nullptr : w.cta->clocks) // not .relaxed
    for (uint32_t rest = done; rest;) {
      const uint32_t address =
          placeOf(w, op, unsigned(std::countr_zero(rest))).address;
      uint32_t same = 0;
      forLanes(rest, [&](unsigned l) {
        same |= uint32_t(placeOf(w, op, l).address == address) << l;
      });
      clocks->acquire(clocks->agentOf(w), same,
                      clocks->object(*w.cta->mbarrier(address)).done);
      rest &= ~same;
    }
  const uint32_t waiting = blocks ? mask & ~done & ~w.expired : 0,
                 returning = mask & ~waiting;
  if (blocks)
    w.expired &= ~mask;
  uint32_t &result = w.word(op.d);
  result = (result & ~returning) | done;
  if (waiting)
    w.waitForMbarrier(op, waiting, object);
}

void pendingCount(Warp &w, const Op &op, uint32_t mask) {
  const uint64_t *a = w.row<uint64_t>(op.a);
  setLanes(w.row<uint32_t>(op.d), mask,
           [=](unsigned l) { return Mbarrier::pendingOf(a[l]); });
}

/// op.c != 0: .noinc
void arriveAfterCopies(Warp &w, const Op &op, uint32_t mask) {
  forLanes(mask, [&](unsigned l) {
    const SharedPlace place = placeOf(w, op, l);
    Mbarrier &b = barrierAt(w, op, l, place);
    requirePhase(w, op, l, *place.cta, b);
    if (!op.c && ++b.pending > Mbarrier::maxCount)
      w.fault(op, l,
              fmt::format("more than {} arrivals are pending at the mbarrier "
                          "at address {:#x}",
                          Mbarrier::maxCount, place.address));
    Transfer t;
    t.kind = Transfer::Arrive;
    t.warp = &w, t.op = &op, t.lane = l;
    t.cta = t.barrierCta = place.cta, t.barrier = place.address;
    if (Clocks *clocks = w.cta->clocks) {
      const unsigned agent = clocks->object(b).agent, warp = clocks->agentOf(w);
      t.stamp = clocks->asyncStamp(agent, warp);
      w.copies.forPending([&](const AsyncCopies::Copy &copy) {
        if (copy.lane == l)
          w.cta->races->asyncDoneBy(w, l, uint32_t(copy.to - w.cta->shared),
                                    copy.bytes, agent, t.stamp);
      });
      clocks->addCopies(warp, l, agent, t.stamp);
      t.known = knownAtIssue(w, l);
    }
    w.cta->cluster.start(std::move(t));
  });
}

/// .shared, .shared::cta, and where allowed .shared::cluster; nothing: generic.
Space takeShared(Decoder &d, bool remote) {
  if (d.takeOneOf({"shared", "shared::cta"}) >= 0)
    return Space::Shared;
  return remote && d.take("shared::cluster") ? Space::SharedCluster
                                             : Space::Generic;
}

/// A memory order and its scope; false if one stands without the other.
/// `relaxed`: it is that instead of `strict`.
bool takeOrder(Decoder &d, std::string_view strict, bool &relaxed) {
  const int order = d.takeOneOf({strict, "relaxed"});
  relaxed = order == 1;
  return (order >= 0) == (d.takeOneOf({"cta", "cluster"}) >= 0);
}

void setAddress(Op &op, const Decoder::AddressRef &at, Space space) {
  op.a = at.row, op.e = at.bits, op.imm = at.offset, op.space = space;
}

bool decodeArrive(Decoder &d, bool drop) {
  Arrive kind = d.take("expect_tx")    ? Arrive::Expect
                : d.take("noComplete") ? Arrive::NoComplete
                                       : Arrive::Plain;
  bool relaxed;
  const bool ordered = takeOrder(d, "release", relaxed);
  const Space space = takeShared(d, kind != Arrive::NoComplete);
  if (!ordered || d.takeType() != Type::B64 || !d.done())
    return false;
  kind == Arrive::Plain ? d.expect(2, 3) : d.expect(3);
  if (space == Space::SharedCluster && d[0].kind != Operand::Sink)
    d.error("expected _ as destination of an arrive at .shared::cluster");
  uint32_t state = d.destination(0, 64);
  Decoder::AddressRef at = d.address(1);
  uint32_t operand = d.size() == 3 ? d.source(2, Type::B32) : 0;
  Op &op =
      d.emit(kind == Arrive::Plain    ? arriveBy<Arrive::Plain>(drop)
             : kind == Arrive::Expect ? arriveBy<Arrive::Expect>(drop)
                                      : arriveBy<Arrive::NoComplete>(drop));
  setAddress(op, at, space);
  op.d = state, op.b = operand, op.c = operand != 0, op.target = relaxed;
  return true;
}

bool decodeWait(Decoder &d, bool blocks) {
  const bool parity = d.take("parity");
  bool relaxed;
  const bool ordered = takeOrder(d, "acquire", relaxed);
  const Space space = takeShared(d, false);
  if (!ordered || d.takeType() != Type::B64 || !d.done())
    return false;
  d.expect(3, blocks ? 4 : 3);
  uint32_t result = d.predicateDestination(d[0]);
  Decoder::AddressRef at = d.address(1);
  uint32_t operand = d.source(2, parity ? Type::B32 : Type::B64);
  if (d.size() == 4)
    d.source(3, Type::B32); // nanoseconds
  Op &op = d.emit(blocks   ? parity ? wait<true, true> : wait<false, true>
                  : parity ? wait<true, false>
                           : wait<false, false>);
  setAddress(op, at, space);
  op.d = result, op.b = operand, op.target = relaxed;
  op.flags = Control;
  return true;
}

bool decodeTransactions(Decoder &d, bool complete) {
  bool relaxed;
  const bool ordered = takeOrder(d, "relaxed", relaxed);
  const Space space = takeShared(d, true);
  if (!ordered || d.takeType() != Type::B64 || !d.done())
    return false;
  d.expect(2);
  Decoder::AddressRef at = d.address(0);
  uint32_t bytes = d.source(1, Type::B32);
  Op &op = d.emit(complete ? transactions<true> : transactions<false>);
  setAddress(op, at, space);
  op.b = bytes;
  return true;
}

bool decodeInit(Decoder &d, bool isInit) {
  const Space space = takeShared(d, false);
  if (d.takeType() != Type::B64 || !d.done())
    return false;
  d.expect(isInit ? 2 : 1);
  Decoder::AddressRef at = d.address(0);
  uint32_t count = isInit ? d.source(1, Type::B32) : 0;
  Op &op = d.emit(isInit ? init : inval);
  setAddress(op, at, space);
  op.b = count;
  return true;
}

} // namespace

bool ptxsim::decodeMbarrier(Decoder &d) {
  // arrive comes first: expect_tx may be a modifier of it.
  switch (
      d.takeOneOf({"arrive", "arrive_drop", "init", "inval", "expect_tx",
                   "complete_tx", "test_wait", "try_wait", "pending_count"})) {
  case 0:
    return decodeArrive(d, false);
  case 1:
    return decodeArrive(d, true);
  case 2:
    return decodeInit(d, true);
  case 3:
    return decodeInit(d, false);
  case 4:
    return decodeTransactions(d, false);
  case 5:
    return decodeTransactions(d, true);
  case 6:
    return decodeWait(d, false);
  case 7:
    return decodeWait(d, true);
  case 8: {
    if (d.takeType() != Type::B64 || !d.done())
      return false;
    d.expect(2);
    uint32_t count = d.destination(0, 32), state = d.source(1, Type::B64);
    Op &op = d.emit(pendingCount);
    op.d = count, op.a = state;
    return true;
  }
  default:
    return false;
  }
}

bool ptxsim::decodeCopyArrive(Decoder &d) {
  if (!d.take("async") || !d.take("mbarrier") || !d.take("arrive"))
    return false;
  const bool noinc = d.take("noinc");
  const Space space = takeShared(d, false);
  if (d.takeType() != Type::B64 || !d.done())
    return false;
  d.expect(1);
  Decoder::AddressRef at = d.address(0);
  Op &op = d.emit(arriveAfterCopies);
  setAddress(op, at, space);
  op.c = noinc;
  return true;
}
