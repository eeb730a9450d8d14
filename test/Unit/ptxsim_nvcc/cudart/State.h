#ifndef TEST_UNIT_PTXSIM_NVCC_CUDART_STATE_H
#define TEST_UNIT_PTXSIM_NVCC_CUDART_STATE_H

// A CUDA runtime for tests: what programs that nvcc builds with `-cudart none`
// need of libcudart, over the driver API. NVIDIA's own cannot be used, as it
// asks the driver for private tables.

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace cudart {

/// What nvcc's start-up code registers for one translation unit.
struct Image {
  const void *fatBinary = nullptr;
  CUmodule module = nullptr;
};

struct Symbol {
  Image *image = nullptr;
  std::string name;
};

struct State {
  std::mutex mutex;
  std::vector<Image *> images;
  std::map<const void *, Symbol> functions, variables;
  std::map<void **, Symbol> managed;
  std::map<const void *, CUfunction> loaded;
  CUcontext context = nullptr;
};

State &state();

/// The calling thread's latest error.
cudaError_t remember(cudaError_t code);
/// Results of the driver have the runtime's numbers.
inline cudaError_t remember(CUresult code) {
  return remember(static_cast<cudaError_t>(code));
}
/// Makes the primary context current; for everything that needs one.
CUresult initialise();
/// Forgets everything in it, faults included.
CUresult reset();
CUresult functionOf(const void *host, CUfunction &out);
CUresult variableOf(const void *host, CUdeviceptr &out, size_t &bytes);

/// Initialises, calls the driver, remembers.
template <class F> cudaError_t call(F f) {
  if (CUresult code = initialise())
    return remember(code);
  return remember(f());
}

} // namespace cudart

#endif // TEST_UNIT_PTXSIM_NVCC_CUDART_STATE_H
