#include "lib/Conversion/TileToNVVM/Exchange.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace k2c::tile_to_nvvm;

Value k2c::tile_to_nvvm::shuffleXor(ImplicitLocOpBuilder &b, Value value,
                                    unsigned mask) {
  return NVVM::ShflOp::create(b, value.getType(), i32(b, -1), value,
                              i32(b, mask), i32(b, 31), NVVM::ShflKind::bfly,
                              UnitAttr());
}

WarpExchange::WarpExchange(ImplicitLocOpBuilder &b, KernelState &state,
                           const Thread &thread, ArrayRef<Value> values)
    : b(b), numWarps(state.numWarps), thread(thread),
      memory(state.scratch(b, values.size() * numWarps * 32 * 4)) {
  barrier(b);
  for (auto [index, value] : llvm::enumerate(values)) {
    types.push_back(value.getType());
    LLVM::StoreOp::create(b, value, slot(index, thread.warp));
  }
  barrier(b);
}

Value WarpExchange::slot(unsigned index, Value warp) {
  Value row = arith::ShLIOp::create(b, warp, i32(b, 5));
  Value offset = arith::OrIOp::create(b, row, thread.lane);
  Value pointer = LLVM::GEPOp::create(b, memory.getType(), b.getI32Type(),
                                      memory, ArrayRef<LLVM::GEPArg>{offset});
  if (index == 0)
    return pointer;
  return LLVM::GEPOp::create(
      b, memory.getType(), b.getI32Type(), pointer,
      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(index * numWarps * 32)});
}

Value WarpExchange::read(unsigned index, unsigned mask, unsigned bits) {
  Value warp = arith::AndIOp::create(
      b, thread.warp, i32(b, (numWarps - 1) & ~static_cast<int64_t>(mask)));
  if (bits)
    warp = arith::OrIOp::create(b, warp, i32(b, bits));
  return LLVM::LoadOp::create(b, types[index], slot(index, warp));
}

Value WarpExchange::readXor(unsigned index, unsigned bits) {
  return LLVM::LoadOp::create(
      b, types[index],
      slot(index, arith::XOrIOp::create(b, thread.warp, i32(b, bits))));
}
