// Copies and fills, synchronous and in streams.

#include "runtime/ptxsim/driver/Driver.h"

#include <utility>

using namespace ptxsim;
using namespace ptxsim::cuda;

namespace {

/// Puts work into a stream; without one it is what a synchronous call does.
CUresult put(CUstream stream, Work work) {
  return inContext([&](Driver &, CUctx_st &context) {
    return submit(context, stream, std::move(work));
  });
}

CUresult copy(CUmemorytype to, CUdeviceptr destination, CUmemorytype from,
              CUdeviceptr source, size_t bytes, CUstream stream = nullptr) {
  return put(stream, linearCopy(to, destination, from, source, bytes));
}

CUdeviceptr pointer(const void *host) {
  return reinterpret_cast<CUdeviceptr>(host);
}

CUresult copy2D(const CUDA_MEMCPY2D *c, CUstream stream = nullptr) {
  if (!c)
    return CUDA_ERROR_INVALID_VALUE;
  // NOLINTNEXTLINE(bugprone-invalid-enum-default-initialization): set below
  CUDA_MEMCPY3D d{};
  d.srcXInBytes = c->srcXInBytes, d.srcY = c->srcY;
  d.srcMemoryType = c->srcMemoryType;
  d.srcHost = c->srcHost, d.srcDevice = c->srcDevice;
  d.srcPitch = c->srcPitch;
  d.dstXInBytes = c->dstXInBytes, d.dstY = c->dstY;
  d.dstMemoryType = c->dstMemoryType;
  d.dstHost = c->dstHost, d.dstDevice = c->dstDevice;
  d.dstPitch = c->dstPitch;
  d.WidthInBytes = c->WidthInBytes, d.Height = c->Height, d.Depth = 1;
  return put(stream, CopyWork{d});
}

CUresult copy3D(const CUDA_MEMCPY3D *c, CUstream stream = nullptr) {
  return c ? put(stream, CopyWork{*c}) : CUDA_ERROR_INVALID_VALUE;
}

CUresult set(CUdeviceptr to, size_t pitch, unsigned value, unsigned bytes,
             size_t width, size_t height, CUstream stream = nullptr) {
  return put(stream, SetWork{{to, pitch, value, bytes, width, height}});
}

constexpr CUmemorytype host = CU_MEMORYTYPE_HOST, device = CU_MEMORYTYPE_DEVICE,
                       unified = CU_MEMORYTYPE_UNIFIED;

} // namespace

CUresult ptxsim::cuda::cuMemcpy(CUdeviceptr dst, CUdeviceptr src,
                                size_t ByteCount) {
  return copy(unified, dst, unified, src, ByteCount);
}

CUresult ptxsim::cuda::cuMemcpyHtoD_v2(CUdeviceptr dst, const void *src,
                                       size_t ByteCount) {
  return copy(device, dst, host, pointer(src), ByteCount);
}

CUresult ptxsim::cuda::cuMemcpyDtoH_v2(void *dst, CUdeviceptr src,
                                       size_t ByteCount) {
  return copy(host, pointer(dst), device, src, ByteCount);
}

CUresult ptxsim::cuda::cuMemcpyDtoD_v2(CUdeviceptr dst, CUdeviceptr src,
                                       size_t ByteCount) {
  return copy(device, dst, device, src, ByteCount);
}

CUresult ptxsim::cuda::cuMemcpy2D_v2(const CUDA_MEMCPY2D *pCopy) {
  return copy2D(pCopy);
}

CUresult ptxsim::cuda::cuMemcpy3D_v2(const CUDA_MEMCPY3D *pCopy) {
  return copy3D(pCopy);
}

CUresult ptxsim::cuda::cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D *pCopy) {
  return copy2D(pCopy);
}

CUresult ptxsim::cuda::cuMemsetD8_v2(CUdeviceptr dst, unsigned char value,
                                     size_t N) {
  return set(dst, 0, value, 1, N, 1);
}

