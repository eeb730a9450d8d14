//===- F2Span.h - Linear algebra over F2 ------------------------*- C++ -*-===//
//
// Vectors are the bits of an uint64_t, addition is XOR. One echelon form that
// remembers which inserted vectors make up each row answers all questions of
// the layout algebra: rank, membership, solutions and dependencies.
//
//===----------------------------------------------------------------------===//

#ifndef K2C_DIALECTS_TILE_F2SPAN_H
#define K2C_DIALECTS_TILE_F2SPAN_H

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace k2c::tile {

class F2Span {
public:
  F2Span() = default;
  explicit F2Span(const std::vector<uint64_t> &vectors);

  /// Inserts a vector. Returns 0 if it is independent of the earlier ones,
  /// else the mask of a dependency (which includes the new vector).
  uint64_t insert(uint64_t vector);

  /// Mask over the inserted vectors whose XOR is `target`. Only the earliest
  /// independent vectors are used, so the answer is canonical.
  std::optional<uint64_t> solve(uint64_t target) const;

  bool contains(uint64_t vector) const { return solve(vector).has_value(); }
  unsigned rank() const { return independent; }

private:
  struct Row {
    uint64_t vector = 0;
    uint64_t mask = 0;
  };
  Row reduce(Row row) const;

  std::array<Row, 64> rows{}; // by leading bit; vector 0 = empty
  unsigned count = 0;
  unsigned independent = 0;
};

unsigned rankOf(const std::vector<uint64_t> &vectors);

/// Masks of input bits that change nothing: a basis of the kernel of the map
/// whose bases are `vectors`.
std::vector<uint64_t> kernelOf(const std::vector<uint64_t> &vectors);

/// XOR of the vectors selected by `mask`.
uint64_t xorOf(const std::vector<uint64_t> &vectors, uint64_t mask);

/// The odd factor of a positive extent; `extent / oddPart` is a power of two.
int64_t oddPart(int64_t extent);

/// Exponent of a power of two.
unsigned log2Exact(uint64_t powerOfTwo);

bool isPowerOfTwo(uint64_t value);

} // namespace k2c::tile

#endif // K2C_DIALECTS_TILE_F2SPAN_H
