//===- KernelRunner.cpp - One k2.kernel at a time -------------------------===//
#include "KernelRunner.h"

#include "Comparison.h"
#include "DeviceBytes.h"

#include "k2c/Conversion/K2ToTile/KernelInputs.h"
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>

using namespace mlir;
using namespace k2c;
using namespace k2c::test;

namespace {

ptxsim::DeviceOptions deviceOptions() {
  ptxsim::DeviceOptions options;
  options.threads = 2;
  options.poison = true;
  options.async = ptxsim::Async::Lazy;
  // K2C_TEST_SIM=async=random:1,schedule=reverse runs all tests that way.
  if (const char *text = std::getenv("K2C_TEST_SIM"))
    EXPECT_EQ(ptxsim::readOptions(text, options).message(), "");
  return options;
}

/// The work list that the contract describes, made on the host.
std::vector<int64_t> workItems(const reference::Routing &routing,
                               int64_t firstRow = 0) {
  std::vector<int64_t> items;
  for (size_t e = 0; e < routing.expertCount.size(); ++e)
    for (int64_t done = 0; done < routing.expertCount[e]; done += 64) {
      items.push_back(e);
      items.push_back(firstRow + routing.expertStart[e] + done);
      items.push_back(std::min<int64_t>(64, routing.expertCount[e] - done));
    }
  return items;
}

/// The routing that a kernel reads from outside.
mlir::Value routingOf(k2::KernelOp kernel) {
  mlir::Value routing;
  kernel.getBody().walk([&](Operation *op) {
    for (mlir::Value operand : op->getOperands())
      if (isa<k2::RoutingType>(operand.getType()) &&
          operand.getParentRegion() != &kernel.getBody())
        routing = operand;
  });
  return routing;
}

} // namespace

KernelRunner::KernelRunner(ModuleOp module, RandomParameters &parameters)
    : module(module), model(*module.getOps<k2::ModelOp>().begin()),
      parameters(parameters), device(deviceOptions()) {}

void KernelRunner::setStep(const Step &next) {
  current = &next;
  const reference::Batch<Real> &batch = next.batch;
  symbols["T"] = batch.tokens();
  symbols["B"] = batch.sequences();
  symbols["P"] = next.firstPage + next.pages;
  int64_t longest = 0;
  for (int64_t b = 0; b < batch.sequences(); ++b)
    longest = std::max(longest, batch.pastLen[b] + batch.seqStart[b + 1] -
                                    batch.seqStart[b]);
  symbols["S"] = longest;
  symbols["num_hidden_layers"] = model.getConfig().getNumHiddenLayers();
}

SmallVector<tile::KernelOp> KernelRunner::tilesOf(k2::KernelOp kernel) {
  Variant other = current->batch.mask ? Variant::Plain : Variant::Masked;
  SmallVector<Variant> variants = getVariants(kernel);
  SmallVector<tile::KernelOp> tiles;
  for (Variant variant : variants)
    if (variants.size() == 1 || variant != other)
      tiles.push_back(
          module.lookupSymbol<tile::KernelOp>(getVariantName(kernel, variant)));
  return tiles;
}

llvm::Expected<CompiledKernel *> KernelRunner::compiled(StringRef name) {
  auto found = kernels.find(name.str());
  if (found != kernels.end())
    return &found->second;
  auto tile = module.lookupSymbol<tile::KernelOp>(name);
  if (!tile)
    return llvm::createStringError(name.str() + ": no tile.kernel");
  auto kernel = compileKernel(tile, device, edits);
  if (!kernel)
    return kernel.takeError();
  return &kernels.emplace(name.str(), *kernel).first->second;
}

int64_t KernelRunner::evaluate(plan::ExprAttr expr, int64_t layer) const {
  using plan::ExprKind;
  if (expr.getKind() == ExprKind::Integer)
    return expr.getValue();
  if (expr.getKind() == ExprKind::Symbol)
    return expr.getSymbol() == "layer" ? layer
                                       : symbols.at(expr.getSymbol().str());
  int64_t a = evaluate(cast<plan::ExprAttr>(expr.getLhs()), layer);
  int64_t b = evaluate(cast<plan::ExprAttr>(expr.getRhs()), layer);
  switch (expr.getKind()) {
  case ExprKind::Add:
    return a + b;
  case ExprKind::Sub:
    return a - b;
  case ExprKind::Mul:
    return a * b;
  case ExprKind::CeilDiv:
    return (a + b - 1) / b;
  case ExprKind::FloorDiv:
    return a / b;
  case ExprKind::Min:
    return std::min(a, b);
  case ExprKind::Max:
    return std::max(a, b);
  default:
    llvm_unreachable("conditions do not occur in launches");
  }
}

