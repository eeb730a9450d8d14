// Graphs: creation, structure, instantiation, launch. Nodes run one after the
// other in an order that their dependencies allow.

#include "runtime/ptxsim/driver/Graphs.h"

#include <algorithm>
#include <unordered_set>

using namespace ptxsim::cuda;

namespace {

template <class F> CUresult withGraph(CUgraph graph, F f) {
  return inDriver([&](Driver &driver) {
    return driver.graphs.has(graph) ? f(driver, *graph)
                                    : CUDA_ERROR_INVALID_VALUE;
  });
}

template <class F> CUresult withNode(CUgraphNode node, F f) {
  return inDriver([&](Driver &driver) {
    return driver.nodes.contains(node) ? f(driver, *node)
                                       : CUDA_ERROR_INVALID_VALUE;
  });
}

/// cuda.h's way of handing out lists: `count` is the room, then the number;
/// without an array only the number.
CUresult handOut(const std::vector<CUgraphNode> &nodes, CUgraphNode *out,
                 size_t *count) {
  if (!count)
    return CUDA_ERROR_INVALID_VALUE;
  if (out)
    for (size_t i = 0; i < *count; ++i)
      out[i] = i < nodes.size() ? nodes[i] : nullptr;
  *count = out ? std::min(*count, nodes.size()) : nodes.size();
  return CUDA_SUCCESS;
}

std::shared_ptr<std::vector<CUgraphExec_st::Step>>
stepsOf(const CUgraph_st &graph) {
  auto steps = std::make_shared<std::vector<CUgraphExec_st::Step>>();
  for (CUgraphNode node : orderOf(graph))
    steps->push_back({node, node->work});
  return steps->size() == graph.nodes.size() ? steps : nullptr;
}

CUresult instantiate(Driver &driver, CUgraphExec *out, CUgraph graph) {
  if (!out || !driver.graphs.has(graph))
    return CUDA_ERROR_INVALID_VALUE;
  auto exec = std::make_unique<CUgraphExec_st>();
  exec->steps = stepsOf(*graph);
  if (!exec->steps)
    return driver.fail(CUDA_ERROR_INVALID_VALUE,
                       "the graph's dependencies go in a circle");
  *out = driver.execs.add(std::move(exec));
  return CUDA_SUCCESS;
}

} // namespace

CUgraphNode ptxsim::cuda::addNode(Driver &driver, CUgraph_st &graph, Work work,
                                  std::vector<CUgraphNode> dependencies) {
  auto node = std::make_unique<CUgraphNode_st>();
  node->graph = &graph;
  node->work = std::move(work);
  node->dependencies = std::move(dependencies);
  driver.nodes.emplace(node.get(), &graph);
  graph.nodes.push_back(std::move(node));
  return graph.nodes.back().get();
}

void ptxsim::cuda::destroyGraph(Driver &driver, CUgraph graph) {
  for (const auto &node : graph->nodes)
    driver.nodes.erase(node.get());
  driver.graphs.erase(graph);
}

std::vector<CUgraphNode> ptxsim::cuda::orderOf(const CUgraph_st &graph) {
  std::vector<CUgraphNode> order;
  std::unordered_set<CUgraphNode> done;
  for (bool progress = true; progress && order.size() < graph.nodes.size();) {
    progress = false;
    for (const auto &node : graph.nodes) {
      if (done.contains(node.get()) ||
          !std::all_of(node->dependencies.begin(), node->dependencies.end(),
                       [&](CUgraphNode n) { return done.contains(n); }))
        continue;
      done.insert(node.get());
      order.push_back(node.get());
      progress = true;
    }
  }
  return order.size() == graph.nodes.size() ? order
                                            : std::vector<CUgraphNode>();
}

// --- graphs ---

CUresult ptxsim::cuda::cuGraphCreate(CUgraph *phGraph, unsigned flags) {
  return inDriver([&](Driver &driver) {
    if (!phGraph || flags)
      return CUDA_ERROR_INVALID_VALUE;
    *phGraph = driver.graphs.add(std::make_unique<CUgraph_st>());
    return CUDA_SUCCESS;
  });
}

CUresult ptxsim::cuda::cuGraphClone(CUgraph *phGraphClone,
                                    CUgraph originalGraph) {
  return withGraph(originalGraph, [&](Driver &driver, CUgraph_st &graph) {
    if (!phGraphClone)
      return CUDA_ERROR_INVALID_VALUE;
    CUgraph clone = driver.graphs.add(std::make_unique<CUgraph_st>());
    std::unordered_map<CUgraphNode, CUgraphNode> copies;
    for (const auto &node : graph.nodes)
      copies[node.get()] = addNode(driver, *clone, node->work, {});
    for (const auto &node : graph.nodes)
      for (CUgraphNode dependency : node->dependencies)
        copies[node.get()]->dependencies.push_back(copies[dependency]);
    *phGraphClone = clone;
    return CUDA_SUCCESS;
  });
}

