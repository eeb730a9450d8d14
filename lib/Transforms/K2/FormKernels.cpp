//===- FormKernels.cpp - Which ops share a GPU kernel ---------------------===//
#include "dialects/K2/K2.h"
#include "k2c/Analysis/KernelRoot.h"
#include "k2c/Transforms/K2/Passes.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace k2c {
#define GEN_PASS_DEF_FORMKERNELSPASS
#include "k2c/Transforms/K2/Passes.h.inc"
} // namespace k2c

using namespace k2c;
using namespace k2c::k2;

namespace {

/// The op that alone uses `value`, or null.
Operation *soleUser(Value value) {
  Operation *user = nullptr;
  for (Operation *other : value.getUsers()) {
    if (user && user != other)
      return nullptr;
    user = other;
  }
  return user;
}

/// The op of type `Op` that makes `value` for `user` alone, or null.
template <typename Op> Op soleProducer(Value value, Operation *user) {
  auto producer = value.getDefiningOp<Op>();
  return producer && soleUser(value) == user ? producer : Op();
}

constexpr remark::RemarkOpts kRemark =
    remark::RemarkOpts::name("Kernel").category("k2-form-kernels");

/// Groups the ops of one block. An op that is in no pair is its own group.
class Grouping {
public:
  explicit Grouping(Block &block) {
    for (auto [index, op] : llvm::enumerate(block)) {
      position[&op] = index;
      if (isa<K2CostInterface>(op) && !isa<SliceOp>(op))
        ops.push_back(&op);
    }
    for (Operation *op : ops)
      classes.insert(op);
    for (Operation *op : ops) {
      pairSwiglu(op);
      pairAppend(op);
      pairCombine(op);
    }
    for (Operation *op : ops)
      pairResidual(op);
  }

  /// The groups, each in program order, ordered by their last op.
  SmallVector<SmallVector<Operation *>> take() {
    llvm::MapVector<Operation *, SmallVector<Operation *>> groups;
    for (Operation *op : ops)
      groups[classes.getLeaderValue(op)].push_back(op);
    SmallVector<SmallVector<Operation *>> result;
    for (auto &[leader, members] : groups)
      result.push_back(members);
    llvm::sort(result, [&](const auto &a, const auto &b) {
      return position[a.back()] < position[b.back()];
    });
    return result;
  }

private:
  /// Joins two groups unless a user outside of them stands before their last
  /// op, where the kernel will be.
  void join(Operation *a, Operation *b) {
    SmallVector<Operation *> members;
    for (Operation *op : ops)
      if (classes.isEquivalent(op, a) || classes.isEquivalent(op, b))
        members.push_back(op);
    int64_t last = position[members.back()];
    for (Operation *member : members)
      for (Operation *user : member->getUsers())
        if (!llvm::is_contained(members, user) && position[user] < last) {
          remark::missed(b->getLoc(), kRemark) << remark::reason(
              "{0} and {1} do not share a kernel: {2} reads a result "
              "before the last of them",
              a->getName().getStringRef(), b->getName().getStringRef(),
              user->getName().getStringRef());
          return;
        }
    classes.unionSets(a, b);
  }

  template <typename Linear> bool pairGateUp(SwigluOp op) {
    auto gate = soleProducer<Linear>(op.getGate(), op);
    auto up = soleProducer<Linear>(op.getUp(), op);
    if (!gate || !up || gate->getOperand(0) != up->getOperand(0))
      return false;
    join(gate, up);
    join(up, op);
    return true;
  }

  void pairSwiglu(Operation *op) {
    if (auto swiglu = dyn_cast<SwigluOp>(op))
      if (!pairGateUp<LinearOp>(swiglu))
        pairGateUp<ExpertLinearOp>(swiglu);
  }

  void pairAppend(Operation *op) {
    auto append = dyn_cast<AppendOp>(op);
    if (!append)
      return;
    if (auto norm = soleProducer<RmsNormOp>(append.getLatent(), append))
      join(norm, append);
    if (auto rope = soleProducer<RopeOp>(append.getKeyRope(), append))
      if (rope.getHeads() == 1 && rope.getNope() == 0)
        join(rope, append);
  }

  void pairCombine(Operation *op) {
    auto combine = dyn_cast<CombineOp>(op);
    Value value = combine ? combine.getResult() : Value();
    while (value) {
      auto add = dyn_cast_if_present<ResidualAddOp>(soleUser(value));
      if (!add)
        return;
      join(combine, add);
      grouped.insert(add);
      value = add.getResult();
    }
  }

  void pairResidual(Operation *op) {
    auto add = dyn_cast<ResidualAddOp>(op);
    if (!add || grouped.contains(add))
      return;
    for (Operation *user : add->getUsers())
      if (auto norm = dyn_cast<RmsNormOp>(user))
        return join(add, norm);
    for (Value operand : {add.getRhs(), add.getLhs()})
      if (auto linear = soleProducer<LinearOp>(operand, add))
        return join(linear, add);
  }

