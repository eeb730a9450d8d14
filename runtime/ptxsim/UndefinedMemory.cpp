// Undefined values in shared and local memory: what loads take from there and
// stores leave behind.

#include "runtime/ptxsim/Access.h"
#include "runtime/ptxsim/Cluster.h"
#include "runtime/ptxsim/FaultText.h"
#include "runtime/ptxsim/Lanes.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

using namespace ptxsim;

namespace {

constexpr unsigned widest = 16;

/// Bytes of memory whose undefined bits are kept: of shared memory, or of a
/// thread's local memory. Neither: of what is always defined.
struct Place {
  Cta *cta = nullptr; ///< of shared memory
  uint32_t offset = 0;
  bool isLocal = false;
  size_t local = 0; ///< index into the CTA's local memory
};

Place localPlace(Warp &w, unsigned lane, uint64_t address) {
  Place p;
  p.isLocal = !w.cta->localShadow.bits.empty();
  p.local = (size_t(w.index) * warpSize + lane) * w.function->localBytes +
            size_t(address);
  return p;
}

/// Of an access that has been checked.
Place placeOf(Warp &w, const Op &op, unsigned lane, uint64_t address,
              unsigned bytes) {
  Space space = op.space;
  if (space == Space::Generic) {
    const uint64_t window = address & windowMask;
    if (window == localWindow)
      space = Space::Local, address -= localWindow;
    else if (window != sharedWindow)
      return {};
  }
  if (space == Space::Local)
    return localPlace(w, lane, address);
  if ((space != Space::Shared && space != Space::SharedCluster &&
       space != Space::Generic) ||
      !w.cta->launch.options.checks.uninitialisedShared)
    return {};
  const SharedPlace at = sharedPlace(w, op, lane, space, address, bytes, 1);
  Place p;
  p.cta = at.cta, p.offset = at.address - sharedBegin;
  return p;
}

bool isDefined(const Cta &cta, uint32_t offset) {
  return cta.initialised[offset / 64] >> offset % 64 & 1;
}

/// The undefined bits of byte i.
uint8_t bitsAt(Warp &w, const Place &p, unsigned i) {
  if (p.isLocal)
    return w.cta->localShadow.bits[p.local + i];
  if (!p.cta || isDefined(*p.cta, p.offset + i))
    return 0;
  return p.cta->sharedShadow ? p.cta->sharedShadow->bytes[p.offset + i].bits
                             : 0xff;
}

uint32_t originAt(Warp &w, const Place &p, unsigned i, uint32_t &writer) {
  writer = w.index * warpSize;
  if (p.isLocal)
    return w.cta->localShadow.origins.empty()
               ? 0
               : w.cta->localShadow.origins[p.local + i];
  if (!p.cta->sharedShadow)
    return 0;
  writer = p.cta->sharedShadow->bytes[p.offset + i].writer;
  return p.cta->sharedShadow->bytes[p.offset + i].origin;
}

/// Byte i has been stored, with these undefined bits.
void setByte(Warp &w, unsigned lane, const Place &p, unsigned i, uint8_t bits,
             uint32_t origin) {
  if (p.isLocal) {
    LocalShadow &s = w.cta->localShadow;
    s.bits[p.local + i] = bits;
    if (bits && s.origins.empty())
      s.origins.resize(s.bits.size());
    if (bits)
      s.origins[p.local + i] = origin;
    return;
  }
  if (!p.cta)
    return;
  const uint32_t at = p.offset + i;
  uint64_t &written = p.cta->initialised[at / 64];
  if (!bits) {
    written |= 1ull << at % 64;
    return;
  }
  if (!p.cta->sharedShadow) {
    p.cta->sharedShadow = std::make_unique<SharedShadow>();
    p.cta->sharedShadow->bytes.resize(p.cta->sharedEnd - sharedBegin);
  }
  written &= ~(1ull << at % 64);
  p.cta->sharedShadow->bytes[at] = {bits, origin, w.index * warpSize + lane};
}

/// One lane's undefined bits of what it reads; origin 0: there are none.
struct Read {
  uint8_t bits[widest] = {};
  bool any = false;
};
Read readAt(Warp &w, const Op &op, unsigned lane, uint64_t address,
            unsigned bytes, Place &p) {
  Read r;
  p = placeOf(w, op, lane, address, bytes);
  for (unsigned i = 0; i < bytes; ++i)
    r.any |= (r.bits[i] = bitsAt(w, p, i)) != 0;
  return r;
}

/// A new origin: this lane has read undefined bytes of memory.
uint32_t note(Warp &w, const Op &op, unsigned lane, const Place &p,
              unsigned bytes, unsigned byte) {
  std::vector<MemoryOrigin> &all = w.cta->cluster.origins;
  constexpr size_t most = 1 << 20;
  if (all.size() >= most) // a kernel that goes on for long without looking
    return Origin::fromMemory | uint32_t(most - 1);
  MemoryOrigin o;
  o.op = w.indexOf(op), o.lane = uint8_t(lane);
  o.bytes = uint8_t(bytes), o.byte = uint8_t(byte);
  o.space = p.isLocal ? Space::Local : Space::Shared;
  o.address =
      p.isLocal ? p.local % std::max(w.function->localBytes, 1u) : p.offset;
  o.from = originAt(w, p, byte, o.writer);
  all.push_back(o);
  return Origin::fromMemory | uint32_t(all.size() - 1);
}

void writeRow(Warp &w, uint32_t row, unsigned bytes, unsigned lane,
              uint64_t value) {
  std::memcpy(w.registers + row + lane * bytes, &value, bytes);
}
uint64_t readRow(Warp &w, uint32_t row, unsigned bytes, unsigned lane) {
  uint64_t value = 0;
  std::memcpy(&value, w.registers + row + lane * bytes, bytes);
  return value;
}

/// The origin of a row of the shadow; 0 if its register is not tracked.
uint32_t *originAtShadow(Warp &w, uint32_t shadow) {
  const uint32_t r = w.function->registerBytes;
  return shadow >= r && shadow < 2 * r ? &w.word(shadow + r) : nullptr;
}

/// Sets the origin of a register that some lanes have written.
void setOrigin(Warp &w, uint32_t shadow, unsigned bytes, uint32_t mask,
               uint32_t origin) {
  uint32_t *at = originAtShadow(w, shadow);
  if (!at)
    return;
  if (origin) {
    *at = origin;
  } else if (*at) {
    bool any = false;
    for (unsigned l = 0; l < warpSize && mask != allLanes; ++l)
      any |= readRow(w, shadow, bytes, l) != 0;
    *at = any ? *at : 0;
  }
}

std::string_view formOf(const Warp &w, const Op &op) {
  return w.function->infos[w.indexOf(op)].form;
}

/// Is what the op reads followed? If so the warp does follow it from now on.
bool follows(Warp &w, const Op &op, bool isRead) {
  const std::string_view form = formOf(w, op),
                         base = form.substr(0, form.find('.'));
  const bool isProduct = base == "wgmma";
  if (!isRead || !w.function->everything ||
      !w.cta->launch.options.checks.undefinedRegisters ||
      (base != "ld" && base != "ldu" && base != "ldmatrix" && !isProduct))
    return false;
  if (w.follow == Follow::Everything)
    return true;
  if (!isProduct)
    throw FollowEverything{&op};
  // It cannot be executed again, but nothing looks at its result yet.
  followEverything(w);
  w.stop = true;
  return true;
}

std::string registerOrigin(const Warp &w, uint32_t origin, const char *who,
                           Notes &notes, const Op &op) {
  const Function &f = *w.function;
  const uint32_t use = origin - 1;
  uint32_t at, row;
  if (use >= f.uses.size()) {
    at = use - uint32_t(f.uses.size());
    row = f.ops[at].guard;
  } else {
    at = uint32_t(std::upper_bound(f.useStart.begin(), f.useStart.end(), use) -
                  f.useStart.begin() - 1);
    row = f.uses[use].row;
  }
  const std::string name = registerName(f, row);
  if (&f.ops[at] != &op)
    notes.push_back({fmt::format("{} is read here", name), &f.ops[at]});
  return fmt::format("line {} reads {}, which {} has not written",
                     f.infos[at].line, name, who);
}

/// Where an undefined value comes from, and notes that show it.
std::string describe(const Warp &w, const Op &op, uint32_t origin,
                     const std::string &who, Notes &notes) {
  if (!(origin & Origin::fromMemory))
    return registerOrigin(w, origin, who.c_str(), notes, op);
  const Function &f = *w.function;
  const MemoryOrigin &o = w.cta->cluster.origins[origin & ~Origin::fromMemory];
  const bool isLocal = o.space == Space::Local;
  const std::string where =
      isLocal ? fmt::format("offset {} of local memory", o.address)
              : fmt::format("address {:#x} (offset {}) of shared memory",
                            o.address + sharedBegin, o.address);
  if (&f.ops[o.op] != &op)
    notes.push_back({fmt::format("lane {} reads {} bytes at {} here", o.lane,
                                 o.bytes, where),
                     &f.ops[o.op]});
  std::string text =
      fmt::format("{} bytes at {} are read at line {}, but byte {} ", o.bytes,
                  where, f.infos[o.op].line, o.address + o.byte);
  if (!o.from) {
    notes.push_back({isLocal ? "the store that should have come before is "
                               "missing or writes elsewhere"
                             : "the store that should have come before is "
                               "missing or writes elsewhere, or nothing makes "
                               "this thread wait for it"});
    return text + "was never written";
  }
  // A chain of copies through memory is as long as a program makes it.
  for (unsigned n = 0; n < notes.size(); ++n)
    if (n > 6)
      return text + "was undefined when it was stored";
  return text + "was stored undefined: " +
         describe(w, op, o.from, fmt::format("thread {}", o.writer), notes);
}

} // namespace

