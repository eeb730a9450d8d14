#ifndef RUNTIME_PTXSIM_TRANSFER_H
#define RUNTIME_PTXSIM_TRANSFER_H

#include "runtime/ptxsim/TensorMap.h"
#include "runtime/ptxsim/Type.h"

#include <functional>
#include <memory>

namespace ptxsim {

struct Clock;
class Cta;
class Warp;
struct Op;

/// What a reducing copy does to the destination.
enum class Reduction : uint8_t { None, Add, Min, Max, Inc, Dec, And, Or, Xor };

/// An asynchronous operation: a bulk copy or st.async with all that it needs to
/// take effect later, or the arrival of cp.async.mbarrier.arrive. Addresses of
/// shared memory count in the CTA's window.
struct Transfer {
  enum Kind : uint8_t {
    ToShared, ///< global to shared memory
    ToGlobal, ///< shared to global memory
    Between,  ///< shared memory to shared memory
    Arrive,   ///< no copy: the lane's cp.async are done
    Value,    ///< st.async, red.async: `data` from registers to shared memory
  } kind = ToShared;

  Warp *warp = nullptr; ///< who issued it
  const Op *op = nullptr;
  unsigned lane = 0;

  bool tensor = false;
  bool again = false; ///< another destination of a multicast has had it read
                      ///< from global memory
  TensorMapDesc map;
  std::array<int32_t, 5> at{}; ///< coordinates of the box
  uint64_t global = 0;         ///< without a tensor map
  uint32_t bytes = 0;          ///< in shared memory
  Cta *cta = nullptr;          ///< whose shared memory
  uint32_t offset = 0;
  Cta *source = nullptr; ///< of Between
  uint32_t sourceOffset = 0;
  Reduction reduction = Reduction::None;
  Type type = Type::None; ///< of the reduction

  Cta *barrierCta = nullptr; ///< null: a bulk group tracks it
  uint32_t barrier = 0;

  uint32_t stamp = 0; ///< of its accesses, for the race detector
  /// What its thread knew when it issued it, if it takes effect later.
  std::shared_ptr<const Clock> known;

  std::vector<std::byte> data; ///< once read

  /// For an operation that will take effect later: marks what it will write and
  /// read.
  void begin();
  void read();
  void write();
  /// For the race detector: its accesses to global memory, by an agent.
  void noteGlobal(unsigned agent, uint32_t stamp);
  /// What it read may be written again.
  void release();
  /// All of it, and the signal.
  void run();
  /// The parts of global memory that it covers.
  void forGlobalRuns(
      const std::function<void(uint64_t address, uint32_t bytes)> &f) const;
  /// For observers: it has been issued.
  void tellStart() const;
  void tellEnd() const;
  /// The line it was issued at.
  uint32_t line() const;

private:
  void copySource();
};

} // namespace ptxsim

#endif // RUNTIME_PTXSIM_TRANSFER_H
