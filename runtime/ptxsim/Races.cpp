#include "runtime/ptxsim/Races.h"
#include "runtime/ptxsim/Cluster.h"
#include "runtime/ptxsim/Lanes.h"

#include <cstring>
#include <fmt/format.h>

using namespace ptxsim;

Races::Races(Cta &cta, Clocks &clocks, size_t sharedBytes)
    : cta(cta), clocks(clocks) {
  const Checks &checks = cta.launch.options.checks;
  races = checks.sharedRaces, async = checks.asyncHazards;
  many = cta.cluster.ctas.size() > 1;
  shift = unsigned(
      std::countr_zero(uint32_t(cta.launch.function->raceFacts.smallest)));
  first = cta.rank * unsigned(cta.warps.size());
  const size_t cells = (sharedBytes >> shift) + 16;
  for (auto *v : {&writeStamp, &writeInfo, &readStamp, &readInfo})
    v->resize(cells);
}

void Races::clear() {
  for (auto *v : {&writeStamp, &writeInfo, &readStamp, &readInfo})
    std::fill(v->begin(), v->end(), 0);
  lists.clear();
  lastFrom = {};
}

void Races::setMbarrier(uint32_t offset, bool is) {
  for (uint32_t c = offset >> shift; c <= (offset + 7) >> shift; ++c) {
    writeStamp[c] = is ? inFlight : 0;
    writeInfo[c] = is ? mbarrierObject << agentShift : 0;
  }
}

// --- accesses ---

unsigned Races::agentOf(const Warp &w) const {
  return w.cta == &cta ? first + w.index : clocks.agentOf(w);
}

Races::Batch Races::batchOf(const Warp &w, const Op &op) {
  const unsigned warp = agentOf(w);
  return {clocks.stamp(warp), clocks.limit(warp),
          infoOf(w, op, 0, warp, op.target != 0)};
}

uint32_t Races::infoOf(const Warp &w, const Op &op, unsigned lane,
                       unsigned agent, bool strong) const {
  return uint32_t(agent) << agentShift | (strong ? strongBit : 0) |
         (lane < warpSize ? lane << laneShift : several) |
         w.function->raceFacts.siteOf[w.indexOf(op)];
}

/// Is an access ordered before what a lane of the warp does now?
bool Races::known(unsigned warp, unsigned lane, uint32_t stamp,
                  uint32_t info) const {
  return stamp != inFlight &&
         clocks.knows(warp, lane, agentIn(info), laneIn(info), stamp);
}

/// The same of a read of a list or mask.
bool Races::knownRead(unsigned warp, unsigned lane, const Read &r) const {
  return r.anyLane ? clocks.knowsAny(warp, lane, agentIn(r.info), r.stamp)
                   : known(warp, lane, r.stamp, r.info);
}

PTXSIM_INLINE inline void Races::noteRead(unsigned warp, unsigned lane,
                                          uint32_t cell, uint32_t stamp,
                                          uint32_t info) {
  const uint32_t old = readStamp[cell], was = readInfo[cell];
  if (old < clocks.limit(warp)) {
    readStamp[cell] = stamp, readInfo[cell] = info;
    return;
  }
  if (old == stamp && !((was ^ info) & (agentBits | sharedBit))) {
    readInfo[cell] =
        info | (was & several) | ((was ^ info) & laneBits ? several : 0);
    return;
  }
  noteSharedRead(warp, lane, cell, stamp, info);
}