void ptxsim::reportUndefined(Warp &w, const Op &op, unsigned lane,
                             const char *what, uint32_t origin) {
  Notes notes;
  const std::string text = describe(w, op, origin, "this thread", notes);
  w.fault(op, lane, fmt::format("{} is undefined: {}", what, text), notes);
}

void ptxsim::readUndefinedShared(Warp &w, const Op &op, unsigned lane, Cta &cta,
                                 uint32_t offset, unsigned bytes, uint32_t byte,
                                 bool isRead) {
  const std::string what =
      fmt::format("{} bytes at address {:#x} (offset {}) of shared memory are "
                  "read, but ",
                  bytes, offset + sharedBegin, offset);
  const Transfer *bulk = nullptr;
  const Op *copy = nullptr;
  for (uint32_t b = offset; b < offset + bytes; ++b) {
    if (isDefined(cta, b))
      continue;
    if (!bulk)
      bulk = cta.cluster.writing(cta, b + sharedBegin, 1);
    if (cta.launch.options.async != Async::Eager)
      for (Warp &other : cta.warps)
        other.copies.forPending([&](AsyncCopies::Copy &c) {
          const std::byte *at = cta.shared + b;
          if (c.to <= at && at < c.to + c.bytes)
            copy = &other.ops[c.pc];
        });
  }
  if (bulk)
    w.fault(op, lane,
            what + fmt::format("the asynchronous copy of line {} has not been "
                               "waited for",
                               bulk->line()),
            {{"the copy is issued here", bulk->op},
             {"a wait for the copy's mbarrier (mbarrier.try_wait of the right "
              "phase) or bulk group is missing between the two"}});
  if (copy)
    w.fault(op, lane, what + fmt::format("byte {} was never written", byte),
            {{"the cp.async that would write it is issued here and has not "
              "been waited for",
              copy}});
  if (follows(w, op, isRead))
    return;
  Place p;
  p.cta = &cta, p.offset = byte;
  uint32_t writer;
  if (const uint32_t origin = originAt(w, p, 0, writer)) {
    Notes notes;
    const std::string text =
        describe(w, op, origin, fmt::format("thread {}", writer), notes);
    w.fault(op, lane,
            what + fmt::format("byte {} was stored undefined: ", byte) + text,
            notes);
  }
  w.fault(op, lane, what + fmt::format("byte {} was never written", byte),
          {{"the store that should have come before is missing or writes "
            "elsewhere, or nothing makes this thread wait for it"}});
}

