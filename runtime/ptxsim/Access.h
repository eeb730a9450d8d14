#ifndef RUNTIME_PTXSIM_ACCESS_H
#define RUNTIME_PTXSIM_ACCESS_H

#include "runtime/ptxsim/Cta.h"
#include "runtime/ptxsim/Decoder.h"

namespace ptxsim {

// The parts of Warp::access for handlers that know the space. `address` is an
// offset in the shared window, or a global pointer.
std::byte *sharedAccess(Warp &w, const Op &op, unsigned lane, uint64_t address,
                        unsigned bytes, Access kind, bool anyCta = false);
std::byte *globalAccess(Warp &w, const Op &op, unsigned lane, uint64_t address,
                        unsigned bytes, Access kind);
/// With the check of uninitialised global memory: all bytes of a read must have
/// been written; a write defines them.
void checkKnown(Warp &w, const Op &op, unsigned lane, const Allocation &a,
                uint64_t address, uint64_t bytes, bool writes);
[[noreturn]] void faultMisaligned(Warp &w, const Op &op, unsigned lane,
                                  Space space, uint64_t address,
                                  unsigned bytes);
/// The likely cause of an access that no allocation contains.
Notes outOfBounds(const Arena &arena, uint64_t address, uint64_t bytes);

/// A place in shared memory: the CTA, and the address in its window.
struct SharedPlace {
  Cta *cta;
  uint32_t address;
};
/// Where an address of the given space (Generic, Shared, SharedCluster) points
/// to, if those bytes are in shared memory, aligned to `align`, and the CTA is
/// still there.
SharedPlace sharedPlace(Warp &w, const Op &op, unsigned lane, Space space,
                        uint64_t address, unsigned bytes, unsigned align);

/// Marks bytes of shared memory as written, or as not.
void markShared(Cta &cta, uint32_t address, uint32_t bytes, bool written);
/// The checks of a read by the asynchronous proxy: all bytes written,
void checkWritten(Warp &w, const Op &op, unsigned lane, Cta &cta,
                  uint32_t address, uint32_t bytes);
/// a proxy fence since,
void checkProxy(Warp &w, const Op &op, unsigned lane, Cta &cta,
                uint32_t address, uint32_t bytes);
/// and both.
inline void checkAsyncRead(Warp &w, const Op &op, unsigned lane, Cta &cta,
                           uint32_t address, uint32_t bytes) {
  checkWritten(w, op, lane, cta, address, bytes);
  checkProxy(w, op, lane, cta, address, bytes);
}
/// Has every byte been written?
bool isAllWritten(const Cta &cta, uint32_t address, uint32_t bytes);
/// Nothing asynchronous may still use bytes of shared memory that are written.
void checkSharedWrite(Warp &w, const Op &op, unsigned lane, Cta &cta,
                      uint32_t address, uint32_t bytes);
/// The bytes of a cp.async arrive before its wait.
void arriveEarly(AsyncCopies::Copy &copy);
/// What a lane knows, for an asynchronous operation that takes effect later;
/// null if all do so at once.
std::shared_ptr<const Clock> knownAtIssue(Warp &w, unsigned lane);
/// Delivers a cp.async that was held back.
void deliverCopy(Warp &w, const AsyncCopies::Copy &copy);
/// .cta, .cluster, .gpu or .sys as Order::Scope; 0 if there is none.
inline uint32_t takeScope(Decoder &d) {
  const int scope = d.takeOneOf({"cta", "cluster", "gpu", "sys"});
  return scope < 0 ? 0 : std::min<uint32_t>(uint32_t(scope) + 1, Order::Gpu);
}
/// Of the index of relaxed, acquire, release, acq_rel; negative: none of them.
inline uint32_t atomicOrder(int index) {
  return Order::Strong |
         (index == 1 || index == 3 ? uint32_t(Order::Acquire) : 0) |
         (index >= 2 ? uint32_t(Order::Release) : 0);
}

} // namespace ptxsim

#endif // RUNTIME_PTXSIM_ACCESS_H
