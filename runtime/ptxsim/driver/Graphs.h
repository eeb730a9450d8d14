#ifndef RUNTIME_PTXSIM_DRIVER_GRAPHS_H
#define RUNTIME_PTXSIM_DRIVER_GRAPHS_H

#include "runtime/ptxsim/driver/Driver.h"

namespace ptxsim::cuda {

/// A new node after these.
CUgraphNode addNode(Driver &driver, CUgraph_st &graph, Work work,
                    std::vector<CUgraphNode> dependencies);
void destroyGraph(Driver &driver, CUgraph graph);
/// The nodes so that each comes after its dependencies; empty if they go in a
/// circle.
std::vector<CUgraphNode> orderOf(const CUgraph_st &graph);

/// Ends a capture that cannot end otherwise: its streams are free, its graph is
/// gone.
void abandon(Driver &driver, const std::shared_ptr<Capture> &capture);
/// Is the graph that of a capture under way?
bool isCaptured(const Driver &driver, const CUgraph_st &graph);
/// A captured stream: events carry what is to be waited for.
CUresult recordInCapture(CUstream_st &stream, CUevent_st &event);
CUresult waitInCapture(CUstream_st &stream, CUevent_st &event);

/// Checks a launch as the driver does, and copies its parameters.
CUresult makeKernelWork(Driver &driver, const CUlaunchConfig &config,
                        CUfunction function, void *const *kernelParams,
                        void *const *extra, KernelWork &out);

} // namespace ptxsim::cuda

#endif // RUNTIME_PTXSIM_DRIVER_GRAPHS_H
