// cp.async of 4, 8 or 16 bytes, and its commit_group, wait_group, wait_all. The
// bytes arrive at once, or with Async::Lazy only at the wait that
// covers them; until then the destination counts as never written, so that a
// missing wait is reported.

#include "runtime/ptxsim/Access.h"
#include "runtime/ptxsim/Decoder.h"
#include "runtime/ptxsim/Lanes.h"

#include <array>
#include <cstring>
#include <fmt/format.h>

using namespace ptxsim;

namespace {

/// What op.list holds beside the destination address in op.a, op.e, op.imm.
enum Extra : unsigned {
  SourceRow,
  SourceOffsetLow,
  SourceOffsetHigh,
  SizeRow,    ///< 0: none
  IgnoreWord, ///< predicate word, 0: none
  IgnoreFlip,
  ExtraCount
};

/// The memory behind the `size` bytes that are read: nothing beyond them need
/// exist.
const std::byte *sourceOf(Warp &w, const Op &op, unsigned lane,
                          uint64_t address, unsigned size) {
  unsigned bytes = op.count;
  if (address & (bytes - 1) && w.cta->launch.options.checks.alignment)
    faultMisaligned(w, op, lane, Space::Global, address, bytes);
  const std::byte *from = nullptr;
  // Powers of two, largest first, are aligned each.
  for (unsigned done = 0, part = 16; done < size; part /= 2)
    if (size - done >= part) {
      const std::byte *p =
          globalAccess(w, op, lane, address + done, part, Access::Read);
      from = from ? from : p;
      done += part;
    }
  return from;
}

/// Marks the destination as written, or as not.
void mark(Cta &cta, const AsyncCopies::Copy &copy, bool written) {
  // Aligned to its size, so within one word of bits.
  uint64_t offset = uint64_t(copy.to - cta.shared);
  uint64_t bits = ((1ull << copy.bytes) - 1) << offset % 64;
  uint64_t &word = cta.initialised[offset / 64];
  word = written ? word | bits : word & ~bits;
  if (!written)
    forgetShared(cta, uint32_t(offset), copy.bytes);
}

void deliver(const AsyncCopies::Copy &copy) {
  if (copy.size)
    std::memcpy(copy.to, copy.from, copy.size);
  std::memset(copy.to + copy.size, 0, copy.bytes - copy.size);
}

/// What the instruction says about one lane, checked.
AsyncCopies::Copy copyOf(Warp &w, const Op &op, unsigned lane, uint64_t source,
                         uint64_t target, uint32_t size) {
  if (size > op.count)
    w.fault(op, lane,
            fmt::format("the source size must be at most {}, but is {}",
                        op.count, size));
  AsyncCopies::Copy copy;
  copy.lane = uint8_t(lane), copy.bytes = uint8_t(op.count);
  copy.size = uint8_t(size);
  copy.from = sourceOf(w, op, lane, source, size);
  copy.to = sharedAccess(w, op, lane, target, op.count, Access::AsyncWrite);
  return copy;
}

/// The usual case without a look at every lane's details: 16 bytes, read whole
/// or not at all, from one allocation. False if it is not the usual case; then
/// nothing has been done.
bool copyWhole(Warp &w, const Op &op, uint32_t mask, const uint64_t *sources,
               const uint64_t *targets, const uint32_t *sizes) {
  Cta &cta = *w.cta;
  if (op.count != 16)
    return false;
  constexpr uint64_t none = ~uint64_t(0);
  uint64_t bits = 0, least = none, most = 0, leastTarget = none, mostTarget = 0;
  uint32_t odd = 0;
  for (unsigned l = 0; l < warpSize; ++l) {
    bool runs = mask >> l & 1, reads = runs && sizes[l];
    odd |= runs && sizes[l] != 0 && sizes[l] != 16;
    bits |= (runs ? targets[l] : 0) | (runs ? sources[l] : 0);
    least = std::min(least, reads ? sources[l] : none);
    most = std::max(most, reads ? sources[l] : uint64_t(0));
    leastTarget = std::min(leastTarget, runs ? targets[l] : none);
    mostTarget = std::max(mostTarget, runs ? targets[l] : uint64_t(0));
  }
  if (odd || bits % 16 || leastTarget < sharedBegin ||
      mostTarget > cta.sharedEnd - 16 ||
      cta.isInUse(uint32_t(leastTarget),
                  uint32_t(mostTarget - leastTarget) + 16))
    return false;
  if (least <= most) {
    const Allocation *a = w.lastAllocation;
    if (!a || !a->contains(least, 16))
      a = cta.launch.arena->find(least, 16);
    if (!a || !a->live || !a->contains(most, 16) || a->known)
      return false;
    w.lastAllocation = a;
  }
  auto *written = reinterpret_cast<uint16_t *>(cta.initialised.data());
  forLanes(mask, [&](unsigned l) {
    uint64_t offset = targets[l] - sharedBegin;
    written[offset / 16] = 0xffff;
    if (sizes[l])
      std::memcpy(cta.shared + offset,
                  reinterpret_cast<const std::byte *>(sources[l]), 16);
    else
      std::memset(cta.shared + offset, 0, 16);
  });
  return true;
}

/// For the checks: the destination is busy until the wait. Wrong addresses are
/// left to the copy itself.
void begin(Warp &w, const Op &op, unsigned lane, uint64_t target) {
  Cta &cta = *w.cta;
  if (target % op.count || target < sharedBegin ||
      target > cta.sharedEnd - op.count)
    return;
  const uint32_t offset = uint32_t(target) - sharedBegin;
  if (cta.isInUse(uint32_t(target), op.count))
    checkSharedWrite(w, op, lane, cta, uint32_t(target), op.count);
  cta.races->asyncWrite(w, op, lane, offset, op.count);
  if (cta.launch.options.async != Async::Eager)
    return;
  AsyncCopies::Copy copy;
  copy.lane = uint8_t(lane), copy.bytes = uint8_t(op.count);
  copy.to = cta.shared + offset, copy.pc = w.indexOf(op);
  w.copies.defer(copy);
}

/// op.count: bytes.
void copyAsync(Warp &w, const Op &op, uint32_t mask) {
  const uint32_t *extra = op.list;
  const uint64_t *source = w.row<uint64_t>(extra[SourceRow]);
  uint64_t offset = extra[SourceOffsetLow] | uint64_t(extra[SourceOffsetHigh])
                                                 << 32;
  uint32_t ignore =
      extra[IgnoreWord] ? w.word(extra[IgnoreWord]) ^ extra[IgnoreFlip] : 0;
  uint64_t sources[warpSize], targets[warpSize];
  uint32_t sizes[warpSize];
  uint64_t read = 0;
  for (unsigned l = 0; l < warpSize; ++l) {
    sources[l] = source[l] + offset;
    targets[l] = w.addressOf(op, l);
    uint32_t size =
        extra[SizeRow] ? w.row<uint32_t>(extra[SizeRow])[l] : op.count;
    sizes[l] = (ignore >> l & 1) ? 0 : size;
    read += (mask >> l & 1) ? sizes[l] : 0;
  }
  const DeviceOptions &options = w.cta->launch.options;
  if (!w.cta->launch.observers.empty())
    observeAsyncCopy(w, op, mask, sources, targets, sizes);
  if (GlobalRaces *global = w.cta->launch.globalRaces.get())
    forLanes(mask, [&](unsigned l) {
      if (sizes[l])
        global->read(w, op, l, reinterpret_cast<const std::byte *>(sources[l]),
                     sizes[l]);
    });
  if (w.cta->races)
    forLanes(mask, [&](unsigned l) { begin(w, op, l, targets[l]); });
  if (options.async != Async::Eager ||
      !copyWhole(w, op, mask, sources, targets, sizes)) {
    bool marks = options.checks.uninitialisedShared && options.checks.alignment;
    forLanes(mask, [&](unsigned l) {
      AsyncCopies::Copy copy =
          copyOf(w, op, l, sources[l], targets[l], sizes[l]);
      if (options.async == Async::Eager)
        return deliver(copy);
      if (marks)
        mark(*w.cta, copy, false);
      copy.pc = w.indexOf(op);
      w.copies.defer(copy);
    });
  }
  w.counters->globalLoadBytes += read;
}

void commitGroup(Warp &w, const Op &, uint32_t mask) { w.copies.commit(mask); }

/// From its wait on a copy is a write of its thread, by the generic proxy.
void finish(Warp &w, const AsyncCopies::Copy &copy) {
  deliverCopy(w, copy);
  if (w.cta->proxies)
    w.cta->proxies->write(w, w.ops[copy.pc], 1u << copy.lane,
                          uint32_t(copy.to - w.cta->shared), copy.bytes);
}

/// op.imm: groups that may stay open.
void waitGroup(Warp &w, const Op &op, uint32_t mask) {
  if (w.cta->clocks)
    w.cta->clocks->waitCopies(w, mask);
  w.copies.wait(mask, uint32_t(op.imm),
                [&](const AsyncCopies::Copy &copy) { finish(w, copy); });
}
void waitAll(Warp &w, const Op &, uint32_t mask) {
  if (w.cta->clocks)
    w.cta->clocks->waitCopies(w, mask);
  w.copies.waitAll(mask,
                   [&](const AsyncCopies::Copy &copy) { finish(w, copy); });
}

bool decodeGroup(Decoder &d) {
  if (d.take("wait_group")) {
    if (!d.done())
      return false;
    d.expect(1);
    int64_t open = d.integer(d[0]);
    if (open < 0)
      d.error("expected a number of groups of at least 0");
    d.emit(waitGroup).imm = uint64_t(std::min<int64_t>(open, UINT32_MAX));
    return true;
  }
  bool commit = d.take("commit_group");
  if (!(commit || d.take("wait_all")) || !d.done())
    return false;
  d.expect(0);
  d.emit(commit ? commitGroup : waitAll);
  return true;
}

} // namespace

