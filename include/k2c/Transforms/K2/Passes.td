#ifndef K2C_TRANSFORMS_K2_PASSES
#define K2C_TRANSFORMS_K2_PASSES

include "mlir/Pass/PassBase.td"

def FuseParallelLinearsPass : Pass<"k2-fuse-parallel-linears", "::k2c::k2::ModelOp"> {
  let summary = "Join linears that read the same rows into one with a fused weight";
  let description = [{
    Linears with the same input and one storage type whose results are only read row by row through column ranges (by norms, slices, the rope of a
    single head and the cache) become one linear; its weight is a new parameter whose parts are those of the old ones. Every part but the last is padded to
    a multiple of 128 rows, so that no scale block spans two parts. q_a_proj and kv_a_proj_with_mqa become qkv_a_proj.

    ```mlir
    // before
    %q = k2.linear %h, %wq : tensor<?x7168xbf16>, tensor<1536x7168xbf16> -> tensor<?x1536xbf16>
    %kv = k2.linear %h, %wkv : tensor<?x7168xbf16>, tensor<576x7168xbf16> -> tensor<?x576xbf16>
    // after
    %w = k2.weight @dense.qkv_a_proj : tensor<2112x7168xbf16>
    %y = k2.linear %h, %w : tensor<?x7168xbf16>, tensor<2112x7168xbf16> -> tensor<?x2112xbf16>
    %q = k2.slice %y offset 0 size 1536 : tensor<?x2112xbf16> -> tensor<?x1536xbf16>
    %kv = k2.slice %y offset 1536 size 576 : tensor<?x2112xbf16> -> tensor<?x576xbf16>
    ```

    *Requires*: a `k2.model` without kernels.
    *Guarantees*: parameters that nothing reads any more are gone; slices of slices are composed.

    Numerics: exact.
  }];
}

def AbsorbAttentionPass : Pass<"k2-absorb-attention", "::k2c::k2::ModelOp"> {
  let summary = "Rewrite attention to work on the cached latents";
  let description = [{
    The keys and values of `k2.mla_attention` are products of kv_b with cached latents; the absorbed form multiplies queries and outputs by kv_b
    instead, so that the cache is read as it is. What is not absorbed is compiled in two phases: keys and values of all cached tokens are written to memory, then attended.

    ```mlir
    // before
    %o = k2.mla_attention %q, %cache, %batch, %kv_b {heads, nope, rope, value, scale}
    // after
    %ql = k2.absorb_query %q, %kv_b {heads, nope, rope, value}
    %ol = k2.mla_attention_absorbed %ql, %q, %cache, %batch {heads, nope, rope, scale}
    %o = k2.absorb_output %ol, %kv_b {heads, nope, value}
    ```

    *Requires*: nothing.
    *Guarantees*: no `k2.mla_attention` is left.

    Numerics: changes rounding (the query in latent space and the attended latents are rounded to bf16; keys and values no longer are).
  }];
}

def FormKernelsPass : Pass<"k2-form-kernels", "::k2c::k2::ModelOp"> {
  let summary = "Put every op into a kernel, with the fusions that cost nothing";
  let description = [{
    Each compute op becomes a `k2.kernel`; these share one: residual_add with the rms_norm that reads the sum; gate and up linear with their swiglu; a linear
    with the residual_add of its result when no norm follows; combine with the additions of the shared expert and of the residual; the norm of the latents and the
    rope of the shared key with append. Weights and slices are copied into the kernels that read them. A `k2.expert_work` is put after every
    dispatch: the list of 64-row work items that grouped kernels run over. Kernels are named after their block and weight, uniquely in the model.

    ```mlir
    // before
    %s = k2.residual_add %x, %attn : tensor<?x128xbf16>
    %w = k2.weight @dense.post_attention_layernorm : tensor<128xf32>
    %h = k2.rms_norm %s, %w eps 1.0e-06 weight_type bf16 : tensor<?x128xbf16>, tensor<128xf32>
    // after
    %0:2 = k2.kernel "dense_post_attention_layernorm" -> tensor<?x128xbf16>, tensor<?x128xbf16> {
      %w = k2.weight @dense.post_attention_layernorm : tensor<128xf32>
      %s = k2.residual_add %x, %attn : tensor<?x128xbf16>
      %h = k2.rms_norm %s, %w eps 1.0e-06 weight_type bf16 : tensor<?x128xbf16>, tensor<128xf32>
      k2.yield %s, %h : tensor<?x128xbf16>, tensor<?x128xbf16>
    }
    ```

    *Requires*: ops of blocks and entries, not in kernels yet.
    *Guarantees*: outside of kernels only `k2.layers` and `k2.return` are left in a block or entry; names are unique in the model.

    Numerics: exact.
  }];
}

def ChooseKernelConfigsPass : Pass<"k2-choose-kernel-configs", "::k2c::k2::ModelOp"> {
  let summary = "Decide how every kernel is cut into CTAs";
  let description = [{
    Sets `config` of every `k2.kernel` that has none, so that an attribute in the input overrides the choice. Linears take the candidate tile with the least modelled
    time at `tokens` tokens: `waves * bytes of one CTA`, where the bytes are the operands' compulsory bytes (`K2CostInterface`) times how often the tiles
    re-read them, spread over the CTAs, and a wave is `multiprocessors` CTAs. Candidates keep the accumulators of a thread within 64 registers. All other roots have
    one shape: rows padded to an extent that four warps hold evenly, 64 query rows with at most 256 latent columns, 64 rows of an expert.

    ```mlir
    k2.kernel "dense_o_proj" -> tensor<?x7168xbf16> { ... }
    // becomes
    k2.kernel "dense_o_proj" config <orientation = tokens_m, tile = [64, 64, 64], split = 1, decomposition = tiles, prologue = none> -> ...
    ```

    *Requires*: `k2-form-kernels`.
    *Guarantees*: every kernel has a config.

    Numerics: exact.
  }];
  let options = [
    Option<"tokens", "tokens", "int64_t", "64", "Tokens of the step that linears are tuned for">,
    Option<"multiprocessors", "multiprocessors", "int64_t", "132", "CTAs that run at once">,
  ];
}

def VerifyFusedPass : Pass<"k2-verify-fused", "::k2c::k2::ModelOp"> {
  let summary = "Check that the model is ready for the conversion to tile";
  let description = [{
    Ends the model stage. Nothing is changed.

    With `batch-invariant` a row's result must depend neither on the other rows of the step nor on how a sequence was cut into steps. A kernel has one config for
    all steps, so what remains to be refused is one whose order of summation depends on the step: keys cut into a number of pieces, whose size would follow the length.
    A split of K is a constant of the op and is summed in order.

    *Requires*: nothing.
    *Guarantees*: blocks and entries hold only kernels, `k2.layers` and `k2.return`; every kernel has a config and a name of its own; every op in a kernel
    implements `K2CostInterface`.

    Numerics: exact.
  }];
  let options = [
    Option<"batchInvariant", "batch-invariant", "bool", "false", "Refuse configs whose order of summation depends on the step">,
  ];
}

#endif // K2C_TRANSFORMS_K2_PASSES
