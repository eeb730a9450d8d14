#ifndef RUNTIME_PTXSIM_DRIVER_OBJECTS_H
#define RUNTIME_PTXSIM_DRIVER_OBJECTS_H

// What the handles of the driver API point at.

#include "runtime/ptxsim/driver/CudaStructs.h"
#include "runtime/ptxsim/driver/Work.h"
#include "runtime/ptxsim/ptxsim.h"

#include <chrono>
#include <map>
#include <memory>
#include <thread>
#include <unordered_map>
#include <vector>

namespace ptxsim::cuda {

/// A kernel, as a CUfunction and as a CUkernel.
struct CUfunc_st {
  CUmodule module = nullptr;
  const Kernel *kernel = nullptr;
  uint32_t localBytes = 0;
  int maxDynamicShared = 0; ///< what launches may ask for
  int carveout = -1;
  bool nonPortableCluster = false;
  int clusterPolicy = 0;
};

struct CUmod_st {
  CUcontext context = nullptr;
  std::shared_ptr<Module> module;
  std::map<const Kernel *, std::unique_ptr<CUfunc_st>> functions;
};

/// A library is loaded into the context that is current.
struct CUlib_st {
  CUmodule module = nullptr;
};

/// A stream capture: what is put into its streams becomes nodes of the graph.
struct Capture {
  uint64_t id = 0;
  CUgraph graph = nullptr;
  CUstream origin = nullptr;
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  bool invalid = false;
  std::thread::id thread; ///< that began it
};

struct CUstream_st {
  CUcontext context = nullptr;
  uint64_t id = 0;
  unsigned flags = 0;
  int priority = 0;
  std::shared_ptr<Capture> capture; ///< under way
  /// What the next node of the capture depends on.
  std::vector<CUgraphNode> frontier;
};

struct CUevent_st {
  CUcontext context = nullptr;
  unsigned flags = 0;
  bool recorded = false;
  std::chrono::steady_clock::time_point at;
  std::weak_ptr<Capture> capture; ///< it was last recorded in
  bool captured = false;
  std::vector<CUgraphNode> frontier;
};

struct CUgraphNode_st {
  CUgraph graph = nullptr;
  Work work;
  std::vector<CUgraphNode> dependencies;
};

struct CUgraph_st {
  std::vector<std::unique_ptr<CUgraphNode_st>> nodes; ///< in order of creation
};

struct CUgraphExec_st {
  struct Step {
    CUgraphNode node; ///< that it was made of; it may be gone
    Work work;
  };
  std::shared_ptr<std::vector<Step>> steps; ///< in an order of dependence
};

/// Memory that the program has allocated.
struct Block {
  enum Kind : uint8_t { Device, Managed, Host } kind = Device;
  size_t bytes = 0;
  uint64_t id = 0;
  unsigned flags = 0;
};

/// A context has a simulated device of its own: its memory goes with it.
struct CUctx_st {
  explicit CUctx_st(const DeviceOptions &options) : device(options) {
    legacyStream.context = threadStream.context = this;
  }
  ptxsim::Device device;
  CUstream_st legacyStream, threadStream; ///< CU_STREAM_LEGACY, _PER_THREAD
  std::map<CUdeviceptr, Block> blocks;
  size_t allocated = 0;
  CUdeviceptr lowest = 0, highest = 0; ///< of all blocks there have been
  size_t limits[3] = {1024, 1 << 20, 8 << 20}; ///< by CUlimit
  uint64_t id = 0;
  unsigned flags = 0;
  /// After a fault of a kernel every call gives its code, as with CUDA.
  CUresult fault = CUDA_SUCCESS;

  /// The block that holds this address: its base and itself.
  const std::pair<const CUdeviceptr, Block> *blockOf(CUdeviceptr pointer) const;
  /// Is it memory of the device, or was it, or is it between such memory?
  bool mayHold(CUdeviceptr pointer) const {
    return (pointer >= lowest && pointer < highest) || device.holds(pointer);
  }
};

} // namespace ptxsim::cuda

#endif // RUNTIME_PTXSIM_DRIVER_OBJECTS_H
