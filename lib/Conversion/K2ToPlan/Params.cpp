//===- Params.cpp - k2.param to plan.param --------------------------------===//
#include "Converter.h"

using namespace mlir;
using namespace k2c;

std::string k2c::scaleName(StringRef param) { return (param + ".scale").str(); }

namespace {
/// One tensor of the final layout: a parameter's values or its scales.
struct Layout {
  std::string name;
  Type element;
  SmallVector<int64_t> shape;
  int64_t blockRows; // rows of the parameter that make a row here
  StringRef suffix;  // of the checkpoint tensors
};
} // namespace

static plan::Per convert(k2::Per per) {
  switch (per) {
  case k2::Per::Model:
    return plan::Per::Model;
  case k2::Per::Layer:
    return plan::Per::Layer;
  case k2::Per::Expert:
    return plan::Per::Expert;
  }
  llvm_unreachable("a parameter is per model, layer or expert");
}

static void build(k2::ParamOp param, const Layout &layout, OpBuilder &builder) {
  SmallVector<Attribute> parts;
  for (auto part : param.getParts().getAsRange<k2::PartAttr>()) {
    int64_t rows = llvm::divideCeil(part.getRows(), layout.blockRows);
    parts.push_back(plan::PartAttr::get(
        builder.getContext(),
        builder.getStringAttr(part.getTensor() + layout.suffix), rows,
        part.getAt() / layout.blockRows));
  }
  ArrayRef<int64_t> layers;
  if (param.getPer() != k2::Per::Model && param.getLayers())
    layers = *param.getLayers();
  plan::ParamOp::create(
      builder, param.getLoc(), layout.name, layout.element, layout.shape,
      plan::paddedRowStride(layout.shape.back(), layout.element),
      convert(param.getPer()), layers, builder.getArrayAttr(parts));
}

void k2c::buildParams(k2::ModelOp model, OpBuilder &builder) {
  for (auto param : model.getBody().getOps<k2::ParamOp>()) {
    SmallVector<int64_t> shape(k2::getWeightShape(param.getType()));
    // The experts of a layer are instances, not a dimension.
    if (param.getPer() == k2::Per::Expert)
      shape.erase(shape.begin());
    std::string name = param.getSymName().str();
    if (auto quantized = dyn_cast<k2::QuantizedType>(param.getType())) {
      build(param, {name, quantized.getElementType(), shape, 1, ""}, builder);
      build(param,
            {scaleName(name),
             quantized.getScaleType(),
             {quantized.getScaleRows(), quantized.getScaleColumns()},
             quantized.getBlock()[0],
             "_scale_inv"},
            builder);
      continue;
    }
    Type element = cast<RankedTensorType>(param.getType()).getElementType();
    build(param, {name, element, shape, 1, ""}, builder);
  }
}