bool KernelRunner::hasExpertRows(plan::ArgAttr arg) const {
  // Of the arrays only this one is read by row.
  if (arg.getKind() == plan::ArgKind::Array)
    return arg.getName() == "token_of_row";
  if (arg.getExtents().empty())
    return false;
  plan::ExprAttr rows = arg.getExtents()[0];
  auto isTokens = [](Attribute side) {
    auto expr = dyn_cast_or_null<plan::ExprAttr>(side);
    return expr && expr.getKind() == plan::ExprKind::Symbol &&
           expr.getSymbol() == "T";
  };
  return rows.getKind() == plan::ExprKind::Mul && isTokens(rows.getLhs());
}

std::vector<std::pair<int64_t, int64_t>>
KernelRunner::queryTiles(int64_t rows, int64_t perToken) const {
  std::vector<std::pair<int64_t, int64_t>> tiles;
  for (int64_t b = 0; b < current->batch.sequences(); ++b)
    for (int64_t row = current->batch.seqStart[b] * perToken;
         row < current->batch.seqStart[b + 1] * perToken; row += rows)
      tiles.push_back({b, row});
  // Tiles come in any order: what one writes past its end stays to be seen.
  std::reverse(tiles.begin(), tiles.end());
  return tiles;
}

KernelRunner::Array KernelRunner::upload(ArrayRef<uint8_t> bytes,
                                         StringRef name) {
  Array array;
  array.bytes = bytes.size();
  auto memory = device.allocate(std::max<size_t>(bytes.size(), 1), name.str());
  if (!memory)
    llvm::report_fatal_error("simulator: out of memory");
  array.pointer = *memory;
  std::memcpy(reinterpret_cast<void *>(array.pointer), bytes.data(),
              bytes.size());
  return array;
}

std::vector<uint8_t> KernelRunner::arrayContents(k2::KernelOp kernel,
                                                 plan::ArgAttr arg,
                                                 ValueOf valueOf) {
  MLIRContext *context = module.getContext();
  Type i32 = IntegerType::get(context, 32), f32 = Float32Type::get(context);
  StringRef name = arg.getName();
  auto integers = [&](const std::vector<int64_t> &values) {
    return encodeRows(values, 1, 1, i32, 0);
  };
  const reference::Batch<Real> &batch = current->batch;
  if (name == "token_ids")
    return integers(current->ids.data);
  if (name == "rope_cos" || name == "rope_sin") {
    const Tensor &table = name == "rope_cos" ? current->cos : current->sin;
    return encodeRows(table.data, table.columns(),
                      plan::paddedRowStride(table.columns(), f32), f32, 0xff);
  }
  if (name == "seq_start")
    return integers(batch.seqStart);
  if (name == "past_len")
    return integers(batch.pastLen);
  auto moved = [&](std::vector<int64_t> values, int64_t by) {
    for (int64_t &value : values)
      value += value < 0 ? 0 : by;
    return integers(values);
  };
  if (name == "block_table")
    return moved(batch.blockTable.data, current->firstPage);
  if (name == "slot")
    return moved(batch.slot, current->firstPage * kPageSize);
  if (name == "slot_of")
    return integers(current->slotOf);
  if (name == "mask") {
    int64_t keys = batch.mask->columns();
    return encodeRows(batch.mask->data, keys, llvm::alignTo(keys, 64), f32,
                      0xff);
  }
  if (name == "query_tiles") {
    std::vector<int64_t> flat;
    tile::KernelOp tile = tilesOf(kernel).back();
    auto list = cast<plan::WorklistAttr>(
        tile->getAttrOfType<ArrayAttr>(plan::kWorklistsAttr)[0]);
    for (auto [sequence, row] :
         queryTiles(list.getRows(), list.getRowsPerToken())) {
      flat.push_back(sequence);
      flat.push_back(row);
    }
    return integers(flat);
  }
  if (name == "latent_cache") {
    mlir::Value cache;
    kernel.getBody().walk([&](Operation *op) {
      for (mlir::Value operand : op->getOperands())
        if (isa<k2::CacheType>(operand.getType()) &&
            operand.getParentRegion() != &kernel.getBody())
          cache = operand;
    });
    const Tensor &pages =
        *std::get<reference::Cache<Real>>(valueOf(cache)).pages;
    Type bf16 = BFloat16Type::get(context);
    return encodeRows(pages.data, pages.columns(),
                      plan::paddedRowStride(pages.columns(), bf16), bf16, 0xff);
  }
  const auto &routing =
      std::get<reference::Routing>(valueOf(routingOf(kernel)));
  if (name == "expert_count")
    return integers(routing.expertCount);
  if (name == "expert_start")
    return integers(routing.expertStart);
  if (name == "token_of_row")
    return integers(routing.tokenOfRow);
  if (name == "row_of")
    return moved(routing.rowOf.data, current->firstExpertRow);
  if (name == "expert_work") {
    // As with query tiles, the order must not matter.
    std::vector<int64_t> items = workItems(routing, current->firstExpertRow),
                         reversed;
    for (size_t i = items.size(); i; i -= 3)
      reversed.insert(reversed.end(), &items[i - 3], &items[i - 3] + 3);
    return integers(reversed);
  }
  if (name == "work_count")
    return integers({static_cast<int64_t>(workItems(routing).size()) / 3});
  llvm::report_fatal_error("array " + Twine(name) + " is unknown");
}

