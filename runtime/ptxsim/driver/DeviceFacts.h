#ifndef RUNTIME_PTXSIM_DRIVER_DEVICEFACTS_H
#define RUNTIME_PTXSIM_DRIVER_DEVICEFACTS_H

// What the simulated GPU says of itself. Facts of compute capability 9.0 are in
// DeviceFacts.cpp; these differ between boards.

#include <cstddef>
#include <optional>
#include <string>

namespace ptxsim::cuda {

struct DeviceFacts {
  const char *name;
  size_t memoryBytes;
  int l2Bytes, memoryClockKHz, memoryBusBits;
};

/// What the environment variable PTXSIM_DEVICE names, or h200.
std::string deviceName();
/// Of an H100 if that is its name, else of an H200.
const DeviceFacts &deviceFacts();
/// The value of a CU_DEVICE_ATTRIBUTE_*; nothing if there is no such number.
std::optional<int> deviceAttribute(int attribute);

constexpr int multiprocessors = 132;
constexpr int sharedPerMultiprocessor = 233472;
constexpr int l1AndSharedPerMultiprocessor = 262144;
constexpr int sharedPerBlock = 49152;
constexpr int sharedPerBlockOptIn = 232448;
constexpr int reservedSharedPerBlock = 1024;
constexpr int threadsPerMultiprocessor = 2048;
constexpr int blocksPerMultiprocessor = 32;
constexpr int threadsPerBlock = 1024;
constexpr int portableClusterSize = 8;
constexpr int registersPerMultiprocessor = 65536;
constexpr int registersPerThread = 255;
constexpr int quarters =
    4; ///< parts of a multiprocessor with warps of their own

} // namespace ptxsim::cuda

#endif // RUNTIME_PTXSIM_DRIVER_DEVICEFACTS_H
