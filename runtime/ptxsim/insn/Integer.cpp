// Integer arithmetic: add, sub, mul, mad, mul24, mad24, sad, div, rem, min,
// max, abs, neg. Carries: insn/Carry.cpp.

#include "runtime/ptxsim/Decoder.h"
#include "runtime/ptxsim/Lanes.h"

#include <algorithm>
#include <limits>

using namespace ptxsim;

namespace {

template <class T> using U = std::make_unsigned_t<T>;
/// Twice as wide.
template <class T>
using Wide = std::conditional_t<
    sizeof(T) == 2, std::conditional_t<std::is_signed_v<T>, int32_t, uint32_t>,
    std::conditional_t<
        sizeof(T) == 4,
        std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>,
        std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>>>;

// Overflow wraps. Sums and products of 16-bit types are formed in 32 unsigned
// bits: C++ would promote them to int.
template <class T>
using Arith = std::conditional_t<sizeof(T) == 2, uint32_t, U<T>>;

struct Add {
  template <class T> T operator()(T a, T b) const {
    return T(Arith<T>(a) + Arith<T>(b));
  }
};
struct Sub {
  template <class T> T operator()(T a, T b) const {
    return T(Arith<T>(a) - Arith<T>(b));
  }
};
struct AddSat {
  int32_t operator()(int32_t a, int32_t b) const {
    return int32_t(std::clamp<int64_t>(int64_t(a) + b, INT32_MIN, INT32_MAX));
  }
};
struct SubSat {
  int32_t operator()(int32_t a, int32_t b) const {
    return int32_t(std::clamp<int64_t>(int64_t(a) - b, INT32_MIN, INT32_MAX));
  }
};
struct MulLo {
  template <class T> T operator()(T a, T b) const {
    return T(Arith<T>(a) * Arith<T>(b));
  }
};
struct MulHi {
  template <class T> T operator()(T a, T b) const {
    return T((Wide<T>(a) * Wide<T>(b)) >> (8 * sizeof(T)));
  }
};
struct MulWide {
  template <class T> Wide<T> operator()(T a, T b) const {
    return Wide<T>(Wide<T>(a) * Wide<T>(b));
  }
};
struct MadLo {
  template <class T> T operator()(T a, T b, T c) const {
    return Add()(MulLo()(a, b), c);
  }
};
struct MadHi {
  template <class T> T operator()(T a, T b, T c) const {
    return Add()(MulHi()(a, b), c);
  }
};
struct MadHiSat {
  int32_t operator()(int32_t a, int32_t b, int32_t c) const {
    return AddSat()(MulHi()(a, b), c);
  }
};
struct MadWide {
  template <class T> Wide<T> operator()(T a, T b, Wide<T> c) const {
    return Add()(MulWide()(a, b), c);
  }
};
/// The low 24 bits of the sources, sign-extended for s32; 48-bit product.
template <class T> int64_t product24(T a, T b) {
  if constexpr (std::is_signed_v<T>)
    return int64_t(int32_t(uint32_t(a) << 8) >> 8) *
           (int32_t(uint32_t(b) << 8) >> 8);
  return int64_t(uint64_t(a & 0xffffff) * uint64_t(b & 0xffffff));
}
struct Mul24Lo {
  template <class T> T operator()(T a, T b) const { return T(product24(a, b)); }
};
struct Mul24Hi {
  template <class T> T operator()(T a, T b) const {
    return T(product24(a, b) >> 16);
  }
};
struct Mad24Lo {
  template <class T> T operator()(T a, T b, T c) const {
    return Add()(Mul24Lo()(a, b), c);
  }
};
struct Mad24Hi {
  template <class T> T operator()(T a, T b, T c) const {
    return Add()(Mul24Hi()(a, b), c);
  }
};
struct Mad24HiSat {
  int32_t operator()(int32_t a, int32_t b, int32_t c) const {
    return AddSat()(Mul24Hi()(a, b), c);
  }
};
struct Sad {
  template <class T> T operator()(T a, T b, T c) const {
    return Add()(c, a < b ? Sub()(b, a) : Sub()(a, b));
  }
};
// Division by zero is not defined by PTX; hardware gives all ones, and the
// dividend as remainder.
struct Div {
  template <class T> T operator()(T a, T b) const {
    if (b == 0)
      return T(-1);
    if (std::is_signed_v<T> && b == T(-1))
      return T(Arith<T>(0) - Arith<T>(a));
    return T(a / b);
  }
};
struct Rem {
  template <class T> T operator()(T a, T b) const {
    if (b == 0)
      return a;
    if (std::is_signed_v<T> && b == T(-1))
      return 0;
    return T(a % b);
  }
};
struct Min {
  template <class T> T operator()(T a, T b) const { return a < b ? a : b; }
};
struct Max {
  template <class T> T operator()(T a, T b) const { return a < b ? b : a; }
};
struct MinRelu {
  template <class T> T operator()(T a, T b) const {
    return Max()(Min()(a, b), T(0));
  }
};
struct MaxRelu {
  template <class T> T operator()(T a, T b) const {
    return Max()(Max()(a, b), T(0));
  }
};
struct Abs {
  template <class T> T operator()(T a) const {
    return a < 0 ? T(Arith<T>(0) - Arith<T>(a)) : a;
  }
};
struct Neg {
  template <class T> T operator()(T a) const {
    return T(Arith<T>(0) - Arith<T>(a));
  }
};
/// Two 16-bit operations in a 32-bit register.
template <class F, class T> struct Packed {
  uint32_t operator()(uint32_t a, uint32_t b) const {
    uint32_t lo = U<T>(F()(T(a), T(b))), hi = U<T>(F()(T(a >> 16), T(b >> 16)));
    return lo | hi << 16;
  }
};

template <class T, class F> void two(Warp &w, const Op &op, uint32_t mask) {
  binary<T, T, T, F>(w, op, mask);
}
template <class T, class F> void wide(Warp &w, const Op &op, uint32_t mask) {
  binary<Wide<T>, T, T, F>(w, op, mask);
}
template <class T, class F> void three(Warp &w, const Op &op, uint32_t mask) {
  ternary<T, T, T, T, F>(w, op, mask);
}
template <class T, class F>
void threeWide(Warp &w, const Op &op, uint32_t mask) {
  ternary<Wide<T>, T, T, Wide<T>, F>(w, op, mask);
}

/// Division cannot be evaluated in lanes that do not take part: it is slow, and
/// not vectorised.
template <class T, class F> void divide(Warp &w, const Op &op, uint32_t mask) {
  const T *a = w.row<T>(op.a), *b = w.row<T>(op.b);
  T *d = w.row<T>(op.d);
  forLanes(mask, [&](unsigned l) { d[l] = F()(a[l], b[l]); });
}

#define PTXSIM_BY_INTEGER_TYPE(type, handler)                                  \
  [&]() -> Handler {                                                           \
    switch (type) {                                                            \
    case Type::U16:                                                            \
      return handler(uint16_t);                                                \
    case Type::S16:                                                            \
      return handler(int16_t);                                                 \
    case Type::U32:                                                            \
      return handler(uint32_t);                                                \
    case Type::S32:                                                            \
      return handler(int32_t);                                                 \
    case Type::U64:                                                            \
      return handler(uint64_t);                                                \
    case Type::S64:                                                            \
      return handler(int64_t);                                                 \
    default:                                                                   \
      return nullptr;                                                          \
    }                                                                          \
  }()

template <class F> Handler binaryHandler(Type type) {
#define H(T) two<T, F>
  return PTXSIM_BY_INTEGER_TYPE(type, H);
#undef H
}
template <class F> Handler ternaryHandler(Type type) {
#define H(T) three<T, F>
  return PTXSIM_BY_INTEGER_TYPE(type, H);
#undef H
}
template <class F> Handler divideHandler(Type type) {
#define H(T) divide<T, F>
  return PTXSIM_BY_INTEGER_TYPE(type, H);
#undef H
}
template <class F> Handler unaryHandler(Type type) {
  switch (type) {
  case Type::S16:
    return unary<int16_t, int16_t, F>;
  case Type::S32:
    return unary<int32_t, int32_t, F>;
  case Type::S64:
    return unary<int64_t, int64_t, F>;
  default:
    return nullptr;
  }
}
template <class F> Handler wideHandler(Type type) {
  switch (type) {
  case Type::U16:
    return wide<uint16_t, F>;
  case Type::S16:
    return wide<int16_t, F>;
  case Type::U32:
    return wide<uint32_t, F>;
  case Type::S32:
    return wide<int32_t, F>;
  default:
    return nullptr;
  }
}
Handler madWideHandler(Type type) {
  switch (type) {
  case Type::U16:
    return threeWide<uint16_t, MadWide>;
  case Type::S16:
    return threeWide<int16_t, MadWide>;
  case Type::U32:
    return threeWide<uint32_t, MadWide>;
  case Type::S32:
    return threeWide<int32_t, MadWide>;
  default:
    return nullptr;
  }
}
template <class F> Handler packedHandler(Type type) {
  if (type == Type::U16x2)
    return two<uint32_t, Packed<F, uint16_t>>;
  return type == Type::S16x2 ? two<uint32_t, Packed<F, int16_t>> : nullptr;
}

/// Emits d = fn(a, b) with all operands of one width; false if there is no such
/// handler.
bool emitBinary(Decoder &d, Type type, Handler fn) {
  if (!fn || !d.done())
    return false;
  d.expect(3);
  uint32_t destination = d.destination(0, bitsOf(type)), a = d.source(1, type),
           b = d.source(2, type);
  Op &op = d.emit(fn);
  op.d = destination, op.a = a, op.b = b;
  return true;
}

bool emitTernary(Decoder &d, Type type, unsigned destinationBits, Type addend,
                 Handler fn) {
  if (!fn || !d.done())
    return false;
  d.expect(4);
  uint32_t destination = d.destination(0, destinationBits),
           a = d.source(1, type), b = d.source(2, type),
           c = d.source(3, addend);
  Op &op = d.emit(fn);
  op.d = destination, op.a = a, op.b = b, op.c = c;
  return true;
}

Type widened(Type type) {
  switch (type) {
  case Type::U16:
    return Type::U32;
  case Type::S16:
    return Type::S32;
  case Type::U32:
    return Type::U64;
  default:
    return Type::S64;
  }
}

} // namespace

