// Fragment constructors against the row/col formulas of the PTX ISA's fragment
// sections, element by element.
#include "test/Unit/Layout/Catalogue.h"

#include <gtest/gtest.h>

using namespace k2c::tile;
using namespace k2c::tile::test;

namespace {
/// groupID = lane >> 2, threadID_in_group = lane % 4, as the ISA writes them.
Coord isa(MmaShape shape, MmaOperand op, int lane, int i) {
  int group = lane >> 2, t = lane % 4;
  if (op == MmaOperand::C)
    return {i < 2 ? group : group + 8, t * 2 + (i & 1)};
  if (shape == MmaShape::M16N8K16) {
    if (op == MmaOperand::A)
      return {i < 2 || (i >= 4 && i < 6) ? group : group + 8,
              t * 2 + (i & 1) + (i >= 4 ? 8 : 0)};
    return {t * 2 + (i & 1) + (i >= 2 ? 8 : 0), group};
  }
  if (op == MmaOperand::A)
    return {i < 4 || (i >= 8 && i < 12) ? group : group + 8,
            t * 4 + (i & 3) + (i >= 8 ? 16 : 0)};
  return {t * 4 + (i & 3) + (i >= 4 ? 16 : 0), group};
}
} // namespace

TEST(Fragments, MmaAtomsAreTheIsaFormulas) {
  for (MmaShape shape : {MmaShape::M16N8K16, MmaShape::M16N8K32})
    for (MmaOperand op : {MmaOperand::A, MmaOperand::B, MmaOperand::C}) {
      LinearLayout atom = mmaAtom(shape, op);
      EXPECT_TRUE(atom.isBijective());
      for (int lane = 0; lane < 32; ++lane)
        for (unsigned i = 0; i < atom.registersPerThread(); ++i)
          EXPECT_EQ(atom.at(i, lane), isa(shape, op, lane, i));
    }
}

TEST(Fragments, WgmmaAccumulatorIsTheIsaFormula) {
  for (auto [m, groups] : {std::pair(64, 1), std::pair(128, 1),
                           std::pair(128, 2), std::pair(256, 2)})
    for (int n : {8, 16, 24, 40, 64, 96, 128, 192, 256}) {
      LinearLayout l = wgmmaAccumulator(m, n, groups);
      int per = m / groups, bits = l.bits(1);
      for (int warp = 0; warp < 4 * groups; ++warp)
        for (int lane = 0; lane < 32; ++lane)
          for (int block = 0; block < per / 64; ++block)
            for (int d = 0; d < n / 2; ++d) {
              int e = d % 4;
              int row = warp / 4 * per + block * 64 + warp % 4 * 16 + lane / 4 +
                        (e >= 2 ? 8 : 0);
              // Blocks of 64 rows lie below the odd repeats of n.
              int repeat = d >> (bits - 1),
                  inside = d & ((1 << (bits - 1)) - 1);
              int reg = repeat * (per / 64 << (bits - 1)) +
                        block * (1 << (bits - 1)) + inside;
              ASSERT_EQ(l.at(reg, lane, warp),
                        (Coord{row, 8 * (d / 4) + 2 * (lane % 4) + (e & 1)}));
            }
    }
}

TEST(Fragments, WgmmaOperandAIsTheMmaFragmentPerKStep) {
  for (auto [k, elem] : {std::pair(64, 2), std::pair(192, 2), std::pair(576, 2),
                         std::pair(128, 1), std::pair(192, 1)}) {
    LinearLayout l = wgmmaOperandA(64, k, elem);
    MmaShape shape = elem == 2 ? MmaShape::M16N8K16 : MmaShape::M16N8K32;
    int per = elem == 2 ? 8 : 16, step = elem == 2 ? 16 : 32;
    for (int warp = 0; warp < 4; ++warp)
      for (int lane = 0; lane < 32; lane += 5)
        for (unsigned r = 0; r < l.registersPerThread(); ++r) {
          Coord c = isa(shape, MmaOperand::A, lane, r % per);
          ASSERT_EQ(l.at(r, lane, warp),
                    (Coord{16 * warp + c[0], int64_t(r / per) * step + c[1]}));
        }
  }
}

// ldmatrix as the ISA defines it: lane 8i+j addresses row j of matrix i; thread
// l receives row l/4, elements 2(l%4), +1 (of the transpose for .trans).
TEST(Fragments, LdmatrixIsTheIsaFormula) {
  for (unsigned num : {1u, 2u, 4u})
    for (bool trans : {false, true}) {
      LinearLayout l = ldmatrixFragment(num, trans);
      for (unsigned matrix = 0; matrix < num; ++matrix)
        for (int lane = 0; lane < 32; ++lane)
          for (int half = 0; half < 2; ++half) {
            int64_t r = lane / 4, c = 2 * (lane % 4) + half;
            if (trans)
              std::swap(r, c);
            EXPECT_EQ(l.at(2 * matrix + half, lane), (Coord{matrix, r, c}));
          }
    }
}

// Every warp owns a contiguous block; operands are broadcast over the warps of
// the dim they lack.
TEST(Fragments, TileOfSeveralWarps) {
  using enum WarpBit;
  LinearLayout a = mma16(MmaOperand::A, 128, 64, {Row, None, None});
  for (unsigned warp = 0; warp < 8; ++warp)
    EXPECT_EQ(a.at(0, 0, warp), (Coord{warp & 1 ? 64 : 0, 0}));
  EXPECT_EQ(a.redundantWarps(), 6u);
  LinearLayout c = mma16(MmaOperand::C, 128, 128, {Row, Col, Col});
  EXPECT_EQ(c.at(0, 0, 7), (Coord{64, 96}));
  EXPECT_EQ(c.redundantWarps(), 0u);
  EXPECT_EQ(c.redundantLanes(), 0u);
}

// The accumulator of one dot is the A operand of the next, register by
// register: attention's P needs no data movement.
TEST(Fragments, AccumulatorIsNextOperand) {
  EXPECT_EQ(
      mma16(MmaOperand::C, 64, 64, {WarpBit::Row, WarpBit::Row}).allBases(),
      mma16(MmaOperand::A, 64, 64, {WarpBit::Row, WarpBit::Row}).allBases());
  EXPECT_EQ(wgmmaAccumulator(64, 128), wgmmaOperandA(64, 128));
}
