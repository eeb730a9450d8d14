// Nodes of graphs by kind: adding them, their parameters.

#include "runtime/ptxsim/driver/Functions.h"
#include "runtime/ptxsim/driver/Graphs.h"

using namespace ptxsim;
using namespace ptxsim::cuda;

namespace {

/// Adds what `make` makes, which gives a code, too.
template <class F>
CUresult add(CUgraphNode *out, CUgraph graph, const CUgraphNode *dependencies,
             size_t count, F make) {
  return inDriver([&](Driver &driver) {
    if (!out || !driver.graphs.has(graph) || (count && !dependencies))
      return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count; ++i)
      if (!driver.nodes.contains(dependencies[i]) ||
          dependencies[i]->graph != graph)
        return CUDA_ERROR_INVALID_VALUE;
    Work work;
    if (CUresult code = make(driver, work))
      return code;
    *out = addNode(driver, *graph, std::move(work),
                   {dependencies, dependencies + count});
    return CUDA_SUCCESS;
  });
}

CUresult makeKernel(Driver &driver, const CUDA_KERNEL_NODE_PARAMS *p,
                    Work &out) {
  if (!p)
    return CUDA_ERROR_INVALID_VALUE;
  const CUlaunchConfig config{
      p->gridDimX,  p->gridDimY,       p->gridDimZ, p->blockDimX, p->blockDimY,
      p->blockDimZ, p->sharedMemBytes, nullptr,     nullptr,      0};
  KernelWork work;
  const CUresult code =
      makeKernelWork(driver, config, p->func ? p->func : functionOf(p->kern),
                     p->kernelParams, p->extra, work);
  out = std::move(work);
  return code;
}

template <class W, class P> CUresult makeFrom(const P *params, Work &out) {
  if (!params)
    return CUDA_ERROR_INVALID_VALUE;
  out = W{*params};
  return CUDA_SUCCESS;
}

/// Calls f with the node's work of kind W.
template <class W, class F> CUresult withNode(CUgraphNode node, F f) {
  return inDriver([&](Driver &driver) {
    W *work =
        driver.nodes.contains(node) ? std::get_if<W>(&node->work) : nullptr;
    return work ? f(driver, *work) : CUDA_ERROR_INVALID_VALUE;
  });
}

/// The same for the step of an executable graph that was made of the node.
template <class W, class F>
CUresult withStep(CUgraphExec exec, CUgraphNode node, F f) {
  return inDriver([&](Driver &driver) {
    if (driver.execs.has(exec))
      for (CUgraphExec_st::Step &step : *exec->steps)
        if (step.node == node)
          if (W *work = std::get_if<W>(&step.work))
            return f(driver, *work);
    return CUDA_ERROR_INVALID_VALUE;
  });
}

/// New parameters for kernel work; launch attributes stay.
auto replaceKernel(const CUDA_KERNEL_NODE_PARAMS *params) {
  return [params](Driver &driver, KernelWork &work) {
    Work made;
    if (CUresult code = makeKernel(driver, params, made))
      return code;
    KernelWork &next = std::get<KernelWork>(made);
    next.cluster = work.cluster;
    next.cooperative = work.cooperative;
    work = std::move(next);
    return CUDA_SUCCESS;
  };
}

template <class W, class P> auto replace(const P *params, P W::*field) {
  return [=](Driver &, W &work) {
    if (!params)
      return CUDA_ERROR_INVALID_VALUE;
    work.*field = *params;
    return CUDA_SUCCESS;
  };
}

template <class W, class P> auto give(P *params, P W::*field) {
  return [=](Driver &, W &work) {
    if (!params)
      return CUDA_ERROR_INVALID_VALUE;
    *params = work.*field;
    return CUDA_SUCCESS;
  };
}

} // namespace

// --- kernels ---

CUresult ptxsim::cuda::cuGraphAddKernelNode_v2(
    CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
    size_t numDependencies, const CUDA_KERNEL_NODE_PARAMS *nodeParams) {
  return add(phGraphNode, hGraph, dependencies, numDependencies,
             [&](Driver &driver, Work &work) {
               return makeKernel(driver, nodeParams, work);
             });
}

CUresult ptxsim::cuda::cuGraphKernelNodeGetParams_v2(
    CUgraphNode hNode, CUDA_KERNEL_NODE_PARAMS *nodeParams) {
  return withNode<KernelWork>(hNode, [&](Driver &driver, KernelWork &work) {
    if (!nodeParams || !driver.functions.contains(work.function))
      return CUDA_ERROR_INVALID_VALUE;
    work.pointers.clear();
    for (const Param &param : work.function->kernel->params)
      work.pointers.push_back(work.params.data() + param.offset);
    *nodeParams = {work.function, work.grid.x,  work.grid.y,
                   work.grid.z,   work.block.x, work.block.y,
                   work.block.z,  work.shared,  work.pointers.data(),
                   nullptr,       nullptr,      work.function->module->context};
    return CUDA_SUCCESS;
  });
}

CUresult ptxsim::cuda::cuGraphKernelNodeSetParams_v2(
    CUgraphNode hNode, const CUDA_KERNEL_NODE_PARAMS *nodeParams) {
  return withNode<KernelWork>(hNode, replaceKernel(nodeParams));
}

CUresult ptxsim::cuda::cuGraphExecKernelNodeSetParams_v2(
    CUgraphExec hGraphExec, CUgraphNode hNode,
    const CUDA_KERNEL_NODE_PARAMS *nodeParams) {
  return withStep<KernelWork>(hGraphExec, hNode, replaceKernel(nodeParams));
}

