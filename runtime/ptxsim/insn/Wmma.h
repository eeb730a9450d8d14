#ifndef RUNTIME_PTXSIM_INSN_WMMA_H
#define RUNTIME_PTXSIM_INSN_WMMA_H

namespace ptxsim {

enum class DoubleRounding : int { Nearest, Zero, Down, Up };

/// d = a b + c for m by k, k by 8 and m by 8 matrices, row after row: fused
/// multiply-adds in ascending k, each rounded in this mode.
void multiplyDoubles(const double *a, const double *b, const double *c,
                     double *d, DoubleRounding rounding, unsigned m = 8,
                     unsigned k = 4);

} // namespace ptxsim

#endif // RUNTIME_PTXSIM_INSN_WMMA_H