std::vector<uint8_t> KernelRunner::contents(k2::KernelOp kernel,
                                            plan::ArgAttr arg, MemRefType view,
                                            ArrayRef<int64_t> extents,
                                            int64_t layer, ValueOf valueOf) {
  using plan::ArgKind;
  switch (arg.getKind()) {
  case ArgKind::Input: {
    mlir::Value input = getKernelInputs(kernel)[arg.getIndex()];
    auto type = cast<RankedTensorType>(input.getType());
    int64_t columns = type.getDimSize(1);
    int64_t stride = plan::paddedRowStride(columns, type.getElementType());
    const RefValue &value = valueOf(input);
    if (auto *ids = std::get_if<Integers>(&value))
      // What looks like an expert must not be counted as one.
      return encodeRows(ids->data, columns, stride, type.getElementType(), 0);
    return encodeRows(std::get<Tensor>(value).data, columns, stride,
                      type.getElementType(), 0xff);
  }
  case ArgKind::Result: {
    auto type =
        cast<RankedTensorType>(kernel->getResult(arg.getIndex()).getType());
    int64_t rows =
        evaluate(getRowCount(kernel->getResult(arg.getIndex())), layer);
    int64_t stride =
        plan::paddedRowStride(type.getDimSize(1), type.getElementType());
    return std::vector<uint8_t>(
        rows * stride * type.getElementTypeBitWidth() / 8, 0xff);
  }
  case ArgKind::Param:
  case ArgKind::Scale: {
    auto param = model.lookupSymbol<k2::ParamOp>(arg.getName());
    const RefValue &value = parameters.get(param, layer);
    Type f32 = Float32Type::get(module.getContext());
    if (auto *weight = std::get_if<reference::Weight<Real>>(&value))
      return arg.getKind() == ArgKind::Scale
                 ? encodePool(weight->scales, weight->experts(),
                              current->slotOf, f32)
                 : encodePool(weight->values, weight->experts(),
                              current->slotOf, view.getElementType());
    const Tensor &tensor = std::get<Tensor>(value);
    if (tensor.shape.size() == 1)
      return encodeRows(tensor.data, 1, 1, f32, 0);
    return encodePool(tensor, tensor.shape.size() == 3 ? tensor.shape[0] : 1,
                      current->slotOf, view.getElementType());
  }
  case ArgKind::Array:
    if (arg.getName() == "expanded_kv") // rows of [head, row, column] views
      return std::vector<uint8_t>(
          extents[0] * view.getStridesAndOffset().first[1] * 2, 0xff);
    if (arg.getAccess() == plan::Access::Write &&
        arg.getName() != "latent_cache") {
      int64_t count = 1;
      for (int64_t dim : view.getShape())
        count *= ShapedType::isDynamic(dim) ? extents[0] : dim;
      return std::vector<uint8_t>(count * 4, 0xff);
    }
    return arrayContents(kernel, arg, valueOf);
  case ArgKind::Scalar:
    break;
  }
  llvm_unreachable("a scalar has no memory");
}

