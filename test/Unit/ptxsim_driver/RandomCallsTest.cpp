// Random sequences of calls with handles that are live, gone, or of another
// context, from one thread and from two: every code is one of CUDA's, and the
// sanitizers of the build have nothing to say.

#include "test/Unit/ptxsim_driver/Context.h"

#include <random>
#include <thread>

using namespace ptxsim::cuda;
using namespace ptxsim::cuda::test;

namespace {

class Caller {
public:
  explicit Caller(unsigned seed) : random(seed) {}
  void run(int calls) {
    renew();
    for (int i = 0; i < calls; ++i) {
      const CUresult code = call();
      const char *name = nullptr;
      ASSERT_EQ(cuGetErrorName(code, &name), CUDA_SUCCESS) << int(code);
      if (code == CUDA_SUCCESS)
        ++succeeded;
      // A context that is broken or gone teaches nothing more.
      if (code >= CUDA_ERROR_ILLEGAL_ADDRESS && code < CUDA_ERROR_NOT_PERMITTED)
        renew();
    }
  }
  void finish() {
    for (CUcontext c : contexts)
      cuCtxDestroy_v2(c);
    for (CUgraphExec e : execs)
      cuGraphExecDestroy(e);
    for (CUgraph g : graphs)
      cuGraphDestroy(g);
    while (cuCtxPopCurrent_v2(nullptr) == CUDA_SUCCESS) {
    }
  }
  int succeeded = 0;

private:
  unsigned below(unsigned n) { return unsigned(random() % n); }
  /// Mostly one of the last few: handles that are gone stay in the list.
  template <class T> T any(const std::vector<T> &from) {
    if (from.empty() || below(16) == 0)
      return T();
    const size_t n = below(8) ? std::min<size_t>(from.size(), 3) : from.size();
    return from[from.size() - 1 - below(unsigned(n))];
  }
  template <class T> CUresult keep(CUresult code, T made, std::vector<T> &in) {
    if (code == CUDA_SUCCESS)
      in.push_back(made);
    return code;
  }
  void renew() {
    cuCtxPopCurrent_v2(nullptr);
    CUcontext c = nullptr;
    keep(cuCtxCreate_v2(&c, 0, 0), c, contexts);
  }

