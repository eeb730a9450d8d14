// Occupancy: how many CTAs of a kernel a multiprocessor holds.

#include "runtime/ptxsim/driver/DeviceFacts.h"
#include "runtime/ptxsim/driver/Driver.h"
#include "runtime/ptxsim/driver/Functions.h"

#include <algorithm>
#include <limits>

using namespace ptxsim;
using namespace ptxsim::cuda;

namespace {

int threadsByDirectives(const CUfunc_st &f) {
  const std::optional<Dim3> d =
      f.kernel->reqntid ? f.kernel->reqntid : f.kernel->maxntid;
  return d ? int(std::min<uint64_t>(uint64_t(threadsPerBlock),
                                    uint64_t(d->x) * d->y * d->z))
           : threadsPerBlock;
}

/// Each quarter of a multiprocessor has registers of its own, which warps get
/// by 256.
int warpsByRegisters(int registers) {
  constexpr int unit = 256;
  const int perWarp = (registers * 32 + unit - 1) / unit * unit;
  return registersPerMultiprocessor / quarters / perWarp * quarters;
}

/// A CTA whose warps, rounded up to all quarters, do not fit cannot run.
int blocksByRegisters(int registers, int threads) {
  const int warps = (threads + 31) / 32, fit = warpsByRegisters(registers);
  return (warps + quarters - 1) / quarters * quarters > fit ? 0 : fit / warps;
}

CUresult potentialBlockSize(const CUfunc_st &f, int *minGrid, int *blockSize,
                            CUoccupancyB2DSize sharedOf, size_t shared,
                            int limit) {
  if (!minGrid || !blockSize)
    return CUDA_ERROR_INVALID_VALUE;
  const int most = limit > 0 ? std::min(limit, maxThreads(f)) : maxThreads(f);
  int bestThreads = 0;
  *minGrid = *blockSize = 0;
  for (int size = (most + 31) / 32 * 32; size > 0; size -= 32) {
    const int threads = std::min(size, most);
    const Callback inside; // under the lock
    const int blocks =
        blocksPerSm(f, threads, sharedOf ? sharedOf(threads) : shared);
    if (blocks * threads <= bestThreads)
      continue;
    bestThreads = blocks * threads;
    *blockSize = threads;
    *minGrid = blocks * multiprocessors;
  }
  return CUDA_SUCCESS;
}

} // namespace

int ptxsim::cuda::mostRegisters(const CUfunc_st &f, int blocks) {
  int registers = registersPerThread;
  while (registers > 1 &&
         blocksByRegisters(registers, threadsByDirectives(f)) < blocks)
    --registers;
  return registers;
}

int ptxsim::cuda::registersOf(const CUfunc_st &f) {
  if (uint32_t known = Driver::get().registers.of(f.kernel->name))
    return int(known);
  if (f.kernel->maxnreg)
    return int(std::min(f.kernel->maxnreg, uint32_t(registersPerThread)));
  return f.kernel->minCtas ? mostRegisters(f, int(f.kernel->minCtas)) : 0;
}

bool ptxsim::cuda::registersFit(const CUfunc_st &f, int threads) {
  const int registers = registersOf(f);
  return !registers || blocksByRegisters(registers, threads) > 0;
}

int ptxsim::cuda::maxThreads(const CUfunc_st &f) {
  const int threads = threadsByDirectives(f), registers = registersOf(f);
  return registers ? std::min(threads, warpsByRegisters(registers) * 32)
                   : threads;
}

int ptxsim::cuda::blocksPerSm(const CUfunc_st &f, int threads,
                              size_t dynamicShared) {
  if (threads < 1 || threads > maxThreads(f) ||
      dynamicShared > size_t(sharedPerBlockOptIn) ||
      f.kernel->staticSharedBytes + dynamicShared > sharedPerBlockOptIn)
    return 0;
  // Shared memory comes in pieces of 128 bytes.
  const size_t shared =
      (f.kernel->staticSharedBytes + dynamicShared + 127) / 128 * 128 +
      reservedSharedPerBlock;
  const int registers = registersOf(f);
  return std::min({blocksPerMultiprocessor,
                   threadsPerMultiprocessor / ((threads + 31) / 32 * 32),
                   int(sharedPerMultiprocessor / shared),
                   registers ? blocksByRegisters(registers, threads)
                             : blocksPerMultiprocessor});
}

