#ifndef RUNTIME_PTXSIM_CALLS_H
#define RUNTIME_PTXSIM_CALLS_H

// Device functions. A kernel contains a copy of every .func that it may call:
// its ops stand behind the kernel's, its registers have rows of their own in
// the kernel's register file. A call that enters a function which is active
// already saves the lanes' registers. Parameters and local variables live in
// frames on a stack in the thread's local memory; rows hold the addresses in
// the current frame, as constants do for the kernel's own variables.

#include "runtime/ptxsim/Undefined.h"

#include <array>
#include <string_view>
#include <vector>

namespace ptxsim {

/// A parameter or result as declared.
struct Formal {
  std::string_view name;
  Type type = Type::None;
  uint32_t bytes = 0, align = 1;
  bool inRegister = false; ///< .reg instead of .param
  uint32_t at = 0;         ///< offset in the frame, or row
};

/// A .func as one kernel contains it.
struct Callee {
  std::string_view name;
  uint64_t address = 0; ///< what a pointer to it holds
  uint32_t entry = 0;   ///< first op
  uint32_t frameBytes = 0;
  bool recursive = false; ///< may be entered while it is active
  std::vector<Formal> params, results;
  struct Rows {
    uint32_t offset, count, stride; ///< stride 4: predicate words
  };
  std::vector<Rows> registers;
  struct FrameRow {
    uint32_t row, bits;
    uint64_t offset;
  };
  std::vector<FrameRow> frameRows;
};

/// An argument of a call or the place of a result.
struct Actual {
  uint32_t row = 0; ///< a register or constant, or the address in local memory
  uint32_t bits = 0;
  bool isMemory = false;
};

/// A call statement.
struct CallSite {
  enum : uint32_t { Indirect = ~0u };
  uint32_t callee = Indirect; ///< index among the function's callees
  uint32_t target = 0;        ///< row of the address of an indirect call
  bool uniform = false;
  std::vector<Formal> params, results; ///< of the prototype, if indirect
  std::vector<uint64_t> targets;       ///< .calltargets, if given
  std::vector<Actual> arguments, places;
};

/// The calls a warp's lanes are in.
struct CallStack {
  struct Activation {
    const CallSite *site;
    const Callee *callee;
    uint32_t returnTo; ///< op
    uint32_t base;     ///< of the callee's frame
    uint32_t top;      ///< of the stack before the call
  };
  std::array<std::vector<Activation>, 32> lanes;
  std::array<std::vector<std::byte>, 32> saved;
  std::array<uint32_t, 32> top{}; ///< end of the frames in use
  std::vector<uint64_t> scratch;
  std::vector<PassedBits> passed; ///< the same of undefined bits
  void restart(uint32_t base) {
    for (unsigned l = 0; l < 32; ++l)
      lanes[l].clear(), saved[l].clear(), top[l] = base;
  }
};

/// Handlers of call and of ret in a function.
void callFunction(Warp &warp, const Op &op, uint32_t mask);
void returnFromFunction(Warp &warp, const Op &op, uint32_t mask);

} // namespace ptxsim

#endif // RUNTIME_PTXSIM_CALLS_H
