// What streams and graphs run, when it runs.

#include "runtime/ptxsim/driver/Driver.h"

#include <cstring>
#include <fmt/format.h>

using namespace ptxsim;
using namespace ptxsim::cuda;

namespace {

/// One side of a copy.
struct Side {
  CUdeviceptr base;
  bool device;
  size_t x, y, z, pitch, height;
  CUdeviceptr row(size_t row, size_t slice) const {
    return base + ((z + slice) * height + y + row) * pitch + x;
  }
};

bool isDevice(const CUctx_st &context, CUmemorytype type, CUdeviceptr pointer) {
  return type == CU_MEMORYTYPE_DEVICE ||
         (type == CU_MEMORYTYPE_UNIFIED && context.mayHold(pointer));
}

CUresult copyRow(Driver &driver, CUctx_st &context, const Side &to,
                 const Side &from, CUdeviceptr d, CUdeviceptr s, size_t bytes) {
  Status status;
  if (to.device && from.device)
    status = context.device.copyOnDevice(d, s, bytes);
  else if (to.device)
    status = context.device.copyToDevice(d, reinterpret_cast<const void *>(s),
                                         bytes);
  else if (from.device)
    status = context.device.copyToHost(reinterpret_cast<void *>(d), s, bytes);
  else
    std::memmove(reinterpret_cast<void *>(d), reinterpret_cast<const void *>(s),
                 bytes);
  return status ? CUDA_SUCCESS
                : driver.report(CUDA_ERROR_INVALID_VALUE, status.message());
}

CUresult run(Driver &driver, CUctx_st &context, const CopyWork &work) {
  const CUDA_MEMCPY3D &c = work.copy;
  auto sideOf = [&](CUmemorytype type, CUdeviceptr host, CUdeviceptr device,
                    size_t x, size_t y, size_t z, size_t pitch, size_t height) {
    const CUdeviceptr base = type == CU_MEMORYTYPE_HOST ? host : device;
    return Side{base, isDevice(context, type, base), x, y, z, pitch, height};
  };
  const Side from =
                 sideOf(c.srcMemoryType,
                        reinterpret_cast<CUdeviceptr>(c.srcHost), c.srcDevice,
                        c.srcXInBytes, c.srcY, c.srcZ, c.srcPitch, c.srcHeight),
             to =
                 sideOf(c.dstMemoryType,
                        reinterpret_cast<CUdeviceptr>(c.dstHost), c.dstDevice,
                        c.dstXInBytes, c.dstY, c.dstZ, c.dstPitch, c.dstHeight);
  for (CUmemorytype type : {c.srcMemoryType, c.dstMemoryType})
    if (type < CU_MEMORYTYPE_HOST || type > CU_MEMORYTYPE_UNIFIED)
      return CUDA_ERROR_INVALID_VALUE;
  if (!c.WidthInBytes || !c.Height || !c.Depth)
    return CUDA_SUCCESS;
  for (const Side *side : {&from, &to})
    if (!side->base ||
        (c.Height * c.Depth > 1 && side->pitch < c.WidthInBytes) ||
        (c.Depth > 1 && side->height < c.Height))
      return CUDA_ERROR_INVALID_VALUE;
  if (c.srcMemoryType == CU_MEMORYTYPE_ARRAY ||
      c.dstMemoryType == CU_MEMORYTYPE_ARRAY)
    return CUDA_ERROR_NOT_SUPPORTED;
  for (size_t slice = 0; slice < c.Depth; ++slice)
    for (size_t row = 0; row < c.Height; ++row)
      if (CUresult code = copyRow(driver, context, to, from, to.row(row, slice),
                                  from.row(row, slice), c.WidthInBytes))
        return code;
  return CUDA_SUCCESS;
}

CUresult run(Driver &driver, CUctx_st &context, const SetWork &work) {
  const CUDA_MEMSET_NODE_PARAMS &s = work.set;
  const size_t bytes = s.elementSize;
  if (bytes != 1 && bytes != 2 && bytes != 4)
    return CUDA_ERROR_INVALID_VALUE;
  if (s.dst % bytes || (s.height > 1 && s.pitch < s.width * bytes))
    return CUDA_ERROR_INVALID_VALUE;
  size_t rowBytes = 0;
  if (__builtin_mul_overflow(s.width, bytes, &rowBytes))
    return CUDA_ERROR_INVALID_VALUE;
  if (!rowBytes || !s.height)
    return CUDA_SUCCESS;
  std::vector<std::byte> pattern(std::min<size_t>(rowBytes, 1 << 20));
  for (size_t i = 0; i < pattern.size(); i += bytes)
    std::memcpy(pattern.data() + i, &s.value, bytes);
  for (size_t y = 0; y < s.height; ++y)
    for (size_t x = 0; x < rowBytes; x += pattern.size())
      if (Status status = context.device.copyToDevice(
              s.dst + y * s.pitch + x, pattern.data(),
              std::min(pattern.size(), rowBytes - x));
          !status)
        return driver.report(CUDA_ERROR_INVALID_VALUE, status.message());
  return CUDA_SUCCESS;
}

CUresult codeOf(FaultKind kind) {
  switch (kind) {
  case FaultKind::None:
    return CUDA_ERROR_INVALID_VALUE;
  case FaultKind::IllegalAddress:
    return CUDA_ERROR_ILLEGAL_ADDRESS;
  case FaultKind::Misaligned:
    return CUDA_ERROR_MISALIGNED_ADDRESS;
  case FaultKind::Assert:
    return CUDA_ERROR_ASSERT;
  case FaultKind::Hang:
    return CUDA_ERROR_LAUNCH_TIMEOUT;
  case FaultKind::Other:
    break;
  }
  return CUDA_ERROR_LAUNCH_FAILED;
}

/// In the context of its module: a graph may have nodes of several.
CUresult run(Driver &driver, CUctx_st &, const KernelWork &work) {
  if (!driver.functions.contains(work.function))
    return CUDA_ERROR_INVALID_HANDLE;
  const CUfunc_st &function = *work.function;
  CUctx_st &context = *function.module->context;
  if (context.fault)
    return context.fault;
  std::vector<const void *> params;
  for (const Param &param : function.kernel->params)
    params.push_back(work.params.data() + param.offset);
  Counters counters;
  Status status = context.device.launch(
      *function.module->module, *function.kernel, work.grid, work.block,
      work.shared, params.data(), &counters, work.cluster, work.cooperative);
  driver.counters += counters;
  ++driver.launches;
  // What was refused has not been counted.
  if (driver.collector && (status || status.fault() != FaultKind::None))
    driver.collected.push_back(driver.collector->latest());
  if (status)
    return CUDA_SUCCESS;
  const CUresult code = codeOf(status.fault());
  if (status.fault() != FaultKind::None)
    context.fault = code;
  return driver.report(code, status.message());
}

/// Without the lock: it may wait for another thread that calls the driver.
CUresult run(Driver &driver, CUctx_st &context, const HostWork &work) {
  struct Unlocked {
    explicit Unlocked(std::recursive_mutex &mutex) : mutex(mutex) {
      mutex.unlock();
    }
    ~Unlocked() { mutex.lock(); }
    std::recursive_mutex &mutex;
    Callback inside;
  };
  {
    const Unlocked unlocked(driver.mutex);
    work.function(work.data);
  }
  return driver.contexts.has(&context) ? CUDA_SUCCESS
                                       : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

CUresult run(Driver &driver, CUctx_st &, const RecordWork &work) {
  if (!driver.events.has(work.event))
    return CUDA_ERROR_INVALID_HANDLE;
  work.event->recorded = true;
  work.event->captured = false;
  work.event->at = std::chrono::steady_clock::now();
  return CUDA_SUCCESS;
}

/// What the event follows has run.
CUresult run(Driver &, CUctx_st &, const WaitWork &) { return CUDA_SUCCESS; }
CUresult run(Driver &, CUctx_st &, const EmptyWork &) { return CUDA_SUCCESS; }

CUresult run(Driver &, CUctx_st &context, const ChildWork &work) {
  for (const Work &step : *work.steps)
    if (CUresult code = execute(context, step))
      return code;
  return CUDA_SUCCESS;
}

} // namespace

CUresult ptxsim::cuda::execute(CUctx_st &context, const Work &work) {
  if (context.fault)
    return context.fault;
  return std::visit(
      [&](const auto &w) { return run(Driver::get(), context, w); }, work);
}

CopyWork ptxsim::cuda::linearCopy(CUmemorytype to, CUdeviceptr destination,
                                  CUmemorytype from, CUdeviceptr source,
                                  size_t bytes) {
  // NOLINTNEXTLINE(bugprone-invalid-enum-default-initialization): set below
  CUDA_MEMCPY3D c{};
  c.dstMemoryType = to, c.srcMemoryType = from;
  c.dstHost = reinterpret_cast<void *>(destination), c.dstDevice = destination;
  c.srcHost = reinterpret_cast<const void *>(source), c.srcDevice = source;
  c.WidthInBytes = bytes, c.Height = c.Depth = 1;
  return {c};
}
