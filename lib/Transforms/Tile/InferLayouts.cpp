//===- InferLayouts.cpp - tile-infer-layouts --------------------*- C++ -*-===//

#include "k2c/Transforms/Tile/Passes.h"

#include "dialects/Tile/LayoutConversion.h"
#include "dialects/Tile/MmaPlan.h"
#include "lib/Transforms/Tile/LayoutClasses.h"
#include "lib/Transforms/Tile/WarpGrid.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Remarks.h"

namespace k2c {
#define GEN_PASS_DEF_TILEINFERLAYOUTSPASS
#include "k2c/Transforms/Tile/Passes.h.inc"
} // namespace k2c

using namespace mlir;
using namespace k2c::tile;

namespace {
class Inference {
public:
  explicit Inference(KernelOp kernel) : kernel(kernel), classes(kernel) {}

  LogicalResult run() {
    kernel->walk([&](Operation *op) { program.push_back(op); });
    anchorDots();
    anchorCopies();
    propagate();
    anchorMemory();
    applyTypes();
    for (Operation *op : program)
      if (failed(convertAt(op)))
        return failure();
    return success();
  }

private:
  //===--- anchors --------------------------------------------------------===//

  void anchorDots() {
    // Roles belong to classes: gate and up accumulators are added or
    // multiplied.
    llvm::DenseMap<unsigned, DotRole> roles;
    llvm::DenseSet<unsigned> accumulators;
    auto each = [&](auto fn) {
      for (Operation *op : program)
        if (auto dot = dyn_cast<DotOp>(op))
          fn(dot);
    };
    each([&](DotOp dot) { accumulators.insert(classes.find(dot.getC())); });
    each([&](DotOp dot) {
      DotRole &own = roles[classes.find(dot.getC())];
      own.widensA |= dot.getA().getDefiningOp<ConvertOp>() != nullptr;
      own.widensB |= dot.getB().getDefiningOp<ConvertOp>() != nullptr;
      unsigned operand = classes.find(dot.getA());
      if (!accumulators.contains(operand))
        return;
      roles[operand].feedsOperand = true;
      roles[classes.find(dot.getC())].isFed = true;
    });
    int64_t rowWarps = 0;
    if (ScheduleAttr schedule = kernel.getScheduleAttr())
      rowWarps = schedule.getWarpsM();
    each([&](DotOp dot) {
      unsigned number = classes.find(dot.getC());
      ArrayRef<int64_t> c = tileType(dot.getC()).getShape();
      auto grid = chooseWarpGrid(c[0], c[1], kernel.getNumWarps(),
                                 roles.lookup(number), rowWarps);
      grids.try_emplace(number, grid);
      DotLayouts layouts = layoutsOf(dot);
      classes.assign(dot.getC(), layouts.c);
    });
    // Operands after all accumulators: P already has its layout.
    each([&](DotOp dot) {
      DotLayouts layouts = layoutsOf(dot);
      classes.assign(dot.getA(), layouts.a);
      classes.assign(dot.getB(), layouts.b);
    });
  }

  /// Layouts of a dot's operands as the op holds them (B as stored).
  DotLayouts layoutsOf(DotOp dot) {
    ArrayRef<int64_t> a = tileType(dot.getA()).getShape();
    ArrayRef<int64_t> c = tileType(dot.getC()).getShape();
    DotLayouts layouts =
        dotLayouts(c[0], c[1], a[1], grids.lookup(classes.find(dot.getC())));
    if (dot.getBTransposed())
      layouts.b = layouts.b.transpose({1, 0});
    return layouts;
  }

  /// Row numbers of asynchronous gathers sit with the threads that copy.
  void anchorCopies() {
    for (Operation *op : program)
      if (auto copy = dyn_cast<CopyAsyncOp>(op))
        if (copy.getRows())
          classes.assign(copy.getRows(), rowsOf(copyLayout(copy)));
  }

  LinearLayout copyLayout(CopyAsyncOp copy) {
    auto buffer = cast<BufferType>(copy.getBuffer().getType());
    return copyAsyncLayout(buffer.getTileShape().vec(), elementBytes(buffer),
                           kernel.getNumWarps(), copy.getVectorBytes());
  }

