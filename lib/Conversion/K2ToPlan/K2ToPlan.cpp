//===- K2ToPlan.cpp - The model around the kernels becomes a plan ---------===//
//
// Follows entries in order. Every ranked tensor that leaves a kernel has a
// buffer; where a value must be (the residual stream in `x`, logits) decides
// the name, everything else is named after its kernel.
//
//===----------------------------------------------------------------------===//
#include "Converter.h"
#include "k2c/Conversion/K2ToPlan/Passes.h"
#include "k2c/Conversion/K2ToTile/KernelInputs.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace k2c;
using plan::ExprAttr;
using plan::ExprKind;

namespace k2c {
#define GEN_PASS_DEF_CONVERTK2TOPLANPASS
#include "k2c/Conversion/K2ToPlan/Passes.h.inc"
} // namespace k2c

namespace {
constexpr StringLiteral kStream = "x";

class Converter {
public:
  Converter(k2::ModelOp model, OpBuilder &builder)
      : model(model), config(model.getConfig()), builder(builder),
        context(builder.getContext()), dataBuilder(builder) {}

  LogicalResult run(ModuleOp module);
  ArrayRef<tile::KernelOp> duplicates() const { return kernels.duplicates(); }

private:
  /// Where the values of a block or entry are.
  using Places = DenseMap<Value, std::string>;

  ExprAttr number(int64_t value) { return ExprAttr::get(context, value); }
  ExprAttr symbol(StringRef name) { return ExprAttr::get(context, name); }
  FlatSymbolRefAttr ref(StringRef name) {
    return FlatSymbolRefAttr::get(context, name);
  }

  std::optional<BufferInfo> reserved(StringRef name) {
    return getArrayInfo(config, name);
  }
  LogicalResult declare(Operation *op, StringRef name, const BufferInfo &info);
  LogicalResult declareWorklist(plan::WorklistAttr list, Operation *op);
  BufferInfo fromValue(OpResult result);
  std::string placeOf(k2::KernelOp kernel, OpResult result, Value stream);
  void trace(Location loc, StringRef name, ExprAttr layer, StringRef buffer);

  LogicalResult convertEntry(k2::EntryOp entry);
  void addHead();
  LogicalResult convertBody(FunctionOpInterface function, Places &places,
                            plan::LayersOp layers);
  LogicalResult convertKernel(k2::KernelOp kernel, Places &places,
                              plan::LayersOp layers, Value stream);
  /// Launches one of the tile kernels made of a kernel.
  LogicalResult launch(k2::KernelOp kernel, StringRef name, Places &places,
                       Value stream);
  LogicalResult convertLayers(k2::LayersOp layers, Places &places);
  FailureOr<plan::BindAttr> bind(k2::KernelOp kernel, plan::ArgAttr arg,
                                 ArrayRef<Value> inputs, Places &places,
                                 Value stream);

  k2::ModelOp model;
  k2::ConfigAttr config;
  OpBuilder &builder;
  MLIRContext *context;
  OpBuilder dataBuilder; // buffers and lists go before the entries
  plan::EntryOp firstEntry, modelEntry;
  Kernels kernels;
  llvm::StringMap<plan::BufferOp> buffers;
  llvm::StringMap<plan::WorklistOp> worklists;
};
} // namespace

LogicalResult Converter::declare(Operation *op, StringRef name,
                                 const BufferInfo &info) {
  auto &known = buffers[name];
  ArrayAttr shape = builder.getArrayAttr(info.shape);
  IntegerAttr stride;
  if (info.rowStride)
    stride = builder.getI64IntegerAttr(*info.rowStride);
  if (!known) {
    known =
        plan::BufferOp::create(dataBuilder, op->getLoc(), name, info.element,
                               shape, stride, info.bufferClass);
    return success();
  }
  if (known.getElement() == info.element && known.getShape() == shape &&
      known.getRowStrideAttr() == stride)
    return success();
  auto diagnostic = op->emitOpError("expected every kernel to see buffer '")
                    << name << "' alike, but got " << info.element << " "
                    << shape;
  if (stride)
    diagnostic << " stride " << *info.rowStride;
  diagnostic.attachNote(known.getLoc()) << "the other one: " << *known;
  return failure();
}

LogicalResult Converter::declareWorklist(plan::WorklistAttr list,
                                         Operation *op) {
  auto &known = worklists[list.getName()];
  if (!known) {
    known = plan::WorklistOp::create(dataBuilder, op->getLoc(), list.getName(),
                                     list.getRows(), list.getRowsPerToken());
    return success();
  }
  if (int64_t(known.getRows()) != list.getRows() ||
      int64_t(known.getRowsPerToken()) != list.getRowsPerToken())
    return op->emitOpError("expected one maker of work list '")
           << list.getName().getValue() << "', but got two";
  return success();
}

