// Matrix products with a weight and what surrounds them.
#ifndef DIALECTS_K2_K2LINEAROPS_TD
#define DIALECTS_K2_K2LINEAROPS_TD

include "dialects/K2/K2Base.td"

def K2_LinearOp : K2_ComputeOp<"linear"> {
  let summary = "Multiply by a weight, transposed";
  let description = [{
    [T, K] and a weight [N, K] give [T, N] = input * weight^T. Products of bf16 values, float32 accumulation, one rounding to the result's type
    (none for f32: logits and the router). With a quantized weight the partial sum over every block of columns is multiplied by the block's
    scale in float32 and added in float32; the weight is never rounded to bf16.

    ```mlir
    %y = k2.linear %x, %w : tensor<?x7168xbf16>, !k2.quantized<[1536, 7168], f8E4M3FN, block = [128, 128], scale = f32> -> tensor<?x1536xbf16>
    ```
  }];
  let arguments = (ins K2_Activation:$input, K2_Matrix:$weight);
  let results = (outs K2_Rows<[BF16, F32], "bf16 or f32">:$result);
  let assemblyFormat = "$input `,` $weight attr-dict `:` type($input) `,` type($weight) `->` type($result)";
}

def K2_SliceOp : K2_ComputeOp<"slice"> {
  let summary = "Take a range of columns";
  let description = [{
    Columns `offset` to `offset + size` of every row: a view, exact.

    ```mlir
    %latent = k2.slice %kv offset 0 size 512 : tensor<?x576xbf16> -> tensor<?x512xbf16>
    ```
  }];
  let arguments = (ins K2_Activation:$input, I64Attr:$offset, I64Attr:$size);
  let results = (outs K2_Activation:$result);
  let assemblyFormat = "$input `offset` $offset `size` $size attr-dict `:` type($input) `->` type($result)";
}

def K2_SwigluOp : K2_ComputeOp<"swiglu", [SameOperandsAndResultType]> {
  let summary = "Gate one tensor by the SiLU of another";
  let description = [{
    `bf16(bf16(silu(gate)) * up)` with silu(g) = g / (1 + exp(-g)) in float32: two roundings.

    ```mlir
    %m = k2.swiglu %gate, %up : tensor<?x18432xbf16>
    ```
  }];
  let arguments = (ins K2_Activation:$gate, K2_Activation:$up);
  let results = (outs K2_Activation:$result);
  let assemblyFormat = "$gate `,` $up attr-dict `:` type($result)";
}

#endif // DIALECTS_K2_K2LINEAROPS_TD
