// Number formats as nvcc 13.0 compiles them:
//   nvcc -arch=sm_90a -ptx -O3 -std=c++17 formats.cu -o formats.ptx

#include <cstdint>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

/// One block of 128 values per row: e4m3 with a scale, and back to bf16.
extern "C" __global__ void quantise(const float *in, uint8_t *out, float *scale,
                                    __nv_bfloat16 *back) {
  __shared__ float partial[4];
  int t = threadIdx.x;
  float x = in[blockIdx.x * 128 + t], m = fabsf(x);
  for (int o = 16; o; o /= 2)
    m = fmaxf(m, __shfl_xor_sync(0xffffffff, m, o));
  if (t % 32 == 0)
    partial[t / 32] = m;
  __syncthreads();
  m = fmaxf(fmaxf(partial[0], partial[1]), fmaxf(partial[2], partial[3]));
  float s = m > 0 ? m / 448.0f : 1.0f;
  __nv_fp8_e4m3 q(x / s);
  out[blockIdx.x * 128 + t] = q.__x;
  back[blockIdx.x * 128 + t] = __float2bfloat16(float(q) * s);
  if (t == 0)
    scale[blockIdx.x] = s;
}

/// Softmax of a row of 256 with exp2f, one warp.
extern "C" __global__ void softmax(const __nv_bfloat16 *in,
                                   __nv_bfloat16 *out) {
  int lane = threadIdx.x;
  const __nv_bfloat16 *row = in + blockIdx.x * 256;
  float v[8], m = -INFINITY, sum = 0;
  for (int i = 0; i < 8; ++i) {
    v[i] = __bfloat162float(row[lane + 32 * i]);
    m = fmaxf(m, v[i]);
  }
  for (int o = 16; o; o /= 2)
    m = fmaxf(m, __shfl_xor_sync(0xffffffff, m, o));
  for (int i = 0; i < 8; ++i) {
    v[i] = exp2f((v[i] - m) * 1.4426950408889634f);
    sum += v[i];
  }
  for (int o = 16; o; o /= 2)
    sum += __shfl_xor_sync(0xffffffff, sum, o);
  for (int i = 0; i < 8; ++i)
    out[blockIdx.x * 256 + lane + 32 * i] =
        __float2bfloat16(__fdividef(v[i], sum));
}

/// Packed half arithmetic: out = relu(a * b + c) and max(a, b).
extern "C" __global__ void packed(const __nv_bfloat162 *a,
                                  const __nv_bfloat162 *b,
                                  const __nv_bfloat162 *c, __nv_bfloat162 *fma,
                                  __nv_bfloat162 *max, __half2 *half) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  fma[i] = __hfma2_relu(a[i], b[i], c[i]);
  max[i] = __hmax2_nan(a[i], b[i]);
  float2 x = __bfloat1622float2(a[i]), y = __bfloat1622float2(b[i]);
  half[i] = __hadd2(__floats2half2_rn(x.x, x.y), __floats2half2_rn(y.x, y.y));
}
