#include "runtime/ptxsim/Memory.h"

#include <algorithm>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace ptxsim;

namespace {
constexpr uint64_t alignment = 256;
constexpr uint64_t redzone = 256, largestRedzone = 1 << 20;

/// Unaddressable bytes behind an allocation: as many as it has, so that an
/// index a few rows too large does not find the next one. They cost addresses
/// only.
uint64_t redzoneOf(uint64_t bytes) {
  return std::clamp(bytes, redzone, largestRedzone);
}
} // namespace

Arena::Arena() {
  // Only addresses are reserved; pages come when they are touched. A limit on
  // address space makes us ask for less. As much as we take must be left: for
  // the program, and for more arenas.
  for (uint64_t bytes = 1ull << 44; bytes >= 1ull << 30; bytes >>= 1) {
    void *p = mmap(nullptr, 2 * bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
      continue;
    munmap(static_cast<std::byte *>(p) + bytes, bytes);
    madvise(p, bytes, MADV_DONTDUMP);
    begin = reinterpret_cast<uint64_t>(p);
    end = begin + bytes;
    next = begin + redzone;
    return;
  }
}

Arena::~Arena() {
  if (begin)
    munmap(reinterpret_cast<void *>(begin), end - begin);
}

uint64_t Arena::allocate(uint64_t bytes, std::string name) {
  uint64_t base = (next + alignment - 1) / alignment * alignment;
  if (!begin || bytes > end - begin || base + bytes + redzoneOf(bytes) > end)
    return 0;
  allocations.push_back({base, bytes, std::move(name), true, false, nullptr});
  next = base + bytes + redzoneOf(bytes);
  return base;
}

void Arena::track(uint64_t pointer) {
  auto *a = const_cast<Allocation *>(nearest(pointer));
  a->known = std::make_shared<uint8_t[]>(a->size);
}

void Arena::setConstant(uint64_t pointer) {
  const_cast<Allocation *>(nearest(pointer))->constant = true;
}

void Arena::copyKnown(uint64_t destination, uint64_t source, uint64_t bytes) {
  const Allocation *to = find(destination, bytes), *from = find(source, bytes);
  if (!bytes || !to || !to->known)
    return;
  if (!from || !from->known)
    return to->define(destination, bytes);
  std::memmove(to->known.get() + (destination - to->base),
               from->known.get() + (source - from->base), bytes);
}

uint64_t Allocation::firstUnknown(uint64_t address, uint64_t bytes) const {
  const uint8_t *from = known.get() + (address - base);
  return address + uint64_t(std::find(from, from + bytes, uint8_t(0)) - from);
}

bool Arena::free(uint64_t pointer) {
  auto *a = const_cast<Allocation *>(nearest(pointer));
  if (!a || a->base != pointer || !a->live)
    return false;
  a->live = false;
  a->known.reset();
  // Give whole pages back; what shares a page with a neighbour stays.
  const uint64_t page = uint64_t(sysconf(_SC_PAGESIZE));
  uint64_t first = (a->base + page - 1) / page * page;
  uint64_t last = (a->base + a->size) / page * page;
  if (first < last)
    madvise(reinterpret_cast<void *>(first), last - first, MADV_DONTNEED);
  return true;
}

const Allocation *Arena::nearest(uint64_t address) const {
  if (address < begin || address >= end)
    return nullptr;
  auto it = std::upper_bound(
      allocations.begin(), allocations.end(), address,
      [](uint64_t value, const Allocation &a) { return value < a.base; });
  return it == allocations.begin() ? nullptr : &*std::prev(it);
}

std::string Arena::describe(uint64_t address, uint64_t bytes) const {
  const Allocation *a = nearest(address);
  if (!a && address >= begin && address < end && !allocations.empty())
    a = &allocations.front();
  if (!a) {
    if (address < 4096)
      return fmt::format("address {:#x} is a null pointer", address);
    if (address < sharedWindow && address < 1u << 24)
      return fmt::format("address {:#x} is not in global memory (a shared "
                         "address used as a global one?)",
                         address);
    return fmt::format("address {:#x} is in no allocation", address);
  }
  if (!a->live && address - a->base < a->size)
    return fmt::format(
        "address {:#x} is {} bytes into '{}', which has been freed", address,
        address - a->base, a->name);
  if (address < a->base)
    return fmt::format("address {:#x} is {} bytes before '{}' of {} bytes",
                       address, a->base - address, a->name, a->size);
  uint64_t offset = address - a->base;
  // Closer to the next one: an index that ran off its front.
  if (a + 1 < allocations.data() + allocations.size() && offset >= a->size &&
      (a + 1)->base - address < offset - a->size)
    return fmt::format("address {:#x} is {} bytes before '{}' of {} bytes",
                       address, (a + 1)->base - address, (a + 1)->name,
                       (a + 1)->size);
  if (offset >= a->size)
    return fmt::format(
        "address {:#x} is {} bytes after the end of '{}' of {} bytes", address,
        offset - a->size, a->name, a->size);
  return fmt::format(
      "{} bytes at address {:#x} (offset {}) run over the end of "
      "'{}' of {} bytes",
      bytes, address, offset, a->name, a->size);
}
