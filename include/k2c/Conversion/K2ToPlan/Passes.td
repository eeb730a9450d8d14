#ifndef K2C_CONVERSION_K2TOPLAN_PASSES
#define K2C_CONVERSION_K2TOPLAN_PASSES

include "mlir/Pass/PassBase.td"

def ConvertK2ToPlanPass : Pass<"convert-k2-to-plan", "::mlir::ModuleOp"> {
  let summary = "Turn the model around the kernels into buffers, weights and commands";
  let description = [{
    Makes a `plan.program` from a `k2.model` whose kernels exist as `tile.kernel` of the same name (attention: and of the name with `_masked`), and removes the model. Kernels that are equal but for their name and launch
    keep one copy of the code.

    - Every activation that leaves a kernel becomes a buffer of class step; the residual stream of blocks and entries is the buffer `x`, the result of `@model` is `logits`.
    - A parameter becomes a param; a quantised one becomes two, values and `NAME.scale`.
    - A kernel with attention becomes `plan.when eq(masked, 1)` over the launches of its two tile kernels.
    - What `@model` does after its layers is an entry of its own, `@head`: rows in `x` to logits.
    - `k2.layers` becomes `plan.layers` with the launches of the block; work lists are made first in an entry; `x` after the embedding and after every layer, and the router's
      choice, are traced; `plan.require` precedes the first kernel that reads weights of experts.

    ```mlir
    // before
    k2.entry @stack(%x0: tensor<?x128xbf16>, ...) -> tensor<?x128xbf16> {
      %0 = k2.layers @dense from 0 to 2 (%x0, %cos, %sin, %batch) : ...
      k2.return %0 : tensor<?x128xbf16>
    }
    // after
    plan.entry @stack {
      plan.trace "x" layer 0 of @x
      plan.layers "dense" from 0 to 2 {
        plan.launch @dense_input_layernorm grid [T, 1, 1] args [#plan.bind<buffer @x>, #plan.bind<i32 T>, ...]
        ...
        plan.trace "x" layer layer + 1 of @x
      }
    }
    ```

    *Requires*: `k2-verify-fused`; every `k2.kernel` has a `tile.kernel` with `plan.grid` and `plan.args`.
    *Guarantees*: one `plan.program`, no `k2` op.

    Numerics: exact.
  }];
  let options = [
    Option<"target", "target", "std::string", "\"sm_90a\"", "Architecture that goes into the manifest">,
    Option<"activations", "activations", "std::string", "\"bf16\"", "Recorded in the manifest">,
    Option<"numerics", "numerics", "std::string", "\"fused\"", "Recorded in the manifest">,
    Option<"batchInvariant", "batch-invariant", "bool", "false", "Recorded in the manifest">,
    Option<"schedule", "schedule", "std::string", "\"auto\"", "Recorded in the manifest">,
    Option<"configHash", "config-hash", "std::string", "\"\"", "SHA-256 of config.json, recorded in the manifest">,
  ];
  let dependentDialects = ["::k2c::plan::PlanDialect"];
}

#endif // K2C_CONVERSION_K2TOPLAN_PASSES
