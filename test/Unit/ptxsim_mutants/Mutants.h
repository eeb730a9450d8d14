#ifndef TEST_UNIT_PTXSIM_MUTANTS_MUTANTS_H
#define TEST_UNIT_PTXSIM_MUTANTS_MUTANTS_H

// The faults that are put into a kernel, one at a time:
//
//   drop      a barrier, wait, fence, commit, arrival or mbarrier's init is
//   gone
//             (a wait in a loop: its result is true at once)
//   shift     the same instruction stands behind the next, or before the last,
//             instruction that has to do with memory or order, or at the end or
//             start of its block
//   weaken    wait_group allows one group more
//   parity    the phase that is waited for is the other one
//   tx        16 bytes more or fewer are expected
//   count     a barrier or mbarrier waits for one warp, or one arrival, more or
//             fewer
//   id        another barrier of the kernel's
//   swizzle   a bit of a constant that addresses are xored with, or the xor is
//             gone
//   index     a constant in what addresses are computed from, or an offset

#include "test/Unit/ptxsim_mutants/Lines.h"

#include <string>
#include <vector>

namespace mutants {

struct Mutant {
  size_t line = 0; ///< from 0
  std::string kind;
  std::string what; ///< what has been done, unique for a line and kind
  /// Lines and what they are instead.
  std::vector<std::pair<size_t, std::string>> edits;
  /// The line with a trap if what it computes differs from what the mutant
  /// computes; empty if that cannot be told.
  std::string probe;
  /// The line with a result that makes no sense.
  std::string garbage;
};

/// All faults that can be put into the lines of an entry that run, in order.
std::vector<Mutant> mutantsOf(const std::vector<Line> &lines,
                              const std::vector<bool> &runs);
std::string apply(const std::vector<Line> &lines, const Mutant &mutant);
/// The text with a line replaced.
std::string with(const std::vector<Line> &lines, size_t line,
                 const std::string &text);

} // namespace mutants

#endif // TEST_UNIT_PTXSIM_MUTANTS_MUTANTS_H
