//===- TileShapes.cpp - Tile extents that layouts can hold ----------------===//
#include "k2c/Analysis/TileShapes.h"

#include "llvm/ADT/bit.h"
#include <algorithm>

int64_t k2c::ceilPowerOfTwo(int64_t extent) {
  return static_cast<int64_t>(llvm::bit_ceil(static_cast<uint64_t>(extent)));
}

int64_t k2c::getRowExtent(int64_t columns, int64_t threads, int64_t vector) {
  int64_t best = 0, bestCost = 0;
  // Every power of two with the smallest odd factor that reaches the row.
  for (int64_t power = 1; power <= ceilPowerOfTwo(columns); power *= 2) {
    int64_t factor = (columns + power - 1) / power;
    int64_t extent = factor * power;
    int64_t spread = power << llvm::countr_zero(static_cast<uint64_t>(factor));
    int64_t perThread =
        extent / std::min(std::max<int64_t>(spread / vector, 1), threads);
    if (best == 0 || perThread < bestCost ||
        (perThread == bestCost && extent < best)) {
      best = extent;
      bestCost = perThread;
    }
  }
  return best;
}
