#include "runtime/ptxsim/GlobalRaces.h"
#include "runtime/ptxsim/Cluster.h"
#include "runtime/ptxsim/Lanes.h"

#include <cstring>
#include <fmt/format.h>

using namespace ptxsim;

namespace {

constexpr unsigned pageShift = 12;

// Of Entry::info, from the low bits: site, lane, several lanes, strong, agent.
constexpr unsigned laneShift = 14, agentShift = 22;
constexpr uint32_t siteMask = (1u << laneShift) - 1, several = 1u << 19,
                   strongBit = 1u << 20;
unsigned agentOf(uint32_t info) { return info >> agentShift; }
unsigned laneOf(uint32_t info) {
  return info & several ? warpSize : info >> laneShift & 31;
}

/// To all of `to` what `from` knows.
void join(GlobalRaces::Known &to, const GlobalRaces::Known &from) {
  for (const auto &[number, clock] : from) {
    auto [at, isNew] = to.try_emplace(number, clock);
    if (!isNew)
      at->second.join(clock);
  }
}

/// As good as ordered between clusters?
bool isWide(uint32_t scope) { return scope == 0 || scope >= Order::Gpu; }

} // namespace

GlobalRaces::GlobalRaces(Launch &launch)
    : launch(launch), shift(unsigned(std::countr_zero(uint32_t(
                          launch.function->raceFacts.smallestGlobal)))) {}

void GlobalRaces::start(Cluster &cluster, uint32_t number) {
  Local &local = cluster.globalOrder;
  local.number = number;
  local.events.clear();
  local.ready.clear(), local.seen.clear();
}

GlobalRaces::Cell &GlobalRaces::cellAt(uint64_t address) {
  const uint64_t page = address >> pageShift;
  if (page != lastPage) {
    Page &p = pages[page];
    if (!p.cells)
      p.cells = std::make_unique<Cell[]>(size_t(1) << (pageShift - shift));
    lastPage = page, lastCells = p.cells.get();
  }
  return lastCells[(address & ((1u << pageShift) - 1)) >> shift];
}

GlobalRaces::Entry GlobalRaces::entryOf(Warp &w, const Op &op, unsigned lane,
                                        bool strong) const {
  Clocks &clocks = *w.cta->clocks;
  const unsigned agent = clocks.agentOf(w);
  return {w.cta->cluster.globalOrder.number, clocks.stamp(agent),
          agent << agentShift | (strong ? strongBit : 0) |
              (lane < warpSize ? lane << laneShift : several) |
              launch.function->raceFacts.siteOf[w.indexOf(op)]};
}

/// Is an access ordered before what a lane of w does now?
bool GlobalRaces::known(Warp &w, unsigned lane, const Entry &e) const {
  const Local &local = w.cta->cluster.globalOrder;
  const Clocks &clocks = *w.cta->clocks;
  const unsigned agent = clocks.agentOf(w);
  if (e.cluster == local.number)
    return clocks.knows(agent, lane, agentOf(e.info), laneOf(e.info), e.stamp);
  for (const Local::Event &event : local.events) {
    const auto at = event.known->find(e.cluster);
    if (at != event.known->end() &&
        at->second.knows(agentOf(e.info), laneOf(e.info), e.stamp) &&
        clocks.knows(agent, lane, event.agent, event.lane, event.stamp))
      return true;
  }
  return false;
}

bool GlobalRaces::suppressed(Warp &w, const Op &op, const Entry &e) const {
  const RaceFacts &facts = w.function->raceFacts;
  const auto isCas = [&](uint32_t pc) {
    return w.function->infos[pc].form.find(".cas") != std::string_view::npos;
  };
  return facts.cas &&
         (isCas(w.indexOf(op)) || isCas(facts.sites[e.info & siteMask]));
}

