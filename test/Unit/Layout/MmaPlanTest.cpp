// A dot's instructions, executed symbolically: every product of the tile is
// formed exactly once, by the warps that own the accumulator.
#include "test/Unit/Layout/Catalogue.h"

#include "dialects/Tile/MmaPlan.h"

#include <gtest/gtest.h>

#include <map>

using namespace k2c::tile;
using namespace k2c::tile::test;
using enum WarpBit;

namespace {
/// Multiplies by the ISA's fragment formulas: instruction element (m, n) sums
/// A's (m, k) times B's (k, n) over the 16 k of the fragments.
void run(const LinearLayout &a, const LinearLayout &b, const LinearLayout &c) {
  std::string why;
  auto plan = mmaPlan(a, b, c, &why);
  ASSERT_TRUE(plan) << why;
  int64_t k = a.shape()[1];
  for (unsigned warp = 0; warp < c.warps(); ++warp) {
    std::map<Coord, std::vector<int>>
        sums; // accumulator element -> how often each k was added
    for (const MmaPlan::Step &s : plan->steps) {
      // fragment slot (row or col in the instruction, k in the instruction) ->
      // tile coordinate
      std::map<Coord, Coord> fa, fb, fc;
      for (unsigned lane = 0; lane < 32; ++lane) {
        int64_t g = lane / 4, t = lane % 4;
        for (int i = 0; i < 8; ++i)
          fa[{i & 2 ? g + 8 : g, 2 * t + (i & 1) + (i & 4 ? 8 : 0)}] =
              a.at(s.a[i], lane, warp);
        for (int i = 0; i < 4; ++i) {
          fb[{2 * t + (i & 1) + (i & 2 ? 8 : 0), g}] = b.at(s.b[i], lane, warp);
          fc[{i & 2 ? g + 8 : g, 2 * t + (i & 1)}] = c.at(s.c[i], lane, warp);
        }
      }
      for (int64_t i = 0; i < 16; ++i)
        for (int64_t j = 0; j < 8; ++j) {
          Coord out = fc.at({i, j});
          auto &count = sums.try_emplace(out, k, 0).first->second;
          for (int64_t x = 0; x < 16; ++x) {
            Coord ea = fa.at({i, x}), eb = fb.at({x, j});
            ASSERT_EQ(ea[0], out[0]);
            ASSERT_EQ(eb[1], out[1]);
            ASSERT_EQ(ea[1], eb[0]); // the same k on both sides
            ++count[ea[1]];
          }
        }
    }
    for (unsigned lane = 0; lane < 32; ++lane)
      for (unsigned r = 0; r < c.registersPerThread(); ++r)
        ASSERT_EQ(sums.at(c.at(r, lane, warp)), std::vector<int>(k, 1));
    ASSERT_EQ(int64_t(sums.size()), int64_t(c.registersPerThread()) * 32);
  }
}
} // namespace

TEST(MmaPlan, WarpGrids) {
  for (auto [m, n, k, warps] :
       {std::tuple(64, 64, 64, std::vector{Row, Col}),
        std::tuple(128, 64, 64, std::vector{Row, Row, Col}),
        std::tuple(16, 8, 16, std::vector<WarpBit>{}),
        std::tuple(64, 192, 32, std::vector{Row, Row}),
        std::tuple(64, 64, 576, std::vector{Row, Row, None}),
        std::tuple(64, 512, 64, std::vector{Row, Row, Col}),
        std::tuple(48, 24, 48, std::vector<WarpBit>{})}) {
    DotLayouts l = dotLayouts(m, n, k, warps);
    run(l.a, l.b, l.c);
  }
}

// 8-bit weights: lane t holds k = 4t .. 4t+3, so that four bytes are one load;
// the activations follow.
TEST(MmaPlan, PermutedK) {
  LinearLayout a({16, 32}, CoordBases{{{{0, 1}, {0, 2}, {8, 0}, {0, 16}},
                                       {{0, 4}, {0, 8}, {1, 0}, {2, 0}, {4, 0}},
                                       {},
                                       {}}});
  LinearLayout b({32, 8}, CoordBases{{{{1, 0}, {2, 0}, {16, 0}},
                                      {{4, 0}, {8, 0}, {0, 1}, {0, 2}, {0, 4}},
                                      {},
                                      {}}});
  run(a, b, mma16(MmaOperand::C, 16, 8));
  std::string why;
  EXPECT_FALSE(mmaPlan(a, mma16(MmaOperand::B, 32, 8),
                       mma16(MmaOperand::C, 16, 8), &why));
  EXPECT_EQ(why, "the lanes and registers of the operands do not span k");
}

TEST(MmaPlan, Refusals) {
  std::string why;
  DotLayouts l = dotLayouts(64, 64, 64, {Row, Col});
  EXPECT_FALSE(
      mmaPlan(l.a, l.b, mma16(MmaOperand::C, 64, 64, {Col, Row}), &why));
  EXPECT_EQ(why, "warp bit 0 of the operands is not the accumulator's");
  EXPECT_FALSE(mmaPlan(coalesced(64, 64, 2, 4), l.b, l.c, &why));
  EXPECT_NE(why, "");
}