CUresult ptxsim::cuda::cuGraphDestroy(CUgraph hGraph) {
  return withGraph(hGraph, [&](Driver &driver, CUgraph_st &graph) {
    if (isCaptured(driver, graph))
      return CUDA_ERROR_INVALID_VALUE;
    destroyGraph(driver, &graph);
    return CUDA_SUCCESS;
  });
}

CUresult ptxsim::cuda::cuGraphDestroyNode(CUgraphNode hNode) {
  return withNode(hNode, [&](Driver &driver, CUgraphNode_st &node) {
    CUgraph_st &graph = *node.graph;
    if (isCaptured(driver, graph)) // its streams go on behind the node
      return CUDA_ERROR_INVALID_VALUE;
    for (const auto &other : graph.nodes)
      std::erase(other->dependencies, &node);
    driver.nodes.erase(&node);
    std::erase_if(graph.nodes, [&](auto &n) { return n.get() == &node; });
    return CUDA_SUCCESS;
  });
}

CUresult ptxsim::cuda::cuGraphAddDependencies(CUgraph hGraph,
                                              const CUgraphNode *from,
                                              const CUgraphNode *to,
                                              size_t numDependencies) {
  return withGraph(hGraph, [&](Driver &driver, CUgraph_st &graph) {
    if (numDependencies && (!from || !to))
      return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < numDependencies; ++i)
      for (CUgraphNode node : {from[i], to[i]})
        if (!driver.nodes.contains(node) || node->graph != &graph)
          return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < numDependencies; ++i)
      to[i]->dependencies.push_back(from[i]);
    return CUDA_SUCCESS;
  });
}

CUresult ptxsim::cuda::cuGraphAddDependencies_v2(CUgraph hGraph,
                                                 const CUgraphNode *from,
                                                 const CUgraphNode *to,
                                                 const CUgraphEdgeData *,
                                                 size_t numDependencies) {
  return cuGraphAddDependencies(hGraph, from, to, numDependencies);
}

// --- structure ---

CUresult ptxsim::cuda::cuGraphNodeGetType(CUgraphNode hNode,
                                          CUgraphNodeType *type) {
  return withNode(hNode, [&](Driver &, CUgraphNode_st &node) {
    if (!type)
      return CUDA_ERROR_INVALID_VALUE;
    // Work has its alternatives in the order of the enum.
    *type = CUgraphNodeType(node.work.index());
    return CUDA_SUCCESS;
  });
}

CUresult ptxsim::cuda::cuGraphGetNodes(CUgraph hGraph, CUgraphNode *nodes,
                                       size_t *numNodes) {
  return withGraph(hGraph, [&](Driver &, CUgraph_st &graph) {
    std::vector<CUgraphNode> all;
    for (const auto &node : graph.nodes)
      all.push_back(node.get());
    return handOut(all, nodes, numNodes);
  });
}

CUresult ptxsim::cuda::cuGraphGetRootNodes(CUgraph hGraph,
                                           CUgraphNode *rootNodes,
                                           size_t *numRootNodes) {
  return withGraph(hGraph, [&](Driver &, CUgraph_st &graph) {
    std::vector<CUgraphNode> roots;
    for (const auto &node : graph.nodes)
      if (node->dependencies.empty())
        roots.push_back(node.get());
    return handOut(roots, rootNodes, numRootNodes);
  });
}

CUresult ptxsim::cuda::cuGraphGetEdges_v2(CUgraph hGraph, CUgraphNode *from,
                                          CUgraphNode *to,
                                          CUgraphEdgeData *edgeData,
                                          size_t *numEdges) {
  return withGraph(hGraph, [&](Driver &, CUgraph_st &graph) {
    std::vector<CUgraphNode> sources, targets;
    for (const auto &node : graph.nodes)
      for (CUgraphNode dependency : node->dependencies) {
        sources.push_back(dependency);
        targets.push_back(node.get());
      }
    if (!numEdges || !from != !to)
      return CUDA_ERROR_INVALID_VALUE;
    if (edgeData)
      std::fill_n(edgeData, std::min(*numEdges, sources.size()),
                  CUgraphEdgeData{});
    size_t room = *numEdges;
    if (to)
      handOut(targets, to, &room);
    return handOut(sources, from, numEdges);
  });
}

