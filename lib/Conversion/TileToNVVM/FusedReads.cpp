#include "lib/Conversion/TileToNVVM/FusedReads.h"

using namespace mlir;
using namespace k2c;
using namespace k2c::tile_to_nvvm;

static bool mayWriteShared(Operation *op) {
  return op->getNumRegions() != 0 ||
         isa<tile::BarrierOp, tile::WaitGroupOp, tile::CopyAsyncOp,
             tile::StoreSharedOp>(op);
}

/// Whether nothing between the two ops of one block changes shared memory.
static bool sameMoment(Operation *read, Operation *user) {
  if (read->getBlock() != user->getBlock())
    return false;
  for (Operation *op = read->getNextNode(); op && op != user;
       op = op->getNextNode())
    if (mayWriteShared(op))
      return false;
  return true;
}

void k2c::tile_to_nvvm::collectFusedReads(tile::KernelOp kernel,
                                          KernelState &state) {
  auto onlyDots = [](Value value, Operation *read) {
    return !value.use_empty() &&
           llvm::all_of(value.getUses(), [&](OpOperand &use) {
             auto dot = dyn_cast<tile::DotOp>(use.getOwner());
             return dot && use.get() != dot.getC() && sameMoment(read, dot);
           });
  };
  kernel.walk([&](tile::LoadSharedOp load) {
    if (onlyDots(load.getResult(), load)) {
      state.fusedReads.insert(load);
      return;
    }
    if (!load.getResult().hasOneUse())
      return;
    auto convert = dyn_cast<tile::ConvertOp>(*load->user_begin());
    if (convert && onlyDots(convert.getResult(), load)) {
      state.fusedReads.insert(load);
      state.fusedReads.insert(convert);
    }
  });
}

tile::LoadSharedOp k2c::tile_to_nvvm::fusedRead(const KernelState &state,
                                                Value operand) {
  Operation *op = operand.getDefiningOp();
  if (!op || !state.fusedReads.contains(op))
    return {};
  if (auto convert = dyn_cast<tile::ConvertOp>(op))
    op = convert.getInput().getDefiningOp();
  return cast<tile::LoadSharedOp>(op);
}
