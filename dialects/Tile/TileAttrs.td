// Enums and the attributes of kernels. Layouts are in TileLayoutAttrs.td.
#ifndef K2C_DIALECTS_TILE_TILEATTRS_TD
#define K2C_DIALECTS_TILE_TILEATTRS_TD

include "dialects/Tile/TileDialect.td"

class Tile_Enum<string name, string summary, list<I32EnumAttrCase> cases> : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::k2c::tile";
}

def Tile_GridDimAttr : Tile_Enum<"GridDim", "dimension of the grid", [
  I32EnumAttrCase<"X", 0, "x">, I32EnumAttrCase<"Y", 1, "y">, I32EnumAttrCase<"Z", 2, "z">]>;

def Tile_ReduceKindAttr : Tile_Enum<"ReduceKind", "combining operation of a reduction", [
  I32EnumAttrCase<"Add", 0, "add">, I32EnumAttrCase<"Maximum", 1, "maximum">, I32EnumAttrCase<"Minimum", 2, "minimum">]>;

def Tile_ScanModeAttr : Tile_Enum<"ScanMode", "whether a prefix includes the element itself", [
  I32EnumAttrCase<"Inclusive", 0, "inclusive">, I32EnumAttrCase<"Exclusive", 1, "exclusive">]>;

def Tile_ScheduleAttr : Tile_Attr<"Schedule", "schedule"> {
  let summary = "choices that leave the abstract program unchanged";
  let description = [{
    `stages`: buffers of the software pipeline of a loop whose dots read global tiles (1 = no overlap).
    `warps_m`: rows of the warp grid of the dots (0: the layout pass chooses).

    ```mlir
    #tile.schedule<stages = 3>
    ```
  }];
  let parameters = (ins DefaultValuedParameter<"int64_t", "1">:$stages, DefaultValuedParameter<"int64_t", "0">:$warps_m);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

#endif // K2C_DIALECTS_TILE_TILEATTRS_TD
