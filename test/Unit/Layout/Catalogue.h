// The named layouts and shared maps of Inputs/layout_vectors.json, made by our
// constructors.
#ifndef K2C_TEST_UNIT_LAYOUT_CATALOGUE_H
#define K2C_TEST_UNIT_LAYOUT_CATALOGUE_H

#include "dialects/Tile/LayoutConstructors.h"
#include "dialects/Tile/SharedMap.h"

#include <map>
#include <string>

namespace k2c::tile::test {

const std::map<std::string, LinearLayout> &layouts();
const std::map<std::string, SharedMap> &sharedMaps();

/// Shorthand for `SharedMap::panels`, which must succeed.
SharedMap panels(int64_t rows, int64_t cols, unsigned elem, unsigned swizzle,
                 unsigned span = 0);
LinearLayout mma16(MmaOperand operand, int64_t rows, int64_t cols,
                   std::vector<WarpBit> warps = {});

} // namespace k2c::tile::test

#endif // K2C_TEST_UNIT_LAYOUT_CATALOGUE_H
