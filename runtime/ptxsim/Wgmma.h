#ifndef RUNTIME_PTXSIM_WGMMA_H
#define RUNTIME_PTXSIM_WGMMA_H

#include "runtime/ptxsim/WrittenBy.h"
#include "runtime/ptxsim/numeric/Wgmma.h"

#include <array>
#include <bitset>
#include <vector>

namespace ptxsim {

class Cta;
class Warp;
struct Op;

/// A wgmma.mma_async that a warp has issued and not waited for.
struct WgmmaPending {
  const Op *op = nullptr;
  uint64_t a = 0, b = 0; ///< descriptors (a: of SS)
  uint64_t number = 0;   ///< of the warp's wgmma, to find its warpgroup's
  uint32_t group = 0;
  uint32_t stamp = 0; ///< of its reads, for the race detector
  bool accumulate = false;
  bool isDone = false;          ///< D has been computed
  uint32_t low = ~0u, high = 0; ///< bounds of its operands in shared memory
};

/// What a warp knows of its wgmma.
struct WgmmaState {
  std::vector<WgmmaPending> pending;
  uint32_t closed = 0;   ///< groups
  uint64_t issued = 0;   ///< wgmma.mma_async so far
  bool fenced = false;   ///< a wgmma.fence has been executed
  uint64_t meetings = 0; ///< wgmma.fence so far
  /// Per 64 bytes of the register file, at the start of a row.
  enum : uint8_t { InFlight = 1, Touched = 2 };
  std::vector<uint8_t> rows;
  void clear() {
    pending.clear();
    closed = 0, issued = 0, fenced = false, meetings = 0;
    std::fill(rows.begin(), rows.end(), 0);
  }
};

/// Rows of A and columns of B of which something in shared memory is undefined,
/// and where it comes from (Undefined.h).
struct UndefinedOperand {
  std::bitset<256> lines;
  uint32_t origin = 0;
};

/// What the four warps of a warpgroup share: which wgmma each number is, and B
/// widened by the first of them.
struct WgmmaGroup {
  struct Entry {
    uint64_t number = ~0ull;
    const Op *op = nullptr;
    unsigned warp = 0;
    uint64_t descriptor = 0;
    uint32_t stamp = 0; ///< of its reads, for the race detector
    WrittenBy writtenB; ///< who wrote B, once the first warp has looked
  };
  /// By number, a ring: all that one warp has issued and another has not, and
  /// more.
  std::vector<Entry> entries = std::vector<Entry>(64);
  Entry &entry(uint64_t number) { return entries[number % entries.size()]; }
  /// Makes room for a number when all below `oldest` have been issued by all.
  void reserve(uint64_t oldest, uint64_t number);
  /// A ring by number too; what has gone is widened again.
  struct Widened {
    uint64_t number = ~0ull;
    UndefinedOperand undefined;
    WideB b;
  };
  std::array<Widened, 32> widened;
  /// Numbers below this have been waited for by a warp. As the four compute
  /// together, the others' operands have been read too.
  uint64_t completed = 0;
  /// The wgmma.fence at which warps have arrived, as bits, and how often all
  /// four have met so far.
  uint32_t arrived = 0;
  const Op *fence = nullptr;
  unsigned fenceWarp = 0;
  uint64_t meetings = 0;
  void clear() {
    completed = 0, arrived = 0, meetings = 0;
    for (Entry &e : entries)
      e.number = ~0ull;
    for (Widened &w : widened)
      w.number = ~0ull;
  }
};

/// Computes the first one of the warp that has not been computed.
void advanceWgmma(Warp &w);
/// Of a wgmma.mma_async: does it add to D now, how many registers of A it has,
/// and whether those of D hold two halves.
bool wgmmaAccumulates(Warp &w, const Op &op);
unsigned wgmmaRegistersOfA(const Op &op);
bool wgmmaHalves(const Op &op);

/// The wgmma of the CTA under way that may still read one of these bytes of
/// shared memory: its line; 0 if there is none.
uint32_t wgmmaReading(Cta &cta, uint32_t address, uint32_t bytes);

} // namespace ptxsim

#endif // RUNTIME_PTXSIM_WGMMA_H
