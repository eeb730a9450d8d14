#ifndef RUNTIME_PTXSIM_DRIVER_FATBINARY_H
#define RUNTIME_PTXSIM_DRIVER_FATBINARY_H

// PTX text in what cuModuleLoadData takes: text, or nvcc's container of images.

#include "runtime/ptxsim/ptxsim.h"

#include <string>

namespace ptxsim::cuda {

/// The text of an image. Error: why there is none. An image says itself how
/// long it is.
Result<std::string> ptxOf(const void *image);

} // namespace ptxsim::cuda

#endif // RUNTIME_PTXSIM_DRIVER_FATBINARY_H
