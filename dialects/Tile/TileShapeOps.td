// Ops that make, spread or regroup tiles without arithmetic.
#ifndef K2C_DIALECTS_TILE_TILESHAPEOPS_TD
#define K2C_DIALECTS_TILE_TILESHAPEOPS_TD

include "dialects/Tile/TileAttrs.td"

def Tile_SplatOp : Tile_Op<"splat", [Pure]> {
  let summary = "a scalar in every element";
  let description = [{
    ```mlir
    %t = tile.splat %s : f32 -> tensor<64x128xf32>
    ```
  }];
  let arguments = (ins Tile_Scalar:$scalar);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = "$scalar attr-dict `:` type($scalar) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_ExtractOp : Tile_Op<"extract", [Pure]> {
  let summary = "the scalar of a one-element tile";
  let description = [{
    Shape law: every extent of the input is 1. The result is uniform.

    ```mlir
    %s = tile.extract %t : tensor<1x1xf32> -> f32
    ```
  }];
  let arguments = (ins Tile_Tensor:$input);
  let results = (outs Tile_Scalar:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let builders = [OpBuilder<(ins "::mlir::Value":$input), [{
    build($_builder, $_state, ::llvm::cast<::mlir::RankedTensorType>(input.getType()).getElementType(), input);
  }]>];
  let hasVerifier = 1;
}

def Tile_BroadcastOp : Tile_Op<"broadcast", [Pure]> {
  let summary = "repeats extents of 1";
  let description = [{
    Same rank and element type; every extent of the input is 1 or the result's.

    ```mlir
    %b = tile.broadcast %t : tensor<64x1xf32> -> tensor<64x128xf32>
    ```
  }];
  let arguments = (ins Tile_Tensor:$input);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_IotaOp : Tile_Op<"iota", [Pure]> {
  let summary = "each element's coordinate along an axis";
  let description = [{
    ```mlir
    %column = tile.iota axis 1 : tensor<64x128xi32>
    ```
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntNonNegative]>:$axis);
  let results = (outs Tile_IntTensor:$result);
  let assemblyFormat = "`axis` $axis attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Tile_ReshapeOp : Tile_Op<"reshape", [Pure]> {
  let summary = "row-major regrouping of the coordinates";
  let description = [{
    Same number of elements in the same row-major order. Legal only if every odd factor stays the outermost part of a dim:
    7168 = 7 * 1024 regroups to 56x128, 12288 = 3 * 4096 does not to 64x192.

    ```mlir
    %g = tile.reshape %t : tensor<1x7168xf32> -> tensor<1x56x128xf32>
    ```
  }];
  let arguments = (ins Tile_Tensor:$input);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_TransposeOp : Tile_Op<"transpose", [Pure]> {
  let summary = "permutes the dims";
  let description = [{
    Dim i of the result is dim `permutation[i]` of the input.

    ```mlir
    %t = tile.transpose %a [1, 0] : tensor<64x128xbf16> -> tensor<128x64xbf16>
    ```
  }];
  let arguments = (ins Tile_Tensor:$input, DenseI64ArrayAttr:$permutation);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = "$input $permutation attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_SliceOp : Tile_Op<"slice", [Pure]> {
  let summary = "a box of a tile";
  let description = [{
    The box starts at the constant `offsets` and has the result's extents; it lies inside the input.

    ```mlir
    %latent = tile.slice %page [0, 0] : tensor<64x576xbf16> -> tensor<64x512xbf16>
    ```
  }];
  let arguments = (ins Tile_Tensor:$input, DenseI64ArrayAttr:$offsets);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = "$input $offsets attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

#endif // K2C_DIALECTS_TILE_TILESHAPEOPS_TD
