#ifndef RUNTIME_PTXSIM_MODEL_MODEL_H
#define RUNTIME_PTXSIM_MODEL_MODEL_H

#include "runtime/ptxsim/model/DeviceDescription.h"
#include "runtime/ptxsim/model/Occupancy.h"

namespace ptxsim {

/// What the counters of a launch cannot tell.
struct ModelOptions {
  uint32_t registers = 0; ///< of a thread, from ptxas; 0: unknown
  /// Instead of the waits that were counted (KernelCounts::gridWaits).
  std::optional<uint64_t> gridBarriers = std::nullopt;
  uint64_t roundTrips = 0; ///< dependent ones that nothing overlaps
  /// The launch may begin before its predecessor has ended (programmatic
  /// dependent launch), if the kernel has griddepcontrol.
  bool programmatic = false;
};

/// A time that the kernel cannot beat, in seconds.
struct Term {
  std::string name;
  double seconds = 0;
};

/// Modelled time of one launch by the formula of devices/README.md, section 5.
struct ModelledTime {
  std::vector<Term> terms; ///< largest first
  double fill = 0, drain = 0, serial = 0;
  double kernel = 0; ///< fill + largest term + drain + serial
  /// The same with the ends of the fields' ranges that make it shortest and
  /// longest.
  double lower = 0, upper = 0;
  double byteBound = 0; ///< compulsory bytes / DRAM rate
  std::optional<double> gapGraph, gapPdl, hostCost; ///< around the kernel
  bool programmatic = false; ///< gapPdl is the boundary before it
  std::optional<double> gap() const { return programmatic ? gapPdl : gapGraph; }

  Occupancy occupancy;
  double waves = 0; ///< CTAs / those that fit at once
  std::vector<std::string> notModelled, assumed;
};

/// Errors when not a single CTA fits on an SM, or a clock is missing.
Result<ModelledTime> modelTime(const DeviceDescription &device,
                               const KernelCounts &counts,
                               const ModelOptions &options = {});

} // namespace ptxsim

#endif // RUNTIME_PTXSIM_MODEL_MODEL_H
