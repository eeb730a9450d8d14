#ifndef RUNTIME_PTXSIM_MODEL_REPORT_H
#define RUNTIME_PTXSIM_MODEL_REPORT_H

#include "runtime/ptxsim/model/Model.h"

#include <span>

namespace ptxsim {

/// A kernel's counters, and its modelled time if one was asked for.
struct KernelReport {
  KernelCounts counts;
  std::optional<ModelledTime> time;
  std::string deviceName, deviceFile; ///< of the time
};

/// For people: the kernel's figures that are not zero, then a row per PTX line.
std::string countersTable(const KernelCounts &counts);
/// "modelled time of ...", with device file, bounds, waves and what the model
/// leaves out.
std::string modelledText(const KernelReport &report);
/// For programs: an array with an object per kernel. What was not modelled is
/// null.
std::string reportJson(std::span<const KernelReport> reports);

} // namespace ptxsim

#endif // RUNTIME_PTXSIM_MODEL_REPORT_H
