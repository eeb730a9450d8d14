#ifndef RUNTIME_PTXSIM_WARP_H
#define RUNTIME_PTXSIM_WARP_H

#include "runtime/ptxsim/AsyncCopies.h"
#include "runtime/ptxsim/BulkCopies.h"
#include "runtime/ptxsim/Calls.h"
#include "runtime/ptxsim/Fault.h"
#include "runtime/ptxsim/Op.h"
#include "runtime/ptxsim/Undefined.h"
#include "runtime/ptxsim/Wgmma.h"
#include "runtime/ptxsim/ptxsim.h"

#include <bit>
#include <memory>
#include <string>
#include <vector>

namespace ptxsim {

struct Allocation;
class Cta;
class Warp;
struct Function;

constexpr unsigned warpSize = 32;
constexpr uint32_t allLanes = 0xffffffffu;
/// The first 64 bytes of a register file are words: 0 is always true, 4 always
/// false, 8 the carry flags.
constexpr uint32_t carryWord = 8;

/// What an access does, for the checks.
enum class Access : uint8_t {
  Read,
  Write,
  Atomic,     ///< read and write
  AsyncWrite, ///< written by the asynchronous proxy (cp.async): visible only
              ///< after its wait
};

enum class MemoryKind : uint8_t;
/// Tells the observers, of which there are some, of an access of `bytes` in
/// each lane of the mask. One to Space::Generic is split up.
void observeAccess(Warp &w, const Op &op, MemoryKind kind, Space space,
                   uint32_t mask, const uint64_t *addresses, uint32_t bytes);
/// The same for a cp.async.
void observeAsyncCopy(Warp &w, const Op &op, uint32_t mask,
                      const uint64_t *sources, const uint64_t *targets,
                      const uint32_t *sizes);

/// What a split may wait for besides the CTA's barriers 0 to 15.
/// An op that waits for one of the last three runs again.
enum : int {
  waitsForCluster = 16,
  waitsForMbarrier = 17,
  waitsForWarpgroup = 18,
  waitsForRegisters = 19,
};

/// Lanes of a warp that are at the same place.
struct Split {
  uint32_t pc = 0;
  uint32_t mask = 0;
  uint32_t waitingFor = 0; ///< lanes it waits for at a .sync instruction
  int barrier = -1;        ///< the CTA barrier it waits at, or waitsFor..
  bool anywhere = false;   ///< waits at a bar.warp.sync: those it waits for may
                           ///< come to another one
  uint32_t object = 0;     ///< the mbarrier it waits for
  /// The op at which it waits: a barrier's has been executed, others run again.
  uint32_t waitingAt() const {
    return barrier >= 0 && barrier < waitsForMbarrier ? pc - 1 : pc;
  }
  bool runnable() const { return !waitingFor && barrier < 0; }
};

/// A warp: registers, the lanes' positions, and what it waits for. It has no
/// host stack: it can stop after any op.
class Warp {
public:
  // --- registers ---
  /// The 32 lanes of a register. 64-bit: u64[32]; 32-bit: u32[32]; 16-bit:
  /// u16[32] (8-bit values live in 16-bit registers).
  template <class T> T *row(uint32_t offset) {
    return reinterpret_cast<T *>(registers + offset);
  }
  /// A predicate: bit l is lane l.
  uint32_t &word(uint32_t offset) {
    return *reinterpret_cast<uint32_t *>(registers + offset);
  }
  /// The address of a lane of op's address operand: row op.a of op.e bits (32
  /// or 64), plus op.imm.
  uint64_t addressOf(const Op &op, unsigned lane) {
    return op.e == 32 ? uint64_t(uint32_t(row<uint32_t>(op.a)[lane] + op.imm))
                      : row<uint64_t>(op.a)[lane] + op.imm;
  }

  // --- memory ---
  /// Checks one lane's access and returns the memory behind it: the single
  /// place that all accesses go through. Faults on an error.
  std::byte *access(const Op &op, unsigned lane, Space space, uint64_t address,
                    unsigned bytes, Access kind);

  // --- errors ---
  /// Ends the launch with `file:line:column: error: form: cta (x,y,z) warp w
  /// lane l (thread t): message`, the line of PTX, the lane's values of the
  /// address and the notes (FaultText.h).
  [[noreturn]] void fault(const Op &op, unsigned lane,
                          const std::string &message, const Notes &notes = {},
                          FaultKind kind = FaultKind::Other);
  /// For instructions that the whole warp must execute together: faults unless
  /// all lanes that have not exited are in mask.
  void requireConverged(const Op &op, uint32_t mask);

