// tile.convert_layout: nothing, a renaming of registers, moves inside the warp,
// or a trip through shared memory, whichever the two maps allow first.
#include "dialects/Tile/LayoutAnalysis.h"
#include "lib/Conversion/TileToNVVM/SharedAddress.h"
#include "lib/Conversion/TileToNVVM/WarpConversion.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace k2c;
using namespace k2c::tile_to_nvvm;
using tile::Coord;
using tile::LinearLayout;
using tile::SharedMap;

namespace {

/// Scratch with the map that serves both layouts with the fewest wavefronts.
/// Both are matrices; nullopt if no panel width fits the shape.
std::optional<SharedMap> chooseScratch(const LinearLayout &from,
                                       const LinearLayout &to,
                                       unsigned elementBytes) {
  int64_t rows = from.shape()[0], columns = from.shape()[1];
  for (unsigned span : {128u, 64u, 32u, 16u})
    if (auto choice =
            tile::findScratch({from, to}, rows, columns, elementBytes, span))
      return SharedMap::scratch(rows, columns, elementBytes, choice->masks,
                                span);
  return std::nullopt;
}

/// Row-major without panels, for shapes that have none.
SharedMap denseScratch(const LinearLayout &layout, unsigned elementBytes) {
  int64_t rows = layout.shape()[0], columns = layout.shape()[1];
  auto powers = [](int64_t extent, uint64_t first) {
    std::vector<uint64_t> bases;
    for (int64_t bit = 1; bit < extent / tile::oddPart(extent); bit *= 2)
      bases.push_back(first * bit);
    return bases;
  };
  // Linear over F2 only if the row pitch is a power of two: pad it. Repeats
  // start at whole vectors.
  int64_t odd = tile::oddPart(columns);
  uint64_t repeat = elementBytes * (columns / odd);
  if (odd != 1)
    repeat = llvm::alignTo(repeat, 16);
  uint64_t pitch = std::max<uint64_t>(llvm::PowerOf2Ceil(repeat * odd), 16);
  return SharedMap(rows, columns, elementBytes, powers(rows, pitch),
                   powers(columns, elementBytes),
                   pitch * (rows / tile::oddPart(rows)), repeat,
                   /*swizzle=*/0);
}

/// One past the last byte that the map can reach.
uint64_t endOf(const SharedMap &map) {
  uint64_t linear = 0, repeats = 0;
  for (unsigned dim : {0u, 1u}) {
    for (uint64_t image : map.bases(dim))
      linear |= image;
    int64_t extent = dim ? map.cols() : map.rows();
    repeats += (tile::oddPart(extent) - 1) * map.repeatStride(dim);
  }
  return linear + repeats + map.elemBytes();
}

/// The registers of one layout in scratch, in vectors.
class ScratchAccess {
public:
  ScratchAccess(ImplicitLocOpBuilder &b, const LinearLayout &layout,
                const SharedMap &map, Value memory, int64_t numWarps)
      : b(b), layout(layout), threads(b, layout, numWarps),
        width(tile::sharedVector(layout, map)),
        addresses(b, memory, SharedBox{map, 0, 0}, threads.thread(),
                  map.after(layout)[tile::kLane],
                  map.after(layout)[tile::kWarp]) {}

  void store(ArrayRef<Value> registers) {
    OpBuilder::InsertionGuard guard(b);
    if (Value owner = threads.owner())
      b.setInsertionPointToStart(
          scf::IfOp::create(b, owner, /*withElse=*/false).thenBlock());
    for (unsigned leader : threads.ownedRegisters()) {
      if (leader & insideVector())
        continue;
      SmallVector<Value> elements;
      for (unsigned i = 0; i < 1u << width.regBits.size(); ++i)
        elements.push_back(registers[element(leader, i)]);
      Value value =
          elements.size() == 1 ? elements.front() : fromRegisters(b, elements);
      LLVM::StoreOp::create(b, value, addresses.at(layout.at(leader)),
                            width.bytes);
    }
  }

