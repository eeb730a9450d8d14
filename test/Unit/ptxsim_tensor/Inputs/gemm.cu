// Small GEMMs for the simulator's tests, compiled once by
//   nvcc -arch=sm_90a -ptx -O3 -std=c++17 gemm.cu -o gemm.ptx
// with nvcc 13.0. What they test: cp.async with zero fill and groups, ldmatrix
// with and without .trans, swizzled shared memory, mma of several types, and
// another compiler's idea of control flow around them.

#include <cstdint>
#include <cuda_bf16.h>

namespace {

constexpr int tileM = 64, tileN = 64, tileK = 32, stages = 3;

__device__ uint32_t sharedAddress(const void *p) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}

__device__ void copyAsync(uint32_t to, const void *from, int bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;\n" ::"r"(to),
               "l"(from), "r"(bytes));
}

__device__ void commit() { asm volatile("cp.async.commit_group;\n"); }
template <int n> __device__ void wait() {
  asm volatile("cp.async.wait_group %0;\n" ::"n"(n));
}

__device__ void loadMatrix4(uint32_t (&r)[4], uint32_t address) {
  asm volatile(
      "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\n"
      : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
      : "r"(address));
}
__device__ void loadMatrix4Transposed(uint32_t (&r)[4], uint32_t address) {
  asm volatile(
      "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];\n"
      : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
      : "r"(address));
}

__device__ void mma(float (&d)[4], const uint32_t (&a)[4], uint32_t b0,
                    uint32_t b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
               "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
               "{%0, %1, %2, %3};\n"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/// Byte offset of the 16-byte chunk c of row r in rows of 64 bytes: two rows
/// make a line of 128 bytes, and the chunks of four lines are permuted.
__device__ int swizzle64(int r, int c) {
  int chunk = (r & 1) * 4 + c;
  return (r >> 1) * 128 + ((chunk ^ ((r >> 1) & 7)) * 16);
}
/// The same for rows of 128 bytes.
__device__ int swizzle128(int r, int c) { return r * 128 + ((c ^ (r & 7)) * 16); }

} // namespace

/// C[M,N] = A[M,K] * B[N,K]^T, bf16 in, float out; K a multiple of 8.
extern "C" __global__ void __launch_bounds__(128)
    gemm_nt(const __nv_bfloat16 *A, const __nv_bfloat16 *B, float *C, int M,
            int N, int K) {
  __shared__ __align__(128) char a[stages][tileM * tileK * 2];
  __shared__ __align__(128) char b[stages][tileN * tileK * 2];
  int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
  int row0 = blockIdx.y * tileM, column0 = blockIdx.x * tileN;
  int warpM = warp / 2 * 32, warpN = warp % 2 * 32;

  auto load = [&](int stage, int k0) {
    for (int i = thread; i < tileM * 4; i += 128) {
      int r = i / 4, c = i % 4, k = k0 + c * 8;
      bool in = row0 + r < M && k < K;
      copyAsync(sharedAddress(a[stage]) + swizzle64(r, c),
                in ? A + int64_t(row0 + r) * K + k : A, in ? 16 : 0);
      in = column0 + r < N && k < K;
      copyAsync(sharedAddress(b[stage]) + swizzle64(r, c),
                in ? B + int64_t(column0 + r) * K + k : B, in ? 16 : 0);
    }
  };

  float acc[2][4][4] = {};
  int steps = (K + tileK - 1) / tileK;
  for (int s = 0; s < stages - 1; ++s) {
    if (s < steps)
      load(s, s * tileK);
    commit();
  }
  for (int step = 0; step < steps; ++step) {
    wait<stages - 2>();
    __syncthreads();
    int next = step + stages - 1;
    if (next < steps)
      load(next % stages, next * tileK);
    commit();
    uint32_t sa = sharedAddress(a[step % stages]),
             sb = sharedAddress(b[step % stages]);
#pragma unroll
    for (int kk = 0; kk < 2; ++kk) {
      uint32_t fa[2][4], fb[2][4];
#pragma unroll
      for (int m = 0; m < 2; ++m)
        loadMatrix4(fa[m], sa + swizzle64(warpM + m * 16 + lane % 16,
                                          kk * 2 + lane / 16));
#pragma unroll
      for (int n = 0; n < 2; ++n)
        loadMatrix4(fb[n], sb + swizzle64(warpN + n * 16 + lane % 8 +
                                              lane / 16 * 8,
                                          kk * 2 + lane / 8 % 2));
#pragma unroll
      for (int m = 0; m < 2; ++m)
#pragma unroll
        for (int n = 0; n < 4; ++n)
          mma(acc[m][n], fa[m], fb[n / 2][n % 2 * 2], fb[n / 2][n % 2 * 2 + 1]);
    }
  }
#pragma unroll
  for (int m = 0; m < 2; ++m)
#pragma unroll
    for (int n = 0; n < 4; ++n)
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        int r = row0 + warpM + m * 16 + lane / 4 + i / 2 * 8;
        int c = column0 + warpN + n * 8 + lane % 4 * 2 + i % 2;
        if (r < M && c < N)
          C[int64_t(r) * N + c] = acc[m][n][i];
      }
}

