#ifndef RUNTIME_PTXSIM_COUNTING_LOADCHAINS_H
#define RUNTIME_PTXSIM_COUNTING_LOADCHAINS_H

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace ptxsim {

/// The most reads of global memory of a warp of which each needs a result of
/// the one before for its address: loads, atomics, cp.async, bulk copies.
/// Followed through registers, for the warp as a whole; not through predicates,
/// branches and memory.
class LoadChains {
public:
  /// For a new CTA.
  void restart(size_t warps, uint32_t registerBytes) {
    state.assign(warps, {});
    for (OfWarp &w : state)
      w.depth.resize(registerBytes / 4);
  }
  /// An instruction: its results depend on what its sources do. `whole`: in all
  /// lanes.
  void issue(unsigned warp, std::span<const uint32_t> results,
             std::span<const uint32_t> sources, bool whole) {
    OfWarp &w = state[warp];
    w.latest = 0;
    for (uint32_t row : sources)
      w.latest = std::max(w.latest, w.depth[row / 4]);
    w.results = results;
    for (uint32_t row : results)
      w.depth[row / 4] =
          whole ? w.latest : std::max(w.latest, w.depth[row / 4]);
  }
  /// The instruction just issued reads global memory.
  void reads(unsigned warp) {
    OfWarp &w = state[warp];
    for (uint32_t row : w.results)
      w.depth[row / 4] = std::max(w.depth[row / 4], w.latest + 1);
    longest = std::max(longest, w.latest + 1);
  }

  uint32_t longest = 0;

private:
  struct OfWarp {
    std::vector<uint32_t> depth; ///< by word of the register file
    uint32_t latest = 0;         ///< of the sources of the latest instruction
    std::span<const uint32_t> results;
  };
  std::vector<OfWarp> state;
};

} // namespace ptxsim

#endif // RUNTIME_PTXSIM_COUNTING_LOADCHAINS_H
