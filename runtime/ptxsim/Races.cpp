#include "runtime/ptxsim/Races.h"
#include "runtime/ptxsim/Cta.h"
#include "runtime/ptxsim/Lanes.h"

#include <cstring>
#include <fmt/format.h>

using namespace ptxsim;

namespace {

// An entry of the shadow memory, from its low bits: pc, lane, several lanes,
// warp, strong (atomic, volatile, relaxed...), stamp. 0: no access yet.
constexpr unsigned pcBits = 22, laneShift = 22, warpShift = 28, stampShift = 34;
constexpr uint64_t several = 1ull << 27, strongBit = 1ull << 33,
                   warpBits = 31ull << warpShift, laneBits = 63ull << laneShift;
constexpr uint32_t inFlight = (1u << 30) - 1;
/// Stamps are never reused; when they run out the shadow memory is cleared.
constexpr uint32_t lastStamp = inFlight / 2;

uint32_t stampOf(uint64_t e) { return uint32_t(e >> stampShift); }
unsigned warpOf(uint64_t e) { return unsigned(e >> warpShift) & 31; }
unsigned laneOf(uint64_t e) { return unsigned(e >> laneShift) & 31; }
uint32_t pcOf(uint64_t e) { return uint32_t(e) & ((1u << pcBits) - 1); }

template <class C> void join(C &to, const C &from) {
  for (unsigned u = 0; u < warpSize; ++u)
    to[u] = std::max(to[u], from[u]);
}

} // namespace

RaceFacts ptxsim::raceFactsOf(const Function &f) {
  RaceFacts facts;
  for (size_t i = 0; i < f.ops.size(); ++i) {
    const Op &op = f.ops[i];
    const std::string_view form = f.infos[i].form;
    const std::string_view base = form.substr(0, form.find('.'));
    const auto has = [&](std::string_view s) {
      return form.find(s) != std::string_view::npos;
    };
    if (base == "mbarrier" || base == "wgmma" || base == "mapa" ||
        has("cp.async.bulk") || has("barrier.cluster") || has("mbarrier"))
      facts.otherOrder = true;
    if (base == "fence" || base == "membar" || has(".acq") || has(".release"))
      facts.fences = true;
    const bool atomic = base == "atom" || base == "red";
    if (atomic && has(".cas"))
      facts.cas = true;
    if (!atomic && base != "ld" && base != "st")
      continue;
    if (op.space != Space::Shared && op.space != Space::Generic)
      continue;
    unsigned bits = 0;
    for (char c : form.substr(form.rfind('.') + 1))
      if (c >= '0' && c <= '9')
        bits = bits * 10 + unsigned(c - '0');
      else if (bits)
        break;
    unsigned bytes = bits / 8 * (has(".v2") ? 2 : has(".v4") ? 4 : 1);
    if (has("x2."))
      bytes = 4;
    facts.smallest =
        uint8_t(std::min<unsigned>(facts.smallest, std::max(bytes, 1u)));
  }
  return facts;
}

Races::Races(const Cta &cta, size_t n, size_t sharedBytes)
    : warps(uint32_t(n)) {
  const Checks &checks = cta.launch.options.checks;
  races = checks.sharedRaces, async = checks.asyncHazards;
  shift = unsigned(
      std::countr_zero(uint32_t(cta.launch.function->raceFacts.smallest)));
  const size_t cells = (sharedBytes >> shift) + 16;
  writer.resize(cells), reader.resize(cells), otherReader.resize(cells);
}

void Races::restart() {
  if (now > lastStamp) {
    std::fill(writer.begin(), writer.end(), 0);
    std::fill(reader.begin(), reader.end(), 0);
    std::fill(otherReader.begin(), otherReader.end(), 0);
    now = 1;
  }
  for (unsigned w = 0; w < warps; ++w) {
    clocks[w].fill(now);
    fenced[w].fill(0), pending[w].fill(0);
    epoch[w] = now + 1;
  }
  ++now;
  for (unsigned w = 0; w < warps; ++w)
    setFloor(w);
  for (Clock &b : barriers)
    b.fill(0);
  objects.clear();
}

void Races::setFloor(unsigned w) {
  uint32_t least = ~0u;
  for (unsigned u = 0; u < warps; ++u)
    least = std::min(least, clocks[w][u]);
  limits[w] = uint64_t(least + 1) << stampShift;
}

// --- accesses ---

