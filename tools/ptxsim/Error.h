#ifndef TOOLS_PTXSIM_ERROR_H
#define TOOLS_PTXSIM_ERROR_H

#include <fmt/format.h>
#include <string>

namespace ptxsim::tool {

/// What the user gave is wrong: the argument or file, the rule, the fact. Ends
/// the tool with status 1.
struct UsageError {
  std::string text;
};

template <class... A>
[[noreturn]] void fail(fmt::format_string<A...> text, A &&...a) {
  throw UsageError{fmt::format(text, std::forward<A>(a)...)};
}

} // namespace ptxsim::tool

#endif // TOOLS_PTXSIM_ERROR_H
