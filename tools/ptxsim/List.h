#ifndef TOOLS_PTXSIM_LIST_H
#define TOOLS_PTXSIM_LIST_H

#include "runtime/ptxsim/ptxsim.h"

namespace ptxsim::tool {

/// --list: entries with parameters and resources, then the checks.
void list(const Module &module, const DeviceOptions &options);

} // namespace ptxsim::tool

#endif // TOOLS_PTXSIM_LIST_H
