// The C interface beside the driver API: runtime/include/ptxsim/ptxsim_c.h.

#include "ptxsim/ptxsim_c.h"
#include "runtime/ptxsim/driver/DeviceFacts.h"
#include "runtime/ptxsim/driver/Driver.h"
#include "runtime/ptxsim/model/Report.h"

#include <cstring>
#include <fmt/format.h>

using namespace ptxsim;
using namespace ptxsim::cuda;

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {
ptxsimCounters countersOf(const Driver &driver) {
  const Counters &c = driver.counters;
  return {driver.launches,   c.warpInstructions, c.threadInstructions,
          c.tensorFlops,     c.sharedWavefronts, c.sharedIdealWavefronts,
          c.globalLoadBytes, c.globalStoreBytes};
}
} // namespace

EXPORT const char *ptxsimLastError(void) {
  thread_local std::string text;
  std::lock_guard lock(Driver::get().mutex);
  text = Driver::get().lastError;
  return text.c_str();
}

EXPORT int ptxsimSetOptions(const char *text) {
  Driver &driver = Driver::get();
  std::lock_guard lock(driver.mutex);
  Status status =
      text ? readDriverOptions(text, driver.options, driver.registers)
           : Status::error("expected options, but got NULL");
  if (!status) {
    driver.lastError = status.message();
    return 1;
  }
  driver.contexts.forEach(
      [&](CUctx_st &context) { context.device.setOptions(driver.options); });
  return 0;
}

EXPORT void ptxsimReportToStderr(int on) {
  std::lock_guard lock(Driver::get().mutex);
  Driver::get().reports = on != 0;
}

EXPORT void ptxsimGetCounters(ptxsimCounters *out, size_t bytes) {
  std::lock_guard lock(Driver::get().mutex);
  const ptxsimCounters counters = countersOf(Driver::get());
  if (!out)
    return;
  std::memset(out, 0, bytes);
  std::memcpy(out, &counters, std::min(bytes, sizeof counters));
}

EXPORT const char *ptxsimCountersJson(void) {
  thread_local std::string text;
  std::lock_guard lock(Driver::get().mutex);
  const ptxsimCounters c = countersOf(Driver::get());
  text =
      fmt::format("{{\"launches\": {}, \"warp_instructions\": {}, "
                  "\"thread_instructions\": {}, \"tensor_flops\": {}, "
                  "\"shared_wavefronts\": {}, \"shared_ideal_wavefronts\": {}, "
                  "\"global_load_bytes\": {}, \"global_store_bytes\": {}}}",
                  c.launches, c.warpInstructions, c.threadInstructions,
                  c.tensorFlops, c.sharedWavefronts, c.sharedIdealWavefronts,
                  c.globalLoadBytes, c.globalStoreBytes);
  return text.c_str();
}

EXPORT void ptxsimResetCounters(void) {
  std::lock_guard lock(Driver::get().mutex);
  Driver::get().counters = {};
  Driver::get().launches = 0;
  Driver::get().collected.clear();
}

EXPORT void ptxsimCollect(int on) {
  Driver &driver = Driver::get();
  std::lock_guard lock(driver.mutex);
  std::vector<Observer *> observers;
  std::unique_ptr<Collector> collector;
  if (on) {
    CacheSizes sizes;
    sizes.l2Bytes = uint64_t(deviceFacts().l2Bytes);
    sizes.l1AndSharedBytes = l1AndSharedPerMultiprocessor;
    sizes.sharedReservedBytes = reservedSharedPerBlock;
    collector = std::make_unique<Collector>(sizes);
    observers.push_back(collector.get());
  }
  driver.contexts.forEach(
      [&](CUctx_st &context) { context.device.observe(observers); });
  driver.collector = std::move(collector);
}

EXPORT const char *ptxsimReportJson(void) {
  thread_local std::string text;
  std::lock_guard lock(Driver::get().mutex);
  std::vector<KernelReport> reports;
  for (const KernelCounts &counts : Driver::get().collected)
    reports.push_back({counts, std::nullopt, {}, {}});
  text = reportJson(reports);
  return text.c_str();
}
