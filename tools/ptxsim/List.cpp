// --list

#include "tools/ptxsim/List.h"

#include <fmt/format.h>

using namespace ptxsim;

void ptxsim::tool::list(const Module &module, const DeviceOptions &options) {
  for (const Kernel &k : module.kernels()) {
    fmt::print("entry {}\n", k.name);
    for (const Param &p : k.params)
      fmt::print("  param {} .{} size {} align {} offset {}\n", p.name, p.type,
                 p.size, p.align, p.offset);
    const auto dims = [](const char *what, const std::optional<Dim3> &d) {
      if (d)
        fmt::print("  {} {},{},{}\n", what, d->x, d->y, d->z);
    };
    dims("reqntid", k.reqntid);
    dims("maxntid", k.maxntid);
    dims("cluster", k.cluster);
    fmt::print("  shared {} bytes static", k.staticSharedBytes);
    if (!k.dynamicShared.empty())
      fmt::print(", dynamic in {}", k.dynamicShared);
    fmt::print("\n  registers {}\n", k.registers);
  }
  fmt::print("checks");
  for (const auto &[name, on] : checkNames(options.checks))
    fmt::print(" {}={}", name, on ? "on" : "off");
  fmt::print("\n");
}
