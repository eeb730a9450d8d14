//===- F2Span.cpp - Linear algebra over F2 ----------------------*- C++ -*-===//

#include "dialects/Tile/F2Span.h"

#include <bit>
#include <cassert>

namespace k2c::tile {

F2Span::F2Span(const std::vector<uint64_t> &vectors) {
  for (uint64_t v : vectors)
    insert(v);
}

F2Span::Row F2Span::reduce(Row row) const {
  while (row.vector) {
    const Row &pivot = rows[std::bit_width(row.vector) - 1];
    if (!pivot.vector)
      return row;
    row.vector ^= pivot.vector;
    row.mask ^= pivot.mask;
  }
  return row;
}

uint64_t F2Span::insert(uint64_t vector) {
  assert(count < 64 && "more vectors than a dependency mask can name");
  Row row = reduce({vector, uint64_t(1) << count});
  ++count;
  if (!row.vector)
    return row.mask;
  rows[std::bit_width(row.vector) - 1] = row;
  ++independent;
  return 0;
}

std::optional<uint64_t> F2Span::solve(uint64_t target) const {
  Row row = reduce({target, 0});
  if (row.vector)
    return std::nullopt;
  return row.mask;
}

unsigned rankOf(const std::vector<uint64_t> &vectors) {
  return F2Span(vectors).rank();
}

std::vector<uint64_t> kernelOf(const std::vector<uint64_t> &vectors) {
  F2Span span;
  std::vector<uint64_t> kernel;
  for (uint64_t v : vectors)
    if (uint64_t dependency = span.insert(v))
      kernel.push_back(dependency);
  return kernel;
}

uint64_t xorOf(const std::vector<uint64_t> &vectors, uint64_t mask) {
  uint64_t out = 0;
  for (; mask; mask &= mask - 1) {
    unsigned bit = std::countr_zero(mask);
    assert(bit < vectors.size() && "index bit without a basis");
    out ^= vectors[bit];
  }
  return out;
}

int64_t oddPart(int64_t extent) {
  assert(extent > 0);
  return extent >> std::countr_zero(static_cast<uint64_t>(extent));
}

unsigned log2Exact(uint64_t powerOfTwo) {
  assert(std::has_single_bit(powerOfTwo));
  return std::countr_zero(powerOfTwo);
}

bool isPowerOfTwo(uint64_t value) { return std::has_single_bit(value); }

} // namespace k2c::tile