/// A read that joins others which nothing orders before it.
void Races::noteSharedRead(unsigned warp, unsigned lane, uint32_t cell,
                           uint32_t stamp, uint32_t info) {
  if (readers.empty())
    readers.resize(readStamp.size());
  uint32_t &at = readStamp[cell], &is = readInfo[cell], &set = readers[cell];
  const auto bitOf = [&](uint32_t i) {
    const unsigned of = agentIn(i) - first;
    return of < warpSize && !(i & strongBit) ? 1u << of : 0;
  };
  // The usual case: warps that read between the same two barriers.
  const bool isOne = !(is & sharedBit), isMask = !isOne && !(is & several);
  if (at == stamp && bitOf(info) && (isMask || (isOne && bitOf(is)))) {
    const uint32_t mine = lanesOfMask(info),
                   old = isMask ? is & (strongBit | laneBits) : lanesOfMask(is);
    set = (isMask ? set : bitOf(is)) | bitOf(info);
    is = (info & ~(several | laneBits)) | (mine == old ? mine : maskUnknown) |
         sharedBit;
    return;
  }
  // What an asynchronous agent did is over in the order in which it began.
  const bool inOrder = agentIn(info) >= clocks.warps;
  if (isOne && ((inOrder && agentIn(is) == agentIn(info)) ||
                known(warp, lane, at, is))) {
    at = stamp, is = info;
    return;
  }
  // Else a list of all that are not ordered before this one. Many cells in a
  // row have the same.
  const SharedRead from{at, is, isOne ? 0 : set, stamp, info};
  if (from == lastFrom) {
    at = lastTo.at, is = lastTo.is, set = lastTo.set;
    return;
  }
  std::vector<Read> reads;
  const auto keep = [&](const Read &r) {
    if (!(inOrder && agentIn(r.info) == agentIn(info)) &&
        !knownRead(warp, lane, r))
      reads.push_back(r);
  };
  if (isOne)
    keep({at, is});
  else if (isMask)
    forLanes(set, [&](unsigned u) { keep(readOfMask(at, is, u)); });
  else
    for (const Read &r : lists[set])
      keep(r);
  bool isNew = true;
  for (Read &r : reads)
    if (r.stamp == stamp && agentIn(r.info) == agentIn(info) && isNew &&
        !r.anyLane) {
      r.info |= (r.info ^ info) & (laneBits | several) ? several : 0;
      isNew = false;
    }
  if (isNew)
    reads.push_back({stamp, info});
  lastFrom = from;
  if (reads.size() == 1) {
    at = stamp, is = info;
  } else {
    if (lists.size() >= mostLists)
      collect();
    set = uint32_t(lists.size());
    lists.push_back(std::move(reads));
    at = std::max(at, stamp);
    is = info | several | sharedBit;
  }
  lastTo = {at, is, set, 0, 0};
}

/// Keeps the lists that cells still name.
void Races::collect() {
  std::vector<uint32_t> moved(lists.size(), ~0u);
  std::vector<std::vector<Read>> kept;
  for (size_t c = 0; c < readers.size(); ++c)
    if ((readInfo[c] & sharedBit) && (readInfo[c] & several)) {
      uint32_t &to = moved[readers[c]];
      if (to == ~0u) {
        to = uint32_t(kept.size());
        kept.push_back(std::move(lists[readers[c]]));
      }
      readers[c] = to;
    }
  lists = std::move(kept);
  mostLists = std::max<size_t>(1 << 16, 2 * lists.size());
  lastFrom = {};
}

/// Nothing that the lane does now can race with the read: it is ordered before,
/// or a wgmma.fence of which the lane knows has ended it.
bool Races::isOver(unsigned warp, unsigned lane, const Read &r) const {
  return knownRead(warp, lane, r) ||
         clocks.areLoadsOver(warp, lane, agentIn(r.info), r.stamp);
}

template <class F>
PTXSIM_INLINE inline void Races::forReads(unsigned warp, unsigned lane,
                                          uint32_t cell, F f) const {
  const uint32_t at = readStamp[cell], is = readInfo[cell];
  if (at < clocks.limit(warp))
    return;
  if (!(is & sharedBit)) {
    if (!isOver(warp, lane, {at, is}))
      f(at, is, true);
    return;
  }
  if (is & several) {
    for (const Read &r : lists[readers[cell]])
      if (!isOver(warp, lane, r))
        f(r.stamp, r.info, !r.anyLane);
    return;
  }
  forLanes(readers[cell], [&](unsigned u) {
    // What any lane may have read, the own one may have.
    if (const Read r = readOfMask(at, is, u); !isOver(warp, lane, r))
      f(at, r.info, !r.anyLane && !(r.info & several));
  });
}

/// LLVM turns atomics that PTX lacks into loops around a cas, which a plain
/// load feeds: a load of what a cas writes is not a race there.
bool Races::suppressed(const Warp &w, const Op &op, uint32_t info) const {
  const RaceFacts &facts = w.function->raceFacts;
  const auto isCas = [&](uint32_t pc) {
    return w.function->infos[pc].form.find(".cas") != std::string_view::npos;
  };
  return facts.cas && (isCas(w.indexOf(op)) ||
                       isCas(facts.sites[info & (RaceFacts::mostSites - 1)]));
}

