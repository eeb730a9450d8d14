//===- InsertFences.cpp - tile-insert-fences --------------------*- C++ -*-===//

#include "k2c/Transforms/Tile/Passes.h"

#include "dialects/Tile/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"

namespace k2c {
#define GEN_PASS_DEF_TILEINSERTFENCESPASS
#include "k2c/Transforms/Tile/Passes.h.inc"
} // namespace k2c

using namespace mlir;
using namespace k2c::tile;

namespace {
/// What threads have done to shared buffers since the last barrier.
struct Hazards {
  llvm::DenseSet<Value> read;
  /// Written and, for copies, waited for.
  llvm::DenseSet<Value> written;
  /// Copies in flight: invisible to readers until waited for, but already a
  /// write to those who would overwrite.
  llvm::DenseSet<Value> inFlight;

  void barrier() {
    read.clear();
    written.clear();
  }
  bool join(const Hazards &other) {
    size_t before = read.size() + written.size() + inFlight.size();
    read.insert(other.read.begin(), other.read.end());
    written.insert(other.written.begin(), other.written.end());
    inFlight.insert(other.inFlight.begin(), other.inFlight.end());
    return read.size() + written.size() + inFlight.size() != before;
  }
};

/// Accesses of one op, its regions included.
struct Accesses {
  llvm::SmallSetVector<Value, 4> reads, writes;

  explicit Accesses(Operation *op) {
    op->walk([&](Operation *inner) {
      if (auto load = dyn_cast<LoadSharedOp>(inner))
        reads.insert(load.getBuffer());
      else if (auto store = dyn_cast<StoreSharedOp>(inner))
        writes.insert(store.getBuffer());
      else if (auto copy = dyn_cast<CopyAsyncOp>(inner))
        writes.insert(copy.getBuffer());
    });
  }
  bool conflictWith(const Hazards &h) const {
    for (Value buffer : reads)
      if (h.written.contains(buffer))
        return true;
    for (Value buffer : writes)
      if (h.read.contains(buffer) || h.written.contains(buffer))
        return true;
    return false;
  }
};

/// Walks the program in order. In analysis mode barriers are only imagined.
class Fencer {
public:
  void run(Block &block, Hazards &h, bool insert) {
    for (Operation &op : llvm::make_early_inc_range(block))
      visit(&op, h, insert);
  }

private:
  /// The first of the reads that directly precede `op`. A barrier goes in front
  /// of all of them: the reads of one dot stay together.
  static Operation *startOfReads(Operation *op) {
    Operation *first = op;
    for (Operation *prev = op->getPrevNode(); prev;
         prev = prev->getPrevNode()) {
      if (isa<LoadSharedOp>(prev))
        first = prev;
      else if (!isMemoryEffectFree(prev))
        break;
    }
    return first;
  }

  void visit(Operation *op, Hazards &h, bool insert) {
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      // The state at the head covers the first entry and every back edge.
      Hazards head = h;
      for (bool changed = true; changed;) {
        Hazards end = head;
        run(*loop.getBody(), end, /*insert=*/false);
        changed = head.join(end);
      }
      h = head;
      Hazards end = head;
      run(*loop.getBody(), end, insert);
      h.join(end);
      return;
    }
    if (isa<BarrierOp>(op)) {
      h.barrier();
      return;
    }
    if (isa<WaitGroupOp>(op)) {
      // Which groups are complete is not tracked: all copies may be.
      h.written.insert(h.inFlight.begin(), h.inFlight.end());
      if (cast<WaitGroupOp>(op).getPending() == 0)
        h.inFlight.clear();
      return;
    }
    Accesses accesses(op);
    if (accesses.conflictWith(h)) {
      // In front of a branch rather than inside: one barrier for both sides.
      Operation *before = isa<LoadSharedOp>(op) ? startOfReads(op) : op;
      if (insert) {
        OpBuilder b(before);
        BarrierOp::create(b, op->getLoc());
      }
      h.barrier();
      for (; before != op; before = before->getNextNode()) {
        Accesses earlier(before);
        h.read.insert(earlier.reads.begin(), earlier.reads.end());
      }
    }
    if (auto branch = dyn_cast<scf::IfOp>(op)) {
      Hazards other = h;
      run(branch.getThenRegion().front(), h, insert);
      if (!branch.getElseRegion().empty())
        run(branch.getElseRegion().front(), other, insert);
      h.join(other);
      return;
    }
    h.read.insert(accesses.reads.begin(), accesses.reads.end());
    if (isa<CopyAsyncOp>(op))
      h.inFlight.insert(accesses.writes.begin(), accesses.writes.end());
    else
      h.written.insert(accesses.writes.begin(), accesses.writes.end());
  }
};

struct InsertFences : public k2c::impl::TileInsertFencesPassBase<InsertFences> {
  void runOnOperation() override {
    Hazards none;
    Fencer().run(getOperation().entry(), none, /*insert=*/true);
  }
};
} // namespace
