// Cooperative groups: tiles, coalesced and labelled groups, blocks, grids,
// clusters.

#include "Device.cuh"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <map>

namespace cg = cooperative_groups;

namespace {
__global__ void warps(const uint32_t *in, uint32_t *out) {
  const auto block = cg::this_thread_block();
  const auto tile = cg::tiled_partition<8>(block);
  const uint32_t x = in[block.thread_rank()];
  uint32_t *o = out + block.thread_rank() * 6;
  o[0] = cg::reduce(tile, x, cg::plus<uint32_t>());
  o[1] = cg::inclusive_scan(tile, x);
  o[2] = tile.shfl_xor(x, 3);
  o[3] = tile.ballot(x & 1);
  // Lanes that happen to be here, and lanes with the same label.
  o[4] = 0;
  if (x % 3 == 0) {
    const auto here = cg::coalesced_threads();
    o[4] = here.size() * 100 + here.thread_rank();
  }
  const auto warp = cg::tiled_partition<32>(block);
  const auto same = cg::labeled_partition(warp, int(x % 5));
  o[5] = cg::reduce(same, x, cg::plus<uint32_t>());
}

__global__ void blocks(const uint32_t *in, uint32_t *out) {
  __shared__ uint32_t s[128];
  const auto block = cg::this_thread_block();
  const unsigned r = block.thread_rank();
  s[r] = in[r];
  block.sync();
  for (unsigned step = 64; step; step /= 2) {
    if (r < step)
      s[r] += s[r + step];
    block.sync();
  }
  out[r] = s[0] + r;
}

/// Every block adds its neighbour's cells of the round before.
__global__ void grids(uint32_t *cells, int rounds) {
  const auto grid = cg::this_grid();
  const unsigned i = unsigned(grid.thread_rank()), n = unsigned(grid.size());
  for (int round = 0; round < rounds; ++round) {
    const uint32_t next = cells[i] + cells[(i + blockDim.x) % n];
    grid.sync();
    cells[i] = next;
    grid.sync();
  }
}

__global__ void __cluster_dims__(4, 1, 1) clusters(uint32_t *out) {
  __shared__ uint32_t mine;
  const auto cluster = cg::this_cluster();
  if (threadIdx.x == 0)
    mine = blockIdx.x * 7 + 1;
  cluster.sync();
  const unsigned next = (cluster.block_rank() + 1) % cluster.num_blocks();
  const uint32_t other = *cluster.map_shared_rank(&mine, next);
  cluster.sync();
  if (threadIdx.x == 0)
    out[blockIdx.x] = other;
}
} // namespace

std::string corpus::groupsOfAWarp() {
  return guarded([] {
    const std::vector<uint32_t> in = randoms(64, 8, 1000);
    Buffer<uint32_t> a(in), b(64 * 6);
    warps<<<1, 64>>>(a.get(), b.get());
    check(cudaDeviceSynchronize());
    std::vector<uint32_t> expected(64 * 6);
    for (unsigned t = 0; t < 64; ++t) {
      uint32_t *o = &expected[t * 6];
      const unsigned tile = t / 8 * 8, warp = t / 32 * 32;
      for (unsigned i = tile; i < tile + 8; ++i) {
        o[0] += in[i];
        o[1] += i <= t ? in[i] : 0;
        o[3] |= (in[i] & 1) << (i - tile);
      }
      o[2] = in[t ^ 3];
      unsigned size = 0, rank = 0;
      for (unsigned i = warp; i < warp + 32; ++i) {
        size += in[i] % 3 == 0;
        rank += in[i] % 3 == 0 && i < t;
        o[5] += in[i] % 5 == in[t] % 5 ? in[i] : 0;
      }
      o[4] = in[t] % 3 == 0 ? size * 100 + rank : 0;
    }
    return differ("group result", b.read(), expected);
  });
}

std::string corpus::groupsOfABlock() {
  return guarded([] {
    const std::vector<uint32_t> in = randoms(128, 9);
    Buffer<uint32_t> a(in), b(128);
    blocks<<<1, 128>>>(a.get(), b.get());
    check(cudaDeviceSynchronize());
    std::vector<uint32_t> expected(128);
    uint32_t sum = 0;
    for (uint32_t x : in)
      sum += x;
    for (uint32_t i = 0; i < 128; ++i)
      expected[i] = sum + i;
    return differ("block result", b.read(), expected);
  });
}

std::string corpus::groupsOfAGrid() {
  return guarded([] {
    const unsigned count = 12, threads = 96, n = count * threads;
    std::vector<uint32_t> expected = randoms(n, 10);
    Buffer<uint32_t> cells(expected);
    int rounds = 4;
    uint32_t *p = cells.get();
    void *args[] = {&p, &rounds};
    check(cudaLaunchCooperativeKernel(reinterpret_cast<void *>(grids),
                                      dim3(count), dim3(threads), args, 0, 0));
    check(cudaDeviceSynchronize());
    for (int round = 0; round < rounds; ++round) {
      const std::vector<uint32_t> old = expected;
      for (unsigned i = 0; i < n; ++i)
        expected[i] = old[i] + old[(i + threads) % n];
    }
    return differ("cell", cells.read(), expected);
  });
}

std::string corpus::groupsOfACluster() {
  return guarded([] {
    Buffer<uint32_t> out(8);
    clusters<<<8, 64>>>(out.get());
    check(cudaDeviceSynchronize());
    return differ("neighbour", out.read(),
                  std::vector<uint32_t>{8, 15, 22, 1, 36, 43, 50, 29});
  });
}
