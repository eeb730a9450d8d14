// Vector widths, wavefronts and ldmatrix plans against counting over all
// addresses.
#include "test/Unit/Layout/Catalogue.h"

#include "dialects/Tile/LayoutAnalysis.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

using namespace k2c::tile;
using namespace k2c::tile::test;

namespace {
/// Distinct words per bank, phase by phase.
unsigned countWavefronts(const std::vector<uint64_t> &addresses,
                         unsigned vector) {
  unsigned group = vector == 16 ? 8 : vector == 8 ? 16 : 32, total = 0;
  for (unsigned g = 0; g < addresses.size(); g += group) {
    std::map<uint64_t, std::set<uint64_t>> banks;
    for (unsigned i = g; i < g + group && i < addresses.size(); ++i)
      for (uint64_t w = addresses[i] >> 2;
           w <= (addresses[i] + vector - 1) >> 2; ++w)
        banks[w % 32].insert(w);
    size_t worst = 0;
    for (const auto &[bank, words] : banks)
      worst = std::max(worst, words.size());
    total += worst;
  }
  return total;
}

std::vector<uint64_t> laneAddresses(const LinearLayout &l, const SharedMap &s,
                                    unsigned reg, unsigned warp) {
  std::vector<uint64_t> out;
  for (unsigned lane = 0; lane < 32; ++lane) {
    Coord c = l.at(reg, lane, warp);
    out.push_back(s.offset(c[0], c[1]));
  }
  return out;
}

/// Reads the whole operand by the ISA's ldmatrix and compares each register's
/// element with the layout.
void runLdmatrix(const LinearLayout &l, const SharedMap &s, bool trans,
                 std::vector<unsigned> matrixBits = {}) {
  auto plan = ldmatrixPlan(l, s, matrixBits);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->trans, trans);
  EXPECT_EQ(plan->wavefronts, plan->num) << "bank conflicts";
  std::map<uint64_t, Coord> memory;
  for (int64_t r = 0; r < s.rows(); ++r)
    for (int64_t c = 0; c < s.cols(); ++c)
      memory[s.offset(r, c)] = {r, c};
  ASSERT_EQ(int64_t(memory.size()), s.rows() * s.cols());
  uint64_t inside = 0;
  for (unsigned b : plan->wordBits)
    inside |= 1u << b;
  for (unsigned b : plan->matrixBits)
    inside |= 1u << b;
  unsigned linear = 1u << l.bases(kReg).size(), instructions = 0,
           elem = s.elemBytes();
  for (unsigned warp = 0; warp < l.warps(); ++warp)
    for (unsigned reg = 0; reg < l.registersPerThread(); ++reg) {
      if (reg % linear & inside)
        continue;
      instructions += warp == 0;
      std::vector<uint64_t> address = ldmatrixAddresses(l, s, *plan, warp, reg);
      for (unsigned matrix = 0; matrix < plan->num; ++matrix) {
        std::vector<uint64_t> rows(address.begin() + 8 * matrix,
                                   address.begin() + 8 * matrix + 8);
        EXPECT_EQ(countWavefronts(rows, 16), 1u);
        uint64_t base = reg;
        for (unsigned i = 0; i < plan->matrixBits.size(); ++i)
          if (matrix >> i & 1)
            base |= 1u << plan->matrixBits[i];
        for (unsigned lane = 0; lane < 32; ++lane)
          for (unsigned e = 0; e < 4 / elem; ++e) {
            uint64_t source = trans
                                  ? rows[2 * (lane % 4) + e] + 2 * (lane / 4)
                                  : rows[lane / 4] + 4 * (lane % 4) + e * elem;
            uint64_t r = base;
            for (unsigned i = 0; i < plan->wordBits.size(); ++i)
              if (e >> i & 1)
                r |= 1u << plan->wordBits[i];
            ASSERT_EQ(memory.at(source), l.at(r, lane, warp));
          }
      }
    }
  EXPECT_EQ(instructions, plan->instructions);
}
} // namespace

TEST(SharedAccess, SwizzleIsTheChunkXor) {
  for (unsigned sw : {32u, 64u, 128u})
    for (unsigned elem : {1u, 2u, 4u})
      for (int64_t n : {1, 2, 3}) {
        int64_t per = sw / elem;
        SharedMap s = panels(64, n * per, elem, sw);
        for (int64_t r = 0; r < 64; ++r)
          for (int64_t c = 0; c < n * per; ++c) {
            uint64_t chunk = c % per * elem / 16, byte = c % per * elem % 16;
            uint64_t x = sw == 128 ? r % 8 : sw == 64 ? r / 2 % 4 : r / 4 % 2;
            ASSERT_EQ(s.offset(r, c),
                      c / per * 64 * sw + r * sw + (chunk ^ x) * 16 + byte);
          }
      }
}

TEST(SharedAccess, WavefrontsAreWhatCountingFinds) {
  std::mt19937 random(1);
  for (int i = 0; i < 3000; ++i) {
    unsigned vector = (unsigned[]){1, 2, 4, 8, 16}[random() % 5];
    std::vector<uint64_t> lanes(5), all(32);
    for (uint64_t &x : lanes)
      x = random() % 10 ? random() % 4096 / vector * vector : 0;
    for (unsigned l = 0; l < 32; ++l)
      all[l] = xorOf(lanes, l);
    ASSERT_EQ(wavefronts(lanes, vector), countWavefronts(all, vector));
  }
}

