// Bit fields and counts: lop3, prmt, bfe, bfi, bfind, brev, clz, popc, szext,
// bmsk, fns, dp4a, dp2a.

#include "runtime/ptxsim/Decoder.h"
#include "runtime/ptxsim/Lanes.h"

#include <algorithm>

using namespace ptxsim;

namespace {

/// op.imm is the look-up table: bit 4a + 2b + c.
void lop3(Warp &w, const Op &op, uint32_t mask) {
  const uint32_t *a = w.row<uint32_t>(op.a), *b = w.row<uint32_t>(op.b),
                 *c = w.row<uint32_t>(op.c);
  uint32_t term[8];
  for (unsigned i = 0; i < 8; ++i)
    term[i] = op.imm >> i & 1 ? ~0u : 0;
  setLanes(w.row<uint32_t>(op.d), mask, [&](unsigned l) {
    uint32_t x = a[l], y = b[l], z = c[l], low = (z & term[1]) | (~z & term[0]),
             second = (z & term[3]) | (~z & term[2]),
             third = (z & term[5]) | (~z & term[4]),
             high = (z & term[7]) | (~z & term[6]);
    return (x & ((y & high) | (~y & third))) |
           (~x & ((y & second) | (~y & low)));
  });
}

uint32_t permute(uint64_t bytes, uint32_t selector) {
  uint32_t r = 0;
  for (unsigned i = 0; i < 4; ++i) {
    uint32_t s = selector >> (4 * i) & 15,
             byte = uint32_t(bytes >> (8 * (s & 7))) & 0xff;
    if (s & 8)
      byte = byte & 0x80 ? 0xff : 0;
    r |= byte << (8 * i);
  }
  return r;
}
struct Permute {
  uint32_t operator()(uint32_t a, uint32_t b, uint32_t c) const {
    return permute(uint64_t(b) << 32 | a, c);
  }
};
// Selectors of the other modes by the low two bits of c, as the ISA's table has
// them.
constexpr uint16_t permuteModes[6][4] = {
    {0x3210, 0x4321, 0x5432, 0x6543}, // f4e
    {0x5670, 0x6701, 0x7012, 0x0123}, // b4e
    {0x0000, 0x1111, 0x2222, 0x3333}, // rc8
    {0x3210, 0x3211, 0x3222, 0x3333}, // ecl
    {0x0000, 0x1110, 0x2210, 0x3210}, // ecr
    {0x1010, 0x3232, 0x1010, 0x3232}, // rc16
};
void permuteMode(Warp &w, const Op &op, uint32_t mask) {
  const uint32_t *a = w.row<uint32_t>(op.a), *b = w.row<uint32_t>(op.b),
                 *c = w.row<uint32_t>(op.c);
  setLanes(w.row<uint32_t>(op.d), mask, [&](unsigned l) {
    return permute(uint64_t(b[l]) << 32 | a[l], permuteModes[op.imm][c[l] & 3]);
  });
}

template <class T> T lowBits(uint32_t n) {
  return n >= 8 * sizeof(T) ? T(~T(0)) : T((T(1) << n) - 1);
}

struct Bfe {
  template <class T> T operator()(T a, uint32_t b, uint32_t c) const {
    using UT = std::make_unsigned_t<T>;
    constexpr uint32_t msb = 8 * sizeof(T) - 1;
    uint32_t pos = b & 0xff, len = c & 0xff;
    bool sign = std::is_signed_v<T> && len &&
                (UT(a) >> std::min(pos + len - 1, msb) & 1);
    // Bits of the field that exist in a.
    uint32_t n = pos > msb ? 0 : std::min(len, msb + 1 - pos);
    UT field = n ? UT(UT(a) >> pos) & lowBits<UT>(n) : UT(0);
    return T(sign ? field | UT(~lowBits<UT>(n)) : field);
  }
};
struct Bfi {
  template <class T> static T insert(T a, T b, uint32_t c, uint32_t e) {
    constexpr uint32_t msb = 8 * sizeof(T) - 1;
    uint32_t pos = c & 0xff, len = e & 0xff;
    if (pos > msb || !len)
      return b;
    T field = T(lowBits<T>(len) << pos);
    return T((b & ~field) | ((a << pos) & field));
  }
};
template <class T> void bfi(Warp &w, const Op &op, uint32_t mask) {
  const T *a = w.row<T>(op.a), *b = w.row<T>(op.b);
  const uint32_t *c = w.row<uint32_t>(op.c), *e = w.row<uint32_t>(op.e);
  setLanes(w.row<T>(op.d), mask,
           [=](unsigned l) { return Bfi::insert<T>(a[l], b[l], c[l], e[l]); });
}
template <bool ShiftAmount> struct Bfind {
  template <class T> uint32_t operator()(T a) const {
    using UT = std::make_unsigned_t<T>;
    UT bits = std::is_signed_v<T> && a < 0 ? UT(~UT(a)) : UT(a);
    if (!bits)
      return ~0u;
    uint32_t zeros = uint32_t(std::countl_zero(bits));
    return ShiftAmount ? zeros : uint32_t(8 * sizeof(T) - 1) - zeros;
  }
};
struct Brev {
  template <class T> T operator()(T a) const {
    T r = 0;
    for (unsigned i = 0; i < 8 * sizeof(T); ++i)
      r |= T(a >> i & 1) << (8 * sizeof(T) - 1 - i);
    return r;
  }
};
struct Clz {
  template <class T> uint32_t operator()(T a) const {
    return uint32_t(std::countl_zero(a));
  }
};
struct Popc {
  template <class T> uint32_t operator()(T a) const {
    return uint32_t(std::popcount(a));
  }
};
/// The low b bits of a, extended to 32.
template <bool Wrap> struct Szext {
  template <class T> T operator()(T a, uint32_t b) const {
    uint32_t n = Wrap ? b & 31 : b;
    if (n >= 32)
      return a;
    if (!n)
      return 0;
    return T(T(uint32_t(a) << (32 - n)) >> (32 - n));
  }
};
/// b ones from bit a up.
template <bool Wrap> struct Bmsk {
  uint32_t operator()(uint32_t a, uint32_t b) const {
    if (Wrap)
      a &= 31, b &= 31;
    uint64_t ones = b >= 32 ? 0xffffffffull : (1ull << b) - 1;
    return a >= 32 ? 0 : uint32_t(ones << a);
  }
};
/// The position of the c-th set bit of a counted from bit b, downwards for
/// negative c.
struct Fns {
  uint32_t operator()(uint32_t a, uint32_t b, int32_t c) const {
    if (b > 31)
      return ~0u;
    if (c == 0)
      return a >> b & 1 ? b : ~0u;
    int step = c > 0 ? 1 : -1;
    uint32_t wanted = uint32_t(c > 0 ? c : -int64_t(c));
    for (int p = int(b); p >= 0 && p < 32; p += step)
      if (a >> p & 1 && --wanted == 0)
        return uint32_t(p);
    return ~0u;
  }
};
template <class A, class B> struct Dp4a {
  uint32_t operator()(uint32_t a, uint32_t b, uint32_t c) const {
    for (unsigned i = 0; i < 4; ++i)
      c += uint32_t(int32_t(A(a >> (8 * i))) * int32_t(B(b >> (8 * i))));
    return c;
  }
};
template <class A, class B, bool Hi> struct Dp2a {
  uint32_t operator()(uint32_t a, uint32_t b, uint32_t c) const {
    using A16 = std::conditional_t<std::is_signed_v<A>, int16_t, uint16_t>;
    for (unsigned i = 0; i < 2; ++i)
      c += uint32_t(int32_t(A16(a >> (16 * i)))) *
           uint32_t(int32_t(B(b >> (8 * (i + (Hi ? 2 : 0))))));
    return c;
  }
};

template <class F> void two32(Warp &w, const Op &op, uint32_t mask) {
  binary<uint32_t, uint32_t, uint32_t, F>(w, op, mask);
}
template <class F> void three32(Warp &w, const Op &op, uint32_t mask) {
  ternary<uint32_t, uint32_t, uint32_t, uint32_t, F>(w, op, mask);
}
template <class T> void bfe(Warp &w, const Op &op, uint32_t mask) {
  ternary<T, T, uint32_t, uint32_t, Bfe>(w, op, mask);
}

bool emitUnary(Decoder &d, Type type, unsigned destinationBits, Handler fn) {
  if (!fn || !d.done())
    return false;
  d.expect(2);
  uint32_t destination = d.destination(0, destinationBits),
           a = d.source(1, type);
  Op &op = d.emit(fn);
  op.d = destination, op.a = a;
  return true;
}
bool emitThree(Decoder &d, Type a, Type b, Type c, Handler fn,
               uint64_t imm = 0) {
  if (!fn || !d.done())
    return false;
  d.expect(4);
  uint32_t destination = d.destination(0, bitsOf(a)), ra = d.source(1, a),
           rb = d.source(2, b), rc = d.source(3, c);
  Op &op = d.emit(fn);
  op.d = destination, op.a = ra, op.b = rb, op.c = rc, op.imm = imm;
  return true;
}

} // namespace

