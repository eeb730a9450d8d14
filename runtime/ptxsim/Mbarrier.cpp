#include "runtime/ptxsim/Mbarrier.h"

#include <fmt/format.h>

using namespace ptxsim;

Mbarrier::Error Mbarrier::arrive(uint64_t count) {
  if (count < 1 || count > maxCount)
    return fmt::format("expected an arrive count from 1 to {}, but got {}",
                       maxCount, count);
  if (count > pending)
    return fmt::format("{} arrivals at the mbarrier at {:#x}, but it expects "
                       "only {} more in this phase ({})",
                       count, offset, pending, describe());
  pending -= uint32_t(count);
  return {};
}

Mbarrier::Error Mbarrier::drop(uint64_t count) {
  if (count > expected)
    return fmt::format("{} arrivals are dropped from the mbarrier at {:#x}, "
                       "but it expects only {}",
                       count, offset, expected);
  if (Error e = arrive(count))
    return e;
  expected -= uint32_t(count);
  return {};
}

Mbarrier::Error Mbarrier::expect(uint64_t bytes) {
  if (bytes > maxCount || tx + int64_t(bytes) > int64_t(maxCount))
    return fmt::format("the tx-count of the mbarrier at {:#x} overflows: {} "
                       "more are expected at {} (the limit is {})",
                       offset, bytes, tx, maxCount);
  tx += int64_t(bytes);
  return {};
}

Mbarrier::Error Mbarrier::complete(uint64_t bytes) {
  if (bytes > maxCount || tx - int64_t(bytes) < -int64_t(maxCount))
    return fmt::format("the tx-count of the mbarrier at {:#x} overflows: {} "
                       "more are completed at {} (the limit is -{})",
                       offset, bytes, tx, maxCount);
  tx -= int64_t(bytes);
  return {};
}

std::string Mbarrier::describe() const {
  return fmt::format(
      "phase {} (parity {}), {} of {} arrivals pending, tx-count {}", phase,
      phase & 1, pending, expected, tx);
}
