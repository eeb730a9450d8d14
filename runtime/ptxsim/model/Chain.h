#ifndef RUNTIME_PTXSIM_MODEL_CHAIN_H
#define RUNTIME_PTXSIM_MODEL_CHAIN_H

#include "runtime/ptxsim/model/Model.h"

namespace ptxsim {

/// Modelled time of launches one after the other (devices/README.md, section
/// 5). What the device file has no figure for is empty.
class Chain {
public:
  void add(const ModelledTime &time);

  uint64_t launches = 0;
  double kernels = 0; ///< without anything between them
  /// T_chain, in a graph or a stream with the host ahead: each kernel with the
  /// boundary before it.
  std::optional<double> chain = 0;
  /// What the host needs for all launches.
  std::optional<double> host = 0;
  /// T_stream, without a graph: the later of the two.
  std::optional<double> stream() const;
};

} // namespace ptxsim

#endif // RUNTIME_PTXSIM_MODEL_CHAIN_H
