//===- RunStats.h - What a run executed -------------------------*- C++ -*-===//
#ifndef TOOLS_K2_RUN_RUNSTATS_H
#define TOOLS_K2_RUN_RUNSTATS_H

#include "runtime/Executor/Executor.h"

namespace k2run {

/// Writes the figures of a run as JSON to `path`, or to stdout if it is "-". A
/// figure that the device cannot tell is null.
k2rt::Status writeStats(const k2rt::Executor &executor,
                        const k2rt::Device &device, const std::string &path);

} // namespace k2run

#endif // TOOLS_K2_RUN_RUNSTATS_H
