#ifndef RUNTIME_PTXSIM_MEMORY_H
#define RUNTIME_PTXSIM_MEMORY_H

#include "runtime/ptxsim/ptxsim.h"

#include <cstring>

namespace ptxsim {

// Generic addresses: global ones are host pointers into the arena (below 2^47);
// the others carry a tag above that.
constexpr uint64_t sharedWindow =
    1ull << 56; ///< + offset in the CTA's shared window
constexpr uint64_t localWindow =
    2ull << 56; ///< + offset in the thread's local memory
constexpr uint64_t paramWindow = 3ull
                                 << 56; ///< + offset in the kernel's parameters
constexpr uint64_t windowMask = 0xffull << 56;

/// As on Hopper, the first KiB of the shared window is not the program's: a
/// null pointer to shared memory faults.
constexpr uint32_t sharedBegin = 1024;

/// Addresses of the cluster's shared window: above these bits stands the rank
/// of the CTA plus one, or zero for the own CTA.
constexpr unsigned clusterShift = 24;

struct Allocation {
  uint64_t base = 0;
  uint64_t size = 0;
  std::string name;
  bool live = false;
  bool constant = false; ///< a variable in .const
  /// With the check of uninitialised memory a byte for each: not zero once it
  /// has been written. Host threads may write neighbours at the same time.
  std::shared_ptr<uint8_t[]> known;
  void define(uint64_t address, uint64_t bytes) const {
    if (known)
      std::memset(known.get() + (address - base), 1, bytes);
  }
  /// The first byte that nothing has written, or the end.
  uint64_t firstUnknown(uint64_t address, uint64_t bytes) const;
  bool contains(uint64_t address, uint64_t bytes) const {
    return address - base < size && size - (address - base) >= bytes;
  }
};

/// Device memory: one reserved range of addresses. Addresses are never handed
/// out twice, so that a use after free is always seen.
class Arena {
public:
  Arena();
  ~Arena();
  Arena(const Arena &) = delete;
  Arena &operator=(const Arena &) = delete;

  /// Where addresses begin: what lies behind it does not depend on the host.
  uint64_t start() const { return begin; }
  /// 0 when the range is exhausted or could not be reserved.
  uint64_t allocate(uint64_t bytes, std::string name);
  bool free(uint64_t pointer);
  /// From now on it is known which bytes of this allocation were written.
  void track(uint64_t pointer);
  /// This allocation is a variable in .const.
  void setConstant(uint64_t pointer);
  /// The host has written there.
  void define(uint64_t address, uint64_t bytes) {
    if (const Allocation *a = find(address, bytes))
      a->define(address, bytes);
  }
  /// The allocation, live or freed, that `address` lies in or behind; null if
  /// it lies before all of them or outside the arena.
  const Allocation *nearest(uint64_t address) const;
  /// What is wrong with an access to [address, address + bytes), which no live
  /// allocation contains.
  std::string describe(uint64_t address, uint64_t bytes) const;
  /// The live allocation that holds all of [address, address + bytes), or null.
  const Allocation *find(uint64_t address, uint64_t bytes) const {
    const Allocation *a = nearest(address);
    return a && a->live && a->contains(address, bytes) ? a : nullptr;
  }

  /// A copy of undefined bytes is undefined.
  void copyKnown(uint64_t destination, uint64_t source, uint64_t bytes);

private:
  uint64_t begin = 0, end = 0, next = 0;
  std::vector<Allocation> allocations; ///< by address
};

} // namespace ptxsim

#endif // RUNTIME_PTXSIM_MEMORY_H
