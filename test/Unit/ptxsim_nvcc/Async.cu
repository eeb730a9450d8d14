// libcu++: barriers, pipelines, asynchronous copies to shared memory.

#include "Device.cuh"

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>

namespace cg = cooperative_groups;

namespace {
constexpr int threads = 128;

/// Two halves of a block that hand values to each other over barriers.
__global__ void handOver(uint32_t *out, int rounds) {
  using Barrier = cuda::barrier<cuda::thread_scope_block>;
  __shared__ Barrier ready, filled;
  __shared__ uint32_t cells[threads / 2];
  if (threadIdx.x == 0) {
    init(&ready, threads);
    init(&filled, threads);
  }
  __syncthreads();
  const unsigned i = threadIdx.x % (threads / 2);
  uint32_t sum = 0;
  if (threadIdx.x < threads / 2) {
    for (int r = 0; r < rounds; ++r) {
      ready.arrive_and_wait();
      cells[i] = uint32_t(r) * 1000 + i;
      (void)filled.arrive();
    }
  } else {
    (void)ready.arrive();
    for (int r = 0; r < rounds; ++r) {
      filled.arrive_and_wait();
      sum += cells[threads / 2 - 1 - i];
      (void)ready.arrive();
    }
    out[i] = sum;
  }
}

/// Two stages: a tile arrives while the one before is summed up.
__global__ void stages(const uint32_t *in, uint32_t *out, int tiles) {
  constexpr unsigned depth = 2;
  __shared__ uint32_t tile[depth][threads];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, depth> state;
  const auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  uint32_t sum = 0;
  int fetched = 0;
  for (int t = 0; t < tiles; ++t) {
    for (; fetched < tiles && fetched < t + int(depth); ++fetched) {
      pipe.producer_acquire();
      cuda::memcpy_async(block, tile[fetched % depth], in + fetched * threads,
                         cuda::aligned_size_t<16>(sizeof(tile[0])), pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    sum = sum * 3 + tile[t % depth][(threadIdx.x + 1) % threads];
    pipe.consumer_release();
  }
  out[threadIdx.x] = sum;
}

__global__ void copies(const uint32_t *in, uint32_t *out) {
  __shared__ alignas(16) uint32_t a[threads], b[threads];
  __shared__ cuda::barrier<cuda::thread_scope_block> arrived;
  const auto block = cg::this_thread_block();
  if (threadIdx.x == 0)
    init(&arrived, threads);
  block.sync();
  cuda::memcpy_async(block, a, in, sizeof a, arrived);
  cg::memcpy_async(block, b, in + threads, sizeof b);
  arrived.arrive_and_wait();
  cg::wait(block);
  out[threadIdx.x] = a[threads - 1 - threadIdx.x] ^ b[(threadIdx.x + 5) % threads];
}
} // namespace

std::string corpus::barrier() {
  return guarded([] {
    const int rounds = 5;
    Buffer<uint32_t> out(threads / 2);
    handOver<<<1, threads>>>(out.get(), rounds);
    check(cudaDeviceSynchronize());
    std::vector<uint32_t> expected(threads / 2);
    for (uint32_t i = 0; i < threads / 2; ++i)
      for (uint32_t r = 0; r < uint32_t(rounds); ++r)
        expected[i] += r * 1000 + threads / 2 - 1 - i;
    return differ("handed over", out.read(), expected);
  });
}

std::string corpus::pipeline() {
  return guarded([] {
    const int tiles = 7;
    const std::vector<uint32_t> in = randoms(tiles * threads, 11);
    Buffer<uint32_t> a(in), out(threads);
    stages<<<1, threads>>>(a.get(), out.get(), tiles);
    check(cudaDeviceSynchronize());
    std::vector<uint32_t> expected(threads);
    for (int t = 0; t < tiles; ++t)
      for (size_t i = 0; i < threads; ++i)
        expected[i] = expected[i] * 3 + in[size_t(t) * threads + (i + 1) % threads];
    return differ("sum", out.read(), expected);
  });
}

std::string corpus::memcpyAsync() {
  return guarded([] {
    const std::vector<uint32_t> in = randoms(2 * threads, 12);
    Buffer<uint32_t> a(in), out(threads);
    copies<<<1, threads>>>(a.get(), out.get());
    check(cudaDeviceSynchronize());
    std::vector<uint32_t> expected(threads);
    for (size_t i = 0; i < threads; ++i)
      expected[i] = in[threads - 1 - i] ^ in[threads + (i + 5) % threads];
    return differ("copied", out.read(), expected);
  });
}
