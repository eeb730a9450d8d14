// Primary contexts, contexts, the calling thread's stack of them.

#include "runtime/ptxsim/driver/Driver.h"

#include <algorithm>

using namespace ptxsim::cuda;

namespace {
/// cuda.h's CU_CTX_FLAGS_MASK.
constexpr unsigned flagsMask = 0xff;

CUcontext makeContext(Driver &driver, unsigned flags) {
  CUcontext context =
      driver.contexts.add(std::make_unique<CUctx_st>(driver.options));
  context->flags = flags;
  if (driver.collector)
    context->device.observe({driver.collector.get()});
  context->id = driver.nextId++;
  return context;
}

template <class F> CUresult forDevice(CUdevice device, F f) {
  return inDriver([&](Driver &driver) {
    return device ? CUDA_ERROR_INVALID_DEVICE : f(driver);
  });
}

/// The current context even if it has seen a fault.
template <class F> CUresult withCurrent(F f) {
  return inDriver([&](Driver &driver) {
    std::vector<CUcontext> &stack = contextStack();
    if (stack.empty() || !driver.contexts.has(stack.back()))
      return CUDA_ERROR_INVALID_CONTEXT;
    return f(driver, *stack.back());
  });
}
} // namespace

// --- primary context ---

CUresult ptxsim::cuda::cuDevicePrimaryCtxRetain(CUcontext *pctx, CUdevice dev) {
  return forDevice(dev, [&](Driver &driver) {
    if (!pctx)
      return CUDA_ERROR_INVALID_VALUE;
    if (!driver.primary)
      driver.primary = makeContext(driver, driver.primaryFlags);
    ++driver.primaryUsers;
    *pctx = driver.primary;
    return CUDA_SUCCESS;
  });
}

CUresult ptxsim::cuda::cuDevicePrimaryCtxRelease_v2(CUdevice dev) {
  return forDevice(dev, [&](Driver &driver) {
    if (!driver.primaryUsers)
      return CUDA_ERROR_INVALID_CONTEXT;
    if (--driver.primaryUsers == 0)
      driver.destroyContext(driver.primary);
    return CUDA_SUCCESS;
  });
}

CUresult ptxsim::cuda::cuDevicePrimaryCtxSetFlags_v2(CUdevice dev,
                                                     unsigned flags) {
  return forDevice(dev, [&](Driver &driver) {
    if (flags & ~flagsMask)
      return CUDA_ERROR_INVALID_VALUE;
    driver.primaryFlags = flags;
    if (driver.primary)
      driver.primary->flags = flags;
    return CUDA_SUCCESS;
  });
}

CUresult ptxsim::cuda::cuDevicePrimaryCtxGetState(CUdevice dev, unsigned *flags,
                                                  int *active) {
  return forDevice(dev, [&](Driver &driver) {
    if (!flags || !active)
      return CUDA_ERROR_INVALID_VALUE;
    *flags = driver.primaryFlags;
    *active = driver.primary != nullptr;
    return CUDA_SUCCESS;
  });
}

/// Everything in it goes, and the fault that it has seen.
CUresult ptxsim::cuda::cuDevicePrimaryCtxReset_v2(CUdevice dev) {
  return forDevice(dev, [&](Driver &driver) {
    if (driver.primary)
      driver.destroyContext(driver.primary);
    driver.primaryUsers = 0;
    return CUDA_SUCCESS;
  });
}

// --- other contexts ---

CUresult ptxsim::cuda::cuCtxCreate_v2(CUcontext *pctx, unsigned flags,
                                      CUdevice dev) {
  return forDevice(dev, [&](Driver &driver) {
    if (!pctx || flags & ~flagsMask)
      return CUDA_ERROR_INVALID_VALUE;
    contextStack().push_back(*pctx = makeContext(driver, flags));
    return CUDA_SUCCESS;
  });
}

CUresult ptxsim::cuda::cuCtxCreate_v4(CUcontext *pctx,
                                      CUctxCreateParams *params, unsigned flags,
                                      CUdevice dev) {
  // What the parameters ask for, a share of the device, does not exist here.
  return params ? CUDA_ERROR_NOT_SUPPORTED : cuCtxCreate_v2(pctx, flags, dev);
}

CUresult ptxsim::cuda::cuCtxDestroy_v2(CUcontext ctx) {
  return inDriver([&](Driver &driver) {
    if (!driver.contexts.has(ctx) || ctx == driver.primary)
      return CUDA_ERROR_INVALID_CONTEXT;
    std::vector<CUcontext> &stack = contextStack();
    if (!stack.empty() && stack.back() == ctx)
      stack.pop_back();
    driver.destroyContext(ctx);
    return CUDA_SUCCESS;
  });
}

CUresult ptxsim::cuda::cuCtxPushCurrent_v2(CUcontext ctx) {
  return inDriver([&](Driver &driver) {
    if (!driver.contexts.has(ctx))
      return CUDA_ERROR_INVALID_CONTEXT;
    contextStack().push_back(ctx);
    return CUDA_SUCCESS;
  });
}