bool ptxsim::decodeAddSub(Decoder &d) {
  const bool add = d.opcode() == "add";
  const bool sat = d.take("sat");
  Type type = d.takeType();
  if (sat)
    return type == Type::S32 &&
           emitBinary(d, type,
                      add ? two<int32_t, AddSat> : two<int32_t, SubSat>);
  if (type == Type::U16x2 || type == Type::S16x2)
    return add && emitBinary(d, type, packedHandler<Add>(type));
  return emitBinary(d, type,
                    add ? binaryHandler<Add>(type) : binaryHandler<Sub>(type));
}

bool ptxsim::decodeMul(Decoder &d) {
  int part = d.takeOneOf({"lo", "hi", "wide"});
  Type type = d.takeType();
  if (part < 0)
    return false;
  if (part < 2)
    return emitBinary(d, type,
                      part == 0 ? binaryHandler<MulLo>(type)
                                : binaryHandler<MulHi>(type));
  Handler fn = wideHandler<MulWide>(type);
  if (!fn || !d.done())
    return false;
  d.expect(3);
  uint32_t destination = d.destination(0, 2 * bitsOf(type)),
           a = d.source(1, type), b = d.source(2, type);
  Op &op = d.emit(fn);
  op.d = destination, op.a = a, op.b = b;
  return true;
}

