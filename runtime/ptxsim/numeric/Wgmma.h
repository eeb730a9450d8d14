#ifndef RUNTIME_PTXSIM_NUMERIC_WGMMA_H
#define RUNTIME_PTXSIM_NUMERIC_WGMMA_H

// The part of wgmma.mma_async that one warp of a warpgroup computes: 16 rows of
// D. Numerics are those of numeric/Mma.h; in mode exact32 D starts from its old
// value (or zero) and takes the products in ascending k by fused multiply-add.
//
// k covers 32 bytes of every row: 8 tf32, 16 f16 or bf16, 32 of 8 bits.

#include "runtime/ptxsim/numeric/Mma.h"

#include <vector>

namespace ptxsim {

struct WgmmaShape {
  MmaElement a, b;
  MmaAccumulator accumulator;
  unsigned n;
  unsigned k() const {
    return a == MmaElement::TF32                           ? 8
           : a == MmaElement::F16 || a == MmaElement::BF16 ? 16
                                                           : 32;
  }
  /// Registers of D.
  unsigned registers() const {
    return accumulator == MmaAccumulator::F16 ? n / 4 : n / 2;
  }
};

/// B widened to 32 bits: b[k][n], columns of every 8 in the order 0 2 4 6 1 3
/// 5 7, as two registers of D hold them.
using WideB = std::vector<uint32_t>;

/// From n rows of 32 bytes, k ascending; or (16-bit types) from k rows of n
/// elements.
void widenB(const WgmmaShape &shape, const uint8_t *rows, WideB &b);
void widenTransposedB(const WgmmaShape &shape, const uint16_t *rows, WideB &b);

/// d: rows of D's registers. a: 16 rows of 32 bytes. `negate` turns the sign of
/// the products, `accumulate` is scale-d.
void wgmma(const WgmmaShape &shape, uint32_t *const *d, const uint8_t *a,
           const WideB &b, bool negate, bool accumulate, Numerics mode);

} // namespace ptxsim

#endif // RUNTIME_PTXSIM_NUMERIC_WGMMA_H