namespace {

/// lop3.or d|p, a, b, c, table, q: p = (d != 0) or q; with and likewise.
/// op.e is p, op.target q's word, op.count: 1 for and, 2 if q is negated.
void lop3Predicate(Warp &w, const Op &op, uint32_t mask) {
  uint32_t q = w.word(op.target) ^ (op.count & 2 ? allLanes : 0);
  lop3(w, op, mask);
  const uint32_t *d = w.row<uint32_t>(op.d);
  uint32_t any = 0;
  for (unsigned l = 0; l < warpSize; ++l)
    any |= uint32_t(d[l] != 0) << l;
  any = op.count & 1 ? any & q : any | q;
  w.word(op.e) = (w.word(op.e) & ~mask) | (any & mask);
}

} // namespace

bool ptxsim::decodeLop3(Decoder &d) {
  const int combine = d.takeOneOf({"or", "and"});
  if (d.takeType() != Type::B32 || !d.done())
    return false;
  if (combine >= 0) {
    d.expect(6);
    const int64_t table = d.integer(d[4]);
    if (d[0].kind != Operand::Pair || table < 0 || table > 255)
      d.error("expected d|p and a look-up table from 0 to 255");
    // A sink still needs a row of its own width.
    const uint32_t destination = d.destination(d[0].elements[0], 32),
                   p = d.predicateDestination(d[0].elements[1]),
                   a = d.source(1, Type::B32), b = d.source(2, Type::B32),
                   c = d.source(3, Type::B32);
    const PredicateSource q = d.predicateSource(d[5]);
    Op &op = d.emit(lop3Predicate);
    op.d = destination, op.a = a, op.b = b, op.c = c, op.e = p;
    op.imm = uint64_t(table), op.target = q.row;
    op.count = uint16_t(combine | (q.flip ? 2 : 0));
    return true;
  }
  d.expect(5);
  int64_t table = d.integer(d[4]);
  if (table < 0 || table > 255)
    d.error("expected a look-up table from 0 to 255");
  uint32_t destination = d.destination(0, 32), a = d.source(1, Type::B32),
           b = d.source(2, Type::B32), c = d.source(3, Type::B32);
  Op &op = d.emit(lop3);
  op.d = destination, op.a = a, op.b = b, op.c = c, op.imm = uint64_t(table);
  return true;
}