void ptxsim::readUndefinedLocal(Warp &w, const Op &op, unsigned lane,
                                uint64_t address, unsigned bytes, uint32_t byte,
                                bool isRead) {
  if (follows(w, op, isRead))
    return;
  w.fault(op, lane,
          fmt::format("{} bytes at address {:#x} of local memory are read, but "
                      "byte {} was never written, or with an undefined value",
                      bytes, address, byte));
}

uint32_t ptxsim::originOfShared(Warp &w, const Op &op, uint32_t offset,
                                unsigned bytes, uint32_t byte) {
  Place p;
  p.cta = w.cta, p.offset = offset;
  return note(w, op, 0, p, bytes, byte - offset);
}

void ptxsim::forgetShared(Cta &cta, uint32_t offset, uint32_t bytes) {
  if (cta.sharedShadow)
    std::fill_n(cta.sharedShadow->bytes.begin() + offset, bytes,
                SharedShadow::Byte());
}

void ptxsim::undefinedLoad(Warp &w, const Op &op, const UndefinedStep &s,
                           uint32_t mask) {
  const unsigned n = op.count, size = s.elementBytes, wide = s.registerBytes,
                 bytes = n * size;
  // The destination may be the address's own register.
  uint64_t at[warpSize];
  const bool hasAddress = op.e != 0; // a kernel's parameter has none
  for (unsigned l = 0; l < warpSize && hasAddress; ++l)
    at[l] = w.addressOf(op, l);
  op.fn(w, op, mask);
  uint32_t origins[4] = {};
  forLanes(mask, [&](unsigned l) {
    Read r;
    Place p;
    // Otherwise the load has found everything defined.
    if (hasAddress && w.follow == Follow::Everything)
      r = readAt(w, op, l, at[l], bytes, p);
    for (unsigned i = 0; i < n; ++i) {
      uint64_t value = 0;
      if (r.any) {
        std::memcpy(&value, r.bits + i * size, size);
        if (value && !origins[i]) {
          unsigned byte = i * size;
          while (!r.bits[byte])
            ++byte;
          origins[i] = note(w, op, l, p, bytes, byte);
        }
        if (s.isSigned && size < 8 && value >> (size * 8 - 1))
          value |= ~0ull << size * 8;
      }
      writeRow(w, s.op.list[i], wide, l, value);
    }
  });
  for (unsigned i = 0; i < n; ++i)
    setOrigin(w, s.op.list[i], wide, mask, origins[i]);
}

