//===- Comparison.h - Results against the reference -------------*- C++ -*-===//
#ifndef TEST_EXECUTION_COMPARISON_H
#define TEST_EXECUTION_COMPARISON_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace k2c::test {

struct Tolerance {
  /// Of one element, and of the error's root mean square, relative to the root
  /// mean square of the reference's row: tokens may be of very different size.
  double element, overall;
  /// Roundings to bf16 on the way to a value. Each may fall to the neighbour,
  /// 2^-7 of the value at most, when sums are taken in another order.
  int roundings = 1;
};

/// Rows of `columns` values.
llvm::Error compareValues(const std::string &what, llvm::ArrayRef<double> got,
                          llvm::ArrayRef<double> want, int64_t columns,
                          Tolerance tolerance);

/// An array of i32 at a host address, exactly.
llvm::Error compareIntegers(const std::string &what, uint64_t pointer,
                            llvm::ArrayRef<int64_t> want);

} // namespace k2c::test

#endif // TEST_EXECUTION_COMPARISON_H
