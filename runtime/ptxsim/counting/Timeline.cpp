#include "runtime/ptxsim/counting/Timeline.h"

#include "runtime/ptxsim/Cluster.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

using namespace ptxsim;

namespace {

constexpr uint32_t ownMask = (1u << clusterShift) - 1;

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text)
    if (c == '"' || c == '\\')
      out += fmt::format("\\{}", c);
    else if (uint8_t(c) < 0x20 || uint8_t(c) >= 0x7f)
      out += fmt::format("\\u{:04x}", uint8_t(c));
    else
      out += c;
  return out + "\"";
}

} // namespace

Timeline::OfCta &Timeline::of(const Cta &cta) { return ctas[&cta]; }
Timeline::OfWarp &Timeline::of(const Warp &w) {
  return ctas[w.cta].warps[w.index];
}

void Timeline::add(Event event) {
  if (events.size() < limit)
    events.push_back(std::move(event));
  else
    truncated = true;
}

// --- begin and end ---

void Timeline::launchStarts(const Launch &l) {
  launch = &l;
  ctas.clear();
  clusters.clear();
}

void Timeline::launchEnds(const Launch &) {
  // After a fault CTAs have not ended, and warps may wait for ever.
  uint64_t end = 0;
  for (const auto &item : ctas)
    for (const OfWarp &w : item.second.warps)
      end = std::max(end, w.clock + 1);
  for (auto &[id, cta] : ctas) {
    nameTracks(cta);
    for (size_t i = 0; i < cta.warps.size(); ++i) {
      OfWarp &w = cta.warps[i];
      if (w.waits)
        endWait(cta, uint32_t(i), w, end,
                (w.barrier < 0 ? std::string("wait")
                 : w.barrier == waitsForCluster
                     ? std::string("cluster barrier")
                     : fmt::format("barrier {}", w.barrier)) +
                    " that never ends");
      closeSlice(cta, uint32_t(i), w);
    }
  }
  ctas.clear();
  launch = nullptr;
}

void Timeline::ctaStarts(const Cta &cta) {
  OfCta &c = of(cta);
  c = {};
  arriving = nullptr;
  c.process = ++processes;
  c.warps.resize(cta.warps.size());
  if (!cta.rank)
    clusters[&cta.cluster] = {};
  metadata.push_back(fmt::format(
      R"({{"ph":"M","name":"process_name","pid":{},"args":{{"name":{}}}}})",
      c.process,
      quoted(fmt::format("{} cta ({},{},{})", launch->function->kernel.name,
                         cta.id.x, cta.id.y, cta.id.z))));
}

void Timeline::nameTracks(const OfCta &cta) {
  for (size_t i = 0; i < cta.warps.size(); ++i) {
    const OfWarp &w = cta.warps[i];
    const char *role = w.multiplies ? w.copies ? "copies and tensor" : "tensor"
                       : w.copies   ? "producer"
                                    : "worker";
    metadata.push_back(fmt::format(
        R"x({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":"warp {} ({})"}}}})x",
        cta.process, i, i, role));
  }
}

void Timeline::ctaEnds(const Cta &cta) {
  OfCta &c = of(cta);
  uint64_t end = 0;
  for (size_t i = 0; i < c.warps.size(); ++i) {
    OfWarp &w = c.warps[i];
    closeSlice(c, uint32_t(i), w);
    end = std::max(end, w.clock);
  }
  nameTracks(c);
  for (OfWarp &w : c.warps) {
    waitGroups(w, 0);
    endCopies(w.open, end);
  }
  for (auto &[address, b] : c.mbarriers) {
    endCopies(b.pending, end);
    endCopies(b.done, end);
  }
  c.warps.clear();
}

// --- slices ---

void Timeline::closeSlice(const OfCta &cta, uint32_t track, OfWarp &w) {
  constexpr const char *names[] = {"",       "compute", "memory",
                                   "tensor", "copy",    "sync"};
  if (w.activity == Activity::None)
    return;
  add({'X', names[unsigned(w.activity)], "warp", cta.process, track, w.begin,
       w.clock,
       fmt::format(R"("lines":"{}-{}","instructions":{})", w.firstLine,
                   w.lastLine, w.instructions)});
  w.activity = Activity::None;
}

/// The warp, which has not gone on since it began to wait, does so at clock
/// `at`.
void Timeline::endWait(const OfCta &cta, uint32_t track, OfWarp &w, uint64_t at,
                       const std::string &what) {
  closeSlice(cta, track, w);
  const uint64_t end = std::max(w.clock, at);
  if (end > w.clock)
    add({'X', what, "wait", cta.process, track, w.clock, end, {}});
  w.clock = end;
  w.waits = false;
}

