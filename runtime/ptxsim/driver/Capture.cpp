// Putting work into streams, and stream capture. Streams run what is put into
// them at once, in the order of the calls: an order that CUDA allows whatever
// the program's streams and events are.

#include "runtime/ptxsim/driver/Driver.h"
#include "runtime/ptxsim/driver/Graphs.h"

#include <algorithm>
#include <unordered_set>

using namespace ptxsim::cuda;

namespace {

thread_local CUstreamCaptureMode threadMode = CU_STREAM_CAPTURE_MODE_GLOBAL;

/// The stream of an entry's handle, looked up in the current context.
template <class F> CUresult withStream(CUstream handle, F f) {
  return inContext([&](Driver &driver, CUctx_st &context) {
    CUstream stream = findStream(driver, context, handle);
    return stream ? f(driver, *stream) : CUDA_ERROR_INVALID_HANDLE;
  });
}

CUstreamCaptureStatus statusOf(const CUstream_st &stream) {
  if (!stream.capture)
    return CU_STREAM_CAPTURE_STATUS_NONE;
  return stream.capture->invalid ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                 : CU_STREAM_CAPTURE_STATUS_ACTIVE;
}

/// These nodes and all that they depend on.
std::unordered_set<CUgraphNode> upTo(std::vector<CUgraphNode> ends) {
  std::unordered_set<CUgraphNode> seen;
  while (!ends.empty()) {
    CUgraphNode node = ends.back();
    ends.pop_back();
    if (seen.insert(node).second)
      ends.insert(ends.end(), node->dependencies.begin(),
                  node->dependencies.end());
  }
  return seen;
}

/// Calls f with the streams of a capture.
template <class F>
void forStreamsOf(Driver &driver, const Capture &capture, F f) {
  auto look = [&](CUstream_st &stream) {
    if (stream.capture.get() == &capture)
      f(stream);
  };
  driver.streams.forEach(look);
  driver.contexts.forEach(
      [&](CUctx_st &context) { look(context.threadStream); });
}

/// The streams other than the origin end here; their work must have been
/// joined.
CUresult leave(Driver &driver, Capture &capture) {
  const auto joinedNodes = upTo(capture.origin->frontier);
  bool joined = true;
  forStreamsOf(driver, capture, [&](CUstream_st &stream) {
    for (CUgraphNode node : stream.frontier)
      joined &= joinedNodes.contains(node);
    if (&stream != capture.origin) {
      stream.capture.reset();
      stream.frontier.clear();
    }
  });
  return joined ? CUDA_SUCCESS : CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
}

CUresult captureInfo(CUstream handle, CUstreamCaptureStatus *status,
                     cuuint64_t *id, CUgraph *graph,
                     const CUgraphNode **dependencies, size_t *count) {
  return withStream(handle, [&](Driver &, CUstream_st &stream) {
    if (!status)
      return CUDA_ERROR_INVALID_VALUE;
    *status = statusOf(stream);
    if (*status != CU_STREAM_CAPTURE_STATUS_ACTIVE)
      return CUDA_SUCCESS;
    if (id)
      *id = stream.capture->id;
    if (graph)
      *graph = stream.capture->graph;
    if (dependencies)
      *dependencies = stream.frontier.data();
    if (count)
      *count = stream.frontier.size();
    return CUDA_SUCCESS;
  });
}

} // namespace

void ptxsim::cuda::abandon(Driver &driver,
                           const std::shared_ptr<Capture> &capture) {
  const std::shared_ptr<Capture> kept = capture;
  forStreamsOf(driver, *kept, [&](CUstream_st &stream) {
    stream.capture.reset();
    stream.frontier.clear();
  });
  std::erase(driver.captures, kept);
  destroyGraph(driver, kept->graph);
}

bool ptxsim::cuda::isCaptured(const Driver &driver, const CUgraph_st &graph) {
  return std::any_of(
      driver.captures.begin(), driver.captures.end(),
      [&](const auto &capture) { return capture->graph == &graph; });
}

// --- what captures forbid ---

CUresult ptxsim::cuda::checkUnsafe(Driver &driver) {
  if (threadMode == CU_STREAM_CAPTURE_MODE_RELAXED)
    return CUDA_SUCCESS;
  bool forbidden = false;
  for (const std::shared_ptr<Capture> &capture : driver.captures) {
    const bool mine = capture->thread == std::this_thread::get_id();
    if (capture->mode == CU_STREAM_CAPTURE_MODE_RELAXED ||
        (!mine && (capture->mode != CU_STREAM_CAPTURE_MODE_GLOBAL ||
                   threadMode != CU_STREAM_CAPTURE_MODE_GLOBAL)))
      continue;
    capture->invalid = forbidden = true;
  }
  return forbidden ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS;
}

CUresult ptxsim::cuda::checkLegacy(Driver &driver, CUctx_st &context) {
  bool forbidden = false;
  auto check = [&](CUstream_st &stream) {
    const bool blocking = !(stream.flags & 1); // CU_STREAM_NON_BLOCKING
    if (stream.context == &context && stream.capture && blocking)
      stream.capture->invalid = forbidden = true;
  };
  driver.streams.forEach(check);
  check(context.threadStream);
  return forbidden ? CUDA_ERROR_STREAM_CAPTURE_IMPLICIT : CUDA_SUCCESS;
}

// --- work ---

