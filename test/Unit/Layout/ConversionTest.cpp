// Conversion plans executed on a symbolic register file.
#include "test/Unit/Layout/Catalogue.h"

#include "dialects/Tile/LayoutConversion.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

using namespace k2c::tile;
using namespace k2c::tile::test;

namespace {
/// Runs the rounds of a plan for one warp and compares every destination
/// register with the layout. Returns the number of shuffled words.
unsigned execute(const LinearLayout &src, const LinearLayout &dst,
                 const ConversionPlan &plan, unsigned warp) {
  std::vector<uint64_t> d, s, h, r, p;
  for (const auto &c : plan.lanes) {
    d.push_back(c.sourceLane);
    s.push_back(c.sourceReg);
    h.push_back(c.dstReg);
  }
  for (const auto &c : plan.regs) {
    r.push_back(c.sourceReg);
    p.push_back(c.sourceLane);
  }
  unsigned shuffled = 0;
  std::map<std::pair<uint64_t, unsigned>, uint64_t> out;
  unsigned rounds = 1u << plan.regs.size();
  for (unsigned round = 0; round < rounds; round += plan.pack()) {
    std::map<uint64_t, uint64_t> sent;
    bool moves = false;
    for (unsigned lane = 0; lane < 32; ++lane) {
      uint64_t want = round ^ xorOf(h, lane);
      uint64_t from = xorOf(d, lane) ^ xorOf(p, round),
               reg = xorOf(s, lane) ^ xorOf(r, round);
      // A lane sends one word per round.
      auto [it, fresh] = sent.insert({from, reg >> plan.packBits});
      EXPECT_EQ(it->second, reg >> plan.packBits);
      if (plan.kind == ConversionPlan::Bfly)
        EXPECT_EQ(from ^ lane, xorOf(p, round));
      moves |= from != lane;
      for (unsigned e = 0; e < plan.pack(); ++e) {
        uint64_t value = src.linear(
            ConversionPlan::reorder(reg ^ e, plan.srcOrder), from, warp);
        out[{ConversionPlan::reorder(want ^ e, plan.dstOrder), lane}] = value;
      }
    }
    shuffled += moves;
  }
  EXPECT_EQ(out.size(), rounds * 32u);
  for (const auto &[where, value] : out)
    EXPECT_EQ(value, dst.linear(where.first, where.second, warp));
  return shuffled;
}

LinearLayout randomLayout(std::mt19937 &random, unsigned regs, unsigned bits) {
  // A random surjective map of `regs` + 5 bits onto `bits` coordinate bits, as
  // in broadcast and permuted layouts.
  for (;;) {
    PackedBases b;
    for (unsigned i = 0; i < regs; ++i)
      b[kReg].push_back(random() & ((1u << bits) - 1));
    for (unsigned i = 0; i < 5; ++i)
      b[kLane].push_back(random() & ((1u << bits) - 1));
    LinearLayout l({int64_t(1) << bits}, b);
    if (l.isSurjective())
      return l;
  }
}
} // namespace

TEST(Conversion, KnownPlansRun) {
  LinearLayout acc = mma16(MmaOperand::C, 16, 32);
  LinearLayout wide({16, 32},
                    CoordBases{{{{0, 1}, {0, 2}, {0, 4}, {8, 0}},
                                {{0, 8}, {0, 16}, {1, 0}, {2, 0}, {4, 0}},
                                {},
                                {}}});
  ConversionPlan plan = conversionPlan(acc, wide, 2);
  EXPECT_EQ(plan.kind, ConversionPlan::Bfly);
  EXPECT_EQ(execute(acc, wide, plan, 0), 6u);
  EXPECT_EQ(plan.shuffles, 6u);
  plan = conversionPlan(wgmmaAccumulator(64, 32), wgmmaOperandA(64, 32, 1), 1);
  EXPECT_EQ(
      execute(wgmmaAccumulator(64, 32), wgmmaOperandA(64, 32, 1), plan, 3),
      plan.shuffles);
}

TEST(Conversion, RandomBijectionsRun) {
  std::mt19937 random(7);
  unsigned executed = 0;
  for (int i = 0; i < 300; ++i) {
    unsigned regs = 1 + random() % 4;
    LinearLayout a = randomLayout(random, regs, regs + 5),
                 b = randomLayout(random, regs, regs + 5);
    for (unsigned elem : {1u, 2u, 4u}) {
      ConversionPlan plan = conversionPlan(a, b, elem);
      if (plan.kind == ConversionPlan::Shared ||
          plan.kind == ConversionPlan::None)
        continue;
      EXPECT_LE(execute(a, b, plan, 0), plan.words);
      ++executed;
    }
  }
  EXPECT_GT(executed, 600u);
}

TEST(Conversion, RandomBroadcastsRun) {
  std::mt19937 random(11);
  unsigned executed = 0;
  for (int i = 0; i < 300; ++i) {
    unsigned regs = 1 + random() % 3, missing = 1 + random() % 3;
    LinearLayout a = randomLayout(random, regs, regs + 5 - missing),
                 b = randomLayout(random, regs, regs + 5 - missing);
    ConversionPlan plan = conversionPlan(a, b, 4);
    if (plan.kind == ConversionPlan::Shared ||
        plan.kind == ConversionPlan::None)
      continue;
    execute(a, b, plan, 0);
    ++executed;
  }
  EXPECT_GT(executed, 100u);
}

TEST(Conversion, RenamingCoversOddRepeats) {
  LinearLayout a = mma16(MmaOperand::C, 64, 192, {WarpBit::Row, WarpBit::Row});
  CoordBases reversed;
  for (unsigned in = 0; in < kNumInDims; ++in)
    reversed[in] = a.coordBases(InDim(in));
  std::reverse(reversed[kReg].begin(), reversed[kReg].end());
  LinearLayout b({64, 192}, reversed);
  EXPECT_EQ(conversionPlan(a, b, 4).kind, ConversionPlan::Registers);
  std::vector<unsigned> map = registerRenaming(a, b);
  for (unsigned r = 0; r < map.size(); ++r)
    EXPECT_EQ(a.at(map[r], 9, 2), b.at(r, 9, 2));
}

TEST(Conversion, WarpsThatExchangeGoThroughShared) {
  EXPECT_EQ(
      conversionPlan(wgmmaAccumulator(64, 64), coalesced(64, 64, 2, 4), 2).kind,
      ConversionPlan::Shared);
}
