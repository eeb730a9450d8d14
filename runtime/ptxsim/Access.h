#ifndef RUNTIME_PTXSIM_ACCESS_H
#define RUNTIME_PTXSIM_ACCESS_H

#include "runtime/ptxsim/Cta.h"

namespace ptxsim {

// The parts of Warp::access for handlers that know the space. `address` is an
// offset in the shared window, or a global pointer.
std::byte *sharedAccess(Warp &w, const Op &op, unsigned lane, uint64_t address,
                        unsigned bytes, Access kind);
std::byte *globalAccess(Warp &w, const Op &op, unsigned lane, uint64_t address,
                        unsigned bytes, Access kind);
[[noreturn]] void faultMisaligned(Warp &w, const Op &op, unsigned lane,
                                  Space space, uint64_t address,
                                  unsigned bytes);

} // namespace ptxsim

#endif // RUNTIME_PTXSIM_ACCESS_H
