#ifndef RUNTIME_PTXSIM_COUNTING_COALESCING_H
#define RUNTIME_PTXSIM_COUNTING_COALESCING_H

#include <cstdint>

namespace ptxsim {

/// The 32-byte sectors that the lanes of one instruction touch, each once, in
/// the order of the lanes.
struct SectorList {
  uint64_t sectors[32 * 5];
  unsigned count = 0;

  /// `bytes` of each lane: at most 128.
  SectorList(const uint64_t *at, uint32_t mask, uint32_t bytes, uint64_t base);
};

/// Passes of a warp's access through the 32 banks of 4 bytes.
struct Wavefronts {
  unsigned all = 0;
  unsigned ideal = 0; ///< without conflicts
};
/// Up to 4 bytes of each lane go in one pass of the warp, 8 in two of half of
/// it, 16 in four of a quarter; the fullest bank's distinct words decide how
/// often a pass is repeated.
Wavefronts bankPasses(const uint64_t *at, uint32_t mask, uint32_t bytes);
/// Atomics: lanes at the same word go one after the other as well.
Wavefronts atomicPasses(const uint64_t *at, uint32_t mask, uint32_t bytes);
/// ldmatrix and stmatrix: eight rows of 16 bytes in a pass.
Wavefronts matrixPasses(const uint64_t *at, uint32_t mask);
/// Lanes at the address of a lower lane.
unsigned sameAddress(const uint64_t *at, uint32_t mask);

} // namespace ptxsim

#endif // RUNTIME_PTXSIM_COUNTING_COALESCING_H
