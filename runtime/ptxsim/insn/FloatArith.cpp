// f32 and f64 to the nearest: add, sub, mul, fma, mad, div, sqrt; min, max,
// abs, neg, copysign, testp. Other rounding modes: insn/FloatArithRounding.cpp.

#include "runtime/ptxsim/insn/FloatArith.h"
#include "runtime/ptxsim/Decoder.h"
#include "runtime/ptxsim/Float.h"
#include "runtime/ptxsim/Lanes.h"

#include <cmath>

using namespace ptxsim;

namespace {

struct Add {
  template <class T> T operator()(T a, T b) const { return a + b; }
};
struct Sub {
  template <class T> T operator()(T a, T b) const { return a - b; }
};
struct Mul {
  template <class T> T operator()(T a, T b) const { return a * b; }
};
struct Div {
  template <class T> T operator()(T a, T b) const { return a / b; }
};
struct Fma {
  float operator()(float a, float b, float c) const {
    return __builtin_fmaf(a, b, c);
  }
  double operator()(double a, double b, double c) const {
    return __builtin_fma(a, b, c);
  }
};
struct Sqrt {
  float operator()(float a) const { return __builtin_sqrtf(a); }
  double operator()(double a) const { return __builtin_sqrt(a); }
};

template <class T, class F, bool Ftz, bool Sat> struct Wrapped {
  T operator()(T a) const { return finish<Ftz, Sat>(F()(input<Ftz>(a))); }
  T operator()(T a, T b) const {
    return finish<Ftz, Sat>(F()(input<Ftz>(a), input<Ftz>(b)));
  }
  T operator()(T a, T b, T c) const {
    return finish<Ftz, Sat>(F()(input<Ftz>(a), input<Ftz>(b), input<Ftz>(c)));
  }
};

template <class T, class F> void one(Warp &w, const Op &op, uint32_t mask) {
  unary<T, T, F>(w, op, mask);
}
template <class T, class F> void two(Warp &w, const Op &op, uint32_t mask) {
  binary<T, T, T, F>(w, op, mask);
}
template <class T, class F> void three(Warp &w, const Op &op, uint32_t mask) {
  ternary<T, T, T, T, F>(w, op, mask);
}

template <class F> Handler unaryHandler(Type type, bool ftz) {
  if (type == Type::F64)
    return one<double, Wrapped<double, F, false, false>>;
  return ftz ? one<float, Wrapped<float, F, true, false>>
             : one<float, Wrapped<float, F, false, false>>;
}
template <class F> Handler binaryHandler(Type type, bool ftz, bool sat) {
  if (type == Type::F64)
    return two<double, Wrapped<double, F, false, false>>;
  if (sat)
    return ftz ? two<float, Wrapped<float, F, true, true>>
               : two<float, Wrapped<float, F, false, true>>;
  return ftz ? two<float, Wrapped<float, F, true, false>>
             : two<float, Wrapped<float, F, false, false>>;
}
template <class F> Handler ternaryHandler(Type type, bool ftz, bool sat) {
  if (type == Type::F64)
    return three<double, Wrapped<double, F, false, false>>;
  if (sat)
    return ftz ? three<float, Wrapped<float, F, true, true>>
               : three<float, Wrapped<float, F, false, true>>;
  return ftz ? three<float, Wrapped<float, F, true, false>>
             : three<float, Wrapped<float, F, false, false>>;
}

Handler nearest(FloatOperation operation, Type type, bool ftz, bool sat) {
  switch (operation) {
  case FloatOperation::Add:
    return binaryHandler<Add>(type, ftz, sat);
  case FloatOperation::Sub:
    return binaryHandler<Sub>(type, ftz, sat);
  case FloatOperation::Mul:
    return binaryHandler<Mul>(type, ftz, sat);
  case FloatOperation::Fma:
    return ternaryHandler<Fma>(type, ftz, sat);
  case FloatOperation::Div:
    return binaryHandler<Div>(type, ftz, false);
  case FloatOperation::Sqrt:
    return unaryHandler<Sqrt>(type, ftz);
  }
  return nullptr;
}

/// -0 is less than +0. Without .NaN the operand that is a number wins.
template <bool Max, bool Nan, bool Ftz, bool XorSign> struct MinMax {
  template <class T> T operator()(T a, T b) const {
    using Bits = BitsOf<T>;
    constexpr Bits sign = Bits(1) << (8 * sizeof(T) - 1);
    a = input<Ftz>(a), b = input<Ftz>(b);
    Bits flip = 0;
    if constexpr (XorSign) {
      flip = (std::bit_cast<Bits>(a) ^ std::bit_cast<Bits>(b)) & sign;
      a = std::bit_cast<T>(Bits(std::bit_cast<Bits>(a) & ~sign)),
      b = std::bit_cast<T>(Bits(std::bit_cast<Bits>(b) & ~sign));
    }
    bool takeA = Max ? a > b : a < b;
    bool negativeA = std::bit_cast<Bits>(a) & sign;
    takeA = a == b ? (Max ? !negativeA : negativeA) : takeA;
    T r = takeA ? a : b;
    if constexpr (Nan)
      r = a == a && b == b ? r : a + b;
    else
      r = a != a ? b : b != b ? a : r;
    r = canonical(r);
    return XorSign && r == r
               ? std::bit_cast<T>(Bits(std::bit_cast<Bits>(r) ^ flip))
               : r;
  }
};
template <bool Max, bool Nan, bool XorSign>
Handler minMaxHandler(Type type, bool ftz) {
  if (type == Type::F64)
    return two<double, MinMax<Max, false, false, false>>;
  return ftz ? two<float, MinMax<Max, Nan, true, XorSign>>
             : two<float, MinMax<Max, Nan, false, XorSign>>;
}
template <bool Max>
Handler minMaxHandler(Type type, bool ftz, bool nan, bool xorSign) {
  if (xorSign)
    return nan ? minMaxHandler<Max, true, true>(type, ftz)
               : minMaxHandler<Max, false, true>(type, ftz);
  return nan ? minMaxHandler<Max, true, false>(type, ftz)
             : minMaxHandler<Max, false, false>(type, ftz);
}

// abs and neg change the sign bit only (and flush): a NaN keeps its payload.
template <bool Ftz> struct Abs {
  float operator()(float a) const {
    return std::bit_cast<float>(std::bit_cast<uint32_t>(input<Ftz>(a)) &
                                0x7fffffffu);
  }
  double operator()(double a) const {
    return std::bit_cast<double>(std::bit_cast<uint64_t>(a) & ~(1ull << 63));
  }
};
template <bool Ftz> struct Neg {
  float operator()(float a) const {
    return std::bit_cast<float>(std::bit_cast<uint32_t>(input<Ftz>(a)) ^
                                0x80000000u);
  }
  double operator()(double a) const {
    return std::bit_cast<double>(std::bit_cast<uint64_t>(a) ^ (1ull << 63));
  }
};

/// The sign of a on the value of b.
struct CopySign {
  uint32_t operator()(uint32_t a, uint32_t b) const {
    return (a & 0x80000000u) | (b & 0x7fffffffu);
  }
  uint64_t operator()(uint64_t a, uint64_t b) const {
    return (a & 1ull << 63) | (b & ~(1ull << 63));
  }
};

/// Class of a number: op.imm is one of the names of testp.
template <class T> void testp(Warp &w, const Op &op, uint32_t mask) {
  const T *a = w.row<T>(op.a);
  uint32_t bits = 0;
  forLanes(mask, [&](unsigned l) {
    int c = std::fpclassify(a[l]);
    bool yes = false;
    switch (op.imm) {
    case 0:
      yes = c != FP_INFINITE && c != FP_NAN;
      break;
    case 1:
      yes = c == FP_INFINITE;
      break;
    case 2:
      yes = c != FP_NAN;
      break;
    case 3:
      yes = c == FP_NAN;
      break;
    case 4:
      yes = c == FP_NORMAL || c == FP_ZERO; // the ISA calls zeros normal
      break;
    case 5:
      yes = c == FP_SUBNORMAL;
      break;
    default:
      break;
    }
    bits |= uint32_t(yes) << l;
  });
  w.word(op.d) = (w.word(op.d) & ~mask) | bits;
}

bool isFloat(Type type) { return type == Type::F32 || type == Type::F64; }

bool emit(Decoder &d, Type type, unsigned sources, Handler fn) {
  if (!fn || !d.done())
    return false;
  d.expect(1 + sources);
  uint32_t rows[3] = {};
  uint32_t destination = d.destination(0, bitsOf(type));
  for (unsigned i = 0; i < sources; ++i)
    rows[i] = d.source(1 + i, type);
  Op &op = d.emit(fn);
  op.d = destination, op.a = rows[0], op.b = rows[1], op.c = rows[2];
  return true;
}

bool decodeArith(Decoder &d, FloatOperation operation, unsigned sources,
                 bool needsRounding) {
  int rounding = d.takeOneOf({"rn", "rz", "rm", "rp"});
  const bool ftz = d.take("ftz"), sat = d.take("sat");
  Type type = d.takeType();
  if (!isFloat(type) || (type == Type::F64 && (ftz || sat)) ||
      (needsRounding && rounding < 0))
    return false;
  if (rounding <= 0)
    return emit(d, type, sources, nearest(operation, type, ftz, sat));
  return emit(d, type, sources,
              directedHandler(operation, Rounding(rounding), type, ftz, sat));
}

} // namespace

