#ifndef RUNTIME_PTXSIM_NUMERIC_MMA_H
#define RUNTIME_PTXSIM_NUMERIC_MMA_H

// mma.sync.m16n8kK on fragments as PTX distributes them over a warp.
//
// Numerics, mode exact32: products are exact; every element of D starts from C
// as float and takes the products in ascending k by fused multiply-add, so one
// float rounding (to nearest even) per product, subnormals kept. Accumulators
// in f16 are widened first and rounded once at the end. NaN results are the
// canonical NaN. Integer accumulation wraps, or clamps once at the end with
// .satfinite. What hardware does instead: BlockSum.h.

#include <cstdint>

namespace ptxsim {

enum class Numerics : uint8_t;

enum class MmaElement : uint8_t { F16, BF16, TF32, E4M3, E5M2, S8, U8 };
enum class MmaAccumulator : uint8_t { F32, F16, S32, S32Saturated };

/// Operands are lists of register rows of 32 lanes. D may name the registers of
/// the other operands.
using MmaFn = void (*)(uint32_t *const *d, const uint32_t *const *a,
                       const uint32_t *const *b, const uint32_t *const *c);

struct MmaShape {
  MmaElement a, b;
  MmaAccumulator accumulator;
  unsigned k;
  bool operator==(const MmaShape &) const = default;
  /// Registers of the operands.
  unsigned aRegisters() const { return 2 * bRegisters(); }
  unsigned bRegisters() const { return k / (4 * elementsPerRegister()); }
  unsigned cRegisters() const {
    return accumulator == MmaAccumulator::F16 ? 2 : 4;
  }
  unsigned elementsPerRegister() const {
    return a == MmaElement::TF32                           ? 1
           : a == MmaElement::F16 || a == MmaElement::BF16 ? 2
                                                           : 4;
  }
};

/// The exact32 implementation of m16n8k, or null if there is no such form.
MmaFn mmaExact32(const MmaShape &shape);

/// The same with float operands in a numerics mode of hardware: see BlockSum.h.
void mmaBlocks(const MmaShape &shape, Numerics mode, uint32_t *const *d,
               const uint32_t *const *a, const uint32_t *const *b,
               const uint32_t *const *c);

} // namespace ptxsim

#endif // RUNTIME_PTXSIM_NUMERIC_MMA_H
