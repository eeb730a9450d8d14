#include "dialects/Tile/TileVerify.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionImplementation.h"

using namespace mlir;
using namespace k2c::tile;

void KernelOp::build(OpBuilder &builder, OperationState &state, StringRef name,
                     TypeRange argumentTypes, int64_t numWarps) {
  OpBuilder::InsertionGuard guard(builder);
  state.addAttribute(getSymNameAttrName(state.name),
                     builder.getStringAttr(name));
  state.addAttribute(getFunctionTypeAttrName(state.name),
                     TypeAttr::get(builder.getFunctionType(argumentTypes, {})));
  state.addAttribute(getNumWarpsAttrName(state.name),
                     builder.getI64IntegerAttr(numWarps));
  Block &entry = state.addRegion()->emplaceBlock();
  for (Type type : argumentTypes)
    entry.addArgument(type, state.location);
}

ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &result) {
  auto buildType = [](Builder &builder, ArrayRef<Type> inputs,
                      ArrayRef<Type> results,
                      function_interface_impl::VariadicFlag, std::string &) {
    return builder.getFunctionType(inputs, results);
  };
  return function_interface_impl::parseFunctionOp(
      parser, result, /*allowVariadic=*/false,
      getFunctionTypeAttrName(result.name), buildType,
      getArgAttrsAttrName(result.name), getResAttrsAttrName(result.name));
}

void KernelOp::print(OpAsmPrinter &printer) {
  function_interface_impl::printFunctionOp(
      printer, *this, /*isVariadic=*/false, getFunctionTypeAttrName(),
      getArgAttrsAttrName(), getResAttrsAttrName());
}

LogicalResult KernelOp::verify() {
  // kernel_c1
  if (!getFunctionType().getResults().empty())
    return emitOpError("expected no results, but got ")
           << getFunctionType().getNumResults();
  int64_t warps = getNumWarps();
  // kernel_c2
  if (warps < 1 || warps > 32 || (warps & (warps - 1)))
    return emitOpError(
               "expected num_warps to be a power of two from 1 to 32, but got ")
           << warps;
  for (auto [index, type] : llvm::enumerate(getFunctionType().getInputs())) {
    if (auto view = dyn_cast<MemRefType>(type)) {
      SmallVector<int64_t> strides;
      int64_t offset;
      // kernel_c3
      if (failed(view.getStridesAndOffset(strides, offset)) || offset != 0 ||
          view.getRank() < 1 || strides.back() != 1)
        return emitOpError("expected views with unit stride in the last dim "
                           "and offset 0, but argument ")
               << index << " is " << view;
      // The outermost stride never depends on its own extent, the others are
      // what the addresses need.
      // kernel_c4
      if (llvm::is_contained(strides, ShapedType::kDynamic))
        return emitOpError("expected static strides (only the first dim may be "
                           "dynamic unless strides are given), but argument ")
               << index << " is " << view;
      continue;
    }
    // kernel_c5
    if (!type.isSignlessInteger(32) && !type.isF32())
      return emitOpError(
                 "expected arguments that are views, i32 or f32, but argument ")
             << index << " is " << type;
  }
  // kernel_c6
  if (auto args = getArgs();
      args && args->size() != getFunctionType().getNumInputs())
    return emitOpError("expected one entry of args per argument (")
           << getFunctionType().getNumInputs() << "), but got " << args->size();
  // kernel_c7
  if (auto grid = getGrid(); grid && grid->size() != 3)
    return emitOpError("expected grid to have 3 extents, but got ")
           << grid->size();
  return success();
}

LogicalResult DimOp::verify() {
  auto view = cast<MemRefType>(getView().getType());
  // dim_c1
  if (static_cast<int64_t>(getIndex()) >= view.getRank())
    return emitOpError("expected a dim below the view's rank ")
           << view.getRank() << ", but got " << getIndex();
  return success();
}

OpFoldResult DimOp::fold(FoldAdaptor) {
  int64_t extent = cast<MemRefType>(getView().getType()).getDimSize(getIndex());
  if (ShapedType::isDynamic(extent))
    return {};
  return IntegerAttr::get(getType(), extent);
}
