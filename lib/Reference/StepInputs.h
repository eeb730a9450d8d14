//===- StepInputs.h - The rows of a run cut into ragged steps ---*- C++ -*-===//
#ifndef LIB_REFERENCE_STEPINPUTS_H
#define LIB_REFERENCE_STEPINPUTS_H

#include "dialects/K2/K2.h"
#include "k2c/Reference/HostTensors.h"
#include "k2c/Reference/Values.h"
#include "llvm/Support/Error.h"

namespace k2c::reference {

/// A token of a step: its row and column in the input.
struct Place {
  int64_t row = 0, column = 0;
};

/// The inputs of a run, checked, [B, T].
class RunInputs {
public:
  static llvm::Expected<RunInputs> read(const HostTensors &input,
                                        k2::ConfigAttr config,
                                        const std::vector<int64_t> &steps);

  int64_t rows = 0, columns = 0;
  bool hasIds = false;
  /// Half-open ranges of columns, one per step.
  std::vector<std::pair<int64_t, int64_t>> steps;

  /// The real tokens of a step, row by row.
  std::vector<Place> places(const std::pair<int64_t, int64_t> &step) const;
  template <typename Real>
  Batch<Real> batch(const std::pair<int64_t, int64_t> &step) const;
  /// Pages that hold every row's tokens.
  int64_t pages() const;
  template <typename Real>
  TensorOf<Real> embeddings(const std::vector<Place> &places) const;
  Integers ids(const std::vector<Place> &places) const;
  /// cos or sin of every token: given, or from its position.
  template <typename Real>
  TensorOf<Real> ropeTable(const std::vector<Place> &places, bool isSin) const;

  static constexpr int64_t pageSize = 64;

private:
  llvm::Error readTokens(const HostTensors &input);
  llvm::Error readSteps(const std::vector<int64_t> &given);
  llvm::Error readMask(const HostTensors &input);
  llvm::Error readRope(const HostTensors &input);
  llvm::Error readPositions(const HostTensors &input);
  bool real(int64_t row, int64_t column) const {
    return valid[row * columns + column] != 0;
  }
  /// Real tokens of a row in columns before `column`.
  int64_t before(int64_t row, int64_t column) const;
  int64_t pagesPerRow() const { return (columns + pageSize - 1) / pageSize; }

  k2::ConfigAttr config;
  std::vector<int64_t> valid, tokens, positions; ///< [B, T]
  HostTensor x0, mask, ropeCos, ropeSin;
  bool hasMask = false, hasRope = false;
};

} // namespace k2c::reference

#endif // LIB_REFERENCE_STEPINPUTS_H
