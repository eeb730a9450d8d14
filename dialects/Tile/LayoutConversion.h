//===- LayoutConversion.h - From one distribution to another ----*- C++ -*-===//
//
// How a tile moves from layout A to layout B: by renaming registers, by warp
// shuffles, or through shared memory. The plan says what every lane does in
// every round; nothing about particular layouts is known here.
//
//===----------------------------------------------------------------------===//

#ifndef K2C_DIALECTS_TILE_LAYOUTCONVERSION_H
#define K2C_DIALECTS_TILE_LAYOUTCONVERSION_H

#include "dialects/Tile/LinearLayout.h"

namespace k2c::tile {

struct ConversionPlan {
  enum Kind {
    None,      ///< equal layouts
    Registers, ///< compile-time renaming
    Select,    ///< inside the lane, but the register depends on the lane
    Bfly,      ///< shfl.bfly with a mask per round
    Idx,       ///< shfl.idx
    Shared     ///< through shared memory: store with A, barrier, load with B
  } kind = None;

  /// 32-bit words (or elements, if an element is wider) per lane and repeat
  /// times repeats, and how many of them really are shuffled.
  unsigned words = 0, shuffles = 0;
  /// Elements per word: the first `packBits` bits of srcOrder/dstOrder.
  unsigned packBits = 0;
  unsigned sendSelectBits = 0, recvSelectBits = 0;
  bool bytePermutes = false;

  /// Register bits of A and of B with the bits common to both in front:
  /// ordered bit i is register bit srcOrder[i].
  std::vector<unsigned> srcOrder, dstOrder;
  /// In round k (an ordered destination register whose pack bits are 0), lane l
  /// receives its ordered register k ^ H(l) from lane D(l) ^ P(k), which sends
  /// its ordered register S(l) ^ R(k). Columns per lane bit and per ordered
  /// destination register bit:
  struct LaneColumn {
    uint64_t sourceLane = 0; ///< D
    uint64_t sourceReg = 0;  ///< S
    uint64_t dstReg = 0;     ///< H
  };
  struct RegColumn {
    uint64_t sourceReg = 0;  ///< R
    uint64_t sourceLane = 0; ///< P
  };
  std::vector<LaneColumn> lanes;
  std::vector<RegColumn> regs;

  unsigned pack() const { return 1u << packBits; }
  /// Real register number of an ordered one.
  static uint64_t reorder(uint64_t ordered, const std::vector<unsigned> &order);
};

ConversionPlan conversionPlan(const LinearLayout &src, const LinearLayout &dst,
                              unsigned elemBytes);

/// For a plan without data movement between lanes and without selects (None,
/// Registers): per destination register, repeats included, the source register.
std::vector<unsigned> registerRenaming(const LinearLayout &src,
                                       const LinearLayout &dst);

/// For every register of `dst` at coordinate c the register of `src` at
/// coordinate `map(c)`, if lanes and warps agree; nullopt if some coordinate is
/// in no register of the same thread. Serves broadcast, reshape, transpose and
/// slice.
template <typename Fn>
std::optional<std::vector<unsigned>>
matchRegisters(const LinearLayout &dst, const LinearLayout &src, Fn map) {
  for (InDim in : {kLane, kWarp}) {
    if (dst.bases(in).size() != src.bases(in).size())
      return std::nullopt;
    for (unsigned bit = 0; bit < dst.bases(in).size(); ++bit) {
      Coord c = in == kLane ? dst.at(0, uint64_t(1) << bit)
                            : dst.at(0, 0, uint64_t(1) << bit);
      Coord s = in == kLane ? src.at(0, uint64_t(1) << bit)
                            : src.at(0, 0, uint64_t(1) << bit);
      // Only the step of the bit counts: `map` may add an offset.
      Coord mapped = map(c), origin = map(dst.at(0));
      for (unsigned d = 0; d < mapped.size(); ++d)
        if (mapped[d] - origin[d] != s[d])
          return std::nullopt;
    }
  }
  std::vector<unsigned> registers;
  for (unsigned r = 0; r < dst.registersPerThread(); ++r) {
    std::optional<unsigned> found = src.findRegister(map(dst.at(r)));
    if (!found)
      return std::nullopt;
    registers.push_back(*found);
  }
  return registers;
}

} // namespace k2c::tile

#endif // K2C_DIALECTS_TILE_LAYOUTCONVERSION_H