CUresult ptxsim::cuda::cuGraphNodeGetDependencies_v2(CUgraphNode hNode,
                                                     CUgraphNode *dependencies,
                                                     CUgraphEdgeData *,
                                                     size_t *numDependencies) {
  return withNode(hNode, [&](Driver &, CUgraphNode_st &node) {
    return handOut(node.dependencies, dependencies, numDependencies);
  });
}

CUresult ptxsim::cuda::cuGraphNodeGetDependentNodes_v2(
    CUgraphNode hNode, CUgraphNode *dependentNodes, CUgraphEdgeData *,
    size_t *numDependentNodes) {
  return withNode(hNode, [&](Driver &, CUgraphNode_st &node) {
    std::vector<CUgraphNode> dependents;
    for (const auto &other : node.graph->nodes)
      if (std::find(other->dependencies.begin(), other->dependencies.end(),
                    &node) != other->dependencies.end())
        dependents.push_back(other.get());
    return handOut(dependents, dependentNodes, numDependentNodes);
  });
}

// --- executable graphs ---

CUresult ptxsim::cuda::cuGraphInstantiateWithFlags(CUgraphExec *phGraphExec,
                                                   CUgraph hGraph,
                                                   unsigned long long) {
  return inDriver(
      [&](Driver &driver) { return instantiate(driver, phGraphExec, hGraph); });
}

CUresult ptxsim::cuda::cuGraphInstantiateWithParams(
    CUgraphExec *phGraphExec, CUgraph hGraph,
    CUDA_GRAPH_INSTANTIATE_PARAMS *instantiateParams) {
  if (!instantiateParams)
    return CUDA_ERROR_INVALID_VALUE;
  const CUresult code = cuGraphInstantiateWithFlags(phGraphExec, hGraph, 0);
  instantiateParams->hErrNode_out = nullptr;
  instantiateParams->result_out =
      code ? CUDA_GRAPH_INSTANTIATE_ERROR : CUDA_GRAPH_INSTANTIATE_SUCCESS;
  return code;
}

CUresult ptxsim::cuda::cuGraphUpload(CUgraphExec hGraphExec, CUstream) {
  return inContext([&](Driver &driver, CUctx_st &) {
    return driver.execs.has(hGraphExec) ? CUDA_SUCCESS
                                        : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult ptxsim::cuda::cuGraphLaunch(CUgraphExec hGraphExec, CUstream hStream) {
  return inContext([&](Driver &driver, CUctx_st &context) {
    if (!driver.execs.has(hGraphExec))
      return CUDA_ERROR_INVALID_VALUE;
    // Host functions run without the lock: the graph may go meanwhile.
    const auto steps = hGraphExec->steps;
    ChildWork all{std::make_shared<std::vector<Work>>()};
    for (const CUgraphExec_st::Step &step : *steps)
      all.steps->push_back(step.work);
    return submit(context, hStream, std::move(all));
  });
}

CUresult ptxsim::cuda::cuGraphExecDestroy(CUgraphExec hGraphExec) {
  return inDriver([&](Driver &driver) {
    return driver.execs.erase(hGraphExec) ? CUDA_SUCCESS
                                          : CUDA_ERROR_INVALID_VALUE;
  });
}

/// Takes over the parameters of a graph of the same structure.
CUresult
ptxsim::cuda::cuGraphExecUpdate_v2(CUgraphExec hGraphExec, CUgraph hGraph,
                                   CUgraphExecUpdateResultInfo *resultInfo) {
  return withGraph(hGraph, [&](Driver &driver, CUgraph_st &graph) {
    if (!driver.execs.has(hGraphExec) || !resultInfo)
      return CUDA_ERROR_INVALID_VALUE;
    *resultInfo = {CU_GRAPH_EXEC_UPDATE_SUCCESS, nullptr, nullptr};
    auto refuse = [&](CUgraphExecUpdateResult result, CUgraphNode node) {
      *resultInfo = {result, node, nullptr};
      return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
    };
    const auto steps = stepsOf(graph);
    const auto &old = *hGraphExec->steps;
    if (!steps)
      return refuse(CU_GRAPH_EXEC_UPDATE_ERROR, nullptr);
    if (steps->size() != old.size())
      return refuse(CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, nullptr);
    for (size_t i = 0; i < steps->size(); ++i)
      if ((*steps)[i].work.index() != old[i].work.index())
        return refuse(CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED,
                      (*steps)[i].node);
    // The nodes of the first graph keep naming the steps.
    auto updated = std::make_shared<std::vector<CUgraphExec_st::Step>>(*steps);
    for (size_t i = 0; i < steps->size(); ++i)
      (*updated)[i].node = old[i].node;
    hGraphExec->steps = updated;
    return CUDA_SUCCESS;
  });
}
