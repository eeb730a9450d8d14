#ifndef RUNTIME_PTXSIM_UNDEFINED_H
#define RUNTIME_PTXSIM_UNDEFINED_H

#include "runtime/ptxsim/Op.h"

#include <deque>
#include <memory>
#include <mutex>
#include <vector>

namespace ptxsim {

class Cta;
struct Callee;
struct Function;

/// A register that an instruction names.
struct RegisterUse {
  enum Role : uint8_t { Reads, Writes, Address };
  uint32_t row;
  uint8_t bits; ///< 1: a predicate
  Role role;
};

/// Which values are followed in a warp.
enum class Follow : uint8_t {
  Nothing,    ///< all registers are defined
  Registers,  ///< those of registers that are live where the kernel begins
  Everything, ///< those from memory too
};

/// Where an undefined value comes from, as one number: 0 for a value that is
/// defined, `own` for a register that was never written itself, an index into
/// Cluster::origins with this bit, else one more than the number of a use of
/// such a register (Function::uses, behind them the guards by op).
namespace Origin {
constexpr uint32_t own = ~0u, fromMemory = 1u << 31;
} // namespace Origin

/// A read of undefined memory.
struct MemoryOrigin {
  uint32_t op;   ///< the load
  uint32_t from; ///< origin of what was stored there; 0: nothing was
  uint64_t address;
  Space space;               ///< Shared or Local
  uint8_t lane, bytes, byte; ///< byte: the first undefined one
  uint32_t writer;           ///< thread of the CTA that stored it
};

/// A register whose undefined bits are tracked. Behind the registers of a warp
/// stands their shadow, of the same layout: ones where a register's bits are
/// undefined. Behind that, at the start of each row, the origin.
struct Tracked {
  uint32_t row, bits;
  uint32_t shadow, origin; ///< rows of the register file
  uint32_t root = 0;       ///< the origin if this is a read of a register never
                           ///< written
};

/// What is done with an op that names tracked registers, besides executing it.
struct UndefinedStep {
  enum Kind : uint8_t {
    Any,     ///< a lane's result is undefined if one of its operands is
    Warp,    ///< if an operand of any lane is
    Execute, ///< moves bits: the instruction itself, on shadow rows
    Shuffle, ///< the same behind it
    Logic,   ///< and, or: a bit may be decided by the other operand
    Table,   ///< lop3: the same for three operands
    Union,   ///< xor, not: bit by bit
    Packed,  ///< arithmetic of two halves, each by itself
    Pair,    ///< cvt of two values (a: high half, b: low half) to a packed pair
    Compare, ///< setp: a predicate may decide the combination
    LogicPredicate,
    Mma,
    Wgmma,
    Load,
    LoadMatrix,
    Store, ///< the value must be defined in global memory
    StoreMatrix,
    Report, ///< all operands must be defined
    Call,   ///< call and ret pass on what they copy themselves
    Ignore,
  } kind = Any;
  Op op; ///< with shadow rows in place of registers that hold data
  std::vector<Tracked> reads, writes, addresses;
  Tracked guard{};
  uint8_t bits = 0; ///< of a Logic's registers
  /// Of a Load or Store: an element in memory.
  uint8_t elementBytes = 0, registerBytes = 0;
  bool isSigned = false, transposes = false, isAnd = false;
  std::vector<uint32_t> origins; ///< of all registers, to see if any is
                                 ///< undefined
};

/// What following undefined values does in a function.
struct UndefinedPlan {
  std::vector<uint32_t> stepOf; ///< by op; ~0: none
  std::vector<UndefinedStep> steps;
  std::vector<Tracked> registers;
  std::vector<Tracked> roots; ///< those that begin undefined
  std::deque<std::vector<uint32_t>> lists;
};

/// The plan of Follow::Everything, made when it is first wanted.
struct LazyPlan {
  std::once_flag once;
  std::unique_ptr<const UndefinedPlan> plan;
};

/// `roots`: registers that may be read before they are written.
std::unique_ptr<const UndefinedPlan>
planUndefined(const Function &f, const std::vector<uint32_t> &roots,
              Follow follow);

/// Thrown by a load, before it has done anything, that meets undefined memory
/// where only registers are followed: it is executed again with
/// Follow::Everything.
struct FollowEverything {
  const Op *op;
};

/// Where the undefined bits of a register come from; 0 if it has none.
uint32_t originOf(Warp &warp, const Tracked &t);

/// Executes an op with a step.
void undefinedStep(Warp &warp, const Op &op, const UndefinedStep &step,
                   uint32_t mask);

/// A warp begins: which of its registers are undefined.
void startFollowing(Warp &warp);
void followEverything(Warp &warp);
/// A call begins for these lanes: the registers of the function, of rows
/// [begin, end), that are read before they are written.
void startFunction(Warp &warp, uint32_t begin, uint32_t end, uint32_t lanes);

/// Reports an undefined value that decides something.
[[noreturn]] void reportUndefined(Warp &warp, const Op &op, unsigned lane,
                                  const char *what, uint32_t origin);

/// The undefined bits of a CTA's shared memory where not all are defined
/// (Cta::initialised), and their origins.
struct SharedShadow {
  struct Byte {
    uint8_t bits = 0xff;
    uint32_t origin = 0, writer = 0;
  };
  std::vector<Byte> bytes;
};

/// The same for the local memory of a CTA's threads: byte by byte, 0 is
/// defined.
struct LocalShadow {
  std::vector<uint8_t> bits;
  std::vector<uint32_t> origins; ///< empty: none was stored
};

// What loads and stores do (UndefinedMemory.cpp).
void undefinedLoad(Warp &w, const Op &op, const UndefinedStep &s,
                   uint32_t mask);
void undefinedLoadMatrix(Warp &w, const Op &op, const UndefinedStep &s,
                         uint32_t mask);
void undefinedStore(Warp &w, const Op &op, const UndefinedStep &s,
                    uint32_t mask);
void undefinedStoreMatrix(Warp &w, const Op &op, const UndefinedStep &s,
                          uint32_t mask);
/// A read by an instruction that meets unwritten bytes of shared memory, or
/// undefined ones of local memory: returns if the values are followed, else
/// reports or throws FollowEverything. `byte`: the first of them.
void readUndefinedShared(Warp &w, const Op &op, unsigned lane, Cta &cta,
                         uint32_t offset, unsigned bytes, uint32_t byte,
                         bool isRead);
void readUndefinedLocal(Warp &w, const Op &op, unsigned lane, uint64_t address,
                        unsigned bytes, uint32_t byte, bool isRead);
/// The origin of what an instruction has read of shared memory.
uint32_t originOfShared(Warp &w, const Op &op, uint32_t offset, unsigned bytes,
                        uint32_t byte);
/// What bytes of shared memory held has been forgotten.
void forgetShared(Cta &cta, uint32_t offset, uint32_t bytes);

/// A value that call or ret moves: a register, or memory of the thread.
struct PassedValue {
  bool isMemory = false;
  uint32_t row = 0, bits = 0;
  uint64_t address = 0; ///< in local memory
};
/// The undefined bits of a value of one lane on its way.
struct PassedBits {
  std::vector<uint8_t> bits;
  bool any = false;
  uint32_t origin = 0;
};
PassedBits takeUndefined(Warp &w, const Op &op, unsigned lane,
                         const PassedValue &from, uint32_t bytes,
                         bool toRegister);
void putUndefined(Warp &w, unsigned lane, const PassedValue &to,
                  const PassedBits &bits);
/// A lane enters a function whose frame begins at `base`: nothing in it is
/// defined yet. And it has got its registers of before a call back.
void startFrame(Warp &w, const Callee &c, unsigned lane, uint32_t base);
void markRestored(Warp &w, const Callee &c);

} // namespace ptxsim

#endif // RUNTIME_PTXSIM_UNDEFINED_H
