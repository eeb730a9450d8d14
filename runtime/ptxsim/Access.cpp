// The place that every access to memory goes through: which memory an address
// means, and what may be wrong with it.

#include "runtime/ptxsim/Access.h"
#include "runtime/ptxsim/Cluster.h"

#include <fmt/format.h>

using namespace ptxsim;

namespace {

std::string sharedName(const Cta &cta) {
  const Kernel &k = cta.launch.function->kernel;
  if (cta.launch.dynamicShared)
    return fmt::format("{} bytes of shared memory, {} of them dynamic",
                       cta.sharedEnd - sharedBegin, cta.launch.dynamicShared);
  return fmt::format("{} bytes of shared memory", k.staticSharedBytes);
}

} // namespace

void ptxsim::faultMisaligned(Warp &w, const Op &op, unsigned lane, Space space,
                             uint64_t address, unsigned bytes) {
  std::string in;
  if (space == Space::Global || space == Space::Const)
    if (const Allocation *a = w.cta->launch.arena->find(address, 1))
      in = fmt::format(" ('{}' + {})", a->name, address - a->base);
  w.fault(
      op, lane,
      fmt::format("address {:#x} is not {}-byte aligned{}", address, bytes, in),
      {{fmt::format("it is {} bytes past a multiple of {}", address % bytes,
                    bytes)}},
      FaultKind::Misaligned);
}

namespace {

[[noreturn]] void faultAddress(Warp &w, const Op &op, unsigned lane,
                               const std::string &message,
                               const Notes &notes = {}) {
  w.fault(op, lane, message, notes, FaultKind::IllegalAddress);
}

/// The CTA of a cluster address, whose rank bits are removed.
Cta &ownerOf(Warp &w, const Op &op, unsigned lane, uint64_t &address,
             bool anyCta) {
  Cta &cta = *w.cta;
  const uint64_t tag = address >> clusterShift;
  if (!tag || address >= 1ull << 32)
    return cta;
  const size_t ctas = cta.cluster.ctas.size();
  if (tag > ctas && ctas == 1)
    return cta; // out of its bounds
  if (tag > ctas)
    faultAddress(
        w, op, lane,
        fmt::format("address {:#x} is not in the shared memory of the {} "
                    "CTAs of the cluster",
                    address, ctas));
  Cta &owner = cta.cluster.ctas[tag - 1];
  if (&owner != &cta && !anyCta)
    faultAddress(
        w, op, lane,
        fmt::format("address {:#x} is in the shared memory of CTA {} of "
                    "the cluster, expected one of this CTA ({})",
                    address, owner.rank, cta.rank));
  if (&owner != &cta && !owner.liveWarps())
    faultAddress(
        w, op, lane,
        fmt::format("address {:#x} is in the shared memory of CTA {} of "
                    "the cluster, which has exited",
                    address, owner.rank));
  address &= (1ull << clusterShift) - 1;
  return owner;
}

void checkBounds(Warp &w, const Op &op, unsigned lane, const Cta &cta,
                 uint64_t address, unsigned bytes) {
  if (address >= sharedBegin && address + bytes <= cta.sharedEnd &&
      address <= cta.sharedEnd)
    return;
  if (address & windowMask)
    faultAddress(w, op, lane,
                 fmt::format("address {:#x} is a generic address, expected an "
                             "offset in the shared window",
                             address));
  if (address >= 1ull << 32)
    faultAddress(w, op, lane,
                 fmt::format("address {:#x} is not in shared memory (a global "
                             "address used as a shared one?)",
                             address));
  if (address < sharedBegin)
    faultAddress(
        w, op, lane,
        fmt::format(
            "address {:#x} is before the start of shared memory at {:#x}",
            address, sharedBegin));
  Notes notes;
  if (cta.launch.dynamicShared)
    notes.push_back({fmt::format(
        "{} bytes of dynamic shared memory would do for this "
        "access: too few are given at launch, or an index is off",
        address + bytes - cta.sharedEnd + cta.launch.dynamicShared)});
  else if (!cta.launch.function->kernel.dynamicShared.empty())
    notes.push_back({fmt::format("'{}' is dynamic shared memory, and the "
                                 "launch gives none",
                                 cta.launch.function->kernel.dynamicShared)});
  faultAddress(
      w, op, lane,
      fmt::format("{} bytes at address {:#x} (offset {}) are outside the "
                  "{}",
                  bytes, address, address - sharedBegin, sharedName(cta)),
      notes);
}

/// Calls f(word of bits, bits) for the bits of a range of shared memory.
template <class F>
void forBits(Cta &cta, uint32_t offset, uint32_t bytes, F f) {
  for (uint32_t done = 0; done < bytes;) {
    const uint32_t at = offset + done, bit = at % 64;
    const unsigned n = std::min(bytes - done, 64 - bit);
    f(cta.initialised[at / 64], (n == 64 ? ~0ull : (1ull << n) - 1) << bit, at);
    done += n;
  }
}

} // namespace