void GlobalRaces::read(Warp &w, const Op &op, unsigned lane, const std::byte *p,
                       uint32_t bytes) {
  std::lock_guard lock(mutex);
  const bool strong = op.target != 0;
  const Entry mine = entryOf(w, op, lane, strong);
  const uint64_t begin = reinterpret_cast<uint64_t>(p);
  for (uint64_t a = begin >> shift << shift; a < begin + bytes;
       a += 1ull << shift) {
    Cell &cell = cellAt(a);
    if (const Entry &e = cell.write;
        e.cluster && !(strong && (e.info & strongBit)) && !known(w, lane, e) &&
        !suppressed(w, op, e))
      report(w, op, lane, a, false, e, true);
    if (cell.read.cluster && (cell.read.cluster != mine.cluster ||
                              agentOf(cell.read.info) != agentOf(mine.info)))
      cell.otherRead = cell.read;
    else if (cell.read.stamp == mine.stamp &&
             laneOf(cell.read.info) != laneOf(mine.info)) {
      cell.read.info |= several;
      continue;
    }
    cell.read = mine;
  }
}

void GlobalRaces::write(Warp &w, const Op &op, unsigned lane,
                        const std::byte *p, uint32_t bytes, const void *value) {
  std::lock_guard lock(mutex);
  const bool strong = op.target != 0;
  const Entry mine = entryOf(w, op, lane, strong);
  const uint64_t begin = reinterpret_cast<uint64_t>(p);
  for (uint64_t a = begin >> shift << shift; a < begin + bytes;
       a += 1ull << shift) {
    Cell &cell = cellAt(a);
    const auto check = [&](const Entry &e, bool otherWrites) {
      if (!e.cluster || (strong && (e.info & strongBit)) || known(w, lane, e) ||
          suppressed(w, op, e))
        return;
      // What is written is there already: nobody can tell.
      const uint64_t from = std::max(a, begin),
                     n = std::min<uint64_t>(a + (1ull << shift),
                                            begin + bytes) -
                         from;
      if (value &&
          !std::memcmp(reinterpret_cast<const void *>(from),
                       static_cast<const std::byte *>(value) + (from - begin),
                       n))
        return;
      report(w, op, lane, a, true, e, otherWrites);
    };
    check(cell.write, true);
    check(cell.read, false);
    check(cell.otherRead, false);
    cell.write = mine;
  }
}

void GlobalRaces::atomic(Warp &w, const Op &op, unsigned lane,
                         const std::byte *p, uint32_t bytes) {
  std::lock_guard lock(mutex);
  const Entry mine = entryOf(w, op, lane, true);
  const uint64_t begin = reinterpret_cast<uint64_t>(p);
  for (uint64_t a = begin >> shift << shift; a < begin + bytes;
       a += 1ull << shift) {
    Cell &cell = cellAt(a);
    const auto check = [&](const Entry &e, bool otherWrites) {
      if (e.cluster && !(e.info & strongBit) && !known(w, lane, e) &&
          !suppressed(w, op, e))
        report(w, op, lane, a, true, e, otherWrites);
    };
    check(cell.write, true);
    check(cell.read, false);
    check(cell.otherRead, false);
    cell.write = mine;
  }
}

// --- order between clusters ---

/// What lanes of w know and did so far.
std::shared_ptr<GlobalRaces::Known> GlobalRaces::tell(Warp &w, uint32_t mask) {
  Clocks &clocks = *w.cta->clocks;
  const Local &local = w.cta->cluster.globalOrder;
  const unsigned agent = clocks.agentOf(w);
  auto known = std::make_shared<Known>();
  for (const Local::Event &event : local.events) {
    bool knows = false;
    forLanes(mask, [&](unsigned l) {
      knows |= clocks.knows(agent, l, event.agent, event.lane, event.stamp);
    });
    if (knows)
      join(*known, *event.known);
  }
  Clock own(clocks.agents);
  clocks.release(agent, mask, own);
  const auto at = known->try_emplace(local.number, clocks.agents).first;
  at->second.join(own);
  return known;
}

void GlobalRaces::acquire(Warp &w, uint32_t mask,
                          const std::shared_ptr<const Known> &known) {
  note(w, mask, w.cta->cluster.globalOrder.events, known);
}

