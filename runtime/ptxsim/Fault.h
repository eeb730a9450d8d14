#ifndef RUNTIME_PTXSIM_FAULT_H
#define RUNTIME_PTXSIM_FAULT_H

#include "runtime/ptxsim/ptxsim.h"

#include <string>
#include <vector>

namespace ptxsim {

struct Op;

/// More about a fault: its likely cause, or another instruction that has to do
/// with it.
struct Note {
  std::string text;
  const Op *op = nullptr; ///< of the same function: its line is shown
};
using Notes = std::vector<Note>;

/// A device fault on its way to launch(): see FaultText.h.
struct Fault {
  std::string text;
  FaultKind kind = FaultKind::Other;
};

} // namespace ptxsim

#endif // RUNTIME_PTXSIM_FAULT_H
