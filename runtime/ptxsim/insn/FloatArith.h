#ifndef RUNTIME_PTXSIM_INSN_FLOATARITH_H
#define RUNTIME_PTXSIM_INSN_FLOATARITH_H

#include "runtime/ptxsim/Op.h"

namespace ptxsim {

enum class FloatOperation : uint8_t { Add, Sub, Mul, Fma, Div, Sqrt };
enum class Rounding : uint8_t { Nearest, Zero, Down, Up };

/// A handler that rounds to zero, down or up; null for a combination that PTX
/// has not.
Handler directedHandler(FloatOperation operation, Rounding rounding, Type type,
                        bool ftz, bool sat);

} // namespace ptxsim

#endif // RUNTIME_PTXSIM_INSN_FLOATARITH_H
