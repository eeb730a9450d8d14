#ifndef TOOLS_PTXSIM_EXTENSION_H
#define TOOLS_PTXSIM_EXTENSION_H

#include "runtime/ptxsim/ptxsim.h"

#include <memory>

namespace CLI {
class App;
} // namespace CLI

namespace ptxsim {
class Observer;
} // namespace ptxsim

namespace ptxsim::tool {

/// A launch and how it ended.
struct Launched {
  const Module &module;
  const Kernel &kernel;
  Dim3 grid, block;
  std::optional<Dim3> cluster;
  uint32_t dynamicShared;
  const Counters &counters;
  const Status &status;
};

/// A part of the tool with options of its own. All functions may throw
/// UsageError.
class Extension {
public:
  virtual ~Extension() = default;
  virtual void addOptions(CLI::App &app) = 0;
  /// Before the device is made.
  virtual void configure(DeviceOptions &) {}
  /// The launch is watched by what this returns, if anything.
  virtual Observer *beforeLaunch(const Module &, const Kernel &) {
    return nullptr;
  }
  /// Also after a fault.
  virtual void afterLaunch(const Launched &) {}
};

/// --stats
std::unique_ptr<Extension> makeStats();
/// --counters, --model, --registers, --mode, --sample
std::unique_ptr<Extension> makeCounting();
/// --profile
std::unique_ptr<Extension> makeProfile();
/// --trace and its filters
std::unique_ptr<Extension> makeTrace();

} // namespace ptxsim::tool

#endif // TOOLS_PTXSIM_EXTENSION_H
