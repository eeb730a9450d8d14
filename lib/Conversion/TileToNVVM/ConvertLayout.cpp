// tile.convert_layout: nothing, a renaming of registers, or a trip through
// shared memory.
#include "lib/Conversion/TileToNVVM/ThreadCoordinates.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace k2c;
using namespace k2c::tile_to_nvvm;
using tile::Coord;
using tile::LinearLayout;

namespace {

/// Dense row-major scratch; a register's address is the thread's part plus a
/// constant where the bits do not meet.
struct ScratchTile {
  ImplicitLocOpBuilder &b;
  ThreadCoordinates coordinates;
  Value memory;
  Type element;

  Value address(unsigned reg) {
    Value offset;
    int64_t stride = 1;
    ArrayRef<int64_t> shape = coordinates.layout().shape();
    for (unsigned dim = shape.size(); dim-- > 0; stride *= shape[dim]) {
      Value term = coordinates.coordinate(dim, reg);
      if (stride != 1)
        term = arith::MulIOp::create(b, term, i32(b, stride));
      offset =
          offset ? arith::AddIOp::create(b, offset, term).getResult() : term;
    }
    return LLVM::GEPOp::create(b, memory.getType(), element, memory,
                               ArrayRef<LLVM::GEPArg>{offset});
  }
};

struct ConvertLayoutPattern : TilePattern<tile::ConvertLayoutOp> {
  using TilePattern::TilePattern;

  LogicalResult
  matchAndRewrite(tile::ConvertLayoutOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    LinearLayout from = layoutOf(op.getInput()), to = layoutOf(op.getResult());
    if (auto map = localRegisterMap(to, from,
                                    [](const Coord &coord) { return coord; })) {
      rewriter.replaceOp(op, selectRegisters(b, adaptor.getInput(), *map));
      return success();
    }
    Type element = registerType(op.getType().getElementType());
    if (element.isInteger(1))
      return op.emitError("expected elements of whole bytes in a conversion "
                          "through shared memory, but got i1");
    uint64_t bytes =
        op.getType().getNumElements() * element.getIntOrFloatBitWidth() / 8;
    Value memory = state.scratch(b, bytes);
    ScratchTile source{b, ThreadCoordinates(b, from, state.numWarps), memory,
                       element};
    ScratchTile target{b, ThreadCoordinates(b, to, state.numWarps), memory,
                       element};

    barrier(b);
    SmallVector<Value> registers = toRegisters(b, adaptor.getInput());
    {
      OpBuilder::InsertionGuard guard(b);
      if (Value owner = source.coordinates.owner())
        b.setInsertionPointToStart(
            scf::IfOp::create(b, owner, /*withElse=*/false).thenBlock());
      for (unsigned reg : source.coordinates.ownedRegisters())
        LLVM::StoreOp::create(b, registers[reg], source.address(reg));
    }
    barrier(b);
    SmallVector<Value> results;
    for (unsigned reg = 0; reg < to.registersPerThread(); ++reg)
      results.push_back(LLVM::LoadOp::create(b, element, target.address(reg)));
    rewriter.replaceOp(op, fromRegisters(b, results));
    return success();
  }
};

} // namespace

void k2c::tile_to_nvvm::populateConvertLayoutPatterns(Patterns &patterns) {
  patterns.add<ConvertLayoutPattern>();
}
