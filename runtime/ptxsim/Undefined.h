#ifndef RUNTIME_PTXSIM_UNDEFINED_H
#define RUNTIME_PTXSIM_UNDEFINED_H

#include "runtime/ptxsim/Op.h"

#include <vector>

namespace ptxsim {

/// A register that an instruction names.
struct RegisterUse {
  enum Role : uint8_t { Reads, Writes, Address };
  uint32_t row;
  uint8_t bits; ///< 1: a predicate
  Role role;
};

/// A register whose undefined bits are tracked: the shadow row has ones where
/// the register's bits are undefined, and behind it the number of the root
/// (UndefinedPlan::roots) that made it so, or ~0 if the register itself was
/// never written.
struct Tracked {
  uint32_t row, shadow, bits;
  uint32_t root = 0; ///< the root if this is a read of a register never written
  uint32_t origin() const { return shadow + (bits == 1 ? 4 : bits * 4); }
};

/// An op that names tracked registers. Its handler is replaced by one that does
/// this besides.
struct UndefinedStep {
  enum Kind : uint8_t {
    Any,     ///< a lane's result is undefined if one of its operands is
    Warp,    ///< if an operand of any lane is
    Execute, ///< moves bits: the instruction itself, on shadow rows
    Shuffle, ///< the same behind it
    Logic,   ///< and, or: a bit may be decided by the other operand
    Union,   ///< xor, not, lop3: bit by bit
    Packed,  ///< arithmetic of two halves, each by itself
    Pair,    ///< cvt of two values (a: high half, b: low half) to a packed pair
    LogicPredicate,
    Mma,
    Wgmma,
    Store,  ///< the value must be defined in global memory
    Report, ///< all operands must be defined
    Ignore,
  } kind = Any;
  Handler original = nullptr;
  Op op; ///< with shadow rows in place of registers that hold data
  std::vector<Tracked> reads, writes, addresses;
  Tracked guard{};
  uint8_t bits = 0; ///< of a Logic's registers
};

/// What the check of undefined registers does in a function.
struct UndefinedPlan {
  std::vector<uint32_t> stepOf; ///< by op; ~0: none
  std::vector<UndefinedStep> steps;
  struct Root {
    uint32_t op, row;
  };
  std::vector<Root> roots;
};

/// The handler of all ops with a step.
void undefinedStep(Warp &warp, const Op &op, uint32_t mask);

} // namespace ptxsim

#endif // RUNTIME_PTXSIM_UNDEFINED_H
