// Conversions of number formats: the device's side of NVIDIA's headers against
// their host side, which is ordinary C++.

#include "Device.cuh"

#include <cstring>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

namespace {

/// Every 16-bit pattern as a float with 2^16 values: the pattern's bits on top,
/// a few below, so that ties and what is next to them occur.
__host__ __device__ float pattern(uint32_t i, uint32_t low) {
  const uint32_t b = i << 16 | low;
#ifdef __CUDA_ARCH__
  return __uint_as_float(b);
#else
  float f;
  memcpy(&f, &b, sizeof f);
  return f;
#endif
}
constexpr uint32_t lows[] = {0, 1, 0x7fff, 0x8000, 0x8001};

__host__ __device__ uint32_t toFp8(uint32_t i, uint32_t low) {
  const float f = pattern(i, low);
  const __half_raw h = __half_raw{uint16_t(i)};
  return uint32_t(__nv_cvt_float_to_fp8(f, __NV_SATFINITE, __NV_E4M3)) |
         uint32_t(__nv_cvt_float_to_fp8(f, __NV_SATFINITE, __NV_E5M2)) << 8 |
         uint32_t(__nv_cvt_halfraw_to_fp8(h, __NV_SATFINITE, __NV_E4M3)) << 16 |
         uint32_t(__nv_cvt_halfraw_to_fp8(h, __NV_SATFINITE, __NV_E5M2)) << 24;
}

__host__ __device__ uint32_t fromFp8(uint32_t i) {
  const __half2_raw a = __nv_cvt_fp8x2_to_halfraw2(uint16_t(i), __NV_E4M3);
  const __half2_raw b = __nv_cvt_fp8x2_to_halfraw2(uint16_t(i), __NV_E5M2);
  return (uint32_t(a.x) | uint32_t(a.y) << 16) * 31 +
         (uint32_t(b.x) | uint32_t(b.y) << 16);
}

__host__ __device__ uint32_t bf16s(uint32_t i, uint32_t low) {
  const float f = pattern(i, low);
  const __nv_bfloat162 two = __floats2bfloat162_rn(f, -f);
  uint32_t both;
  memcpy(&both, &two, sizeof both);
  const __nv_bfloat16 down = __float2bfloat16_rd(f), zero = __float2bfloat16_rz(f);
  uint16_t d, z;
  memcpy(&d, &down, 2), memcpy(&z, &zero, 2);
  return both + d * 0x10001u + z * 0x101u;
}

__host__ __device__ uint32_t halves(uint32_t i, uint32_t low) {
  const float f = pattern(i, low);
  const __half2 two = __floats2half2_rn(f, f * 0.5f);
  const __half up = __float2half_ru(f), zero = __float2half_rz(f);
  const __half back = __half(__half_raw{uint16_t(i)});
  uint32_t both;
  uint16_t u, z;
  memcpy(&both, &two, sizeof both);
  memcpy(&u, &up, 2), memcpy(&z, &zero, 2);
  const float wide = __half2float(back);
  uint32_t w;
  memcpy(&w, &wide, 4);
  return both + u * 0x10001u + z * 0x101u + w;
}

template <class F> __global__ void all(uint32_t *out, F f) {
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = f(i);
}

/// f is evaluated for all 2^16 numbers on both sides.
template <class F> std::string compare(const char *what, F f) {
  corpus::Buffer<uint32_t> out(65536);
  all<<<256, 256>>>(out.get(), f);
  corpus::check(cudaDeviceSynchronize());
  std::vector<uint32_t> expected(65536);
  for (uint32_t i = 0; i < 65536; ++i)
    expected[i] = f(i);
  return corpus::differ(what, out.read(), expected);
}

struct ToFp8 {
  uint32_t low;
  __host__ __device__ uint32_t operator()(uint32_t i) const {
    return toFp8(i, low);
  }
};
struct FromFp8 {
  __host__ __device__ uint32_t operator()(uint32_t i) const {
    return fromFp8(i);
  }
};
struct Bf16 {
  uint32_t low;
  __host__ __device__ uint32_t operator()(uint32_t i) const {
    return bf16s(i, low);
  }
};
struct Half {
  uint32_t low;
  __host__ __device__ uint32_t operator()(uint32_t i) const {
    return halves(i, low);
  }
};
} // namespace

std::string corpus::fp8() {
  return guarded([] {
    std::string difference = compare("from fp8", FromFp8());
    for (uint32_t low : lows)
      difference += compare("to fp8", ToFp8{low});
    return difference;
  });
}

std::string corpus::bf16() {
  return guarded([] {
    std::string difference;
    for (uint32_t low : lows)
      difference += compare("bf16", Bf16{low});
    return difference;
  });
}

std::string corpus::half() {
  return guarded([] {
    std::string difference;
    for (uint32_t low : lows)
      difference += compare("half", Half{low});
    return difference;
  });
}
