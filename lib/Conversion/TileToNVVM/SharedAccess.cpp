// Shared buffers: their place, whole-tile loads and stores, barriers.
#include "dialects/Tile/LayoutAnalysis.h"
#include "lib/Conversion/TileToNVVM/Fragments.h"
#include "lib/Conversion/TileToNVVM/SharedAddress.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace k2c;
using namespace k2c::tile_to_nvvm;

namespace {

struct AllocSharedPattern : TilePattern<tile::AllocSharedOp> {
  using TilePattern::TilePattern;

  LogicalResult
  matchAndRewrite(tile::AllocSharedOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    rewriter.replaceOp(op, state.shared(b, *op.getOffset()));
    return success();
  }
};

struct LoadSharedPattern : TilePattern<tile::LoadSharedOp> {
  using TilePattern::TilePattern;

  LogicalResult
  matchAndRewrite(tile::LoadSharedOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    // The dots that use it read it themselves.
    if (state.fusedReads.contains(op)) {
      rewriter.replaceOpWithNewOp<LLVM::PoisonOp>(op, convert(op.getType()));
      return success();
    }
    auto fragments = sharedFragments(b, op, adaptor.getBuffer(),
                                     adaptor.getStage(), state.numWarps);
    if (!fragments)
      return failure();
    SmallVector<Value> registers;
    for (unsigned reg = 0,
                  count = layoutOf(op.getResult()).registersPerThread();
         reg < count; ++reg)
      registers.push_back(fragments->element(reg));
    rewriter.replaceOp(op, fromRegisters(b, registers));
    return success();
  }
};

struct StoreSharedPattern : TilePattern<tile::StoreSharedOp> {
  using TilePattern::TilePattern;

  LogicalResult
  matchAndRewrite(tile::StoreSharedOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    auto type = cast<tile::BufferType>(op.getBuffer().getType());
    tile::LinearLayout layout = layoutOf(op.getValue());
    std::string why;
    std::optional<SharedBox> box =
        sharedBox(type, type.getTileShape(), {}, why);
    if (!box || layout.rank() != 2)
      return op.emitOpError("expected a matrix and a buffer with a map, but ")
             << (box ? "the tile has another rank" : why);
    tile::PackedBases offsets = box->map.after(layout);
    tile::VectorWidth width = tile::sharedVector(layout, box->map);
    ThreadCoordinates threads(b, layout, state.numWarps);
    SharedAddresses addresses(
        b, stagePointer(b, op, type, adaptor.getBuffer(), adaptor.getStage()),
        *box, threads.thread(), offsets[tile::kLane], offsets[tile::kWarp]);
    SmallVector<Value> registers = toRegisters(b, adaptor.getValue());
    // Of threads that hold copies one stores.
    OpBuilder::InsertionGuard guard(b);
    if (Value owner = threads.owner())
      b.setInsertionPointToStart(
          scf::IfOp::create(b, owner, /*withElseRegion=*/false).thenBlock());
    unsigned inside = 0;
    for (unsigned bit : width.regBits)
      inside |= 1u << bit;
    for (unsigned leader : threads.ownedRegisters()) {
      if (leader & inside)
        continue;
      SmallVector<Value> elements;
      for (unsigned i = 0; i < 1u << width.regBits.size(); ++i) {
        unsigned reg = leader;
        for (auto [position, bit] : llvm::enumerate(width.regBits))
          reg |= (i >> position & 1) << bit;
        elements.push_back(registers[reg]);
      }
      Value value =
          elements.size() == 1 ? elements.front() : fromRegisters(b, elements);
      LLVM::StoreOp::create(b, value, addresses.at(layout.at(leader)),
                            width.bytes);
    }
    rewriter.eraseOp(op);
    return success();
  }
};

struct BarrierPattern : TilePattern<tile::BarrierOp> {
  using TilePattern::TilePattern;

  LogicalResult
  matchAndRewrite(tile::BarrierOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    barrier(b);
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void k2c::tile_to_nvvm::populateSharedAccessPatterns(Patterns &patterns) {
  patterns.add<AllocSharedPattern, LoadSharedPattern, StoreSharedPattern,
               BarrierPattern>();
}
