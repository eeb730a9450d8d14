// cvt between integer types.

#include "runtime/ptxsim/Decoder.h"
#include "runtime/ptxsim/Lanes.h"
#include "runtime/ptxsim/numeric/Convert.h"

#include <algorithm>

using namespace ptxsim;

namespace {

/// The conversions whose registers are as wide as the types (8 bits live in
/// 16).
template <class S, class D> struct Cast {
  using SourceRow = std::conditional_t<sizeof(S) == 1, uint16_t, BitsOf<S>>;
  using TargetRow = std::conditional_t<sizeof(D) == 1, uint16_t, BitsOf<D>>;
  TargetRow operator()(SourceRow a) const { return TargetRow(D(S(a))); }
};

template <class S, class D> constexpr Handler castHandler() {
  using C = Cast<S, D>;
  return unary<typename C::TargetRow, typename C::SourceRow, C>;
}

template <class S> Handler castFrom(Type to) {
  switch (to) {
  case Type::U8:
    return castHandler<S, uint8_t>();
  case Type::U16:
    return castHandler<S, uint16_t>();
  case Type::U32:
    return castHandler<S, uint32_t>();
  case Type::U64:
    return castHandler<S, uint64_t>();
  case Type::S8:
    return castHandler<S, int8_t>();
  case Type::S16:
    return castHandler<S, int16_t>();
  case Type::S32:
    return castHandler<S, int32_t>();
  default:
    return castHandler<S, int64_t>();
  }
}

Handler cast(Type from, Type to) {
  switch (from) {
  case Type::U8:
    return castFrom<uint8_t>(to);
  case Type::U16:
    return castFrom<uint16_t>(to);
  case Type::U32:
    return castFrom<uint32_t>(to);
  case Type::U64:
    return castFrom<uint64_t>(to);
  case Type::S8:
    return castFrom<int8_t>(to);
  case Type::S16:
    return castFrom<int16_t>(to);
  case Type::S32:
    return castFrom<int32_t>(to);
  default:
    return castFrom<int64_t>(to);
  }
}

/// Saturation, and registers wider than the types.
template <class S, class D>
void castGeneral(Warp &w, const Op &op, uint32_t mask) {
  Conversion c = std::bit_cast<Conversion>(op.imm);
  const S *a = w.row<S>(op.a);
  D *d = w.row<D>(op.d);
  forLanes(mask, [&](unsigned l) { d[l] = D(convert(c, a[l])); });
}

template <class S> Handler generalFrom(unsigned bits) {
  return bits == 64   ? castGeneral<S, uint64_t>
         : bits == 32 ? castGeneral<S, uint32_t>
                      : castGeneral<S, uint16_t>;
}

/// .sat is illegal where the destination holds every source value.
bool mayClamp(Type to, Type from) {
  unsigned toBits = bitsOf(to), fromBits = bitsOf(from);
  if (isSigned(to) == isSigned(from))
    return toBits < fromBits;
  return isSigned(to) ? toBits <= fromBits : true;
}

} // namespace

bool ptxsim::decodeConvertInteger(Decoder &d) {
  Conversion c;
  c.to = d.takeType(), c.from = d.takeType();
  c.sat = d.take("sat");
  if (!isInteger(c.to) || !isInteger(c.from) || !d.done() ||
      bitsOf(c.to) > 64 || c.to == Type::U16x2 || c.to == Type::S16x2 ||
      c.from == Type::U16x2 || c.from == Type::S16x2)
    return false;
  if (c.sat && !mayClamp(c.to, c.from))
    return false;
  d.expect(2);
  unsigned toBits = 0, fromBits = 0;
  uint32_t destination = d.destinationAtLeast(d[0], bitsOf(c.to), toBits);
  uint32_t source = d.sourceAtLeast(d[1], c.from, fromBits);
  bool natural = toBits == std::max(bitsOf(c.to), 16u) &&
                 fromBits == std::max(bitsOf(c.from), 16u);
  Op &op = d.emit(natural && !c.sat ? cast(c.from, c.to)
                  : fromBits == 64  ? generalFrom<uint64_t>(toBits)
                  : fromBits == 32  ? generalFrom<uint32_t>(toBits)
                                    : generalFrom<uint16_t>(toBits));
  op.d = destination, op.a = source;
  op.imm = std::bit_cast<uint64_t>(c);
  return true;
}
