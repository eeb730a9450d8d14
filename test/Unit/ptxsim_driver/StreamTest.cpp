// Streams, events, host functions, captures, graphs.

#include "test/Unit/ptxsim_driver/Context.h"

#include <mutex>
#include <thread>

using namespace ptxsim::cuda;
using namespace ptxsim::cuda::test;

namespace {

class Streams : public InContext {
protected:
  CUstream stream(unsigned flags = 1) {
    CUstream s = nullptr;
    EXPECT_CUDA(cuStreamCreate(&s, flags));
    return s;
  }
  CUevent event(unsigned flags = 0) {
    CUevent e = nullptr;
    EXPECT_CUDA(cuEventCreate(&e, flags));
    return e;
  }
  CUgraphExec instantiate(CUgraph graph) {
    CUgraphExec exec = nullptr;
    EXPECT_CUDA(cuGraphInstantiateWithFlags(&exec, graph, 0));
    return exec;
  }
  size_t nodesOf(CUgraph graph) {
    size_t n = 0;
    EXPECT_CUDA(cuGraphGetNodes(graph, nullptr, &n));
    return n;
  }
};
using Capture = Streams;
using Graph = Streams;

TEST_F(Streams, EventsTellTimeBetweenThem) {
  CUstream s = stream();
  CUevent a = event(), b = event(), untimed = event(2);
  float ms = -1;
  EXPECT_EQ(cuEventElapsedTime(&ms, a, b), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CUDA(cuEventQuery(a)); // never recorded counts as done
  CUdeviceptr x = buffer(std::vector<uint32_t>(32));
  EXPECT_CUDA(cuEventRecord(a, s));
  EXPECT_CUDA(launch(function("add"), 32, s, x, 1u));
  EXPECT_CUDA(cuEventRecord(b, s));
  EXPECT_CUDA(cuEventSynchronize(b));
  EXPECT_CUDA(cuEventElapsedTime(&ms, a, b));
  EXPECT_GT(ms, 0);
  EXPECT_CUDA(cuEventElapsedTime_v2(&ms, b, a));
  EXPECT_LT(ms, 0);
  EXPECT_CUDA(cuEventRecord(untimed, s));
  EXPECT_EQ(cuEventElapsedTime(&ms, a, untimed), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CUDA(cuEventDestroy_v2(a));
  EXPECT_EQ(cuEventRecord(a, s), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(Streams, StaleHandlesAreRefused) {
  CUstream s = stream();
  EXPECT_CUDA(cuStreamDestroy_v2(s));
  EXPECT_EQ(cuStreamSynchronize(s), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(launch(function("stop"), 1, s), CUDA_ERROR_INVALID_HANDLE);
  // CU_STREAM_LEGACY and CU_STREAM_PER_THREAD.
  EXPECT_CUDA(cuStreamSynchronize(reinterpret_cast<CUstream>(1)));
  EXPECT_CUDA(cuStreamSynchronize(reinterpret_cast<CUstream>(2)));
}

TEST_F(Streams, HostFunctionsRunInOrderWithoutTheLock) {
  CUstream s = stream();
  CUdeviceptr x = buffer({1});
  struct Seen {
    CUcontext context;
    CUdeviceptr x;
    uint32_t value;
  } seen{context, x, 0};
  EXPECT_CUDA(launch(function("add"), 1, s, x, 41u));
  EXPECT_CUDA(cuLaunchHostFunc(
      s,
      [](void *data) {
        // Another thread gets on while the function runs.
        std::thread([data] {
          Seen &to = *static_cast<Seen *>(data);
          EXPECT_CUDA(cuCtxSetCurrent(to.context));
          EXPECT_CUDA(cuMemcpyDtoH_v2(&to.value, to.x, 4));
        }).join();
      },
      &seen));
  EXPECT_CUDA(launch(function("add"), 1, s, x, 100u));
  EXPECT_EQ(seen.value, 42u);
  bool called = false;
  EXPECT_CUDA(cuStreamAddCallback(
      s,
      [](CUstream, CUresult code, void *data) {
        *static_cast<bool *>(data) = code == CUDA_SUCCESS;
      },
      &called, 0));
  EXPECT_TRUE(called);
}

// --- captures ---

TEST_F(Capture, RunsNothingUntilTheGraphIsLaunched) {
  CUstream s = stream();
  CUdeviceptr x = buffer({1, 2});
  CUfunction add = function("add");
  EXPECT_CUDA(cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
  CUstreamCaptureStatus status;
  EXPECT_CUDA(cuStreamIsCapturing(s, &status));
  EXPECT_EQ(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
  {
    // Parameters are copied when the launch is captured.
    uint32_t value = 10;
    void *params[] = {&x, &value};
    EXPECT_CUDA(cuLaunchKernel(add, 1, 1, 1, 2, 1, 1, 0, s, params, nullptr));
    value = 77;
  }
  EXPECT_CUDA(launch(function("scale"), 2, s, x, 3u));
  EXPECT_CUDA(cuMemsetD32Async(x + 4, 5, 1, s));
  CUgraph graph = nullptr;
  EXPECT_CUDA(cuStreamEndCapture(s, &graph));
  EXPECT_EQ(nodesOf(graph), 3u);
  EXPECT_EQ(read(x, 2), (std::vector<uint32_t>{1, 2}));
  CUgraphExec exec = instantiate(graph);
  EXPECT_CUDA(cuGraphDestroy(graph));
  EXPECT_CUDA(cuGraphLaunch(exec, s));
  EXPECT_EQ(read(x, 2), (std::vector<uint32_t>{33, 5}));
  EXPECT_CUDA(cuGraphLaunch(exec, s));
  EXPECT_EQ(read(x, 2), (std::vector<uint32_t>{129, 5}));
  EXPECT_CUDA(cuGraphExecDestroy(exec));
  EXPECT_EQ(cuGraphLaunch(exec, s), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Capture, ForksAndJoinsByEvents) {
  CUstream s = stream(), t = stream();
  CUdeviceptr a = buffer({1}), b = buffer({2}), out = buffer({0});
  CUevent fork = event(), join = event();
  EXPECT_CUDA(cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  EXPECT_CUDA(cuEventRecord(fork, s));
  EXPECT_CUDA(cuStreamWaitEvent(t, fork, 0));
  EXPECT_CUDA(launch(function("add"), 1, t, b, 5u));
  EXPECT_CUDA(launch(function("add"), 1, s, a, 3u));
  EXPECT_CUDA(cuEventRecord(join, t));
  EXPECT_CUDA(cuStreamWaitEvent(s, join, 0));
  EXPECT_CUDA(launch(function("combine"), 1, s, a, b, out));
  CUgraph graph = nullptr;
  EXPECT_CUDA(cuStreamEndCapture(s, &graph));
  // Two roots, both before the last node.
  ASSERT_EQ(nodesOf(graph), 3u);
  size_t roots = 0, edges = 0;
  EXPECT_CUDA(cuGraphGetRootNodes(graph, nullptr, &roots));
  EXPECT_EQ(roots, 2u);
  EXPECT_CUDA(cuGraphGetEdges_v2(graph, nullptr, nullptr, nullptr, &edges));
  EXPECT_EQ(edges, 2u);
  EXPECT_CUDA(cuGraphLaunch(instantiate(graph), t));
  EXPECT_EQ(read(out, 1)[0], 4007u);
  // The other stream is free again.
  EXPECT_CUDA(launch(function("add"), 1, t, b, 1u));
  EXPECT_EQ(read(b, 1)[0], 8u);
}

TEST_F(Capture, UnjoinedWorkIsAnError) {
  CUstream s = stream(), t = stream();
  CUdeviceptr a = buffer({1});
  CUevent fork = event();
  EXPECT_CUDA(cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_RELAXED));
  EXPECT_CUDA(cuEventRecord(fork, s));
  EXPECT_CUDA(cuStreamWaitEvent(t, fork, 0));
  EXPECT_CUDA(launch(function("add"), 1, t, a, 5u));
  CUgraph graph = nullptr;
  EXPECT_EQ(cuStreamEndCapture(t, &graph), CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
  EXPECT_EQ(cuStreamEndCapture(s, &graph),
            CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(graph, nullptr);
  EXPECT_CUDA(cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_RELAXED));
  EXPECT_CUDA(cuEventRecord(fork, s));
  EXPECT_CUDA(cuStreamWaitEvent(t, fork, 0));
  EXPECT_CUDA(launch(function("add"), 1, t, a, 5u));
  EXPECT_EQ(cuStreamEndCapture(s, &graph), CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
  // Both streams work as before.
  EXPECT_CUDA(launch(function("add"), 1, t, a, 5u));
  EXPECT_CUDA(launch(function("add"), 1, s, a, 5u));
  EXPECT_EQ(read(a, 1)[0], 11u);
}

TEST_F(Capture, WhatItForbids) {
  CUstream s = stream();
  CUdeviceptr a = buffer({1}), b = 0;
  CUevent e = event(), f = event();
  CUgraph graph = nullptr;
  auto during = [&](CUstreamCaptureMode mode, CUresult expected, auto call) {
    EXPECT_CUDA(cuStreamBeginCapture_v2(s, mode));
    EXPECT_EQ(call(), expected);
    EXPECT_EQ(cuStreamEndCapture(s, &graph),
              expected ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS);
  };
  const auto global = CU_STREAM_CAPTURE_MODE_GLOBAL,
             relaxed = CU_STREAM_CAPTURE_MODE_RELAXED;
  during(global, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
         [&] { return cuStreamSynchronize(s); });
  during(global, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
         [&] { return cuCtxSynchronize(); });
  during(global, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
         [&] { return cuMemAlloc_v2(&b, 4); });
  during(relaxed, CUDA_SUCCESS, [&] { return cuMemAlloc_v2(&b, 4); });
  during(global, CUDA_ERROR_CAPTURED_EVENT, [&] {
    EXPECT_CUDA(cuEventRecord(e, s));
    return cuEventSynchronize(e);
  });
  during(global, CUDA_ERROR_STREAM_CAPTURE_ISOLATION, [&] {
    EXPECT_CUDA(cuEventRecord(f, stream()));
    return cuStreamWaitEvent(s, f, 0);
  });
  EXPECT_EQ(cuStreamBeginCapture_v2(nullptr, global),
            CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(cuStreamEndCapture(s, &graph), CUDA_ERROR_ILLEGAL_STATE);
  // The default stream waits for blocking streams, which a capture is not done
  // for; streams that do not block are no matter.
  during(global, CUDA_SUCCESS,
         [&] { return launch(function("add"), 1, nullptr, a, 1u); });
  CUstream blocking = stream(0);
  EXPECT_CUDA(cuStreamBeginCapture_v2(blocking, global));
  EXPECT_EQ(launch(function("add"), 1, nullptr, a, 1u),
            CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
  EXPECT_EQ(cuStreamEndCapture(blocking, &graph),
            CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(read(a, 1)[0], 2u);
}

TEST_F(Capture, OnlyItsThreadMayEndIt) {
  CUstream s = stream();
  CUgraph graph = nullptr;
  EXPECT_CUDA(cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  std::thread([&] {
    EXPECT_CUDA(cuCtxSetCurrent(context));
    EXPECT_EQ(cuStreamEndCapture(s, &graph),
              CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
    // Its own allocations are no matter of that capture.
    CUdeviceptr pointer = 0;
    EXPECT_CUDA(cuMemAlloc_v2(&pointer, 4));
  }).join();
  EXPECT_CUDA(cuStreamEndCapture(s, &graph));
}

// --- graphs made by hand ---

TEST_F(Graph, NodesOfEveryKind) {
  CUdeviceptr a = buffer({7, 7}), b = buffer({0, 0});
  uint32_t back[2] = {}, value = 4;
  static bool called;
  called = false;
  CUgraph graph, child;
  CUgraphNode fill, add, copy, host, empty, inner, record;
  CUevent e = event();
  ASSERT_CUDA(cuGraphCreate(&graph, 0));
  CUDA_MEMSET_NODE_PARAMS set{a, 0, 100, 4, 2, 1};
  ASSERT_CUDA(cuGraphAddMemsetNode(&fill, graph, nullptr, 0, &set, context));
  void *params[] = {&a, &value};
  CUDA_KERNEL_NODE_PARAMS kernel{
      function("add"), 1, 1, 1, 2, 1, 1, 0, params, nullptr, nullptr, nullptr};
  ASSERT_CUDA(cuGraphAddKernelNode_v2(&add, graph, &fill, 1, &kernel));
  CUDA_MEMCPY3D c{};
  c.srcMemoryType = CU_MEMORYTYPE_DEVICE, c.srcDevice = a;
  c.dstMemoryType = CU_MEMORYTYPE_HOST, c.dstHost = back;
  c.WidthInBytes = 8, c.Height = c.Depth = 1;
  ASSERT_CUDA(cuGraphAddMemcpyNode(&copy, graph, &add, 1, &c, context));
  CUDA_HOST_NODE_PARAMS function{[](void *) { called = true; }, nullptr};
  ASSERT_CUDA(cuGraphAddHostNode(&host, graph, &copy, 1, &function));
  ASSERT_CUDA(cuGraphAddEmptyNode(&empty, graph, &host, 1));
  ASSERT_CUDA(cuGraphCreate(&child, 0));
  CUDA_MEMSET_NODE_PARAMS setB{b, 0, 9, 4, 2, 1};
  CUgraphNode fillB;
  ASSERT_CUDA(cuGraphAddMemsetNode(&fillB, child, nullptr, 0, &setB, context));
  ASSERT_CUDA(cuGraphAddChildGraphNode(&inner, graph, &empty, 1, child));
  ASSERT_CUDA(cuGraphAddEventRecordNode(&record, graph, &inner, 1, e));
  CUgraphNodeType type;
  const std::pair<CUgraphNode, CUgraphNodeType> kinds[] = {
      {fill, CU_GRAPH_NODE_TYPE_MEMSET},
      {add, CU_GRAPH_NODE_TYPE_KERNEL},
      {copy, CU_GRAPH_NODE_TYPE_MEMCPY},
      {host, CU_GRAPH_NODE_TYPE_HOST},
      {empty, CU_GRAPH_NODE_TYPE_EMPTY},
      {inner, CU_GRAPH_NODE_TYPE_GRAPH},
      {record, CU_GRAPH_NODE_TYPE_EVENT_RECORD}};
  for (auto [node, kind] : kinds) {
    EXPECT_CUDA(cuGraphNodeGetType(node, &type));
    EXPECT_EQ(type, kind);
  }
  CUgraphExec exec = instantiate(graph);
  EXPECT_CUDA(cuGraphLaunch(exec, stream()));
  EXPECT_THAT(back, testing::ElementsAre(104, 104));
  EXPECT_TRUE(called);
  EXPECT_EQ(read(b, 2), (std::vector<uint32_t>{9, 9}));
  // Other parameters for steps of the executable graph.
  value = 5;
  EXPECT_CUDA(cuGraphExecKernelNodeSetParams_v2(exec, add, &kernel));
  set.value = 200;
  EXPECT_CUDA(cuGraphExecMemsetNodeSetParams(exec, fill, &set, context));
  EXPECT_EQ(cuGraphExecMemsetNodeSetParams(exec, add, &set, context),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphLaunch(exec, stream()));
  EXPECT_THAT(back, testing::ElementsAre(205, 205));
  // The graph itself still has the old ones.
  CUDA_KERNEL_NODE_PARAMS got{};
  EXPECT_CUDA(cuGraphKernelNodeGetParams_v2(add, &got));
  EXPECT_EQ(*static_cast<uint32_t *>(got.kernelParams[1]), 4u);
  EXPECT_EQ(got.blockDimX, 2u);
}

TEST_F(Graph, OrderIsThatOfTheDependencies) {
  CUdeviceptr a = buffer({1});
  uint32_t ten = 10, three = 3;
  void *addParams[] = {&a, &ten}, *scaleParams[] = {&a, &three};
  CUDA_KERNEL_NODE_PARAMS add{
      function("add"), 1,       1,       1,      1, 1, 1, 0,
      addParams,       nullptr, nullptr, nullptr},
      scale{function("scale"), 1,       1,       1,      1, 1, 1, 0,
            scaleParams,       nullptr, nullptr, nullptr};
  CUgraph graph, clone;
  CUgraphNode first, second;
  ASSERT_CUDA(cuGraphCreate(&graph, 0));
  ASSERT_CUDA(cuGraphAddKernelNode_v2(&second, graph, nullptr, 0, &add));
  ASSERT_CUDA(cuGraphAddKernelNode_v2(&first, graph, nullptr, 0, &scale));
  EXPECT_CUDA(cuGraphAddDependencies_v2(graph, &first, &second, nullptr, 1));
  EXPECT_CUDA(cuGraphClone(&clone, graph));
  EXPECT_CUDA(cuGraphLaunch(instantiate(graph), nullptr));
  EXPECT_EQ(read(a, 1)[0], 13u);
  EXPECT_CUDA(cuGraphLaunch(instantiate(clone), nullptr));
  EXPECT_EQ(read(a, 1)[0], 49u);
  CUgraphNode before = nullptr;
  size_t n = 1;
  EXPECT_CUDA(cuGraphNodeGetDependencies_v2(second, &before, nullptr, &n));
  EXPECT_EQ(before, first);
  // A circle has no order.
  EXPECT_CUDA(cuGraphAddDependencies(graph, &second, &first, 1));
  CUgraphExec exec = nullptr;
  EXPECT_EQ(cuGraphInstantiateWithFlags(&exec, graph, 0),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphDestroyNode(first));
  EXPECT_CUDA(cuGraphInstantiateWithFlags(&exec, graph, 0));
  CUgraphNodeType type;
  EXPECT_EQ(cuGraphNodeGetType(first, &type), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Graph, UpdateTakesAGraphOfTheSameShape) {
  CUstream s = stream();
  CUdeviceptr x = buffer({1});
  auto capture = [&](uint32_t value, bool twice) {
    CUgraph graph = nullptr;
    EXPECT_CUDA(cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    EXPECT_CUDA(launch(function("add"), 1, s, x, value));
    if (twice)
      EXPECT_CUDA(cuMemsetD32Async(x, 0, 1, s));
    EXPECT_CUDA(cuStreamEndCapture(s, &graph));
    return graph;
  };
  CUgraphExec exec = instantiate(capture(10, false));
  CUgraphExecUpdateResultInfo info;
  EXPECT_CUDA(cuGraphExecUpdate_v2(exec, capture(20, false), &info));
  EXPECT_EQ(info.result, CU_GRAPH_EXEC_UPDATE_SUCCESS);
  EXPECT_CUDA(cuGraphLaunch(exec, s));
  EXPECT_EQ(read(x, 1)[0], 21u);
  EXPECT_EQ(cuGraphExecUpdate_v2(exec, capture(30, true), &info),
            CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
  EXPECT_EQ(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
  EXPECT_CUDA(cuGraphLaunch(exec, s));
  EXPECT_EQ(read(x, 1)[0], 41u);
}

TEST_F(Graph, AFaultEndsTheLaunch) {
  CUstream s = stream();
  CUdeviceptr x = buffer({1});
  EXPECT_CUDA(cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
  EXPECT_CUDA(launch(function("stop"), 1, s));
  EXPECT_CUDA(launch(function("add"), 1, s, x, 1u));
  CUgraph graph = nullptr;
  EXPECT_CUDA(cuStreamEndCapture(s, &graph));
  EXPECT_EQ(cuGraphLaunch(instantiate(graph), s), CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_EQ(*reinterpret_cast<uint32_t *>(x), 1u);
}
} // namespace
