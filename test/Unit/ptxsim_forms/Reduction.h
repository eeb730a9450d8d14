#ifndef TEST_UNIT_PTXSIM_FORMS_REDUCTION_H
#define TEST_UNIT_PTXSIM_FORMS_REDUCTION_H

// What the reductions of bulk copies do to one element, as the ISA tells for
// atom and red.

#include <cstdint>
#include <random>
#include <string>

namespace ptxsim::forms {

/// u32, s32, b32, u64, s64, b64, f16, bf16, f32, f64.
unsigned reductionBytes(const std::string &type);
/// The memory's value after it has met `source`.
uint64_t reduced(const std::string &op, const std::string &type,
                 uint64_t memory, uint64_t source);
/// An operand: extreme ones included, for inc and dec small ones, and (without
/// `normal`) subnormal ones.
uint64_t pickOperand(const std::string &op, const std::string &type,
                     std::mt19937_64 &random, bool normal = false);

} // namespace ptxsim::forms

#endif // TEST_UNIT_PTXSIM_FORMS_REDUCTION_H
