#ifndef TEST_UNIT_PTXSIM_FORMS_DELIVERIES_H
#define TEST_UNIT_PTXSIM_FORMS_DELIVERIES_H

// Bulk copies in tests of forms: into the shared memory of some CTAs, where an
// mbarrier tells that they are there, and out of it in bulk groups. Copies are
// done no earlier than at the wait for them.

#include "test/Unit/ptxsim_forms/Machine.h"

namespace ptxsim::forms {

enum class To {
  Own,     ///< one CTA for itself
  Other,   ///< CTA 0 for CTA 1
  Several, ///< CTA 1 for CTAs 0, 1 and 3 of four
};

/// How many CTAs there are, and which of them receive.
unsigned ctas(To to);
bool receives(To to, unsigned cta);

struct Delivery {
  To to = To::Own;
  std::string name;        ///< of the copy
  std::string source;      ///< operands between destination and mbarrier
  std::string last;        ///< operands behind it, a mask excepted
  unsigned at = 0;         ///< offset of the destination in shared memory
  unsigned bytes = 0;      ///< that arrive per CTA
  unsigned window = 1024;  ///< of shared memory: filled from in1, then in `out`
  bool generic = false;    ///< addresses of the destination and the mbarrier
  std::string before = {}; ///< that all threads execute first
};
/// Shared memory of all CTAs behind each other. %d5 is in0, %d8 a cache policy.
Words deliver(const Delivery &delivery, Setup setup);

/// Shared memory holds in1; one thread executes `copy`, commits it and waits.
/// in0 afterwards.
Words send(const std::string &copy, Setup setup);

} // namespace ptxsim::forms

#endif // TEST_UNIT_PTXSIM_FORMS_DELIVERIES_H