Notes ptxsim::outOfBounds(const Arena &arena, uint64_t address,
                          uint64_t bytes) {
  const Allocation *a = arena.nearest(address);
  if (!a)
    return address < 4096
               ? Notes{{"a parameter is null, or the address has never been "
                        "computed"}}
               : Notes{};
  const uint64_t end = a->base + a->size;
  if (!a->live)
    return {{"the allocation was freed before this launch"}};
  // Far away it is no question of the size.
  if (address + bytes <= end || address + bytes - end > 2 * a->size + 4096)
    return {};
  return {{fmt::format("'{}' is {} bytes too small for this access, or an "
                       "index is not checked against its size",
                       a->name, address + bytes - end)}};
}

std::byte *ptxsim::sharedAccess(Warp &w, const Op &op, unsigned lane,
                                uint64_t address, unsigned bytes, Access kind,
                                bool anyCta) {
  const Checks &checks = w.cta->launch.options.checks;
  if (checks.alignment && (address & (bytes - 1)))
    faultMisaligned(w, op, lane, Space::Shared, address, bytes);
  Cta &cta = ownerOf(w, op, lane, address, anyCta);
  checkBounds(w, op, lane, cta, address, bytes);
  const uint32_t offset = uint32_t(address) - sharedBegin;
  if (kind == Access::Atomic)
    ++w.cta->cluster.syncs;
  if (cta.races && kind == Access::Atomic) {
    cta.races->atomic(w, op, lane, offset, bytes);
    if (cta.launch.function->raceFacts.fences)
      cta.clocks->synchronize(w, 1u << lane, cta.shared + offset, op.target);
  }
  const bool writes = kind == Access::Write || kind == Access::AsyncWrite;
  if (kind != Access::Read) {
    if (cta.isInUse(uint32_t(address), bytes))
      checkSharedWrite(w, op, lane, cta, uint32_t(address), bytes);
    if (kind != Access::AsyncWrite && cta.proxies)
      cta.proxies->write(w, op, 1u << lane, offset, bytes);
  }
  if (checks.uninitialisedShared)
    forBits(cta, offset, bytes,
            [&](uint64_t &known, uint64_t bits, uint32_t at) {
              if (writes)
                known |= bits;
              else if ((known & bits) != bits)
                readUndefinedShared(
                    w, op, lane, cta, offset, bytes,
                    at - at % 64 + unsigned(std::countr_zero(bits & ~known)),
                    kind == Access::Read);
            });
  return cta.shared + offset;
}

void ptxsim::checkSharedWrite(Warp &w, const Op &op, unsigned lane, Cta &cta,
                              uint32_t address, uint32_t bytes) {
  const auto what = [&] {
    return fmt::format("address {:#x} (offset {}) of shared memory is written "
                       "while the ",
                       address, address - sharedBegin);
  };
  for (const Cta::Reading &r : cta.reading)
    if (address < r.end && r.offset < address + bytes)
      w.fault(op, lane,
              what() + fmt::format("bulk copy of line {} may still read it: "
                                   "expected a cp.async.bulk.wait_group.read "
                                   "before",
                                   r.line));
  if (address < cta.wgmmaHigh && address + bytes > cta.wgmmaLow)
    if (const uint32_t line = wgmmaReading(cta, address, bytes))
      w.fault(op, lane,
              what() + fmt::format("wgmma of line {} may still read it: "
                                   "expected a wgmma.wait_group before",
                                   line));
}

