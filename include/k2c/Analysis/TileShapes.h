//===- TileShapes.h - Tile extents that layouts can hold --------*- C++ -*-===//
#ifndef K2C_ANALYSIS_TILESHAPES_H
#define K2C_ANALYSIS_TILESHAPES_H

#include <cstdint>

namespace k2c {

/// The extent of a row of at least `columns` elements that costs a thread the
/// fewest elements when `threads` threads hold it in vectors of `vector`
/// elements: an extent is odd * 2^k, and only the 2^k part spreads over
/// threads. Of equal ones the smallest: 7168 stays 7 * 1024, 500 becomes 512.
int64_t getRowExtent(int64_t columns, int64_t threads, int64_t vector = 8);

/// The smallest power of two of at least `extent`.
int64_t ceilPowerOfTwo(int64_t extent);

} // namespace k2c

#endif // K2C_ANALYSIS_TILESHAPES_H
