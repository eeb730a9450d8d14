//===- K2ModelOps.cpp - Models, parameters, blocks, entries ---------------===//

#include "dialects/K2/K2.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/FunctionImplementation.h"

using namespace mlir;
using namespace k2c::k2;

void ModelOp::build(OpBuilder &builder, OperationState &state, StringRef name,
                    ConfigAttr config) {
  state.addAttribute(getSymNameAttrName(state.name),
                     builder.getStringAttr(name));
  state.addAttribute(getConfigAttrName(state.name), config);
  state.addRegion()->emplaceBlock();
}

//===----------------------------------------------------------------------===//
// param
//===----------------------------------------------------------------------===//

LogicalResult ParamOp::verify() {
  ArrayRef<int64_t> shape = getWeightShape(getType());
  // param_c1
  if (shape.empty() || llvm::any_of(shape, [](int64_t extent) {
        return ShapedType::isDynamic(extent);
      }))
    return emitOpError() << "expected a tensor of static shape or a quantized "
                            "matrix, but got "
                         << getType();
  // param_c2
  bool perModel = getPer() == Per::Model;
  if (perModel == getLayers().has_value())
    return emitOpError() << "expected layers exactly for parameters per layer "
                            "or per expert, but got per "
                         << stringifyPer(getPer());
  // param_c3
  if (getLayers() && (getLayers()->size() != 2 || (*getLayers())[0] < 0 ||
                      (*getLayers())[0] >= (*getLayers())[1]))
    return emitOpError()
           << "expected layers [from, to] with 0 <= from < to, but got ["
           << *getLayers() << "]";
  // param_c4
  if (getPer() == Per::Expert && shape.size() != 3)
    return emitOpError()
           << "expected a parameter per expert to have rank 3, but got rank "
           << shape.size();
  int64_t rows = getPer() == Per::Expert ? shape[1] : shape[0];
  auto quantized = dyn_cast<QuantizedType>(getType());
  int64_t next = 0;
  for (auto [i, attr] : llvm::enumerate(getParts())) {
    auto part = cast<PartAttr>(attr);
    // param_c5
    if (part.getAt() != next)
      return emitOpError() << "expected part '" << part.getTensor()
                           << "' at row " << next << ", but got "
                           << part.getAt();
    bool last = i + 1 == getParts().size();
    next = part.getAt() + part.getRows();
    if (!last)
      next = llvm::alignTo(next, quantized ? quantized.getBlock()[0] : 128);
  }
  // param_c6
  if (getParts().empty() || next != rows)
    return emitOpError() << "expected parts that fill the " << rows
                         << " rows, but got " << next;
  return success();
}

LogicalResult WeightOp::verifySymbolUses(SymbolTableCollection &symbols) {
  // weight_c1
  auto param = symbols.lookupNearestSymbolFrom<ParamOp>(*this, getParamAttr());
  if (!param)
    return emitOpError() << "expected the name of a k2.param, but got @"
                         << getParam();
  // weight_c2
  if (param.getType() != getResult().getType())
    return emitOpError() << "expected the parameter's type " << param.getType()
                         << ", but got " << getResult().getType();
  return success();
}

/// `%q_a_proj` for @dense.q_a_proj: printed IR reads as the model does.
void WeightOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  StringRef name = getParam();
  if (auto [kind, rest] = name.split('.'); !rest.empty())
    name = rest;
  std::string readable = name.str();
  std::replace(readable.begin(), readable.end(), '.', '_');
  setName(getResult(), readable);
}

//===----------------------------------------------------------------------===//
// block, entry
//===----------------------------------------------------------------------===//

template <typename OpT>
static ParseResult parseFunction(OpAsmParser &parser, OperationState &state) {
  auto makeType = [](Builder &builder, ArrayRef<Type> arguments,
                     ArrayRef<Type> results,
                     function_interface_impl::VariadicFlag, std::string &) {
    return builder.getFunctionType(arguments, results);
  };
  return function_interface_impl::parseFunctionOp(
      parser, state, /*allowVariadic=*/false,
      OpT::getFunctionTypeAttrName(state.name), makeType,
      OpT::getArgAttrsAttrName(state.name),
      OpT::getResAttrsAttrName(state.name));
}

template <typename OpT>
static void printFunction(OpAsmPrinter &printer, OpT op) {
  function_interface_impl::printFunctionOp(
      printer, op, /*isVariadic=*/false, op.getFunctionTypeAttrName(),
      op.getArgAttrsAttrName(), op.getResAttrsAttrName());
}

