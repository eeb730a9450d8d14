#ifndef RUNTIME_PTXSIM_MBARRIER_H
#define RUNTIME_PTXSIM_MBARRIER_H

#include <cstdint>
#include <optional>
#include <string>

namespace ptxsim {

class Warp;
struct Op;

/// An mbarrier object of shared memory. A phase completes when no arrival is
/// pending and the transaction count is zero; the next phase then expects as
/// many arrivals again. Operations return what is wrong with them, or nothing.
struct Mbarrier {
  static constexpr uint32_t maxCount = (1u << 20) - 1;

  uint32_t offset = 0; ///< in the CTA's shared window
  uint32_t expected = 0, pending = 0;
  int64_t tx = 0;
  uint32_t phase = 0; ///< number of completed phases
  uint32_t order = 0; ///< its object in the cluster's Clocks

  // For the checks.
  uint32_t observed = 0; ///< phases that a wait has seen complete
  struct Copied {
    uint32_t phases; ///< completed when the copy's phase is
    Warp *warp;
    const Op *op;
    unsigned lane;
  } copied{}; ///< the last bulk copy that has signalled it

  using Error = std::optional<std::string>;

  bool due() const { return pending == 0 && tx == 0; }
  void nextPhase() { pending = expected, ++phase; }
  Error arrive(uint64_t count);
  /// arrive_drop: the count is not expected in later phases either.
  Error drop(uint64_t count);
  Error expect(uint64_t bytes);
  Error complete(uint64_t bytes);

  /// What arrive returns: the phase, and the arrivals that were pending.
  uint64_t state() const { return uint64_t(phase) << 32 | pending; }
  static uint32_t pendingOf(uint64_t state) { return uint32_t(state); }
  /// Has the phase of this parity completed?
  bool passedParity(uint32_t parity) const { return (phase & 1) != parity; }
  /// `phase 3 (parity 1), 2 of 4 arrivals pending, tx-count 128`
  std::string describe() const;
};

} // namespace ptxsim

#endif // RUNTIME_PTXSIM_MBARRIER_H
