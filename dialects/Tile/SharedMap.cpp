//===- SharedMap.cpp - Shared memory as a map -------------------*- C++ -*-===//

#include "dialects/Tile/SharedMap.h"

#include <algorithm>
#include <cassert>

namespace k2c::tile {

uint64_t swizzleBytes(uint64_t address, unsigned swizzle) {
  uint64_t mask = swizzle == 128  ? 7
                  : swizzle == 64 ? 3
                  : swizzle == 32 ? 1
                                  : 0;
  return address ^ (address >> 7 & mask) << 4;
}

unsigned swizzleAlignment(unsigned swizzle) {
  return swizzle == 0 ? 16 : swizzle * 8;
}

SharedMap::SharedMap(int64_t rows, int64_t cols, unsigned elemBytes,
                     std::vector<uint64_t> rowBases,
                     std::vector<uint64_t> colBases, uint64_t rowRepeat,
                     uint64_t colRepeat, unsigned swizzle)
    : extents{rows, cols}, elem(elemBytes),
      maps{std::move(rowBases), std::move(colBases)},
      strides{rowRepeat, colRepeat}, swizzleMode(swizzle) {
  for (unsigned d = 0; d < 2; ++d) {
    assert(int64_t(maps[d].size()) ==
           log2Exact(extents[d] / oddPart(extents[d])));
    assert((oddPart(extents[d]) == 1 || strides[d] % alignment() == 0) &&
           "a repeat must not disturb the swizzle");
  }
}

std::optional<SharedMap> SharedMap::panels(int64_t rows, int64_t cols,
                                           unsigned elemBytes, unsigned swizzle,
                                           unsigned span, std::string *why) {
  auto refuse = [&](const char *reason) {
    if (why)
      *why = reason;
    return std::nullopt;
  };
  if (!span)
    span = swizzle ? swizzle : 16;
  int64_t rowOdd = oddPart(rows), colOdd = oddPart(cols);
  unsigned rowBits = log2Exact(rows / rowOdd),
           colBits = log2Exact(cols / colOdd);
  unsigned perBits = log2Exact(span / elemBytes);
  unsigned inner = std::min(perBits, colBits);
  if (colBits < perBits && colOdd != 1)
    return refuse("a panel must not straddle the odd factor of the columns");
  // The panel stride would be no power of two.
  if (rowOdd > 1 && colBits > inner)
    return refuse("an odd number of rows in several panels needs one buffer "
                  "per panel");
  uint64_t panel = uint64_t(rows) * span;
  std::vector<uint64_t> row, col;
  for (unsigned i = 0; i < rowBits; ++i)
    row.push_back(swizzleBytes(uint64_t(span) << i, swizzle));
  for (unsigned i = 0; i < inner; ++i)
    col.push_back(uint64_t(elemBytes) << i);
  for (unsigned i = inner; i < colBits; ++i)
    col.push_back(panel << (i - inner));
  uint64_t rowRepeat = uint64_t(span) << rowBits;
  uint64_t colRepeat = panel << (colBits - inner);
  if ((rowOdd > 1 && rowRepeat % swizzleAlignment(swizzle)) ||
      (colOdd > 1 && colRepeat % swizzleAlignment(swizzle)))
    return refuse("a repeat must not disturb the swizzle");
  return SharedMap(rows, cols, elemBytes, row, col, rowRepeat, colRepeat,
                   swizzle);
}

std::optional<SharedMap> SharedMap::scratch(int64_t rows, int64_t cols,
                                            unsigned elemBytes,
                                            const std::vector<unsigned> &masks,
                                            unsigned span) {
  std::optional<SharedMap> map = panels(rows, cols, elemBytes, 0, span);
  if (!map)
    return std::nullopt;
  for (unsigned i = 0; i < map->maps[0].size() && i < masks.size(); ++i)
    map->maps[0][i] ^= uint64_t(masks[i]) << 4;
  return map;
}

SharedMap SharedMap::fragmentOrder(const LinearLayout &layout,
                                   unsigned elemBytes, unsigned vectorBytes) {
  assert(layout.rank() == 2 && layout.isBijective() &&
         "fragment order needs a bijection");
  unsigned v = log2Exact(vectorBytes / elemBytes);
  const auto &reg = layout.bases(kReg);
  std::vector<uint64_t> order(reg.begin(), reg.begin() + v);
  const auto &lane = layout.bases(kLane), &warp = layout.bases(kWarp);
  order.insert(order.end(), lane.begin(), lane.end());
  order.insert(order.end(), reg.begin() + v, reg.end());
  order.insert(order.end(), warp.begin(), warp.end());
  F2Span span(order);
  std::array<std::vector<uint64_t>, 2> maps;
  for (unsigned d = 0; d < 2; ++d)
    for (unsigned k = 0; k < layout.bits(d); ++k)
      maps[d].push_back(elemBytes *
                        *span.solve(uint64_t(1) << (layout.shift(d) + k)));
  uint64_t size = uint64_t(elemBytes) << layout.totalBits();
  return SharedMap(layout.shape()[0], layout.shape()[1], elemBytes, maps[0],
                   maps[1], size * layout.odd(1), size, 0);
}

uint64_t SharedMap::offset(int64_t row, int64_t col) const {
  unsigned rowBits = maps[0].size(), colBits = maps[1].size();
  return (row >> rowBits) * strides[0] + (col >> colBits) * strides[1] +
         linear(row & ((int64_t(1) << rowBits) - 1),
                col & ((int64_t(1) << colBits) - 1));
}

SharedMap SharedMap::transposed() const {
  return SharedMap(extents[1], extents[0], elem, maps[1], maps[0], strides[1],
                   strides[0], swizzleMode);
}

std::optional<SharedMap> SharedMap::box(int64_t rows, int64_t cols,
                                        std::string *why) const {
  std::array<int64_t, 2> size = {rows, cols};
  std::array<std::vector<uint64_t>, 2> bits;
  std::array<uint64_t, 2> repeats{};
  for (unsigned d = 0; d < 2; ++d) {
    unsigned mine = maps[d].size(),
             wanted = log2Exact(size[d] / oddPart(size[d]));
    // The image of bit i, continued into the repeats.
    auto image = [&](unsigned i) {
      return i < mine ? maps[d][i] : strides[d] << (i - mine);
    };
    bool legal = wanted <= mine || isPowerOfTwo(strides[d]);
    for (unsigned i = 0; i < wanted; ++i)
      bits[d].push_back(image(i));
    if (oddPart(size[d]) > 1) {
      // Repeats are added: the bits above must be equally spaced.
      repeats[d] = image(wanted);
      for (unsigned i = wanted; i <= mine; ++i)
        legal &= (i == mine && oddPart(extents[d]) == 1) ||
                 image(i) == repeats[d] << (i - wanted);
      legal &= repeats[d] % alignment() == 0;
    }
    if (!legal) {
      if (why)
        *why = "the box does not follow the buffer's bits";
      return std::nullopt;
    }
  }
  return SharedMap(rows, cols, elem, bits[0], bits[1], repeats[0], repeats[1],
                   swizzleMode);
}

PackedBases SharedMap::after(const LinearLayout &layout) const {
  assert(layout.rank() == 2 && "shared buffers are read as matrices");
  PackedBases out;
  for (unsigned in = 0; in < kNumInDims; ++in)
    for (const Coord &c : layout.coordBases(InDim(in)))
      out[in].push_back(linear(c[0], c[1]));
  return out;
}

uint64_t WgmmaDescriptor::encode(uint64_t base) const {
  constexpr uint64_t field = 0x3FFF;
  return (base >> 4 & field) | (lbo >> 4 & field) << 16 |
         (sbo >> 4 & field) << 32 | uint64_t(swizzleField) << 62;
}

std::optional<WgmmaDescriptor> wgmmaDescriptor(const SharedMap &map,
                                               WgmmaDescriptor::Major major,
                                               std::string *why) {
  unsigned elem = map.elemBytes(), swizzle = map.swizzle();
  unsigned chunk = 16 / elem, span = swizzle ? swizzle : 16;
  auto refuse = [&](const std::string &reason) {
    if (why)
      *why = std::string("not a canonical ") +
             (major == WgmmaDescriptor::K ? "K" : "MN") +
             "-major layout for swizzle " + std::to_string(swizzle) + ": " +
             reason;
    return std::nullopt;
  };
  std::array<std::vector<uint64_t>, 2> u;
  for (unsigned d = 0; d < 2; ++d)
    for (unsigned i = 0; i < map.bases(d).size(); ++i)
      u[d].push_back(map.unswizzled(d, i));
  std::array<int64_t, 2> extent = {map.rows(), map.cols()};
  // x, 2x, 4x, ... from bit `from` on, continued by the repeats.
  auto progression = [&](unsigned d, unsigned from) -> std::optional<uint64_t> {
    uint64_t first = from < u[d].size() ? u[d][from] : 0;
    for (unsigned i = from; i < u[d].size(); ++i)
      if (u[d][i] != first << (i - from))
        return std::nullopt;
    if (oddPart(extent[d]) == 1)
      return first;
    uint64_t next = map.repeatStride(d);
    if (from < u[d].size() && next != first << (u[d].size() - from))
      return std::nullopt;
    return first ? first : next;
  };
  unsigned inner = log2Exact(span / elem);
  for (unsigned i = 0; i < inner; ++i)
    if (i >= u[1].size() || u[1][i] != uint64_t(elem) << i)
      return refuse("the contiguous dim is not contiguous over " +
                    std::to_string(span) + " bytes");
  for (unsigned i = 0; i < 3; ++i)
    if (i >= u[0].size() || u[0][i] != uint64_t(span) << i)
      return refuse("8 rows are not " + std::to_string(span) + " bytes apart");

  WgmmaDescriptor d;
  d.major = major;
  d.swizzle = swizzle;
  d.swizzleField = swizzle == 128  ? 1
                   : swizzle == 64 ? 2
                   : swizzle == 32 ? 3
                                   : 0;
  d.align = map.alignment();
  if (major == WgmmaDescriptor::K) {
    std::optional<uint64_t> sbo = progression(0, 3);
    if (!sbo)
      return refuse("row bits are not equally spaced");
    d.sbo = *sbo;
    unsigned chunkBits = log2Exact(chunk);
    d.lbo = swizzle ? 16 : chunkBits < u[1].size() ? u[1][chunkBits] : 0;
    for (int64_t k = 0; k < map.cols(); k += 32 / elem)
      d.kSteps.push_back(swizzleBytes(map.offset(0, k), swizzle) >> 4);
  } else {
    if (elem != 2)
      return refuse("only 16-bit types may be MN-major");
    std::optional<uint64_t> mn = progression(1, inner);
    if (!mn)
      return refuse("col bits are not equally spaced");
    uint64_t k8 = u[0].size() > 3 ? u[0][3] : 0;
    d.sbo = swizzle ? k8 : *mn;
    d.lbo = swizzle ? *mn : k8;
    for (int64_t k = 0; k < map.rows(); k += 16)
      d.kSteps.push_back(swizzleBytes(map.offset(k, 0), swizzle) >> 4);
  }
  for (uint64_t x : {d.sbo, d.lbo})
    if (x % 16 || x >> 4 >= 1 << 14)
      return refuse("an offset does not fit its field");
  return d;
}

} // namespace k2c::tile
