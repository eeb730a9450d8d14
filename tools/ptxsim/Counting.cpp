// --counters, --model, --registers, --mode and --sample: what a launch has
// done, and how long a GPU might take for it.

#include "runtime/ptxsim/model/Registers.h"
#include "runtime/ptxsim/model/Report.h"
#include "tools/ptxsim/Arguments.h"
#include "tools/ptxsim/Error.h"
#include "tools/ptxsim/Extension.h"
#include "tools/ptxsim/Npy.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fmt/format.h>

using namespace ptxsim;
using namespace ptxsim::tool;

namespace {

class Counting : public Extension {
public:
  void addOptions(CLI::App &app) override {
    const auto optional = [&](const char *name, std::string &value,
                              const char *help) {
      return app.add_option(name, value, help)
          ->group("Measuring")
          ->expected(0, 1);
    };
    countersOption = optional(
        "--counters", countersFile,
        "count by PTX line, under the names of Nsight Compute: a table, or "
        "JSON into the file that is given (- : standard output)");
    modelOption = optional(
        "--model", modelName,
        "modelled time by the figures of h100, h200 (default), h800 or of a "
        "device file");
    app.add_option("--registers", registers,
                   "registers of a thread for the occupancy of --model: a "
                   "number, or a file with the output of ptxas -v or JSON "
                   "{\"kernel\": registers}")
        ->group("Measuring");
    app.add_flag("--programmatic", modelOptions.programmatic,
                 "--model: the launch may begin before its predecessor has "
                 "ended, if the kernel has griddepcontrol")
        ->group("Measuring");
    app.add_option("--round-trips", modelOptions.roundTrips,
                   "--model: dependent round trips to memory that nothing "
                   "overlaps (default 0)")
        ->group("Measuring");
    app.add_option("--grid-barriers", modelOptions.gridBarriers,
                   "--model: grid barriers, instead of those counted in a "
                   "cooperative launch")
        ->group("Measuring");
    app.add_option("--mode", mode,
                   "full, or counters: mma and wgmma are counted but not "
                   "computed")
        ->group("Measuring")
        ->check(CLI::IsMember({"full", "counters"}));
    app.add_option("--sample", sample,
                   "execute only N CTAs, evenly spaced, with the first and the "
                   "last")
        ->group("Measuring");
  }

  void configure(DeviceOptions &options) override {
    options.skipTensor = mode == "counters";
    if (sample.empty())
      return;
    const std::vector<uint64_t> n = parseNumbers("--sample", sample, ',');
    if (n.size() != 1 || !n[0])
      fail("--sample: expected a number of CTAs from 1, but got '{}'", sample);
    options.sampleCtas = n[0];
  }

  Observer *beforeLaunch(const Module &, const Kernel &kernel) override {
    if (!countersOption->count() && !modelOption->count())
      return nullptr;
    auto found =
        DeviceDescription::find(modelName.empty() ? "h200" : modelName);
    if (!found)
      fail("--model: {}", found.message());
    device = std::move(*found);
    if (!registers.empty())
      modelOptions.registers = registersOf(kernel.name);
    collector = std::make_unique<Collector>(device.cacheSizes());
    return collector.get();
  }

  void afterLaunch(const Launched &launched) override {
    const Counters &c = launched.counters;
    if (mode == "counters")
      fmt::print("mode counters: tensor-core results were not computed; values "
                 "that depend on them are wrong\n");
    if (c.ctasExecuted < c.ctas)
      fmt::print(
          "sample: {} of {} CTAs were executed; buffers have the results "
          "of these only\n",
          c.ctasExecuted, c.ctas);
    if (!collector)
      return;
    if (!launched.status) {
      fmt::print(stderr, "{}: none of a launch that has not ended\n",
                 countersOption->count() ? "--counters" : "--model");
      return;
    }
    KernelReport report;
    report.counts = collector->latest();
    report.deviceName = device.name, report.deviceFile = device.file;
    if (modelOption->count()) {
      auto time = modelTime(device, report.counts, modelOptions);
      if (!time)
        fail("--model: {}", time.message());
      report.time = std::move(*time);
    }
    if (countersOption->count() && countersFile.empty())
      fmt::print("{}  caches as of {}\n", countersTable(report.counts),
                 device.file);
    if (report.time)
      fmt::print("{}", modelledText(report));
    if (!countersFile.empty())
      write(reportJson({&report, 1}));
  }

private:
  uint32_t registersOf(const std::string &kernel) {
    if (registers.find_first_not_of("0123456789") == registers.npos) {
      const std::vector<uint64_t> n =
          parseNumbers("--registers", registers, ',');
      if (n.size() != 1 || n[0] < 1 || n[0] > 255)
        fail("--registers: expected a number from 1 to 255 or a file, but got "
             "'{}'",
             registers);
      return uint32_t(n[0]);
    }
    auto facts = readRegisters(readFile(registers), registers);
    if (!facts)
      fail("--registers: {}", facts.message());
    const auto it = facts->find(kernel);
    if (it == facts->end())
      fail("--registers: {}: expected an entry of kernel '{}'", registers,
           kernel);
    return it->second;
  }

  void write(const std::string &text) {
    std::FILE *file =
        countersFile == "-" ? stdout : std::fopen(countersFile.c_str(), "wb");
    if (!file)
      fail("--counters: {}: cannot be written", countersFile);
    bool good = std::fwrite(text.data(), 1, text.size(), file) == text.size();
    good &= (file == stdout ? std::fflush(file) : std::fclose(file)) == 0;
    if (!good)
      fail("--counters: {}: cannot be written", countersFile);
  }

  CLI::Option *countersOption = nullptr, *modelOption = nullptr;
  std::string countersFile, modelName, registers, mode = "full", sample;
  DeviceDescription device;
  ModelOptions modelOptions;
  std::unique_ptr<Collector> collector;
};

} // namespace

std::unique_ptr<Extension> tool::makeCounting() {
  return std::make_unique<Counting>();
}