llvm::Error KernelRunner::launch(k2::KernelOp kernel, int64_t layer,
                                 ValueOf valueOf) {
  release();
  // Several views of one array are one allocation, and so is what one phase of
  // a kernel leaves for the next.
  Arrays arrays;
  llvm::Error error = llvm::Error::success();
  for (tile::KernelOp tile : tilesOf(kernel))
    if (!error)
      error = launch(kernel, tile, layer, valueOf, arrays);
  for (auto &[key, array] : arrays) {
    bool isOutput = llvm::any_of(outputs, [&, &array = array](Output &out) {
      return out.array.pointer == array.pointer;
    });
    if (!isOutput && !device.free(array.pointer))
      llvm::report_fatal_error("simulator: free failed");
  }
  return error;
}

llvm::Error KernelRunner::launch(k2::KernelOp kernel, tile::KernelOp tile,
                                 int64_t layer, ValueOf valueOf,
                                 Arrays &arrays) {
  auto code = compiled(tile.getSymName());
  if (!code)
    return code.takeError();
  for (Attribute list : tile->getAttrOfType<ArrayAttr>(plan::kWorklistsAttr)) {
    auto made = cast<plan::WorklistAttr>(list);
    symbols["W_query_tiles"] =
        queryTiles(made.getRows(), made.getRowsPerToken()).size();
  }

  std::vector<uint64_t> values;
  for (auto [attribute, type] :
       llvm::zip_equal(tile->getAttrOfType<ArrayAttr>(plan::kArgsAttr),
                       tile.getArgumentTypes())) {
    auto arg = cast<plan::ArgAttr>(attribute);
    SmallVector<int64_t> extents;
    for (plan::ExprAttr extent : arg.getExtents())
      extents.push_back(evaluate(extent, layer));
    if (auto view = dyn_cast<MemRefType>(type)) {
      std::string key = std::to_string(static_cast<int>(arg.getKind())) + "." +
                        std::to_string(arg.getIndex()) + "." +
                        arg.getName().str();
      auto [array, isNew] = arrays.try_emplace(key);
      if (isNew) {
        array->second =
            upload(contents(kernel, arg, view, extents, layer, valueOf),
                   kernel.getName().str() + ":" + key);
        if (arg.getAccess() != plan::Access::Read &&
            arg.getName() != "expanded_kv")
          outputs.push_back({arg, array->second});
      }
      int64_t before = 0;
      if (arg.getName() == "latent_cache")
        before = current->firstPage * (array->second.bytes / current->pages);
      if (current->firstExpertRow && hasExpertRows(arg)) {
        before = current->firstExpertRow *
                 static_cast<int64_t>(array->second.bytes / extents[0]);
        extents[0] += current->firstExpertRow;
      }
      values.push_back(array->second.pointer - before);
    }
    for (int64_t extent : extents)
      values.push_back(static_cast<uint32_t>(extent));
  }
  std::vector<const void *> params;
  for (uint64_t &value : values)
    params.push_back(&value);

  auto grid = tile->getAttrOfType<ArrayAttr>(plan::kGridAttr);
  uint32_t dims[3];
  for (auto [dim, expr] : llvm::zip_equal(dims, grid))
    dim = evaluate(cast<plan::ExprAttr>(expr), layer);
  if (!dims[0] || !dims[1] || !dims[2])
    return llvm::Error::success();
  CompiledKernel &loaded = **code;
  ptxsim::Status status = device.launch(
      *loaded.module, loaded.module->kernels()[0], {dims[0], dims[1], dims[2]},
      {static_cast<uint32_t>(loaded.threads), 1, 1}, loaded.sharedBytes,
      params.data());
  if (!status)
    return llvm::createStringError(tile.getSymName().str() + ": " +
                                   status.message());
  return llvm::Error::success();
}

