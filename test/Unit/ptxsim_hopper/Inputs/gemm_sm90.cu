// D = A * B^T in bf16 with TMA, mbarriers and wgmma: A[M][K], B[N][K] row-major,
// float D. One producer warp, two consumer warpgroups of 64 rows each, a ring
// of stages. Compiled with:
//   nvcc -arch=sm_90a -ptx gemm_sm90.cu -o gemm_sm90.ptx
#include <cstdint>

constexpr int BM = 128, BN = 128, BK = 64, Stages = 3;

struct alignas(64) Map { uint8_t bytes[128]; };

struct Shared {
  alignas(1024) uint16_t a[Stages][BM * BK];
  alignas(1024) uint16_t b[Stages][BN * BK];
  alignas(8) uint64_t full[Stages], empty[Stages];
};

__device__ uint32_t window(const void *p) {
  return uint32_t(__cvta_generic_to_shared(p));
}
__device__ void init(uint64_t *b, int n) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(window(b)), "r"(n));
}
__device__ void wait(uint64_t *b, int parity) {
  asm volatile("{\n.reg .pred P1;\nLAB_WAIT:\n"
               "mbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1;\n"
               "@P1 bra DONE;\nbra LAB_WAIT;\nDONE:\n}" ::"r"(window(b)),
               "r"(parity));
}
__device__ void expect(uint64_t *b, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(
                   window(b)),
               "r"(bytes));
}
__device__ void arrive(uint64_t *b) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(window(b)));
}
__device__ void load(const Map *m, uint64_t *b, void *to, int x, int y) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::"
               "complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(window(to)),
               "l"(m), "r"(window(b)), "r"(x), "r"(y)
               : "memory");
}
__device__ uint64_t descriptor(const void *p) {
  // K-major, 128-byte swizzle, 1024 bytes from 8 rows to the next.
  return uint64_t(window(p) >> 4) | 1ull << 16 | uint64_t(1024 >> 4) << 32 |
         1ull << 62;
}

__device__ void multiply(float (&d)[64], uint64_t a, uint64_t b) {
#define D8(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, "
      "%30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, "
      "%44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, "
      "%58, %59, %60, %61, %62, %63}, %64, %65, 1, 1, 1, 0, 0;"
      : D8(0), D8(8), D8(16), D8(24), D8(32), D8(40), D8(48), D8(56)
      : "l"(a), "l"(b));
}

extern "C" __global__ void __launch_bounds__(384)
    gemm(const __grid_constant__ Map mapA, const __grid_constant__ Map mapB,
         float *out, int M, int N, int K) {
  extern __shared__ __align__(1024) uint8_t raw[];
  Shared &s = *reinterpret_cast<Shared *>(raw);
  const int group = threadIdx.x / 128, row = blockIdx.y * BM,
            column = blockIdx.x * BN, steps = K / BK;
  if (threadIdx.x == 0)
    for (int i = 0; i < Stages; ++i)
      init(&s.full[i], 1), init(&s.empty[i], 2);
  __syncthreads();
  if (group == 2) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x == 256)
      for (int i = 0; i < steps; ++i) {
        const int stage = i % Stages, phase = i / Stages & 1;
        wait(&s.empty[stage], phase ^ 1);
        expect(&s.full[stage], (BM + BN) * BK * 2);
        load(&mapA, &s.full[stage], s.a[stage], i * BK, row);
        load(&mapB, &s.full[stage], s.b[stage], i * BK, column);
      }
    return;
  }
  asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
  float d[64] = {};
  for (int i = 0; i < steps; ++i) {
    const int stage = i % Stages, phase = i / Stages & 1;
    wait(&s.full[stage], phase);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    for (int k = 0; k < BK / 16; ++k)
      multiply(d, descriptor(s.a[stage] + group * 64 * BK) + k * 2,
               descriptor(s.b[stage]) + k * 2);
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    asm volatile("bar.sync %0, 128;" ::"r"(group + 1) : "memory");
    if (threadIdx.x % 128 == 0)
      arrive(&s.empty[stage]);
  }
  const int lane = threadIdx.x % 32, warp = threadIdx.x % 128 / 32;
  const int r = row + group * 64 + warp * 16 + lane / 4;
  for (int j = 0; j < BN / 8; ++j) {
    const int c = column + j * 8 + lane % 4 * 2;
    for (int h = 0; h < 2; ++h)
      if (r + h * 8 < M && c < N) {
        out[size_t(r + h * 8) * N + c] = d[j * 4 + h * 2];
        out[size_t(r + h * 8) * N + c + 1] = d[j * 4 + h * 2 + 1];
      }
  }
}