void Races::checkRead(Warp &w, const Op &op, unsigned lane, uint32_t cell,
                      bool strong) {
  const unsigned warp = agentOf(w);
  const uint32_t at = writeStamp[cell], is = writeInfo[cell];
  if (at < clocks.limit(warp) || known(warp, lane, at, is))
    return;
  if (at != inFlight) {
    if (strong && (is & strongBit))
      return;
    // All lanes of the warp have written the same: it has its own value.
    if (agentIn(is) == warp && (is & several))
      return;
    if (suppressed(w, op, is))
      return;
  }
  report(w, op, lane, cell, false, at, is, true);
}

void Races::read(Warp &w, const Op &op, unsigned lane, uint32_t offset,
                 uint32_t bytes, uint32_t order) {
  const unsigned warp = agentOf(w);
  const uint32_t stamp = clocks.stamp(warp),
                 info = infoOf(w, op, lane, warp, order != 0);
  const uint32_t end = (offset + bytes - 1) >> shift;
  for (uint32_t c = offset >> shift; c <= end; ++c) {
    if (writeStamp[c] >= clocks.limit(warp))
      checkRead(w, op, lane, c, order != 0);
    noteRead(warp, lane, c, stamp, info);
  }
}

bool Races::readLanes(Warp &w, const Op &op, uint32_t mask,
                      std::byte *const *from, uint32_t bytes) {
  const unsigned warp = agentOf(w);
  const uint32_t stamp = clocks.stamp(warp), limit = clocks.limit(warp),
                 info = infoOf(w, op, 0, warp, false), cells = bytes >> shift,
                 end = cta.sharedEnd - sharedBegin;
  if (!cells || op.target)
    return false;
  uint32_t offsets[warpSize], outside = 0;
  const auto base = reinterpret_cast<uintptr_t>(cta.shared);
  for (unsigned l = 0; l < warpSize; ++l) {
    const uintptr_t offset = reinterpret_cast<uintptr_t>(from[l]) - base;
    const bool runs = mask >> l & 1;
    outside |= runs && offset >= end;
    offsets[l] = runs ? uint32_t(offset) : 0;
  }
  if (outside)
    return false;
  forLanes(mask, [&](unsigned l) {
    const uint32_t mine = info | l << laneShift;
    for (uint32_t c = offsets[l] >> shift, stop = c + cells; c < stop; ++c) {
      if (writeStamp[c] >= limit)
        checkRead(w, op, l, c, false);
      noteRead(warp, l, c, stamp, mine);
    }
  });
  return true;
}

void Races::readAll(Warp &w, const Op &op, uint32_t offset,
                    uint32_t bytesOfLane) {
  const uint32_t from = offset >> shift, n = bytesOfLane * warpSize >> shift;
  const unsigned perLane =
      unsigned(std::countr_zero(std::max(bytesOfLane >> shift, 1u)));
  const unsigned warp = agentOf(w);
  const bool strong = op.target != 0;
  const uint32_t stamp = clocks.stamp(warp), limit = clocks.limit(warp),
                 info = infoOf(w, op, 0, warp, strong);
  const uint32_t *written = writeStamp.data() + from;
  uint32_t *at = readStamp.data() + from, *is = readInfo.data() + from;
  uint32_t mostWritten = 0, mostRead = 0;
  PTXSIM_VECTORIZE
  for (uint32_t c = 0; c < n; ++c) {
    mostWritten = std::max(mostWritten, written[c]);
    mostRead = std::max(mostRead, at[c]);
  }
  if (mostWritten >= limit)
    for (uint32_t c = 0; c < n; ++c)
      if (written[c] >= limit)
        checkRead(w, op, c >> perLane, from + c, strong);
  if (mostRead < limit) {
    PTXSIM_VECTORIZE
    for (uint32_t c = 0; c < n; ++c) {
      at[c] = stamp;
      is[c] = info | c >> perLane << laneShift;
    }
    return;
  }
  // The warp reads again what it has read.
  uint32_t other = 0;
  PTXSIM_VECTORIZE
  for (uint32_t c = 0; c < n; ++c)
    other |= (at[c] ^ stamp) | ((is[c] ^ info) & (agentBits | sharedBit));
  if (!other) {
    PTXSIM_VECTORIZE
    for (uint32_t c = 0; c < n; ++c) {
      const uint32_t mine = info | c >> perLane << laneShift;
      is[c] =
          mine | (is[c] & several) | ((is[c] ^ mine) & laneBits ? several : 0u);
    }
    return;
  }
  for (uint32_t c = 0; c < n; ++c)
    noteRead(warp, c >> perLane, from + c, stamp,
             info | c >> perLane << laneShift);
}

