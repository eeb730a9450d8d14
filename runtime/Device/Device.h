//===- Device.h - A device with results the runtime can use -----*- C++ -*-===//
#ifndef RUNTIME_DEVICE_DEVICE_H
#define RUNTIME_DEVICE_DEVICE_H

#include "k2rt/Status.h"
#include "runtime/Device/DriverTable.h"

#include <memory>
#include <string>

namespace k2rt {

class Device;

/// Device memory that is freed with the object. The device must outlive it.
class DeviceMemory {
public:
  DeviceMemory() = default;
  DeviceMemory(DeviceMemory &&other) noexcept;
  DeviceMemory &operator=(DeviceMemory &&other) noexcept;
  ~DeviceMemory();

  DevicePtr pointer() const { return pointer_; }
  size_t bytes() const { return bytes_; }

private:
  friend class Device;
  Device *device_ = nullptr;
  DevicePtr pointer_ = 0;
  size_t bytes_ = 0;
};

/// Owns a driver table and turns its codes into Status.
class Device {
public:
  /// "sim", "cuda" or "cuda:N".
  static Expected<std::unique_ptr<Device>> open(const std::string &name);
  explicit Device(const DriverTable &table) : table_(table) {}
  ~Device();
  Device(const Device &) = delete;
  Device &operator=(const Device &) = delete;

  std::string name() const { return table_.deviceName(table_.self); }
  bool takesTextOnly() const { return table_.takesTextOnly; }
  bool checksBounds() const { return table_.checksBounds; }
  const DriverTable &table() const { return table_; }

  /// At least one byte, so that every array has an address.
  Expected<DeviceMemory> allocate(size_t bytes, const std::string &name);
  Status copyToDevice(DevicePtr to, const void *from, size_t bytes);
  /// Waits for everything before it.
  Status copyToHost(void *to, DevicePtr from, size_t bytes);
  Status copyOnDevice(DevicePtr to, DevicePtr from, size_t bytes);
  Status fill(DevicePtr to, uint8_t value, size_t bytes);
  Status synchronize();

  Expected<ModuleHandle> loadModule(const std::string &image, ImageKind kind,
                                    const std::string &name);
  void unloadModule(ModuleHandle module);
  Expected<FunctionHandle> function(ModuleHandle module,
                                    const std::string &name);
  Status launch(FunctionHandle function, const LaunchConfig &config,
                void **params);

  /// Adds what was launched since the last call; false if the device cannot
  /// tell.
  bool takeCounters(LaunchCounters &counters);

private:
  friend class DeviceMemory;
  Status check(int code, const std::string &what) const;

  DriverTable table_;
};

/// Tables of the two devices; the caller owns `self` through `destroy`.
Expected<DriverTable> makeSimDriver();
Expected<DriverTable> makeCudaDriver(int ordinal);

} // namespace k2rt

#endif // RUNTIME_DEVICE_DEVICE_H
