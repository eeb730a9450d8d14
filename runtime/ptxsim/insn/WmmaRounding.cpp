#include "runtime/ptxsim/insn/Wmma.h"

#include <cfenv>
#include <cmath>

using namespace ptxsim;

void ptxsim::multiplyDoubles(const double *a, const double *b, const double *c,
                             double *d, DoubleRounding rounding, unsigned m,
                             unsigned depth) {
  constexpr int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
  std::fesetround(modes[int(rounding)]);
  for (unsigned i = 0; i < m; ++i)
    for (unsigned j = 0; j < 8; ++j) {
      double sum = c[i * 8 + j];
      for (unsigned k = 0; k < depth; ++k)
        sum = std::fma(a[i * depth + k], b[k * 8 + j], sum);
      d[i * 8 + j] = sum;
    }
  std::fesetround(FE_TONEAREST);
}
