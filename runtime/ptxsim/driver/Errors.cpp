#include "runtime/ptxsim/driver/Driver.h"

using namespace ptxsim::cuda;

namespace {
struct Entry {
  CUresult code;
  const char *name, *text;
};
constexpr Entry entries[] = {
#define CUDA_ERROR(name, number, text) {name, #name, text},
#include "runtime/ptxsim/driver/CudaErrors.def"
#undef CUDA_ERROR
};

CUresult look(CUresult error, const char **out, const char *Entry::*field) {
  if (!out)
    return CUDA_ERROR_INVALID_VALUE;
  *out = nullptr;
  for (const Entry &entry : entries)
    if (entry.code == error)
      *out = entry.*field;
  return *out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
} // namespace

CUresult ptxsim::cuda::cuGetErrorName(CUresult error, const char **pStr) {
  return look(error, pStr, &Entry::name);
}

CUresult ptxsim::cuda::cuGetErrorString(CUresult error, const char **pStr) {
  return look(error, pStr, &Entry::text);
}
