// How ld and st in all spaces, with vectors, execute; their forms are in
// LoadStoreForms.cpp.

#include "runtime/ptxsim/insn/LoadStore.h"
#include "runtime/ptxsim/Access.h"
#include "runtime/ptxsim/Cluster.h"
#include "runtime/ptxsim/Lanes.h"

#include <atomic>
#include <cstring>

using namespace ptxsim;

namespace {

/// Reads a value of `Memory` into a register of `Register`, extending by the
/// sign of Memory.
template <class Memory, class Register>
void loadElement(Warp &w, uint32_t row, unsigned lane, const std::byte *from) {
  Memory value;
  std::memcpy(&value, from, sizeof(value));
  w.row<Register>(row)[lane] = Register(value);
}

template <class Memory, class Register>
void storeElement(Warp &w, uint32_t row, unsigned lane, std::byte *to) {
  Memory value = Memory(w.row<Register>(row)[lane]);
  std::memcpy(to, &value, sizeof(value));
}

/// When all 32 lanes access consecutive elements of shared or global memory:
/// the memory of lane 0, checked as one range; else null.
template <unsigned Bytes>
std::byte *consecutive(Warp &w, const Op &op, Space space, Access kind) {
  uint64_t first;
  if (op.e == 32) {
    const uint32_t *a = w.row<uint32_t>(op.a);
    uint32_t base = a[0], wrong = 0;
    PTXSIM_VECTORIZE
    for (unsigned l = 0; l < warpSize; ++l)
      wrong |= a[l] ^ (base + l * Bytes);
    if (wrong)
      return nullptr;
    first = uint32_t(base + op.imm);
  } else {
    const uint64_t *a = w.row<uint64_t>(op.a);
    uint64_t base = a[0], wrong = 0;
    PTXSIM_VECTORIZE
    for (unsigned l = 0; l < warpSize; ++l)
      wrong |= a[l] ^ (base + l * Bytes);
    if (wrong)
      return nullptr;
    first = base + op.imm;
  }
  constexpr uint64_t bytes = uint64_t(Bytes) * warpSize;
  Cta &cta = *w.cta;
  if (first % Bytes)
    return nullptr;
  if (space == Space::Generic && (first & windowMask) == 0)
    space = Space::Global;
  if (space == Space::Global || space == Space::Const) {
    const auto *a = w.lastAllocation;
    return a && a->contains(first, bytes) ? reinterpret_cast<std::byte *>(first)
                                          : nullptr;
  }
  if (space != Space::Shared || first < sharedBegin ||
      first + bytes > cta.sharedEnd || first > cta.sharedEnd)
    return nullptr;
  const uint32_t offset = uint32_t(first) - sharedBegin;
  if (kind == Access::Write) {
    if (cta.isInUse(uint32_t(first), uint32_t(bytes)))
      return nullptr;
    if (cta.proxies) {
      // The lanes that share a unit of 16 bytes together.
      constexpr unsigned n = Bytes < 16 ? 16 / Bytes : 1;
      const bool isAligned = offset % 16 == 0;
      for (unsigned l = 0; l < warpSize; l += isAligned ? n : 1)
        cta.proxies->write(w, op, (isAligned ? (1u << n) - 1 : 1u) << l,
                           offset + l * Bytes, isAligned ? n * Bytes : Bytes);
    }
  }
  if (cta.launch.options.checks.uninitialisedShared) {
    uint64_t missing = 0;
    for (uint32_t at = offset, left = uint32_t(bytes); left;) {
      const uint32_t bit = at % 64, n = std::min(left, 64 - bit);
      const uint64_t bits = (n == 64 ? ~0ull : (1ull << n) - 1) << bit;
      if (kind == Access::Write)
        cta.initialised[at / 64] |= bits;
      else
        missing |= bits & ~cta.initialised[at / 64];
      at += n, left -= n;
    }
    if (missing)
      return nullptr;
  }
  return cta.shared + offset;
}

/// The addresses of a warp's access; lanes that do not take part repeat one
/// that does.
struct Addresses {
  alignas(64) uint64_t at[warpSize];
  uint64_t least, most, bits; ///< bits: the OR of all