void ptxsim::arriveEarly(AsyncCopies::Copy &copy) {
  deliver(copy);
  copy.arrived = true;
}

void ptxsim::deliverCopy(Warp &w, const AsyncCopies::Copy &copy) {
  Cta &cta = *w.cta;
  const Checks &checks = cta.launch.options.checks;
  if (cta.races)
    cta.races->asyncDone(w, copy.lane, uint32_t(copy.to - cta.shared),
                         copy.bytes);
  // Otherwise the bytes arrived when the copy was issued.
  if (cta.launch.options.async == Async::Eager)
    return;
  if (!copy.arrived)
    deliver(copy);
  if (checks.uninitialisedShared && checks.alignment)
    mark(cta, copy, true);
}

bool ptxsim::decodeAsyncCopy(Decoder &d) {
  if (!d.take("async"))
    return false;
  int cache = d.takeOneOf({"ca", "cg"});
  if (cache < 0)
    return decodeGroup(d);
  bool hint = d.take("L2::cache_hint");
  d.takeOneOf({"L2::64B", "L2::128B", "L2::256B"});
  if (d.takeOneOf({"shared", "shared::cta"}) < 0 || !d.take("global") ||
      !d.done())
    return false;
  d.expect(hint ? 4 : 3, hint ? 5 : 4);
  Decoder::AddressRef to = d.address(0), from = d.address(1);
  int64_t bytes = d.integer(d[2]);
  if (bytes != 16 && (cache == 1 || (bytes != 4 && bytes != 8)))
    d.error(cache == 1 ? "expected a copy of 16 bytes"
                       : "expected a copy of 4, 8 or 16 bytes");
  if (from.bits != 64)
    d.error("expected a 64-bit global address");
  std::array<uint32_t, ExtraCount> extra{};
  extra[SourceRow] = from.row;
  extra[SourceOffsetLow] = uint32_t(from.offset);
  extra[SourceOffsetHigh] = uint32_t(from.offset >> 32);
  if (d.size() == (hint ? 5u : 4u)) {
    const Operand &last = d[3];
    if (last.kind == Operand::Predicate) {
      PredicateSource ignore = d.predicateSource(last);
      extra[IgnoreWord] = ignore.row, extra[IgnoreFlip] = ignore.flip;
    } else {
      if (d.isInteger(last) && uint64_t(d.integer(last)) > uint64_t(bytes))
        d.error("expected a source size of at most " + std::to_string(bytes));
      extra[SizeRow] = d.source(3, Type::B32);
    }
  }
  if (hint)
    d.source(d.size() - 1, Type::B64); // the policy changes no result
  const uint32_t *list = d.list(extra);
  Op &op = d.emit(copyAsync);
  op.a = to.row, op.e = to.bits, op.imm = to.offset;
  op.list = list, op.count = uint16_t(bytes), op.space = Space::Shared;
  return true;
}
