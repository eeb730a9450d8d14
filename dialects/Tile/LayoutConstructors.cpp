//===- LayoutConstructors.cpp - The layouts of instructions -----*- C++ -*-===//

#include "dialects/Tile/LayoutConstructors.h"

#include <algorithm>
#include <cassert>

namespace k2c::tile {

static Coord rowBasis(int64_t n) { return {n, 0}; }
static Coord colBasis(int64_t n) { return {0, n}; }

LinearLayout mmaAtom(MmaShape shape, MmaOperand operand) {
  auto r = rowBasis;
  auto c = colBasis;
  // Lane = 4 * group + thread in group. In A and C the group is the row, in B
  // it is the column.
  if (operand == MmaOperand::C)
    return LinearLayout(
        {16, 8},
        CoordBases{{{c(1), r(8)}, {c(2), c(4), r(1), r(2), r(4)}, {}, {}}});
  if (shape == MmaShape::M16N8K16) {
    if (operand == MmaOperand::A)
      return LinearLayout(
          {16, 16},
          CoordBases{
              {{c(1), r(8), c(8)}, {c(2), c(4), r(1), r(2), r(4)}, {}, {}}});
    return LinearLayout(
        {16, 8},
        CoordBases{{{r(1), r(8)}, {r(2), r(4), c(1), c(2), c(4)}, {}, {}}});
  }
  if (operand == MmaOperand::A)
    return LinearLayout({16, 32}, CoordBases{{{c(1), c(2), r(8), c(16)},
                                              {c(4), c(8), r(1), r(2), r(4)},
                                              {},
                                              {}}});
  return LinearLayout(
      {32, 8},
      CoordBases{
          {{r(1), r(2), r(16)}, {r(4), r(8), c(1), c(2), c(4)}, {}, {}}});
}

namespace {
/// Grows the bases of a 2-D tile bit by bit.
class Grower {
public:
  Grower(int64_t rows, int64_t cols) : shape{rows, cols} {
    LinearLayout whole(shape, PackedBases{});
    room = {whole.bits(0), whole.bits(1)};
  }
  Grower(const LinearLayout &atom, int64_t rows, int64_t cols)
      : Grower(rows, cols) {
    for (unsigned in = 0; in < kNumInDims; ++in)
      bases[in] = atom.coordBases(InDim(in));
    used = {atom.bits(0), atom.bits(1)};
    assert(used[0] <= room[0] && used[1] <= room[1] &&
           "atom larger than the 2-power part of the tile");
  }

