//===- Comparison.h - Results against the reference -------------*- C++ -*-===//
#ifndef TEST_EXECUTION_COMPARISON_H
#define TEST_EXECUTION_COMPARISON_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace k2c::test {

struct Tolerance {
  /// Of one element, and of the error's root mean square, relative to the
  /// reference's root mean square.
  double element, overall;
};

/// A bf16 result may also round to the neighbour (2^-7 of the value at most).
llvm::Error compareValues(const std::string &what, llvm::ArrayRef<double> got,
                          llvm::ArrayRef<double> want, Tolerance tolerance);

/// An array of i32 at a host address, exactly.
llvm::Error compareIntegers(const std::string &what, uint64_t pointer,
                            llvm::ArrayRef<int64_t> want);

} // namespace k2c::test

#endif // TEST_EXECUTION_COMPARISON_H