uint64_t Races::entry(const Warp &w, const Op &op, unsigned lane,
                      bool strong) const {
  return uint64_t(epoch[w.index]) << stampShift | (strong ? strongBit : 0) |
         uint64_t(w.index) << warpShift | uint64_t(lane) << laneShift |
         (w.indexOf(op) & ((1u << pcBits) - 1));
}

/// Is the access `e` ordered before what a lane of w does now?
bool Races::known(const Warp &w, unsigned lane, uint64_t e) const {
  const unsigned other = warpOf(e);
  return stampOf(e) <= clocks[w.index][other] ||
         (other == w.index && stampOf(e) != inFlight && laneOf(e) == lane &&
          !(e & several));
}

/// The last reads: of this warp, and of the warp that read last before it.
PTXSIM_INLINE inline void Races::noteRead(uint32_t cell, uint64_t mine) {
  const uint64_t old = reader[cell];
  const bool sameWarp = !((old ^ mine) & warpBits);
  const bool sameEpoch =
      sameWarp && (old >> stampShift) == (mine >> stampShift);
  const bool sameLane = !((old ^ mine) & (laneBits & ~several));
  otherReader[cell] = sameWarp ? otherReader[cell] : old;
  reader[cell] =
      mine | (sameEpoch ? (old & several) | (sameLane ? 0 : several) : 0);
}

/// LLVM turns atomics that PTX lacks into loops around a cas, which a plain
/// load feeds: a load of what a cas writes is not a race there.
bool Races::suppressed(const Warp &w, const Op &op, uint64_t other) const {
  const auto isCas = [&](uint32_t pc) {
    return w.function->infos[pc].form.find(".cas") != std::string_view::npos;
  };
  return w.function->raceFacts.cas &&
         (isCas(w.indexOf(op)) || isCas(pcOf(other)));
}

void Races::checkRead(Warp &w, const Op &op, unsigned lane, uint32_t cell,
                      uint64_t mine, bool strong) {
  const uint64_t e = writer[cell];
  if (e < limits[w.index] || known(w, lane, e))
    return;
  if (strong && (e & strongBit))
    return;
  // All lanes of the warp have written the same: it has its own value.
  if (warpOf(e) == w.index && (e & several) && stampOf(e) != inFlight)
    return;
  if (stampOf(e) != inFlight && suppressed(w, op, e))
    return;
  (void)mine;
  report(w, op, lane, cell, false, e, true);
}

void Races::read(Warp &w, const Op &op, unsigned lane, uint32_t offset,
                 uint32_t bytes, uint32_t order) {
  const uint64_t mine = entry(w, op, lane, order != 0);
  const uint32_t end = (offset + bytes - 1) >> shift;
  for (uint32_t c = offset >> shift; c <= end; ++c) {
    if (writer[c] >= limits[w.index])
      checkRead(w, op, lane, c, mine, order != 0);
    noteRead(c, mine);
  }
}

void Races::readAll(Warp &w, const Op &op, uint32_t offset,
                    uint32_t bytesOfLane) {
  const uint32_t first = offset >> shift, n = bytesOfLane * warpSize >> shift,
                 ofLane = std::max(bytesOfLane >> shift, 1u);
  const uint64_t *written = writer.data() + first;
  uint64_t most = 0;
  PTXSIM_VECTORIZE
  for (uint32_t c = 0; c < n; ++c)
    most = std::max(most, written[c]);
  const uint64_t mine = entry(w, op, 0, op.target != 0);
  if (most >= limits[w.index])
    for (uint32_t c = 0; c < n; ++c)
      if (written[c] >= limits[w.index])
        checkRead(w, op, c / ofLane, first + c, mine, op.target != 0);
  for (uint32_t lane = 0, c = first; lane < warpSize; ++lane)
    for (uint32_t i = 0; i < ofLane; ++i, ++c)
      noteRead(c, mine | uint64_t(lane) << laneShift);
}

bool Races::writeAll(Warp &w, const Op &op, uint32_t offset,
                     uint32_t bytesOfLane) {
  const uint32_t first = offset >> shift, n = bytesOfLane * warpSize >> shift,
                 ofLane = std::max(bytesOfLane >> shift, 1u);
  uint64_t *written = writer.data() + first;
  const uint64_t *read = reader.data() + first,
                 *readBefore = otherReader.data() + first;
  uint64_t most = 0;
  PTXSIM_VECTORIZE
  for (uint32_t c = 0; c < n; ++c)
    most = std::max({most, written[c], read[c], readBefore[c]});
  if (most >= limits[w.index])
    return false;
  const uint64_t mine = entry(w, op, 0, op.target != 0);
  for (uint32_t lane = 0, c = 0; lane < warpSize; ++lane)
    for (uint32_t i = 0; i < ofLane; ++i, ++c)
      written[c] = mine | uint64_t(lane) << laneShift;
  return true;
}

