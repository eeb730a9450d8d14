#include "lib/Conversion/TileToNVVM/SharedAddress.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace k2c::tile;
using namespace k2c::tile_to_nvvm;

static unsigned elementBytes(BufferType buffer) {
  return buffer.getElementType().getIntOrFloatBitWidth() / 8;
}

std::optional<SharedBox> k2c::tile_to_nvvm::sharedBox(BufferType buffer,
                                                      ArrayRef<int64_t> shape,
                                                      ArrayRef<int64_t> offsets,
                                                      std::string &why) {
  auto layout = dyn_cast_or_null<SharedAttr>(buffer.getLayout());
  if (!layout) {
    why = "the buffer has no #tile.shared layout";
    return std::nullopt;
  }
  std::optional<SharedMap> whole =
      layout.getMap(buffer.getTileShape(), elementBytes(buffer), &why);
  if (!whole)
    return std::nullopt;
  int64_t rows = shape.size() == 2 ? shape[0] : 1;
  std::optional<SharedMap> map = whole->box(rows, shape.back(), &why);
  if (!map)
    return std::nullopt;
  SharedBox box{*map, 0, 0};
  Coord origin = {0, 0};
  for (auto [i, offset] : llvm::enumerate(offsets))
    origin[2 - offsets.size() + i] = offset;
  Coord low(2);
  for (unsigned dim = 0; dim < 2; ++dim) {
    unsigned inside =
        std::min(map->bases(dim).size(), whole->bases(dim).size());
    if (origin[dim] & ((int64_t(1) << inside) - 1)) {
      why = "the box does not start at a multiple of its 2-power part";
      return std::nullopt;
    }
    unsigned bits = whole->bases(dim).size();
    low[dim] = origin[dim] & ((int64_t(1) << bits) - 1);
    box.originAdd += (origin[dim] >> bits) * whole->repeatStride(dim);
  }
  box.originXor = whole->linear(low[0], low[1]);
  return box;
}

Value k2c::tile_to_nvvm::hidden(ImplicitLocOpBuilder &b, Value pointer) {
  return LLVM::InlineAsmOp::create(
             b, pointer.getType(), pointer, /*asm_string=*/"",
             /*constraints=*/"=l,0", /*has_side_effects=*/true,
             /*is_align_stack=*/false, LLVM::tailcallkind::TailCallKind::None,
             LLVM::AsmDialectAttr(), ArrayAttr())
      .getResult(0);
}

/// Whether the loop around `op` leaves `value` alone.
static bool isLoopInvariant(Operation *op, Value value) {
  auto loop = op->getParentOfType<LoopLikeOpInterface>();
  return loop && (loop.isDefinedOutsideOfLoop(value) ||
                  matchPattern(value, m_Constant()));
}

Value k2c::tile_to_nvvm::stagePointer(ImplicitLocOpBuilder &b, Operation *op,
                                      BufferType buffer, Value base,
                                      Value stage) {
  if (isLoopInvariant(op, stage))
    base = hidden(b, base);
  int64_t bytes =
      llvm::product_of(buffer.getTileShape()) * elementBytes(buffer);
  if (auto layout = dyn_cast_or_null<SharedAttr>(buffer.getLayout()))
    bytes = llvm::alignTo(bytes, swizzleAlignment(layout.getSwizzle()));
  Value offset = arith::MulIOp::create(b, stage, i32(b, bytes));
  return LLVM::GEPOp::create(b, base.getType(), b.getI8Type(), base,
                             ArrayRef<LLVM::GEPArg>{offset});
}

static SmallVector<int64_t> signedImages(ArrayRef<uint64_t> images) {
  return {images.begin(), images.end()};
}

SharedAddresses::SharedAddresses(ImplicitLocOpBuilder &b, Value base,
                                 const SharedBox &box, const Thread &self,
                                 ArrayRef<uint64_t> lanes,
                                 ArrayRef<uint64_t> warps)
    : b(b), base(base), box(box) {
  Value lanePart = linearImage(b, self.lane, signedImages(lanes));
  Value warpPart = linearImage(b, self.warp, signedImages(warps));
  if (lanePart && warpPart)
    thread = arith::XOrIOp::create(b, lanePart, warpPart);
  else
    thread = lanePart ? lanePart : warpPart ? warpPart : i32(b, 0);
  for (ArrayRef<uint64_t> images : {lanes, warps})
    for (uint64_t image : images)
      threadMask |= image;
}

Value SharedAddresses::at(const Coord &coord) {
  uint64_t add = box.originAdd;
  Coord low(2);
  for (unsigned dim = 0; dim < 2; ++dim) {
    unsigned bits = box.map.bases(dim).size();
    low[dim] = coord[dim] & ((int64_t(1) << bits) - 1);
    add += (coord[dim] >> bits) * box.map.repeatStride(dim);
  }
  uint64_t constant = box.originXor ^ box.map.linear(low[0], low[1]);
  uint64_t meets = constant & threadMask;
  Value &start = bases[meets];
  if (!start) {
    Value offset =
        meets ? arith::XOrIOp::create(b, thread, i32(b, meets)).getResult()
              : thread;
    start = LLVM::GEPOp::create(b, base.getType(), b.getI8Type(), base,
                                ArrayRef<LLVM::GEPArg>{offset});
  }
  int64_t immediate = (constant ^ meets) + add;
  if (immediate == 0)
    return start;
  return LLVM::GEPOp::create(
      b, base.getType(), b.getI8Type(), start,
      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(immediate)});
}
