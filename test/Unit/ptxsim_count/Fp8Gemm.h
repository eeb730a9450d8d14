#ifndef TEST_UNIT_PTXSIM_COUNT_FP8GEMM_H
#define TEST_UNIT_PTXSIM_COUNT_FP8GEMM_H

// A GEMM of the kind that DeepGEMM is, written for these tests: e4m3 with a
// scale for each row and 128 of k of A, and for each block of 128 x 128 of B;
// a warp copies tiles by TMA, warpgroups of 64 rows multiply by wgmma and add
// up in float after every 128 of k.

#include "runtime/ptxsim/TensorMap.h"

#include <string>

namespace counted {

struct Fp8Gemm {
  uint32_t m = 64, n = 64, k = 128;
  /// B has n rows for each group of m / groups rows of A.
  uint32_t groups = 1;
  uint32_t tileM = 64, tileN = 64;
  /// CTAs of a cluster, which work on tiles above each other and copy the
  /// columns of B for each other.
  uint32_t multicast = 1;

  uint32_t stages() const;
  uint32_t threads() const { return 2 * tileM + 128; }
  uint32_t sharedBytes() const;
  uint32_t tilesM() const { return m / tileM; }
  uint32_t tilesN() const { return (n + tileN - 1) / tileN; }
  ptxsim::Dim3 grid() const { return {tilesM() * tilesN(), 1, 1}; }
  /// .entry gemm(map of A, map of B, map of A's scales, B's scales, out,
  /// group of each tile of rows).
  std::string ptx() const;

  ptxsim::TensorMap mapOfA(uint64_t address) const; ///< [m][k] e4m3
  ptxsim::TensorMap mapOfB(uint64_t address) const; ///< [groups * n][k] e4m3
  /// [k / 128][m] float
  ptxsim::TensorMap mapOfScales(uint64_t address) const;
};

} // namespace counted

#endif // TEST_UNIT_PTXSIM_COUNT_FP8GEMM_H
