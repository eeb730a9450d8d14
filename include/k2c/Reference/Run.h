//===- Run.h - Runs of models and of functions ------------------*- C++ -*-===//
#ifndef K2C_REFERENCE_RUN_H
#define K2C_REFERENCE_RUN_H

#include "k2c/Reference/HostTensors.h"
#include "k2c/Reference/Ops.h"
#include "mlir/IR/BuiltinOps.h"

namespace k2c::reference {

struct RunOptions {
  /// double in place of float.
  bool wide = false;
  Rounding rounding = Rounding::None;
};

struct ModelRunOptions : RunOptions {
  /// Folder of the checkpoint.
  std::string weights;
  /// Also x.<l> and router.<l>.ids and .weights.
  bool trace = false;
  /// Logits for an input without ids.
  bool logits = false;
  /// Columns of successive steps over the cache; empty: all at once.
  std::vector<int64_t> steps;
};

/// Runs the one `k2.model` of `module` on the tensors of an input file as
/// k2-run takes them: input_ids or x0, and optionally attention_mask, mask,
/// position_ids, rope_cos, rope_sin. Gives x_final and logits, and with `trace`
/// what k2-run traces.
llvm::Expected<HostTensors> runModel(mlir::ModuleOp module,
                                     const HostTensors &input,
                                     const ModelRunOptions &options);

struct FunctionRun {
  HostTensors results;
  /// Messages of the check ops that failed.
  std::vector<std::string> failures;
};

/// Runs `entry`, a func.func, k2.block or k2.entry anywhere in `module`.
/// Tensors are taken and given by name: the argument's or result's attribute
/// `k2.name`, else `arg<i>` and `result<i>`. Other types are several tensors:
///   quantized   NAME, NAME_scale_inv ([E * rows of blocks, columns of blocks]
///   or with E apart) batch       NAME.seq_start, NAME.past_len,
///   NAME.block_table, NAME.slot and optionally NAME.mask [T, keys] cache NAME
///   [pages, page size, C + R] routing     as argument NAME.ids [T, k]; as
///   result NAME.expert_count, .expert_start, .token_of_row, .row_of
/// A parameter that `k2.weight` reads is the tensor with its symbol's name.
llvm::Expected<FunctionRun> runFunction(mlir::ModuleOp module,
                                        llvm::StringRef entry,
                                        const HostTensors &input,
                                        const RunOptions &options);

/// Names of the functions without arguments, in order.
std::vector<std::string> closedFunctions(mlir::ModuleOp module);

} // namespace k2c::reference

#endif // K2C_REFERENCE_RUN_H
