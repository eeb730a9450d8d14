#include "runtime/ptxsim/driver/DeviceFacts.h"

#include <cstdlib>

using namespace ptxsim::cuda;

namespace {
// Sizes as the data sheets and deviceQuery listings give them.
constexpr DeviceFacts h100{"NVIDIA H100 80GB HBM3 (ptxsim)", 85'000'000'000,
                           52428800, 2619000, 5120};
constexpr DeviceFacts h200{"NVIDIA H200 (ptxsim)", 141'000'000'000, 62914560,
                           3201000, 6144};

struct Attribute {
  int number, value;
};
/// By the numbers of cuda.h. What is not here is zero: not supported.
constexpr Attribute attributes[] = {
    {1, threadsPerBlock},
    {2, 1024}, // block x
    {3, 1024}, // block y
    {4, 64},   // block z
    {5, 2147483647},
    {6, 65535},
    {7, 65535}, // grid
    {8, sharedPerBlock},
    {9, 65536}, // constant memory
    {10, 32},   // warp
    {11, 2147483647},
    {12, 65536},   // registers of a block
    {13, 1980000}, // clock, kHz
    {14, 512},     // alignment of textures
    {15, 1},
    {16, multiprocessors},
    {19, 1}, // host memory can be mapped
    {30, 512},
    {31, 1}, // concurrent kernels
    {32, 1}, // ECC
    {33, 1}, // PCI bus
    {39, threadsPerMultiprocessor},
    {40, 3},
    {41, 1}, // unified addresses
    {51, 32},
    {75, 9},
    {76, 0}, // compute capability
    {78, 1},
    {79, 1},
    {80, 1},
    {81, sharedPerMultiprocessor},
    {82, 65536},
    {83, 1}, // managed memory
    {87, 2},
    {90, 1},
    {95, 1}, // cooperative launch
    {97, sharedPerBlockOptIn},
    {106, blocksPerMultiprocessor},
    {111, reservedSharedPerBlock},
    {115, 0}, // memory pools
    {120, 1}, // clusters
    {126, 4},
    {127, 1}, // tensor maps
    {129, 1},
};
constexpr int lastAttribute = 147;
} // namespace

std::string ptxsim::cuda::deviceName() {
  const char *name = std::getenv("PTXSIM_DEVICE");
  return name ? name : "h200";
}

const DeviceFacts &ptxsim::cuda::deviceFacts() {
  static const bool isH100 = deviceName() == "h100";
  return isH100 ? h100 : h200;
}

std::optional<int> ptxsim::cuda::deviceAttribute(int attribute) {
  const DeviceFacts &facts = deviceFacts();
  if (attribute < 1 || attribute > lastAttribute)
    return std::nullopt;
  if (attribute == 36)
    return facts.memoryClockKHz;
  if (attribute == 37)
    return facts.memoryBusBits;
  if (attribute == 38)
    return facts.l2Bytes;
  for (const Attribute &a : attributes)
    if (a.number == attribute)
      return a.value;
  return 0;
}
