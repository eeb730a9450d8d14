// cuGetProcAddress: the newest version of a function that the program's CUDA
// version knows.

#include "runtime/ptxsim/driver/Driver.h"

#include <string_view>

using namespace ptxsim::cuda;

namespace {
struct Entry {
  std::string_view symbol;
  int version;
  void *function;
  std::string_view base() const {
    const size_t n = symbol.size();
    return n > 3 && symbol[n - 3] == '_' && symbol[n - 2] == 'v'
               ? symbol.substr(0, n - 3)
               : symbol;
  }
};

const std::vector<Entry> &entries() {
  static const std::vector<Entry> all = {
#define CUDA_FUNCTION(symbol, version, parameters)                             \
  {#symbol, version, reinterpret_cast<void *>(&symbol)},
#define CUDA_OLD_FUNCTION CUDA_FUNCTION
#include "runtime/ptxsim/driver/CudaFunctions.def"
#undef CUDA_OLD_FUNCTION
#undef CUDA_FUNCTION
  };
  return all;
}
} // namespace

CUresult ptxsim::cuda::cuGetProcAddress_v2(
    const char *symbol, void **pfn, int cudaVersion, cuuint64_t,
    CUdriverProcAddressQueryResult *symbolStatus) {
  if (!symbol || !pfn)
    return CUDA_ERROR_INVALID_VALUE;
  const Entry *best = nullptr;
  bool tooNew = false;
  for (const Entry &entry : entries()) {
    if (entry.base() != symbol && entry.symbol != symbol)
      continue;
    if (entry.version > cudaVersion)
      tooNew = true;
    else if (!best || entry.version > best->version)
      best = &entry;
  }
  *pfn = best ? best->function : nullptr;
  if (symbolStatus)
    *symbolStatus = best     ? CU_GET_PROC_ADDRESS_SUCCESS
                    : tooNew ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                             : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  return best || symbolStatus ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult ptxsim::cuda::cuGetProcAddress(const char *symbol, void **pfn,
                                        int cudaVersion, cuuint64_t flags) {
  return cuGetProcAddress_v2(symbol, pfn, cudaVersion, flags, nullptr);
}

/// The tables behind it are private to NVIDIA's libraries.
CUresult ptxsim::cuda::cuGetExportTable(const void **table, const CUuuid *) {
  if (table)
    *table = nullptr;
  return CUDA_ERROR_NOT_FOUND;
}
