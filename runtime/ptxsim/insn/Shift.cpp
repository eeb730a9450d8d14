// shl, shr, shf. Amounts are 32-bit unsigned whatever the type; beyond the
// width they count as the width.

#include "runtime/ptxsim/Decoder.h"
#include "runtime/ptxsim/Lanes.h"

#include <algorithm>

using namespace ptxsim;

namespace {

struct Shl {
  template <class T> T operator()(T a, uint32_t b) const {
    return b >= 8 * sizeof(T) ? T(0) : T(uint64_t(a) << b);
  }
  uint32_t operator()(uint32_t a, uint32_t b) const {
    return b >= 32 ? 0 : a << b;
  }
};
struct Shr {
  template <class T> T operator()(T a, uint32_t b) const {
    constexpr uint32_t width = 8 * sizeof(T);
    if (std::is_signed_v<T>)
      return T(a >> std::min(b, width - 1));
    return b >= width ? T(0) : T(a >> b);
  }
};

template <class T, class F> void shift(Warp &w, const Op &op, uint32_t mask) {
  binary<T, T, uint32_t, F>(w, op, mask);
}

/// The 64 bits c:b... as ISA: a is the low word, b the high one.
template <bool Left, bool Wrap> struct Funnel {
  uint32_t operator()(uint32_t a, uint32_t b, uint32_t c) const {
    uint32_t n = Wrap ? c & 31 : std::min(c, 32u);
    uint64_t both = uint64_t(b) << 32 | a;
    return Left ? uint32_t(both << n >> 32) : uint32_t(both >> n);
  }
};
template <bool Left, bool Wrap>
void funnel(Warp &w, const Op &op, uint32_t mask) {
  ternary<uint32_t, uint32_t, uint32_t, uint32_t, Funnel<Left, Wrap>>(w, op,
                                                                      mask);
}

Handler shiftHandler(bool left, Type type) {
  switch (type) {
  case Type::B16:
    return left ? shift<uint16_t, Shl> : shift<uint16_t, Shr>;
  case Type::B32:
    return left ? shift<uint32_t, Shl> : shift<uint32_t, Shr>;
  case Type::B64:
    return left ? shift<uint64_t, Shl> : shift<uint64_t, Shr>;
  case Type::U16:
    return left ? nullptr : Handler(shift<uint16_t, Shr>);
  case Type::S16:
    return left ? nullptr : Handler(shift<int16_t, Shr>);
  case Type::U32:
    return left ? nullptr : Handler(shift<uint32_t, Shr>);
  case Type::S32:
    return left ? nullptr : Handler(shift<int32_t, Shr>);
  case Type::U64:
    return left ? nullptr : Handler(shift<uint64_t, Shr>);
  case Type::S64:
    return left ? nullptr : Handler(shift<int64_t, Shr>);
  default:
    return nullptr;
  }
}

} // namespace

bool ptxsim::decodeShift(Decoder &d) {
  Type type = d.takeType();
  Handler fn = shiftHandler(d.opcode() == "shl", type);
  if (!fn || !d.done())
    return false;
  d.expect(3);
  uint32_t destination = d.destination(0, bitsOf(type)), a = d.source(1, type),
           b = d.source(2, Type::U32);
  Op &op = d.emit(fn);
  op.d = destination, op.a = a, op.b = b;
  return true;
}

bool ptxsim::decodeFunnelShift(Decoder &d) {
  int direction = d.takeOneOf({"l", "r"}),
      mode = d.takeOneOf({"wrap", "clamp"});
  if (d.takeType() != Type::B32 || direction < 0 || mode < 0 || !d.done())
    return false;
  d.expect(4);
  uint32_t destination = d.destination(0, 32), a = d.source(1, Type::B32),
           b = d.source(2, Type::B32), c = d.source(3, Type::U32);
  Op &op = d.emit(direction == 0
                      ? mode == 0 ? funnel<true, true> : funnel<true, false>
                  : mode == 0 ? funnel<false, true>
                              : funnel<false, false>);
  op.d = destination, op.a = a, op.b = b, op.c = c;
  return true;
}
