// cuInit, versions, the device.

#include "runtime/ptxsim/driver/DeviceFacts.h"
#include "runtime/ptxsim/driver/Driver.h"

#include <cstdio>
#include <cstring>

using namespace ptxsim::cuda;

namespace {
template <class F> CUresult forDevice(CUdevice device, F f) {
  return inDriver(
      [&](Driver &) { return device ? CUDA_ERROR_INVALID_DEVICE : f(); });
}
} // namespace

CUresult ptxsim::cuda::cuInit(unsigned flags) {
  return locked([&](Driver &driver) {
    if (flags)
      return CUDA_ERROR_INVALID_VALUE;
    if (!driver.optionsError.empty())
      return driver.report(CUDA_ERROR_INVALID_VALUE, driver.optionsError);
    driver.initialised = true;
    return CUDA_SUCCESS;
  });
}

/// CUDA 13.0, whose PTX (9.0) the simulator reads.
CUresult ptxsim::cuda::cuDriverGetVersion(int *version) {
  if (!version)
    return CUDA_ERROR_INVALID_VALUE;
  *version = 13000;
  return CUDA_SUCCESS;
}

CUresult ptxsim::cuda::cuDeviceGetCount(int *count) {
  return inDriver([&](Driver &) {
    if (!count)
      return CUDA_ERROR_INVALID_VALUE;
    *count = 1;
    return CUDA_SUCCESS;
  });
}

CUresult ptxsim::cuda::cuDeviceGet(CUdevice *device, int ordinal) {
  return forDevice(ordinal, [&] {
    if (!device)
      return CUDA_ERROR_INVALID_VALUE;
    *device = 0;
    return CUDA_SUCCESS;
  });
}

CUresult ptxsim::cuda::cuDeviceGetName(char *name, int len, CUdevice dev) {
  return forDevice(dev, [&] {
    if (!name || len < 1)
      return CUDA_ERROR_INVALID_VALUE;
    std::snprintf(name, size_t(len), "%s", deviceFacts().name);
    return CUDA_SUCCESS;
  });
}

CUresult ptxsim::cuda::cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice dev) {
  return forDevice(dev, [&] {
    if (!uuid)
      return CUDA_ERROR_INVALID_VALUE;
    std::memcpy(uuid->bytes, "ptxsim-device-0", sizeof uuid->bytes);
    return CUDA_SUCCESS;
  });
}

CUresult ptxsim::cuda::cuDeviceGetUuid(CUuuid *uuid, CUdevice dev) {
  return cuDeviceGetUuid_v2(uuid, dev);
}

CUresult ptxsim::cuda::cuDeviceTotalMem_v2(size_t *bytes, CUdevice dev) {
  return forDevice(dev, [&] {
    if (!bytes)
      return CUDA_ERROR_INVALID_VALUE;
    *bytes = deviceFacts().memoryBytes;
    return CUDA_SUCCESS;
  });
}

CUresult ptxsim::cuda::cuDeviceGetAttribute(int *pi, CUdevice_attribute attrib,
                                            CUdevice dev) {
  return forDevice(dev, [&] {
    const std::optional<int> value = deviceAttribute(int(attrib));
    if (!pi || !value)
      return CUDA_ERROR_INVALID_VALUE;
    *pi = *value;
    return CUDA_SUCCESS;
  });
}

CUresult ptxsim::cuda::cuDeviceComputeCapability(int *major, int *minor,
                                                 CUdevice dev) {
  return forDevice(dev, [&] {
    if (!major || !minor)
      return CUDA_ERROR_INVALID_VALUE;
    *major = 9, *minor = 0;
    return CUDA_SUCCESS;
  });
}

CUresult ptxsim::cuda::cuDeviceGetPCIBusId(char *id, int len, CUdevice dev) {
  return forDevice(dev, [&] {
    if (!id || len < 13)
      return CUDA_ERROR_INVALID_VALUE;
    std::snprintf(id, size_t(len), "0000:01:00.0");
    return CUDA_SUCCESS;
  });
}

CUresult ptxsim::cuda::cuDeviceCanAccessPeer(int *can, CUdevice dev,
                                             CUdevice peer) {
  return forDevice(dev, [&] {
    if (!can || peer)
      return CUDA_ERROR_INVALID_DEVICE;
    *can = 0;
    return CUDA_SUCCESS;
  });
}

/// cuMemAllocAsync works, but no pools can be asked for: the attribute says so.
CUresult ptxsim::cuda::cuDeviceGetDefaultMemPool(CUmemoryPool *, CUdevice) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
CUresult ptxsim::cuda::cuDeviceGetMemPool(CUmemoryPool *, CUdevice) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