  bool take(InDim in, unsigned dim) {
    if (used[dim] >= room[dim])
      return false;
    Coord c(2, 0);
    c[dim] = int64_t(1) << used[dim]++;
    bases[in].push_back(c);
    return true;
  }
  void zero(InDim in) { bases[in].push_back({0, 0}); }
  void takeOrZero(InDim in, unsigned dim) {
    if (!take(in, dim))
      zero(in);
  }
  unsigned left(unsigned dim) const { return room[dim] - used[dim]; }
  LinearLayout done() const { return LinearLayout(shape, bases); }

private:
  std::vector<int64_t> shape;
  std::array<unsigned, 2> room{}, used{};
  CoordBases bases;
};
} // namespace

static void giveWarps(Grower &g, const std::vector<WarpBit> &warps) {
  for (WarpBit w : warps) {
    if (w == WarpBit::None)
      g.zero(kWarp);
    else
      g.takeOrZero(kWarp, w == WarpBit::Row ? 0 : 1);
  }
}

LinearLayout mmaLayout(MmaShape shape, MmaOperand operand, int64_t rows,
                       int64_t cols, const std::vector<WarpBit> &warps) {
  Grower g(mmaAtom(shape, operand), rows, cols);
  std::array<unsigned, 2> order = {1, 0};
  if (operand == MmaOperand::B)
    order = {0, 1};
  for (unsigned dim : order) {
    unsigned reserved = std::count(warps.begin(), warps.end(),
                                   dim == 0 ? WarpBit::Row : WarpBit::Col);
    while (g.left(dim) > reserved)
      g.take(kReg, dim);
  }
  giveWarps(g, warps);
  return g.done();
}

/// Warps next to the atom (rows 16, 32), registers along the columns, more
/// 64-row blocks of a warpgroup above them, warpgroups outermost.
static LinearLayout wgmmaLayout(const LinearLayout &atom, int64_t m,
                                int64_t cols, unsigned warpgroups) {
  assert(m % (64 * warpgroups) == 0);
  Grower g(atom, 64, cols);
  giveWarps(g, {WarpBit::Row, WarpBit::Row});
  while (g.take(kReg, 1)) {
  }
  LinearLayout block = g.done();
  CoordBases bases;
  for (unsigned in = 0; in < kNumInDims; ++in)
    bases[in] = block.coordBases(InDim(in));
  int64_t rows = 64;
  for (; rows * warpgroups < m; rows *= 2)
    bases[kReg].push_back(rowBasis(rows));
  for (; rows < m; rows *= 2)
    bases[kWarp].push_back(rowBasis(rows));
  return LinearLayout({m, cols}, bases);
}

LinearLayout wgmmaAccumulator(int64_t m, int64_t n, unsigned warpgroups) {
  assert(n % 8 == 0);
  return wgmmaLayout(mmaAtom(MmaShape::M16N8K16, MmaOperand::C), m, n,
                     warpgroups);
}

LinearLayout wgmmaOperandA(int64_t m, int64_t k, unsigned elemBytes,
                           unsigned warpgroups) {
  MmaShape shape = elemBytes == 2 ? MmaShape::M16N8K16 : MmaShape::M16N8K32;
  return wgmmaLayout(mmaAtom(shape, MmaOperand::A), m, k, warpgroups);
}

LinearLayout ldmatrixFragment(unsigned matrices, bool trans) {
  std::vector<Coord> col = {{0, 0, 1}, {0, 0, 2}, {0, 0, 4}};
  std::vector<Coord> row = {{0, 1, 0}, {0, 2, 0}, {0, 4, 0}};
  if (trans)
    std::swap(row, col);
  CoordBases bases;
  bases[kReg].push_back(col[0]);
  for (unsigned m = 1; m < matrices; m *= 2)
    bases[kReg].push_back({m, 0, 0});
  bases[kLane] = {col[1], col[2], row[0], row[1], row[2]};
  return LinearLayout({matrices, 8, 8}, bases);
}

LinearLayout coalesced(int64_t rows, int64_t cols, unsigned elemBytes,
                       unsigned warps, unsigned vectorBytes) {
  return coalesced(std::vector<int64_t>{rows, cols}, elemBytes, warps,
                   vectorBytes);
}

LinearLayout coalesced(const std::vector<int64_t> &shape, unsigned elemBytes,
                       unsigned warps, unsigned vectorBytes) {
  LinearLayout whole(shape, PackedBases{});
  std::vector<unsigned> used(shape.size(), 0);
  CoordBases bases;
  auto takeFrom = [&](InDim in, unsigned dim) {
    if (used[dim] >= whole.bits(dim))
      return false;
    Coord c(shape.size(), 0);
    c[dim] = int64_t(1) << used[dim]++;
    bases[in].push_back(c);
    return true;
  };
  auto takeAny = [&](InDim in) {
    for (unsigned d = shape.size(); d-- > 0;)
      if (takeFrom(in, d))
        return true;
    return false;
  };
  for (unsigned i = log2Exact(vectorBytes / elemBytes); i > 0; --i)
    takeFrom(kReg, shape.size() - 1);
  auto distribute = [&](InDim in, unsigned bits) {
    for (unsigned i = 0; i < bits; ++i)
      if (!takeAny(in))
        bases[in].push_back(Coord(shape.size(), 0));
  };
  distribute(kLane, 5);
  distribute(kWarp, log2Exact(warps));
  while (takeAny(kReg)) {
  }
  return LinearLayout(shape, bases);
}

LinearLayout copyAsyncLayout(const std::vector<int64_t> &shape,
                             unsigned elemBytes, unsigned warps,
                             unsigned vectorBytes) {
  return coalesced(shape, elemBytes, warps, vectorBytes);
}

} // namespace k2c::tile