bool ptxsim::decodePrmt(Decoder &d) {
  int mode = d.takeOneOf({"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"});
  if (d.takeType() != Type::B32)
    return false;
  return emitThree(d, Type::B32, Type::B32, Type::B32,
                   mode < 0 ? three32<Permute> : Handler(permuteMode),
                   uint64_t(mode < 0 ? 0 : mode));
}

bool ptxsim::decodeBfe(Decoder &d) {
  Type type = d.takeType();
  return emitThree(d, type, Type::U32, Type::U32,
                   type == Type::U32   ? bfe<uint32_t>
                   : type == Type::S32 ? bfe<int32_t>
                   : type == Type::U64 ? bfe<uint64_t>
                   : type == Type::S64 ? bfe<int64_t>
                                       : Handler(nullptr));
}

bool ptxsim::decodeBfi(Decoder &d) {
  Type type = d.takeType();
  if ((type != Type::B32 && type != Type::B64) || !d.done())
    return false;
  d.expect(5);
  uint32_t destination = d.destination(0, bitsOf(type)), a = d.source(1, type),
           b = d.source(2, type), c = d.source(3, Type::U32),
           e = d.source(4, Type::U32);
  Op &op = d.emit(type == Type::B32 ? bfi<uint32_t> : bfi<uint64_t>);
  op.d = destination, op.a = a, op.b = b, op.c = c, op.e = e;
  return true;
}

