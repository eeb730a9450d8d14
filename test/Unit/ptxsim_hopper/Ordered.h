#ifndef TEST_UNIT_PTXSIM_HOPPER_ORDERED_H
#define TEST_UNIT_PTXSIM_HOPPER_ORDERED_H

// Kernels that have an order of accesses or have not, under all schedules.

#include "test/Unit/ptxsim_hopper/Kernel.h"

namespace hopper {

/// The fault under the first schedule, eagerly. A kernel has a fault under all
/// or under none. `spins`: on a flag, which the greedy schedule does long.
std::string fault(const std::string &body, uint32_t threads = 64,
                  uint32_t ctas = 1, bool spins = false,
                  ptxsim::Checks checks = {});

/// An mbarrier at smem for `count` arrivals, and another one behind it. %r2 is
/// the thread's word of data, from smem + 1024 on, %r3 that 32 threads on, %r4
/// that of the next lane; all of them are 0. %p1: warp 0, %p0: thread 0, %p3:
/// the lane 0 of a warp.
std::string begin(int count);

/// A loop that waits for a phase of the mbarrier at smem + offset. Threads for
/// which the guard holds go past it.
std::string waitFor(const std::string &guard, int parity = 0,
                    const std::string &modifiers = ".shared.b64",
                    int offset = 0);

} // namespace hopper

#endif // TEST_UNIT_PTXSIM_HOPPER_ORDERED_H
