#ifndef RUNTIME_PTXSIM_MODEL_OCCUPANCY_H
#define RUNTIME_PTXSIM_MODEL_OCCUPANCY_H

#include "runtime/ptxsim/model/DeviceDescription.h"

namespace ptxsim {

/// How many CTAs of a kernel an SM holds at once, and what keeps it from more.
struct Occupancy {
  uint32_t ctas = 0; ///< 0: not one fits
  const char *limit = "";
};
/// `registers` of a thread; 0: unknown, they set no limit.
Occupancy occupancyOf(const DeviceDescription &device, uint32_t threads,
                      uint32_t sharedBytes, uint32_t registers);

} // namespace ptxsim

#endif // RUNTIME_PTXSIM_MODEL_OCCUPANCY_H
