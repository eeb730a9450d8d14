#ifndef RUNTIME_PTXSIM_PROGRAM_H
#define RUNTIME_PTXSIM_PROGRAM_H

#include "runtime/ptxsim/Calls.h"
#include "runtime/ptxsim/Op.h"
#include "runtime/ptxsim/Undefined.h"
#include "runtime/ptxsim/ptxsim.h"

#include <deque>
#include <map>
#include <memory>
#include <unordered_map>

namespace ptxsim {

class ModuleImpl;

/// Where a decoded op came from: the cold half of an Op.
struct OpInfo {
  uint32_t line = 0, column = 0;
  uint32_t loc = 0; ///< index into Function::locs
  std::string_view
      form; ///< opcode and modifiers as written (into the module's text)
};

/// A .loc directive: what the compiler says the instruction came from.
struct SourceLoc {
  uint32_t file = 0, line = 0, column = 0;
};

/// Special registers that keep their value while a warp lives; each gets a row
/// that is filled when the warp starts.
enum class Special : uint8_t {
  TidX,
  TidY,
  TidZ,
  NtidX,
  NtidY,
  NtidZ,
  CtaidX,
  CtaidY,
  CtaidZ,
  NctaidX,
  NctaidY,
  NctaidZ,
  LaneId,
  WarpId,
  NWarpId,
  SmId,
  NSmId,
  GridId,
  DynamicSharedSize,
  TotalSharedSize,
  LanemaskEq,
  LanemaskLe,
  LanemaskLt,
  LanemaskGe,
  LanemaskGt,
  ClusterIdX,
  ClusterIdY,
  ClusterIdZ,
  NClusterIdX,
  NClusterIdY,
  NClusterIdZ,
  ClusterCtaidX,
  ClusterCtaidY,
  ClusterCtaidZ,
  ClusterNctaidX,
  ClusterNctaidY,
  ClusterNctaidZ,
  ClusterCtarank,
  ClusterNctarank,
  EnvReg0, ///< %envreg0; the others follow
  EnvReg31 = EnvReg0 + 31,
  Scratch, ///< not a register of PTX: the row behind every sink
};

/// A row of the register file that holds the same constant in all lanes.
struct ConstantRow {
  uint32_t row;
  uint32_t bits;
  uint64_t value;
  bool dynamicShared; ///< value counts from the start of dynamic shared memory
};

struct SpecialRow {
  uint32_t row;
  uint32_t bits;
  Special special;
};

/// A run of the register file that holds registers.
struct RegisterRange {
  uint32_t offset, bytes;
};

/// Registers as declared: `name`, or name0, name1, ... of a range.
struct RegisterName {
  std::string_view name; ///< into the module's text
  uint32_t row = 0, stride = 0, count = 0;
  Type type = Type::None;
  bool range = false;
};

/// What the race detector has to know of a function.
struct RaceFacts {
  static constexpr uint32_t mostSites = 1u << 14;
  uint8_t smallest = 16; ///< bytes of the smallest access to shared memory, at
                         ///< most 16
  uint8_t smallestGlobal = 4; ///< the same of global memory, at most 4
  bool fences = false;        ///< fences or ordered accesses
  bool cas = false;           ///< atom.cas
  bool mbarriers = false;
  bool invals = false; ///< mbarrier.inval
  bool copies = false; ///< cp.async
  /// ldmatrix and stmatrix, whose lanes may change a matrix in place: the bytes
  /// of a row are those of the lanes that get or give them.
  bool inPlace = false;
  /// Instructions that access memory: their ops, and for each op its number
  /// among them. Number 0 is none, or one too many.
  std::vector<uint32_t> sites;
  std::vector<uint16_t> siteOf;
};

/// A decoded function.
struct Function {
  const ModuleImpl *module = nullptr;
  Kernel kernel;
  std::vector<Op> ops;
  std::vector<OpInfo> infos;
  std::vector<SourceLoc> locs; ///< [0] is "unknown"
  uint32_t registerBytes = 64; ///< size of a warp's register file; word 0 is
                               ///< always true, word 1 always false
  std::vector<ConstantRow> constants;
  std::vector<SpecialRow> specials;
  std::vector<RegisterRange> registers;
  std::vector<RegisterName> registerNames;
  RaceFacts raceFacts;
  /// For following undefined values: the registers that op i names are
  /// uses[useStart[i] .. useStart[i + 1]); those that may be read before they
  /// are written; null if there is none, and what is made if undefined memory
  /// is read. All is empty unless the module is to be checked for that.
  std::vector<RegisterUse> uses;
  std::vector<uint32_t> useStart, undefinedRoots;
  std::shared_ptr<const UndefinedPlan> undefined;
  std::shared_ptr<LazyPlan> everything;
  /// Bytes of a warp's register file with the shadow, the origins, a row of
  /// zeros and one that nobody reads.
  uint32_t fileBytes() const {
    return everything ? 3 * registerBytes + 512 : registerBytes;
  }
  uint32_t localBytes = 0;     ///< of one thread, with its stack
  uint32_t stackBase = 0;      ///< where the frames of functions begin there
  bool usesAsyncProxy = false; ///< has bulk copies or wgmma
  bool usesWgmma = false;
  /// Rows of the registers that op i names (wgmma's own excepted):
  /// operandRows[operandStart[i] .. operandStart[i + 1]).
  std::vector<uint32_t> operandRows, operandStart;
  /// How many of op i's rows its first operand has.
  std::vector<uint32_t> firstOperandRows;
  uint32_t sharedEnd = 0; ///< end of static shared memory in the window
  uint32_t dynamicSharedAlign = 0;
  uint32_t dynamicSharedBase =
      0; ///< where dynamic shared memory starts in the window
  std::deque<std::vector<uint32_t>> lists;
  std::deque<Callee> callees;
  std::deque<CallSite> callSites;
};

RaceFacts raceFactsOf(const Function &function);

class ModuleImpl : public Module {
public:
  const std::vector<Kernel> &kernels() const override { return entries; }
  const Kernel *find(std::string_view name) const override;
  std::optional<std::pair<uint64_t, size_t>>
  global(std::string_view name) const override;

  std::string text, filename;
  bool checksUndefined = false; ///< Checks::undefinedRegisters
  std::vector<Kernel> entries;
  std::deque<Function> functions; ///< functions[i] is entries[i]
  std::unordered_map<uint32_t, std::string_view> files;
  std::map<std::string, std::pair<uint64_t, size_t>, std::less<>> globals;
};

} // namespace ptxsim

#endif // RUNTIME_PTXSIM_PROGRAM_H