bool Races::writeAll(Warp &w, const Op &op, uint32_t offset,
                     uint32_t bytesOfLane) {
  const uint32_t from = offset >> shift, n = bytesOfLane * warpSize >> shift;
  const unsigned perLane =
      unsigned(std::countr_zero(std::max(bytesOfLane >> shift, 1u)));
  const unsigned warp = agentOf(w);
  const uint32_t stamp = clocks.stamp(warp), limit = clocks.limit(warp),
                 info = infoOf(w, op, 0, warp, op.target != 0);
  uint32_t *at = writeStamp.data() + from, *is = writeInfo.data() + from;
  const uint32_t *read = readStamp.data() + from,
                 *reader = readInfo.data() + from;
  // Nothing is there but what is over, and what the lane itself did.
  constexpr uint32_t same = agentBits | laneBits | several | sharedBit;
  uint32_t other = 0;
  PTXSIM_VECTORIZE
  for (uint32_t c = 0; c < n; ++c) {
    const uint32_t mine = info | c >> perLane << laneShift;
    other |= (at[c] >= limit) &
             ((((is[c] ^ mine) & same) != 0) | (at[c] == inFlight));
    other |= (read[c] >= limit) & (((reader[c] ^ mine) & same) != 0);
  }
  if (other)
    return false;
  PTXSIM_VECTORIZE
  for (uint32_t c = 0; c < n; ++c) {
    at[c] = stamp;
    is[c] = info | c >> perLane << laneShift;
  }
  return true;
}

void Races::readForWarp(Warp &w, const Op &op, unsigned lane, uint32_t offset,
                        uint32_t bytes) {
  // The bytes go to other lanes than the one that gives the address.
  const unsigned warp = agentOf(w);
  const uint32_t stamp = clocks.stamp(warp),
                 info = infoOf(w, op, lane, warp, false) | several;
  const uint32_t end = (offset + bytes - 1) >> shift;
  for (uint32_t c = offset >> shift; c <= end; ++c) {
    if (writeStamp[c] >= clocks.limit(warp))
      checkRead(w, op, warpSize, c, false);
    noteRead(warp, warpSize, c, stamp, info);
  }
}

void Races::readSame(Warp &w, const Op &op, uint32_t mask, uint32_t offset,
                     uint32_t bytes) {
  const unsigned warp = agentOf(w);
  const bool strong = op.target != 0;
  const uint32_t stamp = clocks.stamp(warp),
                 info = infoOf(w, op, unsigned(std::countr_zero(mask)), warp,
                               strong) |
                        several;
  const uint32_t end = (offset + bytes - 1) >> shift;
  for (uint32_t c = offset >> shift; c <= end; ++c) {
    if (writeStamp[c] >= clocks.limit(warp))
      forLanes(mask, [&](unsigned l) { checkRead(w, op, l, c, strong); });
    noteRead(warp, warpSize, c, stamp, info);
  }
}

