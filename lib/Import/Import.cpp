//===- Import.cpp - config.json to a k2.model -----------------------------===//

#include "k2c/Import/Import.h"
#include "BlockBuilder.h"

using namespace mlir;
using namespace k2c;
using namespace k2c::k2;

static ConfigAttr makeConfig(const ModelFacts &facts, MLIRContext *context) {
  Builder b(context);
  return ConfigAttr::get(
      context, facts.modelType, facts.hiddenSize, facts.layers, facts.heads,
      facts.qLoraRank, facts.kvLoraRank, facts.qkNope, facts.qkRope,
      facts.vHead, facts.intermediateSize, facts.moeIntermediateSize,
      facts.experts, facts.expertsPerToken, facts.sharedExperts, facts.groups,
      facts.keptGroups,
      facts.sigmoidScores ? Scoring::Sigmoid : Scoring::Softmax,
      b.getBoolAttr(facts.selectionBias), b.getBoolAttr(facts.normalizeWeights),
      b.getF64FloatAttr(facts.routedScaling), facts.firstKDenseReplace,
      facts.moeLayerFreq, facts.vocabSize, facts.maxPositions,
      b.getF64FloatAttr(facts.rmsNormEps),
      b.getF64FloatAttr(facts.latentNormEps),
      b.getF64FloatAttr(facts.softmaxScale), b.getF64FloatAttr(facts.ropeTheta),
      b.getF64FloatAttr(facts.ropeMultiplier),
      b.getDenseF32ArrayAttr(facts.invFreq));
}

namespace {

/// Fills one k2.model.
class ModelBuilder {
public:
  ModelBuilder(const ModelFacts &facts, const StorageTypes &storage,
               const std::vector<ParameterSpec> &specs, MLIRContext *context)
      : facts(facts), storage(storage), specs(specs), builder(context),
        ops(builder, facts, storage, specs) {
    for (BlockKind kind : {BlockKind::Dense, BlockKind::MoE})
      if (auto [from, to] = layerRange(facts, kind); from < to)
        kinds.push_back(kind);
    llvm::sort(kinds, [&](BlockKind a, BlockKind b) {
      return layerRange(facts, a) < layerRange(facts, b);
    });
  }

  OwningOpRef<ModuleOp> build() {
    Location location = ops.location("config.json");
    OwningOpRef<ModuleOp> module = ModuleOp::create(location);
    builder.setInsertionPointToStart(module->getBody());
    auto model = ModelOp::create(builder, location, facts.modelType,
                                 makeConfig(facts, builder.getContext()));
    builder.setInsertionPointToStart(&model.getBody().front());
    for (const ParameterSpec &spec : specs)
      buildParam(spec);
    for (BlockKind kind : kinds)
      buildBlock(kind);
    buildEntry("stack", activations());
    buildEntry("model", RankedTensorType::get({ShapedType::kDynamic},
                                              builder.getI32Type()));
    return module;
  }

private:
  RankedTensorType activations() {
    return RankedTensorType::get({ShapedType::kDynamic, facts.hiddenSize},
                                 builder.getBF16Type());
  }
  RankedTensorType ropeTable() {
    return RankedTensorType::get({ShapedType::kDynamic, facts.qkRope / 2},
                                 builder.getF32Type());
  }
  static const char *blockName(BlockKind kind) {
    return kind == BlockKind::Dense ? "dense" : "moe";
  }

  void buildParam(const ParameterSpec &spec) {
    Type type = parameterType(facts, spec, storage.types.at(spec.name),
                              builder.getContext());
    Per per = spec.per == ParameterSpec::Per::Model   ? Per::Model
              : spec.per == ParameterSpec::Per::Layer ? Per::Layer
                                                      : Per::Expert;
    DenseI64ArrayAttr layers;
    if (per != Per::Model) {
      auto [from, to] = layerRange(facts, spec.kind);
      layers = builder.getDenseI64ArrayAttr({from, to});
    }
    Attribute part =
        PartAttr::get(builder.getContext(), spec.tensor, spec.rows, 0);
    ParamOp::create(builder, ops.location(spec.name), spec.name, per, layers,
                    type, builder.getArrayAttr(part));
  }

