//===- MmaPlan.cpp - A tile's dot as mma.sync instructions ------*- C++ -*-===//

#include "dialects/Tile/MmaPlan.h"

#include <algorithm>
#include <set>

namespace k2c::tile {

DotLayouts dotLayouts(int64_t m, int64_t n, int64_t k,
                      const std::vector<WarpBit> &warps) {
  std::vector<WarpBit> a = warps, b = warps;
  std::replace(a.begin(), a.end(), WarpBit::Col, WarpBit::None);
  std::replace(b.begin(), b.end(), WarpBit::Row, WarpBit::None);
  return {mmaLayout(MmaShape::M16N8K16, MmaOperand::A, m, k, a),
          mmaLayout(MmaShape::M16N8K16, MmaOperand::B, k, n, b),
          mmaLayout(MmaShape::M16N8K16, MmaOperand::C, m, n, warps)};
}

namespace {
/// Images of the k bits of the atom: the permutation of the summed dimension.
struct KMap {
  std::array<int64_t, 4> image; // of k = 1, 2, 4, 8
  int64_t operator()(int64_t k) const {
    int64_t out = 0;
    for (unsigned bit = 0; bit < 4; ++bit)
      if (k >> bit & 1)
        out ^= image[bit];
    return out;
  }
};
} // namespace

std::optional<MmaPlan> mmaPlan(const LinearLayout &a, const LinearLayout &b,
                               const LinearLayout &c, std::string *why) {
  auto refuse = [&](const std::string &reason) {
    if (why)
      *why = reason;
    return std::nullopt;
  };
  LinearLayout atomA = mmaAtom(MmaShape::M16N8K16, MmaOperand::A);
  LinearLayout atomB = mmaAtom(MmaShape::M16N8K16, MmaOperand::B);
  LinearLayout atomC = mmaAtom(MmaShape::M16N8K16, MmaOperand::C);
  for (const LinearLayout *l : {&a, &b, &c})
    if (l->bases(kLane).size() != 5)
      return refuse("expected 5 lane bits");
  if (a.shape()[1] % 16 || a.shape()[0] % 16 || b.shape()[1] % 8)
    return refuse("expected m and k in multiples of 16 and n of 8");

  // Lanes 0 and 1 walk k = 2, 4 of the atom; the register halves k = 1, 8.
  std::vector<int64_t> regK;
  for (const Coord &basis : b.coordBases(kReg))
    if (basis[0] && !basis[1])
      regK.push_back(basis[0]);
  if (regK.size() < 2)
    return refuse("the B operand lacks register bits along k");
  KMap kmap{
      {regK[0], a.coordBases(kLane)[0][1], a.coordBases(kLane)[1][1], regK[1]}};
  std::vector<uint64_t> images(kmap.image.begin(), kmap.image.end());
  if (rankOf(images) != 4)
    return refuse("the lanes and registers of the operands do not span k");
  for (unsigned bit = 0; bit < 5; ++bit) {
    Coord wantA = atomA.coordBases(kLane)[bit];
    Coord wantB = atomB.coordBases(kLane)[bit];
    wantA[1] = kmap(wantA[1]);
    wantB[0] = kmap(wantB[0]);
    if (a.coordBases(kLane)[bit] != wantA)
      return refuse("lane bit " + std::to_string(bit) +
                    " of the A operand is not the instruction's");
    if (b.coordBases(kLane)[bit] != wantB)
      return refuse("lane bit " + std::to_string(bit) +
                    " of the B operand is not the instruction's");
    if (c.coordBases(kLane)[bit] != atomC.coordBases(kLane)[bit])
      return refuse("lane bit " + std::to_string(bit) +
                    " of the accumulator is not the instruction's");
  }
  if (a.warps() != c.warps() || b.warps() != c.warps())
    return refuse("the operands are spread over different numbers of warps");
  for (unsigned bit = 0; bit < c.bases(kWarp).size(); ++bit) {
    Coord wa = a.coordBases(kWarp)[bit], wb = b.coordBases(kWarp)[bit];
    Coord wc = c.coordBases(kWarp)[bit];
    if (wa != Coord{wc[0], 0} || wb != Coord{0, wc[1]})
      return refuse("warp bit " + std::to_string(bit) +
                    " of the operands is not the accumulator's");
  }

  // Where the instruction tiles of warp 0 start: at the first element of lane
  // 0.
  std::set<int64_t> rows, cols;
  for (unsigned r = 0; r < c.registersPerThread(); ++r) {
    Coord at = c.at(r);
    if (!(at[0] & 8))
      rows.insert(at[0]);
    if (!(at[1] & 1))
      cols.insert(at[1]);
  }
  std::set<int64_t> all, seen;
  std::vector<int64_t> ks;
  for (unsigned r = 0; r < b.registersPerThread(); ++r)
    all.insert(b.at(r)[0]);
  for (int64_t k : all) {
    if (seen.count(k))
      continue;
    ks.push_back(k);
    for (int64_t inner : {0, 1, 8, 9})
      seen.insert(k ^ kmap(inner));
  }

  MmaPlan plan;
  auto find = [](const LinearLayout &l, const Coord &at, unsigned &out) {
    std::optional<unsigned> reg = l.findRegister(at);
    if (reg)
      out = *reg;
    return reg.has_value();
  };
  for (int64_t k : ks)
    for (int64_t col : cols)
      for (int64_t row : rows) {
        MmaPlan::Step step;
        bool found = true;
        for (unsigned i = 0; i < 8; ++i) {
          Coord e = atomA.at(i);
          found &= find(a, {row + e[0], k ^ kmap(e[1])}, step.a[i]);
        }
        for (unsigned i = 0; i < 4; ++i) {
          Coord e = atomB.at(i);
          found &= find(b, {k ^ kmap(e[0]), col + e[1]}, step.b[i]);
          e = atomC.at(i);
          found &= find(c, {row + e[0], col + e[1]}, step.c[i]);
        }
        if (!found)
          return refuse("a warp lacks an element of its instruction tile");
        plan.steps.push_back(step);
      }
  return plan;
}

} // namespace k2c::tile
