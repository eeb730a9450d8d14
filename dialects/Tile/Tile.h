// The tile dialect: attributes, types and ops. See Rationale.md and Spec.md.
#ifndef K2C_DIALECTS_TILE_TILE_H
#define K2C_DIALECTS_TILE_TILE_H

#include "dialects/Tile/LinearLayout.h"
#include "dialects/Tile/SharedMap.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/Tile/TileDialect.h.inc"
#include "dialects/Tile/TileEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/Tile/TileAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/Tile/TileTypes.h.inc"

#define GET_OP_CLASSES
#include "dialects/Tile/TileOps.h.inc"

namespace k2c::tile {

/// Whether a row-major regrouping keeps every odd factor the outermost part of
/// a dim on both sides (Spec.md, reshape).
bool isLegalReshape(llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> to);

} // namespace k2c::tile

#endif // K2C_DIALECTS_TILE_TILE_H
