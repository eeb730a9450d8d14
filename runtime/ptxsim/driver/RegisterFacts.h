#ifndef RUNTIME_PTXSIM_DRIVER_REGISTERFACTS_H
#define RUNTIME_PTXSIM_DRIVER_REGISTERFACTS_H

#include "runtime/ptxsim/ptxsim.h"

#include <map>

namespace ptxsim::cuda {

/// Registers of a thread, which PTX does not tell and ptxas does.
struct RegisterFacts {
  uint32_t all = 0; ///< of every kernel; 0: not given
  std::map<std::string, uint32_t> byKernel;
  /// 0: not known.
  uint32_t of(const std::string &kernel) const;
};

/// As readOptions, and `registers=N`, `registers=FILE` (the output of ptxas -v,
/// or JSON) or `registers=none`. Nothing has changed when it fails.
Status readDriverOptions(std::string_view text, DeviceOptions &options,
                         RegisterFacts &registers);

} // namespace ptxsim::cuda

#endif // RUNTIME_PTXSIM_DRIVER_REGISTERFACTS_H
