#ifndef RUNTIME_PTXSIM_OPFACTS_H
#define RUNTIME_PTXSIM_OPFACTS_H

#include <cstdint>
#include <string_view>
#include <vector>

namespace ptxsim {

struct Function;

/// Which unit of an SM executes an instruction, as far as PTX tells.
enum class OpClass : uint8_t {
  Fp32,   ///< add, sub, mul, fma of f32
  Fp16x2, ///< the same of f16, bf16 and pairs of them
  Fp64,   ///< everything on f64
  Int32,  ///< integers, logic, shifts, comparisons and selections of any type
  Mufu,   ///< ex2, lg2, sin, cos, tanh, rcp, rsqrt, sqrt, float division
  Cvt,    ///< conversions but those of CvtFloatToHalf
  CvtFloatToHalf, ///< f32 to f16 or bf16
  Lsu,     ///< ld, st (but .param), atom, red, ldmatrix, stmatrix, cp.async
  Shuffle, ///< shfl
  Tensor,  ///< mma, wmma.mma, wgmma.mma_async
  Bulk,    ///< cp.async.bulk, cp.reduce.async.bulk
  Control, ///< bra, brx, call, ret, exit
  Sync,    ///< barriers, mbarriers, fences, waits, votes
  Move,    ///< mov, cvta, ld.param: mostly no instruction of SASS
  Other,
};
constexpr unsigned opClasses = unsigned(OpClass::Other) + 1;
std::string_view opClassName(OpClass c);

enum class MemoryKind : uint8_t {
  None,
  Load,
  Store,
  Atomic,
  Reduction, ///< red, and atom whose result nothing reads
  LoadMatrix,
  StoreMatrix,
  AsyncLoad,  ///< the global side of cp.async
  AsyncStore, ///< its shared side
  Prefetch,   ///< of the 128 bytes around an address
};

/// Number formats that tensor cores tell apart by speed.
enum class TensorType : uint8_t { None, F16, Tf32, Fp8, Int8 };

/// What an instruction does to the groups of cp.async.
enum class CopyGroup : uint8_t { None, Commit, Wait, WaitAll, Arrive };

/// What the text of an instruction says about its cost.
struct OpFacts {
  OpClass kind = OpClass::Other;
  MemoryKind memory = MemoryKind::None;
  bool cached = false;       ///< a load that the L1 cache may serve
  bool strong = false;       ///< volatile, relaxed, acquire, ...
  bool tellsItself = false;  ///< the handler tells observers what it accesses
  bool prefetchesL1 = false; ///< prefetch.L1: else to L2
  bool uncounted = false;    ///< an access whose effect nobody counts
  bool branch = false;       ///< bra or brx
  bool conditional = false;  ///< and lanes may part there
  bool indexed = false;      ///< brx
  CopyGroup group = CopyGroup::None;
  bool ctaBarrier = false; ///< bar or barrier (.sync, .arrive, .red)
  bool clusterBarrier = false;
  bool mbarrierArrive = false; ///< also expect_tx and complete_tx
  bool mbarrierWait = false;   ///< test_wait, try_wait
  bool mbarrierOther = false;  ///< what else accesses an mbarrier
  bool gridDependency = false; ///< griddepcontrol
  bool writesFirst = false;    ///< the first operand is its result
  uint8_t results = 1; ///< of each lane: two for pairs and 64-bit integers
  uint32_t bytes = 0;  ///< that a lane accesses
  TensorType tensor = TensorType::None;
  std::string_view shape;       ///< m16n8k16
  uint32_t m = 0, n = 0, k = 0; ///< of the warp's share: wgmma's m is 16
  bool registersA = false;      ///< wgmma with A in registers
  bool wgmma = false;
};

/// Of each op of a function.
std::vector<OpFacts> factsOf(const Function &function);

} // namespace ptxsim

#endif // RUNTIME_PTXSIM_OPFACTS_H
