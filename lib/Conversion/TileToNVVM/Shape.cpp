// Ops that only rename registers, plus splat, iota and extract.
#include "lib/Conversion/TileToNVVM/ThreadCoordinates.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace k2c;
using namespace k2c::tile_to_nvvm;
using tile::Coord;

namespace {

/// An op whose result elements are elements of its input; the layouts must
/// leave each in its thread.
template <typename Op> struct RenamePattern : TilePattern<Op> {
  using TilePattern<Op>::TilePattern;

  static Coord source(Op op, const Coord &coord);

  LogicalResult
  matchAndRewrite(Op op, typename Op::Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto map =
        localRegisterMap(layoutOf(op.getResult()), layoutOf(op.getInput()),
                         [&](const Coord &coord) { return source(op, coord); });
    if (!map)
      return op.emitError("expected layouts that keep every element in its "
                          "thread, but got ")
             << op.getInput().getType() << " to " << op.getResult().getType();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    rewriter.replaceOp(op, selectRegisters(b, adaptor.getInput(), *map));
    return success();
  }
};

template <>
Coord RenamePattern<tile::BroadcastOp>::source(tile::BroadcastOp op,
                                               const Coord &coord) {
  Coord result = coord;
  for (auto [dim, extent] : llvm::enumerate(op.getInput().getType().getShape()))
    if (extent == 1)
      result[dim] = 0;
  return result;
}

template <>
Coord RenamePattern<tile::ReshapeOp>::source(tile::ReshapeOp op,
                                             const Coord &coord) {
  int64_t flat = 0;
  for (auto [extent, index] : llvm::zip_equal(op.getType().getShape(), coord))
    flat = flat * extent + index;
  ArrayRef<int64_t> shape = op.getInput().getType().getShape();
  Coord result(shape.size());
  for (size_t dim = shape.size(); dim-- > 0; flat /= shape[dim])
    result[dim] = flat % shape[dim];
  return result;
}

template <>
Coord RenamePattern<tile::TransposeOp>::source(tile::TransposeOp op,
                                               const Coord &coord) {
  Coord result(coord.size());
  for (auto [dim, from] : llvm::enumerate(op.getPermutation()))
    result[from] = coord[dim];
  return result;
}

/// A box starts at an offset, which the layout algebra must be able to reach by
/// registers alone.
struct SlicePattern : TilePattern<tile::SliceOp> {
  using TilePattern::TilePattern;

  LogicalResult
  matchAndRewrite(tile::SliceOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    tile::LinearLayout layout = layoutOf(op.getInput());
    SmallVector<unsigned> registers =
        llvm::to_vector(llvm::seq<unsigned>(0, layout.registersPerThread()));
    for (auto [dim, offset] : llvm::enumerate(op.getOffsets())) {
      int64_t count = op.getType().getDimSize(dim);
      if (count == op.getInput().getType().getDimSize(dim))
        continue;
      std::vector<unsigned> step;
      std::optional<tile::LinearLayout> next =
          layout.sliceRange(dim, offset, count, &step);
      if (!next)
        return op.emitError("expected a box that the registers of ")
               << op.getInput().getType() << " can be cut to, but dim " << dim
               << " is not";
      SmallVector<unsigned> composed;
      for (unsigned reg : step)
        composed.push_back(registers[reg]);
      layout = *next;
      registers = std::move(composed);
    }
    auto rename = localRegisterMap(layoutOf(op.getResult()), layout,
                                   [](const Coord &coord) { return coord; });
    if (!rename)
      return op.emitError("expected the result's layout to be a renaming of ")
             << layout.str() << ", but got " << op.getType();
    for (unsigned &reg : *rename)
      reg = registers[reg];
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    rewriter.replaceOp(op, selectRegisters(b, adaptor.getInput(), *rename));
    return success();
  }
};

struct SplatPattern : TilePattern<tile::SplatOp> {
  using TilePattern::TilePattern;

  LogicalResult
  matchAndRewrite(tile::SplatOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<vector::BroadcastOp>(op, convert(op.getType()),
                                                     adaptor.getScalar());
    return success();
  }
};

/// A tile of one element is in register 0 of every thread.
struct ExtractPattern : TilePattern<tile::ExtractOp> {
  using TilePattern::TilePattern;

  LogicalResult
  matchAndRewrite(tile::ExtractOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<vector::ExtractOp>(op, adaptor.getInput(),
                                                   ArrayRef<int64_t>{0});
    return success();
  }
};

struct IotaPattern : TilePattern<tile::IotaOp> {
  using TilePattern::TilePattern;

  LogicalResult
  matchAndRewrite(tile::IotaOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    ThreadCoordinates coordinates(b, layoutOf(op.getResult()), state.numWarps);
    SmallVector<Value> registers;
    for (unsigned reg = 0; reg < coordinates.layout().registersPerThread();
         ++reg)
      registers.push_back(coordinates.coordinate(op.getAxis(), reg));
    rewriter.replaceOp(op, fromRegisters(b, registers));
    return success();
  }
};

} // namespace

void k2c::tile_to_nvvm::populateShapePatterns(Patterns &patterns) {
  patterns.add<RenamePattern<tile::BroadcastOp>, RenamePattern<tile::ReshapeOp>,
               RenamePattern<tile::TransposeOp>, SlicePattern, SplatPattern,
               ExtractPattern, IotaPattern>();
}
