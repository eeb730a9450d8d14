#ifndef TEST_UNIT_PTXSIM_FORMS_CONVERT_H
#define TEST_UNIT_PTXSIM_FORMS_CONVERT_H

// What a form of cvt means, read from its name.

#include "test/Unit/ptxsim_forms/Scalar.h"

namespace ptxsim::forms {

/// One side of a conversion.
struct ConvertType {
  const char *name;
  unsigned width;
  char kind; // u, s, f
  exact::Format format{};
  /// Values in a register.
  unsigned lanes = 1;

  bool isFloat() const { return kind == 'f'; }
  bool isF32() const { return isFloat() && format.mantissa == 23; }
};

struct Conversion {
  std::string name;
  ConvertType to, from;
  exact::Rounding rounding = exact::Rounding::Nearest;
  /// Floating point to an integer in floating point format.
  bool integral = false;
  bool ftz = false, sat = false, satfinite = false, relu = false;

  /// One value. Integer results are extended to 64 bits.
  uint64_t operator()(uint64_t a) const;
  /// Equal for those that differ in nothing but what cannot matter.
  std::string meaning() const;
  /// Of the destination.
  unsigned registerWidth() const;
};

/// Throws what it does not understand.
Conversion conversion(const std::string &name);

/// A source's numbers: besides the usual ones halves, the limits of the other
/// types, and what is between two numbers of the smaller formats.
const Operands &convertOperands(const ConvertType &type);

} // namespace ptxsim::forms

#endif // TEST_UNIT_PTXSIM_FORMS_CONVERT_H
