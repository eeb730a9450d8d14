#include "lib/Transforms/Tile/LayoutClasses.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace k2c::tile;

/// Ops that are cheaper to repeat than to move.
static bool isFree(Operation *op) {
  return isa<arith::ConstantOp, SplatOp, IotaOp>(op) &&
         isTile(op->getResult(0));
}

static void cloneFreePerUse(KernelOp kernel) {
  SmallVector<Operation *> free;
  kernel->walk([&](Operation *op) {
    if (isFree(op))
      free.push_back(op);
  });
  for (Operation *op : free) {
    Value result = op->getResult(0);
    if (result.use_empty())
      continue;
    bool first = true;
    for (OpOperand &use : llvm::make_early_inc_range(result.getUses())) {
      if (!first)
        use.set(OpBuilder(op).clone(*op)->getResult(0));
      first = false;
    }
  }
}

LayoutClasses::LayoutClasses(KernelOp kernel) {
  cloneFreePerUse(kernel);
  kernel->walk<WalkOrder::PreOrder>([&](Operation *op) {
    for (Value result : op->getResults())
      add(result);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Value argument : block.getArguments())
          add(argument);
  });
  kernel->walk([&](Operation *op) { tie(op); });
  for (Value tile : values)
    if (auto given = dyn_cast_or_null<LinearAttr>(tileType(tile).getEncoding()))
      assign(tile, given.getLayout(tileType(tile).getShape()));
}

void LayoutClasses::add(Value tile) {
  if (!isTile(tile) || !numbers.insert({tile, values.size()}).second)
    return;
  parents.push_back(values.size());
  values.push_back(tile);
  layouts.emplace_back();
}

unsigned LayoutClasses::find(Value tile) const {
  unsigned n = numbers.lookup(tile);
  while (parents[n] != n)
    n = parents[n] = parents[parents[n]];
  return n;
}

void LayoutClasses::unite(Value a, Value b) {
  if (!isTile(a) || !isTile(b))
    return;
  unsigned x = find(a), y = find(b);
  parents[std::max(x, y)] = std::min(x, y);
}

bool LayoutClasses::assign(Value tile, const LinearLayout &layout) {
  std::optional<LinearLayout> &slot = layouts[find(tile)];
  if (slot)
    return false;
  slot = layout;
  return true;
}

void LayoutClasses::tie(Operation *op) {
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    for (auto [init, argument, yielded, result] :
         llvm::zip(loop.getInitArgs(), loop.getRegionIterArgs(),
                   loop.getYieldedValues(), loop.getResults())) {
      unite(argument, init);
      unite(argument, yielded);
      unite(argument, result);
    }
    return;
  }
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    for (Region *region : {&branch.getThenRegion(), &branch.getElseRegion()}) {
      if (region->empty())
        continue;
      for (auto [result, yielded] :
           llvm::zip(branch.getResults(),
                     region->front().getTerminator()->getOperands()))
        unite(result, yielded);
    }
    return;
  }
  if (auto dot = dyn_cast<DotOp>(op))
    return unite(dot.getC(), dot.getResult());
  if (auto argmax = dyn_cast<ArgMaxOp>(op))
    return unite(argmax.getValue(), argmax.getIndex());
  if (auto scan = dyn_cast<ScanOp>(op))
    return unite(scan.getInput(), scan.getResult());
  bool elementwise = op->hasTrait<OpTrait::Elementwise>() || isa<ConvertOp>(op);
  if (!elementwise || op->getNumResults() != 1 || !isTile(op->getResult(0)))
    return;
  for (Value operand : op->getOperands())
    unite(op->getResult(0), operand);
}
