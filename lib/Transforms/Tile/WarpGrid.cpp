#include "lib/Transforms/Tile/WarpGrid.h"

#include <algorithm>
#include <optional>

using namespace k2c::tile;

std::vector<WarpBit> k2c::tile::chooseWarpGrid(int64_t m, int64_t n,
                                               int64_t numWarps, DotRole role,
                                               int64_t rowWarps) {
  unsigned bits = log2Exact(numWarps);
  unsigned rowRoom = log2Exact(m / oddPart(m) / 16);
  unsigned colRoom = log2Exact(n / oddPart(n) / 8);
  unsigned rows = std::min(bits, rowRoom);
  unsigned cols = std::min(bits - rows, colRoom);
  if (role.feedsOperand) {
    cols = 0;
  } else if (!role.isFed) {
    // Fragment traffic of a warp grows with the sum of its tile's sides; two
    // column atoms let one ldmatrix bring both.
    // An element that is widened costs about four that are not.
    auto cost = [&](unsigned r, unsigned c) {
      int64_t warpM = m >> r, warpN = n >> c;
      return warpM * (role.widensA ? 4 : 1) + warpN * (role.widensB ? 4 : 1) +
             (warpN < 16 ? m : 0);
    };
    std::optional<int64_t> best;
    for (unsigned r = 0; r <= std::min(bits, rowRoom); ++r) {
      unsigned c = std::min(bits - r, colRoom);
      // Idle warps are worse than any shape.
      int64_t price = cost(r, c) + (int64_t(bits - r - c) << 32);
      if (!best || price < *best) {
        best = price;
        rows = r;
        cols = c;
      }
    }
  }
  if (rowWarps && !role.feedsOperand) {
    rows = std::min<unsigned>(log2Exact(rowWarps), std::min(bits, rowRoom));
    cols = std::min(bits - rows, colRoom);
  }
  std::vector<WarpBit> warps(rows, WarpBit::Row);
  warps.insert(warps.end(), cols, WarpBit::Col);
  warps.resize(bits, WarpBit::None);
  return warps;
}
