// Layouts as attributes: who holds which element, where a byte lies in shared memory.
#ifndef K2C_DIALECTS_TILE_TILELAYOUTATTRS_TD
#define K2C_DIALECTS_TILE_TILELAYOUTATTRS_TD

include "dialects/Tile/TileDialect.td"
include "mlir/IR/TensorEncoding.td"

def Tile_LinearAttr : Tile_Attr<"Linear", "linear", [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let summary = "distribution of a tile over the threads of a CTA";
  let description = [{
    A linear map over F2 from the bits of (register, lane, warp, block) to the coordinate of the tile: each list holds the images of the bits,
    lowest first. A register is one element. The shape is the tensor's; every extent is odd * 2^k, the map covers the 2^k parts and must be
    surjective on them, the odd factor repeats over registers (outermost). A zero image is a broadcast: several threads
    hold the element.

    ```mlir
    tensor<16x8xf32, #tile.linear<reg = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>>
    ```
  }];
  // Coordinates are flattened: `rank` numbers per basis.
  let parameters = (ins "unsigned":$rank, ArrayRefParameter<"int64_t">:$reg, ArrayRefParameter<"int64_t">:$lane, ArrayRefParameter<"int64_t">:$warp,
                    ArrayRefParameter<"int64_t">:$block);
  let builders = [AttrBuilder<(ins "const LinearLayout &":$layout)>];
  let extraClassDeclaration = [{
    /// The map on a tile of this shape; the encoding must be valid for it.
    LinearLayout getLayout(::llvm::ArrayRef<int64_t> shape) const;
    int64_t getNumWarps() const { return int64_t(1) << getWarp().size() / getRank(); }
  }];
  let hasCustomAssemblyFormat = 1;
  // Printed as #linear, #linear1, ...: a layout is long and many tiles share it.
  let genMnemonicAlias = 1;
  let genVerifyDecl = 1;
}

def Tile_SharedAttr : Tile_Attr<"Shared", "shared"> {
  let summary = "map of a stage of a shared buffer to byte offsets";
  let description = [{
    The stage is stored as `[column panel][row][span bytes]`. `swizzle` (0, 32, 64, 128) is the XOR of TMA, wgmma and ldmatrix on the whole
    offset; `span` defaults to the swizzle (16 without one). `masks` replaces the hardware's XOR for scratch: row bit i
    is XORed into the 16-byte chunk index by `masks[i]`.

    ```mlir
    !tile.buffer<3x128x64xbf16, #tile.shared<swizzle = 128>>
    ```
  }];
  let parameters = (ins DefaultValuedParameter<"unsigned", "0">:$swizzle, DefaultValuedParameter<"unsigned", "0">:$span,
                    OptionalArrayRefParameter<"int64_t">:$masks);
  let extraClassDeclaration = [{
    /// The map of a stage, or nullopt and a reason if the shape does not fit.
    ::std::optional<SharedMap> getMap(::llvm::ArrayRef<int64_t> tile, unsigned elemBytes, ::std::string *why = nullptr) const;
  }];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

#endif // K2C_DIALECTS_TILE_TILELAYOUTATTRS_TD
