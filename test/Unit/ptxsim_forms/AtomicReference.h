#ifndef TEST_UNIT_PTXSIM_FORMS_ATOMICREFERENCE_H
#define TEST_UNIT_PTXSIM_FORMS_ATOMICREFERENCE_H

// What atom and red do to one element of memory, by the "Semantics" of the
// ISA's chapter on atom.

#include <cstdint>
#include <string>
#include <vector>

namespace ptxsim::forms {

/// An element is a scalar, or one half of a packed type.
struct AtomicElement {
  std::string operation; ///< add, min, .., cas
  std::string type;      ///< u32, .., f16, bf16
  unsigned bits = 32;
  /// f32 add in global memory flushes subnormal inputs and results to zeros of
  /// their sign.
  bool flush = false;

  bool floating() const { return type.find('f') != type.npos; }
  bool isNan(uint64_t value) const;
  /// The new value of memory; c is the third operand of cas.
  uint64_t apply(uint64_t old, uint64_t b, uint64_t c = 0) const;
  /// As bits, rounded to nearest even.
  uint64_t encode(double value) const;
  double decode(uint64_t bits) const;
};

/// Old values and operands for one thread each: all pairs of numbers at which
/// the operations differ.
struct AtomicCase {
  uint64_t old, b, c;
};
std::vector<AtomicCase> atomicCases(const AtomicElement &element);

/// The operands of 32 threads that work on one element, and its first value.
/// Without `ordered` the result is the same in any order.
struct Contention {
  uint64_t first;
  std::vector<AtomicCase> operands; // `old` unused
};
Contention contention(const AtomicElement &element, bool ordered,
                      unsigned rotate);

/// Whether some order of the operations explains both the old values that the
/// threads got and what memory holds at the end.
bool explains(const AtomicElement &element, const Contention &contention,
              std::vector<uint64_t> olds, uint64_t last);

} // namespace ptxsim::forms

#endif // TEST_UNIT_PTXSIM_FORMS_ATOMICREFERENCE_H
