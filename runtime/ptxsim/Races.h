#ifndef RUNTIME_PTXSIM_RACES_H
#define RUNTIME_PTXSIM_RACES_H

#include "runtime/ptxsim/Clocks.h"
#include "runtime/ptxsim/Program.h"
#include "runtime/ptxsim/Warp.h"
#include "runtime/ptxsim/WrittenBy.h"

namespace ptxsim {

class Cta;

/// Finds accesses to a CTA's shared memory that conflict and that nothing
/// orders, and accesses to the destination of a cp.async under way. What is
/// ordered is told by the cluster's Clocks.
///
/// Shadow memory holds, per cell of the smallest access that the kernel has (1
/// to 16 bytes), the last write and the reads that nothing has ordered before
/// each other: stamps in one array, as most checks compare nothing but stamps
/// with a limit, and what else is known of an access in another.
class Races {
public:
  Races(Cta &cta, Clocks &clocks, size_t sharedBytes);
  /// Forgets all accesses.
  void clear();

  // --- accesses of warps of the cluster; offsets count from the start of
  // shared memory ---
  /// Lane `lane` reads. `order` is op.target of a load (Order).
  void read(Warp &w, const Op &op, unsigned lane, uint32_t offset,
            uint32_t bytes, uint32_t order = 0);
  /// The same for all lanes of mask; false if read() must look at each lane.
  bool readLanes(Warp &w, const Op &op, uint32_t mask, std::byte *const *from,
                 uint32_t bytes);
  /// All 32 lanes read consecutive elements.
  void readAll(Warp &w, const Op &op, uint32_t offset, uint32_t bytesOfLane);
  /// All 32 lanes write consecutive elements; false if write() must look at
  /// each lane.
  bool writeAll(Warp &w, const Op &op, uint32_t offset, uint32_t bytesOfLane);
  /// Lanes read the same bytes.
  void readSame(Warp &w, const Op &op, uint32_t mask, uint32_t offset,
                uint32_t bytes);
  /// A matrix instruction reads for all lanes of the warp.
  void readForWarp(Warp &w, const Op &op, unsigned lane, uint32_t offset,
                   uint32_t bytes);
  /// `value` is what is written (null: unknown): two writes of the same value
  /// do no harm. It must not have been stored yet, but what lower lanes write
  /// must.
  void write(Warp &w, const Op &op, unsigned lane, uint32_t offset,
             uint32_t bytes, const void *value, uint32_t order = 0);
  /// What the lanes of one instruction have in common.
  struct Batch {
    uint32_t stamp, limit, info;
  };
  Batch batchOf(const Warp &w, const Op &op);
  /// The same as write() in the usual case, that there is nothing at the bytes
  /// but what is over and what the lane itself did; false otherwise.
  bool tryWrite(const Batch &b, unsigned lane, uint32_t offset,
                uint32_t bytes) {
    const uint32_t mine = b.info | lane << laneShift,
                   end = (offset + bytes - 1) >> shift;
    for (uint32_t c = offset >> shift; c <= end; ++c) {
      const uint32_t at = writeStamp[c];
      if ((at >= b.limit &&
           (at == inFlight || ((writeInfo[c] ^ mine) & whoBits))) ||
          (readStamp[c] >= b.limit && ((readInfo[c] ^ mine) & whoBits)))
        return false;
    }
    for (uint32_t c = offset >> shift; c <= end; ++c)
      writeStamp[c] = b.stamp, writeInfo[c] = mine;
    return true;
  }
  void atomic(Warp &w, const Op &op, unsigned lane, uint32_t offset,
              uint32_t bytes);
  /// cp.async begins to write; nobody may touch the bytes before asyncDone.
  void asyncWrite(Warp &w, const Op &op, unsigned lane, uint32_t offset,
                  uint32_t bytes);
  void asyncDone(Warp &w, unsigned lane, uint32_t offset, uint32_t bytes);
  /// The same when an mbarrier tells that the copy is done: who waits for that
  /// mbarrier knows.
  void asyncDoneBy(Warp &w, unsigned lane, uint32_t offset, uint32_t bytes,
                   unsigned agent, uint32_t stamp);

  // --- asynchronous operations, issued by a lane (32: by the whole warp) ---
  void writeAsync(Warp &w, const Op &op, unsigned lane, uint32_t offset,
                  uint32_t bytes, unsigned agent, uint32_t stamp, bool reduces);
  void readAsync(Warp &w, const Op &op, unsigned lane, uint32_t offset,
                 uint32_t bytes, unsigned agent, uint32_t stamp);
  /// The whole warp issues reads of units of 16 bytes; adds who wrote them.
  void readUnits(Warp &w, const Op &op, const uint32_t *offsets, unsigned n,
                 unsigned agent, uint32_t stamp, WrittenBy &written);
  /// Another warp issues the same reads.
  void readAgain(Warp &w, const Op &op, const WrittenBy &written);