/// The buffer of an activation: however kernels regroup it in their views, it
/// has the rows and columns of its type, rows padded to 16 bytes.
BufferInfo Converter::fromValue(OpResult result) {
  auto type = cast<RankedTensorType>(result.getType());
  BufferInfo info;
  info.element = type.getElementType();
  for (int64_t dim : type.getShape())
    info.shape.push_back(ShapedType::isDynamic(dim) ? getRowCount(result)
                                                    : number(dim));
  if (type.getRank() > 1)
    info.rowStride =
        plan::paddedRowStride(type.getShape().back(), info.element);
  return info;
}

/// The buffer of a kernel's result.
std::string Converter::placeOf(k2::KernelOp kernel, OpResult result,
                               Value stream) {
  Operation *function = kernel->getParentOp();
  auto entry = dyn_cast<k2::EntryOp>(function);
  bool isModel = entry && entry.getSymName() == "model";
  for (OpOperand &use : result.getUses()) {
    bool returned = isa<k2::ReturnOp>(use.getOwner());
    if (returned && isModel)
      return "logits";
    bool becomesStream = returned || (isa<k2::LayersOp>(use.getOwner()) &&
                                      use.getOperandNumber() == 0);
    if (!becomesStream)
      continue;
    // The old stream must not be read by this kernel or a later op.
    bool free = !stream || llvm::none_of(stream.getUsers(), [&](Operation *u) {
      Operation *user = function->getRegion(0).findAncestorOpInRegion(*u);
      return user == kernel || kernel->isBeforeInBlock(user);
    });
    if (free)
      return kStream.str();
  }
  auto yield = cast<k2::YieldOp>(kernel.getBody().front().getTerminator());
  Value inner = yield.getOperand(result.getResultNumber());
  if (auto router = inner.getDefiningOp<k2::RouterOp>())
    return inner == router.getIds() ? "router_ids" : "router_weights";
  std::string name = (kernel.getName() + ".out").str();
  if (kernel.getNumResults() > 1)
    name += std::to_string(result.getResultNumber());
  return name;
}

FailureOr<plan::BindAttr> Converter::bind(k2::KernelOp kernel,
                                          plan::ArgAttr arg,
                                          ArrayRef<Value> inputs,
                                          Places &places, Value stream) {
  auto buffer = [&](StringRef name, ExprAttr index = {}) {
    return plan::BindAttr::get(context, plan::BindKind::Buffer, ref(name),
                               index);
  };
  auto outOfRange = [&](size_t count) {
    return kernel.emitOpError("expected an index below ")
           << count << " in its launch, but got " << arg;
  };
  switch (arg.getKind()) {
  case plan::ArgKind::Input: {
    if (arg.getIndex() >= int64_t(inputs.size()))
      return outOfRange(inputs.size());
    Value input = inputs[arg.getIndex()];
    std::string name = places.lookup(input);
    if (name.empty())
      return kernel.emitOpError("expected input ")
             << arg.getIndex() << " to have a buffer";
    return buffer(name);
  }
  case plan::ArgKind::Result: {
    if (arg.getIndex() >= int64_t(kernel.getNumResults()))
      return outOfRange(kernel.getNumResults());
    OpResult result = kernel->getResult(arg.getIndex());
    std::string name = placeOf(kernel, result, stream);
    if (failed(declare(kernel, name, fromValue(result))))
      return failure();
    places[result] = name;
    return buffer(name);
  }
  case plan::ArgKind::Param:
  case plan::ArgKind::Scale: {
    bool scale = arg.getKind() == plan::ArgKind::Scale;
    StringRef name = arg.getName();
    return plan::BindAttr::get(context, plan::BindKind::Param,
                               ref(scale ? scaleName(name) : name.str()),
                               ExprAttr());
  }
  case plan::ArgKind::Array: {
    StringRef name = arg.getName();
    if (worklists.contains(name))
      return buffer(name);
    std::optional<BufferInfo> info = reserved(name);
    if (!info)
      return kernel.emitOpError("expected the reserved name of an array, but "
                                "got ")
             << arg;
    if (failed(declare(kernel, name, *info)))
      return failure();
    return buffer(name, name == "latent_cache" ? symbol("layer") : ExprAttr());
  }
  case plan::ArgKind::Scalar:
    return plan::BindAttr::get(context, plan::BindKind::I32,
                               FlatSymbolRefAttr(), arg.getExtents().front());
  }
  llvm_unreachable("every kind of argument is bound");
}

