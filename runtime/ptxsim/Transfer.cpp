#include "runtime/ptxsim/Transfer.h"

#include "runtime/ptxsim/Access.h"
#include "runtime/ptxsim/Cluster.h"
#include "runtime/ptxsim/Observer.h"
#include "runtime/ptxsim/Reduce.h"

#include <cstring>
#include <fmt/format.h>

using namespace ptxsim;

namespace {

/// Swizzles permute the 16-byte units of 128, 256, ... bytes by address.
uint32_t swizzled(uint32_t address, uint32_t mode) {
  const uint32_t ones = (1u << mode) - 1;
  return address ^ (address >> 7 & ones) << 4;
}

/// Calls f(bytes in global memory or null, offset in the box, bytes) for the
/// runs of a box: rows of it, cut where the tensor ends.
template <class F> void forRuns(const Transfer &t, F f) {
  const TensorMapDesc &d = t.map;
  const uint32_t element = elementBytes(d.type), inner = d.box[0];
  const uint32_t rowBytes = inner * element;
  const int64_t begin = std::clamp<int64_t>(-int64_t(t.at[0]), 0, inner);
  const int64_t end =
      std::clamp<int64_t>(int64_t(d.dims[0]) - t.at[0], begin, inner);
  uint32_t extent[5] = {1, 1, 1, 1, 1}, index[5] = {};
  for (unsigned i = 1; i < d.rank; ++i)
    extent[i] = boxExtent(d, i);
  uint32_t offset = 0;
  for (;;) {
    bool inside = begin < end;
    uint64_t address = d.address + uint64_t(int64_t(t.at[0]) + begin) * element;
    for (unsigned i = 1; i < d.rank; ++i) {
      const int64_t x =
          int64_t(t.at[i]) + int64_t(index[i]) * d.elementStrides[i];
      inside &= x >= 0 && x < int64_t(d.dims[i]);
      address += uint64_t(x) * d.strides[i - 1];
    }
    if (!inside) {
      f(uint64_t(0), offset, rowBytes);
    } else {
      if (begin)
        f(uint64_t(0), offset, uint32_t(begin) * element);
      f(address, offset + uint32_t(begin) * element,
        uint32_t(end - begin) * element);
      if (end < inner)
        f(uint64_t(0), offset + uint32_t(end) * element,
          uint32_t(inner - end) * element);
    }
    offset += rowBytes;
    unsigned i = 1;
    for (; i < d.rank; ++i) {
      if (++index[i] < extent[i])
        break;
      index[i] = 0;
    }
    if (i >= d.rank)
      return;
  }
}

/// NaN of the type with all bits set but the sign, as the constant fill.
void fillNaN(std::byte *to, uint32_t bytes, TensorMapDesc::DataType type) {
  const uint32_t element = elementBytes(type);
  uint64_t nan = element == 8   ? 0x7fffffffffffffff
                 : element == 4 ? 0x7fffffff
                                : 0x7fff;
  for (uint32_t i = 0; i < bytes; i += element)
    std::memcpy(to + i, &nan, element);
}

/// A run of global memory, checked.
std::byte *globalRun(Transfer &t, uint64_t address, uint32_t bytes,
                     bool writes = false) {
  Warp &w = *t.warp;
  if (w.cta->launch.options.checks.bounds &&
      !(w.lastAllocation && w.lastAllocation->contains(address, bytes))) {
    const Allocation *a = w.cta->launch.arena->find(address, bytes);
    if (!a) {
      const Arena &arena = *w.cta->launch.arena;
      Notes notes = outOfBounds(arena, address, bytes);
      if (t.tensor)
        notes.push_back({"the tensor map covers more than the buffer has: its "
                         "dimensions or strides are too large"});
      w.fault(*t.op, t.lane, arena.describe(address, bytes), notes);
    }
    if (a->known)
      checkKnown(w, *t.op, t.lane, *a, address, bytes, writes);
    else
      w.lastAllocation = a;
  }
  for (Observer *o : w.cta->launch.observers)
    o->copyMoves(t, address, bytes, t.kind == Transfer::ToGlobal);
  return reinterpret_cast<std::byte *>(address);
}

uint32_t swizzleOf(const Transfer &t) {
  return t.tensor ? uint32_t(t.map.swizzle) : 0;
}

} // namespace

uint32_t Transfer::line() const {
  return warp->function->infos[warp->indexOf(*op)].line;
}

void Transfer::forGlobalRuns(
    const std::function<void(uint64_t, uint32_t)> &f) const {
  if (!tensor)
    return f(global, bytes);
  forRuns(*this, [&](uint64_t address, uint32_t, uint32_t n) {
    if (address && n)
      f(address, n);
  });
}

void Transfer::tellStart() const {
  for (Observer *o : warp->cta->launch.observers)
    o->copyStarts(*this);
}

void Transfer::tellEnd() const {
  if (kind == Arrive || kind == Value)
    return;
  for (Observer *o : warp->cta->launch.observers)
    o->copyEnds(*this);
}

void Transfer::begin() {
  if (kind == ToGlobal || kind == Between) {
    Cta &from = kind == Between ? *source : *cta;
    const uint32_t begin = kind == Between ? sourceOffset : offset;
    if (from.launch.options.checks.asyncHazards)
      from.reading.push_back({begin, begin + bytes, line()});
  }
  // A reduction needs what is there.
  if ((kind == ToShared || kind == Between || kind == Value) &&
      !(kind == Value && reduction != Reduction::None))
    markShared(*cta, offset, bytes, false);
}

