// atom and red on 32 and 64 bits. Lanes go one after the other, lowest first;
// between CTAs the host's atomics decide.

#include "runtime/ptxsim/Access.h"
#include "runtime/ptxsim/Decoder.h"
#include "runtime/ptxsim/Float.h"
#include "runtime/ptxsim/Lanes.h"

#include <atomic>

using namespace ptxsim;

namespace {

// Each operation: the new value from the old one and the operands.
struct Add {
  template <class T> T operator()(T old, T b, T) const {
    if constexpr (std::is_floating_point_v<T>)
      return canonical(old + b);
    else
      return T(std::make_unsigned_t<T>(old) + std::make_unsigned_t<T>(b));
  }
};
/// f32 add in global memory flushes subnormal numbers, in shared memory it does
/// not.
struct AddGlobal : Add {
  using Add::operator();
  float operator()(float old, float b, float) const {
    return addFlushed(old, b);
  }
};
struct Min {
  template <class T> T operator()(T old, T b, T) const {
    return b < old ? b : old;
  }
};
struct Max {
  template <class T> T operator()(T old, T b, T) const {
    return old < b ? b : old;
  }
};
struct And {
  template <class T> T operator()(T old, T b, T) const { return old & b; }
};
struct Or {
  template <class T> T operator()(T old, T b, T) const { return old | b; }
};
struct Xor {
  template <class T> T operator()(T old, T b, T) const { return old ^ b; }
};
struct Exch {
  template <class T> T operator()(T, T b, T) const { return b; }
};
struct Cas {
  template <class T> T operator()(T old, T b, T c) const {
    return old == b ? c : old;
  }
};
struct Inc {
  template <class T> T operator()(T old, T b, T) const {
    return old >= b ? T(0) : T(old + 1);
  }
};
struct Dec {
  template <class T> T operator()(T old, T b, T) const {
    return old == 0 || old > b ? b : T(old - 1);
  }
};

// Op: d = destination (imm bit 0: there is one); a, e, list[0] = address row,
// bits, offset; b, c = operands.
template <class T, class F, bool Result, class InGlobal = F>
void atomic(Warp &w, const Op &op, uint32_t mask) {
  const T *b = w.row<T>(op.b), *c = w.row<T>(op.c);
  T *d = w.row<T>(op.d);
  forLanes(mask, [&](unsigned l) {
    const uint64_t address = w.addressOf(op, l);
    std::byte *p =
        w.access(op, l, op.space, address, sizeof(T), Access::Atomic);
    T &value = *reinterpret_cast<T *>(p);
    T old;
    if (op.space == Space::Shared || op.space == Space::SharedCluster ||
        (op.space == Space::Generic && (address & windowMask))) {
      // A cluster is executed by one host thread.
      old = value;
      value = F()(old, b[l], c[l]);
    } else {
      using Bits = BitsOf<T>;
      std::atomic_ref<Bits> shared(*reinterpret_cast<Bits *>(p));
      Bits seen = shared.load(std::memory_order_relaxed);
      while (!shared.compare_exchange_weak(
          seen,
          std::bit_cast<Bits>(InGlobal()(std::bit_cast<T>(seen), b[l], c[l])),
          std::memory_order_seq_cst))
        ;
      old = std::bit_cast<T>(seen);
      // It has released before (Warp::access), and acquires after.
      if (GlobalRaces *global = w.cta->launch.globalRaces.get())
        global->meet(w, 1u << l, p,
                     (op.target & ~uint32_t(Order::Release)) | Order::Load);
    }
    if (Result)
      d[l] = old;
  });
}

template <class T, class F> Handler of(bool result) {
  return result ? atomic<T, F, true> : atomic<T, F, false>;
}

template <class F> Handler ofMinMax(Type type, bool result) {
  switch (type) {
  case Type::U32:
    return of<uint32_t, F>(result);
  case Type::S32:
    return of<int32_t, F>(result);
  case Type::U64:
    return of<uint64_t, F>(result);
  case Type::S64:
    return of<int64_t, F>(result);
  default:
    return nullptr;
  }
}
template <class F> Handler ofBits(Type type, bool result) {
  switch (type) {
  case Type::B32:
    return of<uint32_t, F>(result);
  case Type::B64:
    return of<uint64_t, F>(result);
  default:
    return nullptr;
  }
}

Handler select(int operation, Type type, bool result) {
  switch (operation) {
  case 0:
    switch (type) {
    case Type::F32:
      return result ? atomic<float, Add, true, AddGlobal>
                    : atomic<float, Add, false, AddGlobal>;
    case Type::F64:
      return of<double, Add>(result);
    case Type::U32:
    case Type::S32:
    case Type::U64:
      return ofMinMax<Add>(type, result);
    default:
      return nullptr;
    }
  case 1:
    return ofMinMax<Min>(type, result);
  case 2:
    return ofMinMax<Max>(type, result);
  case 3:
    return ofBits<And>(type, result);
  case 4:
    return ofBits<Or>(type, result);
  case 5:
    return ofBits<Xor>(type, result);
  case 6:
    return ofBits<Exch>(type, result);
  case 7:
    if (type == Type::B16)
      return of<uint16_t, Cas>(result);
    return ofBits<Cas>(type, result);
  case 8:
    return type == Type::U32 ? of<uint32_t, Inc>(result) : nullptr;
  case 9:
    return type == Type::U32 ? of<uint32_t, Dec>(result) : nullptr;
  default:
    return nullptr;
  }
}

} // namespace

bool ptxsim::decodeAtomic(Decoder &d) {
  const bool result = d.opcode() == "atom";
  const int orderName =
      d.takeOneOf({"relaxed", "acquire", "release", "acq_rel"});
  if (!result && (orderName == 1 || orderName == 3))
    return false; // red reads nothing that could be acquired
  const uint32_t order = Order::withScope(atomicOrder(orderName), takeScope(d));
  const bool hint = d.take("L2::cache_hint");
  Space space = Space::Generic;
  switch (d.takeOneOf({"global", "shared", "shared::cta", "shared::cluster"})) {
  case 0:
    space = Space::Global;
    break;
  case 1:
  case 2:
    space = Space::Shared;
    break;
  case 3:
    space = Space::SharedCluster;
    break;
  default:
    break;
  }
  int operation = d.takeOneOf(
      {"add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec"});
  Type type = d.takeType();
  Handler fn = operation < 0 ? nullptr : select(operation, type, result);
  const bool cas = operation == 7;
  if (!fn || !d.done() || (!result && (operation == 6 || cas)))
    return false;
  const size_t first = result ? 1 : 0;
  d.expect(first + 2 + (cas ? 1 : 0) + (hint ? 1 : 0));
  uint32_t destination = result ? d.destination(0, bitsOf(type)) : 0;
  Decoder::AddressRef at = d.address(first);
  uint32_t b = d.source(first + 1, type),
           c = cas ? d.source(first + 2, type) : b;
  Op &op = d.emit(fn);
  op.d = destination, op.a = at.row, op.e = at.bits, op.imm = at.offset,
  op.b = b, op.c = c, op.space = space, op.target = order;
  return true;
}