void ptxsim::undefinedStore(Warp &w, const Op &op, const UndefinedStep &s,
                            uint32_t mask) {
  const unsigned n = op.count, size = s.elementBytes, wide = s.registerBytes;
  op.fn(w, op, mask);
  if (op.space == Space::Global)
    return;
  // Where lanes store to the same place the highest wins.
  forLanes(mask, [&](unsigned l) {
    const Place p = placeOf(w, op, l, w.addressOf(op, l), n * size);
    if (!p.cta && !p.isLocal)
      return;
    for (unsigned i = 0; i < n; ++i) {
      const uint64_t bits = readRow(w, s.op.list[i], wide, l);
      uint32_t origin = 0;
      if (bits)
        for (const Tracked &t : s.reads)
          if (t.shadow == s.op.list[i])
            origin = originOf(w, t);
      for (unsigned b = 0; b < size; ++b)
        setByte(w, l, p, i * size + b, uint8_t(bits >> b * 8), origin);
    }
  });
}

// ldmatrix, stmatrix: a register row is a matrix, in row-major order; or, with
// .trans, its transpose.

void ptxsim::undefinedLoadMatrix(Warp &w, const Op &op, const UndefinedStep &s,
                                 uint32_t mask) {
  uint64_t at[warpSize];
  for (unsigned l = 0; l < warpSize; ++l)
    at[l] = w.addressOf(op, l);
  op.fn(w, op, mask);
  for (unsigned i = 0; i < op.count; ++i) {
    uint16_t matrix[8][8] = {};
    uint32_t origin = 0;
    for (unsigned r = 0; r < 8 && w.follow == Follow::Everything; ++r) {
      const unsigned l = i * 8 + r;
      Place p;
      const Read read = readAt(w, op, l, at[l], 16, p);
      if (!read.any)
        continue;
      std::memcpy(matrix[r], read.bits, 16);
      unsigned byte = 0;
      while (!read.bits[byte])
        ++byte;
      origin = origin ? origin : note(w, op, l, p, 16, byte);
    }
    auto *to = w.row<uint16_t>(s.op.list[i]);
    for (unsigned r = 0; r < 8; ++r)
      for (unsigned c = 0; c < 8; ++c)
        to[r * 8 + c] = s.transposes ? matrix[c][r] : matrix[r][c];
    setOrigin(w, s.op.list[i], 4, allLanes, origin);
  }
}

