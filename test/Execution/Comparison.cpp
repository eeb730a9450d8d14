//===- Comparison.cpp - Results against the reference ---------------------===//
#include "Comparison.h"

#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cmath>

using namespace llvm;
using namespace k2c;
using namespace k2c::test;

llvm::Error test::compareValues(const std::string &what, ArrayRef<double> got,
                                ArrayRef<double> want, int64_t columns,
                                Tolerance tolerance) {
  double relative = 0;
  int64_t rows = want.size() / columns;
  for (int64_t r = 0; r < rows; ++r) {
    double squares = 0, errors = 0;
    for (double w : want.slice(r * columns, columns))
      squares += w * w;
    double rms = std::sqrt(squares / columns);
    for (int64_t c = 0; c < columns; ++c) {
      double g = got[r * columns + c], w = want[r * columns + c];
      double error = std::abs(g - w);
      if (!(error <=
            std::abs(w) * tolerance.roundings / 128 + tolerance.element * rms))
        return llvm::createStringError(
            what + ": row " + std::to_string(r) + " of " +
            std::to_string(rows) + ", column " + std::to_string(c) + " is " +
            std::to_string(g) + ", expected " + std::to_string(w) + " (rms " +
            std::to_string(rms) + ")");
      errors += error * error;
    }
    relative += squares ? errors / squares : 0;
  }
  relative = std::sqrt(relative / std::max<int64_t>(rows, 1));
  if (relative > tolerance.overall)
    return llvm::createStringError(
        what + ": relative rms error is " + std::to_string(relative) +
        ", expected at most " + std::to_string(tolerance.overall));
  return llvm::Error::success();
}

llvm::Error test::compareIntegers(const std::string &what, uint64_t pointer,
                                  ArrayRef<int64_t> want) {
  auto *got = reinterpret_cast<const int32_t *>(pointer);
  for (auto [i, w] : llvm::enumerate(want))
    if (got[i] != w)
      return llvm::createStringError(what + ": element " + std::to_string(i) +
                                     " is " + std::to_string(got[i]) +
                                     ", expected " + std::to_string(w));
  return llvm::Error::success();
}
