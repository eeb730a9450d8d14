//===- FakeDriver.h - A device in host memory for unit tests ----*- C++ -*-===//
#ifndef TEST_UNIT_DEVICE_FAKEDRIVER_H
#define TEST_UNIT_DEVICE_FAKEDRIVER_H

#include "runtime/Device/Device.h"

#include <cstring>
#include <map>
#include <string>
#include <vector>

/// Memory of the host; launches are recorded, not run. Fresh memory is 0xcd, so
/// that forgotten zeros show.
struct FakeDriver {
  struct Launch {
    std::string entry;
    k2rt::LaunchConfig config;
    std::vector<uint64_t> params;
  };
  std::map<k2rt::DevicePtr, std::vector<std::byte>> memory;
  std::vector<std::string> names;
  std::map<std::string, k2rt::DevicePtr> latest; ///< by name
  std::vector<std::string> entries;
  std::vector<Launch> launches;
  size_t paramsOfLaunch = 0; ///< how many parameters a launch is read with
  int failLaunch = -1;       ///< the launch that fails
  size_t memoryLimit = SIZE_MAX;

  static FakeDriver &of(void *self) { return *static_cast<FakeDriver *>(self); }

  /// A table whose `self` is owned by the test.
  k2rt::DriverTable table() {
    k2rt::DriverTable t{};
    t.self = this;
    t.takesTextOnly = t.checksBounds = true;
    t.destroy = [](void *) {};
    t.deviceName = [](void *) { return "fake"; };
    t.errorString = [](void *, int) { return "it broke"; };
    t.memAlloc = [](void *self, k2rt::DevicePtr *out, size_t bytes,
                    const char *name) {
      if (bytes > of(self).memoryLimit)
        return 1;
      std::vector<std::byte> block(bytes, std::byte{0xcd});
      *out = reinterpret_cast<k2rt::DevicePtr>(block.data());
      of(self).memory[*out] = std::move(block);
      of(self).names.push_back(name);
      of(self).latest[name] = *out;
      return 0;
    };
    t.memFree = [](void *self, k2rt::DevicePtr p) {
      return of(self).memory.erase(p) == 1 ? 0 : 1;
    };
    t.memcpyHtoD = [](void *, k2rt::DevicePtr to, const void *from, size_t n,
                      k2rt::StreamHandle) {
      std::memcpy(reinterpret_cast<void *>(to), from, n);
      return 0;
    };
    t.memcpyDtoH = [](void *, void *to, k2rt::DevicePtr from, size_t n,
                      k2rt::StreamHandle) {
      std::memcpy(to, reinterpret_cast<void *>(from), n);
      return 0;
    };
    t.memcpyDtoD = [](void *, k2rt::DevicePtr to, k2rt::DevicePtr from,
                      size_t n, k2rt::StreamHandle) {
      std::memcpy(reinterpret_cast<void *>(to), reinterpret_cast<void *>(from),
                  n);
      return 0;
    };
    t.memsetD8 = [](void *, k2rt::DevicePtr to, uint8_t v, size_t n,
                    k2rt::StreamHandle) {
      std::memset(reinterpret_cast<void *>(to), v, n);
      return 0;
    };
    t.streamSynchronize = [](void *, k2rt::StreamHandle) { return 0; };
    t.moduleLoadData = [](void *self, k2rt::ModuleHandle *out, const char *,
                          size_t, k2rt::ImageKind, const char *) {
      *out = self;
      return 0;
    };
    t.moduleUnload = [](void *, k2rt::ModuleHandle) { return 0; };
    t.moduleGetFunction = [](void *self, k2rt::FunctionHandle *out,
                             k2rt::ModuleHandle, const char *name) {
      of(self).entries.push_back(name);
      *out = reinterpret_cast<void *>(of(self).entries.size());
      return 0;
    };
    t.funcSetSharedBytes = [](void *, k2rt::FunctionHandle, uint32_t) {
      return 0;
    };
    t.launchKernel = [](void *self, k2rt::FunctionHandle function,
                        const k2rt::LaunchConfig *config, void **params) {
      FakeDriver &fake = of(self);
      Launch launch{
          fake.entries[reinterpret_cast<size_t>(function) - 1], *config, {}};
      for (size_t i = 0; i < fake.paramsOfLaunch; ++i)
        launch.params.push_back(*static_cast<uint64_t *>(params[i]));
      fake.launches.push_back(std::move(launch));
      bool fails =
          static_cast<int>(fake.launches.size()) - 1 == fake.failLaunch;
      return fails ? 1 : 0;
    };
    return t;
  }
};

#endif // TEST_UNIT_DEVICE_FAKEDRIVER_H
