#include "lib/Transforms/Tile/StagedLoads.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"
#include <numeric>

using namespace mlir;
using namespace k2c::tile;

static constexpr int64_t kMaxDivisor = 1 << 20;

static int64_t powerOfTwoDivisor(int64_t value) {
  if (value == 0)
    return kMaxDivisor;
  return std::min<int64_t>(value & -value, kMaxDivisor);
}

int64_t k2c::tile::knownDivisor(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return powerOfTwoDivisor(constant.getSExtValue());
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (loop && value == loop.getInductionVar())
      return std::min(knownDivisor(loop.getLowerBound()),
                      knownDivisor(loop.getStep()));
    return 1;
  }
  Operation *op = value.getDefiningOp();
  auto operand = [&](unsigned i) { return knownDivisor(op->getOperand(i)); };
  if (isa<arith::AddIOp, arith::SubIOp, arith::OrIOp, arith::MinSIOp,
          arith::MaxSIOp>(op))
    return std::min(operand(0), operand(1));
  if (isa<arith::MulIOp>(op))
    return std::min(operand(0) * operand(1), kMaxDivisor);
  if (isa<arith::ShLIOp>(op) &&
      matchPattern(op->getOperand(1), m_ConstantInt(&constant)) &&
      constant.ult(20))
    return std::min(operand(0) << constant.getZExtValue(), kMaxDivisor);
  if (isa<arith::SelectOp>(op))
    return std::min(operand(1), operand(2));
  return 1;
}

int64_t StagedLoad::stageBytes() const {
  return type().getNumElements() * type().getElementTypeBitWidth() / 8;
}

BufferType StagedLoad::bufferType(int64_t stages) const {
  SmallVector<int64_t> shape = {stages};
  llvm::append_range(shape, type().getShape());
  return BufferType::get(shape, type().getElementType(), layout);
}

/// The global read behind an operand, looking through what happens between
/// shared memory and registers.
static Operation *globalRead(Value operand) {
  while (Operation *op = operand.getDefiningOp()) {
    if (isa<LoadOp, GatherOp>(op))
      return op;
    if (!isa<ConvertOp, SliceOp>(op))
      return nullptr;
    operand = op->getOperand(0);
  }
  return nullptr;
}

/// Bytes that are contiguous and aligned for certain at every row start.
static unsigned copyBytes(Operation *op, RankedTensorType tile) {
  auto view = cast<MemRefType>(op->getOperand(0).getType());
  int64_t elem = tile.getElementTypeBitWidth() / 8;
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(view.getStridesAndOffset(strides, offset)) || strides.back() != 1)
    return elem;
  int64_t bytes = 16;
  auto limit = [&](int64_t elements) {
    bytes = std::gcd(bytes, powerOfTwoDivisor(elements) * elem);
  };
  for (int64_t stride : ArrayRef(strides).drop_back()) {
    if (ShapedType::isDynamic(stride))
      return elem;
    limit(stride);
  }
  auto load = dyn_cast<LoadOp>(op);
  limit(knownDivisor(load ? load.getIndices().back()
                          : cast<GatherOp>(op).getIndices().back()));
  // Row-major tiles: a piece stays inside one row's 2-power part.
  limit(tile.getShape().back());
  return bytes;
}

static std::optional<SharedAttr> swizzleFor(RankedTensorType tile) {
  int64_t elem = tile.getElementTypeBitWidth() / 8, cols = tile.getDimSize(1);
  int64_t span = std::min<int64_t>(128, cols / oddPart(cols) * elem);
  if (span < 16)
    return std::nullopt;
  auto attr = SharedAttr::get(tile.getContext(), span >= 32 ? span : 0, 0, {});
  if (attr.getMap(tile.getShape(), elem))
    return attr;
  // An odd number of rows cannot have several panels: one panel as wide as the
  // columns' 2-power part, with the same XOR of rows into chunks.
  span = cols / oddPart(cols) * elem;
  attr = SharedAttr::get(tile.getContext(), 0, span, {1, 2, 4});
  if (!attr.getMap(tile.getShape(), elem))
    return std::nullopt;
  return attr;
}

