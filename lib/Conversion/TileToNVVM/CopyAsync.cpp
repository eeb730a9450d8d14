// tile.copy_async on cp.async: pieces of 16, 8 or 4 bytes; what the mask cuts
// off is filled with zeros by the source size.
#include "dialects/Tile/LayoutConstructors.h"
#include "lib/Conversion/TileToNVVM/IndexFacts.h"
#include "lib/Conversion/TileToNVVM/SharedAddress.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace k2c;
using namespace k2c::tile_to_nvvm;
using tile::Coord;

namespace {

/// One copy: where every piece of a thread comes from and how many bytes of it
/// exist.
class AsyncSource {
public:
  AsyncSource(ImplicitLocOpBuilder &b, View view, tile::CopyAsyncOp op,
              tile::CopyAsyncOp::Adaptor adaptor, ThreadCoordinates &coords,
              SmallVector<Value> rowOf)
      : b(b), view(std::move(view)), coords(coords), rowOf(std::move(rowOf)),
        elementBytes(this->view.type.getElementType().getIntOrFloatBitWidth() /
                     8),
        vectorBytes(op.getVectorBytes()) {
    int rank = this->view.type.getRank(), tileRank = coords.layout().rank();
    size_t next = 0;
    for (int dim = 0; dim < rank; ++dim) {
      int tileDim = dim - (rank - tileRank);
      bool isRow = !this->rowOf.empty() && tileDim == 0;
      Dim d;
      d.tileDim = tileDim;
      d.stride = this->view.strides[dim];
      if (!isRow)
        d.index = adaptor.getIndices()[next++];
      d.limit = this->view.extents[dim];
      if (tileDim >= 0 &&
          tileDim < static_cast<int>(adaptor.getBounds().size()))
        d.limit = arith::MinSIOp::create(
            b, d.limit,
            arith::MaxSIOp::create(b, adaptor.getBounds()[tileDim], i32(b, 0)));
      dropIfInside(d);
      dims.push_back(d);
    }
  }

  Value address(unsigned reg) {
    Value offset;
    int64_t constant = 0;
    auto add = [&](Value index, int64_t stride) {
      Value wide = arith::ExtSIOp::create(b, b.getI64Type(), index);
      Value term =
          stride == 1
              ? wide
              : arith::MulIOp::create(b, wide, i64(b, stride)).getResult();
      offset =
          offset ? arith::AddIOp::create(b, offset, term).getResult() : term;
    };
    for (Dim &d : dims) {
      if (d.tileDim >= 0 && !d.index) {
        add(rowOf[reg], d.stride);
        continue;
      }
      add(d.index, d.stride);
      if (d.tileDim < 0)
        continue;
      // The register's part becomes an immediate where it meets no bit of the
      // thread's.
      if (coords.isSum(d.tileDim)) {
        add(coords.threadPart(d.tileDim), d.stride);
        constant += coords.registerPart(d.tileDim, reg) * d.stride;
      } else {
        add(coords.coordinate(d.tileDim, reg), d.stride);
      }
    }
    Type element = b.getIntegerType(8 * elementBytes);
    Value pointer =
        LLVM::GEPOp::create(b, view.pointer.getType(), element, view.pointer,
                            ArrayRef<LLVM::GEPArg>{offset});
    if (!constant)
      return pointer;
    return LLVM::GEPOp::create(b, view.pointer.getType(), element, pointer,
                               ArrayRef<LLVM::GEPArg>{i64(b, constant)});
  }

  /// Bytes of the piece that exist, i32; null if all always do.
  Value bytes(unsigned reg) {
    Value inside, size;
    for (auto [number, d] : llvm::enumerate(dims)) {
      if (!d.limit)
        continue;
      if (number + 1 == dims.size()) {
        size = columnBytes(d, reg);
        continue;
      }
      Value here = rowInside(number, d, reg);
      inside =
          inside ? arith::AndIOp::create(b, inside, here).getResult() : here;
    }
    if (!inside)
      return size;
    return arith::SelectOp::create(b, inside, size ? size : i32(b, vectorBytes),
                                   i32(b, 0));
  }

private:
  struct Dim {
    int tileDim = -1;
    int64_t stride = 1;
    Value index, limit;
  };

  /// Forgets a limit that provably holds for the whole tile.
  void dropIfInside(Dim &d) {
    if (!d.index)
      return;
    IndexFacts limit = indexFacts(d.limit), start = indexFacts(d.index);
    int64_t span = d.tileDim >= 0 ? coords.layout().shape()[d.tileDim] : 1;
    if (limit.minimum && start.minimum >= 0 && start.maximum &&
        *start.maximum + span <= *limit.minimum)
      d.limit = Value();
  }

  Value coordinate(Dim &d, unsigned reg) {
    if (d.tileDim < 0)
      return d.index;
    if (!d.index)
      return rowOf[reg];
    return arith::AddIOp::create(b, d.index, coords.coordinate(d.tileDim, reg));
  }

  Value rowInside(size_t number, Dim &d, unsigned reg) {
    // Registers with the same coordinate share the comparison.
    int64_t part = d.tileDim < 0 ? 0
                   : d.index     ? coords.registerPart(d.tileDim, reg)
                                 : reg;
    Value &known = conditions[{number, part}];
    if (!known)
      known = arith::CmpIOp::create(b, arith::CmpIPredicate::ult,
                                    coordinate(d, reg), d.limit);
    return known;
  }

