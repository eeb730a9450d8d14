#ifndef RUNTIME_PTXSIM_DRIVER_FUNCTIONS_H
#define RUNTIME_PTXSIM_DRIVER_FUNCTIONS_H

#include "runtime/ptxsim/driver/Driver.h"
#include "runtime/ptxsim/driver/Objects.h"

namespace ptxsim::cuda {

/// A CUkernel is a CUfunction under another name.
inline CUkernel kernelOf(CUfunction function) {
  return reinterpret_cast<CUkernel>(function);
}
inline CUfunction functionOf(CUkernel kernel) {
  return reinterpret_cast<CUfunction>(kernel);
}

/// f(function) in the driver, or the error of a handle that is none.
template <class F> CUresult withFunction(CUfunction function, F f) {
  return inDriver([&](Driver &driver) {
    return driver.functions.contains(function) ? f(*function)
                                               : CUDA_ERROR_INVALID_HANDLE;
  });
}

/// Registers of a thread: what PTXSIM_OPTIONS says, else .maxnreg, else the
/// most that let .minnctapersm CTAs run. 0: unknown, they limit nothing.
int registersOf(const CUfunc_st &function);
/// The most registers of a thread with which `blocks` of the largest CTAs fit
/// into a multiprocessor.
int mostRegisters(const CUfunc_st &function, int blocks);
/// Do the registers of a multiprocessor suffice for a CTA of so many threads?
bool registersFit(const CUfunc_st &function, int threads);
/// CTAs of a kernel that a multiprocessor holds, by threads, shared memory and
/// registers.
int blocksPerSm(const CUfunc_st &function, int threads, size_t dynamicShared);
/// Threads a CTA may have at most.
int maxThreads(const CUfunc_st &function);

} // namespace ptxsim::cuda

#endif // RUNTIME_PTXSIM_DRIVER_FUNCTIONS_H
