#ifndef RUNTIME_PTXSIM_MODEL_PLACEMENT_H
#define RUNTIME_PTXSIM_MODEL_PLACEMENT_H

#include <cstdint>
#include <functional>
#include <vector>

namespace ptxsim {

/// Where the CTAs of a grid run: in launch order, each cluster (or CTA) goes
/// to the GPC (or SM) that has room first. CTAs on one SM share it evenly.
struct Placement {
  std::vector<std::vector<uint32_t>> sms; ///< by SM: numbers of its CTAs
  uint32_t resident = 0; ///< most CTAs that are on the device at once
};

struct PlacementInput {
  uint64_t ctas = 0;        ///< of the grid
  uint32_t clusterSize = 1; ///< CTA number / this: its cluster
  uint32_t ctasPerSm = 1;
  std::vector<uint32_t> gpcs;  ///< SMs of each
  uint32_t clustersAtOnce = 0; ///< with one CTA per SM; 0: as many as fit
  std::function<double(uint64_t)> work; ///< of a CTA; any unit, above 0
};

Placement place(const PlacementInput &input);

} // namespace ptxsim

#endif // RUNTIME_PTXSIM_MODEL_PLACEMENT_H
