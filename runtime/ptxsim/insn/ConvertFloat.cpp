// cvt with a floating-point type on either side, one value per register.

#include "runtime/ptxsim/Decoder.h"
#include "runtime/ptxsim/Lanes.h"
#include "runtime/ptxsim/numeric/Convert.h"
#include "runtime/ptxsim/numeric/Half.h"

#include <algorithm>
#include <limits>

using namespace ptxsim;

namespace {

// --- the frequent forms, vectorised ---

struct NoClamp {
  static float apply(float f) { return f; }
};
struct Relu {
  static float apply(float f) { return relu(f); }
};

template <class H, class Clamp> struct NarrowHalf {
  uint16_t operator()(float f) const { return H::narrow(Clamp::apply(f)); }
};
template <class H, bool ftz> struct WidenHalf {
  float operator()(uint16_t h) const {
    return ftz ? flush(H::widen(h)) : H::widen(h);
  }
};

template <Rounding rounding, class T> T integral(T f) {
  if constexpr (rounding == Rounding::NearestEven)
    return __builtin_elementwise_roundeven(f);
  else if constexpr (rounding == Rounding::Zero)
    return __builtin_elementwise_trunc(f);
  else if constexpr (rounding == Rounding::Down)
    return __builtin_elementwise_floor(f);
  else
    return __builtin_elementwise_ceil(f);
}

template <bool ftz, bool sat> struct MoveF32 {
  float operator()(float f) const {
    f = ftz ? flush(f) : f;
    return sat ? saturate(f) : canonical(f);
  }
};
template <Rounding rounding, bool ftz, bool sat> struct IntegralF32 {
  float operator()(float f) const {
    f = integral<rounding>(ftz ? flush(f) : f);
    return sat ? saturate(f) : canonical(f);
  }
};

/// I is int32_t or uint32_t: every bound and every result is exact in double.
template <class I, Rounding rounding, bool ftz> struct F32ToInteger {
  uint32_t operator()(float f) const {
    double x = double(integral<rounding>(ftz ? flush(f) : f));
    constexpr double low = double(std::numeric_limits<I>::min()),
                     high = double(std::numeric_limits<I>::max());
    x = x > low ? x : x == x ? low : 0.0;
    x = x < high ? x : high;
    return uint32_t(int64_t(x));
  }
};
/// In 32 bits where AVX2 can: the double of a signed result converts directly.
template <Rounding rounding, bool ftz>
struct F32ToInteger<int32_t, rounding, ftz> {
  uint32_t operator()(float f) const {
    double x = double(integral<rounding>(ftz ? flush(f) : f));
    x = x > -2147483648.0 ? x : x == x ? -2147483648.0 : 0.0;
    x = x < 2147483647.0 ? x : 2147483647.0;
    return uint32_t(int32_t(x));
  }
};

template <class I> struct IntegerToF32 {
  float operator()(uint32_t a) const { return float(I(a)); }
};
template <class I> struct IntegerToF64 {
  double operator()(uint32_t a) const { return double(I(a)); }
};
template <bool ftz> struct F32ToF64 {
  double operator()(float f) const {
    f = ftz ? flush(f) : f;
    return f == f ? double(f) : std::bit_cast<double>(formatF64.nan());
  }
};
template <bool ftz> struct F64ToF32 {
  float operator()(double x) const {
    float f = canonical(float(x));
    return ftz ? flush(f) : f;
  }
};

template <template <Rounding, bool> class F, class D>
Handler byRounding(Rounding rounding, bool ftz) {
  auto pick = [&]<Rounding r>() -> Handler {
    return ftz ? unary<D, float, F<r, true>> : unary<D, float, F<r, false>>;
  };
  switch (rounding) {
  case Rounding::NearestEven:
    return pick.template operator()<Rounding::NearestEven>();
  case Rounding::Zero:
    return pick.template operator()<Rounding::Zero>();
  case Rounding::Down:
    return pick.template operator()<Rounding::Down>();
  default:
    return pick.template operator()<Rounding::Up>();
  }
}

template <Rounding r, bool ftz> struct ToS32 : F32ToInteger<int32_t, r, ftz> {};
template <Rounding r, bool ftz>
struct ToU32 : F32ToInteger<uint32_t, r, ftz> {};
template <Rounding r, bool ftz> struct Whole : IntegralF32<r, ftz, false> {};
template <Rounding r, bool ftz> struct WholeSat : IntegralF32<r, ftz, true> {};

template <class H> Handler narrowHandler(bool relu) {
  return relu ? unary<uint16_t, float, NarrowHalf<H, Relu>>
              : unary<uint16_t, float, NarrowHalf<H, NoClamp>>;
}

template <class H> Handler widenHandler(bool ftz) {
  return ftz ? unary<float, uint16_t, WidenHalf<H, true>>
             : unary<float, uint16_t, WidenHalf<H, false>>;
}

Handler moveHandler(bool ftz, bool sat) {
  if (sat)
    return ftz ? unary<float, float, MoveF32<true, true>>
               : unary<float, float, MoveF32<false, true>>;
  return ftz ? unary<float, float, MoveF32<true, false>>
             : unary<float, float, MoveF32<false, false>>;
}

/// The vectorised handler of a form whose registers are as wide as its types,
/// or null.
Handler frequent(const Conversion &c) {
  bool nearest = c.rounding == Rounding::NearestEven && !c.integral;
  if (c.from == Type::F32 && c.to == Type::F32)
    return !c.integral ? moveHandler(c.ftz, c.sat)
           : c.sat     ? byRounding<WholeSat, float>(c.rounding, c.ftz)
                       : byRounding<Whole, float>(c.rounding, c.ftz);
  // Float to integer clamps anyway: .sat says nothing new.
  if (c.from == Type::F32 && c.to == Type::S32)
    return byRounding<ToS32, uint32_t>(c.rounding, c.ftz);
  if (c.from == Type::F32 && c.to == Type::U32)
    return byRounding<ToU32, uint32_t>(c.rounding, c.ftz);
  if (c.sat || c.satfinite)
    return nullptr;
  if (c.to == Type::F32 && c.from == Type::BF16)
    return widenHandler<HalfBF16>(c.ftz);
  if (c.to == Type::F32 && c.from == Type::F16)
    return widenHandler<HalfF16>(c.ftz);
  if (c.to == Type::F64 && c.from == Type::F32)
    return c.ftz ? unary<double, float, F32ToF64<true>>
                 : unary<double, float, F32ToF64<false>>;
  if (!nearest)
    return nullptr;
  if (c.to == Type::F32 && c.from == Type::F64)
    return c.ftz ? unary<float, double, F64ToF32<true>>
                 : unary<float, double, F64ToF32<false>>;
  if (c.to == Type::F32 && c.from == Type::S32)
    return unary<float, uint32_t, IntegerToF32<int32_t>>;
  if (c.to == Type::F32 && c.from == Type::U32)
    return unary<float, uint32_t, IntegerToF32<uint32_t>>;
  if (c.to == Type::F64 && c.from == Type::S32)
    return unary<double, uint32_t, IntegerToF64<int32_t>>;
  if (c.to == Type::F64 && c.from == Type::U32)
    return unary<double, uint32_t, IntegerToF64<uint32_t>>;
  if (c.to == Type::BF16 && c.from == Type::F32 && !c.ftz)
    return narrowHandler<HalfBF16>(c.relu);
  if (c.to == Type::F16 && c.from == Type::F32 && !c.ftz)
    return narrowHandler<HalfF16>(c.relu);
  return nullptr;
}

// --- everything else ---

template <class D, class S>
void convertGeneral(Warp &w, const Op &op, uint32_t mask) {
  Conversion c = std::bit_cast<Conversion>(op.imm);
  const S *a = w.row<S>(op.a);
  D *d = w.row<D>(op.d);
  forLanes(mask, [&](unsigned l) { d[l] = D(convert(c, a[l])); });
}

template <class D> Handler generalTo(unsigned fromBits) {
  return fromBits == 64   ? convertGeneral<D, uint64_t>
         : fromBits == 32 ? convertGeneral<D, uint32_t>
                          : convertGeneral<D, uint16_t>;
}

bool isByte(Type t) { return t == Type::U8 || t == Type::S8; }

/// Which modifiers sm_90a allows on which pair of types.
bool isLegal(const Conversion &c, bool rounds) {
  bool bf16 = c.to == Type::BF16 || c.from == Type::BF16;
  bool f32 = c.to == Type::F32 || c.from == Type::F32;
  if (c.ftz && !f32)
    return false;
  if (bf16 && (c.sat || isByte(c.to) || isByte(c.from)))
    return false;
  if (c.relu || c.satfinite)
    return (c.to == Type::F16 || c.to == Type::BF16) && c.from == Type::F32 &&
           rounds && !c.integral && !c.ftz && !c.sat &&
           (c.rounding == Rounding::NearestEven ||
            c.rounding == Rounding::Zero);
  if (!isFloat(c.to))
    return rounds && c.integral;
  if (!isFloat(c.from))
    return rounds && !c.integral;
  if (c.to == c.from)
    return !rounds || c.integral;
  if (c.integral)
    return false;
  // Between the half formats and from bf16 upwards the rounding is optional.
  bool halves = (c.to == Type::F16 && c.from == Type::BF16) ||
                (c.to == Type::BF16 && c.from == Type::F16);
  if (halves || c.from == Type::BF16)
    return true;
  return rounds == (bitsOf(c.to) < bitsOf(c.from));
}

bool isScalarFloat(Type t) {
  return t == Type::F16 || t == Type::BF16 || t == Type::F32 || t == Type::F64;
}
bool isScalar(Type t) {
  return isScalarFloat(t) ||
         (isInteger(t) && t != Type::U16x2 && t != Type::S16x2);
}

} // namespace

