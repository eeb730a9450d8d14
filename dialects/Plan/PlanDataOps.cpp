//===- PlanDataOps.cpp - Program, params, buffers, kernels ----------------===//
#include "dialects/Plan/Plan.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace k2c::plan;

static bool isStorable(Type type) {
  return type.isBF16() || type.isF32() || type.isInteger(32) ||
         isa<Float8E4M3FNType>(type);
}

static LogicalResult verifyRows(Operation *op, Type element,
                                std::optional<int64_t> columns,
                                int64_t stride) {
  // rows_c1
  if (!isStorable(element))
    return op->emitOpError("expected an element type of bf16, f32, f8E4M3FN or "
                           "i32, but got ")
           << element;
  // rows_c2
  if (columns && stride < *columns)
    return op->emitOpError("expected a row stride of at least ")
           << *columns << " elements, but got " << stride;
  return success();
}

void ProgramOp::build(OpBuilder &builder, OperationState &state, StringRef name,
                      StringRef target, DictionaryAttr model,
                      DictionaryAttr options) {
  state.addAttribute(getSymNameAttrName(state.name),
                     builder.getStringAttr(name));
  state.addAttribute(getTargetAttrName(state.name),
                     builder.getStringAttr(target));
  state.addAttribute(getModelAttrName(state.name), model);
  state.addAttribute(getOptionsAttrName(state.name), options);
  state.addRegion()->emplaceBlock();
}

LogicalResult ProgramOp::verify() {
  llvm::StringSet<> params, buffers, kernels, entries;
  for (Operation &op : getBody().front()) {
    auto names = TypeSwitch<Operation *, llvm::StringSet<> *>(&op)
                     .Case([&](ParamOp) { return &params; })
                     .Case([&](BufferOp) { return &buffers; })
                     .Case([&](WorklistOp) { return &buffers; })
                     .Case([&](KernelOp) { return &kernels; })
                     .Case([&](EntryOp) { return &entries; })
                     .Default([](Operation *) { return nullptr; });
    // program_c1
    if (!names)
      return op.emitOpError("expected only what plan.program can hold");
    auto name = op.getAttrOfType<StringAttr>("sym_name");
    // program_c2
    if (!names->insert(name.getValue()).second)
      return op.emitOpError("expected a name of its own, but got '")
             << name.getValue() << "' twice";
  }
  return success();
}

LogicalResult ParamOp::verify() {
  ArrayRef<int64_t> shape = getShape(), layers = getLayers();
  // param_c1
  if (shape.empty() || shape.size() > 2 ||
      llvm::any_of(shape, [](int64_t d) { return d <= 0; }))
    return emitOpError(
               "expected a shape of one or two positive extents, but got [")
           << shape << "]";
  if (failed(verifyRows(*this, getElement(), shape.back(), getRowStride())))
    return failure();
  bool loose = getPer() == Per::Model;
  // param_c2
  if (loose ? !layers.empty()
            : layers.size() != 2 || layers[0] < 0 || layers[0] >= layers[1])
    return emitOpError("expected ")
           << (loose ? "no layers for a weight of the model"
                     : "layers [from, to] with from < to")
           << ", but got [" << layers << "]";
  int64_t end = 0;
  for (auto part : getParts().getAsRange<PartAttr>()) {
    // param_c3
    if (part.getRows() <= 0 || part.getAt() < end)
      return emitOpError(
                 "expected parts in order and without overlap, but got ")
             << part << " after row " << end;
    end = part.getAt() + part.getRows();
  }
  // param_c4
  if (end == 0 || end > shape[0])
    return emitOpError("expected parts within ")
           << shape[0] << " rows, but got an end of " << end;
  return success();
}

LogicalResult BufferOp::verify() {
  // buffer_c1
  if (getShape().empty())
    return emitOpError("expected at least one dimension, but got none");
  auto last = cast<ExprAttr>(getShape().getValue().back());
  std::optional<int64_t> columns = last.getConstant();
  if (!getRowStride())
    return verifyRows(*this, getElement(), std::nullopt, 0);
  // buffer_c2
  if (getShape().size() < 2 || !columns)
    return emitOpError("expected a row stride only for rows of known length");
  return verifyRows(*this, getElement(), columns, *getRowStride());
}

LogicalResult WorklistOp::verify() {
  // worklist_c1
  if (getRows() <= 0 || getRowsPerToken() <= 0)
    return emitOpError("expected positive rows and rows_per_token, but got ")
           << getRows() << " and " << getRowsPerToken();
  return success();
}

LogicalResult KernelOp::verify() {
  // kernel_c1
  if (getBlock() <= 0 || getBlock() > 1024 || getBlock() % 32)
    return emitOpError("expected a block of whole warps and at most 1024 "
                       "threads, but got ")
           << getBlock();
  return success();
}