  Addresses(Warp &w, const Op &op, uint32_t mask) {
    if (op.e == 32) {
      const uint32_t *a = w.row<uint32_t>(op.a);
      const uint32_t offset = uint32_t(op.imm);
      PTXSIM_VECTORIZE
      for (unsigned l = 0; l < warpSize; ++l)
        at[l] = uint32_t(a[l] + offset);
    } else {
      const uint64_t *a = w.row<uint64_t>(op.a);
      const uint64_t offset = op.imm;
      PTXSIM_VECTORIZE
      for (unsigned l = 0; l < warpSize; ++l)
        at[l] = a[l] + offset;
    }
    if (mask != allLanes) {
      const uint64_t one = at[std::countr_zero(mask)];
      for (unsigned l = 0; l < warpSize; ++l)
        at[l] = mask >> l & 1 ? at[l] : one;
    }
    uint64_t low = ~0ull, high = 0, all = 0;
    for (unsigned l = 0; l < warpSize; ++l) {
      low = std::min(low, at[l]);
      high = std::max(high, at[l]);
      all |= at[l];
    }
    least = low, most = high, bits = all;
  }
};

/// The memory behind all lanes when they lie in one allocation or in shared
/// memory and nothing is wrong with any of them; false if each lane must be
/// looked at by itself.
template <unsigned Bytes>
bool resolve(Warp &w, const Op &op, uint32_t mask, Access kind,
             const Addresses &a, std::byte **p) {
  Cta &cta = *w.cta;
  if (a.bits & (Bytes - 1))
    return false;
  Space space = op.space;
  uint64_t window = 0;
  if (space == Space::Generic) {
    window = a.least & windowMask;
    if (window != (a.most & windowMask) || (window && window != sharedWindow))
      return false;
    space = window ? Space::Shared : Space::Global;
  }
  const uint64_t span = a.most - a.least + Bytes, least = a.least - window;
  if (space == Space::Global || space == Space::Const) {
    const Allocation *allocation = w.lastAllocation;
    if (!allocation || !allocation->contains(least, span)) {
      allocation = cta.launch.arena->find(least, span);
      if (!allocation || allocation->known)
        return false;
      w.lastAllocation = allocation;
    }
    for (unsigned l = 0; l < warpSize; ++l)
      p[l] = reinterpret_cast<std::byte *>(a.at[l]);
    return true;
  }
  if (space != Space::Shared || least < sharedBegin || least > cta.sharedEnd ||
      cta.sharedEnd - least < span)
    return false;
  const uint64_t base = window + sharedBegin;
  if (kind == Access::Write) {
    if (cta.isInUse(uint32_t(least), uint32_t(span)))
      return false;
    if (cta.proxies)
      forLanes(mask, [&](unsigned l) {
        cta.proxies->write(w, op, 1u << l, uint32_t(a.at[l] - base), Bytes);
      });
  }
  if (cta.launch.options.checks.uninitialisedShared) {
    constexpr uint64_t ones = (1ull << Bytes) - 1;
    uint64_t *known = cta.initialised.data();
    if (kind == Access::Write) {
      forLanes(mask, [&](unsigned l) {
        const uint64_t offset = a.at[l] - base;
        known[offset / 64] |= ones << offset % 64;
      });
    } else {
      uint64_t missing = 0;
      for (unsigned l = 0; l < warpSize; ++l) {
        const uint64_t offset = a.at[l] - base;
        missing |= ~(known[offset / 64] >> offset % 64) & ones;
      }
      if (missing)
        return false;
    }
  }
  for (unsigned l = 0; l < warpSize; ++l)
    p[l] = cta.shared + (a.at[l] - base);
  return true;
}

/// Bank conflicts: b32 and smaller go in one pass of 32 lanes, b64 in halves,
/// b128 in quarters; a pass takes as many cycles as the fullest of the 32 banks
/// has distinct words.
template <unsigned Bytes>
void countBanks(Warp &w, uint32_t mask, const Addresses &a) {
  constexpr unsigned lanes = Bytes <= 4   ? 32
                             : Bytes == 8 ? 16
                                          : 8,
                     words = Bytes <= 4 ? 1 : Bytes / 4;
  constexpr uint32_t ones = (1u << words) - 1;
  for (unsigned first = 0; first < warpSize; first += lanes) {
    const uint32_t part =
        lanes == 32 ? mask : mask >> first & ((1u << lanes % 32) - 1);
    if (!part)
      continue;
    ++w.counters->sharedIdealWavefronts;
    uint32_t banks = 0;
    forLanes(part,
             [&](unsigned l) { banks |= ones << (a.at[first + l] / 4 % 32); });
    if (unsigned(std::popcount(banks)) ==
        words * unsigned(std::popcount(part))) {
      ++w.counters->sharedWavefronts;
      continue;
    }
    uint32_t distinct[warpSize * 4], n = 0;
    uint8_t count[32] = {}, most = 0;
    forLanes(part, [&](unsigned l) {
      const uint32_t word = uint32_t(a.at[first + l] / 4);
      for (unsigned k = 0; k < n; k += words)
        if (distinct[k] == word)
          return;
      for (unsigned k = 0; k < words; ++k) {
        distinct[n++] = word + k;
        most = std::max(most, ++count[(word + k) % 32]);
      }
    });
    w.counters->sharedWavefronts += most;
  }
}

template <unsigned Bytes>
void countConsecutive(Warp &w, const Op &op, bool load) {
  if (op.space == Space::Global) {
    (load ? w.counters->globalLoadBytes : w.counters->globalStoreBytes) +=
        uint64_t(Bytes) * warpSize;
  } else if (op.space == Space::Shared) {
    constexpr unsigned passes = Bytes <= 4 ? 1 : Bytes / 4;
    w.counters->sharedWavefronts += passes;
    w.counters->sharedIdealWavefronts += passes;
  }
}

template <unsigned Bytes>
void count(Warp &w, const Op &op, uint32_t mask, const Addresses &a,
           bool load) {
  if (op.space == Space::Global)
    (load ? w.counters->globalLoadBytes : w.counters->globalStoreBytes) +=
        uint64_t(Bytes) * unsigned(std::popcount(mask));
  else if (op.space == Space::Shared)
    countBanks<Bytes>(w, mask, a);
}

/// The detector for the shared memory of the cluster that `p` lies in, and
/// where; null if it lies elsewhere.
Races *racesAt(Warp &w, const Op &op, const std::byte *p, uint32_t &offset) {
  const auto in = [&](const Cta &cta) {
    const uintptr_t at = reinterpret_cast<uintptr_t>(p) -
                         reinterpret_cast<uintptr_t>(cta.shared);
    offset = uint32_t(at);
    return at < cta.sharedEnd - sharedBegin;
  };
  if (op.space == Space::Global)
    return nullptr;
  if (in(*w.cta))
    return w.cta->races.get();
  if (op.space == Space::Generic || op.space == Space::SharedCluster)
    for (Cta &cta : w.cta->cluster.ctas)
      if (&cta != w.cta && in(cta))
        return cta.races.get();
  return nullptr;
}

/// A strong access may be where threads meet.
void meetAt(Warp &w, const Op &op, uint32_t mask, std::byte *const *p) {
  if (!op.target || !w.cta->launch.function->raceFacts.fences)
    return;
  GlobalRaces *global = w.cta->launch.globalRaces.get();
  for (uint32_t rest = mask; rest;) {
    const std::byte *at = p[std::countr_zero(rest)];
    uint32_t same = 0;
    forLanes(rest, [&](unsigned l) { same |= uint32_t(p[l] == at) << l; });
    w.cta->clocks->synchronize(w, same, at, op.target);
    if (global)
      global->meet(w, same, at, op.target);
    rest &= ~same;
  }
}

/// The same for consecutive elements.
void meetAt(Warp &w, const Op &op, std::byte *p, unsigned bytes) {
  if (!op.target || !w.cta->launch.function->raceFacts.fences)
    return;
  std::byte *lanes[warpSize];
  for (unsigned l = 0; l < warpSize; ++l)
    lanes[l] = p + l * bytes;
  meetAt(w, op, allLanes, lanes);
}

/// The detector for global memory if a lane accesses that.
GlobalRaces *globalRaces(Warp &w, const Op &op, unsigned lane) {
  return op.space == Space::Global ||
                 (op.space == Space::Generic &&
                  (w.addressOf(op, lane) & windowMask) == 0)
             ? w.cta->launch.globalRaces.get()
             : nullptr;
}

void checkLoads(Warp &w, const Op &op, uint32_t mask, std::byte *const *from,
                unsigned bytes, bool same) {
  if (w.cta->launch.globalRaces)
    forLanes(mask, [&](unsigned l) {
      if (GlobalRaces *global = globalRaces(w, op, l))
        global->read(w, op, l, from[l], bytes);
    });
  if (op.space == Space::Global || !w.cta->races)
    return;
  uint32_t offset;
  if (same && (mask & (mask - 1))) {
    if (Races *races = racesAt(w, op, from[std::countr_zero(mask)], offset))
      races->readSame(w, op, mask, offset, bytes);
    return;
  }
  if (w.cta->races->readLanes(w, op, mask, from, bytes))
    return;
  forLanes(mask, [&](unsigned l) {
    if (Races *races = racesAt(w, op, from[l], offset))
      races->read(w, op, l, offset, bytes, op.target);
  });
}

/// What lane `l` stores.
template <class Memory, class Register, unsigned N>
void pack(Warp &w, const Op &op, unsigned l, Memory *value) {
  for (unsigned i = 0; i < N; ++i)
    value[i] = Memory(w.row<Register>(op.list[i])[l]);
}

/// op.list: the rows of the N elements.
template <class Memory, class Register, unsigned N>
void load(Warp &w, const Op &op, uint32_t mask) {
  constexpr unsigned bytes = sizeof(Memory) * N;
  if (mask == allLanes)
    if (std::byte *p = consecutive<bytes>(w, op, op.space, Access::Read)) {
      if (w.cta->clocks) {
        uint32_t offset;
        if (Races *races = racesAt(w, op, p, offset))
          races->readAll(w, op, offset, bytes);
        if (GlobalRaces *global = globalRaces(w, op, 0))
          for (unsigned l = 0; l < warpSize; ++l)
            global->read(w, op, l, p + l * bytes, bytes);
      }
      for (unsigned i = 0; i < N; ++i) {
        Register *d = w.row<Register>(op.list[i]);
        for (unsigned l = 0; l < warpSize; ++l) {
          Memory value;
          std::memcpy(&value, p + (l * N + i) * sizeof(Memory), sizeof(Memory));
          d[l] = Register(value);
        }
      }
      if (w.cta->clocks)
        meetAt(w, op, p, bytes);
      return countConsecutive<bytes>(w, op, true);
    }
  // All addresses first: a destination may be the address's own register.
  const Addresses addresses(w, op, mask);
  std::byte *from[warpSize];
  if (!resolve<bytes>(w, op, mask, Access::Read, addresses, from))
    forLanes(mask, [&](unsigned l) {
      from[l] = w.access(op, l, op.space, addresses.at[l], bytes, Access::Read);
    });
  count<bytes>(w, op, mask, addresses, true);
  if (w.cta->clocks)
    checkLoads(w, op, mask, from, bytes, addresses.least == addresses.most);
  for (unsigned i = 0; i < N; ++i)
    forLanes(mask, [&](unsigned l) {
      loadElement<Memory, Register>(w, op.list[i], l,
                                    from[l] + i * sizeof(Memory));
    });
  // Other CTAs run meanwhile: who released the value has done so by now.
  if (w.cta->clocks)
    meetAt(w, op, mask, from);
}

template <class Memory, class Register, unsigned N>
void store(Warp &w, const Op &op, uint32_t mask) {
  constexpr unsigned bytes = sizeof(Memory) * N;
  if (mask == allLanes)
    if (std::byte *p = consecutive<bytes>(w, op, op.space, Access::Write)) {
      if (w.cta->clocks) {
        uint32_t offset;
        Races *races = racesAt(w, op, p, offset);
        GlobalRaces *global = globalRaces(w, op, 0);
        if (global || (races && !races->writeAll(w, op, offset, bytes)))
          for (unsigned l = 0; l < warpSize; ++l) {
            Memory value[N];
            pack<Memory, Register, N>(w, op, l, value);
            if (global)
              global->write(w, op, l, p + l * bytes, bytes, value);
            else if (!races->tryWrite(races->batchOf(w, op), l,
                                      offset + l * bytes, bytes))
              races->write(w, op, l, offset + l * bytes, bytes, value,
                           op.target);
          }
        meetAt(w, op, p, bytes);
      }
      for (unsigned i = 0; i < N; ++i) {
        const Register *d = w.row<Register>(op.list[i]);
        for (unsigned l = 0; l < warpSize; ++l) {
          Memory value = Memory(d[l]);
          std::memcpy(p + (l * N + i) * sizeof(Memory), &value, sizeof(Memory));
        }
      }
      return countConsecutive<bytes>(w, op, false);
    }
  const Addresses addresses(w, op, mask);
  std::byte *to[warpSize];
  if (!resolve<bytes>(w, op, mask, Access::Write, addresses, to))
    forLanes(mask, [&](unsigned l) {
      to[l] = w.access(op, l, op.space, addresses.at[l], bytes, Access::Write);
    });
  count<bytes>(w, op, mask, addresses, false);
  if (w.cta->clocks) {
    Races *own = op.space == Space::Global ? nullptr : w.cta->races.get();
    const Races::Batch batch = own ? own->batchOf(w, op) : Races::Batch();
    const auto base = reinterpret_cast<uintptr_t>(w.cta->shared);
    const uint32_t end = w.cta->sharedEnd - sharedBegin;
    forLanes(mask, [&](unsigned l) {
      Memory value[N];
      pack<Memory, Register, N>(w, op, l, value);
      uint32_t offset;
      const uintptr_t at = reinterpret_cast<uintptr_t>(to[l]) - base;
      if (own && at < end && own->tryWrite(batch, l, uint32_t(at), bytes))
        ;
      else if (Races *races = racesAt(w, op, to[l], offset))
        races->write(w, op, l, offset, bytes, value, op.target);
      else if (GlobalRaces *global = globalRaces(w, op, l))
        global->write(w, op, l, to[l], bytes, value);
      std::memcpy(to[l], value, bytes);
    });
    return meetAt(w, op, mask, to);
  }
  // Lane by lane: where lanes write to the same place, the highest wins.
  forLanes(mask, [&](unsigned l) {
    for (unsigned i = 0; i < N; ++i)
      storeElement<Memory, Register>(w, op.list[i], l,
                                     to[l] + i * sizeof(Memory));
  });
}

/// ld.param with an address known when decoding (op.imm): one value for all
/// lanes.
template <class Memory, class Register>
void loadParam(Warp &w, const Op &op, uint32_t mask) {
  for (unsigned i = 0; i < op.count; ++i) {
    Memory value;
    std::memcpy(&value,
                w.cta->launch.params.data() + op.imm + i * sizeof(Memory),
                sizeof(Memory));
    setLanes(w.row<Register>(op.list[i]), mask,
             [=](unsigned) { return Register(value); });
  }
}

/// Memory orders: x86's are stronger than the program's, other hosts need the
/// fence.
template <Handler fn, bool load>
void ordered(Warp &w, const Op &op, uint32_t mask) {
  ++w.cta->cluster.syncs;
  if (!load)
    std::atomic_thread_fence(std::memory_order_release);
  fn(w, op, mask);
  if (load)
    std::atomic_thread_fence(std::memory_order_acquire);
}

template <class Memory, class Register, unsigned N> LoadStoreHandlers make() {
  return {load<Memory, Register, N>, store<Memory, Register, N>,
          ordered<load<Memory, Register, N>, true>,
          ordered<store<Memory, Register, N>, false>,
          loadParam<Memory, Register>};
}

template <class Memory, class Register> LoadStoreHandlers ofCount(unsigned n) {
  switch (n) {
  case 1:
    return make<Memory, Register, 1>();
  case 2:
    return make<Memory, Register, 2>();
  default:
    return make<Memory, Register, 4>();
  }
}

template <class Memory>
LoadStoreHandlers ofRegister(unsigned bits, unsigned n) {
  if constexpr (sizeof(Memory) <= 2)
    if (bits == 16)
      return ofCount<Memory, uint16_t>(n);
  if constexpr (sizeof(Memory) <= 4)
    if (bits == 32)
      return ofCount<Memory, uint32_t>(n);
  return ofCount<Memory, uint64_t>(n);
}

} // namespace

LoadStoreHandlers ptxsim::loadStoreHandlers(Type type, unsigned registerBits,
                                            unsigned n) {
  switch (type) {
  case Type::S8:
    return ofRegister<int8_t>(registerBits, n);
  case Type::S16:
    return ofRegister<int16_t>(registerBits, n);
  case Type::S32:
    return ofRegister<int32_t>(registerBits, n);
  default:
    switch (bitsOf(type)) {
    case 8:
      return ofRegister<uint8_t>(registerBits, n);
    case 16:
      return ofRegister<uint16_t>(registerBits, n);
    case 32:
      return ofRegister<uint32_t>(registerBits, n);
    default:
      return ofRegister<uint64_t>(registerBits, n);
    }
  }
}
