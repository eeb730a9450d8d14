#ifndef RUNTIME_PTXSIM_FAULTTEXT_H
#define RUNTIME_PTXSIM_FAULTTEXT_H

// Faults and errors of the loader as text, like a compiler's:
//
//   k.ptx:16:3: error: ld.global.b32: cta (0,0,0) warp 0 lane 4 (thread 4):
//   address 0x7f0000000110 is 0 bytes after the end of 'x' of 16 bytes (at
//   model.mlir:7:3)
//      16 |   ld.global.b32 %v, [%o];
//         |   ^~~~~~~~~~~~~      ~~
//   k.ptx:16:3: note: lane 4 has %o = 0x7f0000000110
//   k.ptx:16:3: note: 'x' would have to be 4 bytes larger: ...
//
// The first line (broken here only to fit) tells what happened where, in one
// line that programs can search for.

#include "runtime/ptxsim/Fault.h"
#include "runtime/ptxsim/Program.h"
#include "runtime/ptxsim/Scanner.h"

#include <optional>

namespace ptxsim {

/// The text of a fault at `op`, of one lane or of the warp.
std::string faultText(const Warp &warp, const Op &op,
                      std::optional<unsigned> lane, std::string_view what,
                      const Notes &notes);

/// The text of an error in the module's text.
std::string loadErrorText(const ModuleImpl &module, Position at,
                          std::string_view what);

/// The name of the register with this row; empty if no register has it.
std::string registerName(const Function &function, uint32_t row);
/// The rows of the registers that op names in its address operand (or, if it
/// has none, anywhere), each once.
std::vector<uint32_t> addressRows(const Function &function, const Op &op);
/// A register's value in one lane: hexadecimal, predicates 0 or 1. `row` is
/// one of a named register.
std::string registerValue(const Warp &warp, uint32_t row, unsigned lane);

} // namespace ptxsim

#endif // RUNTIME_PTXSIM_FAULTTEXT_H
