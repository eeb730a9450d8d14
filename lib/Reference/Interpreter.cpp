//===- Interpreter.cpp - Runs functions of k2 and check ops ---------------===//

#include "k2c/Reference/Interpreter.h"
#include "OperandAccess.h"
#include "dialects/Check/Check.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace k2c::k2;

namespace k2c::reference {

template <typename Real>
llvm::Expected<std::vector<Value<Real>>>
Interpreter<Real>::run(Region &region, std::vector<Value<Real>> arguments) {
  Frame frame;
  if (region.getNumArguments() != arguments.size())
    return llvm::createStringError(
        "expected " + std::to_string(region.getNumArguments()) +
        " arguments, but got " + std::to_string(arguments.size()));
  for (auto [argument, value] : llvm::zip(region.getArguments(), arguments))
    frame[argument] = std::move(value);
  std::vector<Value<Real>> results;
  if (llvm::Error error = runBlock(region.front(), frame, results))
    return error;
  return results;
}

template <typename Real>
llvm::Error Interpreter<Real>::runBlock(Block &block, Frame &frame,
                                        std::vector<Value<Real>> &yielded) {
  for (Operation &op : block) {
    if (op.hasTrait<OpTrait::IsTerminator>()) {
      for (mlir::Value operand : op.getOperands())
        yielded.push_back(frame[operand]);
      return llvm::Error::success();
    }
    if (llvm::Error error = checkShapes(&op, frame))
      return error;
    auto valueOf = [&](mlir::Value value) -> const Value<Real> & {
      return frame[value];
    };
    if (hooks.before)
      hooks.before(&op, layer, valueOf);
    if (llvm::Error error = runOp(&op, frame))
      return error;
    if (hooks.after)
      hooks.after(&op, layer, valueOf);
  }
  return llvm::Error::success();
}

/// Families are tried in turn; `runUpstreamOp` refuses what none of them knows.
template <typename Real>
llvm::Error Interpreter<Real>::runOp(Operation *op, Frame &frame) {
  if (isa<check::CheckDialect>(op->getDialect()))
    return runCheckOp(op, frame);
  if (!isa<K2Dialect>(op->getDialect()))
    return runUpstreamOp(op, frame);
  if (isa<AppendOp, MlaAttentionOp, AbsorbQueryOp, MlaAttentionAbsorbedOp,
          AbsorbOutputOp>(op))
    return runAttentionOp(op, frame);
  if (isa<RouterOp, DispatchOp, ExpertWorkOp, ExpertLinearOp, CombineOp>(op))
    return runExpertOp(op, frame);
  return runModelOp(op, frame);
}

template <typename Real>
llvm::Error Interpreter<Real>::runModelOp(Operation *op, Frame &frame) {
  Operands<Real> get(frame);
  if (auto norm = dyn_cast<RmsNormOp>(op)) {
    frame[norm.getResult()] =
        rmsNorm(get.tensor(norm.getInput()), get.tensor(norm.getWeight()),
                norm.getEps().convertToDouble(), round);
  } else if (auto add = dyn_cast<ResidualAddOp>(op)) {
    frame[add.getResult()] =
        residualAdd(get.tensor(add.getLhs()), get.tensor(add.getRhs()), round);
  } else if (auto turn = dyn_cast<RopeOp>(op)) {
    frame[turn.getResult()] =
        rope(get.tensor(turn.getInput()), get.tensor(turn.getCos()),
             get.tensor(turn.getSin()), turn.getHeads(), turn.getNope(),
             turn.getRope(), round);
  } else if (auto product = dyn_cast<LinearOp>(op)) {
    bool rounds = product.getResult().getType().getElementType().isBF16();
    frame[product.getResult()] =
        linear(get.tensor(product.getInput()), get.weight(product.getWeight()),
               rounds, round);
  } else if (auto columns = dyn_cast<SliceOp>(op)) {
    frame[columns.getResult()] = slice(get.tensor(columns.getInput()),
                                       columns.getOffset(), columns.getSize());
  } else if (auto gated = dyn_cast<SwigluOp>(op)) {
    frame[gated.getResult()] =
        swiglu(get.tensor(gated.getGate()), get.tensor(gated.getUp()), round);
  } else if (auto lookup = dyn_cast<EmbedOp>(op)) {
    frame[lookup.getResult()] = embedding
                                    ? *embedding
                                    : embed(get.integers(lookup.getIds()),
                                            get.tensor(lookup.getTable()));
  } else if (auto weight = dyn_cast<WeightOp>(op)) {
    auto param = SymbolTable::lookupNearestSymbolFrom<ParamOp>(
        op, weight.getParamAttr());
    if (!parameters)
      return llvm::createStringError("k2.weight @" + weight.getParam().str() +
                                     ": expected weights, but none were given");
    // The seed's x0 makes the table of embeddings unnecessary.
    bool unused =
        embedding && llvm::all_of(weight->getUsers(), llvm::IsaPred<EmbedOp>);
    llvm::Expected<Value<Real>> value =
        unused ? Value<Real>(TensorOf<Real>()) : parameters->load(param, layer);
    if (!value)
      return value.takeError();
    frame[weight.getResult()] = std::move(*value);
  } else if (auto layers = dyn_cast<LayersOp>(op)) {
    return runLayers(layers, frame);
  } else if (auto kernel = dyn_cast<KernelOp>(op)) {
    std::vector<Value<Real>> yielded;
    if (llvm::Error error = runBlock(kernel.getBody().front(), frame, yielded))
      return error;
    for (auto [result, value] : llvm::zip(kernel.getResults(), yielded))
      frame[result] = std::move(value);
  } else {
    return llvm::createStringError("expected an op that computes, but got " +
                                   op->getName().getStringRef().str());
  }
  return llvm::Error::success();
}

template <typename Real>
llvm::Error Interpreter<Real>::runLayers(LayersOp op, Frame &frame) {
  Operands<Real> get(frame);
  auto block =
      SymbolTable::lookupNearestSymbolFrom<BlockOp>(op, op.getBlockAttr());
  TensorOf<Real> x = get.tensor(op.getInput());
  if (hooks.residual && op.getFrom() == 0)
    hooks.residual(0, x);
  for (int64_t l = op.getFrom(); l < static_cast<int64_t>(op.getTo()); ++l) {
    if (l >= static_cast<int64_t>(caches.size()))
      return llvm::createStringError("k2.layers: expected a cache for layer " +
                                     std::to_string(l) + ", but got " +
                                     std::to_string(caches.size()) + " caches");
    layer = l;
    auto results = run(block.getBody(),
                       {std::move(x), frame[op.getCos()], frame[op.getSin()],
                        frame[op.getBatch()], caches[l]});
    if (!results)
      return results.takeError();
    x = std::get<TensorOf<Real>>(std::move(results->front()));
    if (hooks.residual)
      hooks.residual(l + 1, x);
  }
  frame[op.getResult()] = std::move(x);
  return llvm::Error::success();
}

template <typename Real>
llvm::Error Interpreter<Real>::runAttentionOp(Operation *op, Frame &frame) {
  Operands<Real> get(frame);
  auto signedSize = [](uint64_t size) { return static_cast<int64_t>(size); };
  if (auto write = dyn_cast<AppendOp>(op)) {
    append(get.tensor(write.getLatent()), get.tensor(write.getKeyRope()),
           get.batch(write.getBatch()), get.cache(write.getCache()));
    frame[write.getResult()] = Value<Real>(frame[write.getCache()]);
  } else if (auto expanded = dyn_cast<MlaAttentionOp>(op)) {
    HeadSizes sizes{
        signedSize(expanded.getHeads()), signedSize(expanded.getNope()),
        signedSize(expanded.getRope()), signedSize(expanded.getValue())};
    frame[expanded.getResult()] = mlaAttention(
        get.tensor(expanded.getQuery()), get.cache(expanded.getCache()),
        get.batch(expanded.getBatch()), get.weight(expanded.getKvB()), sizes,
        expanded.getScale().convertToDouble(), round);
  } else if (auto query = dyn_cast<AbsorbQueryOp>(op)) {
    HeadSizes sizes{signedSize(query.getHeads()), signedSize(query.getNope()),
                    signedSize(query.getRope()), signedSize(query.getValue())};
    frame[query.getResult()] = absorbQuery(
        get.tensor(query.getQuery()), get.weight(query.getKvB()), sizes, round);
  } else if (auto absorbed = dyn_cast<MlaAttentionAbsorbedOp>(op)) {
    HeadSizes sizes{signedSize(absorbed.getHeads()),
                    signedSize(absorbed.getNope()),
                    signedSize(absorbed.getRope()), 0};
    frame[absorbed.getResult()] = mlaAttentionAbsorbed(
        get.tensor(absorbed.getQueryLatent()), get.tensor(absorbed.getQuery()),
        get.cache(absorbed.getCache()), get.batch(absorbed.getBatch()), sizes,
        absorbed.getScale().convertToDouble(), round);
  } else {
    auto output = cast<AbsorbOutputOp>(op);
    HeadSizes sizes{signedSize(output.getHeads()), signedSize(output.getNope()),
                    0, signedSize(output.getValue())};
    frame[output.getResult()] =
        absorbOutput(get.tensor(output.getOutputLatent()),
                     get.weight(output.getKvB()), sizes, round);
  }
  return llvm::Error::success();
}

template <typename Real>
llvm::Error Interpreter<Real>::runExpertOp(Operation *op, Frame &frame) {
  Operands<Real> get(frame);
  if (auto choose = dyn_cast<RouterOp>(op)) {
    RouterOptions options;
    options.topK = choose.getTopK();
    options.groups = choose.getNGroup();
    options.keptGroups = choose.getTopkGroup();
    options.sigmoid = choose.getScoring() == Scoring::Sigmoid;
    options.normalize = choose.getNormalize();
    options.scaling = choose.getScaling().convertToDouble();
    Routed<Real> routed = router(
        get.tensor(choose.getLogits()),
        choose.getBias() ? &get.tensor(choose.getBias()) : nullptr, options);
    if (hooks.routed)
      hooks.routed(layer, routed.ids, routed.weights);
    frame[choose.getIds()] = std::move(routed.ids);
    frame[choose.getWeights()] = std::move(routed.weights);
  } else if (auto sort = dyn_cast<DispatchOp>(op)) {
    frame[sort.getRouting()] = dispatch(
        get.integers(sort.getIds()), sort.getRouting().getType().getExperts());
  } else if (auto work = dyn_cast<ExpertWorkOp>(op)) {
    frame[work.getResult()] = Value<Real>(frame[work.getRouting()]);
  } else if (auto product = dyn_cast<ExpertLinearOp>(op)) {
    frame[product.getResult()] = expertLinear(
        get.tensor(product.getInput()), get.weight(product.getWeight()),
        get.routing(product.getRouting()), product.getGather(), round);
  } else {
    auto sum = cast<CombineOp>(op);
    frame[sum.getResult()] =
        combine(get.tensor(sum.getRows()), get.tensor(sum.getWeights()),
                get.routing(sum.getRouting()), round);
  }
  return llvm::Error::success();
}

/// What a test needs around the ops of the model: constants and casts between
/// static and dynamic shapes.
template <typename Real>
llvm::Error Interpreter<Real>::runUpstreamOp(Operation *op, Frame &frame) {
  if (auto cast = dyn_cast<tensor::CastOp>(op)) {
    frame[cast.getResult()] = Value<Real>(frame[cast.getSource()]);
    return llvm::Error::success();
  }
  auto constant = dyn_cast<arith::ConstantOp>(op);
  auto elements = constant ? dyn_cast<DenseElementsAttr>(constant.getValue())
                           : DenseElementsAttr();
  if (!elements)
    return llvm::createStringError("expected ops of k2 and check, tensor "
                                   "constants and tensor.cast, but got " +
                                   op->getName().getStringRef().str());
  std::vector<int64_t> shape(elements.getType().getShape());
  if (isa<IntegerType>(elements.getElementType())) {
    Integers values(shape);
    for (auto [to, from] : llvm::zip(values.data, elements.getValues<APInt>()))
      to = from.getSExtValue();
    frame[constant.getResult()] = std::move(values);
    return llvm::Error::success();
  }
  TensorOf<Real> values(shape);
  for (auto [to, from] : llvm::zip(values.data, elements.getValues<APFloat>()))
    to = static_cast<Real>(from.convertToDouble());
  frame[constant.getResult()] = std::move(values);
  return llvm::Error::success();
}

template class Interpreter<float>;
template class Interpreter<double>;

} // namespace k2c::reference
