#ifndef RUNTIME_PTXSIM_REGISTERPOOL_H
#define RUNTIME_PTXSIM_REGISTERPOOL_H

#include <cstdint>
#include <string>
#include <vector>

namespace ptxsim {

class Cta;
class Warp;
struct Op;

/// The registers of a CTA that setmaxnreg moves between its warps. `.dec` gives
/// some back to the pool, `.inc` takes some and waits until there are enough.
/// What a warp holds when it exits stays with it: the ISA names nothing else
/// that fills the pool.
class RegisterPool {
public:
  /// All warps hold what they are launched with, and the pool is empty.
  void start(Cta &cta);
  /// A warp executes a setmaxnreg; false if it must wait. Faults.
  bool set(Warp &w, const Op &op);
  /// All threads have exited: the warps of each warpgroup must have executed
  /// the same. Faults.
  void finish(const Cta &cta) const;

  /// What a warp that waits at `op` asks for.
  std::string describeWait(const Warp &w, const Op &op) const;
  /// Who holds what.
  std::string describe() const;

private:
  /// setmaxnreg that a warp has executed.
  struct Executed {
    const Op *op;
    uint32_t stamp; ///< by the cluster's clocks
  };
  struct Holder {
    uint32_t perThread = 0;
    std::vector<Executed> executed;
  };
  void checkGroup(Warp &w, const Op &op) const;

  const Cta *cta = nullptr;
  std::vector<Holder> holders; ///< by warp; empty before the first setmaxnreg
  /// Registers of a thread at the launch; 0: nothing tells them, then the ISA
  /// lets setmaxnreg have no effect.
  uint32_t atLaunch = 0;
  uint32_t available = 0;
};

} // namespace ptxsim

#endif // RUNTIME_PTXSIM_REGISTERPOOL_H