  Value columnBytes(Dim &d, unsigned reg) {
    Value &known =
        conditions[{dims.size(), coords.registerPart(d.tileDim, reg)}];
    if (known)
      return known;
    // A column below 0 makes the rest too large to pass the unsigned test.
    Value left = arith::SubIOp::create(b, d.limit, coordinate(d, reg));
    left = arith::MaxSIOp::create(b, left, i32(b, 0));
    left = arith::MinSIOp::create(b, left, i32(b, vectorBytes / elementBytes));
    Value size =
        elementBytes == 1
            ? left
            : arith::MulIOp::create(b, left, i32(b, elementBytes)).getResult();
    Value inside = arith::CmpIOp::create(b, arith::CmpIPredicate::ult,
                                         coordinate(d, reg), d.limit);
    known = arith::SelectOp::create(b, inside, size, i32(b, 0));
    return known;
  }

  ImplicitLocOpBuilder &b;
  View view;
  ThreadCoordinates &coords;
  SmallVector<Value> rowOf;
  int64_t elementBytes, vectorBytes;
  SmallVector<Dim> dims;
  llvm::DenseMap<std::pair<size_t, int64_t>, Value> conditions;
};

struct CopyAsyncPattern : TilePattern<tile::CopyAsyncOp> {
  using TilePattern::TilePattern;

  LogicalResult
  matchAndRewrite(tile::CopyAsyncOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    auto type = cast<tile::BufferType>(op.getBuffer().getType());
    unsigned elementBytes = type.getElementType().getIntOrFloatBitWidth() / 8;
    std::string why;
    std::optional<SharedBox> box =
        sharedBox(type, type.getTileShape(), {}, why);
    if (!box || type.getTileShape().size() != 2)
      return op.emitOpError("expected a matrix and a buffer with a map, but ")
             << (box ? "the stage has another rank" : why);
    tile::LinearLayout layout =
        tile::copyAsyncLayout(type.getTileShape().vec(), elementBytes,
                              state.numWarps, op.getVectorBytes());
    ThreadCoordinates coords(b, layout, state.numWarps);
    FailureOr<SmallVector<Value>> rows = rowsOf(b, op, adaptor, layout);
    if (failed(rows))
      return failure();
    AsyncSource source(b, unpackView(b, op.getView(), adaptor.getView()), op,
                       adaptor, coords, *rows);
    tile::PackedBases offsets = box->map.after(layout);
    SharedAddresses addresses(
        b, stagePointer(b, op, type, adaptor.getBuffer(), adaptor.getStage()),
        *box, coords.thread(), offsets[tile::kLane], offsets[tile::kWarp]);
    auto cache = op.getVectorBytes() == 16 ? NVVM::LoadCacheModifierKind::CG
                                           : NVVM::LoadCacheModifierKind::CA;
    // Of threads that would copy the same piece one does.
    OpBuilder::InsertionGuard guard(b);
    if (Value owner = coords.owner())
      b.setInsertionPointToStart(
          scf::IfOp::create(b, owner, /*withElseRegion=*/false).thenBlock());
    unsigned inside = op.getVectorBytes() / elementBytes - 1;
    for (unsigned reg : coords.ownedRegisters()) {
      if (reg & inside)
        continue;
      NVVM::CpAsyncOp::create(b, addresses.at(layout.at(reg)),
                              source.address(reg), op.getVectorBytes(), cache,
                              source.bytes(reg));
    }
    rewriter.eraseOp(op);
    return success();
  }

private:
  static FailureOr<SmallVector<Value>>
  rowsOf(ImplicitLocOpBuilder &b, tile::CopyAsyncOp op, OpAdaptor adaptor,
         const tile::LinearLayout &layout) {
    if (!op.getRows())
      return SmallVector<Value>();
    auto map = localRegisterMap(
        layout, layoutOf(op.getRows()),
        [](const Coord &coord) { return Coord{coord.front()}; });
    if (!map)
      return op.emitError("expected row indices in the layout of the copy "
                          "without its columns, but got ")
             << op.getRows().getType();
    SmallVector<Value> from = toRegisters(b, adaptor.getRows());
    return llvm::map_to_vector(*map, [&](unsigned reg) { return from[reg]; });
  }
};

struct CommitGroupPattern : TilePattern<tile::CommitGroupOp> {
  using TilePattern::TilePattern;

  LogicalResult
  matchAndRewrite(tile::CommitGroupOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<NVVM::CpAsyncCommitGroupOp>(op);
    return success();
  }
};

struct WaitGroupPattern : TilePattern<tile::WaitGroupOp> {
  using TilePattern::TilePattern;

  LogicalResult
  matchAndRewrite(tile::WaitGroupOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<NVVM::CpAsyncWaitGroupOp>(op, op.getPending());
    return success();
  }
};

} // namespace

void k2c::tile_to_nvvm::populateCopyAsyncPatterns(Patterns &patterns) {
  patterns.add<CopyAsyncPattern, CommitGroupPattern, WaitGroupPattern>();
}
