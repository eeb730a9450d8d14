//===- BlockBuilder.cpp - The ops of one block ----------------------------===//

#include "BlockBuilder.h"

using namespace mlir;
using namespace k2c;
using namespace k2c::k2;

Type k2c::parameterType(const ModelFacts &facts, const ParameterSpec &spec,
                        Storage storage, MLIRContext *context) {
  Builder builder(context);
  if (spec.role == ParameterSpec::Role::Vector)
    return RankedTensorType::get({spec.rows}, builder.getF32Type());
  SmallVector<int64_t> shape = {spec.rows, spec.columns};
  if (spec.per == ParameterSpec::Per::Expert)
    shape.insert(shape.begin(), facts.experts);
  if (storage == Storage::Fp8)
    return QuantizedType::get(context, shape, Float8E4M3FNType::get(context),
                              facts.quantization.block, builder.getF32Type());
  return RankedTensorType::get(shape, storage == Storage::F32
                                          ? Type(builder.getF32Type())
                                          : Type(builder.getBF16Type()));
}

const ParameterSpec &BlockBuilder::spec(const std::string &param) const {
  for (const ParameterSpec &candidate : specs)
    if (candidate.name == param)
      return candidate;
  llvm_unreachable("the builder asks for parameters of its own table only");
}

Location BlockBuilder::location(const std::string &name) {
  return NameLoc::get(builder.getStringAttr(name));
}

RankedTensorType BlockBuilder::rows(int64_t columns, Type element) {
  return RankedTensorType::get({ShapedType::kDynamic, columns},
                               element ? element : Type(builder.getBF16Type()));
}

Value BlockBuilder::weight(const std::string &param) {
  Type type = parameterType(facts, spec(param), storage.types.at(param),
                            builder.getContext());
  return WeightOp::create(builder, location(param), type, param);
}

Value BlockBuilder::norm(Value input, const std::string &param, double eps) {
  Type stored = storage.types.at(param) == Storage::BF16
                    ? Type(builder.getBF16Type())
                    : Type(builder.getF32Type());
  return RmsNormOp::create(builder, location(param), input.getType(), input,
                           weight(param), builder.getF64FloatAttr(eps),
                           TypeAttr::get(stored));
}

Value BlockBuilder::linear(Value input, const std::string &param,
                           Type resultElement) {
  return LinearOp::create(builder, location(param),
                          rows(spec(param).rows, resultElement), input,
                          weight(param));
}

Value BlockBuilder::slice(Value input, const std::string &name, int64_t offset,
                          int64_t size) {
  return SliceOp::create(builder, location(name), rows(size), input,
                         builder.getI64IntegerAttr(offset),
                         builder.getI64IntegerAttr(size));
}

Value BlockBuilder::rope(Value input, Block &block, const std::string &name,
                         int64_t heads, int64_t nope) {
  return RopeOp::create(
      builder, location(name), input.getType(), input, block.getArgument(1),
      block.getArgument(2), builder.getI64IntegerAttr(heads),
      builder.getI64IntegerAttr(nope), builder.getI64IntegerAttr(facts.qkRope));
}

Value BlockBuilder::add(Value lhs, Value rhs, const std::string &name) {
  return ResidualAddOp::create(builder, location(name), lhs.getType(), lhs,
                               rhs);
}

