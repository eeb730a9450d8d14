// The place that every access to memory goes through: which memory an address
// means, and what may be wrong with it.

#include "runtime/ptxsim/Access.h"

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
  w.fault(op, lane,
          fmt::format("address {:#x} is not {}-byte aligned{}", address, bytes,
                      in));
}

std::byte *ptxsim::sharedAccess(Warp &w, const Op &op, unsigned lane,
                                uint64_t address, unsigned bytes, Access kind) {
  Cta &cta = *w.cta;
  const Checks &checks = cta.launch.options.checks;
  if (checks.alignment && (address & (bytes - 1)))
    faultMisaligned(w, op, lane, Space::Shared, address, bytes);
  if (address < sharedBegin || address + bytes > cta.sharedEnd ||
      address > cta.sharedEnd) {
    if (address & windowMask)
      w.fault(op, lane,
              fmt::format("address {:#x} is a generic address, expected an "
                          "offset in the shared window",
                          address));
    if (address >= 1ull << 32)
      w.fault(op, lane,
              fmt::format("address {:#x} is not in shared memory (a global "
                          "address used as a shared one?)",
                          address));
    if (address < sharedBegin)
      w.fault(op, lane,
              fmt::format(
                  "address {:#x} is before the start of shared memory at {:#x}",
                  address, sharedBegin));
    w.fault(
        op, lane,
        fmt::format("{} bytes at address {:#x} (offset {}) are outside the {}",
                    bytes, address, address - sharedBegin, sharedName(cta)));
  }
  const uint32_t offset = uint32_t(address) - sharedBegin;
  if (checks.uninitialisedShared) {
    // An aligned access of up to 64 bytes touches one word of bits; unaligned
    // ones exist only with that check off.
    for (unsigned done = 0; done < bytes;) {
      const uint32_t at = offset + done, bit = at % 64;
      const unsigned n = std::min(bytes - done, 64 - bit);
      const uint64_t bits = (n == 64 ? ~0ull : (1ull << n) - 1) << bit;
      uint64_t &known = cta.initialised[at / 64];
      if (kind == Access::Write || kind == Access::AsyncWrite)
        known |= bits;
      else if ((known & bits) != bits)
        w.fault(
            op, lane,
            fmt::format("{} bytes at address {:#x} (offset {}) of shared "
                        "memory are read, but byte {} was never written",
                        bytes, address, offset,
                        at + unsigned(std::countr_zero(bits & ~known)) - bit));
      done += n;
    }
  }
  return cta.shared + offset;
}

std::byte *ptxsim::globalAccess(Warp &w, const Op &op, unsigned lane,
                                uint64_t address, unsigned bytes,
                                Access /*kind*/) {
  const Launch &launch = w.cta->launch;
  const Checks &checks = launch.options.checks;
  if (checks.alignment && (address & (bytes - 1)))
    faultMisaligned(w, op, lane, Space::Global, address, bytes);
  if (checks.bounds) {
    const Allocation *a = w.lastAllocation;
    if (!a || !a->contains(address, bytes)) {
      a = launch.arena->find(address, bytes);
      if (!a)
        w.fault(
            op, lane,
            address & windowMask
                ? fmt::format("address {:#x} is a generic address of another "
                              "space, expected one of global memory",
                              address)
                : launch.arena->describe(address, bytes));
      w.lastAllocation = a;
    }
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
  case Space::Generic:
    switch (address & windowMask) {
    case 0:
      return globalAccess(*this, op, lane, address, bytes, kind);
    case sharedWindow:
      return sharedAccess(*this, op, lane, address - sharedWindow, bytes, kind);
    case localWindow:
      return access(op, lane, Space::Local, address - localWindow, bytes, kind);
    case paramWindow:
      return access(op, lane, Space::Param, address - paramWindow, bytes, kind);
    default:
      fault(op, lane, fmt::format("address {:#x} is in no space", address));
    }
  case Space::Local: {
    if (cta->launch.options.checks.alignment && (address & (bytes - 1)))
      faultMisaligned(*this, op, lane, space, address, bytes);
    const uint32_t size = function->localBytes;
    if (address > size || size - address < bytes)
      fault(op, lane,
            fmt::format("{} bytes at address {:#x} are outside the {} bytes of "
                        "local memory",
                        bytes, address, size));
    return cta->local.data() + (uint64_t(index) * warpSize + lane) * size +
           address;
  }
  case Space::Param: {
    const std::vector<std::byte> &params = cta->launch.params;
    if (cta->launch.options.checks.alignment && (address & (bytes - 1)))
      faultMisaligned(*this, op, lane, space, address, bytes);
    if (address > params.size() || params.size() - address < bytes)
      fault(op, lane,
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