bool ptxsim::decodeMad(Decoder &d) {
  int part = d.takeOneOf({"lo", "hi", "wide"});
  bool sat = d.take("sat");
  Type type = d.takeType();
  if (part < 0)
    return false;
  if (sat)
    return part == 1 && type == Type::S32 &&
           emitTernary(d, type, 32, type, three<int32_t, MadHiSat>);
  if (part < 2)
    return emitTernary(d, type, bitsOf(type), type,
                       part == 0 ? ternaryHandler<MadLo>(type)
                                 : ternaryHandler<MadHi>(type));
  return emitTernary(d, type, 2 * bitsOf(type), widened(type),
                     madWideHandler(type));
}

bool ptxsim::decodeMul24(Decoder &d) {
  int part = d.takeOneOf({"lo", "hi"});
  Type type = d.takeType();
  if (part < 0 || (type != Type::U32 && type != Type::S32))
    return false;
  const bool isSigned = type == Type::S32;
  if (d.opcode() == "mad24" && part == 1 && isSigned && d.take("sat"))
    return emitTernary(d, type, 32, type, three<int32_t, Mad24HiSat>);
  if (d.opcode() == "mul24")
    return emitBinary(d, type,
                      part == 0  ? isSigned ? two<int32_t, Mul24Lo>
                                            : two<uint32_t, Mul24Lo>
                      : isSigned ? two<int32_t, Mul24Hi>
                                 : two<uint32_t, Mul24Hi>);
  return emitTernary(d, type, 32, type,
                     part == 0  ? isSigned ? three<int32_t, Mad24Lo>
                                           : three<uint32_t, Mad24Lo>
                     : isSigned ? three<int32_t, Mad24Hi>
                                : three<uint32_t, Mad24Hi>);
}

bool ptxsim::decodeSad(Decoder &d) {
  Type type = d.takeType();
  return emitTernary(d, type, bitsOf(type), type, ternaryHandler<Sad>(type));
}

bool ptxsim::decodeDivRem(Decoder &d) {
  Type type = d.takeType();
  return emitBinary(d, type,
                    d.opcode() == "div" ? divideHandler<Div>(type)
                                        : divideHandler<Rem>(type));
}

bool ptxsim::decodeMinMax(Decoder &d) {
  const bool min = d.opcode() == "min", relu = d.take("relu");
  Type type = d.takeType();
  if (type == Type::U16x2 || type == Type::S16x2) {
    if (relu)
      return type == Type::S16x2 &&
             emitBinary(d, type,
                        min ? packedHandler<MinRelu>(type)
                            : packedHandler<MaxRelu>(type));
    return emitBinary(
        d, type, min ? packedHandler<Min>(type) : packedHandler<Max>(type));
  }
  if (relu)
    return type == Type::S32 &&
           emitBinary(d, type,
                      min ? two<int32_t, MinRelu> : two<int32_t, MaxRelu>);
  return emitBinary(d, type,
                    min ? binaryHandler<Min>(type) : binaryHandler<Max>(type));
}

bool ptxsim::decodeAbsNeg(Decoder &d) {
  Type type = d.takeType();
  Handler fn =
      d.opcode() == "abs" ? unaryHandler<Abs>(type) : unaryHandler<Neg>(type);
  if (!fn || !d.done())
    return false;
  d.expect(2);
  uint32_t destination = d.destination(0, bitsOf(type)), a = d.source(1, type);
  Op &op = d.emit(fn);
  op.d = destination, op.a = a;
  return true;
}
