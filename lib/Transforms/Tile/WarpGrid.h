//===- WarpGrid.h - How the warps share an accumulator ----------*- C++ -*-===//
#ifndef K2C_LIB_TRANSFORMS_TILE_WARPGRID_H
#define K2C_LIB_TRANSFORMS_TILE_WARPGRID_H

#include "dialects/Tile/LayoutConstructors.h"

namespace k2c::tile {

/// Place of a dot in a chain of dots.
struct DotRole {
  /// Its result is the A operand of another dot: a warp must hold whole rows.
  bool feedsOperand = false;
  /// Its A operand is the result of such a dot: rows are split alike.
  bool isFed = false;
  /// An operand is widened from 8 bits on its way to the fragments: every warp
  /// that shares it repeats that work.
  bool widensA = false, widensB = false;
};

/// One entry per warp bit. Alone, a dot is split so that a warp's fragments are
/// smallest; in a chain, rows come first. `rowWarps` (0: choose) is the number
/// of rows of the warp grid. Bits without room repeat the work.
std::vector<WarpBit> chooseWarpGrid(int64_t m, int64_t n, int64_t numWarps,
                                    DotRole role, int64_t rowWarps);

} // namespace k2c::tile

#endif // K2C_LIB_TRANSFORMS_TILE_WARPGRID_H
