// Access to global views.
#ifndef K2C_DIALECTS_TILE_TILEMEMORYOPS_TD
#define K2C_DIALECTS_TILE_TILEMEMORYOPS_TD

include "dialects/Tile/TileAttrs.td"

def Tile_LoadOp : Tile_Op<"load", [AttrSizedOperandSegments]> {
  let summary = "masked load of a tile from a global view";
  let description = [{
    One index (`i32`) per dim of the view. The tile covers the trailing dims of the view, starting at their indices; the leading
    indices select. Shape law: tile rank <= view rank; extents are independent of the view's. An element outside the view's extents (the leading
    dims count too), or at or after a bound, reads as zero and is not accessed. `bounds` are absolute coordinates of the leading tile dims, at most one per dim.

    ```mlir
    %t = tile.load %x[%row, %c0] bounds [%end] : memref<?x7168xbf16> -> tensor<64x128xbf16>
    ```
  }];
  let arguments = (ins Arg<Tile_View, "", [MemRead]>:$view, Variadic<I32>:$indices, Variadic<I32>:$bounds);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = [{
    $view `[` $indices `]` (`bounds` `[` $bounds^ `]`)? attr-dict `:` type($view) `->` type($result)
  }];
  let builders = [OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$view, "::mlir::ValueRange":$indices), [{
    build($_builder, $_state, result, view, indices, ::mlir::ValueRange());
  }]>];
  let hasVerifier = 1;
}

def Tile_StoreOp : Tile_Op<"store", [AttrSizedOperandSegments]> {
  let summary = "masked store of a tile to a global view";
  let description = [{
    Indices, bounds and mask as `tile.load`; masked elements are not written. Every element is written once, even if the layout
    keeps copies of it.

    ```mlir
    tile.store %t, %y[%row, %c0] bounds [%end] : tensor<64x128xbf16>, memref<?x7168xbf16>
    ```
  }];
  let arguments = (ins Tile_Tensor:$value, Arg<Tile_View, "", [MemWrite]>:$view, Variadic<I32>:$indices, Variadic<I32>:$bounds);
  let assemblyFormat = [{
    $value `,` $view `[` $indices `]` (`bounds` `[` $bounds^ `]`)? attr-dict `:` type($value) `,` type($view)
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$value, "::mlir::Value":$view, "::mlir::ValueRange":$indices), [{
    build($_builder, $_state, value, view, indices, ::mlir::ValueRange());
  }]>];
  let hasVerifier = 1;
}

def Tile_LoadScalarOp : Tile_Op<"load_scalar"> {
  let summary = "uniform load of one element";
  let description = [{
    One index per dim of the view; the element must lie inside the view (no mask). Every thread gets the value.

    ```mlir
    %page = tile.load_scalar %block_table[%seq, %i] : memref<?x?xi32>
    ```
  }];
  let arguments = (ins Arg<Tile_View, "", [MemRead]>:$view, Variadic<I32>:$indices);
  let results = (outs Tile_Scalar:$result);
  let assemblyFormat = "$view `[` $indices `]` attr-dict `:` type($view) `->` type($result)";
  let builders = [OpBuilder<(ins "::mlir::Value":$view, "::mlir::ValueRange":$indices), [{
    build($_builder, $_state, ::llvm::cast<::mlir::MemRefType>(view.getType()).getElementType(), view, indices);
  }]>];
  let hasVerifier = 1;
}

def Tile_StoreScalarOp : Tile_Op<"store_scalar"> {
  let summary = "store of one element";
  let description = [{
    One index per dim of the view; the element must lie inside the view (no mask). One thread of the CTA stores.

    ```mlir
    tile.store_scalar %n, %work_count[%c0] : i32, memref<1xi32>
    ```
  }];
  let arguments = (ins Tile_Scalar:$value, Arg<Tile_View, "", [MemWrite]>:$view, Variadic<I32>:$indices);
  let assemblyFormat = "$value `,` $view `[` $indices `]` attr-dict `:` type($value) `,` type($view)";
  let hasVerifier = 1;
}

def Tile_GatherOp : Tile_Op<"gather"> {
  let summary = "load of rows chosen by an index tile";
  let description = [{
    The view's dim number `view rank - tile rank` (the *row dim*) is indexed by `rows`, one entry per row of the tile; `indices` are the coordinates of all
    other dims in order: leading ones select, trailing ones start the tile. Shape law: `rows` is rank 1 with the tile's first extent.
    A row below 0 or at or past the row dim's extent reads as zero, and so do trailing coordinates outside the view.

    ```mlir
    %a = tile.gather %x[%k] rows %ids : memref<?x7168xbf16>, tensor<64xi32> -> tensor<64x128xbf16>
    ```
  }];
  let arguments = (ins Arg<Tile_View, "", [MemRead]>:$view, Variadic<I32>:$indices, Tile_IntTensor:$rows);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = [{
    $view `[` $indices `]` `rows` $rows attr-dict `:` type($view) `,` type($rows) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_ScatterOp : Tile_Op<"scatter"> {
  let summary = "store of rows to places chosen by an index tile";
  let description = [{
    Indexing as `tile.gather`. A row below 0 or at or past the row dim's extent is skipped. Rows must be distinct.

    ```mlir
    tile.scatter %t, %cache[%page, %c0] rows %slots : tensor<64x512xbf16>, memref<?x64x576xbf16>, tensor<64xi32>
    ```
  }];
  let arguments = (ins Tile_Tensor:$value, Arg<Tile_View, "", [MemWrite]>:$view, Variadic<I32>:$indices, Tile_IntTensor:$rows);
  let assemblyFormat = [{
    $value `,` $view `[` $indices `]` `rows` $rows attr-dict `:` type($value) `,` type($view) `,` type($rows)
  }];
  let hasVerifier = 1;
}

#endif // K2C_DIALECTS_TILE_TILEMEMORYOPS_TD