CUresult ptxsim::cuda::cuMemsetD2D8_v2(CUdeviceptr dst, size_t pitch,
                                       unsigned char value, size_t Width,
                                       size_t Height) {
  return set(dst, pitch, value, 1, Width, Height);
}

CUresult ptxsim::cuda::cuMemsetD16_v2(CUdeviceptr dst, unsigned short value,
                                      size_t N) {
  return set(dst, 0, value, 2, N, 1);
}

CUresult ptxsim::cuda::cuMemsetD2D16_v2(CUdeviceptr dst, size_t pitch,
                                        unsigned short value, size_t Width,
                                        size_t Height) {
  return set(dst, pitch, value, 2, Width, Height);
}

CUresult ptxsim::cuda::cuMemsetD32_v2(CUdeviceptr dst, unsigned value,
                                      size_t N) {
  return set(dst, 0, value, 4, N, 1);
}

CUresult ptxsim::cuda::cuMemsetD2D32_v2(CUdeviceptr dst, size_t pitch,
                                        unsigned value, size_t Width,
                                        size_t Height) {
  return set(dst, pitch, value, 4, Width, Height);
}

CUresult ptxsim::cuda::cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src,
                                     size_t ByteCount, CUstream hStream) {
  return copy(unified, dst, unified, src, ByteCount, hStream);
}

CUresult ptxsim::cuda::cuMemcpyHtoDAsync_v2(CUdeviceptr dst, const void *src,
                                            size_t ByteCount,
                                            CUstream hStream) {
  return copy(device, dst, host, pointer(src), ByteCount, hStream);
}

CUresult ptxsim::cuda::cuMemcpyDtoHAsync_v2(void *dst, CUdeviceptr src,
                                            size_t ByteCount,
                                            CUstream hStream) {
  return copy(host, pointer(dst), device, src, ByteCount, hStream);
}

CUresult ptxsim::cuda::cuMemcpyDtoDAsync_v2(CUdeviceptr dst, CUdeviceptr src,
                                            size_t ByteCount,
                                            CUstream hStream) {
  return copy(device, dst, device, src, ByteCount, hStream);
}

CUresult ptxsim::cuda::cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *pCopy,
                                          CUstream hStream) {
  return copy2D(pCopy, hStream);
}

CUresult ptxsim::cuda::cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D *pCopy,
                                          CUstream hStream) {
  return copy3D(pCopy, hStream);
}

CUresult ptxsim::cuda::cuMemsetD8Async(CUdeviceptr dst, unsigned char value,
                                       size_t N, CUstream hStream) {
  return set(dst, 0, value, 1, N, 1, hStream);
}

CUresult ptxsim::cuda::cuMemsetD2D8Async(CUdeviceptr dst, size_t pitch,
                                         unsigned char value, size_t Width,
                                         size_t Height, CUstream hStream) {
  return set(dst, pitch, value, 1, Width, Height, hStream);
}

CUresult ptxsim::cuda::cuMemsetD16Async(CUdeviceptr dst, unsigned short value,
                                        size_t N, CUstream hStream) {
  return set(dst, 0, value, 2, N, 1, hStream);
}

CUresult ptxsim::cuda::cuMemsetD2D16Async(CUdeviceptr dst, size_t pitch,
                                          unsigned short value, size_t Width,
                                          size_t Height, CUstream hStream) {
  return set(dst, pitch, value, 2, Width, Height, hStream);
}

CUresult ptxsim::cuda::cuMemsetD32Async(CUdeviceptr dst, unsigned value,
                                        size_t N, CUstream hStream) {
  return set(dst, 0, value, 4, N, 1, hStream);
}

CUresult ptxsim::cuda::cuMemsetD2D32Async(CUdeviceptr dst, size_t pitch,
                                          unsigned value, size_t Width,
                                          size_t Height, CUstream hStream) {
  return set(dst, pitch, value, 4, Width, Height, hStream);
}
