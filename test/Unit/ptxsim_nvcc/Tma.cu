// Bulk and tensor copies through libcu++'s cuda::ptx, with tensor maps that the
// host makes.

#include "Device.cuh"

#include <cuda.h>
#include <cuda/barrier>
#include <cuda/ptx>

namespace {
namespace ptx = cuda::ptx;
using Barrier = cuda::barrier<cuda::thread_scope_block>;
constexpr int rows = 8, columns = 16, threads = 64;

/// out = 3 in + 1 by way of shared memory, in bulk.
__global__ void bulk(const uint32_t *in, uint32_t *out, int n) {
  extern __shared__ __align__(128) uint32_t tile[];
  __shared__ Barrier arrived;
  if (threadIdx.x == 0) {
    init(&arrived, blockDim.x);
    ptx::fence_proxy_async(ptx::space_shared);
  }
  __syncthreads();
  Barrier::arrival_token token;
  if (threadIdx.x == 0) {
    const uint32_t bytes = uint32_t(n) * 4;
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile,
                       in + blockIdx.x * n, bytes,
                       cuda::device::barrier_native_handle(arrived));
    token = cuda::device::barrier_arrive_tx(arrived, 1, bytes);
  } else {
    token = arrived.arrive();
  }
  arrived.wait(std::move(token));
  for (int i = int(threadIdx.x); i < n; i += int(blockDim.x))
    tile[i] = 3 * tile[i] + 1;
  ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (threadIdx.x == 0) {
    ptx::cp_async_bulk(ptx::space_global, ptx::space_shared,
                       out + blockIdx.x * n, tile, uint32_t(n) * 4);
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
  }
}

/// Transposes the order of tiles: tile (x, y) of the input goes to (y, x).
__global__ void tiles(const __grid_constant__ CUtensorMap from,
                      const __grid_constant__ CUtensorMap to) {
  __shared__ alignas(128) uint32_t tile[rows][columns];
  __shared__ Barrier arrived;
  if (threadIdx.x == 0) {
    init(&arrived, blockDim.x);
    ptx::fence_proxy_async(ptx::space_shared);
  }
  __syncthreads();
  Barrier::arrival_token token;
  if (threadIdx.x == 0) {
    const int32_t at[2] = {int32_t(blockIdx.x) * columns,
                           int32_t(blockIdx.y) * rows};
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, &tile,
                              &from, at,
                              cuda::device::barrier_native_handle(arrived));
    token = cuda::device::barrier_arrive_tx(arrived, 1, sizeof tile);
  } else {
    token = arrived.arrive();
  }
  arrived.wait(std::move(token));
  for (int i = int(threadIdx.x); i < rows * columns; i += int(blockDim.x))
    tile[i / columns][i % columns] ^= 0xff;
  ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (threadIdx.x == 0) {
    const int32_t at[2] = {int32_t(blockIdx.y) * columns,
                           int32_t(blockIdx.x) * rows};
    ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, &to, at,
                              &tile);
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
  }
}

CUtensorMap mapOf(const corpus::Buffer<uint32_t> &matrix, int height,
                  int width) {
  CUtensorMap map;
  const cuuint64_t dims[] = {cuuint64_t(width), cuuint64_t(height)},
                   strides[] = {cuuint64_t(width) * 4};
  const cuuint32_t box[] = {columns, rows}, steps[] = {1, 1};
  if (cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_UINT32, 2,
                             matrix.get(), dims, strides, box, steps,
                             CU_TENSOR_MAP_INTERLEAVE_NONE,
                             CU_TENSOR_MAP_SWIZZLE_NONE,
                             CU_TENSOR_MAP_L2_PROMOTION_NONE,
                             CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS)
    throw std::runtime_error("no tensor map");
  return map;
}
} // namespace

std::string corpus::bulkCopies() {
  return guarded([] {
    const int n = 520, blocks = 3;
    const std::vector<uint32_t> in = randoms(n * blocks, 13);
    Buffer<uint32_t> a(in), b(in.size());
    bulk<<<blocks, threads, n * 4>>>(a.get(), b.get(), n);
    check(cudaDeviceSynchronize());
    std::vector<uint32_t> expected;
    for (uint32_t x : in)
      expected.push_back(3 * x + 1);
    return differ("element", b.read(), expected);
  });
}

std::string corpus::tensorCopies() {
  return guarded([] {
    // The last tiles hang over the edges.
    const int across = 3, down = 2, width = across * columns - 4,
              height = down * rows - 3;
    const int width2 = down * columns, height2 = across * rows;
    const std::vector<uint32_t> in = randoms(size_t(width * height), 14);
    Buffer<uint32_t> a(in),
        b(std::vector<uint32_t>(size_t(width2 * height2), 7));
    tiles<<<dim3(across, down), threads>>>(mapOf(a, height, width),
                                           mapOf(b, height2, width2));
    check(cudaDeviceSynchronize());
    std::vector<uint32_t> expected(size_t(width2 * height2));
    for (int y = 0; y < height2; ++y)
      for (int x = 0; x < width2; ++x) {
        const int fromX = y / rows * columns + x % columns,
                  fromY = x / columns * rows + y % rows;
        const uint32_t value = fromX < width && fromY < height
                                   ? in[size_t(fromY * width + fromX)]
                                   : 0;
        expected[size_t(y * width2 + x)] = value ^ 0xff;
      }
    return differ("element", b.read(), expected);
  });
}
