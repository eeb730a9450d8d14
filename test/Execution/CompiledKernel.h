//===- CompiledKernel.h - A tile kernel on the simulator --------*- C++ -*-===//
#ifndef TEST_EXECUTION_COMPILEDKERNEL_H
#define TEST_EXECUTION_COMPILEDKERNEL_H

#include "dialects/Tile/Tile.h"
#include "runtime/ptxsim/ptxsim.h"
#include "llvm/Support/Error.h"
#include <functional>

namespace k2c::test {

/// What a launch needs of a compiled kernel.
struct CompiledKernel {
  std::shared_ptr<ptxsim::Module> module;
  std::string ptx;
  int64_t threads = 0, sharedBytes = 0;
};

/// What a test breaks on purpose, to see that it is noticed.
struct Edits {
  std::function<void(tile::KernelOp)> tile;
  std::function<void(std::string &)> ptx;
};

/// Takes an abstract tile kernel through all passes to PTX and loads it.
llvm::Expected<CompiledKernel> compileKernel(tile::KernelOp kernel,
                                             ptxsim::Device &device,
                                             const Edits &edits = {});

} // namespace k2c::test

#endif // TEST_EXECUTION_COMPILEDKERNEL_H
