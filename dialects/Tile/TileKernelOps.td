// The kernel and its place in the grid.
#ifndef K2C_DIALECTS_TILE_TILEKERNELOPS_TD
#define K2C_DIALECTS_TILE_TILEKERNELOPS_TD

include "dialects/Tile/TileAttrs.td"
include "mlir/Interfaces/FunctionInterfaces.td"


def Tile_KernelOp : Tile_Op<"kernel", [IsolatedFromAbove, FunctionOpInterface, AutomaticAllocationScope, SingleBlock]> {
  let summary = "the program of one CTA";
  let description = [{
    Arguments are global views (`memref`, dims static or `?`, row strides static) and scalars (`i32`, `f32`). ABI: per view one
    16-byte-aligned global pointer, followed at once by one `i32` per dynamic extent in order; scalars as themselves.
    `num_warps` is a power of two; the CTA has `32 * num_warps` threads. `grid`, `args` and `source` describe the launch and the
    origin for the host side; they do not change the program. `schedule` steers the scheduling passes.

    ```mlir
    tile.kernel @copy(%x: memref<?x128xf32>, %y: memref<?x128xf32>) attributes {num_warps = 4} {
      %t = tile.cta_id x
      %c0 = arith.constant 0 : i32
      %v = tile.load %x[%t, %c0] : memref<?x128xf32> -> tensor<1x128xf32>
      tile.store %v, %y[%t, %c0] : tensor<1x128xf32>, memref<?x128xf32>
      tile.return
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type, OptionalAttr<DictArrayAttr>:$arg_attrs,
                   OptionalAttr<DictArrayAttr>:$res_attrs, I64Attr:$num_warps, OptionalAttr<Tile_ScheduleAttr>:$schedule,
                   OptionalAttr<ArrayAttr>:$grid, OptionalAttr<ArrayAttr>:$args, OptionalAttr<ArrayAttr>:$source);
  let regions = (region SizedRegion<1>:$body);
  let skipDefaultBuilders = 1;
  // Creates the entry block; the caller sets its insertion point with `getBody().front()`.
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name, "::mlir::TypeRange":$argumentTypes, "int64_t":$numWarps)>];
  let extraClassDeclaration = [{
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    ::mlir::Region *getCallableRegion() { return &getBody(); }
    bool isDeclaration() { return false; }
    ::mlir::Block &entry() { return getBody().front(); }
    int64_t getNumThreads() { return 32 * getNumWarps(); }
  }];
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Tile_ReturnOp : Tile_Op<"return", [Pure, Terminator, HasParent<"KernelOp">]> {
  let summary = "ends a kernel";
  let description = [{
    Terminator of `tile.kernel`; it has no operands.

    ```mlir
    tile.return
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def Tile_CtaIdOp : Tile_Op<"cta_id", [Pure]> {
  let summary = "the CTA's coordinate in the grid";
  let description = [{
    Uniform `i32`.

    ```mlir
    %t = tile.cta_id x
    ```
  }];
  let arguments = (ins Tile_GridDimAttr:$dim);
  let results = (outs I32:$result);
  let assemblyFormat = "$dim attr-dict";
}

def Tile_DimOp : Tile_Op<"dim", [Pure]> {
  let summary = "an extent of a view";
  let description = [{
    Uniform `i32`: the constant of a static dim, or the extent passed beside the pointer for a `?`.

    ```mlir
    %tokens = tile.dim %x, 0 : memref<?x7168xbf16>
    ```
  }];
  let arguments = (ins Tile_View:$view, ConfinedAttr<I64Attr, [IntNonNegative]>:$index);
  let results = (outs I32:$result);
  let assemblyFormat = "$view `,` $index attr-dict `:` type($view)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

#endif // K2C_DIALECTS_TILE_TILEKERNELOPS_TD