  void buildBlock(BlockKind kind) {
    OpBuilder::InsertionGuard guard(builder);
    MLIRContext *context = builder.getContext();
    FunctionType type = builder.getFunctionType(
        {activations(), ropeTable(), ropeTable(), BatchType::get(context),
         CacheType::get(context, facts.kvLoraRank, facts.qkRope)},
        {activations()});
    auto block = BlockOp::create(builder, ops.location(blockName(kind)),
                                 blockName(kind), type);
    builder.setInsertionPointToStart(&block.getBody().front());
    ops.buildBody(block.getBody().front(), kind);
  }

  /// @stack takes x0 and ends with the residual stream, @model takes ids and
  /// ends with logits.
  void buildEntry(const char *name, RankedTensorType input) {
    OpBuilder::InsertionGuard guard(builder);
    bool fromIds = input.getElementType().isInteger(32);
    Type result =
        fromIds ? RankedTensorType::get({ShapedType::kDynamic, facts.vocabSize},
                                        builder.getF32Type())
                : activations();
    FunctionType type = builder.getFunctionType(
        {input, ropeTable(), ropeTable(), BatchType::get(builder.getContext())},
        {result});
    auto entry = EntryOp::create(builder, ops.location(name), name, type);
    Block &body = entry.getBody().front();
    builder.setInsertionPointToStart(&body);
    Value x = body.getArgument(0);
    if (fromIds)
      x = EmbedOp::create(builder, ops.location("embed_tokens"), activations(),
                          x, ops.weight("embed_tokens"));
    for (BlockKind kind : kinds) {
      auto [from, to] = layerRange(facts, kind);
      x = LayersOp::create(builder, ops.location(blockName(kind)),
                           activations(), blockName(kind), from, to, x,
                           body.getArgument(1), body.getArgument(2),
                           body.getArgument(3));
    }
    if (fromIds)
      x = ops.linear(ops.norm(x, "norm", facts.rmsNormEps), "lm_head",
                     builder.getF32Type());
    ReturnOp::create(builder, ops.location(name), x);
  }

  const ModelFacts &facts;
  const StorageTypes &storage;
  const std::vector<ParameterSpec> &specs;
  OpBuilder builder;
  BlockBuilder ops;
  std::vector<BlockKind> kinds;
};

} // namespace

llvm::Expected<OwningOpRef<ModuleOp>> k2c::importModel(const ModelFacts &facts,
                                                       MLIRContext &context) {
  if (!facts.compileProblem.empty())
    return llvm::createStringError(facts.configPath + ": " +
                                   facts.compileProblem);
  std::vector<ParameterSpec> specs = endParameters(facts);
  for (BlockKind kind : {BlockKind::Dense, BlockKind::MoE}) {
    if ((kind == BlockKind::MoE ? facts.moeLayers() : facts.denseLayers()) == 0)
      continue;
    std::vector<ParameterSpec> more = blockParameters(facts, kind);
    specs.insert(specs.end(), more.begin(), more.end());
  }
  llvm::Expected<StorageTypes> storage = resolveStorage(facts, specs);
  if (!storage)
    return storage.takeError();
  context.loadDialect<K2Dialect>();
  return ModelBuilder(facts, *storage, specs, &context).build();
}

llvm::Expected<OwningOpRef<ModuleOp>>
k2c::importModel(llvm::StringRef model, MLIRContext &context,
                 std::vector<std::string> *notes) {
  llvm::Expected<ModelFacts> facts = readModelFacts(model);
  if (!facts)
    return facts.takeError();
  if (notes)
    *notes = facts->notes;
  return importModel(*facts, context);
}
