// --profile: a timeline of warps, barriers and copies for Perfetto.

#include "runtime/ptxsim/counting/Timeline.h"
#include "tools/ptxsim/Error.h"
#include "tools/ptxsim/Extension.h"

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>

using namespace ptxsim;
using namespace ptxsim::tool;

namespace {

class Profile : public Extension {
public:
  void addOptions(CLI::App &app) override {
    app.add_option("--profile", file,
                   "write a timeline of warps, barriers and copies for "
                   "ui.perfetto.dev or chrome://tracing (time: issue index)")
        ->group("Measuring");
  }
  Observer *beforeLaunch(const Module &, const Kernel &) override {
    if (file.empty())
      return nullptr;
    to = std::fopen(file.c_str(), "wb"); // before hours of simulation
    if (!to)
      fail("--profile: {}: cannot be written: {}", file, std::strerror(errno));
    return &timeline;
  }
  void afterLaunch(const Launched &) override {
    if (!to)
      return;
    const std::string text = timeline.json();
    bool good = std::fwrite(text.data(), 1, text.size(), to) == text.size();
    good &= std::fclose(to) == 0;
    if (!good)
      fail("--profile: {}: cannot be written: {}", file, std::strerror(errno));
    if (timeline.isTruncated())
      fmt::print(stderr,
                 "--profile: {} ends after {} events: --sample=N executes "
                 "fewer CTAs\n",
                 file, events);
  }

private:
  static constexpr size_t events = 1000000;
  std::string file;
  std::FILE *to = nullptr;
  Timeline timeline{events};
};

} // namespace

std::unique_ptr<Extension> tool::makeProfile() {
  return std::make_unique<Profile>();
}
