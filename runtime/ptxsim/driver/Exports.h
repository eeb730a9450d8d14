#ifndef RUNTIME_PTXSIM_DRIVER_EXPORTS_H
#define RUNTIME_PTXSIM_DRIVER_EXPORTS_H

// Declares every function of the CUDA driver API that the library exports, so
// that a definition with other parameters does not compile.

#include "runtime/ptxsim/driver/CudaStructs.h"

namespace ptxsim::cuda {

#define CUDA_FUNCTION(symbol, version, parameters)                             \
  extern "C" __attribute__((visibility("default"))) CUresult symbol parameters;
#define CUDA_OLD_FUNCTION CUDA_FUNCTION
#include "runtime/ptxsim/driver/CudaFunctions.def"
#undef CUDA_OLD_FUNCTION
#undef CUDA_FUNCTION

} // namespace ptxsim::cuda

#endif // RUNTIME_PTXSIM_DRIVER_EXPORTS_H