void Timeline::issue(Warp &w, const Op &op, uint32_t mask) {
  OfWarp &s = of(w);
  OfCta &cta = of(*w.cta);
  const uint32_t index = w.indexOf(op);
  const OpFacts &facts = launch->facts[index];
  if (facts.ctaBarrier && mask) {
    const uint32_t id = w.row<uint32_t>(op.a)[std::countr_zero(mask)] & 15;
    arriving = &s;
    cta.barriers[id] = std::max(cta.barriers[id], s.clock + 1);
    if (launch->function->infos[index].form.find(".arrive") ==
        std::string_view::npos) {
      s.waits = true, s.barrier = int(id);
    }
  }
  if (facts.mbarrierArrive && mask) {
    // Perhaps that of another CTA of the cluster.
    const uint64_t at = w.addressOf(op, unsigned(std::countr_zero(mask)));
    const uint32_t tag = uint32_t(at) >> clusterShift;
    const auto &peers = w.cta->cluster.ctas;
    OfCta &owner = tag && tag <= peers.size() ? of(peers[tag - 1]) : cta;
    OfMbarrier &b = owner.mbarriers[uint32_t(at) & ownMask];
    b.arrivals = std::max(b.arrivals, s.clock + 1);
  }
  if (facts.clusterBarrier && mask) {
    if (launch->function->infos[index].form.find(".arrive") !=
        std::string_view::npos) {
      OfCluster &cluster = clusters[&w.cta->cluster];
      cluster.arrivals = std::max(cluster.arrivals, s.clock + 1);
      s.clusterArrival = cluster.generation;
    }
  }
  s.resumeAt = 0;
  if (!mask) // not told about again
    ++s.clock;
}

void Timeline::executed(Warp &w, const Op &op, uint32_t mask, uint32_t again) {
  arriving = nullptr;
  OfWarp &s = of(w);
  OfCta &cta = of(*w.cta);
  const uint32_t index = w.indexOf(op);
  const OpFacts &facts = launch->facts[index];
  const OpInfo &info = launch->function->infos[index];
  if (mask && again == mask) {
    if (!s.waits)
      s.waits = true, s.barrier = -1;
    return;
  }
  if (facts.mbarrierWait) {
    const uint32_t done = w.word(op.d) & mask & ~again;
    if (done) {
      const uint32_t at =
          uint32_t(w.addressOf(op, unsigned(std::countr_zero(done))) & ownMask);
      OfMbarrier &b = cta.mbarriers[at];
      endWait(cta, w.index, s, b.completed, fmt::format("mbarrier {:#x}", at));
      endCopies(b.done, s.clock);
    }
  } else if (s.waits && s.barrier < 0 && !facts.clusterBarrier) {
    endWait(cta, w.index, s, s.clock, "lanes"); // of a .sync instruction
  }
  Activity kind = Activity::Compute;
  switch (facts.kind) {
  case OpClass::Tensor:
    kind = Activity::Tensor, s.multiplies = true;
    break;
  case OpClass::Bulk:
    kind = Activity::Copy;
    break;
  case OpClass::Lsu:
    kind = facts.memory == MemoryKind::AsyncLoad ? Activity::Copy
                                                 : Activity::Memory;
    break;
  case OpClass::Sync:
    kind = Activity::Sync;
    break;
  case OpClass::Move:
  case OpClass::Control:
    // Part of whatever surrounds them.
    kind = s.activity == Activity::None ? Activity::Compute : s.activity;
    break;
  default:
    break;
  }
  if (kind != s.activity) {
    closeSlice(cta, w.index, s);
    s.activity = kind, s.begin = s.clock, s.instructions = 0;
    s.firstLine = info.line;
  }
  s.lastLine = info.line;
  ++s.instructions;
  ++s.clock;
  if (s.resumeAt)
    endWait(cta, w.index, s, std::exchange(s.resumeAt, 0),
            fmt::format("barrier {}", s.barrier));
  if (facts.clusterBarrier && info.form.find(".wait") != info.form.npos) {
    const OfCluster &cluster = clusters[&w.cta->cluster];
    if (cluster.generation > s.clusterArrival)
      endWait(cta, w.index, s, cluster.released, "cluster barrier");
    else
      s.waits = true, s.barrier = waitsForCluster;
  }
  if (facts.group == CopyGroup::Commit) {
    s.groups.push_back(std::move(s.open));
    s.open.clear();
  } else if (facts.group == CopyGroup::Wait) {
    waitGroups(s, op.imm);
  } else if (facts.group == CopyGroup::WaitAll) {
    waitGroups(s, 0);
    endCopies(s.open, s.clock);
  }
}

// --- barriers ---

