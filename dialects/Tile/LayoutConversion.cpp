//===- LayoutConversion.cpp - From one distribution to another --*- C++ -*-===//

#include "dialects/Tile/LayoutConversion.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <tuple>

namespace k2c::tile {

static bool has(const std::vector<uint64_t> &values, uint64_t value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

uint64_t ConversionPlan::reorder(uint64_t ordered,
                                 const std::vector<unsigned> &order) {
  uint64_t out = 0;
  for (unsigned i = 0; i < order.size(); ++i)
    if (ordered >> i & 1)
      out |= uint64_t(1) << order[i];
  return out;
}

/// Register bits that both sides share, in front; low bits that already agree
/// stay where they are, so that no byte is permuted inside a word.
static std::vector<uint64_t> commonBits(const std::vector<uint64_t> &src,
                                        const std::vector<uint64_t> &dst,
                                        unsigned cap, unsigned &natural) {
  natural = 0;
  while (natural < cap && natural < src.size() && natural < dst.size() &&
         src[natural] == dst[natural])
    ++natural;
  std::vector<uint64_t> common(src.begin(), src.begin() + natural);
  for (uint64_t v : dst)
    if (common.size() < cap && v && has(src, v) && !has(common, v))
      common.push_back(v);
  return common;
}

static std::vector<unsigned> orderInFront(const std::vector<uint64_t> &regs,
                                          const std::vector<uint64_t> &front) {
  std::vector<unsigned> order;
  for (uint64_t v : front)
    order.push_back(std::find(regs.begin(), regs.end(), v) - regs.begin());
  for (unsigned n = 0; n < regs.size(); ++n)
    if (std::find(order.begin(), order.end(), n) == order.end())
      order.push_back(n);
  return order;
}

static std::vector<uint64_t> permuted(const std::vector<uint64_t> &values,
                                      const std::vector<unsigned> &order) {
  std::vector<uint64_t> out;
  for (unsigned n : order)
    out.push_back(values[n]);
  return out;
}

namespace {
/// Chooses, for every lane bit, where its value comes from such that distinct
/// lanes read distinct lanes, the identity where possible.
class LaneSearch {
public:
  using Column = ConversionPlan::LaneColumn;
  struct Move {
    uint64_t reg = 0, lane = 0, dstReg = 0;
  };

  LaneSearch(const std::vector<Column> &wanted,
             const std::vector<Move> &moves) {
    for (unsigned j = 0; j < wanted.size(); ++j)
      options.push_back(optionsOf(wanted[j], moves, uint64_t(1) << j));
  }

  bool search() {
    chosen.clear();
    return extend();
  }
  /// Without a bijection: the cheapest of each, legal only if lanes that read
  /// the same lane want the same register.
  bool fallback() {
    chosen.clear();
    for (const auto &list : options)
      chosen.push_back(*std::min_element(list.begin(), list.end(),
                                         [](const Column &a, const Column &b) {
                                           return a.dstReg < b.dstReg;
                                         }));
    std::vector<uint64_t> lanes, regs;
    for (const Column &c : chosen) {
      lanes.push_back(c.sourceLane);
      regs.push_back(c.sourceReg);
    }
    for (uint64_t mask : kernelOf(lanes))
      if (xorOf(regs, mask))
        return false;
    return true;
  }
  std::vector<Column> chosen;

private:
  static unsigned cost(const Column &c) {
    return std::popcount(c.dstReg) + std::popcount(c.sourceReg);
  }

  static std::vector<Column> optionsOf(const Column &wanted,
                                       const std::vector<Move> &moves,
                                       uint64_t identity) {
    std::vector<uint64_t> masks;
    unsigned n = moves.size();
    if (n <= 12) {
      for (uint64_t m = 0; m < uint64_t(1) << n; ++m)
        masks.push_back(m);
    } else { // pairs are enough in practice; all subsets would explode
      masks.push_back(0);
      for (unsigned i = 0; i < n; ++i)
        masks.push_back(uint64_t(1) << i);
      for (unsigned i = 0; i < n; ++i)
        for (unsigned k = 0; k < i; ++k)
          masks.push_back(uint64_t(1) << i | uint64_t(1) << k);
    }
    std::vector<Column> best;
    for (uint64_t mask : masks) {
      Column c = wanted;
      for (unsigned i = 0; i < n; ++i)
        if (mask >> i & 1) {
          c.sourceReg ^= moves[i].reg;
          c.sourceLane ^= moves[i].lane;
          c.dstReg ^= moves[i].dstReg;
        }
      auto same = std::find_if(best.begin(), best.end(), [&](const Column &b) {
        return b.sourceLane == c.sourceLane;
      });
      if (same == best.end())
        best.push_back(c);
      else if (cost(c) < cost(*same))
        *same = c;
    }
    // The identity first, then few selects; earlier options win ties.
    std::vector<std::tuple<bool, int, unsigned>> keys;
    for (unsigned i = 0; i < best.size(); ++i)
      keys.push_back(
          {best[i].sourceLane != identity, std::popcount(best[i].dstReg), i});
    std::sort(keys.begin(), keys.end());
    std::vector<Column> sorted;
    for (const auto &[other, selects, i] : keys)
      sorted.push_back(best[i]);
    return sorted;
  }

  bool extend() {
    unsigned j = chosen.size();
    if (j == options.size())
      return true;
    for (const Column &c : options[j]) {
      std::vector<uint64_t> lanes;
      for (const Column &x : chosen)
        lanes.push_back(x.sourceLane);
      lanes.push_back(c.sourceLane);
      if (rankOf(lanes) != j + 1)
        continue;
      chosen.push_back(c);
      if (extend())
        return true;
      chosen.pop_back();
    }
    return false;
  }

  std::vector<std::vector<Column>> options;
};
} // namespace

ConversionPlan conversionPlan(const LinearLayout &src, const LinearLayout &dst,
                              unsigned elemBytes) {
  assert(src.shape() == dst.shape() && "conversion keeps the shape");
  ConversionPlan plan;
  if (src == dst)
    return plan;
  ConversionPlan shared;
  shared.kind = ConversionPlan::Shared;

  // Does every warp already hold what it needs?
  std::vector<uint64_t> inWarp = src.bases(kReg);
  const auto &srcLanes = src.bases(kLane), &dstLanes = dst.bases(kLane);
  inWarp.insert(inWarp.end(), srcLanes.begin(), srcLanes.end());
  F2Span reachable(inWarp);
  if (src.bases(kWarp) != dst.bases(kWarp) ||
      src.bases(kBlock) != dst.bases(kBlock))
    return shared;
  for (InDim in : {kReg, kLane})
    for (uint64_t v : dst.bases(in))
      if (!reachable.contains(v))
        return shared;

  unsigned natural = 0;
  unsigned cap = elemBytes < 4 ? log2Exact(4 / elemBytes) : 0;
  std::vector<uint64_t> common =
      commonBits(src.bases(kReg), dst.bases(kReg), cap, natural);
  plan.packBits = common.size();
  plan.bytePermutes = plan.packBits > natural;
  plan.srcOrder = orderInFront(src.bases(kReg), common);
  plan.dstOrder = orderInFront(dst.bases(kReg), common);
  std::vector<uint64_t> srcRegs = permuted(src.bases(kReg), plan.srcOrder);
  std::vector<uint64_t> dstRegs = permuted(dst.bases(kReg), plan.dstOrder);

  std::vector<uint64_t> inputs = srcRegs;
  inputs.insert(inputs.end(), srcLanes.begin(), srcLanes.end());
  F2Span span(inputs);
  unsigned numRegs = srcRegs.size();
  uint64_t regMask = (uint64_t(1) << numRegs) - 1;
  for (uint64_t v : dstRegs) {
    uint64_t mask = *span.solve(v);
    plan.regs.push_back({mask & regMask, mask >> numRegs});
  }
  std::vector<LaneSearch::Column> wanted;
  for (uint64_t v : dstLanes) {
    uint64_t mask = *span.solve(v);
    wanted.push_back({mask >> numRegs, mask & regMask, 0});
  }
  // A lane may fetch another of its registers in this round, or another copy of
  // the same element.
  std::vector<LaneSearch::Move> moves;
  for (unsigned n = plan.packBits; n < plan.regs.size(); ++n)
    moves.push_back(
        {plan.regs[n].sourceReg, plan.regs[n].sourceLane, uint64_t(1) << n});
  for (uint64_t mask : kernelOf(inputs))
    moves.push_back({mask & regMask, mask >> numRegs, 0});
  LaneSearch search(wanted, moves);
  if (!search.search() && !search.fallback())
    return shared;
  plan.lanes = search.chosen;

  bool identity = true;
  std::vector<uint64_t> send, receive, rounds;
  for (unsigned j = 0; j < plan.lanes.size(); ++j) {
    identity &= plan.lanes[j].sourceLane == uint64_t(1) << j;
    send.push_back(plan.lanes[j].sourceReg);
    receive.push_back(plan.lanes[j].dstReg);
  }
  for (unsigned n = plan.packBits; n < plan.regs.size(); ++n)
    rounds.push_back(plan.regs[n].sourceLane);
  plan.sendSelectBits = rankOf(send);
  plan.recvSelectBits = rankOf(receive);
  plan.words = (1u << (plan.regs.size() - plan.packBits)) * src.repeats();
  unsigned freeRounds = identity ? plan.words >> rankOf(rounds) : 0;
  plan.shuffles = plan.words - freeRounds;
  if (plan.shuffles)
    plan.kind = identity ? ConversionPlan::Bfly : ConversionPlan::Idx;
  else
    plan.kind = plan.sendSelectBits || plan.recvSelectBits
                    ? ConversionPlan::Select
                    : ConversionPlan::Registers;
  return plan;
}

std::vector<unsigned> registerRenaming(const LinearLayout &src,
                                       const LinearLayout &dst) {
  auto map = matchRegisters(dst, src, [](const Coord &c) { return c; });
  assert(map && "not a renaming of registers");
  return *map;
}

} // namespace k2c::tile