void Transfer::read() {
  data.resize(bytes);
  if (kind == Arrive || kind == Value)
    return;
  if (kind == ToShared) {
    uint64_t valid = bytes;
    if (!tensor) {
      std::memcpy(data.data(), globalRun(*this, global, bytes), bytes);
    } else {
      valid = 0;
      forRuns(*this, [&](uint64_t address, uint32_t to, uint32_t n) {
        if (address) {
          std::memcpy(data.data() + to, globalRun(*this, address, n), n);
          valid += n;
        } else if (map.fill == TensorMapDesc::FillNaN)
          fillNaN(data.data() + to, n, map.type);
        else
          std::memset(data.data() + to, 0, n);
      });
    }
    warp->counters->globalLoadBytes += valid;
    return;
  }
  Cta &from = kind == Between ? *source : *cta;
  const uint32_t begin = kind == Between ? sourceOffset : offset;
  if (kind == ToGlobal && tensor && !isAllWritten(from, begin, bytes))
    // What lies outside of the tensor goes nowhere.
    forRuns(*this, [&](uint64_t address, uint32_t at, uint32_t n) {
      for (uint32_t i = at, some; address && i < at + n; i += some) {
        some = std::min(at + n - i, 16 - i % 16);
        checkWritten(*warp, *op, lane, from,
                     swizzled(begin + i, swizzleOf(*this)), some);
      }
    });
  else
    checkWritten(*warp, *op, lane, from, begin, bytes);
  checkProxy(*warp, *op, lane, from, begin, bytes);
  copySource();
}

/// What the source holds now, in shared memory.
void Transfer::copySource() {
  const Cta &from = kind == Between ? *source : *cta;
  const uint32_t begin = kind == Between ? sourceOffset : offset;
  const std::byte *shared = from.shared - sharedBegin;
  data.resize(bytes);
  if (const uint32_t mode = swizzleOf(*this))
    for (uint32_t i = 0; i < bytes; i += 16)
      std::memcpy(data.data() + i, shared + swizzled(begin + i, mode), 16);
  else
    std::memcpy(data.data(), shared + begin, bytes);
}

void Transfer::noteGlobal(unsigned agent, uint32_t at) {
  GlobalRaces &races = *warp->cta->launch.globalRaces;
  const GlobalRaces::Agent by = {agent, at};
  if (kind == ToGlobal)
    copySource();
  const auto note = [&](uint64_t address, uint32_t from, uint32_t n) {
    // What is out of bounds is reported when it is accessed.
    if (!address || !n || !warp->cta->launch.arena->find(address, n))
      return;
    const auto *p = reinterpret_cast<const std::byte *>(address);
    if (kind == ToShared)
      races.read(*warp, *op, lane, p, n, &by);
    else if (reduction == Reduction::None)
      races.write(*warp, *op, lane, p, n, data.data() + from, &by);
    else
      races.atomic(*warp, *op, lane, p, n, &by);
  };
  if (tensor)
    forRuns(*this, note);
  else
    note(global, 0, bytes);
}

void Transfer::release() {
  if (kind != ToGlobal && kind != Between)
    return;
  Cta &from = kind == Between ? *source : *cta;
  const uint32_t begin = kind == Between ? sourceOffset : offset;
  const uint32_t issued = line();
  for (size_t i = 0; i < from.reading.size(); ++i)
    if (from.reading[i].offset == begin && from.reading[i].line == issued) {
      from.reading.erase(from.reading.begin() + long(i));
      break;
    }
}

void Transfer::write() {
  if (kind == Arrive) {
    warp->copies.waitAll(1u << lane, [&](const AsyncCopies::Copy &copy) {
      deliverCopy(*warp, copy);
    });
    return;
  }
  if (kind == ToGlobal) {
    uint64_t valid = 0;
    auto put = [&](uint64_t address, uint32_t from, uint32_t n) {
      if (!address)
        return;
      std::byte *to = globalRun(*this, address, n, true);
      reduction == Reduction::None
          ? void(std::memcpy(to, data.data() + from, n))
          : reduceInto(to, data.data() + from, n, reduction, type, true);
      valid += n;
    };
    if (tensor)
      forRuns(*this, put);
    else
      put(global, 0, bytes);
    warp->counters->globalStoreBytes += valid;
    return;
  }
  std::byte *shared = cta->shared - sharedBegin;
  if (const uint32_t mode = swizzleOf(*this))
    for (uint32_t i = 0; i < bytes; i += 16)
      std::memcpy(shared + swizzled(offset + i, mode), data.data() + i, 16);
  else if (reduction != Reduction::None)
    reduceInto(shared + offset, data.data(), bytes, reduction, type, false);
  else
    std::memcpy(shared + offset, data.data(), bytes);
  markShared(*cta, offset, bytes, true);
  // st.async and red.async are of the generic proxy.
  if (kind == Value && cta->proxies)
    cta->proxies->write(*warp, *op, 1u << lane, offset - sharedBegin, bytes);
}

void Transfer::run() {
  read();
  write();
  release();
  tellEnd();
  if (!barrierCta)
    return;
  Mbarrier *b = barrierCta->mbarrier(barrier);
  if (!b)
    warp->fault(*op, lane,
                fmt::format("the copy signals address {:#x} of shared memory, "
                            "where there is no mbarrier (any more)",
                            barrier));
  if (kind != Arrive)
    b->copied = {b->phase + 1, warp, op, lane};
  if (stamp)
    barrierCta->clocks->signal(*b, barrierCta->clocks->agentOf(*warp), lane,
                               stamp, known.get());
  if (auto error = kind == Arrive ? b->arrive(1) : b->complete(bytes))
    warp->fault(*op, lane, *error);
  if (stamp && b->due())
    barrierCta->clocks->completedBy(*b, {barrierCta->clocks->object(*b).agent,
                                         barrierCta->clocks->agentOf(*warp),
                                         lane, stamp, op});
  barrierCta->update(*b);
}