void Races::readForWarp(Warp &w, const Op &op, unsigned lane, uint32_t offset,
                        uint32_t bytes) {
  // The bytes go to other lanes than the one that gives the address.
  const uint64_t mine = entry(w, op, lane, false) | several;
  const uint32_t end = (offset + bytes - 1) >> shift;
  for (uint32_t c = offset >> shift; c <= end; ++c) {
    if (writer[c] >= limits[w.index])
      checkRead(w, op, warpSize, c, mine, false);
    const uint64_t old = reader[c];
    if ((old ^ mine) & warpBits)
      otherReader[c] = old;
    reader[c] = mine;
  }
}

void Races::write(Warp &w, const Op &op, unsigned lane, uint32_t offset,
                  uint32_t bytes, const void *value, uint32_t order) {
  const bool strong = order != 0;
  uint64_t mine = entry(w, op, lane, strong);
  const uint64_t limit = limits[w.index];
  const uint32_t end = (offset + bytes - 1) >> shift;
  for (uint32_t c = offset >> shift; c <= end; ++c) {
    uint64_t set = mine;
    if (const uint64_t e = writer[c]; e >= limit && !known(w, lane, e)) {
      const uint32_t at = std::max(c << shift, offset),
                     n = std::min(1u << shift, bytes);
      const bool same =
          value && stampOf(e) != inFlight &&
          !std::memcmp(w.cta->shared + at,
                       static_cast<const std::byte *>(value) + (at - offset),
                       n);
      if (!same && !(strong && (e & strongBit)) && !suppressed(w, op, e))
        report(w, op, lane, c, true, e, true);
      if (warpOf(e) == w.index)
        set |= several;
    }
    for (const uint64_t e : {reader[c], otherReader[c]})
      if (e >= limit && !known(w, lane, e) && !(strong && (e & strongBit)) &&
          !suppressed(w, op, e)) {
        const uint32_t at = std::max(c << shift, offset),
                       n = std::min(1u << shift, bytes);
        // What is written is there already: the reader cannot tell.
        if (value &&
            !std::memcmp(w.cta->shared + at,
                         static_cast<const std::byte *>(value) + (at - offset),
                         n))
          continue;
        report(w, op, lane, c, true, e, false);
      }
    writer[c] = set;
  }
}

void Races::atomic(Warp &w, const Op &op, unsigned lane, uint32_t offset,
                   uint32_t bytes) {
  const uint64_t mine = entry(w, op, lane, true), limit = limits[w.index];
  const uint32_t end = (offset + bytes - 1) >> shift;
  for (uint32_t c = offset >> shift; c <= end; ++c) {
    if (const uint64_t e = writer[c]; e >= limit && !known(w, lane, e) &&
                                      !(e & strongBit) && !suppressed(w, op, e))
      report(w, op, lane, c, true, e, true);
    for (const uint64_t e : {reader[c], otherReader[c]})
      if (e >= limit && !known(w, lane, e) && !(e & strongBit) &&
          !suppressed(w, op, e))
        report(w, op, lane, c, true, e, false);
    writer[c] = mine;
  }
}

void Races::asyncWrite(Warp &w, const Op &op, unsigned lane, uint32_t offset,
                       uint32_t bytes) {
  write(w, op, lane, offset, bytes, nullptr);
  const uint64_t mine = entry(w, op, lane, false) | uint64_t(inFlight)
                                                        << stampShift;
  if (!async)
    return;
  const uint32_t end = (offset + bytes - 1) >> shift;
  for (uint32_t c = offset >> shift; c <= end; ++c)
    writer[c] = mine;
}

void Races::asyncDone(Warp &w, unsigned lane, uint32_t offset, uint32_t bytes) {
  const uint64_t mark = uint64_t(inFlight) << stampShift,
                 done = uint64_t(epoch[w.index]) << stampShift;
  const uint32_t end = (offset + bytes - 1) >> shift;
  for (uint32_t c = offset >> shift; c <= end; ++c) {
    uint64_t &e = writer[c];
    if (stampOf(e) == inFlight && warpOf(e) == w.index && laneOf(e) == lane)
      e = (e & ~mark) | done;
  }
}

// --- order ---

void Races::arrive(const Warp &w, unsigned barrier) {
  Clock &b = barriers[barrier];
  join(b, clocks[w.index]);
  b[w.index] = std::max(b[w.index], epoch[w.index]);
  epoch[w.index] = ++now;
}

