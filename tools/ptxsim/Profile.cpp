// --profile: a timeline of warps, barriers and copies for Perfetto.

#include "runtime/ptxsim/counting/Timeline.h"
#include "tools/ptxsim/Error.h"
#include "tools/ptxsim/Extension.h"

#include <CLI/CLI.hpp>
#include <cstdio>
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
    return file.empty() ? nullptr : &timeline;
  }
  void afterLaunch(const Launched &) override {
    if (file.empty())
      return;
    const std::string text = timeline.json();
    std::FILE *to = std::fopen(file.c_str(), "wb");
    if (!to)
      fail("--profile: {}: cannot be written", file);
    bool good = std::fwrite(text.data(), 1, text.size(), to) == text.size();
    good &= std::fclose(to) == 0;
    if (!good)
      fail("--profile: {}: cannot be written", file);
  }

private:
  std::string file;
  Timeline timeline;
};

} // namespace

std::unique_ptr<Extension> tool::makeProfile() {
  return std::make_unique<Profile>();
}
