// Extended precision: add.cc, addc, sub.cc, subc, mad.cc, madc, through the
// carry flag (a word of the warp, one bit per lane).

#include "runtime/ptxsim/Decoder.h"
#include "runtime/ptxsim/Lanes.h"

using namespace ptxsim;

namespace {

/// a + b + carry in; Sub: a - b - borrow in.
template <class T, bool Sub, bool In, bool Out>
void addCarry(Warp &w, const Op &op, uint32_t mask) {
  const T *a = w.row<T>(op.a), *b = w.row<T>(op.b);
  T *d = w.row<T>(op.d);
  uint32_t &flags = w.word(carryWord);
  uint32_t out = 0;
  forLanes(mask, [&](unsigned l) {
    T x = a[l], y = b[l], carry = In ? T(flags >> l & 1) : T(0), r;
    bool c1, c2;
    if (Sub) {
      c1 = __builtin_sub_overflow(x, y, &r);
      c2 = __builtin_sub_overflow(r, carry, &r);
    } else {
      c1 = __builtin_add_overflow(x, y, &r);
      c2 = __builtin_add_overflow(r, carry, &r);
    }
    d[l] = r;
    out |= uint32_t(c1 | c2) << l;
  });
  if (Out)
    flags = (flags & ~mask) | out;
}

/// The low or high half of a * b, plus c, plus carry in.
template <class T, bool Hi, bool In, bool Out>
void madCarry(Warp &w, const Op &op, uint32_t mask) {
  using UT = std::make_unsigned_t<T>;
  using W = std::conditional_t<
      sizeof(T) == 4,
      std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>,
      std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>>;
  const T *a = w.row<T>(op.a), *b = w.row<T>(op.b), *c = w.row<T>(op.c);
  T *d = w.row<T>(op.d);
  uint32_t &flags = w.word(carryWord);
  uint32_t out = 0;
  forLanes(mask, [&](unsigned l) {
    W product = W(a[l]) * W(b[l]);
    UT x = UT(Hi ? product >> (8 * sizeof(T)) : product), r,
       carry = In ? UT(flags >> l & 1) : UT(0);
    bool c1 = __builtin_add_overflow(x, UT(c[l]), &r);
    bool c2 = __builtin_add_overflow(r, carry, &r);
    d[l] = T(r);
    out |= uint32_t(c1 | c2) << l;
  });
  if (Out)
    flags = (flags & ~mask) | out;
}

template <class T, bool Sub> Handler addHandler(bool in, bool out) {
  if (in)
    return out ? addCarry<T, Sub, true, true> : addCarry<T, Sub, true, false>;
  return addCarry<T, Sub, false, true>;
}

template <class T, bool Hi> Handler madHandlerOf(bool in, bool out) {
  if (in)
    return out ? madCarry<T, Hi, true, true> : madCarry<T, Hi, true, false>;
  return madCarry<T, Hi, false, true>;
}
template <class T> Handler madHandler(bool hi, bool in, bool out) {
  return hi ? madHandlerOf<T, true>(in, out) : madHandlerOf<T, false>(in, out);
}

} // namespace

bool ptxsim::decodeCarry(Decoder &d) {
  const bool in = d.opcode().back() == 'c', sub = d.opcode().starts_with("sub"),
             out = d.take("cc");
  Type type = d.takeType();
  if (!isInteger(type) || bitsOf(type) < 32 || type == Type::U16x2 ||
      type == Type::S16x2 || (!in && !out) || !d.done())
    return false;
  d.expect(3);
  Handler fn = bitsOf(type) == 32 ? sub ? addHandler<uint32_t, true>(in, out)
                                        : addHandler<uint32_t, false>(in, out)
               : sub              ? addHandler<uint64_t, true>(in, out)
                                  : addHandler<uint64_t, false>(in, out);
  uint32_t destination = d.destination(0, bitsOf(type)), a = d.source(1, type),
           b = d.source(2, type);
  d.carry(in, out);
  Op &op = d.emit(fn);
  op.d = destination, op.a = a, op.b = b;
  return true;
}

bool ptxsim::decodeMadCarry(Decoder &d) {
  const bool in = d.opcode() == "madc", out = d.take("cc");
  int part = d.takeOneOf({"lo", "hi"});
  Type type = d.takeType();
  if (part < 0 || (!in && !out) || !d.done())
    return false;
  Handler fn = type == Type::U32   ? madHandler<uint32_t>(part, in, out)
               : type == Type::S32 ? madHandler<int32_t>(part, in, out)
               : type == Type::U64 ? madHandler<uint64_t>(part, in, out)
               : type == Type::S64 ? madHandler<int64_t>(part, in, out)
                                   : nullptr;
  if (!fn)
    return false;
  d.expect(4);
  uint32_t destination = d.destination(0, bitsOf(type)), a = d.source(1, type),
           b = d.source(2, type), c = d.source(3, type);
  d.carry(in, out);
  Op &op = d.emit(fn);
  op.d = destination, op.a = a, op.b = b, op.c = c;
  return true;
}
