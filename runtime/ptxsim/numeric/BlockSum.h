#ifndef RUNTIME_PTXSIM_NUMERIC_BLOCKSUM_H
#define RUNTIME_PTXSIM_NUMERIC_BLOCKSUM_H

// How tensor cores add, after the published models of arXiv 2512.07004: the
// products of a block and the accumulator are aligned to their largest
// exponent, cut off below a fixed number of fraction bits, and added exactly;
// the sum is cut off (f32; of fp8 to 13 fraction bits) or rounded to nearest
// even (f16). A product's
// exponent is the sum of its factors': it is not normalised first. The next
// block takes the result as its accumulator.
//
//   mode  f16, bf16         tf32             fp8 (wgmma)
//   h100  16 products, 25   8 products, 25   32 products, 13 fraction bits
//   a100   8 products, 24   4 products, 24   as h100 (an A100 has no fp8)
//
// mma of fp8 is two products of f16 on these machines: see MmaBlocks.cpp.
//
// Exponents below -133 (h100) or -132 (a100), with f16 results -21 or -20,
// count as that; fp8 has -133 always. Infinities and NaN give what IEEE
// arithmetic gives; a sum beyond the format's range is infinite.

#include "runtime/ptxsim/numeric/Mma.h"
#include "runtime/ptxsim/ptxsim.h"

namespace ptxsim {

struct BlockModel {
  unsigned block;     ///< products that are added together
  int fraction;       ///< bits that stay below the largest exponent
  int leastExponent;  ///< of the alignment
  int leastA, leastB; ///< exponents of the factors' subnormals
  int resultBits;     ///< fraction bits that a result of float keeps
  bool halfResult;    ///< f16: rounded to nearest even
};
BlockModel blockModel(Numerics mode, MmaElement a, MmaElement b,
                      MmaAccumulator accumulator);

/// Eight columns of a k by n matrix, with their exponents.
struct BlockColumns {
  static constexpr unsigned most = 32;
  alignas(32) float value[most][8];
  alignas(32) int32_t exponent[most][8];
  bool special = false; ///< an infinity or NaN
  /// Computes exponent and special of `k` rows of value.
  void finish(unsigned k, int leastExponent);
};

/// D of one row and eight columns: d starts as C, widened to float, and ends as
/// the result (of f16: widened again). `a` has k elements.
void addBlocks(const BlockModel &model, const float *a, const BlockColumns &b,
               unsigned k, float *d);

} // namespace ptxsim

#endif // RUNTIME_PTXSIM_NUMERIC_BLOCKSUM_H
