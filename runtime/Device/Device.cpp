//===- Device.cpp - A device with results the runtime can use -------------===//
#include "runtime/Device/Device.h"

#include <algorithm>

namespace k2rt {

DeviceMemory::DeviceMemory(DeviceMemory &&other) noexcept
    : device_(std::exchange(other.device_, nullptr)),
      pointer_(std::exchange(other.pointer_, 0)),
      bytes_(std::exchange(other.bytes_, 0)) {}

DeviceMemory &DeviceMemory::operator=(DeviceMemory &&other) noexcept {
  std::swap(device_, other.device_);
  std::swap(pointer_, other.pointer_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

DeviceMemory::~DeviceMemory() {
  if (device_)
    device_->table_.memFree(device_->table_.self, pointer_);
}

Device::~Device() { table_.destroy(table_.self); }

Status Device::check(int code, const std::string &what) const {
  if (code == 0)
    return Status();
  return Status::device(what + ": " + table_.errorString(table_.self, code));
}

Expected<DeviceMemory> Device::allocate(size_t bytes, const std::string &name) {
  DeviceMemory memory;
  if (Status s =
          check(table_.memAlloc(table_.self, &memory.pointer_,
                                std::max<size_t>(bytes, 1), name.c_str()),
                "allocation of " + std::to_string(bytes) + " bytes for '" +
                    name + "'");
      s.failed())
    return s;
  memory.device_ = this;
  memory.bytes_ = bytes;
  return memory;
}

Status Device::copyToDevice(DevicePtr to, const void *from, size_t bytes) {
  if (bytes == 0)
    return Status();
  return check(table_.memcpyHtoD(table_.self, to, from, bytes, nullptr),
               "copy to the device");
}

Status Device::copyToHost(void *to, DevicePtr from, size_t bytes) {
  if (bytes == 0)
    return Status();
  return check(table_.memcpyDtoH(table_.self, to, from, bytes, nullptr),
               "copy from the device");
}

Status Device::copyOnDevice(DevicePtr to, DevicePtr from, size_t bytes) {
  if (bytes == 0)
    return Status();
  return check(table_.memcpyDtoD(table_.self, to, from, bytes, nullptr),
               "copy on the device");
}

Status Device::fill(DevicePtr to, uint8_t value, size_t bytes) {
  if (bytes == 0)
    return Status();
  return check(table_.memsetD8(table_.self, to, value, bytes, nullptr),
               "fill of device memory");
}

Status Device::synchronize() {
  return check(table_.streamSynchronize(table_.self, nullptr), "device");
}

Expected<ModuleHandle> Device::loadModule(const std::string &image,
                                          ImageKind kind,
                                          const std::string &name) {
  ModuleHandle module = nullptr;
  int code = table_.moduleLoadData(table_.self, &module, image.data(),
                                   image.size(), kind, name.c_str());
  // Code that the device does not take is a bad artifact, not a fault.
  if (code != 0)
    return Status::input(
        name + ": cannot be loaded: " + table_.errorString(table_.self, code));
  return module;
}

void Device::unloadModule(ModuleHandle module) {
  table_.moduleUnload(table_.self, module);
}

Expected<FunctionHandle> Device::function(ModuleHandle module,
                                          const std::string &name) {
  FunctionHandle function = nullptr;
  int code =
      table_.moduleGetFunction(table_.self, &function, module, name.c_str());
  if (code != 0)
    return Status::input("entry '" + name +
                         "': " + table_.errorString(table_.self, code));
  return function;
}

Status Device::launch(FunctionHandle function, const LaunchConfig &config,
                      void **params) {
  int code = table_.launchKernel(table_.self, function, &config, params);
  // A fault says where it was by itself.
  return code == 0 ? Status()
                   : Status::device(table_.errorString(table_.self, code));
}

bool Device::takeCounters(LaunchCounters &counters) {
  if (!table_.launchCounters)
    return false;
  LaunchCounters latest;
  table_.launchCounters(table_.self, &latest);
  counters += latest;
  return true;
}

namespace {
std::optional<double> sum(std::optional<double> a, std::optional<double> b) {
  return a && b ? std::optional(*a + *b) : std::nullopt;
}
} // namespace

LaunchCounters &LaunchCounters::operator+=(const LaunchCounters &o) {
  warpInstructions += o.warpInstructions;
  tensorFlops += o.tensorFlops;
  if (!o.modelled)
    return *this;
  dramReadBytes += o.dramReadBytes;
  dramWriteBytes += o.dramWriteBytes;
  modelledSeconds += o.modelledSeconds;
  modelledChainSeconds = sum(modelledChainSeconds, o.modelledChainSeconds);
  modelledHostSeconds = sum(modelledHostSeconds, o.modelledHostSeconds);
  if (!modelled || o.longest.seconds > longest.seconds)
    longest = o.longest;
  modelled = true;
  return *this;
}

} // namespace k2rt
