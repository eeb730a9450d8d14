// The dialect and the base classes of its attributes, types and ops.
#ifndef K2C_DIALECTS_TILE_TILEDIALECT_TD
#define K2C_DIALECTS_TILE_TILEDIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinTypeInterfaces.td"
include "mlir/IR/CommonTypeConstraints.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def TileDialect : Dialect {
  let name = "tile";
  let cppNamespace = "::k2c::tile";
  let summary = "one CTA's view of a GPU kernel: tiles, then layouts and shared memory";
  let description = [{
    A `tile.kernel` is the program of one CTA. Its values are whole tiles (`tensor<64x128xbf16>`) and uniform scalars
    (`i32`, `f32`). Elementwise work is plain `arith` and `math` on tensors; this dialect adds what upstream lacks:
    masked access to global views, dot, reductions and, at the *scheduled* level, layouts (`#tile.linear` as the
    tensor's encoding), shared buffers and asynchronous copies. Rationale.md says why, Spec.md lists the rules.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let extraClassDeclaration = [{
    void registerAttributes();
    void registerTypes();
  }];
}

class Tile_Attr<string name, string mnem, list<Trait> traits = []> : AttrDef<TileDialect, name, traits> {
  let mnemonic = mnem;
}

class Tile_Type<string name, string mnem, list<Trait> traits = []> : TypeDef<TileDialect, name, traits> {
  let mnemonic = mnem;
}

class Tile_Op<string mnemonic, list<Trait> traits = []> : Op<TileDialect, mnemonic, traits>;

// A tile: static shape, every extent odd * 2^k.
def Tile_Tensor : RankedTensorOf<[F32, BF16, F16, F8E4M3FN, I1, I8, I16, I32, I64], [HasStaticShapePred], "statically shaped tile">;
def Tile_IntTensor : RankedTensorOf<[I32], [HasStaticShapePred], "statically shaped tile of i32">;
def Tile_FloatTensor : RankedTensorOf<[F32], [HasStaticShapePred], "statically shaped tile of f32">;
// A global view: dims static or `?`, unit stride in the last dim.
def Tile_View : MemRefRankOf<[F32, BF16, F16, F8E4M3FN, I8, I32], [1, 2, 3, 4]>;
def Tile_Scalar : AnyTypeOf<[F32, BF16, F16, I1, I8, I16, I32, I64], "scalar">;

#endif // K2C_DIALECTS_TILE_TILEDIALECT_TD