void ptxsim::checkKnown(Warp &w, const Op &op, unsigned lane,
                        const Allocation &a, uint64_t address, uint64_t bytes,
                        bool writes) {
  if (writes)
    return a.define(address, bytes);
  const uint64_t first = a.firstUnknown(address, bytes);
  if (first != address + bytes)
    w.fault(op, lane,
            fmt::format("{} bytes at address {:#x} ('{}' + {}) are read, but "
                        "byte {} was never written",
                        bytes, address, a.name, address - a.base,
                        first - a.base));
}

SharedPlace ptxsim::sharedPlace(Warp &w, const Op &op, unsigned lane,
                                Space space, uint64_t address, unsigned bytes,
                                unsigned align) {
  if (space == Space::Generic) {
    if ((address & windowMask) != sharedWindow)
      w.fault(op, lane,
              fmt::format("address {:#x} is not in shared memory", address));
    address -= sharedWindow;
  }
  if (w.cta->launch.options.checks.alignment && (address & (align - 1)))
    faultMisaligned(w, op, lane, Space::Shared, address, align);
  Cta &cta = ownerOf(w, op, lane, address, space != Space::Shared);
  checkBounds(w, op, lane, cta, address, bytes);
  return {&cta, uint32_t(address)};
}

void ptxsim::markShared(Cta &cta, uint32_t address, uint32_t bytes,
                        bool written) {
  const Checks &checks = cta.launch.options.checks;
  if (checks.uninitialisedShared)
    forBits(cta, address - sharedBegin, bytes,
            [&](uint64_t &known, uint64_t bits, uint32_t) {
              known = written ? known | bits : known & ~bits;
            });
  if (!written)
    forgetShared(cta, address - sharedBegin, bytes);
}

bool ptxsim::isAllWritten(const Cta &cta, uint32_t address, uint32_t bytes) {
  bool all = true;
  forBits(const_cast<Cta &>(cta), address - sharedBegin, bytes,
          [&](uint64_t &known, uint64_t bits, uint32_t) {
            all &= (known & bits) == bits;
          });
  return all;
}

void ptxsim::checkWritten(Warp &w, const Op &op, unsigned lane, Cta &cta,
                          uint32_t address, uint32_t bytes) {
  const uint32_t offset = address - sharedBegin;
  if (cta.launch.options.checks.uninitialisedShared)
    forBits(cta, offset, bytes,
            [&](uint64_t &known, uint64_t bits, uint32_t at) {
              if ((known & bits) != bits)
                readUndefinedShared(
                    w, op, lane < warpSize ? lane : 0, cta, offset, bytes,
                    at - at % 64 + unsigned(std::countr_zero(bits & ~known)),
                    false);
            });
}

void ptxsim::checkProxy(Warp &w, const Op &op, unsigned lane, Cta &cta,
                        uint32_t address, uint32_t bytes) {
  const uint32_t offset = address - sharedBegin;
  if (cta.proxies)
    for (uint32_t i = offset / 16; i <= (offset + bytes - 1) / 16; ++i)
      if (!cta.proxies->isClean(i))
        cta.proxies->check(w, op, lane, i);
}

