// Row-wise ops around the residual stream.
#ifndef DIALECTS_K2_K2NORMOPS_TD
#define DIALECTS_K2_K2NORMOPS_TD

include "dialects/K2/K2Base.td"

def K2_RmsNormOp : K2_ComputeOp<"rms_norm", [AllTypesMatch<["input", "result"]>]> {
  let summary = "Normalise rows by their root mean square";
  let description = [{
    `n = x * rsqrt(mean(x * x) + eps)` over the last dimension, result `weight * n`. Shapes: [T, D], [D] -> [T, D]. Float32 arithmetic and
    accumulation; n is rounded to bf16 *before* the weight multiplies it, and the product is rounded to bf16. `weight_type` is the type the
    checkpoint stores: bf16 and f32 weights multiply alike, their product is rounded once.

    ```mlir
    %y = k2.rms_norm %x, %w eps 1.0e-06 weight_type bf16 : tensor<?x7168xbf16>, tensor<7168xf32>
    ```
  }];
  let arguments = (ins K2_Activation:$input, K2_F32Rows:$weight, F64Attr:$eps, TypeAttr:$weight_type);
  let results = (outs K2_Activation:$result);
  let assemblyFormat = "$input `,` $weight `eps` $eps `weight_type` $weight_type attr-dict `:` type($input) `,` type($weight)";
}

def K2_ResidualAddOp : K2_ComputeOp<"residual_add", [SameOperandsAndResultType]> {
  let summary = "Add to the residual stream";
  let description = [{
    The sum of two equally shaped tensors, computed in float32 and rounded to bf16 once.

    ```mlir
    %y = k2.residual_add %x, %attn : tensor<?x7168xbf16>
    ```
  }];
  let arguments = (ins K2_Activation:$lhs, K2_Activation:$rhs);
  let results = (outs K2_Activation:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($result)";
}

#endif // DIALECTS_K2_K2NORMOPS_TD
