// Rotary position embedding.
#ifndef DIALECTS_K2_K2POSITIONOPS_TD
#define DIALECTS_K2_K2POSITIONOPS_TD

include "dialects/K2/K2Base.td"

def K2_RopeOp : K2_ComputeOp<"rope", [AllTypesMatch<["input", "result"]>, AllTypesMatch<["cos", "sin"]>]> {
  let summary = "Turn the last columns of every head by the token's position";
  let description = [{
    `input` is [T, heads * (nope + rope)]. In every head the first `nope` columns pass unchanged; the pairs (2i, 2i+1) of the last `rope`
    columns become `(a * cos_i - b * sin_i, b * cos_i + a * sin_i)` and stay interleaved. cos and sin are [T, rope / 2]. cos and sin are
    rounded to bf16, then every product and the sum are: three roundings.

    ```mlir
    %q = k2.rope %x, %cos, %sin {heads = 64, nope = 128, rope = 64} : tensor<?x12288xbf16>, tensor<?x32xf32>
    ```
  }];
  let arguments = (ins K2_Activation:$input, K2_RopeTable:$cos, K2_RopeTable:$sin, I64Attr:$heads, I64Attr:$nope, I64Attr:$rope);
  let results = (outs K2_Activation:$result);
  let assemblyFormat = "$input `,` $cos `,` $sin attr-dict `:` type($input) `,` type($cos)";
}

#endif // DIALECTS_K2_K2POSITIONOPS_TD
