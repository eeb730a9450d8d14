// atom and red on halves, pairs of them, and on vectors of halves, pairs and
// floats. Every element is atomic by itself.

#include "runtime/ptxsim/Access.h"
#include "runtime/ptxsim/insn/Half.h"

#include <atomic>
#include <vector>

using namespace ptxsim;

namespace {

template <class H> struct AddHalves {
  uint16_t operator()(uint16_t a, uint16_t b) const { return addHalf<H>(a, b); }
};
template <class H, bool max> struct ExtremeHalves {
  uint16_t operator()(uint16_t a, uint16_t b) const {
    return extremeHalf<H, max, false>(a, b);
  }
};
/// Vectors of floats are in global memory, where f32 add flushes subnormal
/// numbers.
struct AddFloats {
  uint32_t operator()(uint32_t a, uint32_t b) const {
    return std::bit_cast<uint32_t>(
        addFlushed(std::bit_cast<float>(a), std::bit_cast<float>(b)));
  }
};

/// op.list: the rows of the op.count operands, then those of the results, if
/// there are any (op.d is 1 then).
template <class T, class F> void atomic(Warp &w, const Op &op, uint32_t mask) {
  forLanes(mask, [&](unsigned l) {
    const uint64_t address = w.addressOf(op, l);
    std::byte *p = w.access(op, l, op.space, address,
                            unsigned(sizeof(T)) * op.count, Access::Atomic);
    for (unsigned i = 0; i < op.count; ++i) {
      T *value = reinterpret_cast<T *>(p) + i;
      T b = w.row<T>(op.list[i])[l], old;
      if (op.space == Space::Shared || op.space == Space::SharedCluster ||
          (address & windowMask)) {
        // A cluster is executed by one host thread.
        old = *value;
        *value = F()(old, b);
      } else {
        std::atomic_ref<T> shared(*value);
        old = shared.load(std::memory_order_relaxed);
        while (!shared.compare_exchange_weak(old, F()(old, b)))
          ;
      }
      if (op.d)
        w.row<T>(op.list[op.count + i])[l] = old;
    }
  });
}

template <class F> Handler halves(bool pair) {
  return pair ? atomic<uint32_t, Pair<F>> : atomic<uint16_t, F>;
}

template <class H> Handler halvesBy(int operation, bool pair) {
  return operation == 0   ? halves<AddHalves<H>>(pair)
         : operation == 1 ? halves<ExtremeHalves<H, false>>(pair)
                          : halves<ExtremeHalves<H, true>>(pair);
}

} // namespace

bool ptxsim::decodeAtomicPacked(Decoder &d) {
  const bool result = d.opcode() == "atom";
  uint32_t order =
      atomicOrder(d.takeOneOf({"relaxed", "acquire", "release", "acq_rel"}));
  order = Order::withScope(order, takeScope(d));
  const bool hint = d.take("L2::cache_hint"), noftz = d.take("noftz");
  const int space =
      d.takeOneOf({"global", "shared", "shared::cta", "shared::cluster"});
  const int operation = d.takeOneOf({"add", "min", "max"});
  const int vector = d.takeOneOf({"v2", "v4", "v8"});
  const unsigned count = vector < 0 ? 1 : 2u << vector;
  const Type type = d.takeType();
  if (operation < 0 || !d.done() || (count > 1 && space > 0))
    return false;
  const bool isF32 = type == Type::F32;
  // Single floats, and min and max of single halves, are not of this family.
  if (isF32 ? noftz || operation != 0 || count == 1
            : !isHalf(type) || !noftz || (operation != 0 && count == 1))
    return false;
  if (bitsOf(type) * count > 128)
    return false;
  const size_t first = result ? 1 : 0;
  d.expect(first + 2 + (hint ? 1 : 0));
  std::vector<uint32_t> rows;
  for (size_t operand : {first + 1, size_t(0)}) {
    if (operand == 0 && !result)
      break;
    std::span<const Operand> elements = d.elements(d[operand]);
    if (elements.size() != count)
      d.error("expected a vector of " + std::to_string(count) + " registers");
    for (const Operand &e : elements)
      rows.push_back(
          operand == 0
              ? d.destination(e, bitsOf(type))
              : d.source(e, isF32 || isHalfPair(type) ? Type::B32 : Type::B16));
  }
  Decoder::AddressRef at = d.address(first);
  const uint32_t *list = d.list(rows);
  const bool bf16 = type == Type::BF16 || type == Type::BF16x2;
  Op &op = d.emit(isF32  ? atomic<uint32_t, AddFloats>
                  : bf16 ? halvesBy<HalfBF16>(operation, isHalfPair(type))
                         : halvesBy<HalfF16>(operation, isHalfPair(type)));
  op.a = at.row, op.e = at.bits, op.imm = at.offset, op.target = order;
  op.space = space < 0    ? Space::Generic
             : space == 0 ? Space::Global
             : space == 3 ? Space::SharedCluster
                          : Space::Shared;
  op.list = list, op.count = uint16_t(count), op.d = result;
  return true;
}
