//===- LinearLayout.h - Which thread holds which element --------*- C++ -*-===//
//
// A distributed layout: a linear map over F2 from the bits of (register, lane,
// warp, block) to the coordinate of a tile, plus odd repeats. Every extent is
// odd * 2^k; the map covers the 2^k part, the odd factor is the outermost part
// of the dimension and repeats over registers: register = repeat * 2^regBits +
// linear register, the dimensions' repeats being one mixed-radix number whose
// last dimension runs fastest. See Rationale.md.
//
//===----------------------------------------------------------------------===//

#ifndef K2C_DIALECTS_TILE_LINEARLAYOUT_H
#define K2C_DIALECTS_TILE_LINEARLAYOUT_H

#include "dialects/Tile/F2Span.h"

#include <string>

namespace k2c::tile {

enum InDim : unsigned { kReg = 0, kLane = 1, kWarp = 2, kBlock = 3 };
constexpr unsigned kNumInDims = 4;

using Coord = std::vector<int64_t>;
/// Per input dimension the images of its bits, packed (last dim lowest).
using PackedBases = std::array<std::vector<uint64_t>, kNumInDims>;
/// The same as coordinates.
using CoordBases = std::array<std::vector<Coord>, kNumInDims>;

class LinearLayout {
public:
  LinearLayout() = default;
  LinearLayout(std::vector<int64_t> shape, PackedBases bases);
  LinearLayout(std::vector<int64_t> shape, const CoordBases &bases);

  unsigned rank() const { return extents.size(); }
  const std::vector<int64_t> &shape() const { return extents; }
  int64_t odd(unsigned dim) const { return oddPart(extents[dim]); }
  unsigned bits(unsigned dim) const { return numBits[dim]; }
  unsigned shift(unsigned dim) const { return shifts[dim]; }
  unsigned totalBits() const { return total; }
  const std::vector<uint64_t> &bases(InDim in) const { return packed[in]; }
  const PackedBases &allBases() const { return packed; }
  std::vector<Coord> coordBases(InDim in) const;
  /// Bases of all input dimensions, registers first.
  std::vector<uint64_t> vectors() const;

  uint64_t pack(const Coord &coord) const;
  Coord unpack(uint64_t value) const;
  /// Packed coordinate of the linear part.
  uint64_t linear(uint64_t reg, uint64_t lane, uint64_t warp,
                  uint64_t block = 0) const;
  /// Coordinate a register holds, repeats included.
  Coord at(uint64_t reg, uint64_t lane = 0, uint64_t warp = 0,
           uint64_t block = 0) const;
  /// The register of lane 0 of warp 0 that holds `coord`, if any: the inverse
  /// of `at(reg)`, the lowest one if several do.
  std::optional<unsigned> findRegister(const Coord &coord) const;

  unsigned repeats() const;
  unsigned registersPerThread() const {
    return repeats() << packed[kReg].size();
  }
  unsigned warps() const { return 1u << packed[kWarp].size(); }

  bool isSurjective() const;
  bool isBijective() const;
  /// "row bit 4 is nowhere"-style reason, empty if surjective.
  std::string whyNotSurjective() const;
  /// Dependencies among the inputs (registers lowest): an element lives in
  /// several places. A zero basis is the usual case.
  std::vector<uint64_t> broadcast() const { return kernelOf(vectors()); }
  /// Lane and warp bits of which only the 0 value should act (store, send) so
  /// that each element is handled once. Bits are canonical: the later inputs.
  uint64_t redundantLanes() const;
  uint64_t redundantWarps() const;
  bool operator==(const LinearLayout &other) const;
  /// Same lanes and warps, registers renamed.
  bool equivalentUpToRegisters(const LinearLayout &other) const;

  /// `this * outer`: outer's bits above this layout's in every dimension.
  LinearLayout product(const LinearLayout &outer) const;
  /// Per coordinate bit the mask over the concatenated inputs, earliest first;
  /// requires a surjective layout.
  std::vector<uint64_t> rightInverse() const;
  /// Reduction over `dim`: drops its coordinates and the registers that became
  /// zero. The dimension stays with extent 1 if `keepDim`.
  LinearLayout slice(unsigned dim, bool keepDim = false) const;
  /// For every register of this layout the register of `slice(dim)` it reads.
  std::vector<unsigned> expandMap(unsigned dim) const;
  LinearLayout transpose(const std::vector<unsigned> &permutation) const;
  /// Row-major regrouping; nullopt and a reason if an odd factor would move.
  std::optional<LinearLayout> reshape(const std::vector<int64_t> &shape,
                                      std::string *why = nullptr) const;
  /// Elements [first, first + count) of `dim` if that needs no data movement;
  /// `registers` lists, per result register, the register of this layout.
  std::optional<LinearLayout>
  sliceRange(unsigned dim, int64_t first, int64_t count,
             std::vector<unsigned> *registers = nullptr) const;
  std::string str() const;

private:
  void setShape(std::vector<int64_t> shape);

  std::vector<int64_t> extents;
  std::vector<unsigned> numBits, shifts;
  unsigned total = 0;
  PackedBases packed;
};

} // namespace k2c::tile

#endif // K2C_DIALECTS_TILE_LINEARLAYOUT_H
