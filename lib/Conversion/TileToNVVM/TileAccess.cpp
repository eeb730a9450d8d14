#include "lib/Conversion/TileToNVVM/TileAccess.h"

#include "dialects/Tile/LayoutAnalysis.h"
#include "lib/Conversion/TileToNVVM/IndexFacts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

#include <numeric>

using namespace mlir;
using namespace k2c::tile;
using namespace k2c::tile_to_nvvm;

TileAccess::TileAccess(ImplicitLocOpBuilder &b, const View &view,
                       TilePlace start, const LinearLayout &layout,
                       int64_t numWarps)
    : b(b), view(view), place(std::move(start)), coords(b, layout, numWarps),
      elementBytes(view.type.getElementType().getIntOrFloatBitWidth() / 8) {
  int leading =
      static_cast<int>(view.type.getRank()) - static_cast<int>(layout.rank());
  size_t nextIndex = 0;
  for (int dim = 0; dim < static_cast<int>(view.type.getRank()); ++dim) {
    Dim access;
    access.stride = view.strides[dim];
    access.tileDim = dim >= leading ? dim - leading : -1;
    bool isRow = !place.rows.empty() && access.tileDim == 0;
    if (!isRow)
      access.index = place.indices[nextIndex++];
    size_t tileDim = static_cast<size_t>(access.tileDim);
    bool bounded = access.tileDim >= 0 && tileDim < place.bounds.size();
    addLimit(access, view.extents[dim],
             bounded ? place.bounds[tileDim] : Value());
    dims.push_back(access);
  }
  chooseVector(place.bounds);
  base = makeBase();
}

void TileAccess::addLimit(Dim &dim, Value extent, Value bound) {
  IndexFacts limit = indexFacts(extent);
  int64_t span = dim.tileDim >= 0 ? coords.layout().shape()[dim.tileDim] : 1;
  if (dim.index && limit.minimum) {
    IndexFacts start = indexFacts(dim.index);
    if (start.minimum >= 0 && start.maximum &&
        *start.maximum + span <= *limit.minimum)
      extent = Value();
  }
  if (bound) {
    // The comparison is unsigned, so that negative coordinates fail it: a
    // negative bound must become 0.
    bound = arith::MaxSIOp::create(b, bound, i32(b, 0));
    extent =
        extent ? arith::MinSIOp::create(b, bound, extent).getResult() : bound;
  }
  dim.limit = extent;
}

void TileAccess::chooseVector(ArrayRef<Value> bounds) {
  const Dim &last = dims.back();
  if (!last.index)
    return;
  auto bytes = [&](int64_t elements) {
    return static_cast<uint64_t>(elements) * elementBytes;
  };
  uint64_t pitch = 0;
  for (const Dim &dim : ArrayRef(dims).drop_back())
    pitch = std::gcd(pitch, bytes(dim.stride));
  uint64_t align =
      std::gcd<uint64_t>(16, bytes(indexFacts(last.index).divisor));
  if (last.limit) {
    align = std::gcd(align, bytes(indexFacts(view.extents.back()).divisor));
    if (bounds.size() == coords.layout().rank())
      align = std::gcd(align, bytes(indexFacts(bounds.back()).divisor));
  }
  VectorWidth width = globalVector(coords.layout(), elementBytes, pitch, align);
  vectorBits.assign(width.regBits.begin(), width.regBits.end());
}

SmallVector<unsigned> TileAccess::leaders() const {
  unsigned bits = 0;
  for (unsigned bit : vectorBits)
    bits |= 1u << bit;
  SmallVector<unsigned> result;
  for (unsigned reg = 0; reg < coords.layout().registersPerThread(); ++reg)
    if (!(reg & bits))
      result.push_back(reg);
  return result;
}

unsigned TileAccess::element(unsigned leader, unsigned i) const {
  for (auto [position, bit] : llvm::enumerate(vectorBits))
    leader |= (i >> position & 1) << bit;
  return leader;
}

Type TileAccess::accessType() const {
  Type element = registerType(view.type.getElementType());
  return vectorBits.empty()
             ? element
             : VectorType::get({static_cast<int64_t>(vectorElements())},
                               element);
}