  SmallVector<Operation *> ops;
  DenseMap<Operation *, int64_t> position;
  llvm::EquivalenceClasses<Operation *> classes;
  DenseSet<Operation *> grouped;
};

/// What the kernel is called within its block: after the weight of its root.
std::string stemOf(KernelOp kernel) {
  Operation *root = getKernelRoot(kernel);
  auto weightName = [](Operation *op) -> StringRef {
    for (Value operand : op->getOperands())
      if (auto weight = operand.getDefiningOp<WeightOp>())
        return weight.getParam();
    return op->getName().stripDialect();
  };
  if (isa<AbsorbQueryOp, AbsorbOutputOp, RouterOp, DispatchOp, ExpertWorkOp,
          CombineOp, EmbedOp>(root))
    return root->getName().stripDialect().str();
  if (isa<MlaAttentionAbsorbedOp, MlaAttentionOp>(root))
    return "attention";
  if (isa<AppendOp>(root))
    return "kv_append";
  if (isa<RopeOp>(root))
    return "q_rope";
  StringRef name = weightName(root);
  if (auto function = kernel->getParentOfType<FunctionOpInterface>())
    name.consume_front((function.getName() + ".").str());
  if (isa<LinearOp>(root) && name == "gate")
    return "router_logits";
  std::string stem = name.str();
  llvm::replace(stem, '.', '_');
  StringRef shortened = stem;
  if (isa<LinearOp, ExpertLinearOp>(root) && shortened.consume_back("_proj") &&
      shortened.size() > 1)
    stem = shortened.str();
  if (getParallelRoots(root).size() == 2 && StringRef(stem).ends_with("gate"))
    stem += "_up";
  return stem;
}

class KernelBuilder {
public:
  explicit KernelBuilder(MLIRContext *context) : builder(context) {}

  void build(ArrayRef<Operation *> members, StringRef prefix) {
    SmallVector<Value> leaving;
    SmallVector<Location> locs;
    for (Operation *member : members) {
      locs.push_back(member->getLoc());
      for (Value result : member->getResults())
        if (llvm::any_of(result.getUsers(), [&](Operation *user) {
              return !llvm::is_contained(members, user);
            }))
          leaving.push_back(result);
    }
    builder.setInsertionPoint(members.back());
    auto kernel = KernelOp::create(builder, builder.getFusedLoc(locs),
                                   TypeRange(ValueRange(leaving)),
                                   StringRef("_"), KernelConfigAttr());
    Block &body = kernel.getBody().emplaceBlock();
    for (auto [old, result] : llvm::zip_equal(leaving, kernel.getResults()))
      old.replaceUsesWithIf(result, [&](OpOperand &use) {
        return !llvm::is_contained(members, use.getOwner());
      });
    for (Operation *member : members)
      member->moveBefore(&body, body.end());
    builder.setInsertionPointToEnd(&body);
    YieldOp::create(builder, kernel.getLoc(), leaving);
    copyReads(body);
    kernel.setName(uniqueName((prefix + stemOf(kernel)).str()));
    if (members.size() > 1)
      remark::passed(kernel.getLoc(), kRemark) << remark::add(
          "{0} computes {1}", kernel.getName(),
          llvm::join(llvm::map_range(members,
                                     [](Operation *op) {
                                       return op->getName().getStringRef();
                                     }),
                     ", "));
  }

private:
  /// Copies the weights and slices that ops of the kernel read into it.
  void copyReads(Block &body) {
    IRMapping copies;
    SmallVector<Operation *> members;
    for (Operation &op : body)
      members.push_back(&op);
    for (Operation *op : members)
      for (OpOperand &operand : op->getOpOperands())
        operand.set(copyInto(body, operand.get(), copies));
  }

  Value copyInto(Block &body, Value value, IRMapping &copies) {
    Operation *def = value.getDefiningOp();
    if (!isa_and_present<WeightOp, SliceOp>(def) || def->getBlock() == &body)
      return value;
    if (Value known = copies.lookupOrNull(value))
      return known;
    for (Value operand : def->getOperands())
      copies.map(operand, copyInto(body, operand, copies));
    // Sources first: what a slice reads stands before it.
    builder.setInsertionPoint(&body, firstOp(body));
    Operation *copy = builder.clone(*def, copies);
    copies.map(value, copy->getResult(0));
    return copy->getResult(0);
  }

  /// After the copies that are there already.
  static Block::iterator firstOp(Block &body) {
    auto it = body.begin();
    while (isa<WeightOp, SliceOp>(*it))
      ++it;
    return it;
  }

  std::string uniqueName(const std::string &name) {
    std::string candidate = name;
    for (int i = 2; !names.insert(candidate).second; ++i)
      candidate = name + "_" + std::to_string(i);
    return candidate;
  }

  OpBuilder builder;
  llvm::StringSet<> names;
};

/// Puts a work list behind every dispatch, for the grouped kernels that run
/// over it.
void addWorkLists(OpBuilder &builder, Block &block) {
  for (auto dispatch : llvm::make_early_inc_range(block.getOps<DispatchOp>())) {
    builder.setInsertionPointAfter(dispatch);
    auto work =
        ExpertWorkOp::create(builder, dispatch.getLoc(), dispatch.getRouting());
    dispatch.getRouting().replaceAllUsesExcept(work.getResult(), work);
  }
}

struct FormKernels : k2c::impl::FormKernelsPassBase<FormKernels> {
  void runOnOperation() override {
    KernelBuilder kernels(&getContext());
    OpBuilder builder(&getContext());
    for (Operation &function : getOperation().getBody().front()) {
      if (!isa<BlockOp, EntryOp>(function))
        continue;
      Block &block = function.getRegion(0).front();
      addWorkLists(builder, block);
      std::string prefix;
      if (auto kind = dyn_cast<BlockOp>(function))
        prefix = (kind.getSymName() + "_").str();
      for (ArrayRef<Operation *> group : Grouping(block).take())
        kernels.build(group, prefix);
      for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
        if (isa<WeightOp, SliceOp>(op) && op.use_empty())
          op.erase();
    }
  }
};

} // namespace