/// An event of each lane.
void GlobalRaces::note(Warp &w, uint32_t mask,
                       std::vector<Local::Event> &events,
                       const std::shared_ptr<const Known> &known) {
  Clocks &clocks = *w.cta->clocks;
  const unsigned agent = clocks.agentOf(w);
  const auto add = [&](unsigned lane) {
    for (const Local::Event &e : events)
      if (e.known == known && e.agent == agent && e.lane == lane)
        return;
    events.push_back({agent, lane, clocks.stamp(agent), known});
  };
  forLanes(mask, add);
}

bool GlobalRaces::knows(Warp &w, uint32_t mask,
                        const Local::Event &event) const {
  const Clocks &clocks = *w.cta->clocks;
  const unsigned agent = clocks.agentOf(w);
  for (; mask; mask &= mask - 1)
    if (clocks.knows(agent, unsigned(std::countr_zero(mask)), event.agent,
                     event.lane, event.stamp))
      return true;
  return false;
}

void GlobalRaces::fence(Warp &w, uint32_t mask, uint32_t order) {
  if (!isWide(Order::scopeOf(order)))
    return;
  std::lock_guard lock(mutex);
  Local &local = w.cta->cluster.globalOrder;
  for (const Local::Event &e : local.seen)
    if (order & Order::Acquire && knows(w, mask, e))
      acquire(w, mask, e.known);
  if (!(order & Order::Release))
    return;
  // The fence comes before what the warp does next.
  const unsigned agent = w.cta->clocks->agentOf(w);
  const uint32_t stamp = w.cta->clocks->stamp(agent);
  std::shared_ptr<const Known> told = tell(w, mask);
  forLanes(mask,
           [&](unsigned l) { local.ready.push_back({agent, l, stamp, told}); });
}

void GlobalRaces::meet(Warp &w, uint32_t mask, const void *p, uint32_t order) {
  if (!isWide(Order::scopeOf(order)))
    return;
  std::lock_guard lock(mutex);
  Local &local = w.cta->cluster.globalOrder;
  const auto at = places.find(p);
  if (at != places.end()) {
    if (order & Order::Acquire)
      acquire(w, mask, at->second);
    else
      note(w, mask, local.seen, at->second);
  }
  if (!(order & Order::Release) && (order & Order::Load))
    return;
  std::shared_ptr<Known> all;
  if (order & Order::Release)
    all = tell(w, mask);
  const Known *last = nullptr;
  for (const Local::Event &e : local.ready)
    if (e.known.get() != last && knows(w, mask, e)) {
      if (!all)
        all = std::make_shared<Known>();
      join(*all, *e.known);
      last = e.known.get();
    }
  if (!all)
    return;
  if (at != places.end())
    join(*all, *at->second);
  places[p] = std::move(all);
}

// --- reports ---

void GlobalRaces::report(Warp &w, const Op &op, unsigned lane, uint64_t address,
                         bool writes, const Entry &e, bool otherWrites) const {
  const Function &f = *launch.function;
  const uint32_t site = e.info & siteMask;
  const OpInfo &other = f.infos[f.raceFacts.sites[site]];
  const SourceLoc &loc = f.locs[other.loc];
  std::string at, in;
  if (loc.file) {
    auto it = f.module->files.find(loc.file);
    at = fmt::format(" (at {}:{}:{})",
                     it == f.module->files.end() ? "?" : it->second, loc.line,
                     loc.column);
  }
  if (const Allocation *a = launch.arena->find(address, 1))
    in = fmt::format(" ('{}' + {})", a->name, address - a->base);
  const unsigned warps = unsigned(w.cta->warps.size()), agent = agentOf(e.info);
  const Dim3 id = launch.idOf(e.cluster - 1, agent / warps);
  const char *here = writes ? "written" : "read",
             *there = otherWrites ? "written" : "read";
  w.fault(op, lane < warpSize ? lane : 0,
          fmt::format(
              "race: address {:#x}{} of global memory is {} here and {} by {} "
              "of cta ({},{},{}) warp {} lane {}{}, and nothing orders the two",
              address, in, here, there,
              site ? fmt::format("{}:{}: {}", f.module->filename, other.line,
                                 other.form)
                   : "an access",
              id.x, id.y, id.z, agent % warps, e.info >> laneShift & 31, at));
}