void Races::write(Warp &w, const Op &op, unsigned lane, uint32_t offset,
                  uint32_t bytes, const void *value, uint32_t order) {
  const bool strong = order != 0;
  const unsigned warp = agentOf(w);
  const uint32_t stamp = clocks.stamp(warp), limit = clocks.limit(warp),
                 info = infoOf(w, op, lane, warp, strong);
  const uint32_t end = (offset + bytes - 1) >> shift;
  for (uint32_t c = offset >> shift; c <= end; ++c) {
    uint32_t set = info;
    // What is written is there already: nobody can tell.
    const auto same = [&] {
      const uint32_t from = std::max(c << shift, offset),
                     n = std::min(1u << shift, bytes);
      return value && !std::memcmp(cta.shared + from,
                                   static_cast<const std::byte *>(value) +
                                       (from - offset),
                                   n);
    };
    const uint32_t at = writeStamp[c], is = writeInfo[c];
    if (at >= limit && !known(warp, lane, at, is)) {
      if (at == inFlight ||
          (!(strong && (is & strongBit)) && !suppressed(w, op, is) && !same()))
        report(w, op, lane, c, true, at, is, true);
      if (agentIn(is) == warp)
        set |= several;
    }
    if (readStamp[c] >= limit)
      forReads(warp, lane, c, [&](uint32_t at, uint32_t is, bool laneKnown) {
        if (!(strong && (is & strongBit)) && !suppressed(w, op, is) && !same())
          report(w, op, lane, c, true, at, is, false, laneKnown);
      });
    writeStamp[c] = stamp, writeInfo[c] = set;
  }
}

void Races::atomic(Warp &w, const Op &op, unsigned lane, uint32_t offset,
                   uint32_t bytes) {
  const unsigned warp = agentOf(w);
  const uint32_t stamp = clocks.stamp(warp), limit = clocks.limit(warp),
                 info = infoOf(w, op, lane, warp, true);
  const uint32_t end = (offset + bytes - 1) >> shift;
  for (uint32_t c = offset >> shift; c <= end; ++c) {
    const uint32_t at = writeStamp[c], is = writeInfo[c];
    if (at >= limit && !known(warp, lane, at, is) &&
        (at == inFlight || (!(is & strongBit) && !suppressed(w, op, is))))
      report(w, op, lane, c, true, at, is, true);
    if (readStamp[c] >= limit)
      forReads(warp, lane, c, [&](uint32_t at, uint32_t is, bool laneKnown) {
        if (!(is & strongBit) && !suppressed(w, op, is))
          report(w, op, lane, c, true, at, is, false, laneKnown);
      });
    writeStamp[c] = stamp, writeInfo[c] = info;
  }
}

void Races::asyncWrite(Warp &w, const Op &op, unsigned lane, uint32_t offset,
                       uint32_t bytes) {
  write(w, op, lane, offset, bytes, nullptr);
  if (!async)
    return;
  const uint32_t end = (offset + bytes - 1) >> shift;
  for (uint32_t c = offset >> shift; c <= end; ++c)
    writeStamp[c] = inFlight;
}

void Races::asyncDone(Warp &w, unsigned lane, uint32_t offset, uint32_t bytes) {
  const unsigned warp = agentOf(w);
  const uint32_t stamp = clocks.stamp(warp);
  const uint32_t end = (offset + bytes - 1) >> shift;
  for (uint32_t c = offset >> shift; c <= end; ++c)
    if (writeStamp[c] == inFlight && agentIn(writeInfo[c]) == warp &&
        laneIn(writeInfo[c]) == lane)
      writeStamp[c] = stamp;
}

void Races::asyncDoneBy(Warp &w, unsigned lane, uint32_t offset, uint32_t bytes,
                        unsigned agent, uint32_t stamp) {
  const unsigned warp = agentOf(w);
  const uint32_t end = (offset + bytes - 1) >> shift;
  for (uint32_t c = offset >> shift; c <= end; ++c)
    if ((writeStamp[c] == inFlight || !async) &&
        agentIn(writeInfo[c]) == warp && laneIn(writeInfo[c]) == lane) {
      writeStamp[c] = stamp;
      writeInfo[c] = (writeInfo[c] & ~agentBits) | agent << agentShift;
    }
}

// --- asynchronous operations ---