  SmallVector<Value> load(Type type) {
    SmallVector<Value> registers(layout.registersPerThread());
    int64_t count = int64_t(1) << width.regBits.size();
    Type access = count == 1 ? type : VectorType::get({count}, type);
    for (unsigned leader = 0; leader < registers.size(); ++leader) {
      if (leader & insideVector())
        continue;
      Value value = LLVM::LoadOp::create(
          b, access, addresses.at(layout.at(leader)), width.bytes);
      if (count == 1) {
        registers[leader] = value;
        continue;
      }
      for (auto [i, part] : llvm::enumerate(toRegisters(b, value)))
        registers[element(leader, i)] = part;
    }
    return registers;
  }

private:
  unsigned insideVector() const {
    unsigned bits = 0;
    for (unsigned bit : width.regBits)
      bits |= 1u << bit;
    return bits;
  }
  unsigned element(unsigned leader, unsigned i) const {
    for (auto [position, bit] : llvm::enumerate(width.regBits))
      leader |= (i >> position & 1) << bit;
    return leader;
  }

  ImplicitLocOpBuilder &b;
  LinearLayout layout;
  ThreadCoordinates threads;
  tile::VectorWidth width;
  SharedAddresses addresses;
};

/// Any rank as a matrix: the last dim are the columns.
std::optional<LinearLayout> asMatrix(const LinearLayout &layout) {
  int64_t columns = layout.shape().back(), rows = 1;
  for (unsigned dim = 0; dim + 1 < layout.rank(); ++dim)
    rows *= layout.shape()[dim];
  return layout.rank() == 2 ? layout : layout.reshape({rows, columns});
}

struct ConvertLayoutPattern : TilePattern<tile::ConvertLayoutOp> {
  using TilePattern::TilePattern;

  LogicalResult
  matchAndRewrite(tile::ConvertLayoutOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    LinearLayout from = layoutOf(op.getInput()), to = layoutOf(op.getResult());
    auto same = [](const Coord &coord) { return coord; };
    if (auto map = localRegisterMap(to, from, same)) {
      rewriter.replaceOp(op, selectRegisters(b, adaptor.getInput(), *map));
      return success();
    }
    // A bit travels as a byte.
    auto vector = cast<VectorType>(adaptor.getInput().getType());
    bool isBit = vector.getElementType().isInteger(1);
    Value input = adaptor.getInput();
    if (isBit)
      input = arith::ExtUIOp::create(b, vector.clone(b.getI8Type()), input);
    SmallVector<Value> registers = toRegisters(b, input);
    std::optional<SmallVector<Value>> moved = inWarp(b, from, to, registers);
    if (!moved)
      moved = throughShared(b, from, to, registers);
    if (!moved)
      return op.emitError("expected a tile that is a matrix in row-major "
                          "order, but got ")
             << op.getType();
    Value result = fromRegisters(b, *moved);
    if (isBit)
      result = arith::TruncIOp::create(b, convert(op.getType()), result);
    rewriter.replaceOp(op, result);
    return success();
  }

  std::optional<SmallVector<Value>> inWarp(ImplicitLocOpBuilder &b,
                                           const LinearLayout &from,
                                           const LinearLayout &to,
                                           ArrayRef<Value> registers) const {
    unsigned bits = registers.front().getType().getIntOrFloatBitWidth();
    if (bits > 32)
      return std::nullopt;
    tile::ConversionPlan plan = tile::conversionPlan(from, to, bits / 8);
    Value lane = Thread::get(b, state.numWarps).lane;
    return convertInWarp(b, plan, to.repeats(), lane, registers);
  }

  std::optional<SmallVector<Value>>
  throughShared(ImplicitLocOpBuilder &b, const LinearLayout &from,
                const LinearLayout &to, ArrayRef<Value> registers) const {
    Type element = registers.front().getType();
    unsigned bytes = element.getIntOrFloatBitWidth() / 8;
    std::optional<LinearLayout> source = asMatrix(from), target = asMatrix(to);
    if (!source || !target)
      return std::nullopt;
    SharedMap map = chooseScratch(*source, *target, bytes)
                        .value_or(denseScratch(*source, bytes));
    Value memory = state.scratch(b, endOf(map));
    barrier(b);
    ScratchAccess(b, *source, map, memory, state.numWarps).store(registers);
    barrier(b);
    return ScratchAccess(b, *target, map, memory, state.numWarps).load(element);
  }
};

} // namespace

void k2c::tile_to_nvvm::populateConvertLayoutPatterns(Patterns &patterns) {
  patterns.add<ConvertLayoutPattern>();
}