  /// Bytes of an mbarrier, which only its own instructions may touch.
  void setMbarrier(uint32_t offset, bool is);

private:
  // What is known of an access besides its stamp, from the low bits: site (of
  // the function's instructions that access memory), lane, several lanes,
  // strong (atomic, volatile, relaxed...), read by several agents, agent.
  static constexpr unsigned laneShift = 14, agentShift = 22;
  /// The agent of an mbarrier's own bytes.
  static constexpr unsigned mbarrierObject = 1023;
  static constexpr uint32_t several = 1u << 19, strongBit = 1u << 20,
                            sharedBit = 1u << 21, laneBits = 31u << laneShift,
                            agentBits = 1023u << agentShift,
                            whoBits =
                                agentBits | laneBits | several | sharedBit;
  /// Stamp of a cp.async that has not been waited for, and of an mbarrier.
  static constexpr uint32_t inFlight = ~0u;

  static unsigned agentIn(uint32_t info) { return info >> agentShift; }
  /// The lane, or 32 if there are several.
  static unsigned laneIn(uint32_t info) {
    return info & several ? warpSize : info >> laneShift & 31;
  }
  unsigned agentOf(const Warp &w) const;
  uint32_t infoOf(const Warp &w, const Op &op, unsigned lane, unsigned agent,
                  bool strong) const;
  bool known(unsigned warp, unsigned lane, uint32_t stamp, uint32_t info) const;
  void noteRead(unsigned warp, unsigned lane, uint32_t cell, uint32_t stamp,
                uint32_t info);
  void noteSharedRead(unsigned warp, unsigned lane, uint32_t cell,
                      uint32_t stamp, uint32_t info);
  void collect();
  void checkRead(Warp &w, const Op &op, unsigned lane, uint32_t cell,
                 bool strong);
  /// Calls f(stamp, info, whether the lane is known) for the reads of a cell
  /// that are not over for the warp.
  template <class F>
  void forReads(unsigned warp, unsigned lane, uint32_t cell, F f) const;
  bool suppressed(const Warp &w, const Op &op, uint32_t info) const;
  void report(Warp &w, const Op &op, unsigned lane, uint32_t cell, bool writes,
              uint32_t stamp, uint32_t info, bool otherWrites,
              bool laneKnown = true) const;
  std::string accessOf(const Warp &w, uint32_t info, bool laneKnown) const;

  Cta &cta;
  Clocks &clocks;
  unsigned shift; ///< log2 of a cell's bytes
  bool races, async, many;
  unsigned first; ///< agent of the CTA's warp 0
  std::vector<uint32_t> writeStamp, writeInfo, readStamp, readInfo; ///< by cell
  /// For cells that several agents have read: a mask of warps of this CTA that
  /// read at the same stamp, or an index in `lists`. Of a mask, the info tells
  /// the lane if it was the same of each warp; with strongBit (they are not) it
  /// tells that it was several of each (lane 1) or is not known (lane 0).
  std::vector<uint32_t> readers;
  static constexpr uint32_t maskSeveral = strongBit | 1u << laneShift,
                            maskUnknown = strongBit;
  struct Read {
    uint32_t stamp, info;
    bool anyLane = false; ///< it may have been any lane
  };
  static uint32_t lanesOfMask(uint32_t info) {
    return info & several ? maskSeveral : info & laneBits;
  }
  /// One of the reads of a mask.
  Read readOfMask(uint32_t stamp, uint32_t info, unsigned warp) const {
    const uint32_t lanes = info & (strongBit | laneBits),
                   rest = (info & ~(agentBits | sharedBit | strongBit)) |
                          (first + warp) << agentShift;
    return lanes == maskSeveral   ? Read{stamp, rest | several}
           : lanes == maskUnknown ? Read{stamp, rest, true}
                                  : Read{stamp, rest};
  }
  bool knownRead(unsigned warp, unsigned lane, const Read &r) const;
  bool isOver(unsigned warp, unsigned lane, const Read &r) const;
  std::vector<std::vector<Read>> lists;
  size_t mostLists = 1 << 16; ///< before those not in use are thrown away
  struct SharedRead {
    uint32_t at = 0, is = 0, set = 0, stamp = 0, info = 0;
    bool operator==(const SharedRead &) const = default;
  };
  SharedRead lastFrom, lastTo;
};

} // namespace ptxsim

#endif // RUNTIME_PTXSIM_RACES_H
