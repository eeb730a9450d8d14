//===- K2TileContext.cpp - What an op needs to emit its tile --------------===//
#include "k2c/Conversion/K2ToTile/K2TileContext.h"

#include "k2c/Conversion/K2ToTile/KernelInputs.h"

using namespace mlir;
using namespace k2c;
using plan::Access;
using plan::ArgAttr;
using plan::ArgKind;
using plan::ExprAttr;
using plan::ExprKind;

K2TileContext::K2TileContext(k2::KernelOp source, tile::KernelOp target,
                             Variant variant)
    : source(source), target(target), variant(variant),
      inputs(getKernelInputs(source)) {}

//===----------------------------------------------------------------------===//
// Expressions for the launch
//===----------------------------------------------------------------------===//

ExprAttr K2TileContext::expr(int64_t value) const {
  return ExprAttr::get(source->getContext(), value);
}
ExprAttr K2TileContext::expr(StringRef symbol) const {
  return ExprAttr::get(source->getContext(), symbol);
}
ExprAttr K2TileContext::expr(ExprKind kind, ExprAttr a, ExprAttr b) const {
  return ExprAttr::get(source->getContext(), kind, a, b);
}

void K2TileContext::setGrid(ExprAttr x, ExprAttr y, ExprAttr z) {
  Builder builder(source->getContext());
  target->setAttr(plan::kGridAttr, builder.getArrayAttr({x, y, z}));
}

void K2TileContext::addWorklist(StringRef name, int64_t rows,
                                int64_t rowsPerToken) {
  Builder builder(source->getContext());
  auto list = plan::WorklistAttr::get(
      source->getContext(), builder.getStringAttr(name), rows, rowsPerToken);
  target->setAttr(plan::kWorklistsAttr, builder.getArrayAttr(list));
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

Value K2TileContext::getArgument(ArgAttr binding, const ViewShape *shape) {
  MLIRContext *context = source->getContext();
  Type type = IntegerType::get(context, 32);
  if (shape) {
    // Dense row-major views need no layout.
    int64_t dense = 1;
    bool isDense = true;
    for (auto [dim, stride] :
         llvm::reverse(llvm::zip_equal(shape->dims, shape->strides))) {
      isDense &= stride == dense;
      dense *= dim;
    }
    type = isDense ? MemRefType::get(shape->dims, shape->element)
                   : MemRefType::get(
                         shape->dims, shape->element,
                         StridedLayoutAttr::get(context, 0, shape->strides));
  }
  Value &argument = arguments[{binding, type}];
  if (!argument) {
    argument = target.entry().addArgument(type, source.getLoc());
    bindings.push_back(binding);
  }
  return argument;
}

Value K2TileContext::getView(Value value, const ViewShape &shape) {
  MLIRContext *context = source->getContext();
  Value base = baseOf(value);
  auto input = llvm::find(inputs, base);
  if (input != inputs.end())
    return getArgument(ArgAttr::get(context, Access::Read, ArgKind::Input,
                                    input - inputs.begin(), shape.extents),
                       &shape);
  Operation *yield = source.getBody().front().getTerminator();
  auto result = llvm::find(yield->getOperands(), base);
  assert(result != yield->operand_end() && "neither input nor result");
  return getArgument(ArgAttr::get(context, Access::Write, ArgKind::Result,
                                  result - yield->operand_begin(),
                                  shape.extents),
                     &shape);
}

Value K2TileContext::getRows(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  // The view of a slice ends with its last column, so that a tile that reaches
  // past it reads zeros.
  int64_t columns = columnOf(value) + type.getDimSize(1);
  return getView(value, {type.getElementType(),
                         {ShapedType::kDynamic, columns},
                         {rowStrideOf(value), 1},
                         {getRowCount(value)}});
}

Value K2TileContext::getParam(Value weight, const ViewShape &shape) {
  auto op = weight.getDefiningOp<k2::WeightOp>();
  return getArgument(ArgAttr::get(source->getContext(), Access::Read,
                                  ArgKind::Param, op.getParam(), shape.extents),
                     &shape);
}

Value K2TileContext::getScales(Value weight, const ViewShape &shape) {
  auto op = weight.getDefiningOp<k2::WeightOp>();
  return getArgument(ArgAttr::get(source->getContext(), Access::Read,
                                  ArgKind::Scale, op.getParam(), shape.extents),
                     &shape);
}

Value K2TileContext::getArray(StringRef name, Access access,
                              const ViewShape &shape) {
  return getArgument(ArgAttr::get(source->getContext(), access, ArgKind::Array,
                                  name, shape.extents),
                     &shape);
}

Value K2TileContext::getI32Array(StringRef name, ExprAttr extent,
                                 Access access) {
  ViewShape shape{IntegerType::get(source->getContext(), 32),
                  {ShapedType::kDynamic},
                  {1},
                  {extent}};
  if (std::optional<int64_t> constant = extent.getConstant()) {
    shape.dims[0] = *constant;
    shape.extents.clear();
  }
  return getArray(name, access, shape);
}

Value K2TileContext::getScalar(ExprAttr value) {
  return getArgument(ArgAttr::get(source->getContext(), value), nullptr);
}

Value K2TileContext::baseOf(Value value) {
  while (auto slice = value.getDefiningOp<k2::SliceOp>())
    value = slice.getInput();
  return value;
}

int64_t K2TileContext::columnOf(Value value) {
  int64_t column = 0;
  for (; auto slice = value.getDefiningOp<k2::SliceOp>();
       value = slice.getInput())
    column += slice.getOffset();
  return column;
}

int64_t K2TileContext::rowStrideOf(Value value) {
  auto type = cast<RankedTensorType>(baseOf(value).getType());
  return plan::paddedRowStride(type.getDimSize(1), type.getElementType());
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

Value K2TileContext::getTile(TileEmitter &e, Value value) {
  Value &tile = tiles[value];
  if (!tile) {
    Value column = frame.column;
    if (int64_t offset = columnOf(value))
      column = e.addi(column, e.i32(offset));
    SmallVector<Value> bounds;
    if (frame.rowEnd)
      bounds.push_back(frame.rowEnd);
    tile = e.load(getRows(value), {frame.row, column},
                  {frame.rows, frame.columns}, bounds);
  }
  return tile;
}

LogicalResult K2TileContext::storeResults(TileEmitter &e) {
  for (Value value : source.getBody().front().getTerminator()->getOperands()) {
    if (stored.contains(value))
      continue;
    Value tile = tiles.lookup(value);
    if (!tile)
      return source.emitOpError(
                 "expected the ops of a kernel to compute what it yields, but "
                 "no tile was made of a value of type ")
             << value.getType();
    SmallVector<Value> bounds;
    if (frame.rowEnd)
      bounds.push_back(frame.rowEnd);
    e.store(tile, getRows(value), {frame.row, frame.column}, bounds);
  }
  return success();
}

void K2TileContext::finish() {
  Builder builder(source->getContext());
  Block &entry = target.entry();
  target.setFunctionType(builder.getFunctionType(entry.getArgumentTypes(), {}));
  target->setAttr(plan::kArgsAttr, builder.getArrayAttr(bindings));
  if (!target->hasAttr(plan::kWorklistsAttr))
    target->setAttr(plan::kWorklistsAttr, builder.getArrayAttr({}));

  llvm::SetVector<Attribute> ops;
  for (Operation &op : source.getBody().front())
    if (isa<k2::K2CostInterface>(op) && !isa<k2::SliceOp>(op))
      ops.insert(builder.getStringAttr(op.getName().getStringRef()));
  target.setSourceAttr(builder.getArrayAttr(ops.getArrayRef()));
}
