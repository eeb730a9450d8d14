// tile.load and tile.store.
#include "lib/Conversion/TileToNVVM/GlobalAccess.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace k2c;
using namespace k2c::tile_to_nvvm;

/// Vectors by mask, in register order.
static llvm::MapVector<Value, SmallVector<unsigned>>
byMask(TileAccess &access, ArrayRef<unsigned> leaders) {
  llvm::MapVector<Value, SmallVector<unsigned>> groups;
  for (unsigned leader : leaders)
    groups[access.mask(leader)].push_back(leader);
  return groups;
}

Value k2c::tile_to_nvvm::loadTile(ImplicitLocOpBuilder &b, TileAccess &access) {
  Type type = access.accessType();
  SmallVector<Value> registers(
      access.coordinates().layout().registersPerThread());
  for (auto &[mask, leaders] : byMask(access, access.leaders())) {
    SmallVector<Value> addresses;
    for (unsigned leader : leaders)
      addresses.push_back(access.address(leader));
    auto load = [&] {
      return llvm::map_to_vector(addresses, [&](Value address) -> Value {
        return LLVM::LoadOp::create(b, type, address, access.vectorBytes());
      });
    };
    SmallVector<Value> loaded;
    if (mask) {
      auto branch = scf::IfOp::create(
          b, SmallVector<Type>(leaders.size(), type), mask, /*withElse=*/true);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(branch.thenBlock());
      scf::YieldOp::create(b, load());
      b.setInsertionPointToStart(branch.elseBlock());
      scf::YieldOp::create(b,
                           SmallVector<Value>(leaders.size(), zero(b, type)));
      loaded.assign(branch.result_begin(), branch.result_end());
    } else {
      loaded = load();
    }
    for (auto [leader, value] : llvm::zip_equal(leaders, loaded)) {
      if (access.vectorElements() == 1) {
        registers[leader] = value;
        continue;
      }
      for (auto [i, element] : llvm::enumerate(toRegisters(b, value)))
        registers[access.element(leader, i)] = element;
    }
  }
  return fromRegisters(b, registers);
}

void k2c::tile_to_nvvm::storeTile(ImplicitLocOpBuilder &b, TileAccess &access,
                                  Value vector) {
  SmallVector<Value> registers = toRegisters(b, vector);
  SmallVector<unsigned> owned = access.coordinates().ownedRegisters();
  SmallVector<unsigned> leaders =
      llvm::filter_to_vector(access.leaders(), [&](unsigned leader) {
        return llvm::is_contained(owned, leader);
      });
  Value owner = access.coordinates().owner();
  for (auto &[mask, group] : byMask(access, leaders)) {
    Value condition = mask && owner
                          ? arith::AndIOp::create(b, mask, owner).getResult()
                      : mask ? mask
                             : owner;
    SmallVector<Value> addresses;
    for (unsigned leader : group)
      addresses.push_back(access.address(leader));
    OpBuilder::InsertionGuard guard(b);
    if (condition) {
      auto branch = scf::IfOp::create(b, condition, /*withElse=*/false);
      b.setInsertionPointToStart(branch.thenBlock());
    }
    for (auto [leader, address] : llvm::zip_equal(group, addresses)) {
      SmallVector<Value> elements;
      for (unsigned i = 0; i < access.vectorElements(); ++i)
        elements.push_back(registers[access.element(leader, i)]);
      Value value =
          elements.size() == 1 ? elements.front() : fromRegisters(b, elements);
      LLVM::StoreOp::create(b, value, address, access.vectorBytes());
    }
  }
}

namespace {

struct LoadPattern : TilePattern<tile::LoadOp> {
  using TilePattern::TilePattern;

  LogicalResult
  matchAndRewrite(tile::LoadOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    View view = unpackView(b, op.getView(), adaptor.getView());
    TileAccess access(b, view, {adaptor.getIndices(), adaptor.getBounds(), {}},
                      layoutOf(op.getResult()), state.numWarps);
    rewriter.replaceOp(op, loadTile(b, access));
    return success();
  }
};

struct StorePattern : TilePattern<tile::StoreOp> {
  using TilePattern::TilePattern;

  LogicalResult
  matchAndRewrite(tile::StoreOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    View view = unpackView(b, op.getView(), adaptor.getView());
    TileAccess access(b, view, {adaptor.getIndices(), adaptor.getBounds(), {}},
                      layoutOf(op.getValue()), state.numWarps);
    storeTile(b, access, adaptor.getValue());
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void k2c::tile_to_nvvm::populateGlobalAccessPatterns(Patterns &patterns) {
  patterns.add<LoadPattern, StorePattern>();
}
