#include "lib/Conversion/TileToNVVM/WarpConversion.h"

#include "dialects/Tile/F2Span.h"
#include "lib/Conversion/TileToNVVM/Exchange.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace k2c::tile;
using namespace k2c::tile_to_nvvm;

namespace {

constexpr unsigned kLaneBits = 5;
using Columns = std::vector<uint64_t>;

/// The plan's columns. In round k lane m sends its ordered register
/// `send(m ^ P(k)) ^ R(k)`, lane l receives from lane D(l) ^ P(k) and keeps the
/// word as ordered register k ^ H(l).
struct Moves {
  Columns source, keep, send, roundReg, roundLane;

  explicit Moves(const ConversionPlan &plan) {
    Columns wanted;
    for (const ConversionPlan::LaneColumn &column : plan.lanes) {
      source.push_back(column.sourceLane);
      keep.push_back(column.dstReg);
      wanted.push_back(column.sourceReg);
    }
    for (const ConversionPlan::RegColumn &column : plan.regs) {
      roundReg.push_back(column.sourceReg);
      roundLane.push_back(column.sourceLane);
    }
    // The plan names the register by its receiver; the sender must know it.
    // Lanes that nobody reads may send anything.
    Columns lanes = source;
    for (unsigned bit = 0; bit < kLaneBits; ++bit)
      lanes.push_back(uint64_t(1) << bit);
    F2Span span(lanes);
    uint64_t receivers = (uint64_t(1) << source.size()) - 1;
    for (unsigned bit = 0; bit < kLaneBits; ++bit)
      send.push_back(
          xorOf(wanted, *span.solve(uint64_t(1) << bit) & receivers));
  }

  /// Whether words move whole.
  bool keepsWords(unsigned packBits) const {
    uint64_t low = (uint64_t(1) << packBits) - 1;
    auto clear = [&](const Columns &columns) {
      return llvm::all_of(columns, [&](uint64_t c) { return !(c & low); });
    };
    return clear(keep) && clear(send) &&
           clear(Columns(roundReg.begin() + packBits, roundReg.end()));
  }
};

class WarpConversion {
public:
  WarpConversion(ImplicitLocOpBuilder &b, const ConversionPlan &plan,
                 Value lane, Type element)
      : b(b), plan(plan), moves(plan), lane(lane), element(element) {}

  bool isPossible() const { return moves.keepsWords(plan.packBits); }

  SmallVector<Value> run(unsigned repeats, ArrayRef<Value> registers) {
    SmallVector<Value> results(repeats << plan.dstOrder.size());
    for (unsigned repeat = 0; repeat < repeats; ++repeat) {
      unsigned from = repeat << plan.srcOrder.size(),
               to = repeat << plan.dstOrder.size();
      SmallVector<Value> words =
          selectByLane(pack(registers, from), moves.send);
      unpack(selectByLane(exchange(words), moves.keep), to, results);
    }
    return results;
  }

private:
  SmallVector<Value> pack(ArrayRef<Value> registers, unsigned from) {
    SmallVector<Value> words;
    for (unsigned ordered = 0; ordered < 1u << plan.srcOrder.size();
         ordered += plan.pack()) {
      SmallVector<Value> elements;
      for (unsigned e = 0; e < plan.pack(); ++e)
        elements.push_back(
            registers[from | plan.reorder(ordered | e, plan.srcOrder)]);
      words.push_back(toWord(elements));
    }
    return words;
  }

  void unpack(ArrayRef<Value> words, unsigned to,
              SmallVectorImpl<Value> &results) {
    for (auto [number, word] : llvm::enumerate(words))
      for (auto [e, value] : llvm::enumerate(fromWord(word))) {
        uint64_t ordered = number << plan.packBits | e;
        results[to | plan.reorder(ordered, plan.dstOrder)] = value;
      }
  }

  Value toWord(ArrayRef<Value> elements) {
    unsigned bits = element.getIntOrFloatBitWidth() * elements.size();
    Type whole = b.getIntegerType(bits);
    Value word;
    if (elements.size() == 1) {
      word = elements.front().getType() == whole
                 ? elements.front()
                 : arith::BitcastOp::create(b, whole, elements.front());
    } else {
      Value vector = fromRegisters(b, elements);
      vector =
          vector::BitCastOp::create(b, VectorType::get({1}, whole), vector);
      word = vector::ExtractOp::create(b, vector, ArrayRef<int64_t>{0});
    }
    return bits == 32 ? word : arith::ExtUIOp::create(b, b.getI32Type(), word);
  }