template <typename OpT>
static void buildFunction(OpBuilder &builder, OperationState &state,
                          StringRef name, FunctionType type) {
  state.addAttribute(SymbolTable::getSymbolAttrName(),
                     builder.getStringAttr(name));
  state.addAttribute(OpT::getFunctionTypeAttrName(state.name),
                     TypeAttr::get(type));
  Block &entry = state.addRegion()->emplaceBlock();
  for (Type argument : type.getInputs())
    entry.addArgument(argument, state.location);
}

ParseResult BlockOp::parse(OpAsmParser &parser, OperationState &state) {
  return parseFunction<BlockOp>(parser, state);
}
void BlockOp::print(OpAsmPrinter &printer) { printFunction(printer, *this); }
void BlockOp::build(OpBuilder &builder, OperationState &state, StringRef name,
                    FunctionType type) {
  buildFunction<BlockOp>(builder, state, name, type);
}

ParseResult EntryOp::parse(OpAsmParser &parser, OperationState &state) {
  return parseFunction<EntryOp>(parser, state);
}
void EntryOp::print(OpAsmPrinter &printer) { printFunction(printer, *this); }
void EntryOp::build(OpBuilder &builder, OperationState &state, StringRef name,
                    FunctionType type) {
  buildFunction<EntryOp>(builder, state, name, type);
}

static void nameArguments(Region &region, StringRef first,
                          OpAsmSetValueNameFn setName) {
  const StringRef names[] = {first, "cos", "sin", "batch", "cache"};
  for (auto [argument, name] : llvm::zip(region.getArguments(), names))
    setName(argument, name);
}

void BlockOp::getAsmBlockArgumentNames(Region &region,
                                       OpAsmSetValueNameFn setName) {
  nameArguments(region, "x", setName);
}

void EntryOp::getAsmBlockArgumentNames(Region &region,
                                       OpAsmSetValueNameFn setName) {
  auto first =
      region.getNumArguments() == 0
          ? RankedTensorType()
          : dyn_cast<RankedTensorType>(region.getArgument(0).getType());
  bool ids = first && first.getElementType().isInteger();
  nameArguments(region, ids ? "ids" : "x0", setName);
}

LogicalResult BlockOp::verify() {
  FunctionType type = getFunctionType();
  // block_c1
  if (type.getNumInputs() != 5 || !isa<BatchType>(type.getInput(3)) ||
      !isa<CacheType>(type.getInput(4)))
    return emitOpError()
           << "expected arguments x, cos, sin, batch and cache, but got "
           << type.getInputs();
  // block_c2
  if (type.getNumResults() != 1 || type.getResult(0) != type.getInput(0))
    return emitOpError() << "expected one result of the type of x, "
                         << type.getInput(0) << ", but got "
                         << type.getResults();
  return success();
}

LogicalResult ReturnOp::verify() {
  // return_c1
  ArrayRef<Type> expected =
      cast<FunctionOpInterface>((*this)->getParentOp()).getResultTypes();
  if (TypeRange(expected) != getOperandTypes())
    return emitOpError() << "expected operands of the results' types ("
                         << expected << "), but got (" << getOperandTypes()
                         << ")";
  return success();
}

//===----------------------------------------------------------------------===//
// layers
//===----------------------------------------------------------------------===//

LogicalResult LayersOp::verifySymbolUses(SymbolTableCollection &symbols) {
  // layers_c1
  auto block = symbols.lookupNearestSymbolFrom<BlockOp>(*this, getBlockAttr());
  if (!block)
    return emitOpError() << "expected the name of a k2.block, but got @"
                         << getBlock();
  // layers_c2
  int64_t from = getFrom(), to = getTo();
  if (from < 0 || from >= to)
    return emitOpError() << "expected 0 <= from < to, but got " << from
                         << " and " << to;
  // layers_c3
  auto config = (*this)->getParentOfType<ModelOp>().getConfig();
  if (to > config.getNumHiddenLayers())
    return emitOpError() << "expected layers within the model's "
                         << config.getNumHiddenLayers() << ", but got " << to;
  // layers_c4
  ArrayRef<Type> arguments = block.getArgumentTypes();
  if (TypeRange(arguments.drop_back()) != getOperandTypes() ||
      getResult().getType() != getInput().getType())
    return emitOpError() << "expected the block's argument types ("
                         << arguments.drop_back() << "), but got ("
                         << getOperandTypes() << ")";
  return success();
}
