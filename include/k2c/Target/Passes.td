#ifndef K2C_TARGET_PASSES
#define K2C_TARGET_PASSES

include "mlir/Pass/PassBase.td"

def EmitPTXPass : Pass<"k2c-emit-ptx", "::mlir::ModuleOp"> {
  let summary = "Write the PTX of every kernel";
  let description = [{
    Translates every `gpu.module` to LLVM IR and, in process, to PTX, for tests and for looking at. The IR is not changed.

    ```mlir
    gpu.module @scale [#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx80">] {
      llvm.func @scale(%x: !llvm.ptr<1>) attributes {nvvm.kernel} { ... }
    }
    // unchanged; written: .visible .entry scale( .param .u64 .ptr .global .align 16 scale_param_0 ) { ... }
    ```

    *Requires*: kernels in the LLVM dialect (`k2c-nvvm-to-llvm`).
    *Guarantees*: one text per kernel, equal for equal IR.

    Numerics: exact.
  }];
  let options = [Option<"folder", "folder", "std::string", "\"-\"", "Where NAME.ptx go; - is the standard output">];
}

#endif // K2C_TARGET_PASSES
