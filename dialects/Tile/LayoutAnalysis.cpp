//===- LayoutAnalysis.cpp - What follows from a layout ----------*- C++ -*-===//

#include "dialects/Tile/LayoutAnalysis.h"

#include <algorithm>
#include <cassert>
#include <set>

namespace k2c::tile {

static std::optional<unsigned> indexOf(const std::vector<uint64_t> &values,
                                       uint64_t value) {
  auto it = std::find(values.begin(), values.end(), value);
  if (it == values.end())
    return std::nullopt;
  return unsigned(it - values.begin());
}

static bool has(const std::vector<unsigned> &values, unsigned value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

VectorWidth sharedVector(const LinearLayout &layout, const SharedMap &shared) {
  PackedBases m = shared.after(layout);
  VectorWidth width{shared.elemBytes(), {}};
  while (width.bytes < 16) {
    std::optional<unsigned> bit = indexOf(m[kReg], width.bytes);
    if (!bit)
      break;
    width.regBits.push_back(*bit);
    width.bytes *= 2;
  }
  std::vector<uint64_t> rest;
  for (unsigned d = 0; d < 2; ++d)
    rest.push_back(shared.repeatStride(d));
  for (unsigned in = 0; in < kNumInDims; ++in)
    for (unsigned n = 0; n < m[in].size(); ++n)
      if (in != kReg || !has(width.regBits, n))
        rest.push_back(m[in][n]);
  while (std::any_of(rest.begin(), rest.end(),
                     [&](uint64_t x) { return x % width.bytes; })) {
    width.bytes /= 2;
    width.regBits.pop_back();
  }
  return width;
}

VectorWidth globalVector(const LinearLayout &layout, unsigned elemBytes,
                         uint64_t pitchBytes, uint64_t baseAlign) {
  unsigned last = layout.rank() - 1;
  VectorWidth width{elemBytes, {}};
  while (width.bytes < 16) {
    uint64_t next = width.bytes / elemBytes;
    if (next >= uint64_t(1) << layout.bits(last) ||
        pitchBytes % (2 * width.bytes) || baseAlign % (2 * width.bytes))
      break;
    std::optional<unsigned> bit =
        indexOf(layout.bases(kReg), next << layout.shift(last));
    if (!bit)
      break;
    width.regBits.push_back(*bit);
    width.bytes *= 2;
  }
  // Every other basis must leave the vector's low bits alone.
  auto disturbed = [&] {
    uint64_t low = (width.bytes / elemBytes - 1) << layout.shift(last);
    for (unsigned in = 0; in < kNumInDims; ++in) {
      const auto &bases = layout.bases(InDim(in));
      for (unsigned n = 0; n < bases.size(); ++n)
        if ((in != kReg || !has(width.regBits, n)) && (bases[n] & low))
          return true;
    }
    return false;
  };
  while (disturbed()) {
    width.bytes /= 2;
    width.regBits.pop_back();
  }
  return width;
}

unsigned wavefronts(const std::vector<uint64_t> &laneOffsets,
                    unsigned vectorBytes) {
  // A phase serves 32 lanes of up to 4 bytes, half-warps of 8, quarters of 16.
  unsigned phaseBits = vectorBytes == 16 ? 3 : vectorBytes == 8 ? 4 : 5;
  phaseBits = std::min<unsigned>(phaseBits, laneOffsets.size());
  std::vector<uint64_t> words;
  for (unsigned i = 0; i < phaseBits; ++i)
    words.push_back(laneOffsets[i] >> 2);
  for (unsigned w = 1; w * 4 < vectorBytes; w *= 2)
    words.push_back(w);
  std::vector<uint64_t> banks;
  for (uint64_t w : words)
    banks.push_back(w & 31);
  unsigned phases = 1u << (laneOffsets.size() - phaseBits);
  return phases << (rankOf(words) - rankOf(banks));
}

unsigned sectors(const LinearLayout &layout, unsigned elemBytes,
                 uint64_t pitchBytes, unsigned vectorBytes, unsigned warp) {
  std::set<uint64_t> touched;
  for (unsigned lane = 0; lane < 32; ++lane) {
    Coord c = layout.at(0, lane, warp);
    uint64_t row = c.size() > 1 ? c[c.size() - 2] : 0;
    uint64_t address = row * pitchBytes + c.back() * elemBytes;
    for (uint64_t s = address >> 5; s <= (address + vectorBytes - 1) >> 5; ++s)
      touched.insert(s);
  }
  return touched.size();
}

SharedAccess sharedAccess(const LinearLayout &layout, const SharedMap &shared) {
  VectorWidth width = sharedVector(layout, shared);
  SharedAccess access;
  access.bytes = width.bytes;
  access.instructions =
      layout.registersPerThread() * shared.elemBytes() / width.bytes;
  access.wavefronts = wavefronts(shared.after(layout)[kLane], width.bytes);
  access.ideal = width.bytes == 16 ? 4 : width.bytes == 8 ? 2 : 1;
  return access;
}

static std::optional<LdmatrixPlan>
tryLdmatrix(const LinearLayout &layout, const SharedMap &shared,
            const std::vector<unsigned> &preferred, bool trans) {
  PackedBases m = shared.after(layout);
  const auto &reg = m[kReg], &lane = m[kLane];
  unsigned elem = shared.elemBytes();
  if (lane.size() != 5 || elem > 4)
    return std::nullopt;
  LdmatrixPlan plan;
  plan.trans = trans;
  std::vector<unsigned> taken; // lane bits inside the 16-byte row
  if (!trans) {
    if (lane[0] != 4 || lane[1] != 8)
      return std::nullopt;
    taken = {0, 1};
    for (unsigned bytes = elem; bytes < 4; bytes *= 2) {
      std::optional<unsigned> bit = indexOf(reg, bytes);
      if (!bit)
        return std::nullopt;
      plan.wordBits.push_back(*bit);
    }
    plan.rows = {lane[2], lane[3], lane[4]};
  } else {
    // .trans hands a column to a lane; it moves 16-bit elements only. The
    // other half of the word is the next row.
    if (elem != 2 || reg.empty() || lane[2] != 2 || lane[3] != 4 ||
        lane[4] != 8 || reg[0] % 16)
      return std::nullopt;
    taken = {2, 3, 4};
    plan.wordBits = {0};
    plan.rows = {reg[0], lane[0], lane[1]};
  }
  std::vector<unsigned> free;
  for (unsigned n = 0; n < reg.size(); ++n)
    if (!has(plan.wordBits, n)) {
      if (reg[n] % 16)
        return std::nullopt;
      free.push_back(n);
    }
  for (unsigned n = 0; n < 5; ++n)
    if (!has(taken, n) && lane[n] % 16)
      return std::nullopt;
  for (InDim in : {kWarp, kBlock})
    for (uint64_t x : m[in])
      if (x % 16)
        return std::nullopt;
  if (shared.repeatStride(0) % 16 || shared.repeatStride(1) % 16)
    return std::nullopt;

  std::vector<unsigned> order;
  for (unsigned bit : preferred)
    if (has(free, bit))
      order.push_back(bit);
  for (unsigned bit : free)
    if (!has(order, bit))
      order.push_back(bit);
  plan.num = 1u << std::min<size_t>(2, order.size());
  plan.matrixBits.assign(order.begin(), order.begin() + log2Exact(plan.num));
  plan.instructions = (layout.repeats() << order.size()) / plan.num;
  std::vector<uint64_t> words, banks;
  for (uint64_t x : plan.rows)
    words.push_back(x >> 2);
  words.push_back(1);
  words.push_back(2);
  for (uint64_t w : words)
    banks.push_back(w & 31);
  plan.wavefronts = plan.num << (rankOf(words) - rankOf(banks));
  plan.injective = rankOf(lane) == 5;
  return plan;
}

std::optional<LdmatrixPlan>
ldmatrixPlan(const LinearLayout &layout, const SharedMap &shared,
             const std::vector<unsigned> &matrixBits) {
  if (auto plan = tryLdmatrix(layout, shared, matrixBits, /*trans=*/false))
    return plan;
  return tryLdmatrix(layout, shared, matrixBits, /*trans=*/true);
}

std::vector<uint64_t> ldmatrixAddresses(const LinearLayout &layout,
                                        const SharedMap &shared,
                                        const LdmatrixPlan &plan, unsigned warp,
                                        unsigned reg) {
  PackedBases m = shared.after(layout);
  Coord first = layout.at(reg, 0, warp);
  uint64_t base = shared.offset(first[0], first[1]);
  std::vector<uint64_t> matrices;
  for (unsigned bit : plan.matrixBits)
    matrices.push_back(m[kReg][bit]);
  std::vector<uint64_t> out;
  for (unsigned lane = 0; lane < 32; ++lane)
    out.push_back(base ^ xorOf(matrices, (lane >> 3) & (plan.num - 1)) ^
                  xorOf(plan.rows, lane & 7));
  return out;
}

std::optional<ScratchChoice>
findScratch(const std::vector<LinearLayout> &layouts, int64_t rows,
            int64_t cols, unsigned elemBytes, unsigned span) {
  unsigned chunks = span / 16;
  unsigned bits = std::min(3u, log2Exact(rows / oddPart(rows)));
  std::optional<ScratchChoice> best;
  unsigned bestCost = 0;
  unsigned choices = 1;
  for (unsigned i = 0; i < bits; ++i)
    choices *= chunks;
  for (unsigned n = 0; n < choices; ++n) {
    ScratchChoice choice;
    choice.masks.resize(bits);
    for (unsigned i = bits, rest = n; i-- > 0; rest /= chunks)
      choice.masks[i] = rest % chunks;
    std::optional<SharedMap> map =
        SharedMap::scratch(rows, cols, elemBytes, choice.masks, span);
    if (!map)
      return std::nullopt;
    unsigned cost = 0;
    for (const LinearLayout &layout : layouts) {
      SharedAccess access = sharedAccess(layout, *map);
      cost += access.wavefronts * access.instructions;
      choice.accesses.push_back(access);
    }
    if (!best || cost < bestCost) {
      best = choice;
      bestCost = cost;
    }
  }
  return best;
}

std::optional<ReducePlan> reducePlan(const LinearLayout &layout, unsigned dim) {
  ReducePlan plan;
  std::array<std::vector<unsigned>, kNumInDims> only;
  for (unsigned in = 0; in < kNumInDims; ++in) {
    std::vector<Coord> bases = layout.coordBases(InDim(in));
    for (unsigned n = 0; n < bases.size(); ++n) {
      if (!bases[n][dim])
        continue;
      for (unsigned d = 0; d < layout.rank(); ++d)
        if (d != dim && bases[n][d])
          return std::nullopt;
      only[in].push_back(n);
    }
  }
  plan.inThread = layout.odd(dim) << only[kReg].size();
  for (unsigned n : only[kLane])
    plan.laneMasks.push_back(1u << n);
  plan.warpBits = only[kWarp];
  plan.result = layout.slice(dim, /*keepDim=*/true);
  return plan;
}

} // namespace k2c::tile
