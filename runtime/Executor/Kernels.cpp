//===- Kernels.cpp - The code of an artifact on a device ------------------===//
#include "runtime/Executor/Kernels.h"

#include <fmt/format.h>

namespace k2rt {

Kernels::~Kernels() {
  for (auto &[path, module] : modules_)
    device_->unloadModule(module);
}

Expected<FunctionHandle> Kernels::loadOne(const KernelInfo &kernel,
                                          const KernelCode &code) {
  auto [it, isNew] = modules_.emplace(code.ptxPath, nullptr);
  if (isNew) {
    bool text = device_->takesTextOnly() || code.cubin.empty();
    Expected<ModuleHandle> module = device_->loadModule(
        text ? code.ptx : code.cubin,
        text ? ImageKind::PtxText : ImageKind::Cubin, code.ptxPath);
    if (!module) {
      modules_.erase(it);
      return module.status();
    }
    it->second = *module;
  }
  Expected<FunctionHandle> function =
      device_->function(it->second, kernel.entry);
  if (!function)
    return function.status().within(code.ptxPath);

  const DriverTable &driver = device_->table();
  size_t count = 0, bytes = 0;
  if (driver.funcGetParams &&
      driver.funcGetParams(driver.self, *function, &count, &bytes) == 0 &&
      count != kernel.args.size())
    return Status::input(fmt::format(
        "{}: expected the {} parameters of the manifest, but got {}",
        code.ptxPath, kernel.args.size(), count));
  if (kernel.sharedBytes > 0 &&
      driver.funcSetSharedBytes(driver.self, *function,
                                static_cast<uint32_t>(kernel.sharedBytes)) != 0)
    return Status::input(fmt::format(
        "{}: expected a device with {} bytes of shared memory for a block, but "
        "got {}",
        code.ptxPath, kernel.sharedBytes, device_->name()));
  return function;
}

Expected<Kernels> Kernels::load(const Artifact &artifact,
                                const std::set<int> &used, Device &device,
                                const Notice &notice) {
  Kernels kernels(device);
  for (int index : used) {
    const KernelInfo &info = artifact.manifest().kernels[index];
    const KernelCode &code = artifact.code()[index];
    if (code.edited && notice)
      notice(fmt::format("{}: differs from what the compiler wrote; the text "
                         "as it is now runs",
                         code.ptxPath));
    Expected<FunctionHandle> function = kernels.loadOne(info, code);
    if (!function)
      return Status::input(fmt::format(
          "kernel '{}': {}{}", info.name, function.status().message(),
          device.takesTextOnly()
              ? ""
              : " (the artifact is for " + artifact.manifest().target + ")"));
    kernels.functions_[index] = *function;
  }
  return kernels;
}

} // namespace k2rt
