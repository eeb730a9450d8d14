//===- PipelineLoops.cpp - tile-pipeline-loops ------------------*- C++ -*-===//

#include "k2c/Transforms/Tile/Passes.h"

#include "lib/Transforms/Tile/SharedBuffers.h"
#include "lib/Transforms/Tile/StagedLoads.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/MapVector.h"

namespace k2c {
#define GEN_PASS_DEF_TILEPIPELINELOOPSPASS
#include "k2c/Transforms/Tile/Passes.h.inc"
} // namespace k2c

using namespace mlir;
using namespace k2c::tile;

static Value constant(ImplicitLocOpBuilder &b, int64_t value) {
  return arith::ConstantOp::create(b, b.getI32IntegerAttr(value));
}

/// Starts the copies of one iteration into `stage`. Indices go through `map`.
static void copyTo(ImplicitLocOpBuilder &b, const StagedLoad &load,
                   Value buffer, Value stage, IRMapping &map) {
  auto mapped = [&](ValueRange values) {
    return llvm::map_to_vector(values,
                               [&](Value v) { return map.lookupOrDefault(v); });
  };
  SmallVector<Value> indices, bounds;
  Value view, rows;
  if (auto direct = dyn_cast<LoadOp>(load.op)) {
    view = direct.getView();
    indices = mapped(direct.getIndices());
    bounds = mapped(direct.getBounds());
  } else {
    auto gather = cast<GatherOp>(load.op);
    view = gather.getView();
    indices = mapped(gather.getIndices());
    rows = map.lookupOrDefault(gather.getRows());
  }
  CopyAsyncOp::create(b, load.op->getLoc(), view, indices, rows, bounds, buffer,
                      stage, load.vectorBytes);
}

/// Every user reads the buffer where it stands; a slice reads only its box.
static void replaceUses(const StagedLoad &load, Value buffer, Value stage) {
  for (OpOperand &use :
       llvm::make_early_inc_range(load.op->getResult(0).getUses())) {
    Operation *user = use.getOwner();
    OpBuilder b(user);
    if (auto slice = dyn_cast<SliceOp>(user)) {
      auto box = LoadSharedOp::create(b, load.op->getLoc(), slice.getType(),
                                      buffer, stage, slice.getOffsetsAttr());
      slice.replaceAllUsesWith(box.getResult());
      slice.erase();
      continue;
    }
    use.set(LoadSharedOp::create(b, load.op->getLoc(),
                                 load.op->getResult(0).getType(), buffer, stage)
                .getResult());
  }
}

/// Copies and waits where the load stands; returns the wait.
static WaitGroupOp stageInPlace(const StagedLoad &load, Value buffer) {
  ImplicitLocOpBuilder b(load.op->getLoc(), load.op);
  Value zero = constant(b, 0);
  IRMapping none;
  copyTo(b, load, buffer, zero, none);
  CommitGroupOp::create(b);
  auto wait = WaitGroupOp::create(b, 0);
  replaceUses(load, buffer, zero);
  load.op->erase();
  return wait;
}

