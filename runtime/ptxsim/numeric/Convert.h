#ifndef RUNTIME_PTXSIM_NUMERIC_CONVERT_H
#define RUNTIME_PTXSIM_NUMERIC_CONVERT_H

#include "runtime/ptxsim/Type.h"
#include "runtime/ptxsim/numeric/Float.h"

namespace ptxsim {

/// One cvt between scalar types. Small enough to travel in Op::imm.
struct Conversion {
  Type to = Type::None, from = Type::None;
  Rounding rounding = Rounding::NearestEven;
  bool integral = false; ///< .rni .rzi .rmi .rpi
  bool ftz = false, sat = false, relu = false, satfinite = false;
};

/// The format of a scalar floating-point type.
FloatFormat formatOf(Type type);
bool isFloat(Type type);

/// The value of cvt for the low bits of `a`, in integer arithmetic: slow, exact
/// and the reference for the vectorised handlers. An integer result is
/// sign- or zero-extended to 64 bits by the destination type.
uint64_t convert(const Conversion &conversion, uint64_t a);

} // namespace ptxsim

#endif // RUNTIME_PTXSIM_NUMERIC_CONVERT_H
