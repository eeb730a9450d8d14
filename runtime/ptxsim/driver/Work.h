#ifndef RUNTIME_PTXSIM_DRIVER_WORK_H
#define RUNTIME_PTXSIM_DRIVER_WORK_H

// What is put into streams and into graphs.

#include "runtime/ptxsim/driver/CudaStructs.h"
#include "runtime/ptxsim/ptxsim.h"

#include <memory>
#include <optional>
#include <variant>
#include <vector>

namespace ptxsim::cuda {

struct CUfunc_st;
struct CUctx_st;

struct KernelWork {
  CUfunction function = nullptr;
  Dim3 grid, block;
  uint32_t shared = 0;
  std::optional<Dim3> cluster;
  bool cooperative = false;
  /// Values of the parameters, each at its offset.
  std::vector<std::byte> params;
  /// What cuGraphKernelNodeGetParams gives: pointers into `params`.
  mutable std::vector<void *> pointers;
};
struct CopyWork {
  CUDA_MEMCPY3D copy;
};
struct SetWork {
  CUDA_MEMSET_NODE_PARAMS set;
};
struct HostWork {
  CUhostFn function;
  void *data;
};
struct EmptyWork {};
struct RecordWork {
  CUevent event;
};
struct WaitWork {
  CUevent event;
};
struct ChildWork;

using Work = std::variant<KernelWork, CopyWork, SetWork, HostWork, ChildWork,
                          EmptyWork, WaitWork, RecordWork>;

/// The nodes of another graph, in order.
struct ChildWork {
  std::shared_ptr<std::vector<Work>> steps;
};

/// Runs it now.
CUresult execute(CUctx_st &context, const Work &work);
/// Runs it now, or makes it a node if the stream is captured.
CUresult submit(CUctx_st &context, CUstream stream, Work work);
/// A copy of a run of bytes as a copy of one row. Kinds of memory as given.
CopyWork linearCopy(CUmemorytype to, CUdeviceptr destination, CUmemorytype from,
                    CUdeviceptr source, size_t bytes);

} // namespace ptxsim::cuda

#endif // RUNTIME_PTXSIM_DRIVER_WORK_H
