// The whole dialect for tablegen: one line per family.
#ifndef K2C_DIALECTS_TILE_TILE_TD
#define K2C_DIALECTS_TILE_TILE_TD

include "dialects/Tile/TileDialect.td"
include "dialects/Tile/TileAttrs.td"
include "dialects/Tile/TileLayoutAttrs.td"
include "dialects/Tile/TileTypes.td"
include "dialects/Tile/TileKernelOps.td"
include "dialects/Tile/TileMemoryOps.td"
include "dialects/Tile/TileComputeOps.td"
include "dialects/Tile/TileShapeOps.td"
include "dialects/Tile/TileScheduledOps.td"

#endif // K2C_DIALECTS_TILE_TILE_TD