  CUresult call() {
    CUcontext c = nullptr;
    CUstream s = nullptr;
    CUevent e = nullptr;
    CUgraph g = nullptr;
    CUgraphNode n = any(nodes);
    CUgraphExec x = nullptr;
    CUmodule m = nullptr;
    CUfunction f = any(functions);
    CUdeviceptr p = any(memory);
    uint32_t value = below(100);
    void *values[] = {&p, &value};
    switch (below(34)) {
    case 0:
      return below(20) ? CUDA_SUCCESS
                       : keep(cuCtxCreate_v2(&c, 0, 0), c, contexts);
    case 1:
      return below(30) ? CUDA_SUCCESS : cuCtxDestroy_v2(any(contexts));
    case 2:
      return cuCtxSetCurrent(any(contexts));
    case 3:
      return keep(cuStreamCreate(&s, below(2)), s, streams);
    case 4:
      return below(3) ? CUDA_SUCCESS : cuStreamDestroy_v2(any(streams));
    case 5:
      return keep(cuEventCreate(&e, 0), e, events);
    case 6:
      return below(3) ? CUDA_SUCCESS : cuEventDestroy_v2(any(events));
    case 7:
      return keep(cuMemAlloc_v2(&p, 256), p, memory);
    case 8:
      return below(4) ? CUDA_SUCCESS : cuMemFree_v2(p);
    case 9:
      if (below(4) == 0)
        return keep(cuModuleLoadData(&m, kernels.c_str()), m, modules);
      return CUDA_SUCCESS;
    case 10:
      return below(6) ? CUDA_SUCCESS : cuModuleUnload(any(modules));
    case 11:
      return keep(cuModuleGetFunction(&f, any(modules), "add"), f, functions);
    case 12:
    case 13:
      return cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, any(streams), values,
                            nullptr);
    case 14:
      return cuStreamBeginCapture_v2(any(streams),
                                     CUstreamCaptureMode(below(3)));
    case 15:
      return keep(cuStreamEndCapture(any(streams), &g), g, graphs);
    case 16:
    case 17:
      return cuEventRecord(any(events), any(streams));
    case 18:
    case 19:
      return cuStreamWaitEvent(any(streams), any(events), 0);
    case 20:
      return cuMemsetD32Async(p, 1, 64, any(streams));
    case 21:
      return keep(cuGraphCreate(&g, 0), g, graphs);
    case 22:
      return below(3) ? CUDA_SUCCESS : cuGraphDestroy(any(graphs));
    case 23: {
      const CUDA_KERNEL_NODE_PARAMS params{
          f, 1, 1, 1, 32, 1, 1, 0, values, nullptr, nullptr, nullptr};
      return keep(
          cuGraphAddKernelNode_v2(&n, any(graphs), &n, n ? 1 : 0, &params), n,
          nodes);
    }
    case 24: {
      const CUDA_HOST_NODE_PARAMS host{[](void *) {}, nullptr};
      return keep(cuGraphAddHostNode(&n, any(graphs), nullptr, 0, &host), n,
                  nodes);
    }
    case 25:
      return keep(cuGraphAddChildGraphNode(&n, any(graphs), nullptr, 0,
                                           below(8) ? nullptr : any(graphs)),
                  n, nodes);
    case 26:
      return below(3) ? CUDA_SUCCESS : cuGraphDestroyNode(n);
    case 27: {
      CUgraphNode to = any(nodes);
      return cuGraphAddDependencies(any(graphs), &n, &to, 1);
    }
    case 28:
      return keep(cuGraphInstantiateWithFlags(&x, any(graphs), 0), x, execs);
    case 29:
      return cuGraphLaunch(any(execs), any(streams));
    case 30:
      return below(3) ? CUDA_SUCCESS : cuGraphExecDestroy(any(execs));
    case 31: {
      CUgraphExecUpdateResultInfo info;
      return cuGraphExecUpdate_v2(any(execs), any(graphs), &info);
    }
    case 32: {
      CUstreamCaptureStatus status;
      const CUgraphNode *last = nullptr;
      size_t count = 0;
      const CUresult code = cuStreamGetCaptureInfo_v2(
          any(streams), &status, nullptr, &g, &last, &count);
      if (code == CUDA_SUCCESS && g)
        graphs.push_back(g);
      if (code == CUDA_SUCCESS && count)
        nodes.push_back(*last);
      return code;
    }
    default:
      return cuLaunchHostFunc(any(streams), [](void *) {}, nullptr);
    }
  }

  std::mt19937 random;
  std::vector<CUcontext> contexts;
  std::vector<CUstream> streams;
  std::vector<CUevent> events;
  std::vector<CUgraph> graphs;
  std::vector<CUgraphNode> nodes;
  std::vector<CUgraphExec> execs;
  std::vector<CUmodule> modules;
  std::vector<CUfunction> functions;
  std::vector<CUdeviceptr> memory;
};

/// Threads of their own: they begin without a context.
void callRandomly(unsigned firstSeed, unsigned step) {
  for (unsigned seed = firstSeed; seed < firstSeed + 8 * step; seed += step) {
    Caller caller(seed);
    caller.run(5000);
    EXPECT_GT(caller.succeeded, 1000);
    caller.finish();
  }
}

TEST_F(InContext, RandomCalls) {
  std::thread(callRandomly, 0, 1).join();
  EXPECT_EQ(read(buffer({3}), 1), std::vector<uint32_t>{3});
}

TEST_F(InContext, RandomCallsOfTwoThreads) {
  std::thread one(callRandomly, 100, 2), two(callRandomly, 101, 2);
  one.join();
  two.join();
  EXPECT_EQ(read(buffer({3}), 1), std::vector<uint32_t>{3});
}

} // namespace