std::byte *ptxsim::globalAccess(Warp &w, const Op &op, unsigned lane,
                                uint64_t address, unsigned bytes, Access kind) {
  const Launch &launch = w.cta->launch;
  const Checks &checks = launch.options.checks;
  if (checks.alignment && (address & (bytes - 1)))
    faultMisaligned(w, op, lane, Space::Global, address, bytes);
  if (checks.bounds) {
    const Allocation *a = w.lastAllocation;
    if (!a || !a->contains(address, bytes)) {
      a = launch.arena->find(address, bytes);
      if (!a)
        faultAddress(w, op, lane,
                     address & windowMask
                         ? fmt::format("address {:#x} is a generic address of "
                                       "another space, expected one of global "
                                       "memory",
                                       address)
                         : launch.arena->describe(address, bytes),
                     outOfBounds(*launch.arena, address, bytes));
      // Without the shortcut every access comes here.
      if (!a->known)
        w.lastAllocation = a;
    }
    if (a->known) {
      if (kind != Access::Write)
        checkKnown(w, op, lane, *a, address, bytes, false);
      if (kind != Access::Read)
        checkKnown(w, op, lane, *a, address, bytes, true);
    }
  }
  if (kind == Access::Atomic)
    ++w.cta->cluster.syncs;
  if (kind == Access::Atomic && w.cta->clocks &&
      launch.function->raceFacts.fences)
    w.cta->clocks->synchronize(
        w, 1u << lane, reinterpret_cast<const void *>(address), op.target);
  if (GlobalRaces *global = launch.globalRaces.get();
      global && kind == Access::Atomic) {
    global->atomic(w, op, lane, reinterpret_cast<const std::byte *>(address),
                   bytes);
    global->meet(w, 1u << lane, reinterpret_cast<const void *>(address),
                 op.target);
  }
  return reinterpret_cast<std::byte *>(address);
}

std::byte *Warp::access(const Op &op, unsigned lane, Space space,
                        uint64_t address, unsigned bytes, Access kind) {
  switch (space) {
  case Space::Global:
  case Space::Const:
    return globalAccess(*this, op, lane, address, bytes, kind);
  case Space::Shared:
    return sharedAccess(*this, op, lane, address, bytes, kind);
  case Space::SharedCluster:
    return sharedAccess(*this, op, lane, address, bytes, kind, true);
  case Space::Generic:
    switch (address & windowMask) {
    case 0:
      return globalAccess(*this, op, lane, address, bytes, kind);
    case sharedWindow:
      return sharedAccess(*this, op, lane, address - sharedWindow, bytes, kind,
                          true);
    case localWindow:
      return access(op, lane, Space::Local, address - localWindow, bytes, kind);
    case paramWindow:
      return access(op, lane, Space::Param, address - paramWindow, bytes, kind);
    default:
      faultAddress(*this, op, lane,
                   fmt::format("address {:#x} is in no space", address));
    }
  case Space::Local: {
    if (cta->launch.options.checks.alignment && (address & (bytes - 1)))
      faultMisaligned(*this, op, lane, space, address, bytes);
    const uint32_t size = function->localBytes;
    if (address > size || size - address < bytes)
      faultAddress(
          *this, op, lane,
          fmt::format("{} bytes at address {:#x} are outside the {} bytes of "
                      "local memory",
                      bytes, address, size));
    const uint64_t at = (uint64_t(index) * warpSize + lane) * size + address;
    if (!cta->localShadow.bits.empty()) {
      uint8_t *shadow = cta->localShadow.bits.data() + at;
      if (kind == Access::Write)
        std::memset(shadow, 0, bytes);
      else
        for (unsigned i = 0; i < bytes; ++i)
          if (shadow[i]) {
            readUndefinedLocal(*this, op, lane, address, bytes,
                               uint32_t(address) + i, kind == Access::Read);
            break;
          }
    }
    return cta->local.data() + at;
  }
  case Space::Param: {
    const std::vector<std::byte> &params = cta->launch.params;
    if (cta->launch.options.checks.alignment && (address & (bytes - 1)))
      faultMisaligned(*this, op, lane, space, address, bytes);
    if (address > params.size() || params.size() - address < bytes)
      faultAddress(
          *this, op, lane,
          fmt::format("{} bytes at address {:#x} are outside the {} bytes of "
                      "parameters",
                      bytes, address, params.size()));
    if (kind != Access::Read)
      fault(op, lane, "kernel parameters cannot be written");
    return const_cast<std::byte *>(params.data()) + address;
  }
  }
  return nullptr;
}