void Races::release(unsigned barrier, uint32_t waiters, uint32_t blocked,
                    uint32_t exited) {
  Clock &b = barriers[barrier];
  // Warps that stand at the barrier have done nothing since they arrived, and
  // a barrier does not wait for warps that have exited.
  forLanes(blocked | exited, [&](unsigned u) { b[u] = now; });
  const uint32_t over = now++;
  forLanes(waiters, [&](unsigned q) {
    join(clocks[q], b);
    clocks[q][q] = over;
    epoch[q] = now;
    setFloor(q);
  });
  b.fill(0);
}

void Races::syncWarp(const Warp &w) {
  clocks[w.index][w.index] = epoch[w.index];
  epoch[w.index] = ++now;
  setFloor(w.index);
}

void Races::fence(const Warp &w) {
  Clock &c = clocks[w.index];
  join(c, pending[w.index]);
  const uint32_t own = c[w.index];
  fenced[w.index] = c;
  fenced[w.index][w.index] = epoch[w.index];
  c[w.index] = own;
  epoch[w.index] = ++now;
  setFloor(w.index);
}

void Races::synchronize(const Warp &w, uint64_t address, uint32_t order) {
  Clock &object = objects[address];
  Clock &c = clocks[w.index];
  if (order & Order::Acquire) {
    const uint32_t own = c[w.index];
    join(c, object);
    c[w.index] = own;
    setFloor(w.index);
  } else {
    join(pending[w.index], object);
    // What the warp itself released is no news about its other lanes.
    pending[w.index][w.index] = 0;
  }
  if (order & Order::Release) {
    join(object, c);
    object[w.index] = epoch[w.index];
    epoch[w.index] = ++now;
  } else {
    join(object, fenced[w.index]);
  }
}

// --- reports ---

std::string Races::accessAt(const Warp &w, uint64_t e) const {
  const uint32_t pc = pcOf(e);
  const OpInfo &info = w.function->infos[pc];
  const SourceLoc &loc = w.function->locs[info.loc];
  std::string at;
  if (loc.file) {
    auto it = w.function->module->files.find(loc.file);
    at = fmt::format(" (at {}:{}:{})",
                     it == w.function->module->files.end() ? "?" : it->second,
                     loc.line, loc.column);
  }
  return fmt::format("{}:{}: {} of warp {} lane {}{}",
                     w.function->module->filename, info.line, info.form,
                     warpOf(e), laneOf(e), at);
}

void Races::report(Warp &w, const Op &op, unsigned lane, uint32_t cell,
                   bool writes, uint64_t other, bool otherWrites) const {
  const uint32_t offset = cell << shift;
  const unsigned at = std::min(lane, warpSize - 1);
  if (!races && stampOf(other) != inFlight)
    return;
  if (stampOf(other) == inFlight)
    w.fault(op, at,
            fmt::format("address {:#x} (offset {}) of shared memory is {}, but "
                        "a cp.async that writes it is in flight: {}; expected "
                        "a cp.async.wait_group before",
                        offset + sharedBegin, offset,
                        writes ? "written" : "read", accessAt(w, other)),
            {{"the copy is issued here", &w.ops[pcOf(other)]},
             {"its thread must execute a cp.async.wait_group that covers it, "
              "and then all threads a barrier, before this instruction"}});
  const Op *otherOp = &w.ops[pcOf(other)];
  const uint32_t here = w.function->infos[w.indexOf(op)].line,
                 there = w.function->infos[pcOf(other)].line;
  w.fault(op, at,
          fmt::format("race: address {:#x} (offset {}) of shared memory is {} "
                      "here and {} by {}, and no {} orders the two",
                      offset + sharedBegin, offset, writes ? "written" : "read",
                      otherWrites ? "written" : "read", accessAt(w, other),
                      warpOf(other) == w.index ? "bar.warp.sync or barrier"
                                               : "barrier"),
          {{fmt::format("the other access, by warp {} lane {}", warpOf(other),
                        laneOf(other)),
            otherOp},
           {fmt::format(
               "{} is missing {}",
               warpOf(other) == w.index
                   ? "a barrier (bar.warp.sync if only lanes of one warp meet "
                     "here, else bar.sync)"
                   : "a barrier (bar.sync)",
               otherOp == &op
                   ? std::string("between two executions of this line")
                   : fmt::format("between lines {} and {}, or, in a loop, "
                                 "between {} and the next {}",
                                 there, here, here, there))}});
}