void Timeline::barrierReleased(const Cta &cta, unsigned id) {
  OfCta &c = of(cta);
  const uint64_t at = c.barriers[id];
  for (size_t i = 0; i < c.warps.size(); ++i) {
    OfWarp &w = c.warps[i];
    if (!w.waits || w.barrier != int(id))
      continue;
    if (&w == arriving)
      w.resumeAt = at; // it is still executing its arrival
    else
      endWait(c, uint32_t(i), w, at, fmt::format("barrier {}", id));
  }
  c.barriers[id] = 0;
  add({'i',
       fmt::format("barrier {}", id),
       "barrier",
       c.process,
       0,
       at,
       at,
       {}});
}

void Timeline::phaseEnds(const Cta &cta, uint32_t address) {
  OfMbarrier &b = of(cta).mbarriers[address];
  for (const Copy &copy : b.pending)
    b.arrivals = std::max(b.arrivals, copy.begin);
  b.completed = b.arrivals;
  b.arrivals = 0;
  b.done.insert(b.done.end(), b.pending.begin(), b.pending.end());
  b.pending.clear();
}

void Timeline::clusterReleased(const Cluster &cluster) {
  OfCluster &state = clusters[&cluster];
  ++state.generation;
  state.released = state.arrivals;
  state.arrivals = 0;
  for (const Cta &cta : cluster.ctas) {
    OfCta &c = of(cta);
    for (size_t i = 0; i < c.warps.size(); ++i)
      if (c.warps[i].waits && c.warps[i].barrier == waitsForCluster)
        endWait(c, uint32_t(i), c.warps[i], state.released, "cluster barrier");
  }
}

// --- copies ---

void Timeline::endCopies(std::vector<Copy> &copies, uint64_t at) {
  for (const Copy &c : copies)
    add({'b', c.name, "copy", c.process, c.track, c.begin,
         std::max(at, c.begin),
         fmt::format(R"("bytes":{},"line":{})", c.bytes, c.line)});
  copies.clear();
}

void Timeline::waitGroups(OfWarp &w, uint64_t open) {
  while (w.groups.size() > open) {
    endCopies(w.groups.front(), w.clock);
    w.groups.pop_front();
  }
}

void Timeline::access(Warp &w, const Op &op, const MemoryAccess &a) {
  if (a.kind != MemoryKind::AsyncLoad)
    return;
  OfWarp &s = of(w);
  s.copies = true;
  s.open.push_back({"cp.async", s.clock,
                    uint64_t(a.bytes) * unsigned(std::popcount(a.mask)),
                    launch->function->infos[w.indexOf(op)].line,
                    of(*w.cta).process, w.index});
}

void Timeline::copyStarts(const Transfer &t) {
  if (t.kind == Transfer::Arrive)
    return;
  OfWarp &s = of(*t.warp);
  constexpr const char *names[] = {"bulk load", "bulk store", "bulk copy"};
  Copy copy = {
      names[t.kind], s.clock, t.bytes, t.line(), of(*t.warp->cta).process,
      t.warp->index};
  if (t.barrierCta) {
    s.copies = true;
    of(*t.barrierCta).mbarriers[t.barrier].pending.push_back(std::move(copy));
  } else {
    s.open.push_back(std::move(copy));
  }
}

// --- output ---

std::string Timeline::json() const {
  std::string text = fmt::format(
      R"({{"displayTimeUnit":"ns","otherData":{{"time":"issue index: one unit per instruction of PTX that a warp issues; waits end at the clock of the latest arrival; no modelled latencies","truncated":{}}},
"traceEvents":[
)",
      truncated);
  std::string separator;
  for (const std::string &m : metadata) {
    text += separator + m;
    separator = ",\n";
  }
  uint64_t id = 0;
  for (const Event &e : events) {
    const std::string common =
        fmt::format(R"("name":{},"cat":"{}","pid":{},"tid":{})", quoted(e.name),
                    e.category, e.process, e.track);
    text += separator;
    separator = ",\n";
    if (e.phase == 'X')
      text += fmt::format(R"({{"ph":"X",{},"ts":{},"dur":{},"args":{{{}}}}})",
                          common, e.begin, e.end - e.begin, e.arguments);
    else if (e.phase == 'i')
      text +=
          fmt::format(R"({{"ph":"i","s":"p",{},"ts":{}}})", common, e.begin);
    else
      text += fmt::format(
          R"({{"ph":"b","id":{0},{1},"ts":{2},"args":{{{3}}}}},{4}{{"ph":"e","id":{0},{1},"ts":{5}}})",
          ++id, common, e.begin, e.arguments, "\n", e.end);
  }
  return text + "\n]}\n";
}
