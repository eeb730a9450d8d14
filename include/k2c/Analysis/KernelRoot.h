//===- KernelRoot.h - What a kernel is built around -------------*- C++ -*-===//
#ifndef K2C_ANALYSIS_KERNELROOT_H
#define K2C_ANALYSIS_KERNELROOT_H

#include "dialects/K2/K2.h"

namespace k2c {

/// The op that decides how a kernel is cut into CTAs: attention before products
/// with weights, these before routing, and row-wise ops last. Null for a kernel
/// without a compute op. Of several equal ones the first.
mlir::Operation *getKernelRoot(k2::KernelOp kernel);

/// The linears (or expert linears) of the root's kernel that read the root's
/// input, the root among them, in order: they share one pass over that input.
llvm::SmallVector<mlir::Operation *> getParallelRoots(mlir::Operation *root);

} // namespace k2c

#endif // K2C_ANALYSIS_KERNELROOT_H
