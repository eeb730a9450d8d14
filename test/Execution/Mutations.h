//===- Mutations.h - Kernels that are wrong in one place --------*- C++ -*-===//
#ifndef TEST_EXECUTION_MUTATIONS_H
#define TEST_EXECUTION_MUTATIONS_H

#include "dialects/Tile/Tile.h"
#include <functional>
#include <optional>

namespace k2c::test {

/// Chooses among the mistakes that can be made in a kernel.
struct Mutation {
  /// Of an op: its kind of mistake, such as "cmpi slt -> sle".
  std::function<bool(llvm::StringRef kind, mlir::Operation *op)> matches;
  /// The how manieth match is made wrong.
  unsigned index = 0;
};

/// Makes the mistake; what it was ("moe_attention: cmpi sle -> slt at ..."), or
/// nothing if there are fewer matches.
std::optional<std::string> mutate(tile::KernelOp kernel,
                                  const Mutation &mutation);
/// Takes the `index`th instruction that starts so out of PTX.
bool dropInstruction(std::string &ptx, llvm::StringRef start, unsigned index);

} // namespace k2c::test

#endif // TEST_EXECUTION_MUTATIONS_H
