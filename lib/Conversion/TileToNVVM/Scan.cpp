// tile.scan: prefix sums by doubling blocks. For every coordinate bit of the
// axis, low to high, neighbouring blocks of equal size merge: the upper block's
// prefixes grow by the lower block's total, both totals become the sum. A bit
// lives in registers, lanes or warps; only where it lives decides how the other
// block's total is fetched.
#include "lib/Conversion/TileToNVVM/Exchange.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace k2c;
using namespace k2c::tile_to_nvvm;
using tile::InDim;
using tile::LinearLayout;

namespace {

/// Which input bit moves along one bit of the axis.
struct Place {
  InDim in;
  unsigned bit;
};

/// One place per bit of the axis; nullopt unless every basis is at most one bit
/// of the axis alone and no bit has copies.
std::optional<SmallVector<Place>> placesOf(const LinearLayout &layout,
                                           unsigned axis) {
  SmallVector<std::optional<Place>> places(layout.bits(axis));
  for (InDim in : {tile::kReg, tile::kLane, tile::kWarp})
    for (auto [bit, basis] : llvm::enumerate(layout.coordBases(in))) {
      int64_t along = basis[axis];
      if (along == 0)
        continue;
      unsigned position = llvm::countr_zero(static_cast<uint64_t>(along));
      bool alone = llvm::count_if(basis, [](int64_t c) { return c != 0; }) == 1;
      if (!alone || along != int64_t(1) << position || places[position])
        return std::nullopt;
      places[position] = Place{in, static_cast<unsigned>(bit)};
    }
  SmallVector<Place> result;
  for (const std::optional<Place> &place : places) {
    if (!place)
      return std::nullopt;
    result.push_back(*place);
  }
  return result;
}

struct ScanPattern : TilePattern<tile::ScanOp> {
  using TilePattern::TilePattern;

  LogicalResult
  matchAndRewrite(tile::ScanOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LinearLayout layout = layoutOf(op.getInput());
    unsigned axis = op.getAxis();
    std::optional<SmallVector<Place>> places = placesOf(layout, axis);
    if (!places)
      return op.emitError("expected a layout in which every bit of axis ")
             << axis << " is one register, lane or warp bit, but got "
             << op.getType();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Thread thread = Thread::get(b, state.numWarps);
    SmallVector<Value> input = toRegisters(b, adaptor.getInput());
    SmallVector<Value> total = input, prefix(input.size(), i32(b, 0));
    for (const Place &place : *places)
      mergeBlocks(b, place, thread, prefix, total);
    addRepeats(b, layout, axis, prefix, total);
    if (op.getMode() == tile::ScanMode::Inclusive)
      for (auto [sum, value] : llvm::zip_equal(prefix, input))
        sum = arith::AddIOp::create(b, sum, value);
    rewriter.replaceOp(op, fromRegisters(b, prefix));
    return success();
  }

  void mergeBlocks(ImplicitLocOpBuilder &b, Place place, const Thread &thread,
                   SmallVector<Value> &prefix,
                   SmallVector<Value> &total) const {
    Value zeroValue = i32(b, 0);
    if (place.in == tile::kReg) {
      for (unsigned low = 0; low < total.size(); ++low) {
        if (low >> place.bit & 1)
          continue;
        unsigned high = low | 1u << place.bit;
        prefix[high] = arith::AddIOp::create(b, prefix[high], total[low]);
        total[low] = total[high] =
            arith::AddIOp::create(b, total[low], total[high]);
      }
      return;
    }
    Value index = place.in == tile::kLane ? thread.lane : thread.warp;
    Value bit =
        arith::AndIOp::create(b, index, i32(b, int64_t(1) << place.bit));
    Value upper =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ne, bit, zeroValue);
    std::optional<WarpExchange> exchange;
    if (place.in == tile::kWarp)
      exchange.emplace(b, state, thread, total);
    for (auto [reg, sums] : llvm::enumerate(llvm::zip_equal(prefix, total))) {
      auto &[before, block] = sums;
      Value other = exchange ? exchange->readXor(reg, 1u << place.bit)
                             : shuffleXor(b, block, 1u << place.bit);
      before = arith::AddIOp::create(
          b, before, arith::SelectOp::create(b, upper, other, zeroValue));
      block = arith::AddIOp::create(b, block, other);
    }
  }

  /// The odd factor of the axis: later repeats start where earlier ones ended.
  void addRepeats(ImplicitLocOpBuilder &b, const LinearLayout &layout,
                  unsigned axis, SmallVector<Value> &prefix,
                  ArrayRef<Value> total) const {
    int64_t span = int64_t(1) << layout.bits(axis);
    for (unsigned reg = 0; reg < prefix.size(); ++reg) {
      tile::Coord coord = layout.at(reg);
      for (int64_t start = coord[axis] % span; start < coord[axis];
           start += span) {
        tile::Coord earlier = coord;
        earlier[axis] = start;
        prefix[reg] = arith::AddIOp::create(
            b, prefix[reg], total[*layout.findRegister(earlier)]);
      }
    }
  }
};

} // namespace

void k2c::tile_to_nvvm::populateScanPatterns(Patterns &patterns) {
  patterns.add<ScanPattern>();
}
