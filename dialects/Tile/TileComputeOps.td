// Dot, reductions and the conversions that upstream does not lower.
#ifndef K2C_DIALECTS_TILE_TILECOMPUTEOPS_TD
#define K2C_DIALECTS_TILE_TILECOMPUTEOPS_TD

include "dialects/Tile/TileAttrs.td"

def Tile_DotOp : Tile_Op<"dot", [Pure, AllTypesMatch<["c", "result"]>]> {
  let summary = "matrix product added to an accumulator";
  let description = [{
    `c + a b`, or `c + a b^T` with `b_transposed`. Shape law: a [M,K], b [K,N] (or [N,K] if `b_transposed`), c [M,N]. Operands bf16, accumulator and result f32;
    products are exact, the order of summation is the hardware's.

    ```mlir
    %d = tile.dot %a, %w, %c {b_transposed} : tensor<64x64xbf16>, tensor<128x64xbf16>, tensor<64x128xf32>
    ```
  }];
  let arguments = (ins Tile_Tensor:$a, Tile_Tensor:$b, Tile_FloatTensor:$c, UnitAttr:$b_transposed);
  let results = (outs Tile_FloatTensor:$result);
  let assemblyFormat = "$a `,` $b `,` $c attr-dict `:` type($a) `,` type($b) `,` type($c)";
  let hasVerifier = 1;
}

def Tile_ReduceOp : Tile_Op<"reduce", [Pure]> {
  let summary = "reduction along one axis";
  let description = [{
    The axis is kept with extent 1. Element types f32 and i32 (`add`, `maximum`, `minimum`; NaN propagates in float maxima and minima). f32 sums are taken in a fixed order:
    a thread's registers ascending, then lanes, then warps.

    ```mlir
    %s = tile.reduce add axis 1 %t : tensor<1x7168xf32> -> tensor<1x1xf32>
    ```
  }];
  let arguments = (ins Tile_ReduceKindAttr:$kind, ConfinedAttr<I64Attr, [IntNonNegative]>:$axis, Tile_Tensor:$input);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = "$kind `axis` $axis $input attr-dict `:` type($input) `->` type($result)";
  // The result has the input's type with extent 1 and no layout.
  let builders = [OpBuilder<(ins "ReduceKind":$kind, "int64_t":$axis, "::mlir::Value":$input)>];
  let hasVerifier = 1;
}

def Tile_ArgMaxOp : Tile_Op<"argmax", [Pure]> {
  let summary = "largest value along one axis and where it is";
  let description = [{
    f32 in, (f32, i32) out, axis kept with extent 1. Of equal values the lowest index wins; -inf is an ordinary value; NaN loses against every number
    (all NaN: index 0).

    ```mlir
    %v, %i = tile.argmax axis 1 %t : tensor<1x256xf32> -> tensor<1x1xf32>, tensor<1x1xi32>
    ```
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntNonNegative]>:$axis, Tile_FloatTensor:$input);
  let results = (outs Tile_FloatTensor:$value, Tile_IntTensor:$index);
  let assemblyFormat = "`axis` $axis $input attr-dict `:` type($input) `->` type($value) `,` type($index)";
  let builders = [OpBuilder<(ins "int64_t":$axis, "::mlir::Value":$input)>];
  let hasVerifier = 1;
}

def Tile_ScanOp : Tile_Op<"scan", [Pure, AllTypesMatch<["input", "result"]>]> {
  let summary = "prefix sums along the last axis";
  let description = [{
    i32 addition, exact modulo 2^32. `exclusive` starts with 0, `inclusive` with the first element.

    ```mlir
    %start = tile.scan add axis 0 exclusive %count : tensor<512xi32>
    ```
  }];
  let arguments = (ins Tile_ReduceKindAttr:$kind, ConfinedAttr<I64Attr, [IntNonNegative]>:$axis, Tile_ScanModeAttr:$mode, Tile_IntTensor:$input);
  let results = (outs Tile_IntTensor:$result);
  let assemblyFormat = "$kind `axis` $axis $mode $input attr-dict `:` type($input)";
  let hasVerifier = 1;
}

def Tile_ConvertOp : Tile_Op<"convert", [Pure]> {
  let summary = "exact widening of e4m3 to bf16";
  let description = [{
    `arith.extf` does not lower for 8-bit floats. Every f8E4M3FN value is a bf16 value, so nothing is rounded; NaN stays NaN.

    ```mlir
    %w = tile.convert %q : tensor<128x128xf8E4M3FN> -> tensor<128x128xbf16>
    ```
  }];
  let arguments = (ins Tile_Tensor:$input);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

#endif // K2C_DIALECTS_TILE_TILECOMPUTEOPS_TD