LogicalResult Converter::convertKernel(k2::KernelOp kernel, Places &places,
                                       plan::LayersOp layers, Value stream) {
  SmallVector<Variant> variants = getVariants(kernel);
  auto launchVariant = [&](Variant variant) {
    return launch(kernel, getVariantName(kernel, variant), places, stream);
  };
  if (llvm::is_contained(variants, Variant::Expand) &&
      failed(launchVariant(Variant::Expand)))
    return failure();
  if (!llvm::is_contained(variants, Variant::Masked)) {
    if (failed(launchVariant(Variant::Plain)))
      return failure();
  } else {
    auto when = plan::WhenOp::create(
        builder, kernel.getLoc(),
        ExprAttr::get(context, ExprKind::Eq, symbol("masked"), number(1)));
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&when.getThenBody().emplaceBlock());
    if (failed(launchVariant(Variant::Masked)))
      return failure();
    builder.setInsertionPointToStart(&when.getElseBody().emplaceBlock());
    if (failed(launchVariant(Variant::Plain)))
      return failure();
  }
  Location loc = kernel.getLoc();
  for (OpResult result : kernel->getResults()) {
    auto place = places.find(result);
    if (!layers || place == places.end())
      continue;
    if (place->second == "router_ids")
      trace(loc, "router.ids", symbol("layer"), place->second);
    if (place->second == "router_weights")
      trace(loc, "router.weights", symbol("layer"), place->second);
  }
  return success();
}

LogicalResult Converter::launch(k2::KernelOp kernel, StringRef name,
                                Places &places, Value stream) {
  KernelInfo &info = kernels.find(name);
  SmallVector<Value> inputs = getKernelInputs(kernel);
  SmallVector<Attribute> bindings;
  bool readsExperts = false;
  for (auto [arg, type] : llvm::zip(info.args, info.tile.getArgumentTypes())) {
    auto view = dyn_cast<MemRefType>(type);
    FailureOr<plan::BindAttr> binding =
        bind(kernel, arg, inputs, places, stream);
    if (failed(binding))
      return failure();
    bindings.push_back(*binding);
    readsExperts |=
        arg.getKind() == plan::ArgKind::Array && arg.getName() == "slot_of";
    if (view)
      for (ExprAttr extent : arg.getExtents())
        bindings.push_back(plan::BindAttr::get(context, plan::BindKind::I32,
                                               FlatSymbolRefAttr(), extent));
  }
  Location loc = kernel.getLoc();
  Block *block = builder.getInsertionBlock();
  bool required = !block->getOps<plan::RequireOp>().empty();
  if (readsExperts && !required)
    plan::RequireOp::create(builder, loc, symbol("layer"), "router_ids");
  plan::LaunchOp::create(builder, loc, name, info.grid,
                         builder.getArrayAttr(bindings));
  return success();
}

void Converter::trace(Location loc, StringRef name, ExprAttr layer,
                      StringRef buffer) {
  plan::TraceOp::create(builder, loc, name, layer, buffer);
}

LogicalResult Converter::convertLayers(k2::LayersOp layers, Places &places) {
  auto block = model.lookupSymbol<k2::BlockOp>(layers.getBlock());
  Location loc = layers.getLoc();
  if (places.lookup(layers.getInput()) != kStream)
    plan::CopyOp::create(builder, loc, places.lookup(layers.getInput()),
                         kStream);
  auto loop = plan::LayersOp::create(builder, loc, layers.getBlock(),
                                     layers.getFrom(), layers.getTo());
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&loop.getBody().emplaceBlock());
  Places inner;
  Block::BlockArgListType arguments = block.getBody().front().getArguments();
  inner[arguments[0]] = kStream;
  inner[arguments[1]] = "rope_cos";
  inner[arguments[2]] = "rope_sin";
  if (failed(convertBody(block, inner, loop)))
    return failure();
  trace(loc, "x",
        ExprAttr::get(context, ExprKind::Add, symbol("layer"), number(1)),
        kStream);
  places[layers.getResult()] = kStream;
  return success();
}

LogicalResult Converter::convertBody(FunctionOpInterface function,
                                     Places &places, plan::LayersOp layers) {
  // The value that is in the stream's buffer at this point.
  Value stream;
  for (const auto &[value, name] : places)
    if (name == kStream)
      stream = value;
  for (Operation &op : function.getFunctionBody().front()) {
    if (auto kernel = dyn_cast<k2::KernelOp>(op)) {
      if (failed(convertKernel(kernel, places, layers, stream)))
        return failure();
      for (OpResult result : kernel->getResults())
        if (places.lookup(result) == kStream)
          stream = result;
    } else if (auto run = dyn_cast<k2::LayersOp>(op)) {
      bool first =
          builder.getInsertionBlock()->getOps<plan::LayersOp>().empty();
      if (first)
        trace(run.getLoc(), "x", number(run.getFrom()), kStream);
      if (failed(convertLayers(run, places)))
        return failure();
      stream = run.getResult();
    } else if (auto end = dyn_cast<k2::ReturnOp>(op)) {
      std::string name = places.lookup(end.getOperand(0));
      if (name.empty())
        return end.emitOpError("expected a result that has a buffer");
      if (name != kStream && name != "logits")
        plan::CopyOp::create(builder, end.getLoc(), name, kStream);
    } else {
      return op.emitOpError("expected only kernels, k2.layers and k2.return in "
                            "a block or entry");
    }
  }
  return success();
}

