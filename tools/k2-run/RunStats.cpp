//===- RunStats.cpp - What a run executed ---------------------------------===//
#include "tools/k2-run/RunStats.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

using namespace k2rt;
using nlohmann::ordered_json;

namespace k2run {

namespace {
ordered_json optional(const std::optional<double> &value) {
  return value ? ordered_json(*value) : ordered_json(nullptr);
}

/// What every modelled time has to carry.
ordered_json modelNotes(const ModelNotes &notes) {
  return {{"label", "modelled"},
          {"device", notes.device},
          {"device_file", notes.deviceFile},
          {"of", "the longest launch"},
          {"seconds", notes.seconds},
          {"bound", notes.bound},
          {"second_bound", notes.secondBound},
          {"waves", notes.waves},
          {"ctas_per_sm", notes.ctasPerSm},
          {"occupancy_limit", notes.occupancyLimit},
          {"assumed", notes.assumed},
          {"not_modelled", notes.notModelled}};
}

/// Modelled times of the whole run: its launches one after the other.
ordered_json modelledRun(const Executor &executor) {
  LaunchCounters all;
  uint64_t launches = 0;
  for (const KernelStats &stats : executor.kernelStats())
    all += stats.counters, launches += stats.launches;
  if (!all.modelled)
    return nullptr;
  std::optional<double> stream;
  if (all.modelledChainSeconds && all.modelledHostSeconds)
    stream = std::max(*all.modelledChainSeconds, *all.modelledHostSeconds);
  return {{"label", "modelled"},
          {"device", all.longest.device},
          {"device_file", all.longest.deviceFile},
          {"launches", launches},
          {"kernels_seconds", all.modelledSeconds},
          {"chain_seconds", optional(all.modelledChainSeconds)},
          {"chain_is",
           "each kernel with the boundary before it: in a graph, or "
           "in a stream with the host ahead"},
          {"stream_seconds", optional(stream)},
          {"stream_is",
           "the chain, or the host's cost of all launches if that is more"},
          {"host_seconds", optional(all.modelledHostSeconds)}};
}

ordered_json kernelStats(const Executor &executor) {
  ordered_json list = ordered_json::array();
  const std::vector<KernelInfo> &kernels = executor.manifest().kernels;
  for (size_t i = 0; i < kernels.size(); ++i) {
    const KernelStats &stats = executor.kernelStats()[i];
    auto counted = [&](uint64_t figure) {
      return executor.hasCounters() ? ordered_json(figure)
                                    : ordered_json(nullptr);
    };
    auto modelled = [&](auto figure) {
      return stats.counters.modelled ? ordered_json(figure)
                                     : ordered_json(nullptr);
    };
    list.push_back(
        {{"name", kernels[i].name},
         {"launches", stats.launches},
         {"warp_instructions", counted(stats.counters.warpInstructions)},
         {"tensor_flops", counted(stats.counters.tensorFlops)},
         {"dram_read_bytes", modelled(stats.counters.dramReadBytes)},
         {"dram_write_bytes", modelled(stats.counters.dramWriteBytes)},
         {"modelled_seconds", modelled(stats.counters.modelledSeconds)},
         {"modelled_chain_seconds",
          modelled(optional(stats.counters.modelledChainSeconds))},
         {"modelled", stats.counters.modelled
                          ? modelNotes(stats.counters.longest)
                          : ordered_json(nullptr)}});
  }
  return list;
}
} // namespace

Status writeStats(const Executor &executor, const Device &device,
                  const std::string &path) {
  ordered_json steps = ordered_json::array();
  for (const StepStats &step : executor.stepStats())
    steps.push_back({{"tokens", step.tokens}, {"launches", step.launches}});
  const LoadStats &load = executor.loadStats();
  ordered_json stats = {
      {"kernels", kernelStats(executor)},
      {"modelled", modelledRun(executor)},
      {"steps", steps},
      {"device", device.name()},
      {"load",
       {{"seconds", load.seconds},
        {"bytes", load.checkpointBytes},
        {"bytes_per_second",
         load.seconds > 0 ? load.checkpointBytes / load.seconds : 0.0}}},
      {"memory",
       {{"weights", load.deviceBytes},
        {"persistent", executor.bufferBytes(BufferClass::Persistent)},
        {"step", executor.bufferBytes(BufferClass::Step)},
        {"inputs", executor.bufferBytes(BufferClass::Input) +
                       executor.bufferBytes(BufferClass::Worklist)}}}};
  std::string text = stats.dump(1) + "\n";
  std::FILE *file = path == "-" ? stdout : std::fopen(path.c_str(), "w");
  bool good =
      file && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (file)
    good &= (path == "-" ? std::fflush(file) : std::fclose(file)) == 0;
  if (!good)
    return Status::input("--stats=" + path +
                         ": cannot be written: " + std::strerror(errno));
  return Status();
}

} // namespace k2run
