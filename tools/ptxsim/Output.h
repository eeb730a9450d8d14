#ifndef TOOLS_PTXSIM_OUTPUT_H
#define TOOLS_PTXSIM_OUTPUT_H

#include "tools/ptxsim/Arguments.h"

namespace ptxsim::tool {

/// --out: which buffers are printed or written after the launch. All functions
/// throw UsageError.
class Outputs {
public:
  /// `specs`: WHICH, WHICH:FILE.npy or WHICH:FILE.safetensors; none: every
  /// buffer is printed. `print`: how many elements at most.
  Outputs(const Arguments &arguments, const std::vector<std::string> &specs,
          const std::string &print);
  void write() const;

private:
  struct Output {
    const Buffer *buffer;
    std::string file; ///< empty: printed
  };
  void writeSafetensors(const std::string &file) const;
  std::vector<Output> outputs;
  uint64_t most = 0;
};

} // namespace ptxsim::tool

#endif // TOOLS_PTXSIM_OUTPUT_H
