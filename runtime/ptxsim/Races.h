#ifndef RUNTIME_PTXSIM_RACES_H
#define RUNTIME_PTXSIM_RACES_H

#include "runtime/ptxsim/Program.h"
#include "runtime/ptxsim/Warp.h"

#include <array>
#include <unordered_map>

namespace ptxsim {

/// Finds accesses to shared memory that conflict and that nothing orders, and
/// accesses to the destination of a cp.async under way.
///
/// Every warp has a vector clock: what it knows to be over in each warp.
/// Barriers, bar.warp.sync, and atomics with their fences join clocks. The
/// clocks are stamps of one counter of the CTA, so that "everything up to stamp
/// s is over" (the floor) settles most checks with one comparison. Shadow
/// memory holds, per cell of the smallest access that the kernel has (1, 2 or 4
/// bytes), the last write and the last reads of two warps. Inside a warp the
/// lanes are told apart: what a lane did is ordered with what other lanes do
/// later only by a bar.warp.sync or a barrier.
class Races {
public:
  Races(const Cta &cta, size_t warps, size_t sharedBytes);
  /// For a new CTA: everything so far is over.
  void restart();

  // --- accesses; offsets count from the start of shared memory ---
  /// Lane `lane` reads. `order` is op.target of a load (Order).
  void read(Warp &w, const Op &op, unsigned lane, uint32_t offset,
            uint32_t bytes, uint32_t order = 0);
  /// All 32 lanes read consecutive elements.
  void readAll(Warp &w, const Op &op, uint32_t offset, uint32_t bytesOfLane);
  /// All 32 lanes write consecutive elements; false if write() must look at
  /// each lane.
  bool writeAll(Warp &w, const Op &op, uint32_t offset, uint32_t bytesOfLane);
  /// A matrix instruction reads for all lanes of the warp.
  void readForWarp(Warp &w, const Op &op, unsigned lane, uint32_t offset,
                   uint32_t bytes);
  /// `value` is what is written (null: unknown): two writes of the same value
  /// do no harm. It must not have been stored yet, but what lower lanes write
  /// must.
  void write(Warp &w, const Op &op, unsigned lane, uint32_t offset,
             uint32_t bytes, const void *value, uint32_t order = 0);
  void atomic(Warp &w, const Op &op, unsigned lane, uint32_t offset,
              uint32_t bytes);
  /// cp.async begins to write; nobody may touch the bytes before asyncDone.
  void asyncWrite(Warp &w, const Op &op, unsigned lane, uint32_t offset,
                  uint32_t bytes);
  void asyncDone(Warp &w, unsigned lane, uint32_t offset, uint32_t bytes);

  // --- order ---
  void arrive(const Warp &w, unsigned barrier);
  /// `blocked`: warps all of whose lanes wait at the barrier.
  void release(unsigned barrier, uint32_t waiters, uint32_t blocked,
               uint32_t exited);
  void syncWarp(const Warp &w);
  void fence(const Warp &w);
  /// An atomic or a strong access at a generic address: a place where warps
  /// may meet.
  void synchronize(const Warp &w, uint64_t address, uint32_t order);

private:
  using Clock = std::array<uint32_t, warpSize>;
  struct Shadow;
  uint64_t entry(const Warp &w, const Op &op, unsigned lane, bool strong) const;
  bool known(const Warp &w, unsigned lane, uint64_t entry) const;
  void noteRead(uint32_t cell, uint64_t mine);
  void checkRead(Warp &w, const Op &op, unsigned lane, uint32_t cell,
                 uint64_t mine, bool strong);
  bool suppressed(const Warp &w, const Op &op, uint64_t other) const;
  void report(Warp &w, const Op &op, unsigned lane, uint32_t cell, bool writes,
              uint64_t other, bool otherWrites) const;
  std::string accessAt(const Warp &w, uint64_t entry) const;
  void setFloor(unsigned warp);

  unsigned shift; ///< log2 of a cell's bytes
  bool races, async;
  uint32_t warps;
  std::vector<uint64_t> writer, reader, otherReader; ///< by cell
  uint32_t now = 1;
  uint32_t epoch[warpSize] = {};  ///< stamp of the accesses of each warp
  uint64_t limits[warpSize] = {}; ///< entries below are over, for the warp
  Clock clocks[warpSize] = {};    ///< [warp][other]: over up to this stamp
  Clock barriers[16] = {};
  Clock fenced[warpSize] = {};  ///< what a relaxed atomic releases
  Clock pending[warpSize] = {}; ///< what the next fence acquires
  std::unordered_map<uint64_t, Clock> objects;
};

} // namespace ptxsim

#endif // RUNTIME_PTXSIM_RACES_H
