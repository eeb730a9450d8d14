// Laws of the algebra.
#include "test/Unit/Layout/Catalogue.h"

#include "dialects/Tile/LayoutConversion.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

using namespace k2c::tile;
using namespace k2c::tile::test;

TEST(F2Span, SolvesAndNamesDependencies) {
  F2Span span;
  EXPECT_EQ(span.insert(0b0110), 0u);
  EXPECT_EQ(span.insert(0b0011), 0u);
  EXPECT_EQ(span.insert(0b0101), 0b111u); // the XOR of the first two
  EXPECT_EQ(span.insert(0), 0b1000u);
  EXPECT_EQ(span.rank(), 2u);
  EXPECT_EQ(span.solve(0b0101), 0b11u); // earliest vectors only
  EXPECT_FALSE(span.solve(0b1000));
}

TEST(LinearLayout, ProductOfAtomAndTile) {
  LinearLayout atom = mmaAtom(MmaShape::M16N8K16, MmaOperand::C);
  LinearLayout grid({4, 3}, CoordBases{{{}, {}, {{1, 0}, {2, 0}}, {}}});
  LinearLayout tile = atom.product(grid);
  EXPECT_EQ(tile.shape(), (std::vector<int64_t>{64, 24}));
  EXPECT_EQ(tile, mma16(MmaOperand::C, 64, 24, {WarpBit::Row, WarpBit::Row}));
}

TEST(LinearLayout, RightInverseFindsTheCanonicalOwner) {
  for (const auto &[name, l] : layouts()) {
    SCOPED_TRACE(name);
    std::vector<uint64_t> inverse = l.rightInverse(), vectors = l.vectors();
    std::mt19937 random(1);
    for (int i = 0; i < 50; ++i) {
      uint64_t coord = random() & ((uint64_t(1) << l.totalBits()) - 1);
      EXPECT_EQ(xorOf(vectors, xorOf(inverse, coord)), coord);
    }
  }
}

TEST(LinearLayout, EveryElementIsHeldOnceByNonRedundantThreads) {
  for (const char *name :
       {"coalesced.1x576.e2.w1.v16", "gemm.A.128x64.warps2x4",
        "slice.rows_of.wgmma_acc.64x128", "wgmma_acc.128x192.1wg"}) {
    SCOPED_TRACE(name);
    const LinearLayout &l = layouts().at(name);
    std::set<Coord> seen;
    int64_t elements = 1, held = 0;
    for (int64_t n : l.shape())
      elements *= n;
    for (unsigned warp = 0; warp < l.warps(); ++warp)
      for (unsigned lane = 0; lane < 32; ++lane) {
        if (warp & l.redundantWarps() || lane & l.redundantLanes())
          continue;
        for (unsigned r = 0; r < l.registersPerThread(); ++r, ++held)
          seen.insert(l.at(r, lane, warp));
      }
    EXPECT_EQ(held, elements);
    EXPECT_EQ(int64_t(seen.size()), elements);
  }
}

TEST(LinearLayout, FindRegisterInvertsAt) {
  for (const auto &[name, l] : layouts())
    for (unsigned r = 0; r < l.registersPerThread(); ++r)
      EXPECT_EQ(l.at(*l.findRegister(l.at(r))), l.at(r)) << name;
  EXPECT_FALSE(layouts().at("mma16816.C").findRegister({1, 0}));
}

TEST(LinearLayout, SliceAndExpand) {
  const LinearLayout &acc = layouts().at("wgmma_acc.64x192");
  LinearLayout rows = acc.slice(1, /*keepDim=*/true);
  EXPECT_EQ(rows.registersPerThread(), 2u);
  std::vector<unsigned> map = acc.expandMap(1);
  for (unsigned r = 0; r < acc.registersPerThread(); ++r)
    for (unsigned lane = 0; lane < 32; ++lane)
      EXPECT_EQ(rows.at(map[r], lane, 2)[0], acc.at(r, lane, 2)[0]);
}

TEST(LinearLayout, TransposeKeepsThreads) {
  const LinearLayout &l = layouts().at("coalesced.64x192.e2.w4.v16");
  LinearLayout t = l.transpose({1, 0});
  EXPECT_EQ(t.shape(), (std::vector<int64_t>{192, 64}));
  auto registers =
      matchRegisters(t, l, [](const Coord &c) { return Coord{c[1], c[0]}; });
  ASSERT_TRUE(registers);
  for (unsigned r = 0; r < t.registersPerThread(); ++r) {
    Coord c = l.at((*registers)[r], 13, 3);
    EXPECT_EQ(t.at(r, 13, 3), (Coord{c[1], c[0]}));
  }
}

TEST(LinearLayout, ReshapeKeepsTheRowMajorIndex) {
  const LinearLayout &l = layouts().at("coalesced.1x7168.e2.w4.v16");
  LinearLayout r = *l.reshape({1, 56, 128});
  for (unsigned reg = 0; reg < l.registersPerThread(); ++reg)
    for (unsigned lane : {0, 5, 31})
      for (unsigned warp : {0, 3}) {
        Coord c = r.at(reg, lane, warp);
        EXPECT_EQ(c[1] * 128 + c[2], l.at(reg, lane, warp)[1]);
      }
}

TEST(LinearLayout, SlicesThatMoveNothing) {
  // 24 + 8 + 1 repeats of 64: the fused row q_a | latent | rope.
  const LinearLayout &row = layouts().at("coalesced.4x2112.e2.w1.v16");
  for (auto [first, count] :
       {std::pair(0, 1536), std::pair(1536, 512), std::pair(2048, 64)}) {
    std::vector<unsigned> registers;
    auto part = row.sliceRange(1, first, count, &registers);
    ASSERT_TRUE(part);
    ASSERT_EQ(registers.size(), part->registersPerThread());
    for (unsigned r = 0; r < registers.size(); ++r)
      for (unsigned lane = 0; lane < 32; lane += 3) {
        Coord source = row.at(registers[r], lane), c = part->at(r, lane);
        EXPECT_EQ(source, (Coord{c[0], c[1] + first}));
      }
  }
  // Inside the 2-power part only register bits may be fixed.
  LinearLayout acc =
      mma16(MmaOperand::C, 64, 128, {WarpBit::Row, WarpBit::Row});
  EXPECT_TRUE(acc.sliceRange(1, 64, 64));
  EXPECT_TRUE(acc.sliceRange(1, 8, 8));
  EXPECT_FALSE(acc.sliceRange(1, 4, 4));   // lane bits
  EXPECT_FALSE(acc.sliceRange(1, 4, 8));   // not aligned
  EXPECT_FALSE(acc.sliceRange(0, 16, 16)); // warp bits
}

TEST(LinearLayout, SaysWhatIsMissing) {
  LinearLayout l({64, 8}, CoordBases{{{{0, 1}, {8, 0}},
                                      {{0, 2}, {0, 4}, {1, 0}, {2, 0}, {4, 0}},
                                      {{32, 0}},
                                      {}}});
  EXPECT_FALSE(l.isSurjective());
  EXPECT_EQ(l.whyNotSurjective(), "row bit 4 is nowhere");
}

TEST(LinearLayout, BroadcastKernelIncludesNonzeroDependencies) {
  LinearLayout l({4},
                 CoordBases{{{{1}, {2}}, {{3}, {0}, {0}, {0}, {0}}, {}, {}}});
  EXPECT_EQ(l.broadcast().front(), 0b111u);
  EXPECT_EQ(l.redundantLanes(), 31u);
}
