#ifndef RUNTIME_PTXSIM_OP_H
#define RUNTIME_PTXSIM_OP_H

#include "runtime/ptxsim/Type.h"

namespace ptxsim {

class Warp;
struct Op;

/// Executes one instruction for the lanes in `mask` (never empty, unless the op
/// has RunsEmpty).
using Handler = void (*)(Warp &warp, const Op &op, uint32_t mask);

/// What the interpreter loop has to know about an op besides its handler.
enum OpFlags : uint8_t {
  Control = 1,   ///< may change pc, mask or state of the warp
  Leader = 2,    ///< first of a basic block: splits may meet here
  RunsEmpty = 4, ///< the handler also runs when its guard is false in all lanes
  FollowedRegisters = 8, ///< has a step of Follow::Registers
  Followed = 16,         ///< all ops, if undefined values may be followed
};

/// What op.target of a load, store or atomic says about its memory order. 0 is
/// a weak access.
namespace Order {
enum : uint32_t { Strong = 1, Acquire = 2, Release = 4, Load = 8 };
/// The scope, from bit 4 on; none given is a wide one.
enum Scope : uint32_t { Cta = 1, Cluster = 2, Gpu = 3 };
constexpr uint32_t scopeOf(uint32_t order) { return order >> 4; }
constexpr uint32_t withScope(uint32_t order, uint32_t scope) {
  return order | scope << 4;
}
} // namespace Order

/// A decoded instruction. Operands are byte offsets into the warp's register
/// file, where immediates, symbols' addresses and special registers have rows
/// of their own: a handler need not know which kind it reads.
struct Op {
  Handler fn = nullptr;
  uint32_t d = 0, a = 0, b = 0, c = 0; ///< rows (or predicate words)
  uint32_t e = 0;         ///< a fifth row: second destination, carry, ...
  uint32_t guard = 0;     ///< offset of the guard's predicate word (0: the word
                          ///< that is always true)
  uint32_t guardFlip = 0; ///< ~0u for @!p
  uint32_t target = 0;    ///< op index of a branch's destination
  uint64_t imm = 0;       ///< address offset, or what the family wants
  const uint32_t *list = nullptr; ///< more rows: vector elements, fragments
                                  ///< (owned by the function)
  uint16_t count = 0;             ///< entries of list, if the family wants it
  uint8_t flags = 0;
  Space space = Space::Generic;
  uint32_t order = 0; ///< position in reverse post-order of blocks: smaller
                      ///< runs first when a warp is split
};

} // namespace ptxsim

#endif // RUNTIME_PTXSIM_OP_H