  static unsigned elementBytes(BufferType buffer) {
    return buffer.getElementType().getIntOrFloatBitWidth() / 8;
  }

  /// Layout of the row numbers of a tile: everything but dim 0 removed.
  static LinearLayout rowsOf(LinearLayout tile) {
    while (tile.rank() > 1)
      tile = tile.slice(tile.rank() - 1);
    return tile;
  }

  /// What is left gets coalesced rows: the largest tiles first, because
  /// reductions, row vectors and index tiles follow from them.
  void anchorMemory() {
    // Of equally large tiles, memory accesses decide before computed ones.
    SmallVector<std::tuple<int64_t, bool, unsigned>> order;
    for (auto [i, tile] : llvm::enumerate(classes.tiles())) {
      bool memory = isa_and_nonnull<LoadOp, GatherOp>(tile.getDefiningOp());
      order.push_back({-tileType(tile).getNumElements(), !memory, i});
    }
    llvm::sort(order);
    for (auto [size, computed, i] : order) {
      Value tile = classes.tiles()[i];
      if (classes.layout(tile))
        continue;
      classes.assign(tile, rowLayout(tile));
      propagate();
    }
  }

  /// Vectors of up to 16 bytes of the narrowest element in the class, shorter
  /// if lanes or warps would have nothing to hold.
  LinearLayout rowLayout(Value tile) {
    unsigned narrowest = 4;
    unsigned number = classes.find(tile);
    for (Value other : classes.tiles())
      if (classes.find(other) == number)
        narrowest = std::min(narrowest, bytesOf(other));
    ArrayRef<int64_t> shape = tileType(tile).getShape();
    int64_t threads = 32 * kernel.getNumWarps(), elements = 1;
    for (int64_t extent : shape)
      elements *= extent / oddPart(extent);
    int64_t vector = 16 / narrowest;
    while (vector > 1 && vector * threads > elements)
      vector /= 2;
    return coalesced(shape.vec(), 1, kernel.getNumWarps(), vector);
  }

  static unsigned bytesOf(Value tile) {
    return std::max(1u, tileType(tile).getElementTypeBitWidth() / 8);
  }

  //===--- propagation ----------------------------------------------------===//

  /// Layouts that follow from others, until nothing changes.
  void propagate() {
    for (bool changed = true; changed;) {
      changed = false;
      for (Operation *op : program)
        changed |= derive(op);
    }
  }

  bool derive(Operation *op) {
    bool changed = false;
    auto from = [&](Value known, Value other, auto fn) {
      const std::optional<LinearLayout> &layout = classes.layout(known);
      if (!layout || classes.layout(other))
        return;
      if (std::optional<LinearLayout> result = fn(*layout))
        changed |= classes.assign(other, *result);
    };
    if (auto reduce = dyn_cast<ReduceOp>(op)) {
      from(reduce.getInput(), reduce.getResult(), [&](const LinearLayout &l) {
        return std::optional(l.slice(reduce.getAxis(), /*keepDim=*/true));
      });
    } else if (auto argmax = dyn_cast<ArgMaxOp>(op)) {
      from(argmax.getInput(), argmax.getValue(), [&](const LinearLayout &l) {
        return std::optional(l.slice(argmax.getAxis(), /*keepDim=*/true));
      });
    } else if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
      from(broadcast.getResult(), broadcast.getInput(),
           [&](const LinearLayout &l) {
             return std::optional(collapse(broadcast, l));
           });
    } else if (auto reshape = dyn_cast<ReshapeOp>(op)) {
      from(reshape.getInput(), reshape.getResult(), [&](const LinearLayout &l) {
        return l.reshape(reshape.getType().getShape().vec());
      });
      from(reshape.getResult(), reshape.getInput(), [&](const LinearLayout &l) {
        return l.reshape(tileType(reshape.getInput()).getShape().vec());
      });
    } else if (auto transpose = dyn_cast<TransposeOp>(op)) {
      from(transpose.getInput(), transpose.getResult(),
           [&](const LinearLayout &l) {
             return std::optional(l.transpose(permutation(transpose)));
           });
      from(transpose.getResult(), transpose.getInput(),
           [&](const LinearLayout &l) {
             return std::optional(l.transpose(inverse(permutation(transpose))));
           });
    } else if (auto slice = dyn_cast<SliceOp>(op)) {
      from(slice.getInput(), slice.getResult(),
           [&](const LinearLayout &l) { return sliced(slice, l); });
    } else if (auto gather = dyn_cast<GatherOp>(op)) {
      from(gather.getResult(), gather.getRows(),
           [&](const LinearLayout &l) { return std::optional(rowsOf(l)); });
    } else if (auto scatter = dyn_cast<ScatterOp>(op)) {
      from(scatter.getValue(), scatter.getRows(),
           [&](const LinearLayout &l) { return std::optional(rowsOf(l)); });
    }
    return changed;
  }