/// The tile's first element plus the thread's share: i64 for what is uniform,
/// i32 inside the tile.
Value TileAccess::makeBase() {
  Type element = registerType(view.type.getElementType());
  auto advance = [&](Value pointer, Value offset) {
    return LLVM::GEPOp::create(b, pointer.getType(), element, pointer,
                               ArrayRef<LLVM::GEPArg>{offset})
        .getResult();
  };
  // i32 holds what a tile spans, save for strides of pages or experts.
  int64_t span = 0;
  for (const Dim &dim : dims)
    if (dim.tileDim >= 0)
      span += (coords.layout().shape()[dim.tileDim] - 1) * dim.stride;
  bool isWide = span > INT32_MAX;
  Value pointer = view.pointer, uniform, inTile;
  auto add = [&](Value &sum, Value term) {
    sum = sum ? arith::AddIOp::create(b, sum, term).getResult() : term;
  };
  for (const Dim &dim : dims) {
    if (dim.index && indexFacts(dim.index).divisor != 0) {
      Value wide = arith::ExtSIOp::create(b, b.getI64Type(), dim.index);
      add(uniform,
          dim.stride == 1
              ? wide
              : arith::MulIOp::create(b, wide, i64(b, dim.stride)).getResult());
    }
    if (dim.index && dim.tileDim >= 0 && coords.threadMask(dim.tileDim) &&
        coords.isSum(dim.tileDim)) {
      Value part = coords.threadPart(dim.tileDim);
      if (isWide)
        part = arith::ExtUIOp::create(b, b.getI64Type(), part);
      add(inTile,
          dim.stride == 1
              ? part
              : arith::MulIOp::create(
                    b, part, isWide ? i64(b, dim.stride) : i32(b, dim.stride))
                    .getResult());
    }
  }
  if (uniform)
    pointer = advance(pointer, uniform);
  if (inTile)
    pointer = advance(
        pointer,
        isWide ? inTile
               : arith::ExtUIOp::create(b, b.getI64Type(), inTile).getResult());
  return pointer;
}

Value TileAccess::address(unsigned reg) {
  Type element = registerType(view.type.getElementType());
  Value pointer = base;
  int64_t constant = 0;
  for (const Dim &dim : dims) {
    Value offset;
    if (!dim.index)
      offset = arith::ExtSIOp::create(b, b.getI64Type(), place.rows[reg]);
    else if (dim.tileDim >= 0 && coords.isSum(dim.tileDim))
      constant += dim.stride * coords.registerPart(dim.tileDim, reg);
    else if (dim.tileDim >= 0)
      offset = arith::ExtUIOp::create(b, b.getI64Type(),
                                      coords.coordinate(dim.tileDim, reg));
    if (!offset)
      continue;
    if (dim.stride != 1)
      offset = arith::MulIOp::create(b, offset, i64(b, dim.stride));
    pointer = LLVM::GEPOp::create(b, pointer.getType(), element, pointer,
                                  ArrayRef<LLVM::GEPArg>{offset});
  }
  if (constant == 0)
    return pointer;
  if (constant <= INT32_MAX)
    return LLVM::GEPOp::create(
        b, pointer.getType(), element, pointer,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(constant)});
  return LLVM::GEPOp::create(b, pointer.getType(), element, pointer,
                             ArrayRef<LLVM::GEPArg>{i64(b, constant)});
}

Value TileAccess::mask(unsigned reg) {
  // What the mask depends on, per checked dim: the row, nothing, or the
  // register's constant.
  auto dependence = [&](const Dim &dim) {
    if (!dim.index)
      return static_cast<int64_t>(
          reinterpret_cast<intptr_t>(place.rows[reg].getAsOpaquePointer()));
    return dim.tileDim < 0 ? 0 : coords.registerPart(dim.tileDim, reg);
  };
  SmallVector<int64_t> key;
  for (const Dim &dim : dims)
    if (dim.limit)
      key.push_back(dependence(dim));
  auto [entry, isNew] = masks.try_emplace(key);
  if (!isNew)
    return entry->second;
  Value all;
  for (auto [number, dim] : llvm::enumerate(dims)) {
    if (!dim.limit)
      continue;
    int64_t part = dependence(dim);
    Value &condition = conditions[{number, part}];
    if (!condition) {
      Value coordinate = dim.index ? dim.index : place.rows[reg];
      if (dim.index && dim.tileDim >= 0 &&
          (part || coords.threadMask(dim.tileDim)))
        coordinate = arith::AddIOp::create(b, coordinate,
                                           coords.coordinate(dim.tileDim, reg));
      condition = arith::CmpIOp::create(b, arith::CmpIPredicate::ult,
                                        coordinate, dim.limit);
    }
    all =
        all ? arith::AndIOp::create(b, all, condition).getResult() : condition;
  }
  entry->second = all;
  return all;
}
