#include "lib/Conversion/TileToNVVM/Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace k2c::tile_to_nvvm;

Type k2c::tile_to_nvvm::registerType(Type element) {
  if (isa<FloatType>(element) && element.getIntOrFloatBitWidth() == 8)
    return IntegerType::get(element.getContext(), 8);
  return element;
}

TileTypeConverter::TileTypeConverter() {
  addConversion([](Type type) -> std::optional<Type> { return type; });
  addConversion([](RankedTensorType type) -> std::optional<Type> {
    auto encoding = dyn_cast_or_null<tile::LinearAttr>(type.getEncoding());
    if (!encoding)
      return Type();
    int64_t registers =
        encoding.getLayout(type.getShape()).registersPerThread();
    return VectorType::get({registers}, registerType(type.getElementType()));
  });
  addConversion([](MemRefType type) -> std::optional<Type> {
    SmallVector<Type> fields = {
        LLVM::LLVMPointerType::get(type.getContext(), kGlobalSpace)};
    fields.append(type.getNumDynamicDims(),
                  IntegerType::get(type.getContext(), 32));
    return LLVM::LLVMStructType::getLiteral(type.getContext(), fields);
  });
  addConversion([](tile::BufferType type) -> std::optional<Type> {
    return LLVM::LLVMPointerType::get(type.getContext(), kSharedSpace);
  });
}

k2c::tile::LinearLayout k2c::tile_to_nvvm::layoutOf(Type tensor) {
  auto type = cast<RankedTensorType>(tensor);
  return cast<tile::LinearAttr>(type.getEncoding()).getLayout(type.getShape());
}

Value KernelState::shared(ImplicitLocOpBuilder &b, uint64_t offset) {
  usesShared = true;
  auto pointer = LLVM::LLVMPointerType::get(b.getContext(), kSharedSpace);
  Value base = LLVM::AddressOfOp::create(b, pointer, kSharedName);
  if (offset == 0)
    return base;
  return LLVM::GEPOp::create(
      b, pointer, b.getI8Type(), base,
      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(offset)});
}

Value KernelState::scratch(ImplicitLocOpBuilder &b, uint64_t bytes) {
  scratchBytes = std::max(scratchBytes, bytes);
  return shared(b, scratchBase);
}

View k2c::tile_to_nvvm::unpackView(ImplicitLocOpBuilder &b, Value original,
                                   Value converted) {
  View view{cast<MemRefType>(original.getType()), {}, {}, {}};
  view.pointer = LLVM::ExtractValueOp::create(b, converted, 0);
  int64_t field = 1;
  for (int64_t extent : view.type.getShape())
    view.extents.push_back(
        ShapedType::isDynamic(extent)
            ? LLVM::ExtractValueOp::create(b, converted, field++).getResult()
            : i32(b, extent));
  int64_t offset;
  LogicalResult known = view.type.getStridesAndOffset(view.strides, offset);
  (void)known;
  return view;
}

SmallVector<Value> k2c::tile_to_nvvm::toRegisters(ImplicitLocOpBuilder &b,
                                                  Value vector) {
  auto elements = vector::ToElementsOp::create(b, vector);
  return SmallVector<Value>(elements.getResults());
}

Value k2c::tile_to_nvvm::fromRegisters(ImplicitLocOpBuilder &b,
                                       ArrayRef<Value> registers) {
  auto type = VectorType::get({static_cast<int64_t>(registers.size())},
                              registers.front().getType());
  return vector::FromElementsOp::create(b, type, registers);
}

Value k2c::tile_to_nvvm::selectRegisters(ImplicitLocOpBuilder &b, Value vector,
                                         ArrayRef<unsigned> map) {
  SmallVector<Value> from = toRegisters(b, vector), to;
  for (unsigned source : map)
    to.push_back(from[source]);
  return fromRegisters(b, to);
}

Value k2c::tile_to_nvvm::i32(ImplicitLocOpBuilder &b, int64_t value) {
  return arith::ConstantOp::create(b, b.getI32IntegerAttr(value));
}
Value k2c::tile_to_nvvm::i64(ImplicitLocOpBuilder &b, int64_t value) {
  return arith::ConstantOp::create(b, b.getI64IntegerAttr(value));
}
Value k2c::tile_to_nvvm::zero(ImplicitLocOpBuilder &b, Type type) {
  return arith::ConstantOp::create(b, b.getZeroAttr(type));
}

void k2c::tile_to_nvvm::barrier(ImplicitLocOpBuilder &b) {
  NVVM::Barrier0Op::create(b);
}
