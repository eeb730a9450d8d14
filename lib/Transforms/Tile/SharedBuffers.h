//===- SharedBuffers.h - Sizes of shared buffers ----------------*- C++ -*-===//
#ifndef K2C_LIB_TRANSFORMS_TILE_SHAREDBUFFERS_H
#define K2C_LIB_TRANSFORMS_TILE_SHAREDBUFFERS_H

#include "dialects/Tile/Tile.h"

namespace k2c::tile {

/// Shared memory a CTA may use on sm_90: 227 KiB.
constexpr int64_t kMaxSharedBytes = 227 * 1024;

struct BufferFacts {
  int64_t bytes = 0, alignment = 0;
};

/// Size and alignment of a buffer; emits an error at `alloc` if its map does
/// not exist.
inline std::optional<BufferFacts> bufferFacts(AllocSharedOp alloc) {
  auto type = mlir::cast<BufferType>(alloc.getType());
  auto layout = mlir::dyn_cast_or_null<SharedAttr>(type.getLayout());
  int64_t elem = type.getElementType().getIntOrFloatBitWidth() / 8;
  std::string why = "it has no #tile.shared layout";
  std::optional<SharedMap> map;
  if (layout)
    map = layout.getMap(type.getTileShape(), elem, &why);
  if (!map) {
    alloc.emitOpError("expected a buffer with a map, but ") << why;
    return std::nullopt;
  }
  int64_t alignment = map->alignment();
  // Stages start at multiples of the swizzle's period, as the base does.
  int64_t stage = llvm::alignTo(map->sizeBytes(), alignment);
  return BufferFacts{stage * type.getStages(), alignment};
}

} // namespace k2c::tile

#endif // K2C_LIB_TRANSFORMS_TILE_SHAREDBUFFERS_H