CUresult ptxsim::cuda::submit(CUctx_st &context, CUstream handle, Work work) {
  Driver &driver = Driver::get();
  CUstream stream = findStream(driver, context, handle);
  if (!stream)
    return CUDA_ERROR_INVALID_HANDLE;
  if (!stream->capture) {
    if (stream == &context.legacyStream)
      if (CUresult code = checkLegacy(driver, context))
        return code;
    return execute(*stream->context, work);
  }
  if (stream->capture->invalid)
    return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  CUgraphNode node = addNode(driver, *stream->capture->graph, std::move(work),
                             stream->frontier);
  stream->frontier = {node};
  return CUDA_SUCCESS;
}

CUresult ptxsim::cuda::recordInCapture(CUstream_st &stream, CUevent_st &event) {
  if (stream.capture->invalid)
    return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  event.captured = true;
  event.capture = stream.capture;
  event.frontier = stream.frontier;
  return CUDA_SUCCESS;
}

CUresult ptxsim::cuda::waitInCapture(CUstream_st &stream, CUevent_st &event) {
  std::shared_ptr<Capture> capture =
      event.captured ? event.capture.lock() : nullptr;
  if (!capture) {
    if (!stream.capture)
      return CUDA_SUCCESS; // of a capture that is over
    stream.capture->invalid = true;
    return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
  }
  if (stream.capture && stream.capture != capture) {
    stream.capture->invalid = capture->invalid = true;
    return CUDA_ERROR_STREAM_CAPTURE_MERGE;
  }
  if (capture->invalid)
    return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  if (&stream == &stream.context->legacyStream) {
    capture->invalid = true;
    return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
  }
  stream.capture = capture;
  for (CUgraphNode node : event.frontier)
    if (std::find(stream.frontier.begin(), stream.frontier.end(), node) ==
        stream.frontier.end())
      stream.frontier.push_back(node);
  return CUDA_SUCCESS;
}

// --- entries ---

CUresult ptxsim::cuda::cuStreamBeginCapture_v2(CUstream hStream,
                                               CUstreamCaptureMode mode) {
  return withStream(hStream, [&](Driver &driver, CUstream_st &stream) {
    if (mode > CU_STREAM_CAPTURE_MODE_RELAXED)
      return CUDA_ERROR_INVALID_VALUE;
    if (&stream == &stream.context->legacyStream)
      return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    if (stream.capture)
      return CUDA_ERROR_ILLEGAL_STATE;
    auto capture = std::make_shared<Capture>();
    capture->id = driver.nextId++;
    capture->graph = driver.graphs.add(std::make_unique<CUgraph_st>());
    capture->origin = &stream;
    capture->mode = mode;
    capture->thread = std::this_thread::get_id();
    driver.captures.push_back(capture);
    stream.capture = std::move(capture);
    stream.frontier.clear();
    return CUDA_SUCCESS;
  });
}

CUresult ptxsim::cuda::cuStreamEndCapture(CUstream hStream, CUgraph *phGraph) {
  return withStream(hStream, [&](Driver &driver, CUstream_st &stream) {
    if (!phGraph)
      return CUDA_ERROR_INVALID_VALUE;
    *phGraph = nullptr;
    std::shared_ptr<Capture> capture = stream.capture;
    if (!capture)
      return CUDA_ERROR_ILLEGAL_STATE;
    if (capture->origin != &stream) {
      capture->invalid = true;
      return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
    }
    if (capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED &&
        capture->thread != std::this_thread::get_id())
      return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
    CUresult code = leave(driver, *capture);
    if (capture->invalid)
      code = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    stream.capture.reset();
    stream.frontier.clear();
    std::erase(driver.captures, capture);
    if (code)
      destroyGraph(driver, capture->graph);
    else
      *phGraph = capture->graph;
    return code;
  });
}

CUresult
ptxsim::cuda::cuStreamIsCapturing(CUstream hStream,
                                  CUstreamCaptureStatus *captureStatus) {
  return captureInfo(hStream, captureStatus, nullptr, nullptr, nullptr,
                     nullptr);
}

CUresult ptxsim::cuda::cuStreamGetCaptureInfo_v2(
    CUstream hStream, CUstreamCaptureStatus *captureStatus_out,
    cuuint64_t *id_out, CUgraph *graph_out,
    const CUgraphNode **dependencies_out, size_t *numDependencies_out) {
  return captureInfo(hStream, captureStatus_out, id_out, graph_out,
                     dependencies_out, numDependencies_out);
}

CUresult ptxsim::cuda::cuStreamGetCaptureInfo_v3(
    CUstream hStream, CUstreamCaptureStatus *captureStatus_out,
    cuuint64_t *id_out, CUgraph *graph_out,
    const CUgraphNode **dependencies_out, const CUgraphEdgeData **edgeData_out,
    size_t *numDependencies_out) {
  // Edges have no data: they all mean the whole of the node.
  if (edgeData_out)
    *edgeData_out = nullptr;
  return captureInfo(hStream, captureStatus_out, id_out, graph_out,
                     dependencies_out, numDependencies_out);
}

CUresult
ptxsim::cuda::cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode) {
  return inDriver([&](Driver &) {
    if (!mode || *mode > CU_STREAM_CAPTURE_MODE_RELAXED)
      return CUDA_ERROR_INVALID_VALUE;
    std::swap(*mode, threadMode);
    return CUDA_SUCCESS;
  });
}
