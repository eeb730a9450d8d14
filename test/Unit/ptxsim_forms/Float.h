#ifndef TEST_UNIT_PTXSIM_FORMS_FLOAT_H
#define TEST_UNIT_PTXSIM_FORMS_FLOAT_H

// What the modifiers of floating point instructions mean, for references.

#include "test/Unit/ptxsim_forms/Scalar.h"

namespace ptxsim::forms {

struct FloatType {
  const char *name;
  exact::Format format;
  /// Two values in one register.
  bool packed = false;

  unsigned width() const { return packed ? 32 : format.width(); }
};

inline constexpr FloatType floatTypes[] = {
    {"f32", exact::f32},   {"f64", exact::f64},
    {"f16", exact::f16},   {"f16x2", exact::f16, true},
    {"bf16", exact::bf16}, {"bf16x2", exact::bf16, true}};

struct Modifiers {
  exact::Rounding rounding = exact::Rounding::Nearest;
  bool ftz = false;
  /// Clamps the result to [0, 1], NaN to +0.
  bool sat = false;
  /// Clamps the result to 0 if it is negative.
  bool relu = false;

  /// Operands come as f32 or f16 numbers; with .ftz, subnormals are zeros.
  exact::Number operand(exact::Format format, uint64_t bits) const;
  /// Rounded, flushed, clamped.
  uint64_t result(exact::Format format, const exact::Number &number) const;
};

/// "" (the default, .rn), ".rn", ".rz", ".rm", ".rp".
struct NamedRounding {
  const char *name;
  exact::Rounding rounding;
};
inline constexpr NamedRounding roundings[] = {{"", exact::Rounding::Nearest},
                                              {".rn", exact::Rounding::Nearest},
                                              {".rz", exact::Rounding::Zero},
                                              {".rm", exact::Rounding::Down},
                                              {".rp", exact::Rounding::Up}};

/// Registers a form of 1 to 3 operands of one type, whose results are the same
/// if both are NaN (`strictNaN`: canonical ones) or, behind .sat and .relu,
/// zeros.
void floatForm(const std::string &name, const FloatType &type, unsigned sources,
               std::function<uint64_t(uint64_t, uint64_t, uint64_t)> result,
               bool anyZero = false, bool strictNaN = false,
               const std::string &meaning = {});

} // namespace ptxsim::forms

#endif // TEST_UNIT_PTXSIM_FORMS_FLOAT_H
