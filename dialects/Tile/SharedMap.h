//===- SharedMap.h - Shared memory as a map ---------------------*- C++ -*-===//
//
// (row, col) of a tile -> byte offset in a shared buffer: linear over F2 on the
// 2-power parts, plus integer strides for the odd repeats. The bytes are
// stored as [col panel][row][span bytes] with the XOR swizzle of TMA and wgmma
// on the whole offset, so a buffer's base must be aligned to `alignment()`.
//
//===----------------------------------------------------------------------===//

#ifndef K2C_DIALECTS_TILE_SHAREDMAP_H
#define K2C_DIALECTS_TILE_SHAREDMAP_H

#include "dialects/Tile/LinearLayout.h"

namespace k2c::tile {

/// The hardware's XOR on a byte address for swizzle 0, 32, 64 or 128: an
/// involution, linear over F2.
uint64_t swizzleBytes(uint64_t address, unsigned swizzle);

/// Alignment of a buffer's base so that the XOR does not see the base.
unsigned swizzleAlignment(unsigned swizzle);

class SharedMap {
public:
  SharedMap() = default;
  SharedMap(int64_t rows, int64_t cols, unsigned elemBytes,
            std::vector<uint64_t> rowBases, std::vector<uint64_t> colBases,
            uint64_t rowRepeat, uint64_t colRepeat, unsigned swizzle);

  /// Panels of `span` bytes (default: the swizzle, or 16 without one). Nullopt
  /// and a reason if a panel would straddle the odd factor of the columns or
  /// if an odd number of rows meets several panels.
  static std::optional<SharedMap> panels(int64_t rows, int64_t cols,
                                         unsigned elemBytes, unsigned swizzle,
                                         unsigned span = 0,
                                         std::string *why = nullptr);
  /// Unswizzled panels whose row bit i is XORed into the 16-byte chunk index
  /// by masks[i]: scratch that neither TMA nor wgmma touches.
  static std::optional<SharedMap> scratch(int64_t rows, int64_t cols,
                                          unsigned elemBytes,
                                          const std::vector<unsigned> &masks,
                                          unsigned span = 128);
  /// Storage in the order the lanes read it: offset = vector of registers |
  /// lane | other registers | warps. Requires a bijective 2-D layout.
  static SharedMap fragmentOrder(const LinearLayout &layout, unsigned elemBytes,
                                 unsigned vectorBytes = 16);

  int64_t rows() const { return extents[0]; }
  int64_t cols() const { return extents[1]; }
  unsigned elemBytes() const { return elem; }
  unsigned swizzle() const { return swizzleMode; }
  unsigned alignment() const { return swizzleAlignment(swizzleMode); }
  uint64_t sizeBytes() const { return rows() * cols() * elem; }
  const std::vector<uint64_t> &bases(unsigned dim) const { return maps[dim]; }
  uint64_t repeatStride(unsigned dim) const { return strides[dim]; }

  /// Offset of a coordinate inside the 2-power parts.
  uint64_t linear(uint64_t row, uint64_t col) const {
    return xorOf(maps[0], row) ^ xorOf(maps[1], col);
  }
  uint64_t offset(int64_t row, int64_t col) const;
  /// Offset of a basis before the swizzle: what descriptors are made of.
  uint64_t unswizzled(unsigned dim, unsigned bit) const {
    return swizzleBytes(maps[dim][bit], swizzleMode);
  }
  /// The same bytes read as (col, row).
  SharedMap transposed() const;
  /// A box at the origin as a map of its own. Nullopt and a reason if its bits
  /// are not those of this map, continued by the repeats.
  std::optional<SharedMap> box(int64_t rows, int64_t cols,
                               std::string *why = nullptr) const;
  /// This map after a register layout: byte offsets of the layout's bases.
  PackedBases after(const LinearLayout &layout) const;

private:
  std::array<int64_t, 2> extents{};
  unsigned elem = 0;
  std::array<std::vector<uint64_t>, 2> maps;
  std::array<uint64_t, 2> strides{};
  unsigned swizzleMode = 0;
};

/// wgmma's view of a shared operand: K-major if the columns are K.
struct WgmmaDescriptor {
  enum Major { K, MN } major = K;
  uint64_t lbo = 0, sbo = 0;
  unsigned swizzle = 0, swizzleField = 0, align = 0;
  /// Advance of the start-address field per k-step.
  std::vector<uint64_t> kSteps;
  /// The 64-bit descriptor of a buffer at byte address `base`.
  uint64_t encode(uint64_t base) const;
};

/// Nullopt and a reason if the map is not one of the canonical layouts.
std::optional<WgmmaDescriptor> wgmmaDescriptor(const SharedMap &map,
                                               WgmmaDescriptor::Major major,
                                               std::string *why = nullptr);

} // namespace k2c::tile

#endif // K2C_DIALECTS_TILE_SHAREDMAP_H
