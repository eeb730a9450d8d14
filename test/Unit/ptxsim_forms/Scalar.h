#ifndef TEST_UNIT_PTXSIM_FORMS_SCALAR_H
#define TEST_UNIT_PTXSIM_FORMS_SCALAR_H

// Tests of computing instructions by a reference: one lane per list of
// operands, and what the instruction gives must be what the reference gives.
// All forms with the same registers share one list of operands, and
// Forms.ScalarFormsDiffer demands that on this list the references of two
// forms differ unless the ISA says that the two mean the same: so a simulator
// that takes a form for another one cannot pass.

#include "test/Unit/ptxsim_forms/Exact.h"
#include "test/Unit/ptxsim_forms/Form.h"

namespace ptxsim::forms {

struct Scalar {
  /// Registers d, a, b, c.
  test::Widths widths;
  const Operands &operands;
  std::function<uint64_t(uint64_t a, uint64_t b, uint64_t c)> result;
  /// The same for all results among which the ISA leaves the choice.
  std::function<uint64_t(uint64_t)> same = {};
  /// `$` is the form's name; empty: `$ d, a, b, c`.
  std::string statement = {};
  /// Equal for forms that the ISA defines alike; empty: the name.
  std::string meaning = {};
};

void form(const std::string &name, const Scalar &scalar);

/// @name Operands: edges, values that tell rounding modes apart, and numbers
/// without any pattern. The references into them stay valid.
/// @{
const Operands &integers(unsigned width);
const Operands &integerPairs(unsigned width);
const Operands &integerTriples(unsigned width);
const Operands &floats(exact::Format format);
const Operands &floatPairs(exact::Format format);
const Operands &floatTriples(exact::Format format);
/// Each half from another line of `halves`, of 16 bits.
const Operands &packed(const Operands &halves);
/// `operands` with a predicate, in both states, for the third.
const Operands &withPredicate(const Operands &operands);
/// @}

/// Numbers without any pattern, the same in every run.
class Sequence {
public:
  uint64_t next();

private:
  uint64_t state = 0x9e3779b97f4a7c15;
};

/// f on both halves of 32-bit operands.
std::function<uint64_t(uint64_t, uint64_t, uint64_t)>
onHalves(std::function<uint64_t(uint64_t, uint64_t, uint64_t)> f);
std::function<uint64_t(uint64_t)> onHalves(std::function<uint64_t(uint64_t)> f);

/// For Scalar::same: any NaN is as good as any other.
std::function<uint64_t(uint64_t)> anyNaN(exact::Format format);
/// Besides, the sign of a zero is open: results of .sat and .relu.
std::function<uint64_t(uint64_t)> anyNaNAnyZero(exact::Format format);

inline uint64_t ones(unsigned width) {
  return width == 64 ? ~uint64_t(0) : (uint64_t(1) << width) - 1;
}
inline int64_t extended(uint64_t value, unsigned width) {
  return int64_t(value << (64 - width)) >> (64 - width);
}

} // namespace ptxsim::forms

#endif // TEST_UNIT_PTXSIM_FORMS_SCALAR_H