  SmallVector<Value> fromWord(Value word) {
    unsigned bits = element.getIntOrFloatBitWidth() * plan.pack();
    Type whole = b.getIntegerType(bits);
    if (bits != 32)
      word = arith::TruncIOp::create(b, whole, word);
    if (plan.pack() == 1)
      return {element == whole ? word
                               : arith::BitcastOp::create(b, element, word)};
    auto type = VectorType::get({static_cast<int64_t>(plan.pack())}, element);
    return toRegisters(
        b, vector::BitCastOp::create(b, type, fromRegisters(b, {word})));
  }

  /// Parity of the lane's bits under `mask`, i1.
  Value parity(uint64_t mask) {
    Value bits;
    for (unsigned bit = 0; bit < kLaneBits; ++bit) {
      if (!(mask >> bit & 1))
        continue;
      Value shifted = arith::ShRUIOp::create(b, lane, i32(b, bit));
      bits =
          bits ? arith::XOrIOp::create(b, bits, shifted).getResult() : shifted;
    }
    return arith::TruncIOp::create(b, b.getI1Type(), bits);
  }

  /// `result[w] = words[w ^ columns(lane)]`: one row of selects per independent
  /// column.
  SmallVector<Value> selectByLane(SmallVector<Value> words,
                                  const Columns &columns) {
    F2Span span(columns);
    F2Span seen;
    for (auto [number, column] : llvm::enumerate(columns)) {
      if (seen.insert(column))
        continue;
      // Lane bits whose column contains this one.
      uint64_t mask = 0;
      for (auto [bit, other] : llvm::enumerate(columns))
        mask |= (*span.solve(other) >> number & 1) << bit;
      Value swap = parity(mask);
      SmallVector<Value> next;
      for (unsigned w = 0; w < words.size(); ++w)
        next.push_back(arith::SelectOp::create(
            b, swap, words[w ^ (column >> plan.packBits)], words[w]));
      words = std::move(next);
    }
    return words;
  }

  SmallVector<Value> exchange(ArrayRef<Value> words) {
    SmallVector<int64_t> source(moves.source.begin(), moves.source.end());
    Value from;
    if (plan.kind == ConversionPlan::Idx)
      from = linearImage(b, lane, source);
    SmallVector<Value> received;
    for (unsigned ordered = 0; ordered < 1u << plan.dstOrder.size();
         ordered += plan.pack()) {
      uint64_t mask = xorOf(moves.roundLane, ordered);
      uint64_t reg = xorOf(moves.send, mask) ^ xorOf(moves.roundReg, ordered);
      Value word = words[reg >> plan.packBits];
      if (plan.kind == ConversionPlan::Idx)
        word = shuffleFrom(word, from, mask);
      else if (mask)
        word = shuffleXor(b, word, mask);
      received.push_back(word);
    }
    return received;
  }

  Value shuffleFrom(Value word, Value from, uint64_t mask) {
    Value index = from ? from : i32(b, 0);
    if (mask)
      index = arith::XOrIOp::create(b, index, i32(b, mask));
    return NVVM::ShflOp::create(b, word.getType(), i32(b, -1), word, index,
                                i32(b, 31), NVVM::ShflKind::idx, UnitAttr());
  }

  ImplicitLocOpBuilder &b;
  const ConversionPlan &plan;
  Moves moves;
  Value lane;
  Type element;
};

} // namespace

std::optional<SmallVector<Value>>
k2c::tile_to_nvvm::convertInWarp(ImplicitLocOpBuilder &b,
                                 const ConversionPlan &plan, unsigned repeats,
                                 Value lane, ArrayRef<Value> registers) {
  if (plan.kind != ConversionPlan::Select &&
      plan.kind != ConversionPlan::Bfly && plan.kind != ConversionPlan::Idx)
    return std::nullopt;
  WarpConversion conversion(b, plan, lane, registers.front().getType());
  if (!conversion.isPossible())
    return std::nullopt;
  return conversion.run(repeats, registers);
}