Value BlockBuilder::attention(Value input, Block &block,
                              const std::string &prefix) {
  Value query;
  if (facts.qLoraRank)
    query = linear(norm(linear(input, prefix + "q_a_proj"),
                        prefix + "q_a_layernorm", facts.latentNormEps),
                   prefix + "q_b_proj");
  else
    query = linear(input, prefix + "q_proj");
  query = rope(query, block, prefix + "q_rope", facts.heads, facts.qkNope);
  Value kv = linear(input, prefix + "kv_a_proj_with_mqa");
  Value latent = slice(kv, prefix + "kv_latent", 0, facts.kvLoraRank);
  latent = norm(latent, prefix + "kv_a_layernorm", facts.latentNormEps);
  Value keyRope = slice(kv, prefix + "k_rope", facts.kvLoraRank, facts.qkRope);
  keyRope = rope(keyRope, block, prefix + "k_rope", 1, 0);
  Value batch = block.getArgument(3), cache = block.getArgument(4);
  cache = AppendOp::create(builder, location(prefix + "append"),
                           cache.getType(), latent, keyRope, batch, cache);
  auto integer = [&](int64_t value) {
    return builder.getI64IntegerAttr(value);
  };
  Value attended = MlaAttentionOp::create(
      builder, location(prefix + "attention"), rows(facts.heads * facts.vHead),
      query, cache, batch, weight(prefix + "kv_b_proj"), integer(facts.heads),
      integer(facts.qkNope), integer(facts.qkRope), integer(facts.vHead),
      builder.getF64FloatAttr(facts.softmaxScale));
  return linear(attended, prefix + "o_proj");
}

Value BlockBuilder::mlp(Value input, const std::string &prefix) {
  Value gate = linear(input, prefix + "gate_proj"),
        up = linear(input, prefix + "up_proj");
  Value hidden = SwigluOp::create(builder, location(prefix + "swiglu"),
                                  gate.getType(), gate, up);
  return linear(hidden, prefix + "down_proj");
}

Value BlockBuilder::expertLinear(Value input, const std::string &param,
                                 Value routing, bool gather) {
  return ExpertLinearOp::create(builder, location(param),
                                rows(spec(param).rows), input, weight(param),
                                routing, gather);
}

Value BlockBuilder::experts(Value input) {
  Value logits = linear(input, "moe.gate", builder.getF32Type());
  Value bias =
      facts.selectionBias ? weight("moe.e_score_correction_bias") : Value();
  auto integer = [&](int64_t value) {
    return builder.getI64IntegerAttr(value);
  };
  int64_t k = facts.expertsPerToken;
  auto router = RouterOp::create(
      builder, location("moe.router"), rows(k, builder.getI32Type()),
      rows(k, builder.getF32Type()), logits, bias, integer(k),
      integer(facts.groups), integer(facts.keptGroups),
      ScoringAttr::get(builder.getContext(), facts.sigmoidScores
                                                 ? Scoring::Sigmoid
                                                 : Scoring::Softmax),
      builder.getBoolAttr(facts.normalizeWeights),
      builder.getF64FloatAttr(facts.routedScaling));
  Value routing = DispatchOp::create(
      builder, location("moe.dispatch"),
      RoutingType::get(builder.getContext(), facts.experts, k),
      router.getIds());
  Value gate = expertLinear(input, "moe.experts.gate_proj", routing, true),
        up = expertLinear(input, "moe.experts.up_proj", routing, true);
  Value hidden = SwigluOp::create(builder, location("moe.experts.swiglu"),
                                  gate.getType(), gate, up);
  Value down = expertLinear(hidden, "moe.experts.down_proj", routing, false);
  Value routed = CombineOp::create(builder, location("moe.combine"),
                                   rows(facts.hiddenSize), down,
                                   router.getWeights(), routing);
  if (!facts.sharedExperts)
    return routed;
  return add(routed, mlp(input, "moe.shared_experts."), "moe.shared_add");
}

void BlockBuilder::buildBody(Block &block, BlockKind kind) {
  std::string prefix = kind == BlockKind::Dense ? "dense." : "moe.";
  Value x = block.getArgument(0);
  Value attended = attention(
      norm(x, prefix + "input_layernorm", facts.rmsNormEps), block, prefix);
  Value middle = add(x, attended, prefix + "attention_residual");
  Value normed =
      norm(middle, prefix + "post_attention_layernorm", facts.rmsNormEps);
  Value fed = kind == BlockKind::Dense ? mlp(normed, prefix) : experts(normed);
  ReturnOp::create(builder, location(prefix + "block"),
                   add(middle, fed, prefix + "mlp_residual"));
}
