// Multi-head latent attention in its two forms. Letters: H heads, N nope, R rope, W value, C latents.
#ifndef DIALECTS_K2_K2ATTENTIONOPS_TD
#define DIALECTS_K2_K2ATTENTIONOPS_TD

include "dialects/K2/K2Base.td"

def K2_MlaAttentionOp : K2_ComputeOp<"mla_attention"> {
  let summary = "Attend to the cached sequence, with keys and values expanded";
  let description = [{
    `query` is [T, H * (N + R)], its last R columns per head rotated. For every cached row of the token's sequence `k_nope, v = split(latent *
    kv_b^T)` per head (N, then W columns); the score is `scale * (q_nope . k_nope + q_rope . k_rope)`, plus the batch's mask or minus infinity for a
    later token; the result softmax(scores) * v, [T, H * W], head-major. A row with no allowed key gives zeros. k_nope and v are
    rounded to bf16; scores and softmax are float32; P is rounded to bf16 unnormalised (exp of score minus the row's maximum); accumulators
    are float32; one rounding of the result to bf16.

    ```mlir
    %o = k2.mla_attention %q, %cache, %batch, %kv_b {heads = 64, nope = 128, rope = 64, value = 128, scale = 0.13086079 : f64}
        : (tensor<?x12288xbf16>, !k2.cache<512, 64>, !k2.batch, tensor<16384x512xbf16>) -> tensor<?x8192xbf16>
    ```
  }];
  let arguments = (ins K2_Activation:$query, K2_CacheType:$cache, K2_BatchType:$batch, K2_Matrix:$kv_b, I64Attr:$heads, I64Attr:$nope,
                       I64Attr:$rope, I64Attr:$value, F64Attr:$scale);
  let results = (outs K2_Activation:$result);
  let assemblyFormat = "$query `,` $cache `,` $batch `,` $kv_b attr-dict `:` functional-type(operands, results)";
}

def K2_AbsorbQueryOp : K2_ComputeOp<"absorb_query"> {
  let summary = "Bring a query's plain columns into the space of the latents";
  let description = [{
    Per head h: `q_latent[h] = q_nope[h] * W_UK[h]`, where W_UK[h] are the first N of the N + W rows that head h has in kv_b. [T, H * (N + R)] ->
    [T, H * C]. Float32 accumulation, one rounding to bf16.

    ```mlir
    %q_latent = k2.absorb_query %q, %kv_b {heads = 64, nope = 128, rope = 64, value = 128}
        : (tensor<?x12288xbf16>, tensor<16384x512xbf16>) -> tensor<?x32768xbf16>
    ```
  }];
  let arguments = (ins K2_Activation:$query, K2_Matrix:$kv_b, I64Attr:$heads, I64Attr:$nope, I64Attr:$rope, I64Attr:$value);
  let results = (outs K2_Activation:$result);
  let assemblyFormat = "$query `,` $kv_b attr-dict `:` functional-type(operands, results)";
}

def K2_MlaAttentionAbsorbedOp : K2_ComputeOp<"mla_attention_absorbed"> {
  let summary = "Attend to the cached sequence in the space of the latents";
  let description = [{
    The score is `scale * (q_latent . latent + q_rope . k_rope)`, masked as in `k2.mla_attention`; the result is softmax(scores) * latent, [T, H * C]. Only
    the last `rope` columns of every head of `query` [T, H * (N + R)] are read. A row with no allowed key gives zeros. Scores and softmax
    float32, P rounded to bf16 unnormalised, float32 accumulators, one rounding to bf16.

    ```mlir
    %o_latent = k2.mla_attention_absorbed %q_latent, %q, %cache, %batch {heads = 64, nope = 128, rope = 64, scale = 0.13086079 : f64}
        : (tensor<?x32768xbf16>, tensor<?x12288xbf16>, !k2.cache<512, 64>, !k2.batch) -> tensor<?x32768xbf16>
    ```
  }];
  let arguments = (ins K2_Activation:$query_latent, K2_Activation:$query, K2_CacheType:$cache, K2_BatchType:$batch, I64Attr:$heads,
                       I64Attr:$nope, I64Attr:$rope, F64Attr:$scale);
  let results = (outs K2_Activation:$result);
  let assemblyFormat = "$query_latent `,` $query `,` $cache `,` $batch attr-dict `:` functional-type(operands, results)";
}

def K2_AbsorbOutputOp : K2_ComputeOp<"absorb_output"> {
  let summary = "Bring attended latents to the heads' values";
  let description = [{
    Per head h: `o[h] = o_latent[h] * W_UV[h]^T`, where W_UV[h] are the last W of the N + W rows that head h has in kv_b. [T, H * C] -> [T, H *
    W]. Float32 accumulation, one rounding to bf16.

    ```mlir
    %o = k2.absorb_output %o_latent, %kv_b {heads = 64, nope = 128, value = 128}
        : (tensor<?x32768xbf16>, tensor<16384x512xbf16>) -> tensor<?x8192xbf16>
    ```
  }];
  let arguments = (ins K2_Activation:$output_latent, K2_Matrix:$kv_b, I64Attr:$heads, I64Attr:$nope, I64Attr:$value);
  let results = (outs K2_Activation:$result);
  let assemblyFormat = "$output_latent `,` $kv_b attr-dict `:` functional-type(operands, results)";
}

#endif // DIALECTS_K2_K2ATTENTIONOPS_TD