void ptxsim::undefinedStoreMatrix(Warp &w, const Op &op, const UndefinedStep &s,
                                  uint32_t mask) {
  op.fn(w, op, mask);
  for (unsigned i = 0; i < op.count; ++i) {
    const auto *from = w.row<uint16_t>(s.op.list[i]);
    uint32_t origin = 0;
    for (const Tracked &t : s.reads)
      if (t.shadow == s.op.list[i])
        origin = originOf(w, t);
    for (unsigned r = 0; r < 8; ++r) {
      const unsigned l = i * 8 + r;
      const Place p = placeOf(w, op, l, w.addressOf(op, l), 16);
      for (unsigned c = 0; c < 8; ++c) {
        const uint16_t bits = s.transposes ? from[c * 8 + r] : from[r * 8 + c];
        setByte(w, l, p, c * 2, uint8_t(bits), origin);
        setByte(w, l, p, c * 2 + 1, uint8_t(bits >> 8), origin);
      }
    }
  }
}

// --- calls ---

namespace {
const Tracked *trackedOf(const Warp &w, uint32_t row) {
  if (w.plan)
    for (const Tracked &t : w.plan->registers)
      if (t.row == row)
        return &t;
  return nullptr;
}
} // namespace

PassedBits ptxsim::takeUndefined(Warp &w, const Op &op, unsigned lane,
                                 const PassedValue &from, uint32_t bytes,
                                 bool toRegister) {
  PassedBits passed;
  passed.bits.resize(bytes);
  if (from.isMemory) {
    const Place p = localPlace(w, lane, from.address);
    for (uint32_t i = 0; i < bytes && p.isLocal; ++i) {
      passed.bits[i] = bitsAt(w, p, i);
      if (!passed.bits[i] || passed.any)
        continue;
      passed.any = true;
      uint32_t writer;
      passed.origin = toRegister ? note(w, op, lane, p, bytes, i)
                                 : originAt(w, p, i, writer);
    }
    return passed;
  }
  const Tracked *t = trackedOf(w, from.row);
  if (!t || !w.word(t->origin))
    return passed;
  const uint64_t bits = readRow(w, t->shadow, t->bits / 8, lane);
  std::memcpy(passed.bits.data(), &bits, std::min(bytes, t->bits / 8));
  passed.any = bits != 0;
  passed.origin = w.word(t->origin);
  if (passed.origin != Origin::own)
    return passed;
  // The first use of it will do.
  const std::vector<RegisterUse> &uses = w.function->uses;
  for (uint32_t u = 0; u < uses.size() && passed.origin == Origin::own; ++u)
    if (uses[u].row == from.row && uses[u].role != RegisterUse::Writes)
      passed.origin = u + 1;
  return passed;
}

void ptxsim::putUndefined(Warp &w, unsigned lane, const PassedValue &to,
                          const PassedBits &passed) {
  const uint32_t bytes = uint32_t(passed.bits.size());
  if (to.isMemory) {
    const Place p = localPlace(w, lane, to.address);
    for (uint32_t i = 0; i < bytes && p.isLocal; ++i)
      setByte(w, lane, p, i, passed.bits[i], passed.origin);
    return;
  }
  const Tracked *t = trackedOf(w, to.row);
  if (!t)
    return;
  uint64_t bits = 0;
  std::memcpy(&bits, passed.bits.data(), std::min(bytes, 8u));
  writeRow(w, t->shadow, t->bits / 8, lane, bits);
  setOrigin(w, t->shadow, t->bits / 8, 1u << lane, bits ? passed.origin : 0);
}

void ptxsim::startFrame(Warp &w, const Callee &c, unsigned lane,
                        uint32_t base) {
  const Place p = localPlace(w, lane, base);
  LocalShadow &s = w.cta->localShadow;
  std::fill_n(s.bits.begin() + long(p.local), c.frameBytes, 0xff);
  if (!s.origins.empty())
    std::fill_n(s.origins.begin() + long(p.local), c.frameBytes, 0);
  for (const Callee::Rows &rows : c.registers)
    startFunction(w, rows.offset, rows.offset + rows.count * rows.stride,
                  1u << lane);
}

void ptxsim::markRestored(Warp &w, const Callee &c) {
  for (const Callee::Rows &rows : c.registers)
    for (const Tracked &t : w.plan->registers)
      if (t.row >= rows.offset &&
          t.row < rows.offset + rows.count * rows.stride && !w.word(t.origin))
        w.word(t.origin) = Origin::own;
}
