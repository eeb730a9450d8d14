#include "runtime/ptxsim/Cluster.h"
#include "runtime/ptxsim/Access.h"
#include "runtime/ptxsim/FaultText.h"
#include "runtime/ptxsim/Observer.h"

#include <algorithm>
#include <fmt/format.h>

using namespace ptxsim;

namespace {
/// A try_wait gives up after a while. When all warps wait, waits time out this
/// often before nothing is expected to change any more.
constexpr unsigned timeoutLimit = 256;
} // namespace

Cluster::Cluster(Launch &launch) : launch(launch) {
  const Dim3 d = launch.cluster;
  for (unsigned rank = 0; rank < d.x * d.y * d.z; ++rank)
    ctas.emplace_back(launch, *this, rank);
  const Checks &checks = launch.options.checks;
  const Function &f = *launch.function;
  const Cta &first = ctas.front();
  // One thread alone races only with what works asynchronously.
  const bool hasShared =
      first.sharedEnd != sharedBegin &&
      (checks.sharedRaces || checks.asyncHazards) &&
      (launch.block.x * launch.block.y * launch.block.z > 1 ||
       ctas.size() > 1 || f.usesAsyncProxy || f.raceFacts.mbarriers ||
       f.raceFacts.copies);
  if (!hasShared && !launch.globalRaces)
    return;
  clocks = std::make_unique<Clocks>(*this);
  for (Cta &cta : ctas) {
    cta.clocks = clocks.get();
    if (cta.sharedEnd != sharedBegin)
      cta.races =
          std::make_unique<Races>(cta, *clocks, cta.sharedEnd - sharedBegin);
  }
}

Counters Cluster::counters() const {
  Counters sum;
  for (const Cta &cta : ctas)
    sum += cta.counters;
  return sum;
}

Dim3 Launch::idOf(uint64_t number, unsigned rank) const {
  const Dim3 c = cluster, n = {grid.x / c.x, grid.y / c.y, grid.z / c.z};
  return {uint32_t(number % n.x) * c.x + rank % c.x,
          uint32_t(number / n.x % n.y) * c.y + rank / c.x % c.y,
          uint32_t(number / n.x / n.y) * c.z + rank / c.x / c.y};
}

void Cluster::run(uint64_t number) {
  start(number);
  while (turn())
    ;
}

void Cluster::start(uint64_t number) {
  transfers.clear();
  maps.clear();
  origins.clear();
  generation = 0;
  events = eventsAtWake = 0;
  syncs = 1;
  timeouts = 0;
  randomState = launch.options.asyncSeed + number * 0x632be59bd9b4e019ull;
  const Dim3 c = launch.cluster, n = {launch.grid.x / c.x, launch.grid.y / c.y,
                                      launch.grid.z / c.z};
  const Dim3 at = {uint32_t(number % n.x), uint32_t(number / n.x % n.y),
                   uint32_t(number / n.x / n.y)};
  for (Cta &cta : ctas) {
    cta.start(at);
    for (Observer *o : launch.observers)
      o->ctaStarts(cta);
  }
  if (clocks) {
    if (clocks->isOld()) {
      for (Cta &cta : ctas)
        if (cta.races)
          cta.races->clear();
      clocks->rewind();
    }
    clocks->restart();
    if (launch.globalRaces)
      launch.globalRaces->start(*this, uint32_t(number) + 1);
  }
  instructionsBefore = counters().warpInstructions;
}

bool Cluster::turn() {
  bool alive = false, progress = false;
  for (Cta &cta : ctas)
    cta.runWarps(alive, progress);
  if (!alive) {
    for (Cta &cta : ctas) {
      cta.finish();
      for (Observer *o : launch.observers)
        o->ctaEnds(cta);
    }
    if (launch.globalRaces)
      launch.globalRaces->finish(*this);
    return false;
  }
  if (!progress && !wakeWaiters())
    deadlock();
  if (launch.failed.load(std::memory_order_relaxed))
    return false;
  const uint64_t limit = launch.options.instructionLimit;
  if (limit && counters().warpInstructions - instructionsBefore > limit)
    for (const Cta &cta : ctas)
      for (const Warp &w : cta.warps)
        if (w.live && !w.blocked)
          throw Fault{
              faultText(w, w.ops[w.pc], std::nullopt,
                        fmt::format("the CTA has executed more than {} warp "
                                    "instructions: it hangs (another limit: "
                                    "--limit=N of ptxsim, limit=N in K2RT_SIM "
                                    "or PTXSIM_OPTIONS)",
                                    limit),
                        {{"the warp is here: a loop whose condition never "
                          "becomes true, or a wait for what nobody does"}}),
              FaultKind::Hang};
  return true;
}

