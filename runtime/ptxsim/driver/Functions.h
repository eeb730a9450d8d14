#ifndef RUNTIME_PTXSIM_DRIVER_FUNCTIONS_H
#define RUNTIME_PTXSIM_DRIVER_FUNCTIONS_H

#include "runtime/ptxsim/driver/Objects.h"

namespace ptxsim::cuda {

/// A CUkernel is a CUfunction under another name.
inline CUkernel kernelOf(CUfunction function) {
  return reinterpret_cast<CUkernel>(function);
}
inline CUfunction functionOf(CUkernel kernel) {
  return reinterpret_cast<CUfunction>(kernel);
}

/// CTAs of a kernel that a multiprocessor holds, as far as threads and shared
/// memory limit it. PTX does not tell the registers that ptxas will use.
int blocksPerSm(const CUfunc_st &function, int threads, size_t dynamicShared);
/// Threads a CTA may have at most.
int maxThreads(const CUfunc_st &function);

} // namespace ptxsim::cuda

#endif // RUNTIME_PTXSIM_DRIVER_FUNCTIONS_H