// --- copies and fills ---

CUresult ptxsim::cuda::cuGraphAddMemcpyNode(
    CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
    size_t numDependencies, const CUDA_MEMCPY3D *copyParams, CUcontext) {
  return add(phGraphNode, hGraph, dependencies, numDependencies,
             [&](Driver &, Work &work) {
               return makeFrom<CopyWork>(copyParams, work);
             });
}

CUresult ptxsim::cuda::cuGraphMemcpyNodeGetParams(CUgraphNode hNode,
                                                  CUDA_MEMCPY3D *nodeParams) {
  return withNode<CopyWork>(hNode, give(nodeParams, &CopyWork::copy));
}

CUresult
ptxsim::cuda::cuGraphMemcpyNodeSetParams(CUgraphNode hNode,
                                         const CUDA_MEMCPY3D *nodeParams) {
  return withNode<CopyWork>(hNode, replace(nodeParams, &CopyWork::copy));
}

CUresult ptxsim::cuda::cuGraphExecMemcpyNodeSetParams(
    CUgraphExec hGraphExec, CUgraphNode hNode, const CUDA_MEMCPY3D *copyParams,
    CUcontext) {
  return withStep<CopyWork>(hGraphExec, hNode,
                            replace(copyParams, &CopyWork::copy));
}

CUresult ptxsim::cuda::cuGraphAddMemsetNode(
    CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
    size_t numDependencies, const CUDA_MEMSET_NODE_PARAMS *memsetParams,
    CUcontext) {
  return add(phGraphNode, hGraph, dependencies, numDependencies,
             [&](Driver &, Work &work) {
               return makeFrom<SetWork>(memsetParams, work);
             });
}

CUresult
ptxsim::cuda::cuGraphMemsetNodeGetParams(CUgraphNode hNode,
                                         CUDA_MEMSET_NODE_PARAMS *nodeParams) {
  return withNode<SetWork>(hNode, give(nodeParams, &SetWork::set));
}

CUresult ptxsim::cuda::cuGraphMemsetNodeSetParams(
    CUgraphNode hNode, const CUDA_MEMSET_NODE_PARAMS *nodeParams) {
  return withNode<SetWork>(hNode, replace(nodeParams, &SetWork::set));
}

CUresult ptxsim::cuda::cuGraphExecMemsetNodeSetParams(
    CUgraphExec hGraphExec, CUgraphNode hNode,
    const CUDA_MEMSET_NODE_PARAMS *memsetParams, CUcontext) {
  return withStep<SetWork>(hGraphExec, hNode,
                           replace(memsetParams, &SetWork::set));
}

// --- others ---

CUresult ptxsim::cuda::cuGraphAddHostNode(
    CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
    size_t numDependencies, const CUDA_HOST_NODE_PARAMS *nodeParams) {
  return add(phGraphNode, hGraph, dependencies, numDependencies,
             [&](Driver &, Work &work) {
               if (!nodeParams || !nodeParams->fn)
                 return CUDA_ERROR_INVALID_VALUE;
               work = HostWork{nodeParams->fn, nodeParams->userData};
               return CUDA_SUCCESS;
             });
}

CUresult ptxsim::cuda::cuGraphAddEmptyNode(CUgraphNode *phGraphNode,
                                           CUgraph hGraph,
                                           const CUgraphNode *dependencies,
                                           size_t numDependencies) {
  return add(phGraphNode, hGraph, dependencies, numDependencies,
             [](Driver &, Work &work) {
               work = EmptyWork{};
               return CUDA_SUCCESS;
             });
}

CUresult ptxsim::cuda::cuGraphAddChildGraphNode(CUgraphNode *phGraphNode,
                                                CUgraph hGraph,
                                                const CUgraphNode *dependencies,
                                                size_t numDependencies,
                                                CUgraph childGraph) {
  return add(phGraphNode, hGraph, dependencies, numDependencies,
             [&](Driver &driver, Work &work) {
               if (!driver.graphs.has(childGraph))
                 return CUDA_ERROR_INVALID_VALUE;
               ChildWork child{std::make_shared<std::vector<Work>>()};
               for (CUgraphNode node : orderOf(*childGraph))
                 child.steps->push_back(node->work);
               if (child.steps->size() != childGraph->nodes.size())
                 return CUDA_ERROR_INVALID_VALUE;
               work = std::move(child);
               return CUDA_SUCCESS;
             });
}

CUresult ptxsim::cuda::cuGraphAddEventRecordNode(
    CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
    size_t numDependencies, CUevent event) {
  return add(phGraphNode, hGraph, dependencies, numDependencies,
             [&](Driver &driver, Work &work) {
               work = RecordWork{event};
               return driver.events.has(event) ? CUDA_SUCCESS
                                               : CUDA_ERROR_INVALID_VALUE;
             });
}

CUresult ptxsim::cuda::cuGraphAddEventWaitNode(CUgraphNode *phGraphNode,
                                               CUgraph hGraph,
                                               const CUgraphNode *dependencies,
                                               size_t numDependencies,
                                               CUevent event) {
  return add(phGraphNode, hGraph, dependencies, numDependencies,
             [&](Driver &driver, Work &work) {
               work = WaitWork{event};
               return driver.events.has(event) ? CUDA_SUCCESS
                                               : CUDA_ERROR_INVALID_VALUE;
             });
}
