//===- KernelInputs.h - What a k2.kernel reads from outside -----*- C++ -*-===//
#ifndef K2C_CONVERSION_K2TOTILE_KERNELINPUTS_H
#define K2C_CONVERSION_K2TOTILE_KERNELINPUTS_H

#include "dialects/K2/K2.h"
#include "dialects/Plan/Plan.h"

namespace k2c {

/// The rows of an activation: T, or T * top_k of what an expert linear makes.
/// Its buffer is [rows, columns] with rows padded to 16 bytes
/// (plan::paddedRowStride), however a kernel's view regroups it: as heads, as
/// flattened (token, head) rows, as pairs in an i32 or as one vector.
plan::ExprAttr getRowCount(mlir::Value value);

/// The values that `#plan.arg<... input N>` counts: ranked tensors but weights
/// that the kernel uses from outside, in order of first use. Batches, caches
/// and routings are not counted: kernels read them as arrays of the step.
llvm::SmallVector<mlir::Value> getKernelInputs(k2::KernelOp kernel);

/// Whether a value from outside of a kernel is counted by getKernelInputs.
bool isKernelInput(mlir::Value value);

/// What one of the tile kernels made of a `k2.kernel` is for. Attention has
/// two: for steps that are causal, and for those that bring a mask (the array
/// `mask` is among its arguments). Expanded attention has a first phase,
/// `Expand`, which writes the array `expanded_kv` that these two read.
enum class Variant { Plain, Masked, Expand };

/// The tile kernels of a kernel: in order of launch, of Plain and Masked one.
llvm::SmallVector<Variant> getVariants(k2::KernelOp kernel);

/// The name of such a tile kernel: NAME, NAME_masked, NAME_expand.
std::string getVariantName(k2::KernelOp kernel, Variant variant);

} // namespace k2c

#endif // K2C_CONVERSION_K2TOTILE_KERNELINPUTS_H
