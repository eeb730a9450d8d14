#include "runtime/ptxsim/TensorMap.h"
#include "runtime/ptxsim/driver/Driver.h"

#include <cstring>

using namespace ptxsim;
using namespace ptxsim::cuda;

namespace {
CUresult encode(const TensorMapDesc &desc, CUtensorMap *out) {
  Result<TensorMap> map = encodeTiled(desc);
  if (!map)
    return locked([&](Driver &driver) {
      return driver.fail(CUDA_ERROR_INVALID_VALUE, map.message());
    });
  static_assert(sizeof *out == sizeof map->bytes);
  std::memcpy(out, map->bytes.data(), sizeof *out);
  return CUDA_SUCCESS;
}
} // namespace

CUresult ptxsim::cuda::cuTensorMapEncodeTiled(
    CUtensorMap *tensorMap, CUtensorMapDataType tensorDataType,
    cuuint32_t tensorRank, void *globalAddress, const cuuint64_t *globalDim,
    const cuuint64_t *globalStrides, const cuuint32_t *boxDim,
    const cuuint32_t *elementStrides, CUtensorMapInterleave interleave,
    CUtensorMapSwizzle swizzle, CUtensorMapL2promotion l2Promotion,
    CUtensorMapFloatOOBfill oobFill) {
  if (!tensorMap || reinterpret_cast<uintptr_t>(tensorMap) % 64 || !globalDim ||
      !boxDim || !elementStrides || tensorRank < 1 || tensorRank > 5 ||
      (tensorRank > 1 && !globalStrides))
    return CUDA_ERROR_INVALID_VALUE;
  TensorMapDesc desc;
  desc.type = TensorMapDesc::DataType(tensorDataType);
  desc.rank = tensorRank;
  desc.address = reinterpret_cast<uint64_t>(globalAddress);
  for (cuuint32_t i = 0; i < tensorRank; ++i) {
    desc.dims[i] = globalDim[i];
    if (i + 1 < tensorRank)
      desc.strides[i] = globalStrides[i];
    desc.box[i] = boxDim[i];
    desc.elementStrides[i] = elementStrides[i];
  }
  desc.interleave = interleave;
  desc.swizzle = TensorMapDesc::Swizzle(swizzle);
  desc.l2Promotion = l2Promotion;
  desc.fill = TensorMapDesc::OobFill(oobFill);
  return encode(desc, tensorMap);
}

CUresult ptxsim::cuda::cuTensorMapReplaceAddress(CUtensorMap *tensorMap,
                                                 void *globalAddress) {
  if (!tensorMap)
    return CUDA_ERROR_INVALID_VALUE;
  std::optional<TensorMapDesc> desc =
      decodeTiled(reinterpret_cast<const std::byte *>(tensorMap));
  if (!desc)
    return CUDA_ERROR_INVALID_VALUE;
  desc->address = reinterpret_cast<uint64_t>(globalAddress);
  return encode(*desc, tensorMap);
}