TEST(SharedAccess, VectorsAreContiguousAlignedAndUniform) {
  for (const LinearLayout &l :
       {wgmmaAccumulator(64, 64), coalesced(64, 64, 2, 4),
        mma16(MmaOperand::C, 64, 64, {WarpBit::Row, WarpBit::Col})})
    for (const SharedMap &s :
         {panels(64, 64, 2, 0, 128), panels(64, 64, 2, 128),
          panels(64, 64, 2, 64), panels(64, 64, 2, 32)}) {
      VectorWidth v = sharedVector(l, s);
      uint64_t inside = 0;
      for (unsigned b : v.regBits)
        inside |= 1u << b;
      for (unsigned warp = 0; warp < 4; ++warp)
        for (unsigned reg = 0; reg < l.registersPerThread(); ++reg) {
          if (reg & inside)
            continue;
          std::vector<uint64_t> a = laneAddresses(l, s, reg, warp);
          EXPECT_EQ(countWavefronts(a, v.bytes), sharedAccess(l, s).wavefronts);
          for (unsigned lane = 0; lane < 32; ++lane) {
            EXPECT_EQ(a[lane] % v.bytes, 0u);
            for (unsigned x = 0; x < 1u << v.regBits.size(); ++x) {
              unsigned r = reg;
              for (unsigned i = 0; i < v.regBits.size(); ++i)
                if (x >> i & 1)
                  r |= 1u << v.regBits[i];
              Coord c = l.at(r, lane, warp);
              EXPECT_EQ(s.offset(c[0], c[1]), a[lane] + x * s.elemBytes());
            }
          }
        }
    }
}

TEST(SharedAccess, OperandsLoadByLdmatrixWithoutConflicts) {
  using enum WarpBit;
  LinearLayout a = mma16(MmaOperand::A, 128, 64, {Row, None, None});
  runLdmatrix(a, panels(128, 64, 2, 128), false);
  LinearLayout b = mma16(MmaOperand::B, 64, 128, {None, Col, Col});
  runLdmatrix(b, panels(128, 64, 2, 128).transposed(), false);
  runLdmatrix(b, panels(128, 64, 2, 128).transposed(), false, {1, 4});
  runLdmatrix(mma16(MmaOperand::B, 64, 128), panels(64, 128, 2, 128),
              true); // V, read .trans
  for (unsigned swizzle : {32u, 64u})
    runLdmatrix(mma16(MmaOperand::A, 64, 64), panels(64, 64, 2, swizzle),
                false);
  runLdmatrix(mma16(MmaOperand::A, 64, 192, {Row, Row}),
              panels(64, 192, 2, 128), false); // odd repeats
  runLdmatrix(mmaLayout(MmaShape::M16N8K32, MmaOperand::A, 64, 128, {Row, Row}),
              panels(64, 128, 1, 128), false);
}

TEST(SharedAccess, LdmatrixRefusals) {
  // 8-bit elements have no .trans form on sm_90; rows read by coalesced vectors
  // are no matrices.
  EXPECT_FALSE(
      ldmatrixPlan(mmaLayout(MmaShape::M16N8K32, MmaOperand::A, 64, 64),
                   panels(64, 64, 1, 64).transposed()));
  EXPECT_FALSE(ldmatrixPlan(coalesced(64, 64, 2, 1), panels(64, 64, 2, 128)));
  // Plain 128-byte rows work but conflict 8-way.
  EXPECT_EQ(
      ldmatrixPlan(mma16(MmaOperand::A, 128, 64), panels(128, 64, 2, 0, 128))
          ->wavefronts,
      32u);
}

TEST(SharedAccess, SectorsOfRowAccess) {
  EXPECT_EQ(sectors(coalesced(128, 64, 2, 4), 2, 14336, 16), 16u);
  EXPECT_EQ(sectors(mma16(MmaOperand::C, 128, 128), 2, 8192, 4), 8u);
}

TEST(SharedAccess, PitchLimitsGlobalVectors) {
  LinearLayout l = coalesced(64, 64, 2, 4);
  EXPECT_EQ(globalVector(l, 2, 2112 * 2).bytes, 16u);
  EXPECT_EQ(globalVector(l, 2, 1004 * 2).bytes, 8u);
  EXPECT_EQ(globalVector(l, 2, 1001 * 2).bytes, 2u);
  EXPECT_EQ(globalVector(l, 2, 1024, 4).bytes, 4u);
}

TEST(SharedAccess, RefusedPanels) {
  std::string why;
  EXPECT_FALSE(SharedMap::panels(24, 128, 2, 128, 0, &why));
  EXPECT_EQ(
      why,
      "an odd number of rows in several panels needs one buffer per panel");
  EXPECT_FALSE(SharedMap::panels(64, 48, 2, 128, 0, &why));
  EXPECT_EQ(why, "a panel must not straddle the odd factor of the columns");
}

// A box of a buffer is a map of its own, repeats continued as bits.
TEST(SharedAccess, Boxes) {
  SharedMap page = panels(64, 576, 2, 128);
  for (auto [rows, cols] :
       {std::pair(64, 512), std::pair(64, 64), std::pair(16, 64),
        std::pair(64, 16), std::pair(64, 192), std::pair(48, 64)}) {
    auto box = page.box(rows, cols);
    ASSERT_TRUE(box) << rows << "x" << cols;
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < cols; ++c)
        ASSERT_EQ(box->offset(r, c), page.offset(r, c));
  }
  std::string why;
  // 48 columns would repeat inside the swizzle.
  EXPECT_FALSE(page.box(64, 48, &why));
  EXPECT_EQ(why, "the box does not follow the buffer's bits");
}