  // --- control (for handlers of ops with the Control flag) ---
  /// True when all live lanes that `members` (a row of membermasks) names are
  /// in mask. Otherwise the lanes of mask have been put to wait for them, the
  /// op will run again when they are there, and the handler must return at
  /// once.
  bool together(const Op &op, uint32_t mask, uint32_t members);
  /// The same for bar.warp.sync, which exchanges nothing: lanes may meet at
  /// different instructions, and the op does not run again.
  void meet(const Op &op, uint32_t mask, uint32_t members);
  /// For .aligned control ops: lanes that came here only because others, which
  /// spin before it, had to let them have a turn wait for those. True if so:
  /// the op runs again when all are there.
  bool waitsForSpinning(const Op &op, uint32_t mask);
  /// Lanes of mask stop here until the barrier is released; the others go on.
  void waitAtBarrier(const Op &op, uint32_t mask, int barrier);
  /// Lanes of mask stop here until a phase of an mbarrier of the CTA completes;
  /// then the op runs again.
  void waitForMbarrier(const Op &op, uint32_t mask, uint32_t offset);
  /// The same until another warp of the warpgroup issues a wgmma.
  void waitForWarpgroup(const Op &op, uint32_t mask);
  /// The same until another warp gives registers back.
  void waitForRegisters(const Op &op, uint32_t mask);
  /// Those that wait for this go on.
  void wake(int barrier) {
    for (Split &split : splits)
      if (split.barrier == barrier)
        split.barrier = -1, blocked = false;
  }
  /// Sends the lanes of mask (a part of the active ones, or all) to `target`.
  void jump(uint32_t mask, uint32_t target);
  /// Ends the lanes of mask.
  void exitLanes(uint32_t mask);
  uint32_t indexOf(const Op &op) const { return uint32_t(&op - ops); }
  /// The step of an op of which the warp follows undefined values, or null.
  const UndefinedStep *stepOf(const Op &op) const;

  /// Runs until the warp blocks, ends, or has executed `quantum` instructions:
  /// exactly, or (not `anywhere`) at the next back edge.
  void run(uint64_t quantum, bool anywhere);

  std::byte *registers = nullptr;
  const Op *ops = nullptr;
  uint32_t active = 0;  ///< lanes of the running split
  uint32_t live = 0;    ///< lanes that have not exited
  uint32_t pc = 0;      ///< of the running split, while none of its ops runs
  uint32_t nextPc = 0;  ///< where the running split goes on after a Control op
  bool stop = false;    ///< a Control op has changed the splits
  bool blocked = false; ///< all splits wait
  Follow follow = Follow::Nothing;     ///< which undefined values
  const UndefinedPlan *plan = nullptr; ///< null: none
  unsigned index = 0;                  ///< in the CTA
  Cta *cta = nullptr;
  AsyncCopies copies;    ///< cp.async under way
  BulkCopies bulkCopies; ///< cp.async.bulk under way that bulk groups track
  WgmmaState wgmma;
  std::unique_ptr<CallStack> calls; ///< if the kernel has calls
  uint32_t clusterArrived = 0;      ///< lanes that owe a barrier.cluster.wait
  uint32_t clusterCounted = 0; ///< lanes that the cluster barrier has counted
  uint32_t expired = 0; ///< lanes whose wait for an mbarrier has timed out
  const Function *function = nullptr;
  Counters *counters = nullptr; ///< of the host thread that runs the CTA
  std::vector<Split> splits;    ///< the splits that are not running
  const Allocation *lastAllocation =
      nullptr; ///< the one that the last global access hit

private:
  /// Faults if the op names a register that a wgmma under way uses, and notes
  /// the access.
  void watchRegisters(const Op &op, uint32_t mask);
  template <bool Anywhere, bool Observed> void interpret(uint64_t quantum);
  /// Executes one op and tells the observers.
  void observed(const Op &op, uint32_t mask);
  /// The flags of ops that are more than their handler.
  uint8_t attentionOf() const {
    return uint8_t(Control | (splits.empty() ? 0 : Leader) |
                   (follow == Follow::Nothing     ? 0
                    : follow == Follow::Registers ? FollowedRegisters
                                                  : Followed));
  }
  uint32_t missingLanes(const Op &op, uint32_t mask, uint32_t members);
  bool mustSwitch(const Op &op);
  bool select();
  void mergeSplits();
  bool outOfTurn = false; ///< the running split's turn is one that a spinning
                          ///< one had to give away
  unsigned spins = 0;     ///< back edges taken while the warp is split
  unsigned favour = 0; ///< block starts for which the running split keeps its
                       ///< turn whatever its order

  friend class Cta;
};

} // namespace ptxsim

#endif // RUNTIME_PTXSIM_WARP_H
