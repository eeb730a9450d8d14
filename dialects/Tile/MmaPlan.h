//===- MmaPlan.h - A tile's dot as mma.sync instructions --------*- C++ -*-===//
//
// Which registers of the operands and of the accumulator every instruction of
// a warp takes, found by coordinates. The summed dimension may be permuted if
// both operands use the same permutation.
//
//===----------------------------------------------------------------------===//

#ifndef K2C_DIALECTS_TILE_MMAPLAN_H
#define K2C_DIALECTS_TILE_MMAPLAN_H

#include "dialects/Tile/LayoutConstructors.h"

namespace k2c::tile {

struct MmaPlan {
  struct Step {
    std::array<unsigned, 8> a;
    std::array<unsigned, 4> b;
    std::array<unsigned, 4> c;
  };
  /// In issue order: k-steps outermost, then columns, then rows, so that few
  /// fragments are alive at once.
  std::vector<Step> steps;
};

/// m16n8k16 with 16-bit operands. `a` is (m, k), `b` is (k, n), `c` is (m, n).
/// Nullopt and a reason if a warp does not hold what the instruction needs.
std::optional<MmaPlan> mmaPlan(const LinearLayout &a, const LinearLayout &b,
                               const LinearLayout &c,
                               std::string *why = nullptr);

/// The layouts of a dot over a grid of warps.
struct DotLayouts {
  LinearLayout a, b, c;
};
/// `warps` as for the accumulator: Row, Col, or None for warps that repeat the
/// work of others.
DotLayouts dotLayouts(int64_t m, int64_t n, int64_t k,
                      const std::vector<WarpBit> &warps);

} // namespace k2c::tile

#endif // K2C_DIALECTS_TILE_MMAPLAN_H
