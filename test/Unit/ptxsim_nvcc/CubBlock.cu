// CUB inside a block and a warp.

#include "Device.cuh"

#include <algorithm>
#include <cub/block/block_exchange.cuh>
#include <cub/block/block_load.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>
#include <numeric>

namespace {
constexpr int threads = 128, items = 5, tile = threads * items;

__global__ void block(const uint32_t *in, uint32_t *sorted, uint32_t *scanned,
                      uint32_t *sum) {
  using Load = cub::BlockLoad<uint32_t, threads, items,
                              cub::BLOCK_LOAD_TRANSPOSE>;
  using Store = cub::BlockStore<uint32_t, threads, items,
                                cub::BLOCK_STORE_WARP_TRANSPOSE>;
  using Sort = cub::BlockRadixSort<uint32_t, threads, items>;
  using Scan = cub::BlockScan<uint32_t, threads, cub::BLOCK_SCAN_RAKING>;
  using Reduce = cub::BlockReduce<uint32_t, threads>;
  __shared__ union {
    Load::TempStorage load;
    Store::TempStorage store;
    Sort::TempStorage sort;
    Scan::TempStorage scan;
    Reduce::TempStorage reduce;
  } s;
  uint32_t x[items], y[items];
  Load(s.load).Load(in + blockIdx.x * tile, x);
  __syncthreads();
  const uint32_t total = Reduce(s.reduce).Sum(x);
  if (threadIdx.x == 0)
    sum[blockIdx.x] = total;
  __syncthreads();
  Scan(s.scan).ExclusiveSum(x, y);
  __syncthreads();
  Store(s.store).Store(scanned + blockIdx.x * tile, y);
  __syncthreads();
  Sort(s.sort).Sort(x);
  __syncthreads();
  Store(s.store).Store(sorted + blockIdx.x * tile, x);
}

__global__ void warp(const uint32_t *in, uint32_t *scanned, uint32_t *most) {
  using Scan = cub::WarpScan<uint32_t>;
  using Reduce = cub::WarpReduce<uint32_t, 16>;
  __shared__ Scan::TempStorage scan[4];
  __shared__ Reduce::TempStorage reduce[8];
  const uint32_t x = in[threadIdx.x];
  uint32_t y;
  Scan(scan[threadIdx.x / 32]).InclusiveSum(x, y);
  scanned[threadIdx.x] = y;
  const uint32_t m = Reduce(reduce[threadIdx.x / 16])
                         .Reduce(x, [](uint32_t a, uint32_t b) {
                           return a > b ? a : b;
                         });
  if (threadIdx.x % 16 == 0)
    most[threadIdx.x / 16] = m;
}
} // namespace

std::string corpus::cubBlock() {
  return guarded([] {
    const int blocks = 3;
    const std::vector<uint32_t> in = randoms(blocks * tile, 6);
    Buffer<uint32_t> a(in), sorted(in.size()), scanned(in.size()), sum(blocks);
    block<<<blocks, threads>>>(a.get(), sorted.get(), scanned.get(), sum.get());
    check(cudaDeviceSynchronize());
    std::vector<uint32_t> wantSorted = in, wantScan(in.size()), wantSum(blocks);
    for (int b = 0; b < blocks; ++b) {
      auto first = in.begin() + b * tile;
      std::exclusive_scan(first, first + tile, wantScan.begin() + b * tile, 0u);
      wantSum[size_t(b)] = std::accumulate(first, first + tile, 0u);
      std::sort(wantSorted.begin() + b * tile,
                wantSorted.begin() + (b + 1) * tile);
    }
    return differ("sum", sum.read(), wantSum) +
           differ("scan", scanned.read(), wantScan) +
           differ("sort", sorted.read(), wantSorted);
  });
}

std::string corpus::cubWarp() {
  return guarded([] {
    const std::vector<uint32_t> in = randoms(128, 7);
    Buffer<uint32_t> a(in), scanned(128), most(8);
    warp<<<1, 128>>>(a.get(), scanned.get(), most.get());
    check(cudaDeviceSynchronize());
    std::vector<uint32_t> wantScan(128), wantMost(8);
    for (int w = 0; w < 4; ++w)
      std::partial_sum(in.begin() + w * 32, in.begin() + (w + 1) * 32,
                       wantScan.begin() + w * 32);
    for (int h = 0; h < 8; ++h)
      wantMost[size_t(h)] =
          *std::max_element(in.begin() + h * 16, in.begin() + (h + 1) * 16);
    return differ("scan", scanned.read(), wantScan) +
           differ("maximum", most.read(), wantMost);
  });
}
