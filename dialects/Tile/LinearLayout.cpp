//===- LinearLayout.cpp - Which thread holds which element ------*- C++ -*-===//

#include "dialects/Tile/LinearLayout.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <numeric>

namespace k2c::tile {

static const char *const kInNames[kNumInDims] = {"reg", "lane", "warp",
                                                 "block"};

static std::string dimName(unsigned dim, unsigned rank) {
  if (rank == 2)
    return dim == 0 ? "row" : "col";
  return "dim " + std::to_string(dim);
}

LinearLayout::LinearLayout(std::vector<int64_t> shape, PackedBases bases)
    : packed(std::move(bases)) {
  setShape(std::move(shape));
}

LinearLayout::LinearLayout(std::vector<int64_t> shape,
                           const CoordBases &bases) {
  setShape(std::move(shape));
  for (unsigned in = 0; in < kNumInDims; ++in)
    for (const Coord &c : bases[in])
      packed[in].push_back(pack(c));
}

void LinearLayout::setShape(std::vector<int64_t> shape) {
  extents = std::move(shape);
  numBits.resize(extents.size());
  shifts.resize(extents.size());
  total = 0;
  for (unsigned d = extents.size(); d-- > 0;) {
    numBits[d] = log2Exact(extents[d] / oddPart(extents[d]));
    shifts[d] = total;
    total += numBits[d];
  }
}

std::vector<Coord> LinearLayout::coordBases(InDim in) const {
  std::vector<Coord> out;
  for (uint64_t v : packed[in])
    out.push_back(unpack(v));
  return out;
}

std::vector<uint64_t> LinearLayout::vectors() const {
  std::vector<uint64_t> all;
  for (const auto &in : packed)
    all.insert(all.end(), in.begin(), in.end());
  return all;
}

uint64_t LinearLayout::pack(const Coord &coord) const {
  assert(coord.size() == rank());
  uint64_t out = 0;
  for (unsigned d = 0; d < rank(); ++d) {
    assert(coord[d] >= 0 && coord[d] >> numBits[d] == 0 &&
           "coordinate outside the 2-power part");
    out |= uint64_t(coord[d]) << shifts[d];
  }
  return out;
}

Coord LinearLayout::unpack(uint64_t value) const {
  Coord out(rank());
  for (unsigned d = 0; d < rank(); ++d)
    out[d] = value >> shifts[d] & ((uint64_t(1) << numBits[d]) - 1);
  return out;
}

uint64_t LinearLayout::linear(uint64_t reg, uint64_t lane, uint64_t warp,
                              uint64_t block) const {
  return xorOf(packed[kReg], reg) ^ xorOf(packed[kLane], lane) ^
         xorOf(packed[kWarp], warp) ^ xorOf(packed[kBlock], block);
}

Coord LinearLayout::at(uint64_t reg, uint64_t lane, uint64_t warp,
                       uint64_t block) const {
  unsigned regBits = packed[kReg].size();
  uint64_t repeat = reg >> regBits;
  Coord coord =
      unpack(linear(reg & ((uint64_t(1) << regBits) - 1), lane, warp, block));
  for (unsigned d = rank(); d-- > 0;) {
    coord[d] += int64_t(repeat % odd(d)) << numBits[d];
    repeat /= odd(d);
  }
  return coord;
}

std::optional<unsigned> LinearLayout::findRegister(const Coord &coord) const {
  uint64_t repeat = 0;
  Coord low(rank());
  for (unsigned d = 0; d < rank(); ++d) {
    if (coord[d] < 0 || coord[d] >= extents[d])
      return std::nullopt;
    repeat = repeat * odd(d) + (coord[d] >> numBits[d]);
    low[d] = coord[d] & ((int64_t(1) << numBits[d]) - 1);
  }
  std::optional<uint64_t> reg = F2Span(packed[kReg]).solve(pack(low));
  if (!reg)
    return std::nullopt;
  return unsigned(repeat << packed[kReg].size() | *reg);
}

unsigned LinearLayout::repeats() const {
  unsigned n = 1;
  for (unsigned d = 0; d < rank(); ++d)
    n *= odd(d);
  return n;
}

bool LinearLayout::isSurjective() const { return rankOf(vectors()) == total; }

bool LinearLayout::isBijective() const {
  return isSurjective() && vectors().size() == total;
}

std::string LinearLayout::whyNotSurjective() const {
  F2Span span(vectors());
  for (unsigned d = 0; d < rank(); ++d)
    for (unsigned b = 0; b < numBits[d]; ++b)
      if (!span.contains(uint64_t(1) << (shifts[d] + b)))
        return dimName(d, rank()) + " bit " + std::to_string(b) + " is nowhere";
  return "";
}

uint64_t LinearLayout::redundantLanes() const {
  F2Span span(packed[kReg]);
  uint64_t mask = 0;
  for (unsigned i = 0; i < packed[kLane].size(); ++i)
    if (span.insert(packed[kLane][i]))
      mask |= uint64_t(1) << i;
  return mask;
}

uint64_t LinearLayout::redundantWarps() const {
  F2Span span(packed[kReg]);
  for (uint64_t v : packed[kLane])
    span.insert(v);
  uint64_t mask = 0;
  for (unsigned i = 0; i < packed[kWarp].size(); ++i)
    if (span.insert(packed[kWarp][i]))
      mask |= uint64_t(1) << i;
  return mask;
}

bool LinearLayout::operator==(const LinearLayout &other) const {
  return extents == other.extents && packed == other.packed;
}

bool LinearLayout::equivalentUpToRegisters(const LinearLayout &other) const {
  if (extents != other.extents)
    return false;
  for (InDim in : {kLane, kWarp, kBlock})
    if (packed[in] != other.packed[in])
      return false;
  F2Span mine(packed[kReg]), theirs(other.packed[kReg]);
  auto all = [](const F2Span &span, const std::vector<uint64_t> &vs) {
    return std::all_of(vs.begin(), vs.end(),
                       [&](uint64_t v) { return span.contains(v); });
  };
  return all(mine, other.packed[kReg]) && all(theirs, packed[kReg]);
}

LinearLayout LinearLayout::product(const LinearLayout &outer) const {
  assert(rank() == outer.rank() && repeats() == 1 &&
         "only the outer factor may repeat");
  std::vector<int64_t> shape(rank());
  for (unsigned d = 0; d < rank(); ++d)
    shape[d] = extents[d] * outer.extents[d];
  CoordBases bases;
  for (unsigned in = 0; in < kNumInDims; ++in) {
    bases[in] = coordBases(InDim(in));
    for (Coord c : outer.coordBases(InDim(in))) {
      for (unsigned d = 0; d < rank(); ++d)
        c[d] <<= numBits[d];
      bases[in].push_back(c);
    }
  }
  return LinearLayout(shape, bases);
}

std::vector<uint64_t> LinearLayout::rightInverse() const {
  F2Span span(vectors());
  std::vector<uint64_t> inverse;
  for (unsigned k = 0; k < total; ++k) {
    std::optional<uint64_t> mask = span.solve(uint64_t(1) << k);
    assert(mask && "only a surjective layout has a right inverse");
    inverse.push_back(*mask);
  }
  return inverse;
}

LinearLayout LinearLayout::slice(unsigned dim, bool keepDim) const {
  std::vector<int64_t> shape = extents;
  if (keepDim)
    shape[dim] = 1;
  else
    shape.erase(shape.begin() + dim);
  CoordBases bases;
  for (unsigned in = 0; in < kNumInDims; ++in) {
    for (Coord c : coordBases(InDim(in))) {
      if (keepDim)
        c[dim] = 0;
      else
        c.erase(c.begin() + dim);
      bool zero = std::all_of(c.begin(), c.end(), [](int64_t x) { return !x; });
      if (in != kReg || !zero)
        bases[in].push_back(c);
    }
  }
  return LinearLayout(shape, bases);
}

std::vector<unsigned> LinearLayout::expandMap(unsigned dim) const {
  LinearLayout vector = slice(dim, /*keepDim=*/true);
  std::vector<unsigned> map(registersPerThread());
  for (unsigned r = 0; r < map.size(); ++r) {
    Coord c = at(r);
    c[dim] = 0;
    map[r] = *vector.findRegister(c);
  }
  return map;
}

LinearLayout
LinearLayout::transpose(const std::vector<unsigned> &permutation) const {
  auto permute = [&](const Coord &c) {
    Coord out(c.size());
    for (unsigned i = 0; i < permutation.size(); ++i)
      out[i] = c[permutation[i]];
    return out;
  };
  CoordBases bases;
  for (unsigned in = 0; in < kNumInDims; ++in)
    for (const Coord &c : coordBases(InDim(in)))
      bases[in].push_back(permute(c));
  return LinearLayout(permute(extents), bases);
}

static std::string shapeString(const std::vector<int64_t> &shape) {
  std::string out;
  for (int64_t n : shape)
    out += (out.empty() ? "" : "x") + std::to_string(n);
  return out;
}

/// The odd factors of a shape, innermost first, each with the number of
/// elements below it in row-major order.
static std::vector<std::pair<int64_t, int64_t>>
oddFactors(const std::vector<int64_t> &shape) {
  std::vector<std::pair<int64_t, int64_t>> out;
  int64_t below = 1;
  for (unsigned d = shape.size(); d-- > 0;) {
    int64_t odd = oddPart(shape[d]);
    below *= shape[d] / odd;
    if (odd > 1) {
      out.push_back({odd, below});
      below *= odd;
    }
  }
  return out;
}

std::optional<LinearLayout>
LinearLayout::reshape(const std::vector<int64_t> &shape,
                      std::string *why) const {
  auto refuse = [&](const std::string &reason) {
    if (why)
      *why = "reshape " + shapeString(extents) + " -> " + shapeString(shape) +
             " " + reason;
    return std::nullopt;
  };
  auto count = [](const std::vector<int64_t> &s) {
    return std::accumulate(s.begin(), s.end(), int64_t(1),
                           std::multiplies<int64_t>());
  };
  if (count(extents) != count(shape))
    return refuse("changes the number of elements");
  auto from = oddFactors(extents), to = oddFactors(shape);
  if (from != to) {
    for (unsigned i = 0; i < from.size(); ++i)
      if (i >= to.size() || from[i] != to[i])
        return refuse("moves the odd factor " + std::to_string(from[i].first));
    return refuse("moves an odd factor");
  }
  return LinearLayout(shape, packed);
}

std::optional<LinearLayout>
LinearLayout::sliceRange(unsigned dim, int64_t first, int64_t count,
                         std::vector<unsigned> *registers) const {
  if (first < 0 || count < 1 || first + count > extents[dim])
    return std::nullopt;
  unsigned wanted = log2Exact(count / oddPart(count));
  unsigned kept = std::min(wanted, numBits[dim]);
  // The kept low bits must not be disturbed by adding `first`.
  if (first & ((int64_t(1) << kept) - 1))
    return std::nullopt;
  std::vector<int64_t> shape = extents;
  shape[dim] = count;
  CoordBases bases;
  for (unsigned in = 0; in < kNumInDims; ++in)
    for (const Coord &c : coordBases(InDim(in))) {
      if (!(c[dim] >> kept)) {
        bases[in].push_back(c);
        continue;
      }
      // A bit that selects among slices must be one register bit of its own.
      Coord pure(rank(), 0);
      pure[dim] = c[dim];
      if (in != kReg || c != pure || !isPowerOfTwo(c[dim]))
        return std::nullopt;
    }
  for (unsigned t = kept; t < wanted; ++t) {
    Coord c(rank(), 0);
    c[dim] = int64_t(1) << t;
    bases[kReg].push_back(c);
  }
  LinearLayout result(shape, bases);
  std::vector<unsigned> map;
  for (unsigned r = 0; r < result.registersPerThread(); ++r) {
    Coord c = result.at(r);
    c[dim] += first;
    std::optional<unsigned> source = findRegister(c);
    if (!source)
      return std::nullopt;
    map.push_back(*source);
  }
  if (registers)
    *registers = std::move(map);
  return result;
}

std::string LinearLayout::str() const {
  std::string out = shapeString(extents);
  for (unsigned in = 0; in < kNumInDims; ++in) {
    if (packed[in].empty())
      continue;
    out += std::string(" ") + kInNames[in] + "=[";
    for (unsigned i = 0; i < packed[in].size(); ++i) {
      out += i ? ",[" : "[";
      Coord c = unpack(packed[in][i]);
      for (unsigned d = 0; d < c.size(); ++d)
        out += (d ? "," : "") + std::to_string(c[d]);
      out += "]";
    }
    out += "]";
  }
  return out;
}

} // namespace k2c::tile