llvm::Error KernelRunner::compare(k2::KernelOp kernel, ValueOf valueOf) {
  bool attends = false;
  kernel.getBody().walk([&](Operation *op) {
    attends |= isa<k2::MlaAttentionOp, k2::MlaAttentionAbsorbedOp>(op);
  });
  // The reference rounds P against the row's final maximum, the kernel against
  // the running one.
  Tolerance tolerance = attends ? Tolerance{2e-2, 5e-3} : Tolerance{2e-3, 1e-3};
  // The products of gate and of up, and their product.
  kernel.getBody().walk([&](k2::SwigluOp) { tolerance.roundings = 3; });
  for (const Output &output : outputs) {
    std::string what = kernel.getName().str();
    uint64_t pointer = output.array.pointer;
    if (output.binding.getKind() == plan::ArgKind::Result) {
      mlir::Value result = kernel->getResult(output.binding.getIndex());
      auto type = cast<RankedTensorType>(result.getType());
      int64_t columns = type.getDimSize(1);
      int64_t stride = plan::paddedRowStride(columns, type.getElementType());
      std::vector<double> want;
      const RefValue &value = valueOf(result);
      if (auto *ids = std::get_if<Integers>(&value))
        want.assign(ids->data.begin(), ids->data.end());
      else
        want = std::get<Tensor>(value).data;
      std::vector<double> got;
      for (size_t i = 0; i < want.size(); ++i)
        got.push_back(get(pointer, i / columns * stride + i % columns,
                          type.getElementType()));
      what += " result " + std::to_string(output.binding.getIndex());
      Tolerance exact{0, 0};
      bool integer = type.getElementType().isInteger(32);
      if (integer && got != want)
        return compareValues(what, got, want, columns, exact);
      if (llvm::Error error =
              compareValues(what, got, want, columns, tolerance))
        return error;
      continue;
    }
    StringRef name = output.binding.getName();
    what += " " + name.str();
    if (name == "latent_cache") {
      const Tensor &pages =
          *std::get<reference::Cache<Real>>(valueOf(kernel->getResult(0)))
               .pages;
      Type bf16 = BFloat16Type::get(module.getContext());
      int64_t columns = pages.columns(),
              stride = plan::paddedRowStride(columns, bf16);
      // Latents and turned keys each by themselves: the few keys would not
      // count among many latents.
      int64_t latents = model.getConfig().getKvLoraRank();
      std::vector<double> got[2], want[2];
      for (size_t i = 0; i < pages.data.size(); ++i) {
        int64_t column = static_cast<int64_t>(i) % columns;
        double value = get(pointer, i / columns * stride + column, bf16);
        if (std::isnan(value) != std::isnan(pages.data[i]))
          return llvm::createStringError(
              what + ": row " + std::to_string(i / columns) +
              (std::isnan(value) ? " was not written" : " was written"));
        if (std::isnan(value))
          continue;
        got[column >= latents].push_back(value);
        want[column >= latents].push_back(pages.data[i]);
      }
      if (llvm::Error error = compareValues(what + " latents", got[0], want[0],
                                            latents, tolerance))
        return error;
      if (llvm::Error error = compareValues(what + " keys", got[1], want[1],
                                            columns - latents, tolerance))
        return error;
      continue;
    }
    const auto &routing =
        std::get<reference::Routing>(valueOf(kernel->getResult(0)));
    std::vector<int64_t> want;
    if (name == "expert_count")
      want = routing.expertCount;
    else if (name == "expert_start")
      want = routing.expertStart;
    else if (name == "token_of_row")
      want = routing.tokenOfRow;
    else if (name == "row_of")
      want = routing.rowOf.data;
    else if (name == "expert_work")
      want = workItems(routing);
    else if (name == "work_count")
      want = {static_cast<int64_t>(workItems(routing).size()) / 3};
    if (llvm::Error error = compareIntegers(what, pointer, want))
      return error;
  }
  release();
  return llvm::Error::success();
}

std::vector<double> KernelRunner::result(k2::KernelOp kernel,
                                         unsigned index) const {
  auto type = cast<RankedTensorType>(kernel->getResult(index).getType());
  int64_t columns = type.getDimSize(1);
  int64_t stride = plan::paddedRowStride(columns, type.getElementType());
  std::vector<double> values;
  for (const Output &output : outputs) {
    if (output.binding.getKind() != plan::ArgKind::Result ||
        output.binding.getIndex() != index)
      continue;
    int64_t rows =
        output.array.bytes / (stride * type.getElementTypeBitWidth() / 8);
    for (int64_t i = 0; i < rows * columns; ++i)
      values.push_back(get(output.array.pointer,
                           i / columns * stride + i % columns,
                           type.getElementType()));
  }
  return values;
}

void KernelRunner::release() {
  for (const Output &output : outputs)
    if (!device.free(output.array.pointer))
      llvm::report_fatal_error("simulator: free failed");
  outputs.clear();
}
