#ifndef RUNTIME_PTXSIM_INSN_WMMA_H
#define RUNTIME_PTXSIM_INSN_WMMA_H

namespace ptxsim {

enum class DoubleRounding : int { Nearest, Zero, Down, Up };

/// d = a b + c for 8x4, 4x8 and 8x8 matrices, row after row: fused
/// multiply-adds in ascending k, each rounded in this mode.
void multiplyDoubles(const double *a, const double *b, const double *c,
                     double *d, DoubleRounding rounding);

} // namespace ptxsim

#endif // RUNTIME_PTXSIM_INSN_WMMA_H
