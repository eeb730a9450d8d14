#ifndef K2C_CONVERSION_K2TOTILE_PASSES
#define K2C_CONVERSION_K2TOTILE_PASSES

include "mlir/Pass/PassBase.td"

def ConvertK2ToTilePass : Pass<"convert-k2-to-tile", "::mlir::ModuleOp"> {
  let summary = "Write the program of one CTA for every k2.kernel";
  let description = [{
    Adds a `tile.kernel` of the same name for every `k2.kernel` of the module. The kernel's root chooses the grid and the tile (its `config`), every
    op emits itself through `K2TileInterface` on the tiles of its operands, and what the kernel yields is stored. Extents that are no multiple of a tile are
    masked at loads and stores. The k2 ops stay: the plan is made from them. What a launch must pass is left in `plan.grid`, `plan.args` and
    `plan.worklists`.

    ```mlir
    // before
    %y = k2.kernel "o" config <orientation = tokens_m, tile = [64, 64, 64], ...> -> tensor<?x96xbf16> {
      %w = k2.weight @o : tensor<96x128xbf16>
      %0 = k2.linear %x, %w : tensor<?x128xbf16>, tensor<96x128xbf16> -> tensor<?x96xbf16>
      k2.yield %0 : tensor<?x96xbf16>
    }
    // after, beside it
    tile.kernel @o(%x: memref<?x128xbf16, strided<[128, 1]>>, %w: memref<96x128xbf16, strided<[128, 1]>>, %y: memref<?x96xbf16, strided<[96, 1]>>)
        attributes {num_warps = 4, plan.grid = [#plan.expr<2>, #plan.expr<ceildiv(T, 64)>, #plan.expr<1>],
                    plan.args = [#plan.arg<read input 0 [T]>, #plan.arg<read param "o">, #plan.arg<write result 0 [T]>]} {
      %acc = scf.for %k = 0 to 128 step 64 { ... tile.dot ... }
      tile.store (arith.truncf %acc), %y[...]
    }
    ```

    *Requires*: `k2-verify-fused`.
    *Guarantees*: one `tile.kernel` at the abstract level for every `k2.kernel`.

    Numerics: changes rounding only as the ops' descriptions say (sums of the tensor cores' order; exp2 and reciprocal square root are the hardware's approximations).
  }];
  let dependentDialects = ["::k2c::tile::TileDialect", "::k2c::plan::PlanDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
                           "::mlir::scf::SCFDialect", "::mlir::memref::MemRefDialect"];
}

#endif // K2C_CONVERSION_K2TOTILE_PASSES
