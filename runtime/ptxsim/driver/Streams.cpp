// Streams and events. A stream has nothing left to do when a call returns:
// queries say so, and waiting is done at once.

#include "runtime/ptxsim/driver/Driver.h"
#include "runtime/ptxsim/driver/Graphs.h"

using namespace ptxsim::cuda;

namespace {

constexpr unsigned nonBlocking = 1; // CU_STREAM_NON_BLOCKING
constexpr unsigned disableTiming = 2, interprocess = 4; // CU_EVENT_*
constexpr unsigned recordExternal = 1; // CU_EVENT_RECORD_EXTERNAL

template <class F> CUresult withStream(CUstream handle, F f) {
  return inContext([&](Driver &driver, CUctx_st &context) {
    CUstream stream = findStream(driver, context, handle);
    return stream ? f(driver, *stream) : CUDA_ERROR_INVALID_HANDLE;
  });
}

template <class F> CUresult withEvent(CUevent event, F f) {
  return inContext([&](Driver &driver, CUctx_st &context) {
    return driver.events.has(event) ? f(driver, context, *event)
                                    : CUDA_ERROR_INVALID_HANDLE;
  });
}

/// A capture has nothing that could be waited for.
CUresult waitForStream(CUstream handle) {
  return withStream(handle, [&](Driver &driver, CUstream_st &stream) {
    if (stream.capture) {
      stream.capture->invalid = true;
      return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    return &stream == &stream.context->legacyStream
               ? checkLegacy(driver, *stream.context)
               : CUDA_SUCCESS;
  });
}

CUresult waitForEvent(CUevent handle) {
  return withEvent(handle, [&](Driver &, CUctx_st &, CUevent_st &event) {
    if (!event.captured)
      return CUDA_SUCCESS;
    if (std::shared_ptr<Capture> capture = event.capture.lock())
      capture->invalid = true;
    return CUDA_ERROR_CAPTURED_EVENT;
  });
}

template <class F> CUresult tell(CUstream handle, F f) {
  return withStream(handle, [&](Driver &, CUstream_st &stream) {
    return f(stream) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

} // namespace

// --- streams ---

CUresult ptxsim::cuda::cuStreamCreate(CUstream *phStream, unsigned Flags) {
  return cuStreamCreateWithPriority(phStream, Flags, 0);
}

CUresult ptxsim::cuda::cuStreamCreateWithPriority(CUstream *phStream,
                                                  unsigned flags,
                                                  int priority) {
  return inContext([&](Driver &driver, CUctx_st &context) {
    if (!phStream || flags & ~nonBlocking)
      return CUDA_ERROR_INVALID_VALUE;
    auto stream = std::make_unique<CUstream_st>();
    stream->context = &context;
    stream->id = driver.nextId++;
    stream->flags = flags;
    stream->priority = std::min(0, std::max(-5, priority));
    *phStream = driver.streams.add(std::move(stream));
    return CUDA_SUCCESS;
  });
}

CUresult ptxsim::cuda::cuStreamDestroy_v2(CUstream hStream) {
  return inContext([&](Driver &driver, CUctx_st &) {
    if (!driver.streams.has(hStream))
      return CUDA_ERROR_INVALID_HANDLE;
    if (hStream->capture) {
      hStream->capture->invalid = true;
      // Nothing can end the capture any more.
      if (hStream->capture->origin == hStream)
        abandon(driver, hStream->capture);
    }
    driver.streams.erase(hStream);
    return CUDA_SUCCESS;
  });
}

CUresult ptxsim::cuda::cuStreamSynchronize(CUstream hStream) {
  return waitForStream(hStream);
}
CUresult ptxsim::cuda::cuStreamQuery(CUstream hStream) {
  return waitForStream(hStream);
}

CUresult ptxsim::cuda::cuStreamGetPriority(CUstream hStream, int *priority) {
  return tell(hStream, [&](CUstream_st &stream) {
    return priority && (*priority = stream.priority, true);
  });
}

CUresult ptxsim::cuda::cuStreamGetFlags(CUstream hStream, unsigned *flags) {
  return tell(hStream, [&](CUstream_st &stream) {
    return flags && (*flags = stream.flags, true);
  });
}

CUresult ptxsim::cuda::cuStreamGetId(CUstream hStream,
                                     unsigned long long *streamId) {
  return tell(hStream, [&](CUstream_st &stream) {
    return streamId && (*streamId = stream.id, true);
  });
}

CUresult ptxsim::cuda::cuStreamGetCtx(CUstream hStream, CUcontext *pctx) {
  return tell(hStream, [&](CUstream_st &stream) {
    return pctx && (*pctx = stream.context, true);
  });
}

CUresult ptxsim::cuda::cuLaunchHostFunc(CUstream hStream, CUhostFn fn,
                                        void *userData) {
  return inContext([&](Driver &, CUctx_st &context) {
    return fn ? submit(context, hStream, HostWork{fn, userData})
              : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult ptxsim::cuda::cuStreamAddCallback(CUstream hStream,
                                           CUstreamCallback callback,
                                           void *userData, unsigned flags) {
  if (!callback || flags)
    return CUDA_ERROR_INVALID_VALUE;
  // The kernels before it have run; one that faulted has ended the context.
  const CUresult code = waitForStream(hStream);
  if (code == CUDA_SUCCESS) {
    const Callback inside;
    callback(hStream, CUDA_SUCCESS, userData);
  }
  return code;
}

// --- events ---

CUresult ptxsim::cuda::cuEventCreate(CUevent *phEvent, unsigned Flags) {
  return inContext([&](Driver &driver, CUctx_st &context) {
    if (!phEvent || Flags > 7 ||
        (Flags & interprocess && !(Flags & disableTiming)))
      return CUDA_ERROR_INVALID_VALUE;
    auto event = std::make_unique<CUevent_st>();
    event->context = &context;
    event->flags = Flags;
    *phEvent = driver.events.add(std::move(event));
    return CUDA_SUCCESS;
  });
}

CUresult ptxsim::cuda::cuEventDestroy_v2(CUevent hEvent) {
  return withEvent(hEvent, [&](Driver &driver, CUctx_st &, CUevent_st &event) {
    driver.events.erase(&event);
    return CUDA_SUCCESS;
  });
}

CUresult ptxsim::cuda::cuEventRecordWithFlags(CUevent hEvent, CUstream hStream,
                                              unsigned flags) {
  return withEvent(hEvent,
                   [&](Driver &driver, CUctx_st &context, CUevent_st &event) {
                     CUstream stream = findStream(driver, context, hStream);
                     if (!stream)
                       return CUDA_ERROR_INVALID_HANDLE;
                     if (stream->context != event.context)
                       return CUDA_ERROR_INVALID_HANDLE;
                     if (flags & ~recordExternal)
                       return CUDA_ERROR_INVALID_VALUE;
                     if (stream->capture && !(flags & recordExternal))
                       return recordInCapture(*stream, event);
                     return submit(context, hStream, RecordWork{&event});
                   });
}

CUresult ptxsim::cuda::cuEventRecord(CUevent hEvent, CUstream hStream) {
  return cuEventRecordWithFlags(hEvent, hStream, 0);
}

CUresult ptxsim::cuda::cuStreamWaitEvent(CUstream hStream, CUevent hEvent,
                                         unsigned Flags) {
  return withEvent(
      hEvent, [&](Driver &driver, CUctx_st &context, CUevent_st &event) {
        CUstream stream = findStream(driver, context, hStream);
        if (!stream)
          return CUDA_ERROR_INVALID_HANDLE;
        if (Flags & 1) // CU_EVENT_WAIT_EXTERNAL
          return stream->capture ? submit(context, hStream, WaitWork{&event})
                                 : CUDA_ERROR_INVALID_VALUE;
        return event.captured || stream->capture ? waitInCapture(*stream, event)
                                                 : CUDA_SUCCESS;
      });
}

CUresult ptxsim::cuda::cuEventQuery(CUevent hEvent) {
  return waitForEvent(hEvent);
}
CUresult ptxsim::cuda::cuEventSynchronize(CUevent hEvent) {
  return waitForEvent(hEvent);
}

/// Time of the host, which simulates: no measure of a GPU.
CUresult ptxsim::cuda::cuEventElapsedTime_v2(float *pMilliseconds,
                                             CUevent hStart, CUevent hEnd) {
  return withEvent(hStart, [&](Driver &driver, CUctx_st &, CUevent_st &start) {
    if (!driver.events.has(hEnd))
      return CUDA_ERROR_INVALID_HANDLE;
    const CUevent_st &end = *hEnd;
    if (!pMilliseconds)
      return CUDA_ERROR_INVALID_VALUE;
    if (!start.recorded || !end.recorded || start.context != end.context ||
        (start.flags | end.flags) & disableTiming)
      return CUDA_ERROR_INVALID_HANDLE;
    *pMilliseconds =
        std::chrono::duration<float, std::milli>(end.at - start.at).count();
    return CUDA_SUCCESS;
  });
}

CUresult ptxsim::cuda::cuEventElapsedTime(float *pMilliseconds, CUevent hStart,
                                          CUevent hEnd) {
  return cuEventElapsedTime_v2(pMilliseconds, hStart, hEnd);
}
