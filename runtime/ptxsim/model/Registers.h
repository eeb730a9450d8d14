#ifndef RUNTIME_PTXSIM_MODEL_REGISTERS_H
#define RUNTIME_PTXSIM_MODEL_REGISTERS_H

#include "runtime/ptxsim/ptxsim.h"

#include <map>

namespace ptxsim {

/// Registers of a thread, by kernel, from what `ptxas -v` prints ("Compiling
/// entry function 'k'", "Used 40 registers") or from a JSON object
/// {"k": 40}. `file` is what errors call it.
Result<std::map<std::string, uint32_t>> readRegisters(const std::string &text,
                                                      const std::string &file);

} // namespace ptxsim

#endif // RUNTIME_PTXSIM_MODEL_REGISTERS_H
