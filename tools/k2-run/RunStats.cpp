//===- RunStats.cpp - What a run executed ---------------------------------===//
#include "tools/k2-run/RunStats.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

using namespace k2rt;
using nlohmann::ordered_json;

namespace k2run {

namespace {
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
          modelled(stats.counters.modelledChainSeconds)}});
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