LogicalResult Converter::convertEntry(k2::EntryOp entry) {
  auto result =
      plan::EntryOp::create(builder, entry.getLoc(), entry.getSymName());
  if (!firstEntry) {
    firstEntry = result;
    dataBuilder.setInsertionPoint(result);
  }
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&result.getBody().emplaceBlock());
  // Work lists depend on nothing but the lengths of the step.
  for (auto list : dataBuilder.getInsertionBlock()->getOps<plan::WorklistOp>())
    plan::MakeWorklistOp::create(builder, entry.getLoc(), list.getSymName());
  Places places;
  Block::BlockArgListType arguments = entry.getBody().front().getArguments();
  bool isModel = entry.getSymName() == "model";
  if (isModel)
    modelEntry = result;
  places[arguments[0]] = isModel ? "token_ids" : kStream.str();
  places[arguments[1]] = "rope_cos";
  places[arguments[2]] = "rope_sin";
  return convertBody(entry, places, {});
}

/// `head` is what `model` does after its layers: the runtime can ask for logits
/// of any rows, in chunks, whichever entry made them.
void Converter::addHead() {
  if (!modelEntry)
    return;
  Block &body = modelEntry.getBody().front();
  auto layers = body.getOps<plan::LayersOp>();
  if (layers.empty())
    return;
  Operation *last = *std::prev(layers.end());
  auto head = plan::EntryOp::create(builder, modelEntry.getLoc(), "head");
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&head.getBody().emplaceBlock());
  for (Operation &command :
       llvm::make_range(std::next(last->getIterator()), body.end()))
    builder.clone(command);
}

LogicalResult Converter::run(ModuleOp module) {
  buildParams(model, builder);
  if (failed(kernels.build(model, module, builder)))
    return failure();
  for (StringRef name : {"token_ids", "positions", "rope_cos", "rope_sin",
                         "seq_start", "past_len", "block_table", "slot"})
    if (failed(declare(model, name, *reserved(name))))
      return failure();
  if (config.getNRoutedExperts() > 0 &&
      failed(declare(model, "slot_of", *reserved("slot_of"))))
    return failure();
  int64_t width = config.getHiddenSize();
  Type bf16 = builder.getBF16Type();
  if (failed(declare(model, "latent_cache", *reserved("latent_cache"))) ||
      failed(declare(model, kStream,
                     {bf16,
                      {symbol("T"), number(width)},
                      plan::paddedRowStride(width, bf16)})))
    return failure();
  WalkResult lists = model.walk([&](k2::KernelOp kernel) {
    for (Variant variant : getVariants(kernel))
      for (plan::WorklistAttr list :
           kernels.find(getVariantName(kernel, variant)).worklists)
        if (failed(declareWorklist(list, kernel)))
          return WalkResult::interrupt();
    return WalkResult::advance();
  });
  if (lists.wasInterrupted())
    return failure();
  for (auto entry : model.getBody().getOps<k2::EntryOp>())
    if (failed(convertEntry(entry)))
      return failure();
  addHead();
  return success();
}

namespace {
struct ConvertK2ToPlan : k2c::impl::ConvertK2ToPlanPassBase<ConvertK2ToPlan> {
  using ConvertK2ToPlanPassBase::ConvertK2ToPlanPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    for (auto model : llvm::make_early_inc_range(module.getOps<k2::ModelOp>()))
      if (failed(convert(module, model)))
        return signalPassFailure();
  }

  LogicalResult convert(ModuleOp module, k2::ModelOp model) {
    OpBuilder builder(model);
    DictionaryAttr options = builder.getDictionaryAttr(
        {builder.getNamedAttr("activations",
                              builder.getStringAttr(activations)),
         builder.getNamedAttr("numerics", builder.getStringAttr(numerics)),
         builder.getNamedAttr("batch_invariant",
                              builder.getBoolAttr(batchInvariant)),
         builder.getNamedAttr("schedule", builder.getStringAttr(schedule))});
    auto program = plan::ProgramOp::create(
        builder, model.getLoc(), model.getSymName(), target,
        buildModelFacts(model.getConfig(), configHash), options);
    builder.setInsertionPointToStart(&program.getBody().front());
    Converter converter(model, builder);
    if (failed(converter.run(module)))
      return failure();
    for (tile::KernelOp copy : converter.duplicates())
      copy.erase();
    model.erase();
    return success();
  }
};
} // namespace
