// Compiled with: nvcc -arch=sm_90a -std=c++17 -ptx async_copy.cu
// cuda::barrier, cuda::pipeline, memcpy_async, bulk copies and tensor (TMA) copies.
#include <cuda.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/ptx>
#include <cooperative_groups.h>
namespace ptx = cuda::ptx;
using bar_t = cuda::barrier<cuda::thread_scope_block>;

extern "C" __global__ void barrier_copy(const float* in, float* out, int n) {
  __shared__ __align__(16) float s[1024];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ bar_t b;
  auto g = cooperative_groups::this_thread_block();
  if (threadIdx.x == 0) init(&b, blockDim.x);
  __syncthreads();
  for (int k = 0; k < n; ++k) {
    cuda::memcpy_async(g, s, in + k * 1024, cuda::aligned_size_t<16>(4096), b);
    b.arrive_and_wait();
    out[k * blockDim.x + threadIdx.x] = s[threadIdx.x ^ 1];
    b.wait(b.arrive());
  }
}
extern "C" __global__ void pipeline_copy(const float4* in, float4* out, int n) {
  constexpr int S = 3;
  __shared__ float4 s[S][256];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, S> st;
  auto g = cooperative_groups::this_thread_block();
  auto p = cuda::make_pipeline(g, &st);
  int f = 0;
  for (int k = 0; k < n; ++k) {
    for (; f < n && f < k + S; ++f) {
      p.producer_acquire();
      cuda::memcpy_async(g, s[f % S], in + f * 256, cuda::aligned_size_t<16>(4096), p);
      p.producer_commit();
    }
    p.consumer_wait();
    out[k * 256 + threadIdx.x] = s[k % S][255 - threadIdx.x];
    p.consumer_release();
  }
}
extern "C" __global__ void thread_pipeline(const int* in, int* out, int n) {
  __shared__ int s[2][128];
  auto p = cuda::make_pipeline();
  for (int k = 0; k < n + 1; ++k) {
    if (k < n) { p.producer_acquire(); cuda::memcpy_async(&s[k & 1][threadIdx.x], in + k * 128 + threadIdx.x, sizeof(int), p); p.producer_commit(); }
    if (k) { cuda::pipeline_consumer_wait_prior<1>(p); out[(k - 1) * 128 + threadIdx.x] = s[(k - 1) & 1][threadIdx.x]; p.consumer_release(); }
  }
  p.quit();
}
extern "C" __global__ void bulk_copy(const int* in, int* out, int* sum) {
  __shared__ __align__(128) int s[2048];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ bar_t b;
  if (threadIdx.x == 0) { init(&b, blockDim.x); ptx::fence_proxy_async(ptx::space_shared); }
  __syncthreads();
  bar_t::arrival_token t;
  if (threadIdx.x == 0) {
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, s, in + blockIdx.x * 2048, 8192, cuda::device::barrier_native_handle(b));
    t = cuda::device::barrier_arrive_tx(b, 1, 8192);
  } else t = b.arrive();
  b.wait(std::move(t));
  for (int i = threadIdx.x; i < 2048; i += blockDim.x) s[i] += i;
  ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (threadIdx.x == 0) {
    ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out + blockIdx.x * 2048, s, 8192);
    ptx::cp_reduce_async_bulk(ptx::space_global, ptx::space_shared, ptx::op_add, sum, s, 8192);
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>{});
  }
}
extern "C" __global__ void tma_copy(const __grid_constant__ CUtensorMap in, const __grid_constant__ CUtensorMap out, int n) {
  __shared__ __align__(1024) float s[2][64 * 32];
  __shared__ uint64_t full[2];
  if (threadIdx.x == 0) {
    for (int i = 0; i < 2; ++i) ptx::mbarrier_init(&full[i], 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();
  auto issue = [&](int k) {
    const int32_t c[2] = {0, k * 64};
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full[k & 1], sizeof(s[0]));
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, s[k & 1], &in, c, &full[k & 1]);
  };
  if (threadIdx.x == 0) issue(0);
  for (int k = 0; k < n; ++k) {
    if (threadIdx.x == 0 && k + 1 < n) { ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>{}); issue(k + 1); }
    while (!ptx::mbarrier_try_wait_parity(&full[k & 1], (k >> 1) & 1)) {}
    for (int i = threadIdx.x; i < 64 * 32; i += blockDim.x) s[k & 1][i] *= 2.f;
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0) {
      const int32_t c[2] = {0, k * 64};
      ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, &out, c, s[k & 1]);
      ptx::cp_async_bulk_commit_group();
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) ptx::cp_async_bulk_wait_group(ptx::n32_t<0>{});
}