  static LinearLayout collapse(BroadcastOp op, LinearLayout result) {
    RankedTensorType input = tileType(op.getInput());
    for (int64_t d = 0; d < input.getRank(); ++d)
      if (input.getDimSize(d) != op.getType().getDimSize(d))
        result = result.slice(d, /*keepDim=*/true);
    return result;
  }

  static std::vector<unsigned> permutation(TransposeOp op) {
    return {op.getPermutation().begin(), op.getPermutation().end()};
  }
  static std::vector<unsigned> inverse(const std::vector<unsigned> &order) {
    std::vector<unsigned> out(order.size());
    for (unsigned i = 0; i < order.size(); ++i)
      out[order[i]] = i;
    return out;
  }

  static std::optional<LinearLayout> sliced(SliceOp op,
                                            std::optional<LinearLayout> l) {
    for (int64_t d = 0; l && d < op.getType().getRank(); ++d)
      if (tileType(op.getInput()).getDimSize(d) != op.getType().getDimSize(d))
        l = l->sliceRange(d, op.getOffsets()[d], op.getType().getDimSize(d));
    return l;
  }

  //===--- application ----------------------------------------------------===//

  RankedTensorType typed(RankedTensorType type, const LinearLayout &layout) {
    return type.cloneWithEncoding(LinearAttr::get(kernel.getContext(), layout));
  }

  void applyTypes() {
    for (Value tile : classes.tiles()) {
      RankedTensorType type = typed(tileType(tile), *classes.layout(tile));
      tile.setType(type);
      if (auto constant = tile.getDefiningOp<arith::ConstantOp>())
        constant.setValueAttr(
            cast<DenseElementsAttr>(constant.getValue()).reshape(type));
    }
  }

  /// Where two layouts meet, threads exchange values.
  void explain(Operation *op, RankedTensorType type) {
    remark::missed(op->getLoc(), remark::RemarkOpts::name("ConvertLayout")
                                     .category("tile-infer-layouts")
                                     .function(kernel.getSymName()))
        << remark::reason("{0} and what it meets distribute {1} elements "
                          "differently: tile.convert_layout",
                          op->getName().getStringRef(), type.getNumElements());
  }

  /// The operand in `layout`, converted if it is elsewhere.
  void require(OpOperand &operand, const LinearLayout &layout) {
    RankedTensorType type = typed(tileType(operand.get()), layout);
    if (type == operand.get().getType())
      return;
    explain(operand.getOwner(), type);
    OpBuilder b(operand.getOwner());
    operand.set(ConvertLayoutOp::create(b, operand.getOwner()->getLoc(), type,
                                        operand.get()));
  }

  /// The result is born in `layout` and converted to its class's.
  void produce(Value result, const LinearLayout &layout) {
    RankedTensorType wanted = tileType(result), born = typed(wanted, layout);
    if (born == wanted)
      return;
    result.setType(born);
    explain(result.getDefiningOp(), wanted);
    OpBuilder b(kernel.getContext());
    b.setInsertionPointAfterValue(result);
    auto moved = ConvertLayoutOp::create(b, result.getLoc(), wanted, result);
    result.replaceAllUsesExcept(moved.getResult(), moved);
  }

  LinearLayout current(Value tile) {
    RankedTensorType type = tileType(tile);
    return cast<LinearAttr>(type.getEncoding()).getLayout(type.getShape());
  }

