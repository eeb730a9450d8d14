#include "runtime/ptxsim/model/Occupancy.h"

#include <algorithm>

using namespace ptxsim;

namespace {
/// Registers are given to warps in units of this many (as the CUDA occupancy
/// calculator has it for every architecture since Kepler).
constexpr uint64_t registerUnit = 256;
} // namespace

Occupancy ptxsim::occupancyOf(const DeviceDescription &device, uint32_t threads,
                              uint32_t sharedBytes, uint32_t registers) {
  const uint64_t warps = (threads + 31) / 32;
  Occupancy best;
  bool first = true;
  auto limit = [&](const char *field, const char *name, double need) {
    const std::optional<double> has = device.value(field);
    if (!has || need <= 0)
      return;
    const uint32_t fit = uint32_t(std::min(*has / need, 1e6));
    if (first || fit < best.ctas)
      best = {fit, name};
    first = false;
  };
  limit("sm_limits.ctas", "CTAs of an SM", 1);
  limit("sm_limits.threads", "threads", double(warps * 32));
  limit("sm_limits.warps", "warps", double(warps));
  limit(
      "sm_limits.shared_memory", "shared memory",
      sharedBytes +
          device.value("sm_limits.shared_memory_reserved_per_cta").value_or(0));
  const uint64_t perWarp = (uint64_t(registers) * 32 + registerUnit - 1) /
                           registerUnit * registerUnit;
  limit("sm_limits.registers", "registers", double(perWarp * warps));
  return best;
}
