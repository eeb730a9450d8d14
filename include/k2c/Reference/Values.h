//===- Values.h - What the reference interpreter computes with --*- C++ -*-===//
//
// One struct per k2 type, templated on the arithmetic (float or double).
// Element types of the IR do not matter here: without rounding every value
// keeps the full precision of the arithmetic.
//
//===----------------------------------------------------------------------===//
#ifndef K2C_REFERENCE_VALUES_H
#define K2C_REFERENCE_VALUES_H

#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <variant>
#include <vector>

namespace k2c::reference {

inline int64_t countElements(const std::vector<int64_t> &shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1},
                         std::multiplies<>());
}

/// A row-major tensor.
template <typename Element> struct TensorOf {
  std::vector<int64_t> shape;
  std::vector<Element> data;

  TensorOf() = default;
  explicit TensorOf(std::vector<int64_t> shape)
      : shape(std::move(shape)), data(countElements(this->shape)) {}
  int64_t rows() const { return shape.front(); }
  int64_t columns() const { return shape.back(); }
  Element *row(int64_t r) { return data.data() + r * columns(); }
  const Element *row(int64_t r) const { return data.data() + r * columns(); }
  Element &at(int64_t r, int64_t c) { return data[r * columns() + c]; }
  const Element &at(int64_t r, int64_t c) const {
    return data[r * columns() + c];
  }
};

using Integers = TensorOf<int64_t>;

/// A weight: [N, K] or [E, N, K] values and, when it is quantized, one
/// multiplier per block: [E * ceil(N / block0), ceil(K / block1)].
template <typename Real> struct Weight {
  TensorOf<Real> values;
  TensorOf<Real> scales;
  int64_t block[2] = {0, 0};

  bool quantized() const { return block[0] != 0; }
  int64_t experts() const {
    return values.shape.size() == 3 ? values.shape[0] : 1;
  }
  int64_t n() const { return values.shape[values.shape.size() - 2]; }
  int64_t k() const { return values.shape.back(); }
  int64_t scaleRows() const { return (n() + block[0] - 1) / block[0]; }
  const Real *row(int64_t expert, int64_t r) const {
    return values.data.data() + (expert * n() + r) * k();
  }
  Real scale(int64_t expert, int64_t r, int64_t c) const {
    return scales.at(expert * scaleRows() + r / block[0], c / block[1]);
  }
  /// The element itself: value times multiplier.
  Real element(int64_t expert, int64_t r, int64_t c) const {
    return row(expert, r)[c] * (quantized() ? scale(expert, r, c) : Real(1));
  }
};

/// The ragged batch of a step: sequence b has the tokens seqStart[b] ..
/// seqStart[b + 1], and pastLen[b] rows in the cache before them.
template <typename Real> struct Batch {
  std::vector<int64_t> seqStart, pastLen;
  Integers blockTable; ///< [B, pages of a sequence]: page numbers of the cache
  std::vector<int64_t> slot; ///< [T]: cache row of every token, or -1
  /// [T, keys]: added to the scaled scores of a token, key by key of its
  /// sequence, in place of the causal mask.
  std::optional<TensorOf<Real>> mask;

  int64_t sequences() const { return static_cast<int64_t>(pastLen.size()); }
  int64_t tokens() const { return seqStart.empty() ? 0 : seqStart.back(); }
};

/// One layer's pages: [pages, page size, C + R]. Shared by the values before
/// and after an append.
template <typename Real> struct Cache {
  std::shared_ptr<TensorOf<Real>> pages;
  int64_t latentSize = 0, ropeSize = 0;

  int64_t pageSize() const { return pages->shape[1]; }
  int64_t capacity() const { return pages->shape[0] * pages->shape[1]; }
  Real *row(int64_t slot) const {
    return pages->data.data() + slot * (latentSize + ropeSize);
  }
};

/// The pairs of tokens and slots, sorted by expert and by token within one.
struct Routing {
  std::vector<int64_t> expertCount, expertStart; ///< [E], [E + 1]
  std::vector<int64_t> tokenOfRow;               ///< [T * k]
  Integers rowOf;                                ///< [T, k]
};

template <typename Real>
using Value = std::variant<std::monostate, TensorOf<Real>, Integers,
                           Weight<Real>, Batch<Real>, Cache<Real>, Routing>;

} // namespace k2c::reference

#endif // K2C_REFERENCE_VALUES_H