/// C[M,N] = A[M,K] * B[K,N]: B's tile goes through ldmatrix.trans, the result
/// is rounded to bf16 and stored in pairs; M, N multiples of 64, K of 32.
extern "C" __global__ void __launch_bounds__(128)
    gemm_nn(const __nv_bfloat16 *A, const __nv_bfloat16 *B, __nv_bfloat16 *C,
            int M, int N, int K) {
  __shared__ __align__(128) char a[2][tileM * tileK * 2];
  __shared__ __align__(128) char b[2][tileK * tileN * 2];
  int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
  int row0 = blockIdx.y * tileM, column0 = blockIdx.x * tileN;

  auto load = [&](int stage, int k0) {
    for (int i = thread; i < tileM * 4; i += 128) {
      int r = i / 4, c = i % 4;
      copyAsync(sharedAddress(a[stage]) + swizzle64(r, c),
                A + int64_t(row0 + r) * K + k0 + c * 8, 16);
    }
    for (int i = thread; i < tileK * 8; i += 128) {
      int r = i / 8, c = i % 8;
      copyAsync(sharedAddress(b[stage]) + swizzle128(r, c),
                B + int64_t(k0 + r) * N + column0 + c * 8, 16);
    }
    commit();
  };

  float acc[8][4] = {};
  load(0, 0);
  for (int k0 = 0, stage = 0; k0 < K; k0 += tileK, stage ^= 1) {
    if (k0 + tileK < K) {
      load(stage ^ 1, k0 + tileK);
      wait<1>();
    } else {
      wait<0>();
    }
    __syncthreads();
#pragma unroll
    for (int kk = 0; kk < 2; ++kk) {
      uint32_t fa[4];
      loadMatrix4(fa, sharedAddress(a[stage]) +
                          swizzle64(warp * 16 + lane % 16, kk * 2 + lane / 16));
#pragma unroll
      for (int n = 0; n < 4; ++n) {
        uint32_t fb[4];
        loadMatrix4Transposed(
            fb, sharedAddress(b[stage]) +
                    swizzle128(kk * 16 + lane % 16, n * 2 + lane / 16));
        mma(acc[2 * n], fa, fb[0], fb[1]);
        mma(acc[2 * n + 1], fa, fb[2], fb[3]);
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int n = 0; n < 8; ++n)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      int r = row0 + warp * 16 + lane / 4 + half * 8;
      int c = column0 + n * 8 + lane % 4 * 2;
      *reinterpret_cast<__nv_bfloat162 *>(C + int64_t(r) * N + c) =
          __floats2bfloat162_rn(acc[n][2 * half], acc[n][2 * half + 1]);
    }
}

/// C[16,8] = A[16,K] * B[8,K]^T in e4m3, one warp, K a multiple of 32;
/// fragments straight from global memory.
extern "C" __global__ void fp8_dot(const uint8_t *A, const uint8_t *B, float *C,
                                   int K) {
  int lane = threadIdx.x, g = lane / 4, t = lane % 4;
  float d[4] = {};
  for (int k = 0; k < K; k += 32) {
    auto word = [&](const uint8_t *m, int r, int c) {
      return *reinterpret_cast<const uint32_t *>(m + r * K + k + c);
    };
    uint32_t a0 = word(A, g, 4 * t), a1 = word(A, g + 8, 4 * t),
             a2 = word(A, g, 4 * t + 16), a3 = word(A, g + 8, 4 * t + 16);
    uint32_t b0 = word(B, g, 4 * t), b1 = word(B, g, 4 * t + 16);
    asm volatile("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};\n"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
  }
  C[g * 8 + 2 * t] = d[0], C[g * 8 + 2 * t + 1] = d[1];
  C[(g + 8) * 8 + 2 * t] = d[2], C[(g + 8) * 8 + 2 * t + 1] = d[3];
}