// --- waiting ---

/// Nothing can go on: lets the waits on mbarriers look again, and when that
/// changes nothing, lets them time out. False if that has not helped either.
bool Cluster::wakeWaiters() {
  bool any = false;
  const bool expire = events == eventsAtWake;
  timeouts = expire ? timeouts + 1 : 0;
  eventsAtWake = events;
  if (timeouts >= timeoutLimit)
    return false;
  for (Cta &cta : ctas)
    for (Warp &w : cta.warps)
      for (Split &split : w.splits)
        if (split.barrier == waitsForMbarrier) {
          any = true;
          if (expire)
            w.expired |= split.mask;
          split.barrier = -1;
          w.blocked = false;
        }
  return any;
}

namespace {

/// Why those that wait cannot go on; empty if nothing can be told.
std::string likelyCause(const Cta &cta, const Split &split) {
  if (split.barrier == waitsForMbarrier) {
    for (const Mbarrier &b : cta.mbarriers) {
      if (b.offset != split.object)
        continue;
      if (b.tx > 0)
        return fmt::format("the mbarrier at {:#x} still expects {} bytes: a "
                           "copy is not issued, is smaller, or signals "
                           "another mbarrier",
                           b.offset, b.tx);
      return fmt::format("the mbarrier at {:#x} lacks {} of {} arrivals: an "
                         "arrive is missing, the count of its init is too "
                         "high, or the wait is for the wrong phase",
                         b.offset, b.pending, b.expected);
    }
    return {};
  }
  if (split.barrier == waitsForRegisters)
    return cta.registerPool.describe();
  if (split.barrier < 0 || split.barrier >= waitsForCluster)
    return {};
  const Barrier &b = cta.barriers[split.barrier];
  return fmt::format(
      "of the {} threads that barrier {} waits for {} have come: "
      "the others wait elsewhere or have exited, or its count "
      "is too high",
      b.expected ? b.expected : cta.liveWarps() * warpSize, split.barrier,
      b.arrived);
}

} // namespace

void Cluster::deadlock() {
  std::string text;
  const Warp *first = nullptr;
  const Op *at = nullptr;
  bool asked = false;
  Notes waiting; // the first at each line
  std::string cause;
  for (const Cta &cta : ctas)
    for (const Warp &w : cta.warps)
      for (const Split &split : w.splits) {
        const Op &op = w.ops[split.waitingAt()];
        const std::string ctaName =
            ctas.size() > 1
                ? fmt::format("cta ({},{},{}) ", cta.id.x, cta.id.y, cta.id.z)
                : std::string();
        if (waiting.size() < 4 &&
            std::none_of(waiting.begin(), waiting.end(),
                         [&](const Note &n) { return n.op == &op; }))
          waiting.push_back(
              {"waiting here: " + ctaName + cta.describeWait(w, split), &op});
        // Those that wait for registers keep the others waiting.
        const bool asks = split.barrier == waitsForRegisters && !asked;
        asked |= asks;
        if (cause.empty() || asks)
          cause = likelyCause(cta, split);
        if (!first || asks)
          first = &w, at = &op;
        text += text.empty() ? "" : "; ";
        text += ctaName + cta.describeWait(w, split);
      }
  if (!cause.empty())
    waiting.push_back({cause});
  throw Fault{faultText(*first, *at, std::nullopt,
                        "deadlock: no warp can go on: " + text, waiting),
              FaultKind::Hang};
}

// --- barrier.cluster ---