CUresult ptxsim::cuda::cuOccupancyMaxActiveBlocksPerMultiprocessor(
    int *numBlocks, CUfunction func, int blockSize, size_t dynamicSMemSize) {
  return withFunction(func, [&](CUfunc_st &f) {
    if (!numBlocks || blockSize < 1)
      return CUDA_ERROR_INVALID_VALUE;
    *numBlocks = blocksPerSm(f, blockSize, dynamicSMemSize);
    return CUDA_SUCCESS;
  });
}

CUresult ptxsim::cuda::cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *numBlocks, CUfunction func, int blockSize, size_t dynamicSMemSize,
    unsigned) {
  return cuOccupancyMaxActiveBlocksPerMultiprocessor(numBlocks, func, blockSize,
                                                     dynamicSMemSize);
}

CUresult ptxsim::cuda::cuOccupancyMaxPotentialBlockSize(
    int *minGridSize, int *blockSize, CUfunction func,
    CUoccupancyB2DSize sharedOf, size_t shared, int limit) {
  return withFunction(func, [&](CUfunc_st &f) {
    return potentialBlockSize(f, minGridSize, blockSize, sharedOf, shared,
                              limit);
  });
}

CUresult ptxsim::cuda::cuOccupancyMaxPotentialBlockSizeWithFlags(
    int *minGridSize, int *blockSize, CUfunction func,
    CUoccupancyB2DSize sharedOf, size_t shared, int limit, unsigned) {
  return cuOccupancyMaxPotentialBlockSize(minGridSize, blockSize, func,
                                          sharedOf, shared, limit);
}

CUresult ptxsim::cuda::cuOccupancyAvailableDynamicSMemPerBlock(size_t *bytes,
                                                               CUfunction func,
                                                               int numBlocks,
                                                               int blockSize) {
  return withFunction(func, [&](CUfunc_st &f) {
    if (!bytes || numBlocks < 1 || blocksPerSm(f, blockSize, 0) < numBlocks)
      return CUDA_ERROR_INVALID_VALUE;
    const int each = sharedPerMultiprocessor / numBlocks / 128 * 128 -
                     reservedSharedPerBlock;
    *bytes = size_t(std::min(each, sharedPerBlockOptIn) -
                    int((f.kernel->staticSharedBytes + 127) / 128 * 128));
    return CUDA_SUCCESS;
  });
}

namespace {
/// 0 if there can be no such cluster.
int clusterSizeOf(const CUlaunchConfig &config, const CUfunc_st &f) {
  Dim3 d = f.kernel->cluster.value_or(Dim3());
  for (unsigned i = 0; i < config.numAttrs && config.attrs; ++i)
    if (config.attrs[i].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
      d = {config.attrs[i].value.clusterDim.x,
           config.attrs[i].value.clusterDim.y,
           config.attrs[i].value.clusterDim.z};
  const unsigned most = unsigned(2 * portableClusterSize);
  if (d.x > most || d.y > most || d.z > most || d.x * d.y * d.z > most)
    return 0;
  return int(d.x * d.y * d.z);
}
} // namespace

/// As if clusters could use any multiprocessors.
CUresult
ptxsim::cuda::cuOccupancyMaxActiveClusters(int *numClusters, CUfunction func,
                                           const CUlaunchConfig *config) {
  return withFunction(func, [&](CUfunc_st &f) {
    if (!numClusters || !config)
      return CUDA_ERROR_INVALID_VALUE;
    const int cluster = clusterSizeOf(*config, f);
    if (!cluster)
      return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    const uint64_t threads = std::min(config->blockDimX, 2048u) *
                             uint64_t(std::min(config->blockDimY, 2048u)) *
                             std::min(config->blockDimZ, 2048u);
    if (!threads || threads > uint64_t(threadsPerBlock))
      return CUDA_ERROR_INVALID_VALUE;
    *numClusters = blocksPerSm(f, int(threads), config->sharedMemBytes) *
                   multiprocessors / cluster;
    return CUDA_SUCCESS;
  });
}

CUresult ptxsim::cuda::cuOccupancyMaxPotentialClusterSize(
    int *clusterSize, CUfunction func, const CUlaunchConfig *config) {
  return withFunction(func, [&](CUfunc_st &f) {
    if (!clusterSize || !config)
      return CUDA_ERROR_INVALID_VALUE;
    *clusterSize =
        f.nonPortableCluster ? 2 * portableClusterSize : portableClusterSize;
    return CUDA_SUCCESS;
  });
}
