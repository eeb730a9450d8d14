//===- FuseParallelLinears.cpp - One weight for linears of one input ------===//
#include "dialects/K2/K2.h"
#include "k2c/Transforms/K2/Passes.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;

namespace k2c {
#define GEN_PASS_DEF_FUSEPARALLELLINEARSPASS
#include "k2c/Transforms/K2/Passes.h.inc"
} // namespace k2c

using namespace k2c;
using namespace k2c::k2;

namespace {

/// A part but the last is padded to this many rows: the rows of a scale block.
constexpr int64_t kPartRows = 128;

constexpr remark::RemarkOpts kRemark =
    remark::RemarkOpts::name("ParallelLinears")
        .category("k2-fuse-parallel-linears");

struct Candidate {
  LinearOp linear;
  WeightOp weight;
  ParamOp param;
};

/// Whether a use of a linear's result can read a column range of a wider row.
bool readsRows(Operation *user) {
  if (auto rope = dyn_cast<RopeOp>(user))
    return rope.getHeads() == 1 && rope.getNope() == 0;
  return isa<RmsNormOp, SliceOp, AppendOp>(user);
}

/// The storage of one weight; weights fuse if it is equal.
Type storageType(Type type) {
  if (auto quantized = dyn_cast<QuantizedType>(type)) {
    SmallVector<int64_t> noShape(quantized.getShape().size(), 1);
    return QuantizedType::get(type.getContext(), noShape,
                              quantized.getElementType(), quantized.getBlock(),
                              quantized.getScaleType());
  }
  return cast<RankedTensorType>(type).getElementType();
}

Type withRows(Type type, int64_t rows) {
  SmallVector<int64_t> shape(getWeightShape(type));
  shape[shape.size() - 2] = rows;
  if (auto quantized = dyn_cast<QuantizedType>(type))
    return QuantizedType::get(type.getContext(), shape,
                              quantized.getElementType(), quantized.getBlock(),
                              quantized.getScaleType());
  return cast<RankedTensorType>(type).clone(shape);
}

bool canJoin(Candidate &a, Candidate &b) {
  return storageType(a.weight.getType()) == storageType(b.weight.getType()) &&
         a.param.getPer() == b.param.getPer() &&
         a.param.getLayersAttr() == b.param.getLayersAttr() &&
         cast<RankedTensorType>(a.linear.getType()).getElementType() ==
             cast<RankedTensorType>(b.linear.getType()).getElementType();
}

/// `dense.q_a_proj` and `dense.kv_a_proj_with_mqa` give `dense.qkv_a_proj`,
/// other names are strung together.
std::string fusedName(MutableArrayRef<Candidate> group) {
  StringRef first = group.front().param.getSymName();
  auto [block, stem] = first.rsplit('.');
  std::string prefix = stem.empty() ? "" : (block + ".").str();
  auto local = [&](Candidate &c) {
    StringRef name = c.param.getSymName();
    name.consume_front(prefix);
    return name;
  };
  if (group.size() == 2 && local(group[0]) == "q_a_proj" &&
      local(group[1]) == "kv_a_proj_with_mqa")
    return prefix + "qkv_a_proj";
  return prefix + llvm::join(llvm::map_range(group, local), "_");
}

/// Replaces a linear's result by columns of the fused one; slices of it become
/// slices of the fused result.
void replaceByColumns(OpBuilder &builder, LinearOp linear, Value fused,
                      int64_t offset) {
  for (Operation *user :
       llvm::make_early_inc_range(linear.getResult().getUsers())) {
    auto slice = dyn_cast<SliceOp>(user);
    if (!slice)
      continue;
    builder.setInsertionPoint(slice);
    auto composed =
        SliceOp::create(builder, slice.getLoc(), slice.getType(), fused,
                        offset + slice.getOffset(), slice.getSize());
    slice.replaceAllUsesWith(composed.getResult());
    slice.erase();
  }
  if (linear.getResult().use_empty())
    return;
  builder.setInsertionPointAfterValue(fused);
  auto type = cast<RankedTensorType>(linear.getType());
  auto columns = SliceOp::create(builder, linear.getLoc(), type, fused, offset,
                                 type.getDimSize(1));
  linear.replaceAllUsesWith(columns.getResult());
}

void fuse(OpBuilder &builder, MutableArrayRef<Candidate> group) {
  Candidate &first = group.front();
  SmallVector<Attribute> parts;
  SmallVector<Location> locs;
  SmallVector<int64_t> starts;
  int64_t rows = 0;
  for (Candidate &c : group) {
    rows = llvm::alignTo(rows, kPartRows);
    starts.push_back(rows);
    for (auto part : c.param.getParts().getAsRange<PartAttr>())
      parts.push_back(PartAttr::get(builder.getContext(), part.getTensor(),
                                    part.getRows(), rows + part.getAt()));
    rows += getWeightShape(c.weight.getType())[0];
    locs.push_back(c.linear.getLoc());
  }
  Type weightType = withRows(first.weight.getType(), rows);

  std::string name = fusedName(group);
  builder.setInsertionPoint(first.param);
  ParamOp::create(builder, first.param.getLoc(), name, first.param.getPer(),
                  first.param.getLayersAttr(), weightType,
                  builder.getArrayAttr(parts));

  // All operands of the first linear dominate it, and the input is shared.
  builder.setInsertionPoint(first.linear);
  Location loc = builder.getFusedLoc(locs);
  auto weight =
      WeightOp::create(builder, loc, weightType,
                       FlatSymbolRefAttr::get(builder.getContext(), name));
  auto resultType = cast<RankedTensorType>(first.linear.getType());
  auto fused = LinearOp::create(
      builder, loc,
      resultType.clone(ArrayRef<int64_t>{resultType.getDimSize(0), rows}),
      first.linear.getInput(), weight);
  remark::passed(loc, kRemark)
      << remark::add("{0} linears of one input share the weight {1} of {2} "
                     "rows: one launch, and the input is read once",
                     group.size(), name, rows);
  for (auto [c, start] : llvm::zip_equal(group, starts))
    replaceByColumns(builder, c.linear, fused.getResult(), start);
  for (Candidate &c : group) {
    c.linear->erase();
    if (c.weight->use_empty())
      c.weight->erase();
  }
}

struct FuseParallelLinears
    : k2c::impl::FuseParallelLinearsPassBase<FuseParallelLinears> {
  void runOnOperation() override {
    ModelOp model = getOperation();
    SymbolTable symbols(model);
    for (Operation &function : model.getBody().front())
      if (isa<BlockOp, EntryOp>(function))
        runOnBlock(function.getRegion(0).front(), symbols);

    // Parameters of joined weights have no reader left.
    for (auto param :
         llvm::make_early_inc_range(model.getBody().getOps<ParamOp>()))
      if (fusedParams.contains(param.getSymNameAttr()) &&
          SymbolTable::symbolKnownUseEmpty(param.getSymNameAttr(),
                                           &model.getBody()))
        param.erase();
  }

  void runOnBlock(Block &block, SymbolTable &symbols) {
    llvm::MapVector<Value, SmallVector<Candidate>> byInput;
    for (auto linear : block.getOps<LinearOp>()) {
      auto weight = linear.getWeight().getDefiningOp<WeightOp>();
      if (!weight || !llvm::all_of(linear.getResult().getUsers(), readsRows))
        continue;
      if (auto param = symbols.lookup<ParamOp>(weight.getParam()))
        byInput[linear.getInput()].push_back({linear, weight, param});
    }
    OpBuilder builder(&getContext());
    for (auto &[input, candidates] : byInput) {
      SmallVector<Candidate> group;
      for (Candidate &c : candidates)
        if (group.empty() || canJoin(group.front(), c))
          group.push_back(c);
        else
          remark::missed(c.linear.getLoc(), kRemark) << remark::reason(
              "{0} and {1} have one input, but not one "
              "storage type, layer range and result type",
              group.front().param.getSymName(), c.param.getSymName());
      if (group.size() < 2)
        continue;
      for (Candidate &c : group)
        fusedParams.insert(c.param.getSymNameAttr());
      fuse(builder, group);
    }
  }

  DenseSet<StringAttr> fusedParams;
};

} // namespace