void Cluster::arrive(Warp &warp, const Op &op, uint32_t mask) {
  if (uint32_t twice = warp.clusterArrived & mask)
    warp.fault(op, unsigned(std::countr_zero(twice)),
               "barrier.cluster.arrive again without a barrier.cluster.wait");
  warp.clusterArrived |= mask;
  warp.clusterCounted |= mask;
  if (clocks)
    clocks->arriveCluster(warp, mask, op.imm != 0); // .relaxed
  checkBarrier();
}

void Cluster::wait(Warp &warp, const Op &op, uint32_t mask) {
  if (uint32_t never = mask & ~warp.clusterArrived)
    warp.fault(op, unsigned(std::countr_zero(never)),
               "barrier.cluster.wait without a barrier.cluster.arrive");
  warp.clusterArrived &= ~mask;
  // Lanes that the current generation still counts wait for its end.
  if (uint32_t waiting = mask & warp.clusterCounted)
    warp.waitAtBarrier(op, waiting, waitsForCluster);
  if (uint32_t passing = mask & ~warp.clusterCounted; clocks && passing)
    clocks->waitCluster(warp, passing);
}

void Cluster::checkBarrier() {
  bool any = false;
  for (const Cta &cta : ctas)
    for (const Warp &w : cta.warps) {
      if (w.live & ~w.clusterCounted)
        return;
      any |= w.clusterCounted != 0;
    }
  if (!any)
    return;
  ++generation, ++events, ++syncs;
  for (Observer *o : launch.observers)
    o->clusterReleased(*this);
  if (clocks)
    clocks->releaseCluster();
  for (Cta &cta : ctas)
    for (Warp &w : cta.warps) {
      w.clusterCounted = 0;
      if (clocks)
        for (const Split &split : w.splits)
          if (split.barrier == waitsForCluster)
            clocks->waitCluster(w, split.mask);
      w.wake(waitsForCluster);
    }
}

// --- copies ---

void Cluster::start(Transfer transfer) {
  if (launch.options.async == Async::Eager)
    return transfer.run();
  transfer.begin();
  transfers.push_back(std::move(transfer));
  ++events;
}

bool Cluster::deliver(const Cta &cta, uint32_t barrier) {
  bool any = false;
  const bool isRandom = launch.options.async == Async::Random;
  for (size_t i = 0; i < transfers.size();) {
    if (transfers[i].barrierCta != &cta || transfers[i].barrier != barrier) {
      ++i;
      continue;
    }
    // At least one, so that waits end.
    if (isRandom && any && random() % 2) {
      ++i;
      continue;
    }
    Transfer due = std::move(transfers[i]);
    transfers.erase(transfers.begin() + long(i));
    due.run();
    ++events;
    any = true;
  }
  return any;
}

const Transfer *Cluster::pendingFor(const Cta &cta) const {
  for (const Transfer &t : transfers)
    if (t.kind != Transfer::Arrive && t.barrierCta == &cta)
      return &t;
  return nullptr;
}

uint64_t Cluster::random() {
  uint64_t x = randomState += 0x9e3779b97f4a7c15ull;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ x >> 27) * 0x94d049bb133111ebull;
  return x ^ x >> 31;
}

void Cluster::deliverRandomly() {
  const auto pick = [this] { return random() % 8 == 0; };
  for (size_t i = 0; i < transfers.size();) {
    if (!pick()) {
      ++i;
      continue;
    }
    Transfer due = std::move(transfers[i]);
    transfers.erase(transfers.begin() + long(i));
    due.run();
    ++events;
  }
  for (Cta &cta : ctas)
    for (Warp &w : cta.warps) {
      w.bulkCopies.advance(pick);
      w.copies.forPending([&](AsyncCopies::Copy &copy) {
        if (!copy.arrived && pick())
          arriveEarly(copy);
      });
      if (!w.wgmma.pending.empty() && pick())
        advanceWgmma(w);
    }
}

const Transfer *Cluster::writing(const Cta &cta, uint32_t offset,
                                 uint32_t bytes) const {
  for (const Transfer &t : transfers)
    if (t.kind != Transfer::Arrive && t.cta == &cta &&
        offset < t.offset + t.bytes && t.offset < offset + bytes)
      return &t;
  return nullptr;
}