void Races::writeAsync(Warp &w, const Op &op, unsigned lane, uint32_t offset,
                       uint32_t bytes, unsigned agent, uint32_t stamp,
                       bool reduces) {
  const unsigned warp = agentOf(w);
  const uint32_t limit = clocks.limit(warp),
                 info = infoOf(w, op, lane, agent, reduces);
  const uint32_t end = (offset + bytes - 1) >> shift;
  // Neighbouring cells usually tell the same.
  uint32_t *const ats = writeStamp.data(), *const infos = writeInfo.data();
  const uint32_t *const reads = readStamp.data(), *const who = readInfo.data(),
                        *const sets = readers.data();
  uint32_t lastAt = 0, lastIs = 0, lastRead = 0, lastReader = 0, lastSet = 0;
  for (uint32_t c = offset >> shift; c <= end; ++c) {
    const uint32_t at = ats[c], is = infos[c];
    if (at >= limit && (at != lastAt || is != lastIs)) {
      lastAt = at, lastIs = is;
      if (!known(warp, lane, at, is) && !(reduces && (is & strongBit)))
        report(w, op, lane, c, true, at, is, true);
    }
    const uint32_t read = reads[c], reader = who[c],
                   set = reader & sharedBit ? sets[c] : 0;
    if (read >= limit &&
        (read != lastRead || reader != lastReader || set != lastSet)) {
      lastRead = read, lastReader = reader, lastSet = set;
      forReads(warp, lane, c, [&](uint32_t at, uint32_t is, bool laneKnown) {
        report(w, op, lane, c, true, at, is, false, laneKnown);
      });
    }
    ats[c] = stamp, infos[c] = info;
  }
}

void Races::readAsync(Warp &w, const Op &op, unsigned lane, uint32_t offset,
                      uint32_t bytes, unsigned agent, uint32_t stamp) {
  const unsigned warp = agentOf(w);
  const uint32_t limit = clocks.limit(warp),
                 info = infoOf(w, op, lane, agent, false);
  const uint32_t end = (offset + bytes - 1) >> shift;
  uint32_t lastAt = 0, lastIs = 0;
  for (uint32_t c = offset >> shift; c <= end; ++c) {
    const uint32_t at = writeStamp[c], is = writeInfo[c];
    if (at >= limit && (at != lastAt || is != lastIs)) {
      lastAt = at, lastIs = is;
      checkRead(w, op, lane, c, false);
    }
    noteRead(warp, lane, c, stamp, info);
  }
}

void Races::readUnits(Warp &w, const Op &op, const uint32_t *offsets,
                      unsigned n, unsigned agent, uint32_t stamp,
                      WrittenBy &written) {
  const unsigned warp = agentOf(w);
  const uint32_t limit = clocks.limit(warp),
                 info = infoOf(w, op, warpSize, agent, false),
                 cells = std::max(16u >> shift, 1u);
  // What is over for all warps of the group needs no second look.
  uint32_t common = limit;
  for (unsigned i = 0, group = warp - w.index % 4; i < 4; ++i)
    common = std::min(common, clocks.limit(group + i));
  if (readers.empty())
    readers.resize(readStamp.size());
  // Neighbouring cells usually tell the same.
  uint32_t lastAt = 0, lastIs = 0;
  Read from{~0u, ~0u}, to{0, 0};
  uint32_t fromSet = 0, toSet = 0;
  const uint32_t *const ats = writeStamp.data(), *const infos =
                                                     writeInfo.data();
  uint32_t *const reads = readStamp.data(), *const who = readInfo.data(),
                  *const sets = readers.data();
  const unsigned bits = shift;
  for (unsigned i = 0; i < n; ++i)
    for (uint32_t c = offsets[i] >> bits, end = c + cells; c < end; ++c) {
      const uint32_t at = ats[c], is = infos[c];
      if (at != lastAt || is != lastIs) {
        lastAt = at, lastIs = is;
        if (at >= common)
          written.add(at, is, c);
        if (at >= limit)
          checkRead(w, op, warpSize, c, false);
      }
      const uint32_t read = reads[c], reader = who[c], set = sets[c];
      if (read != from.stamp || reader != from.info ||
          ((reader & sharedBit) && set != fromSet)) {
        from = {read, reader}, fromSet = set;
        noteRead(warp, warpSize, c, stamp, info);
        to = {reads[c], who[c]}, toSet = sets[c];
      } else {
        reads[c] = to.stamp, who[c] = to.info;
        sets[c] = toSet;
      }
    }
}

void Races::readAgain(Warp &w, const Op &op, const WrittenBy &written) {
  const unsigned warp = agentOf(w);
  for (unsigned i = 0; i < written.count; ++i) {
    const WrittenBy::Write &by = written.writes[i];
    // What has been written since has been checked against the first reads.
    if (by.stamp >= clocks.limit(warp) && writeStamp[by.cell] == by.stamp &&
        writeInfo[by.cell] == by.info)
      checkRead(w, op, warpSize, by.cell, false);
  }
}
