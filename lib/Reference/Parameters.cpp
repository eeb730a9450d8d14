//===- Parameters.cpp - Parameters from a checkpoint or from inputs -------===//

#include "Parameters.h"

#include <algorithm>

using namespace mlir;
using namespace k2c::k2;

namespace k2c::reference {

static void substitute(std::string &text, const std::string &what,
                       int64_t value) {
  if (size_t at = text.find(what); at != std::string::npos)
    text.replace(at, what.size(), std::to_string(value));
}

/// Which tensors a parameter of this element type may come from: the artifact's
/// loader takes the same.
static bool accepts(Type element, k2rt::DType dtype) {
  if (element.isBF16())
    return dtype == k2rt::DType::BF16;
  if (isa<Float8E4M3FNType>(element))
    return dtype == k2rt::DType::F8_E4M3;
  return dtype == k2rt::DType::F32 || dtype == k2rt::DType::BF16 ||
         dtype == k2rt::DType::F16;
}

template <typename Real>
llvm::Error CheckpointParameters<Real>::fill(Real *to, const std::string &name,
                                             const std::vector<int64_t> &shape,
                                             Type element) {
  auto tensor = checkpoint.get(name);
  if (!tensor)
    return llvm::createStringError(tensor.status().message());
  const k2rt::TensorView &view = **tensor;
  if (view.shape != shape)
    return llvm::createStringError(*view.file + ": " + name +
                                   ": expected shape " +
                                   k2rt::shapeString(shape) + ", but got " +
                                   k2rt::shapeString(view.shape));
  if (!accepts(element, view.dtype)) {
    std::string type;
    llvm::raw_string_ostream(type) << element;
    return llvm::createStringError(
        *view.file + ": " + name + ": expected elements for a parameter of " +
        type + ", but got " + std::string(k2rt::dtypeName(view.dtype)));
  }
  auto floats = k2rt::readFloats(view);
  if (!floats)
    return llvm::createStringError(floats.status().message());
  std::copy(floats->begin(), floats->end(), to);
  return llvm::Error::success();
}

template <typename Real>
llvm::Expected<Value<Real>> CheckpointParameters<Real>::load(ParamOp param,
                                                             int64_t layer) {
  auto quantized = dyn_cast<QuantizedType>(param.getType());
  Type element = quantized
                     ? quantized.getElementType()
                     : cast<RankedTensorType>(param.getType()).getElementType();
  ArrayRef<int64_t> shape = getWeightShape(param.getType());
  int64_t experts = param.getPer() == Per::Expert ? shape[0] : 1;
  bool isVector = shape.size() == 1;
  int64_t rows = isVector ? 1 : shape[shape.size() - 2], columns = shape.back();
  Weight<Real> weight;
  weight.values = TensorOf<Real>(std::vector<int64_t>(shape));
  if (quantized) {
    std::copy_n(quantized.getBlock().begin(), 2, weight.block);
    weight.scales = TensorOf<Real>(
        {experts * quantized.getScaleRows(), quantized.getScaleColumns()});
  }
  for (int64_t e = 0; e < experts; ++e)
    for (auto part : param.getParts().getAsRange<PartAttr>()) {
      std::string name = part.getTensor().str();
      substitute(name, "{layer}", layer);
      substitute(name, "{expert}", e);
      std::vector<int64_t> partShape =
          isVector ? std::vector<int64_t>{part.getRows()}
                   : std::vector<int64_t>{part.getRows(), columns};
      Real *to =
          weight.values.data.data() +
          (isVector ? part.getAt() : (e * rows + part.getAt()) * columns);
      if (llvm::Error error = fill(to, name, partShape, element))
        return error;
      if (!quantized)
        continue;
      int64_t scaleRow =
          e * quantized.getScaleRows() + part.getAt() / weight.block[0];
      std::vector<int64_t> grid = {(part.getRows() + weight.block[0] - 1) /
                                       weight.block[0],
                                   quantized.getScaleColumns()};
      if (llvm::Error error =
              fill(weight.scales.row(scaleRow), name + "_scale_inv", grid,
                   quantized.getScaleType()))
        return error;
    }
  if (quantized)
    return Value<Real>(std::move(weight));
  return Value<Real>(std::move(weight.values));
}

template <typename Real>
llvm::Expected<Value<Real>> NamedParameters<Real>::load(ParamOp param,
                                                        int64_t) {
  return bindValue<Real>(param.getType(), param.getSymName().str(), tensors);
}

template class CheckpointParameters<float>;
template class CheckpointParameters<double>;
template class NamedParameters<float>;
template class NamedParameters<double>;

} // namespace k2c::reference
