#include "lib/Conversion/TileToNVVM/ThreadCoordinates.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace k2c::tile;
using namespace k2c::tile_to_nvvm;

Thread Thread::get(ImplicitLocOpBuilder &b, int64_t numWarps) {
  auto range = LLVM::ConstantRangeAttr::get(b.getContext(), APInt(32, 0),
                                            APInt(32, 32 * numWarps));
  Value id = NVVM::ThreadIdXOp::create(b, b.getI32Type(), range);
  Value lane = arith::AndIOp::create(b, id, i32(b, 31));
  Value warp = arith::ShRUIOp::create(b, id, i32(b, 5));
  return {id, lane, warp};
}

ThreadCoordinates::ThreadCoordinates(ImplicitLocOpBuilder &b,
                                     const LinearLayout &layout,
                                     int64_t numWarps)
    : b(b), map(layout), self(Thread::get(b, numWarps)) {}

/// Runs of bits whose images are consecutive powers of two move together.
Value k2c::tile_to_nvvm::linearImage(ImplicitLocOpBuilder &b, Value index,
                                     ArrayRef<int64_t> images) {
  Value result;
  int64_t used = 0;
  auto append = [&](Value term, int64_t mask) {
    if (!result)
      result = term;
    else if (used & mask)
      result = arith::XOrIOp::create(b, result, term);
    else
      result = arith::OrIOp::create(b, result, term);
    used |= mask;
  };
  for (size_t bit = 0; bit < images.size();) {
    int64_t image = images[bit];
    size_t end = bit + 1;
    if (image == 0) {
      bit = end;
      continue;
    }
    bool power = (image & (image - 1)) == 0;
    while (power && end < images.size() && images[end] == image << (end - bit))
      ++end;
    int64_t field = ((int64_t(1) << (end - bit)) - 1) << bit;
    if (power) {
      Value term = arith::AndIOp::create(b, index, i32(b, field));
      int64_t shift = static_cast<int64_t>(
                          llvm::countr_zero(static_cast<uint64_t>(image))) -
                      static_cast<int64_t>(bit);
      if (shift > 0)
        term = arith::ShLIOp::create(b, term, i32(b, shift));
      else if (shift < 0)
        term = arith::ShRUIOp::create(b, term, i32(b, -shift));
      append(term, (field >> bit) * image);
    } else {
      Value set = arith::AndIOp::create(
          b, arith::ShRUIOp::create(b, index, i32(b, bit)), i32(b, 1));
      append(arith::MulIOp::create(b, set, i32(b, image)), image);
    }
    bit = end;
  }
  return result;
}

Value ThreadCoordinates::threadPart(unsigned dim) {
  Value &part = parts[dim];
  if (part)
    return part;
  auto images = [&](InDim in) {
    SmallVector<int64_t> result;
    for (const Coord &basis : map.coordBases(in))
      result.push_back(basis[dim]);
    return result;
  };
  Value lanes = linearImage(b, self.lane, images(kLane));
  Value warps = linearImage(b, self.warp, images(kWarp));
  if (lanes && warps)
    part = arith::XOrIOp::create(b, lanes, warps);
  else
    part = lanes ? lanes : warps ? warps : i32(b, 0);
  return part;
}

int64_t ThreadCoordinates::threadMask(unsigned dim) const {
  int64_t mask = 0;
  for (InDim in : {kLane, kWarp})
    for (const Coord &basis : map.coordBases(in))
      mask |= basis[dim];
  return mask;
}

bool ThreadCoordinates::isSum(unsigned dim) const {
  int64_t registers = 0;
  for (const Coord &basis : map.coordBases(kReg))
    registers |= basis[dim];
  return (registers & threadMask(dim)) == 0;
}

Value ThreadCoordinates::coordinate(unsigned dim, unsigned reg) {
  int64_t constant = registerPart(dim, reg);
  Value part = threadPart(dim);
  if (constant == 0)
    return part;
  int64_t low = constant & ((int64_t(1) << map.bits(dim)) - 1),
          repeat = constant - low;
  if (threadMask(dim) & low) {
    part = arith::XOrIOp::create(b, part, i32(b, low));
    return repeat ? arith::AddIOp::create(b, part, i32(b, repeat)).getResult()
                  : part;
  }
  return threadMask(dim)
             ? arith::AddIOp::create(b, part, i32(b, constant)).getResult()
             : i32(b, constant);
}

Value ThreadCoordinates::owner() {
  Value result;
  auto require = [&](Value index, uint64_t bits) {
    if (!bits)
      return;
    Value clear = arith::CmpIOp::create(
        b, arith::CmpIPredicate::eq,
        arith::AndIOp::create(b, index, i32(b, bits)), i32(b, 0));
    result =
        result ? arith::AndIOp::create(b, result, clear).getResult() : clear;
  };
  require(self.lane, map.redundantLanes());
  require(self.warp, map.redundantWarps());
  return result;
}

SmallVector<unsigned> ThreadCoordinates::ownedRegisters() const {
  F2Span span;
  uint64_t copies = 0;
  for (auto [bit, basis] : llvm::enumerate(map.bases(kReg)))
    if (span.insert(basis))
      copies |= uint64_t(1) << bit;
  SmallVector<unsigned> result;
  for (unsigned reg = 0; reg < map.registersPerThread(); ++reg)
    if (!(reg & copies))
      result.push_back(reg);
  return result;
}

std::optional<SmallVector<unsigned>>
k2c::tile_to_nvvm::localRegisterMap(const LinearLayout &to,
                                    const LinearLayout &from,
                                    function_ref<Coord(const Coord &)> source) {
  for (InDim in : {kLane, kWarp}) {
    std::vector<Coord> wanted = to.coordBases(in), held = from.coordBases(in);
    if (wanted.size() != held.size())
      return std::nullopt;
    for (auto [want, have] : llvm::zip_equal(wanted, held))
      if (source(want) != have)
        return std::nullopt;
  }
  SmallVector<unsigned> registers;
  for (unsigned reg = 0; reg < to.registersPerThread(); ++reg) {
    std::optional<unsigned> found = from.findRegister(source(to.at(reg)));
    if (!found)
      return std::nullopt;
    registers.push_back(*found);
  }
  return registers;
}
