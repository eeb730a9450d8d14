//===- Comparison.cpp - Results against the reference ---------------------===//
#include "Comparison.h"

#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace llvm;
using namespace k2c;
using namespace k2c::test;

llvm::Error test::compareValues(const std::string &what, ArrayRef<double> got,
                                ArrayRef<double> want, Tolerance tolerance) {
  double squares = 0, errors = 0;
  for (double w : want)
    squares += w * w;
  double rms = std::sqrt(squares / std::max<size_t>(want.size(), 1));
  for (auto [i, pair] : llvm::enumerate(llvm::zip_equal(got, want))) {
    auto [g, w] = pair;
    double error = std::abs(g - w);
    if (!(error <= std::abs(w) / 128 + tolerance.element * rms))
      return llvm::createStringError(what + ": element " + std::to_string(i) +
                                     " of " + std::to_string(want.size()) +
                                     " is " + std::to_string(g) +
                                     ", expected " + std::to_string(w) +
                                     " (rms " + std::to_string(rms) + ")");
    errors += error * error;
  }
  if (std::sqrt(errors) > tolerance.overall * std::sqrt(squares))
    return llvm::createStringError(what + ": relative rms error is " +
                                   std::to_string(std::sqrt(errors / squares)) +
                                   ", expected at most " +
                                   std::to_string(tolerance.overall));
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