CUresult ptxsim::cuda::cuCtxPopCurrent_v2(CUcontext *pctx) {
  return inDriver([&](Driver &) {
    std::vector<CUcontext> &stack = contextStack();
    if (stack.empty())
      return CUDA_ERROR_INVALID_CONTEXT;
    if (pctx)
      *pctx = stack.back();
    stack.pop_back();
    return CUDA_SUCCESS;
  });
}

CUresult ptxsim::cuda::cuCtxSetCurrent(CUcontext ctx) {
  return inDriver([&](Driver &driver) {
    if (ctx && !driver.contexts.has(ctx))
      return CUDA_ERROR_INVALID_CONTEXT;
    std::vector<CUcontext> &stack = contextStack();
    if (!stack.empty())
      stack.pop_back();
    if (ctx)
      stack.push_back(ctx);
    return CUDA_SUCCESS;
  });
}

CUresult ptxsim::cuda::cuCtxGetCurrent(CUcontext *pctx) {
  return inDriver([&](Driver &) {
    if (!pctx)
      return CUDA_ERROR_INVALID_VALUE;
    *pctx = contextStack().empty() ? nullptr : contextStack().back();
    return CUDA_SUCCESS;
  });
}

// --- of the current context ---

CUresult ptxsim::cuda::cuCtxGetDevice(CUdevice *device) {
  return withCurrent([&](Driver &, CUctx_st &) {
    if (!device)
      return CUDA_ERROR_INVALID_VALUE;
    *device = 0;
    return CUDA_SUCCESS;
  });
}

CUresult ptxsim::cuda::cuCtxGetFlags(unsigned *flags) {
  return withCurrent([&](Driver &, CUctx_st &context) {
    if (!flags)
      return CUDA_ERROR_INVALID_VALUE;
    *flags = context.flags;
    return CUDA_SUCCESS;
  });
}

/// Everything has run when the call that asked for it returned.
CUresult ptxsim::cuda::cuCtxSynchronize() {
  return inContext([&](Driver &driver, CUctx_st &context) {
    for (const std::shared_ptr<Capture> &capture : driver.captures)
      if (capture->origin->context == &context) {
        capture->invalid = true;
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
      }
    return CUDA_SUCCESS;
  });
}

/// Remembered; nothing here has such a limit.
CUresult ptxsim::cuda::cuCtxSetLimit(CUlimit limit, size_t value) {
  return withCurrent([&](Driver &, CUctx_st &context) {
    if (limit > CU_LIMIT_MALLOC_HEAP_SIZE)
      return CUDA_ERROR_UNSUPPORTED_LIMIT;
    context.limits[limit] = value;
    return CUDA_SUCCESS;
  });
}

CUresult ptxsim::cuda::cuCtxGetLimit(size_t *value, CUlimit limit) {
  return withCurrent([&](Driver &, CUctx_st &context) {
    if (!value)
      return CUDA_ERROR_INVALID_VALUE;
    if (limit > CU_LIMIT_MALLOC_HEAP_SIZE)
      return CUDA_ERROR_UNSUPPORTED_LIMIT;
    *value = context.limits[limit];
    return CUDA_SUCCESS;
  });
}

CUresult ptxsim::cuda::cuCtxGetCacheConfig(CUfunc_cache *config) {
  return withCurrent([&](Driver &, CUctx_st &) {
    if (!config)
      return CUDA_ERROR_INVALID_VALUE;
    *config = CUfunc_cache();
    return CUDA_SUCCESS;
  });
}

/// Caches change no result.
CUresult ptxsim::cuda::cuCtxSetCacheConfig(CUfunc_cache) {
  return withCurrent([&](Driver &, CUctx_st &) { return CUDA_SUCCESS; });
}

CUresult ptxsim::cuda::cuCtxGetApiVersion(CUcontext, unsigned *version) {
  return inDriver([&](Driver &) {
    if (!version)
      return CUDA_ERROR_INVALID_VALUE;
    *version = 3020;
    return CUDA_SUCCESS;
  });
}

CUresult ptxsim::cuda::cuCtxGetStreamPriorityRange(int *least, int *greatest) {
  return withCurrent([&](Driver &, CUctx_st &) {
    if (least)
      *least = 0;
    if (greatest)
      *greatest = -5;
    return CUDA_SUCCESS;
  });
}

CUresult ptxsim::cuda::cuCtxGetId(CUcontext ctx, unsigned long long *id) {
  return inDriver([&](Driver &driver) {
    if (!id)
      return CUDA_ERROR_INVALID_VALUE;
    if (!ctx && !contextStack().empty())
      ctx = contextStack().back();
    if (!driver.contexts.has(ctx))
      return CUDA_ERROR_INVALID_CONTEXT;
    *id = ctx->id;
    return CUDA_SUCCESS;
  });
}
