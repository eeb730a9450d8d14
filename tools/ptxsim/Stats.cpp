// --stats: what a launch has executed.

#include "tools/ptxsim/Extension.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

using namespace ptxsim;
using namespace ptxsim::tool;

namespace {

class Stats : public Extension {
public:
  void addOptions(CLI::App &app) override {
    app.add_flag("--stats", wanted, "print what the launch has executed")
        ->group("Measuring");
  }
  void afterLaunch(const Launched &launched) override {
    if (!wanted)
      return;
    if (!launched.status) {
      fmt::print(stderr, "--stats: none of a launch that has not ended\n");
      return;
    }
    const Counters &c = launched.counters;
    fmt::print("warp_instructions {}\nthread_instructions {}\ntensor_flops "
               "{}\nshared_wavefronts {}\nshared_bank_conflicts {}\n"
               "global_load_bytes {}\nglobal_store_bytes {}\n",
               c.warpInstructions, c.threadInstructions, c.tensorFlops,
               c.sharedWavefronts, c.sharedWavefronts - c.sharedIdealWavefronts,
               c.globalLoadBytes, c.globalStoreBytes);
  }

private:
  bool wanted = false;
};

} // namespace

std::unique_ptr<Extension> tool::makeStats() {
  return std::make_unique<Stats>();
}
