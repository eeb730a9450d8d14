// Types of the scheduled level.
#ifndef K2C_DIALECTS_TILE_TILETYPES_TD
#define K2C_DIALECTS_TILE_TILETYPES_TD

include "dialects/Tile/TileDialect.td"

def Tile_BufferType : Tile_Type<"Buffer", "buffer"> {
  let summary = "stages of one tile in shared memory";
  let description = [{
    The first dim counts the stages, the others are the tile. `layout` (`#tile.shared<...>`) maps a coordinate of the tile to a byte
    offset inside a stage; without it the stage is dense and row-major.

    ```mlir
    !tile.buffer<4x128x64xbf16, #tile.shared<swizzle = 128>>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType, OptionalParameter<"::mlir::Attribute">:$layout);
  let builders = [TypeBuilderWithInferredContext<(ins "::llvm::ArrayRef<int64_t>":$shape, "::mlir::Type":$elementType,
                                                      CArg<"::mlir::Attribute", "{}">:$layout), [{
    return $_get(elementType.getContext(), shape, elementType, layout);
  }]>];
  let extraClassDeclaration = [{
    int64_t getStages() const { return getShape().front(); }
    /// The shape of one stage.
    ::llvm::ArrayRef<int64_t> getTileShape() const { return getShape().drop_front(); }
  }];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

#endif // K2C_DIALECTS_TILE_TILETYPES_TD
