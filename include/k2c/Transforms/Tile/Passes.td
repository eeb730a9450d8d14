#ifndef K2C_TRANSFORMS_TILE_PASSES
#define K2C_TRANSFORMS_TILE_PASSES

include "mlir/Pass/PassBase.td"

class TilePass<string name> : Pass<name, "::k2c::tile::KernelOp"> {
  let dependentDialects = ["::k2c::tile::TileDialect", "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def TileVerifyTiledPass : TilePass<"tile-verify-tiled"> {
  let summary = "Check that a kernel is a complete abstract tile program";
  let description = [{
    Ends the abstract stage. Nothing is changed; every violation is an error at the op.

    *Requires*: nothing.
    *Guarantees*: no value has a layout and no op of the scheduled level appears; casts carry no fastmath flags (a `truncf`/`extf` pair with
    `contract` folds away, and a rounding point with it); every dot has m and k in multiples of 16, n in multiples of 8 and bf16 operands;
    constants of tiles are splats.

    Numerics: exact.
  }];
}

def TilePipelineLoopsPass : TilePass<"tile-pipeline-loops"> {
  let summary = "Bring the operands of dots through shared memory by asynchronous copies";
  let description = [{
    A tile that a dot reads from global memory (directly, through a `tile.slice` or a `tile.convert`) goes through a swizzled shared buffer. In a loop that
    writes no global memory and whose indices can be computed ahead, the copies run `stages - 1` iterations ahead of their use; elsewhere they are waited for where the load stood. Every
    use reads the buffer again, so that one buffer serves several dots.

    ```mlir
    %r = scf.for %k = %c0 to %K step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
      %a = tile.load %x[%m, %k] : memref<?x1024xbf16> -> tensor<64x64xbf16>
      ...
    // becomes
    %buf = tile.alloc_shared : !tile.buffer<3x64x64xbf16, #tile.shared<swizzle = 128>>
    scf.if %first_in_range { tile.copy_async %x[%m, %c0] to %buf[%c0] ... }
    tile.commit_group
    ...
    %r = scf.for ... iter_args(%acc = %zero, %stage = %c0) {
      tile.wait_group 1
      scf.if %in_range { tile.copy_async %x[%m, %ahead] to %buf[%next] ... }
      tile.commit_group
      %a = tile.load_shared %buf[%stage] ...
    ```

    The number of stages is `#tile.schedule<stages = N>`, or else the most (up to 3) that fit into shared memory. Rows are copied in pieces of 16
    bytes; where the view's strides or the indices only guarantee 8 or 4, in those (a remark says so); below that the load stays as it is.

    *Requires*: an abstract kernel (`tile-verify-tiled`).
    *Guarantees*: copies are committed and waited for on every path; barriers are left to `tile-insert-fences`.

    Numerics: exact.
  }];
  let options = [Option<"sharedBytes", "shared-bytes", "int64_t", "227328", "shared memory the automatic choice of stages may use">];
}

def TileInferLayoutsPass : TilePass<"tile-infer-layouts"> {
  let summary = "Give every tile a distribution over the threads";
  let description = [{
    Anchors are the accumulators of dots (`mma.sync` fragments over a grid of warps), then the operands of dots, then what is loaded and stored (coalesced rows).
    Elementwise ops, loop-carried values and branches keep one layout; reductions, broadcasts, slices and reshapes derive theirs.
    Where two meet, `tile.convert_layout` is inserted. A dot whose result feeds another dot's A operand is spread over rows only (further warps
    repeat it), so that its accumulator is the next operand as it stands. An encoding that is already there is kept as an anchor.

    ```mlir
    %d = tile.dot %a, %b, %c : tensor<16x16xbf16>, tensor<16x8xbf16>, tensor<16x8xf32>
    // becomes, with #c = #tile.linear<reg = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
    %d = tile.dot %a, %b, %c : tensor<16x16xbf16, #a>, tensor<16x8xbf16, #b>, tensor<16x8xf32, #c>
    ```

    *Requires*: `tile-pipeline-loops` has run if shared memory is to be used.
    *Guarantees*: every tensor has a `#tile.linear` encoding over the kernel's warps.

    Numerics: reassociates (the layout fixes the order of sums).
  }];
}

def TileAllocateSharedPass : TilePass<"tile-allocate-shared"> {
  let summary = "Place the shared buffers";
  let description = [{
    Sets `offset` of every `tile.alloc_shared`, in program order, aligned to the period of the buffer's swizzle.

    ```mlir
    %a = tile.alloc_shared : !tile.buffer<2x64x64xbf16, #tile.shared<swizzle = 128>>
    %b = tile.alloc_shared : !tile.buffer<64x64xbf16, #tile.shared<swizzle = 128>>
    // becomes
    %a = tile.alloc_shared {offset = 0 : i64} : !tile.buffer<2x64x64xbf16, #tile.shared<swizzle = 128>>
    %b = tile.alloc_shared {offset = 16384 : i64} : !tile.buffer<64x64xbf16, #tile.shared<swizzle = 128>>
    ```

    *Requires*: nothing.
    *Guarantees*: buffers are disjoint and end below 227 KiB.

    Numerics: exact.
  }];
}

def TileInsertFencesPass : TilePass<"tile-insert-fences"> {
  let summary = "Insert the barriers that shared memory needs";
  let description = [{
    Between a write to a buffer (a store, or a copy that has been waited for) and a read of it by other threads, and between a read and the next write,
    stands one `tile.barrier`, also around the back edges of loops. Barriers are only placed in control flow that is uniform over the CTA, which
    all control flow of a tile program is.

    ```mlir
    tile.wait_group 0
    // inserted: tile.barrier
    %a = tile.load_shared %buf[%s] ...
    ```

    *Requires*: nothing.
    *Guarantees*: no hazard on a shared buffer between threads.

    Numerics: exact.
  }];
}

def TileVerifyScheduledPass : TilePass<"tile-verify-scheduled"> {
  let summary = "Check that a kernel can be lowered op by op";
  let description = [{
    Ends the scheduled stage. Nothing is changed; every violation is an error at the op.

    *Requires*: nothing.
    *Guarantees*: every tensor has a layout over the kernel's warps; the layouts of every dot are those of `mma.sync` (layout algebra, not a table);
    shared buffers have a map and an offset and do not overlap.

    Numerics: exact.
  }];
}

#endif // K2C_TRANSFORMS_TILE_PASSES