bool ptxsim::decodeBfind(Decoder &d) {
  bool amount = d.take("shiftamt");
  Type type = d.takeType();
  switch (type) {
  case Type::U32:
    return emitUnary(d, type, 32,
                     amount ? unary<uint32_t, uint32_t, Bfind<true>>
                            : unary<uint32_t, uint32_t, Bfind<false>>);
  case Type::S32:
    return emitUnary(d, type, 32,
                     amount ? unary<uint32_t, int32_t, Bfind<true>>
                            : unary<uint32_t, int32_t, Bfind<false>>);
  case Type::U64:
    return emitUnary(d, type, 32,
                     amount ? unary<uint32_t, uint64_t, Bfind<true>>
                            : unary<uint32_t, uint64_t, Bfind<false>>);
  case Type::S64:
    return emitUnary(d, type, 32,
                     amount ? unary<uint32_t, int64_t, Bfind<true>>
                            : unary<uint32_t, int64_t, Bfind<false>>);
  default:
    return false;
  }
}

bool ptxsim::decodeBitCount(Decoder &d) {
  Type type = d.takeType();
  if (type != Type::B32 && type != Type::B64)
    return false;
  const bool wide = type == Type::B64;
  if (d.opcode() == "brev")
    return emitUnary(d, type, bitsOf(type),
                     wide ? unary<uint64_t, uint64_t, Brev>
                          : unary<uint32_t, uint32_t, Brev>);
  if (d.opcode() == "clz")
    return emitUnary(d, type, 32,
                     wide ? unary<uint32_t, uint64_t, Clz>
                          : unary<uint32_t, uint32_t, Clz>);
  return emitUnary(d, type, 32,
                   wide ? unary<uint32_t, uint64_t, Popc>
                        : unary<uint32_t, uint32_t, Popc>);
}

bool ptxsim::decodeSzextBmsk(Decoder &d) {
  int mode = d.takeOneOf({"clamp", "wrap"});
  Type type = d.takeType();
  if (mode < 0 || !d.done())
    return false;
  Handler fn = nullptr;
  if (d.opcode() == "bmsk")
    fn = type != Type::B32 ? nullptr
         : mode            ? two32<Bmsk<true>>
                           : two32<Bmsk<false>>;
  else if (type == Type::U32)
    fn = mode ? two32<Szext<true>> : two32<Szext<false>>;
  else if (type == Type::S32)
    fn = mode ? binary<int32_t, int32_t, uint32_t, Szext<true>>
              : binary<int32_t, int32_t, uint32_t, Szext<false>>;
  if (!fn)
    return false;
  d.expect(3);
  uint32_t destination = d.destination(0, 32), a = d.source(1, type),
           b = d.source(2, Type::U32);
  Op &op = d.emit(fn);
  op.d = destination, op.a = a, op.b = b;
  return true;
}

bool ptxsim::decodeFns(Decoder &d) {
  if (d.takeType() != Type::B32)
    return false;
  return emitThree(d, Type::B32, Type::B32, Type::S32,
                   ternary<uint32_t, uint32_t, uint32_t, int32_t, Fns>);
}

bool ptxsim::decodeDotProduct(Decoder &d) {
  const bool four = d.opcode() == "dp4a";
  int half = four ? 0 : d.takeOneOf({"lo", "hi"});
  Type a = d.takeType(), b = d.takeType();
  auto signedness = [](Type t) {
    return t == Type::S32 ? 1 : t == Type::U32 ? 0 : -1;
  };
  int sa = signedness(a), sb = signedness(b);
  if (half < 0 || sa < 0 || sb < 0)
    return false;
  static const Handler handlers[3][2][2] = {
      {{three32<Dp4a<uint8_t, uint8_t>>, three32<Dp4a<uint8_t, int8_t>>},
       {three32<Dp4a<int8_t, uint8_t>>, three32<Dp4a<int8_t, int8_t>>}},
      {{three32<Dp2a<uint8_t, uint8_t, false>>,
        three32<Dp2a<uint8_t, int8_t, false>>},
       {three32<Dp2a<int8_t, uint8_t, false>>,
        three32<Dp2a<int8_t, int8_t, false>>}},
      {{three32<Dp2a<uint8_t, uint8_t, true>>,
        three32<Dp2a<uint8_t, int8_t, true>>},
       {three32<Dp2a<int8_t, uint8_t, true>>,
        three32<Dp2a<int8_t, int8_t, true>>}}};
  return emitThree(d, Type::B32, Type::B32, Type::B32,
                   handlers[four ? 0 : 1 + half][sa][sb]);
}
