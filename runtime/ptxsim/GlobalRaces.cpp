#include "runtime/ptxsim/GlobalRaces.h"
#include "runtime/ptxsim/Cluster.h"
#include "runtime/ptxsim/Lanes.h"

#include <cstring>
#include <fmt/format.h>

using namespace ptxsim;

namespace {

constexpr unsigned pageShift = 12;
constexpr size_t mostSteps = 1 << 12;
/// How far back a list of reads is searched for what a new one replaces.
constexpr unsigned mostSearched = 64;

// Of Entry::info, from the low bits: site, strong, agent.
constexpr unsigned agentShift = 22;
constexpr uint32_t siteMask = (1u << 14) - 1, strongBit = 1u << 20;
unsigned agentOf(uint32_t info) { return info >> agentShift; }

/// Does a clock tell all lanes of an access?
bool tells(const Clock &clock, unsigned agent, uint32_t lanes, uint32_t stamp) {
  if (agent >= clock.all.size())
    return false;
  for (; lanes; lanes &= lanes - 1)
    if (!clock.knows(agent, unsigned(std::countr_zero(lanes)), stamp))
      return false;
  return true;
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
  local.told = Clock();
}

void GlobalRaces::finish(Cluster &cluster) {
  std::lock_guard lock(mutex);
  told[cluster.globalOrder.number] = std::move(cluster.globalOrder.told);
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
                                        bool strong, const Agent *by) const {
  Clocks &clocks = *w.cta->clocks;
  const unsigned warp = clocks.agentOf(w), agent = by ? by->agent : warp;
  return {w.cta->cluster.globalOrder.number,
          by ? by->stamp : clocks.stamp(warp),
          agent << agentShift | (strong ? strongBit : 0) |
              launch.function->raceFacts.siteOf[w.indexOf(op)],
          1u << lane, uint16_t(warp)};
}

/// Is an access ordered before what a lane of w does now?
bool GlobalRaces::known(Warp &w, unsigned lane, const Entry &e) const {
  const Local &local = w.cta->cluster.globalOrder;
  const Clocks &clocks = *w.cta->clocks;
  const unsigned agent = clocks.agentOf(w), other = agentOf(e.info);
  if (e.cluster == local.number) {
    for (uint32_t rest = e.lanes; rest; rest &= rest - 1)
      if (!clocks.knows(agent, lane, other, unsigned(std::countr_zero(rest)),
                        e.stamp))
        return false;
    return true;
  }
  for (const Local::Event &event : local.events) {
    const auto at = event.known->find(e.cluster);
    if (at != event.known->end() &&
        tells(at->second, other, e.lanes, e.stamp) &&
        clocks.knows(agent, lane, event.agent, event.lane, event.stamp))
      return true;
  }
  return false;
}

/// Will no cluster ever know of this access?
bool GlobalRaces::isForEver(const Entry &e) const {
  const auto at = told.find(e.cluster);
  if (at == told.end())
    return false;
  for (uint32_t rest = e.lanes; rest; rest &= rest - 1)
    if (!tells(at->second, agentOf(e.info), rest & (0u - rest), e.stamp))
      return true;
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

/// Adds an access to those that nothing orders before each other. Where cells
/// have the same accesses and get the same one they share the list.
void GlobalRaces::add(Warp &w, unsigned lane, uint32_t &list,
                      const Entry &mine) {
  const uint32_t before = list;
  if (steps.empty())
    steps.resize(mostSteps);
  uint64_t hash = (uint64_t(before) << 32 | mine.stamp) * 0x9e3779b97f4a7c15ull;
  hash = (hash ^ (uint64_t(mine.lanes) << 32 | mine.info) ^ mine.cluster) *
         0xbf58476d1ce4e5b9ull;
  Step &step = steps[hash >> 52];
  if (step.after && step.before == before && step.entry == mine) {
    list = step.after;
    return;
  }
  const uint32_t agent = agentOf(mine.info);
  std::vector<Entry> kept; // of those that are searched
  Entry joined = mine;
  bool changes = false;
  uint32_t rest = before;
  unsigned searched = 0;
  for (; rest && searched < mostSearched; rest = nodes[rest].next, ++searched) {
    Entry e = nodes[rest].entry;
    // Nobody can ever come after that one: it stands for this one too.
    if (!((e.info & ~mine.info) & strongBit) &&
        !launch.function->raceFacts.cas && isForEver(e))
      return;
    if (e.cluster == mine.cluster && agentOf(e.info) == agent) {
      if (e.stamp == mine.stamp && e.info == mine.info) {
        joined.lanes |= e.lanes;
        changes = true;
        continue;
      }
      // The lane's own accesses before; an asynchronous agent's are over in the
      // order in which they began.
      const uint32_t over = agent < w.cta->clocks->warps ? mine.lanes : ~0u;
      if (e.lanes & over) {
        changes = true;
        if (!(e.lanes &= ~over))
          continue;
      }
    } else if (known(w, lane, e)) {
      changes = true;
      continue;
    }
    kept.push_back(e);
  }
  if (!changes)
    kept.clear(), rest = before;
  const auto push = [&](const Entry &e) {
    nodes.push_back({e, rest});
    rest = uint32_t(nodes.size() - 1);
  };
  for (size_t i = kept.size(); i-- > 0;)
    push(kept[i]);
  push(joined);
  step = {before, rest, mine};
  list = rest;
}

/// Keeps the nodes that cells still name.
void GlobalRaces::collect() {
  std::vector<uint32_t> moved(nodes.size());
  const auto forLists = [this](auto f) {
    for (auto &[number, page] : pages)
      for (size_t c = 0; c < size_t(1) << (pageShift - shift); ++c)
        f(page.cells[c].writes), f(page.cells[c].reads);
  };
  forLists([&](uint32_t &list) { moved[list] = 1; });
  // A node is younger than those behind it.
  for (size_t i = nodes.size(); i-- > 1;)
    if (moved[i])
      moved[nodes[i].next] = 1;
  uint32_t n = 1;
  moved[0] = 0;
  for (size_t i = 1; i < nodes.size(); ++i)
    if (moved[i]) {
      nodes[n] = {nodes[i].entry, moved[nodes[i].next]};
      moved[i] = n++;
    }
  nodes.resize(n);
  forLists([&](uint32_t &list) { list = moved[list]; });
  steps.clear();
  mostNodes = std::max<size_t>(1 << 22, 2 * nodes.size());
}

template <class F> void GlobalRaces::forAccesses(const Cell &cell, F f) const {
  for (uint32_t i = cell.writes; i; i = nodes[i].next)
    f(nodes[i].entry, true);
  for (uint32_t i = cell.reads; i; i = nodes[i].next)
    f(nodes[i].entry, false);
}

void GlobalRaces::read(Warp &w, const Op &op, unsigned lane, const std::byte *p,
                       uint32_t bytes, const Agent *by) {
  std::lock_guard lock(mutex);
  const bool strong = !by && op.target != 0;
  const Entry mine = entryOf(w, op, lane, strong, by);
  const uint64_t begin = reinterpret_cast<uint64_t>(p);
  if (nodes.size() > mostNodes)
    collect();
  for (uint64_t a = begin >> shift << shift; a < begin + bytes;
       a += 1ull << shift) {
    Cell &cell = cellAt(a);
    forAccesses({cell.writes, 0}, [&](const Entry &e, bool) {
      if (!(strong && (e.info & strongBit)) && !known(w, lane, e) &&
          !suppressed(w, op, e))
        report(w, op, lane, a, false, e, true);
    });
    add(w, lane, cell.reads, mine);
  }
}

void GlobalRaces::write(Warp &w, const Op &op, unsigned lane,
                        const std::byte *p, uint32_t bytes, const void *value,
                        const Agent *by) {
  std::lock_guard lock(mutex);
  const bool strong = !by && op.target != 0;
  const Entry mine = entryOf(w, op, lane, strong, by);
  const uint64_t begin = reinterpret_cast<uint64_t>(p);
  if (nodes.size() > mostNodes)
    collect();
  for (uint64_t a = begin >> shift << shift; a < begin + bytes;
       a += 1ull << shift) {
    Cell &cell = cellAt(a);
    bool isLast = true;
    forAccesses(cell, [&](const Entry &e, bool otherWrites) {
      if (known(w, lane, e))
        return;
      isLast = false;
      if ((strong && (e.info & strongBit)) || suppressed(w, op, e))
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
    });
    // Who comes after this write comes after all that it comes after.
    if (isLast)
      cell = {};
    add(w, lane, cell.writes, mine);
  }
}

void GlobalRaces::atomic(Warp &w, const Op &op, unsigned lane,
                         const std::byte *p, uint32_t bytes, const Agent *by) {
  std::lock_guard lock(mutex);
  const Entry mine = entryOf(w, op, lane, true, by);
  const uint64_t begin = reinterpret_cast<uint64_t>(p);
  if (nodes.size() > mostNodes)
    collect();
  for (uint64_t a = begin >> shift << shift; a < begin + bytes;
       a += 1ull << shift) {
    Cell &cell = cellAt(a);
    forAccesses(cell, [&](const Entry &e, bool otherWrites) {
      if (!(e.info & strongBit) && !known(w, lane, e) && !suppressed(w, op, e))
        report(w, op, lane, a, true, e, otherWrites);
    });
    add(w, lane, cell.writes, mine);
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
  w.cta->cluster.globalOrder.told.join(own);
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
  const unsigned warps = unsigned(w.cta->warps.size());
  const Dim3 id = launch.idOf(e.cluster - 1, e.warp / warps);
  const char *here = writes ? "written" : "read",
             *there = otherWrites ? "written" : "read";
  const Clocks &clocks = *w.cta->clocks;
  Notes notes;
  if (site)
    notes.push_back({fmt::format("the other access, by cta ({},{},{}) warp {} "
                                 "lane {}",
                                 id.x, id.y, id.z, e.warp % warps,
                                 std::countr_zero(e.lanes)),
                     &f.ops[f.raceFacts.sites[site]]});
  switch (clocks.kindOf(agentOf(e.info))) {
  case Clocks::Kind::BulkWrite:
    notes.push_back(
        {"what a bulk copy writes is there only when its thread "
         "has executed a cp.async.bulk.wait_group (not .read) that "
         "covers it; then that thread must release it to this one"});
    break;
  case Clocks::Kind::Mbarrier:
    notes.push_back({"a bulk copy may read its source until the phase of the "
                     "mbarrier that it signals has completed"});
    break;
  default:
    break;
  }
  w.fault(op, lane < warpSize ? lane : 0,
          fmt::format(
              "race: address {:#x}{} of global memory is {} here and {} by {} "
              "of cta ({},{},{}) warp {} lane {}{}, and nothing orders the two",
              address, in, here, there,
              site ? fmt::format("{}:{}: {}", f.module->filename, other.line,
                                 other.form)
                   : "an access",
              id.x, id.y, id.z, e.warp % warps, std::countr_zero(e.lanes), at),
          notes);
}
