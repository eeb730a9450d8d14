#ifndef TEST_UNIT_PTXSIM_FORMS_NUMBERS_H
#define TEST_UNIT_PTXSIM_FORMS_NUMBERS_H

// Small integers in the formats of matrix instructions, which hold them
// exactly, as do all sums of their products: results do not depend on the order
// or the precision of an accumulation.

#include <cstdint>
#include <random>
#include <string>

namespace ptxsim::forms {

unsigned bytesOf(const std::string &type);
/// The bits of `value`, which the format holds.
uint64_t encode(const std::string &type, int64_t value);
/// One of the integers that a test multiplies: all of an 8-bit integer type; of
/// a float format so few that sums of 32 products fit `accumulator`.
int pick(const std::string &type, const std::string &accumulator,
         std::mt19937 &random);
/// A start value of an accumulator; of s32 often one near its limits.
int64_t pickStart(const std::string &accumulator, std::mt19937 &random);
/// A sum in an s32 accumulator: what does not fit wraps, or saturates.
int64_t fit(int64_t sum, bool saturates);

} // namespace ptxsim::forms

#endif // TEST_UNIT_PTXSIM_FORMS_NUMBERS_H