static bool readsShared(Operation *op) {
  return op->walk([](LoadSharedOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

/// Whether a later wait completes the same groups before anything is read: it
/// leaves at most as many groups pending as were closed in between.
static bool isCovered(WaitGroupOp wait) {
  unsigned closed = 0;
  for (Operation *op = wait->getNextNode(); op;) {
    if (auto later = dyn_cast<WaitGroupOp>(op))
      return later.getPending() <= closed;
    if (isa<CommitGroupOp>(op))
      ++closed;
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      // A loop that is not entered reads nothing either; what follows it must
      // not rely on its waits.
      op = &loop.getBody()->front();
      for (Operation *after = loop->getNextNode(); after;
           after = after->getNextNode())
        if (readsShared(after))
          return false;
      continue;
    }
    if (readsShared(op))
      return false;
    op = op->getNextNode();
  }
  return false;
}

namespace {
/// One loop whose loads run ahead.
class Pipeline {
public:
  Pipeline(scf::ForOp loop, ArrayRef<StagedLoad> loads, ValueRange buffers,
           int64_t stages)
      : loop(loop), loads(loads), buffers(buffers), stages(stages) {}

  void build() {
    prologue();
    carryStage();
    steadyState();
    for (auto [load, buffer] : llvm::zip(loads, buffers)) {
      replaceUses(load, buffer, stage);
      load.op->erase();
    }
  }

private:
  /// If the iteration at `iv` exists, starts its copies into `slot`; closes the
  /// group in any case, so that groups count iterations.
  void copyIteration(ImplicitLocOpBuilder &b, Value iv, Value slot) {
    Value inRange = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, iv,
                                          loop.getUpperBound());
    auto guard = scf::IfOp::create(b, inRange, /*withElseRegion=*/false);
    {
      OpBuilder::InsertionGuard restore(b);
      b.setInsertionPointToStart(guard.thenBlock());
      IRMapping map;
      map.map(loop.getInductionVar(), iv);
      llvm::SetVector<Operation *> done;
      for (auto [load, buffer] : llvm::zip(loads, buffers)) {
        for (Operation *op : load.slice)
          if (done.insert(op))
            b.clone(*op, map);
        copyTo(b, load, buffer, slot, map);
      }
    }
    CommitGroupOp::create(b);
  }

  void prologue() {
    ImplicitLocOpBuilder b(loop.getLoc(), loop);
    Value iv = loop.getLowerBound();
    for (int64_t s = 0; s < stages - 1; ++s) {
      if (s)
        iv = arith::AddIOp::create(b, iv, loop.getStep());
      copyIteration(b, iv, constant(b, s));
    }
  }

  /// Adds the slot of the current iteration as a loop-carried value.
  void carryStage() {
    ImplicitLocOpBuilder b(loop.getLoc(), loop);
    Value zero = constant(b, 0);
    if (stages == 1) {
      stage = zero;
      return;
    }
    IRRewriter rewriter(loop);
    auto next = [&](OpBuilder &ob, Location loc,
                    ArrayRef<BlockArgument> carried) {
      ImplicitLocOpBuilder b(loc, ob);
      Value up = arith::AddIOp::create(b, carried[0], constant(b, 1));
      Value wrap = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, up,
                                         constant(b, stages));
      return SmallVector<Value>{
          arith::SelectOp::create(b, wrap, constant(b, 0), up)};
    };
    auto replaced =
        cast<LoopLikeOpInterface>(*loop).replaceWithAdditionalYields(
            rewriter, ValueRange{zero}, /*replaceInitOperandUsesInLoop=*/false,
            next);
    loop = cast<scf::ForOp>(replaced->getOperation());
    stage = loop.getRegionIterArgs().back();
  }

  void steadyState() {
    ImplicitLocOpBuilder b(loop.getLoc(), loop);
    b.setInsertionPointToStart(loop.getBody());
    if (stages == 1) {
      copyIteration(b, loop.getInductionVar(), stage);
      WaitGroupOp::create(b, 0);
      return;
    }
    // This iteration's group is the oldest of stages - 1 in flight.
    WaitGroupOp::create(b, stages - 2);
    Value ahead = arith::AddIOp::create(
        b, loop.getInductionVar(),
        arith::MulIOp::create(b, loop.getStep(), constant(b, stages - 1)));
    // The slot before this one was read in the last iteration.
    Value first = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, stage,
                                        constant(b, 0));
    Value slot = arith::SelectOp::create(
        b, first, constant(b, stages - 1),
        arith::SubIOp::create(b, stage, constant(b, 1)));
    copyIteration(b, ahead, slot);
  }

  scf::ForOp loop;
  ArrayRef<StagedLoad> loads;
  ValueRange buffers;
  int64_t stages;
  Value stage;
};

struct PipelineLoops
    : public k2c::impl::TilePipelineLoopsPassBase<PipelineLoops> {
  using Base::Base;

  void runOnOperation() override {
    KernelOp kernel = getOperation();
    SmallVector<StagedLoad> staged = findStagedLoads(kernel);
    llvm::MapVector<Operation *, SmallVector<StagedLoad>> loops;
    SmallVector<StagedLoad> inPlace;
    int64_t fixed = 0, perStage = 0;
    for (StagedLoad &load : staged) {
      // Whole periods of the swizzle, as tile-allocate-shared places them.
      int64_t bytes = llvm::alignTo(load.stageBytes(), 1024);
      if (load.loop) {
        loops[load.loop].push_back(load);
        perStage += bytes;
      } else {
        inPlace.push_back(load);
        fixed += bytes;
      }
    }
    int64_t stages = 3;
    if (ScheduleAttr schedule = kernel.getScheduleAttr())
      stages = schedule.getStages();
    else
      while (stages > 1 && fixed + stages * perStage > sharedBytes)
        --stages;

    if (!loops.empty())
      remark::passed(kernel.getLoc(), remark::RemarkOpts::name("Stages")
                                          .category("tile-pipeline-loops")
                                          .function(kernel.getSymName()))
          << remark::add("{0} stages of {1} bytes in {2} loops", stages,
                         perStage, loops.size());

    ImplicitLocOpBuilder b(kernel.getLoc(), kernel.getContext());
    b.setInsertionPointToStart(&kernel.entry());
    auto allocate = [&](const StagedLoad &load, int64_t n) {
      return AllocSharedOp::create(b, load.op->getLoc(), load.bufferType(n))
          .getResult();
    };
    SmallVector<WaitGroupOp> waits;
    for (const StagedLoad &load : inPlace)
      waits.push_back(stageInPlace(load, allocate(load, 1)));
    for (auto &[op, loads] : loops) {
      SmallVector<Value> buffers;
      for (const StagedLoad &load : loads)
        buffers.push_back(allocate(load, stages));
      Pipeline(cast<scf::ForOp>(op), loads, buffers, stages).build();
    }
    // Copies that start one after the other are waited for together.
    for (WaitGroupOp wait : waits)
      if (isCovered(wait))
        wait.erase();
  }
};
} // namespace
