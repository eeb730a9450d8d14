//===- Kernels.h - The code of an artifact on a device ----------*- C++ -*-===//
#ifndef RUNTIME_EXECUTOR_KERNELS_H
#define RUNTIME_EXECUTOR_KERNELS_H

#include "runtime/Artifact/Artifact.h"
#include "runtime/Device/Device.h"

#include <functional>
#include <set>

namespace k2rt {

/// Receives remarks that are no errors, such as a PTX edited by hand.
using Notice = std::function<void(const std::string &)>;

/// Loads the kernels in `used`: the cubin if the device takes one and it is of
/// this PTX, else the text. The number of parameters must be the manifest's.
class Kernels {
public:
  static Expected<Kernels> load(const Artifact &artifact,
                                const std::set<int> &used, Device &device,
                                const Notice &notice);
  Kernels(Kernels &&) = default;
  ~Kernels();

  FunctionHandle function(int kernel) const { return functions_.at(kernel); }

private:
  explicit Kernels(Device &device) : device_(&device) {}
  Expected<FunctionHandle> loadOne(const KernelInfo &kernel,
                                   const KernelCode &code);

  Device *device_;
  std::map<std::string, ModuleHandle> modules_; ///< by path
  std::map<int, FunctionHandle> functions_;
};

} // namespace k2rt

#endif // RUNTIME_EXECUTOR_KERNELS_H