/// Whether the loop writes global memory: reading ahead could then miss it.
static bool storesGlobal(scf::ForOp loop) {
  return loop
      ->walk([](Operation *op) {
        return isa<StoreOp, StoreScalarOp, ScatterOp>(op)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Ops of the loop body that compute the load's operands; nullopt if they
/// depend on loop-carried values or have effects.
static std::optional<llvm::SetVector<Operation *>> indexSlice(Operation *op,
                                                              scf::ForOp loop) {
  llvm::SetVector<Operation *> slice;
  SmallVector<Value> work(op->getOperands());
  while (!work.empty()) {
    Value value = work.pop_back_val();
    if (!loop.getRegion().isAncestor(value.getParentRegion()))
      continue;
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      if (argument == loop.getInductionVar())
        continue;
      return std::nullopt;
    }
    Operation *def = value.getDefiningOp();
    if (def->getBlock() != loop.getBody() || def->getNumRegions() ||
        (!isPure(def) && !isa<LoadScalarOp, LoadOp>(def)))
      return std::nullopt;
    if (slice.insert(def))
      llvm::append_range(work, def->getOperands());
  }
  // Program order.
  SmallVector<Operation *> ordered(slice.begin(), slice.end());
  llvm::sort(ordered,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return llvm::SetVector<Operation *>(ordered.begin(), ordered.end());
}

/// Says why a dot's operand does not come in the best way.
static remark::detail::InFlightRemark missed(Operation *op, KernelOp kernel) {
  return remark::missed(op->getLoc(), remark::RemarkOpts::name("StagedLoad")
                                          .category("tile-pipeline-loops")
                                          .function(kernel.getSymName()));
}

SmallVector<StagedLoad> k2c::tile::findStagedLoads(KernelOp kernel) {
  llvm::SetVector<Operation *> reads;
  kernel->walk([&](DotOp dot) {
    for (Value operand : {dot.getA(), dot.getB()})
      if (Operation *read = globalRead(operand))
        reads.insert(read);
  });
  SmallVector<StagedLoad> staged;
  kernel->walk([&](Operation *op) {
    if (!reads.contains(op))
      return;
    StagedLoad load;
    load.op = op;
    RankedTensorType tile = load.type();
    std::optional<SharedAttr> layout;
    if (tile.getRank() == 2)
      layout = swizzleFor(tile);
    if (!layout) {
      missed(op, kernel) << remark::reason(
          "the dot reads this tile from global memory: its shape fits no "
          "swizzled shared buffer");
      return;
    }
    load.layout = *layout;
    load.vectorBytes = copyBytes(op, tile);
    if (load.vectorBytes < 4) {
      missed(op, kernel) << remark::reason(
          "the dot reads this tile from global memory: its rows are only known "
          "to be aligned to {0} bytes",
          load.vectorBytes);
      return;
    }
    if (load.vectorBytes < 16)
      missed(op, kernel) << remark::reason(
          "copied in pieces of {0} bytes: its rows are not known to be aligned "
          "to 16",
          load.vectorBytes);
    if (auto loop = dyn_cast<scf::ForOp>(op->getParentOp())) {
      std::optional<llvm::SetVector<Operation *>> slice;
      if (storesGlobal(loop))
        missed(op, kernel) << remark::reason(
            "waited for where it is read: the loop stores to global memory");
      else if (slice = indexSlice(op, loop); !slice)
        missed(op, kernel) << remark::reason(
            "waited for where it is read: its place is not known an iteration "
            "ahead");
      if (slice) {
        load.loop = loop;
        load.slice = *slice;
      }
    }
    staged.push_back(load);
  });
  return staged;
}