bool ptxsim::decodeFloatArith(Decoder &d) {
  std::string_view name = d.opcode();
  if (name == "fma" || name == "mad")
    return decodeArith(d, FloatOperation::Fma, 3, true);
  return decodeArith(d,
                     name == "add"   ? FloatOperation::Add
                     : name == "sub" ? FloatOperation::Sub
                                     : FloatOperation::Mul,
                     2, false);
}

bool ptxsim::decodeFloatDiv(Decoder &d) {
  return decodeArith(d, FloatOperation::Div, 2, true);
}

bool ptxsim::decodeFloatSqrt(Decoder &d) {
  return decodeArith(d, FloatOperation::Sqrt, 1, true);
}

bool ptxsim::decodeFloatMinMax(Decoder &d) {
  const bool ftz = d.take("ftz"), nan = d.take("NaN");
  const bool xorSign = d.take("xorsign");
  if (xorSign && !d.take("abs"))
    return false;
  Type type = d.takeType();
  if (!isFloat(type) || (type == Type::F64 && (ftz || nan || xorSign)))
    return false;
  return emit(d, type, 2,
              d.opcode() == "max"
                  ? minMaxHandler<true>(type, ftz, nan, xorSign)
                  : minMaxHandler<false>(type, ftz, nan, xorSign));
}