bool ptxsim::decodeConvertFloat(Decoder &d) {
  Conversion c;
  c.to = d.takeType(), c.from = d.takeType();
  if (!isScalar(c.to) || !isScalar(c.from) ||
      (!isScalarFloat(c.to) && !isScalarFloat(c.from)))
    return false;
  int rounding = d.takeOneOf({"rn", "rz", "rm", "rp"});
  int whole = d.takeOneOf({"rni", "rzi", "rmi", "rpi"});
  if (rounding >= 0 && whole >= 0)
    return false;
  c.integral = whole >= 0;
  c.rounding = Rounding(std::max({rounding, whole, 0}));
  c.ftz = d.take("ftz"), c.sat = d.take("sat");
  c.relu = d.take("relu"), c.satfinite = d.take("satfinite");
  if (!d.done() || !isLegal(c, rounding >= 0 || whole >= 0))
    return false;
  d.expect(2);
  // Floating-point types need registers of their own width.
  unsigned toBits = bitsOf(c.to), fromBits = bitsOf(c.from);
  uint32_t destination = isFloat(c.to)
                             ? d.destination(0, toBits)
                             : d.destinationAtLeast(d[0], toBits, toBits);
  uint32_t source = isFloat(c.from) ? d.source(1, c.from)
                                    : d.sourceAtLeast(d[1], c.from, fromBits);
  Handler fn = toBits == bitsOf(c.to) && fromBits == bitsOf(c.from)
                   ? frequent(c)
                   : nullptr;
  if (!fn)
    fn = toBits == 64   ? generalTo<uint64_t>(fromBits)
         : toBits == 32 ? generalTo<uint32_t>(fromBits)
                        : generalTo<uint16_t>(fromBits);
  Op &op = d.emit(fn);
  op.d = destination, op.a = source;
  op.imm = std::bit_cast<uint64_t>(c);
  return true;
}
