#ifndef TEST_UNIT_PTXSIM_FORMS_MESSAGE_H
#define TEST_UNIT_PTXSIM_FORMS_MESSAGE_H

// A thread writes data, then a flag; another one sees the flag and reads the
// data. That is a race unless something orders the two, with scopes that have
// both threads.

#include <string>

namespace ptxsim::forms {

/// Warps of a CTA, CTAs of a cluster, clusters.
enum class Apart { Warps, Ctas, Clusters };

/// Where the flag is, and by which kind of address it is reached.
struct Flag {
  std::string space; ///< of the forms; empty: generic
  bool shared;
};

/// What a run says in which `write` sets the flag and `read` gets it, as
/// statements with %flag, its address, and %r. `behind`: what the reader
/// executes when it has seen the flag.
std::string message(Apart apart, const Flag &flag, const std::string &write,
                    const std::string &read, const std::string &behind = "");

/// .cta has warps of a CTA in common, .cluster its CTAs, others all.
bool inScope(const std::string &scope, Apart apart);

} // namespace ptxsim::forms

#endif // TEST_UNIT_PTXSIM_FORMS_MESSAGE_H
