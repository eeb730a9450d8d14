//===- Bindings.cpp - k2 values from and to named tensors -----------------===//

#include "Bindings.h"
#include "Parameters.h"

#include <limits>

using namespace mlir;
using namespace k2c::k2;

namespace k2c::reference {

static std::string shapeText(llvm::ArrayRef<int64_t> shape) {
  std::string text;
  for (int64_t extent : shape)
    text += (text.empty() ? "" : ", ") + (ShapedType::isDynamic(extent)
                                              ? std::string("?")
                                              : std::to_string(extent));
  return "[" + text + "]";
}

static llvm::Error refuse(const std::string &name, const std::string &rule,
                          const std::string &fact) {
  return llvm::createStringError("input: " + name + ": expected " + rule +
                                 ", but got " + fact);
}

/// The tensor called `name`, whose shape fits `shape` (`?` fits any extent).
static llvm::Expected<const HostTensor *> find(const HostTensors &tensors,
                                               const std::string &name,
                                               llvm::ArrayRef<int64_t> shape,
                                               bool isInteger) {
  auto found = tensors.find(name);
  if (found == tensors.end())
    return refuse(name, "a tensor of shape " + shapeText(shape),
                  "no such tensor");
  const HostTensor &tensor = found->second;
  if (tensor.isInteger != isInteger)
    return refuse(name, isInteger ? "integers" : "floating-point elements",
                  isInteger ? "floating-point elements" : "integers");
  bool fits = tensor.shape.size() == shape.size();
  for (size_t i = 0; fits && i < shape.size(); ++i)
    fits = compatibleExtent(shape[i], tensor.shape[i]);
  if (!fits)
    return refuse(name, "shape " + shapeText(shape), shapeText(tensor.shape));
  return &tensor;
}

template <typename Real>
static llvm::Expected<TensorOf<Real>> floats(const HostTensors &tensors,
                                             const std::string &name,
                                             llvm::ArrayRef<int64_t> shape) {
  llvm::Expected<const HostTensor *> tensor = find(tensors, name, shape, false);
  if (!tensor)
    return tensor.takeError();
  TensorOf<Real> result((*tensor)->shape);
  std::transform((*tensor)->floats.begin(), (*tensor)->floats.end(),
                 result.data.begin(),
                 [](double x) { return static_cast<Real>(x); });
  return result;
}

static llvm::Expected<Integers> integers(const HostTensors &tensors,
                                         const std::string &name,
                                         llvm::ArrayRef<int64_t> shape) {
  llvm::Expected<const HostTensor *> tensor = find(tensors, name, shape, true);
  if (!tensor)
    return tensor.takeError();
  Integers result((*tensor)->shape);
  result.data = (*tensor)->integers;
  return result;
}

template <typename Real>
static llvm::Expected<Weight<Real>> bindQuantized(QuantizedType type,
                                                  const std::string &name,
                                                  const HostTensors &tensors) {
  Weight<Real> weight;
  llvm::Expected<TensorOf<Real>> values =
      floats<Real>(tensors, name, type.getShape());
  if (!values)
    return values.takeError();
  weight.values = std::move(*values);
  std::copy_n(type.getBlock().begin(), 2, weight.block);
  std::string scaleName = name + "_scale_inv";
  bool apart = type.getRank() == 3 && tensors.count(scaleName) &&
               tensors.at(scaleName).shape.size() == 3;
  int64_t experts = weight.experts(), rows = type.getScaleRows(),
          columns = type.getScaleColumns();
  llvm::Expected<TensorOf<Real>> scales =
      apart ? floats<Real>(tensors, scaleName, {experts, rows, columns})
            : floats<Real>(tensors, scaleName, {experts * rows, columns});
  if (!scales)
    return scales.takeError();
  scales->shape = {experts * rows, columns};
  weight.scales = std::move(*scales);
  return weight;
}

template <typename Real>
static llvm::Expected<Batch<Real>> bindBatch(const std::string &name,
                                             const HostTensors &tensors) {
  constexpr int64_t any = ShapedType::kDynamic;
  Batch<Real> batch;
  llvm::Expected<Integers> start =
      integers(tensors, name + ".seq_start", {any});
  if (!start)
    return start.takeError();
  if (start->data.empty() || start->data.front() != 0 ||
      !std::is_sorted(start->data.begin(), start->data.end()))
    return refuse(name + ".seq_start", "ascending starts from 0", "others");
  int64_t sequences = start->rows() - 1, tokens = start->data.back();
  batch.seqStart = start->data;
  llvm::Expected<Integers> past =
      integers(tensors, name + ".past_len", {sequences});
  if (!past)
    return past.takeError();
  batch.pastLen = past->data;
  for (int64_t length : batch.pastLen)
    if (length < 0)
      return refuse(name + ".past_len", "lengths from 0 on",
                    std::to_string(length));
  llvm::Expected<Integers> table =
      integers(tensors, name + ".block_table", {sequences, any});
  if (!table)
    return table.takeError();
  batch.blockTable = std::move(*table);
  llvm::Expected<Integers> slot = integers(tensors, name + ".slot", {tokens});
  if (!slot)
    return slot.takeError();
  batch.slot = slot->data;
  if (tensors.count(name + ".mask")) {
    llvm::Expected<TensorOf<Real>> mask =
        floats<Real>(tensors, name + ".mask", {tokens, any});
    if (!mask)
      return mask.takeError();
    for (int64_t b = 0; b < sequences; ++b)
      if (int64_t keys =
              batch.pastLen[b] + batch.seqStart[b + 1] - batch.seqStart[b];
          keys > mask->columns() && tokens > 0)
        return refuse(name + ".mask",
                      "a column for each of " + std::to_string(keys) + " keys",
                      std::to_string(mask->columns()) + " columns");
    batch.mask = std::move(*mask);
  }
  return batch;
}

template <typename Real>
llvm::Expected<Value<Real>> bindValue(Type type, const std::string &name,
                                      const HostTensors &tensors) {
  auto wrap = [](auto bound) -> llvm::Expected<Value<Real>> {
    if (!bound)
      return bound.takeError();
    return Value<Real>(std::move(*bound));
  };
  if (auto quantized = dyn_cast<QuantizedType>(type))
    return wrap(bindQuantized<Real>(quantized, name, tensors));
  if (isa<BatchType>(type))
    return wrap(bindBatch<Real>(name, tensors));
  if (auto cache = dyn_cast<CacheType>(type)) {
    int64_t width = cache.getLatentSize() + cache.getRopeSize();
    llvm::Expected<TensorOf<Real>> pages = floats<Real>(
        tensors, name, {ShapedType::kDynamic, ShapedType::kDynamic, width});
    if (!pages)
      return pages.takeError();
    if (pages->shape[1] == 0)
      return refuse(name, "pages of at least one row", "pages of none");
    return Value<Real>(
        Cache<Real>{std::make_shared<TensorOf<Real>>(std::move(*pages)),
                    cache.getLatentSize(), cache.getRopeSize()});
  }
  if (auto routing = dyn_cast<RoutingType>(type)) {
    llvm::Expected<Integers> ids = integers(
        tensors, name + ".ids", {ShapedType::kDynamic, routing.getTopK()});
    if (!ids)
      return ids.takeError();
    for (int64_t id : ids->data)
      if (id < 0 || id >= routing.getExperts())
        return refuse(name + ".ids",
                      "experts from 0 to " +
                          std::to_string(routing.getExperts() - 1),
                      std::to_string(id));
    return Value<Real>(dispatch(*ids, routing.getExperts()));
  }
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return refuse(name, "a tensor or a k2 type", "another type");
  if (isa<IntegerType>(tensor.getElementType()))
    return wrap(integers(tensors, name, tensor.getShape()));
  return wrap(floats<Real>(tensors, name, tensor.getShape()));
}

template <typename Real>
static HostTensor toHost(const TensorOf<Real> &tensor) {
  HostTensor result;
  result.shape = tensor.shape;
  result.floats.assign(tensor.data.begin(), tensor.data.end());
  return result;
}

static HostTensor toHost(std::vector<int64_t> shape,
                         std::vector<int64_t> values) {
  HostTensor result;
  result.shape = std::move(shape);
  result.isInteger = true;
  result.integers = std::move(values);
  return result;
}

template <typename Real>
void exportValue(const Value<Real> &value, const std::string &name,
                 HostTensors &tensors) {
  if (auto *tensor = std::get_if<TensorOf<Real>>(&value)) {
    tensors[name] = toHost(*tensor);
  } else if (auto *ids = std::get_if<Integers>(&value)) {
    tensors[name] = toHost(ids->shape, ids->data);
  } else if (auto *cache = std::get_if<Cache<Real>>(&value)) {
    tensors[name] = toHost(*cache->pages);
  } else if (auto *routing = std::get_if<Routing>(&value)) {
    auto flat = [](const std::vector<int64_t> &values) {
      return toHost({static_cast<int64_t>(values.size())}, values);
    };
    tensors[name + ".expert_count"] = flat(routing->expertCount);
    tensors[name + ".expert_start"] = flat(routing->expertStart);
    tensors[name + ".token_of_row"] = flat(routing->tokenOfRow);
    tensors[name + ".row_of"] =
        toHost(routing->rowOf.shape, routing->rowOf.data);
  }
}

#define INSTANTIATE(Real)                                                      \
  template llvm::Expected<Value<Real>> bindValue(Type, const std::string &,    \
                                                 const HostTensors &);         \
  template void exportValue(const Value<Real> &, const std::string &,          \
                            HostTensors &);
INSTANTIATE(float)
INSTANTIATE(double)
#undef INSTANTIATE

} // namespace k2c::reference