  LogicalResult convertAt(Operation *op) {
    if (auto dot = dyn_cast<DotOp>(op)) {
      DotLayouts layouts = layoutsOf(dot);
      require(dot.getAMutable(), layouts.a);
      require(dot.getBMutable(), layouts.b);
    } else if (auto reduce = dyn_cast<ReduceOp>(op)) {
      produce(reduce.getResult(),
              current(reduce.getInput()).slice(reduce.getAxis(), true));
    } else if (auto argmax = dyn_cast<ArgMaxOp>(op)) {
      LinearLayout layout =
          current(argmax.getInput()).slice(argmax.getAxis(), true);
      produce(argmax.getValue(), layout);
      produce(argmax.getIndex(), layout);
    } else if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
      require(broadcast.getInputMutable(),
              collapse(broadcast, current(broadcast.getResult())));
    } else if (auto transpose = dyn_cast<TransposeOp>(op)) {
      produce(transpose.getResult(),
              current(transpose.getInput()).transpose(permutation(transpose)));
    } else if (auto gather = dyn_cast<GatherOp>(op)) {
      require(gather.getRowsMutable(), rowsOf(current(gather.getResult())));
    } else if (auto scatter = dyn_cast<ScatterOp>(op)) {
      require(scatter.getRowsMutable(), rowsOf(current(scatter.getValue())));
    } else if (auto copy = dyn_cast<CopyAsyncOp>(op)) {
      if (copy.getRows())
        require(copy.getRowsMutable()[0], rowsOf(copyLayout(copy)));
    } else if (auto reshape = dyn_cast<ReshapeOp>(op)) {
      std::string why;
      auto layout = current(reshape.getInput())
                        .reshape(reshape.getType().getShape().vec(), &why);
      if (!layout)
        return op->emitOpError(why);
      produce(reshape.getResult(), *layout);
    } else if (auto slice = dyn_cast<SliceOp>(op)) {
      return convertSlice(slice);
    }
    return success();
  }

  LogicalResult convertSlice(SliceOp slice) {
    LinearLayout input = current(slice.getInput());
    if (auto layout = sliced(slice, input)) {
      produce(slice.getResult(), *layout);
      return success();
    }
    // Bring the bits that select the box into registers.
    LinearLayout moved = sliceable(slice);
    auto layout = sliced(slice, moved);
    if (!layout)
      return slice.emitOpError("expected a box that starts at a multiple of "
                               "its 2-power part, but got offsets ")
             << slice.getOffsets();
    require(slice.getInputMutable(), moved);
    produce(slice.getResult(), *layout);
    return success();
  }

  /// A layout of the slice's input that keeps the low bits of every cut dim for
  /// the threads and the bits above the box in registers.
  LinearLayout sliceable(SliceOp slice) {
    RankedTensorType from = tileType(slice.getInput()), to = slice.getType();
    std::vector<int64_t> low;
    for (int64_t d = 0; d < from.getRank(); ++d) {
      int64_t a = from.getDimSize(d), b = to.getDimSize(d);
      low.push_back(std::min(a / oddPart(a), b / oddPart(b)));
    }
    LinearLayout inner = coalesced(low, 1, kernel.getNumWarps(), 1);
    CoordBases bases;
    for (unsigned in = 0; in < kNumInDims; ++in)
      bases[in] = inner.coordBases(InDim(in));
    for (int64_t d = from.getRank(); d-- > 0;)
      for (int64_t x = low[d];
           x < from.getDimSize(d) / oddPart(from.getDimSize(d)); x *= 2) {
        Coord c(from.getRank(), 0);
        c[d] = x;
        bases[kReg].push_back(c);
      }
    return LinearLayout(from.getShape().vec(), bases);
  }

  KernelOp kernel;
  LayoutClasses classes;
  SmallVector<Operation *> program;
  llvm::DenseMap<unsigned, std::vector<WarpBit>> grids;
};

struct InferLayouts : public k2c::impl::TileInferLayoutsPassBase<InferLayouts> {
  void runOnOperation() override {
    if (failed(Inference(getOperation()).run()))
      signalPassFailure();
  }
};
} // namespace
