// The scheduled level: layouts, shared memory, asynchronous copies.
#ifndef K2C_DIALECTS_TILE_TILESCHEDULEDOPS_TD
#define K2C_DIALECTS_TILE_TILESCHEDULEDOPS_TD

include "dialects/Tile/TileAttrs.td"
include "dialects/Tile/TileTypes.td"

def Tile_ConvertLayoutOp : Tile_Op<"convert_layout", [Pure]> {
  let summary = "moves a tile to another distribution over threads";
  let description = [{
    Same shape and element type; the encodings differ. The plan (renaming, shuffles, shared memory) is computed from the two maps.

    ```mlir
    %r = tile.convert_layout %t : tensor<16x16xf32, #a> -> tensor<16x16xf32, #b>
    ```
  }];
  let arguments = (ins Tile_Tensor:$input);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_AllocSharedOp : Tile_Op<"alloc_shared"> {
  let summary = "a buffer in shared memory";
  let description = [{
    Lives until the end of the kernel. `tile-allocate-shared` sets `offset`, the buffer's byte offset in the CTA's shared memory.

    ```mlir
    %b = tile.alloc_shared : !tile.buffer<4x128x64xbf16, #tile.shared<swizzle = 128>>
    ```
  }];
  let arguments = (ins OptionalAttr<I64Attr>:$offset);
  let results = (outs Res<Tile_BufferType, "", [MemAlloc]>:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
  let builders = [OpBuilder<(ins "::mlir::Type":$type), [{ build($_builder, $_state, type, ::mlir::IntegerAttr()); }]>];
}

def Tile_CopyAsyncOp : Tile_Op<"copy_async", [AttrSizedOperandSegments]> {
  let summary = "starts copying a tile of a view to one stage of a buffer";
  let description = [{
    The tile has the shape of a stage. Indices, bounds and mask as `tile.load`, or as `tile.gather` if `rows` is given; masked elements become zero in the buffer and are
    not accessed. The tile moves in pieces of `vector_bytes` (16, 8 or 4) along its last dim, to which the row starts are aligned. Completion: `tile.commit_group`, `tile.wait_group`, then `tile.barrier`.

    ```mlir
    tile.copy_async %w[%n, %k] to %b[%stage] : memref<2112x7168xbf16> to !tile.buffer<4x128x64xbf16>
    ```
  }];
  let arguments = (ins Arg<Tile_View, "", [MemRead]>:$view, Variadic<I32>:$indices, Optional<Tile_IntTensor>:$rows, Variadic<I32>:$bounds,
                   Arg<Tile_BufferType, "", [MemWrite]>:$buffer, I32:$stage, DefaultValuedAttr<I32Attr, "16">:$vector_bytes);
  let assemblyFormat = [{
    $view `[` $indices `]` (`rows` $rows^ `:` type($rows))? (`bounds` `[` $bounds^ `]`)? `to` $buffer `[` $stage `]`
    attr-dict `:` type($view) `to` type($buffer)
  }];
  let hasVerifier = 1;
}

def Tile_CommitGroupOp : Tile_Op<"commit_group", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "closes the group of this thread's copies started since the last one";
  let description = [{
    ```mlir
    tile.commit_group
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def Tile_WaitGroupOp : Tile_Op<"wait_group", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "waits until at most `pending` groups of this thread are incomplete";
  let description = [{
    Makes the copies visible to the issuing thread only; other threads need a `tile.barrier` after it.

    ```mlir
    tile.wait_group 1
    ```
  }];
  let arguments = (ins ConfinedAttr<I32Attr, [IntNonNegative]>:$pending);
  let assemblyFormat = "$pending attr-dict";
}

def Tile_BarrierOp : Tile_Op<"barrier", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "all threads of the CTA arrive before one goes on";
  let description = [{
    Orders shared-memory accesses before it against those after it. Uniform control flow only.

    ```mlir
    tile.barrier
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def Tile_LoadSharedOp : Tile_Op<"load_shared"> {
  let summary = "reads a tile, or a box of it, from one stage of a buffer";
  let description = [{
    Without `offsets` the result has the shape of a stage; with them it is the box that starts there. The result has a layout.

    ```mlir
    %a = tile.load_shared %b[%stage] : !tile.buffer<4x128x64xbf16, #s> -> tensor<128x64xbf16, #l>
    ```
  }];
  let arguments = (ins Arg<Tile_BufferType, "", [MemRead]>:$buffer, I32:$stage, OptionalAttr<DenseI64ArrayAttr>:$offsets);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = "$buffer `[` $stage `]` (`offsets` $offsets^)? attr-dict `:` type($buffer) `->` type($result)";
  let builders = [OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$buffer, "::mlir::Value":$stage), [{
    build($_builder, $_state, result, buffer, stage, ::mlir::DenseI64ArrayAttr());
  }]>];
  let hasVerifier = 1;
}

def Tile_StoreSharedOp : Tile_Op<"store_shared"> {
  let summary = "writes a tile to one stage of a buffer";
  let description = [{
    The value has the shape of a stage and a layout.

    ```mlir
    tile.store_shared %t, %b[%stage] : tensor<64x64xbf16, #l>, !tile.buffer<1x64x64xbf16, #s>
    ```
  }];
  let arguments = (ins Tile_Tensor:$value, Arg<Tile_BufferType, "", [MemWrite]>:$buffer, I32:$stage);
  let assemblyFormat = "$value `,` $buffer `[` $stage `]` attr-dict `:` type($value) `,` type($buffer)";
  let hasVerifier = 1;
}

#endif // K2C_DIALECTS_TILE_TILESCHEDULEDOPS_TD