bool ptxsim::decodeFloatAbsNeg(Decoder &d) {
  const bool ftz = d.take("ftz"), abs = d.opcode() == "abs";
  Type type = d.takeType();
  if (type == Type::F64)
    return !ftz &&
           emit(d, type, 1,
                abs ? one<double, Abs<false>> : one<double, Neg<false>>);
  if (type != Type::F32)
    return false;
  if (ftz)
    return emit(d, type, 1,
                abs ? one<float, Abs<true>> : one<float, Neg<true>>);
  return emit(d, type, 1,
              abs ? one<float, Abs<false>> : one<float, Neg<false>>);
}

bool ptxsim::decodeCopysign(Decoder &d) {
  Type type = d.takeType();
  if (!isFloat(type))
    return false;
  return emit(d, type, 2,
              type == Type::F32 ? two<uint32_t, CopySign>
                                : two<uint64_t, CopySign>);
}

bool ptxsim::decodeTestp(Decoder &d) {
  int what = d.takeOneOf(
      {"finite", "infinite", "number", "notanumber", "normal", "subnormal"});
  Type type = d.takeType();
  if (what < 0 || !isFloat(type) || !d.done())
    return false;
  d.expect(2);
  uint32_t destination = d.predicateDestination(d[0]), a = d.source(1, type);
  Op &op = d.emit(type == Type::F32 ? testp<float> : testp<double>);
  op.d = destination, op.a = a, op.imm = uint64_t(what);
  return true;
}
