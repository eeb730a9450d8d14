// ex2, lg2, sin, cos, tanh, rcp, sqrt, rsqrt and div with .approx (and
// div.full): error bounds and special values are specified, bits are not.

#include "runtime/ptxsim/numeric/Approximate.h"
#include "runtime/ptxsim/insn/Half.h"

using namespace ptxsim;

namespace {

template <class F, bool ftz> struct OnF32 {
  [[gnu::always_inline]] float operator()(float x) const {
    float y = canonical(F::apply(ftz ? flush(x) : x));
    return ftz ? flush(y) : y;
  }
};

/// Functions that call the host's libm do not vectorise.
template <class D, class A, class F>
void laneByLane(Warp &w, const Op &op, uint32_t mask) {
  const A *a = w.row<A>(op.a);
  D *d = w.row<D>(op.d);
  forLanes(mask, [&](unsigned l) { d[l] = F()(a[l]); });
}

template <class F> Handler onF32(bool ftz) {
  if constexpr (F::callsLibrary)
    return ftz ? laneByLane<float, float, OnF32<F, true>>
               : laneByLane<float, float, OnF32<F, false>>;
  else
    return ftz ? unary<float, float, OnF32<F, true>>
               : unary<float, float, OnF32<F, false>>;
}

template <class H, class F, bool ftz> struct OnHalf {
  [[gnu::always_inline]] uint16_t operator()(uint16_t h) const {
    uint16_t y = H::narrow(F::apply(H::widen(ftz ? flushHalf<H>(h) : h)));
    return ftz ? flushHalf<H>(y) : y;
  }
};

template <bool ftz> struct DivideApprox {
  float operator()(float a, float b) const {
    float q =
        ftz ? flush(divideApprox(flush(a), flush(b))) : divideApprox(a, b);
    return canonical(q);
  }
};
template <bool ftz> struct DivideFull {
  float operator()(float a, float b) const {
    float q = ftz ? flush(divideFull(flush(a), flush(b))) : divideFull(a, b);
    return canonical(q);
  }
};

struct ReciprocalF64 {
  double operator()(double x) const {
    x = flushDouble(std::bit_cast<double>(upperWord(x)));
    return flushDouble(std::bit_cast<double>(upperWord(1.0 / x)));
  }
};
struct RsqrtF64 {
  double operator()(double x) const { return 1.0 / __builtin_sqrt(x); }
};
struct RsqrtFtzF64 {
  double operator()(double x) const {
    x = flushDouble(std::bit_cast<double>(upperWord(x)));
    return std::bit_cast<double>(upperWord(1.0 / __builtin_sqrt(x)));
  }
};

Handler handlerF32(std::string_view opcode, bool ftz) {
  return opcode == "ex2"     ? onF32<Exp2>(ftz)
         : opcode == "lg2"   ? onF32<Log2>(ftz)
         : opcode == "sin"   ? onF32<Sine>(ftz)
         : opcode == "cos"   ? onF32<Cosine>(ftz)
         : opcode == "rcp"   ? onF32<Reciprocal>(ftz)
         : opcode == "sqrt"  ? onF32<SquareRoot>(ftz)
         : opcode == "rsqrt" ? onF32<ReciprocalSquareRoot>(ftz)
         : ftz               ? nullptr // tanh has no .ftz
                             : onF32<Tanh>(false);
}

Handler handlerF64(std::string_view opcode, bool ftz) {
  if (opcode == "rcp" && ftz)
    return unary<double, double, ReciprocalF64>;
  if (opcode == "rsqrt")
    return ftz ? unary<double, double, RsqrtFtzF64>
               : unary<double, double, RsqrtF64>;
  return nullptr;
}

template <class H, class F, bool ftz> Handler onHalf(bool pair) {
  using G = OnHalf<H, F, ftz>;
  if constexpr (F::callsLibrary)
    return pair ? laneByLane<uint32_t, uint32_t, Pair<G>>
                : laneByLane<uint16_t, uint16_t, G>;
  else
    return halfUnary<G>(pair);
}

/// ex2 flushes bf16 always (.ftz is part of its spelling) and f16 never.
Handler handlerHalf(std::string_view opcode, Type type, bool ftz) {
  bool pair = isHalfPair(type);
  bool bf16 = type == Type::BF16 || type == Type::BF16x2;
  if (opcode == "tanh" && !ftz)
    return bf16 ? onHalf<HalfBF16, Tanh, false>(pair)
                : onHalf<HalfF16, Tanh, false>(pair);
  if (opcode == "ex2" && bf16 == ftz)
    return bf16 ? onHalf<HalfBF16, Exp2, true>(pair)
                : onHalf<HalfF16, Exp2, false>(pair);
  return nullptr;
}

} // namespace

bool ptxsim::decodeApproximate(Decoder &d) {
  Type type = d.takeType();
  bool approximate = d.take("approx"), ftz = d.take("ftz");
  if (!approximate || !d.done())
    return false;
  Handler fn = type == Type::F32   ? handlerF32(d.opcode(), ftz)
               : type == Type::F64 ? handlerF64(d.opcode(), ftz)
               : isHalf(type)      ? handlerHalf(d.opcode(), type, ftz)
                                   : nullptr;
  if (!fn)
    return false;
  d.expect(2);
  uint32_t destination = d.destination(0, bitsOf(type));
  uint32_t a = isHalf(type) ? halfSource(d, 1, type) : d.source(1, type);
  Op &op = d.emit(fn);
  op.d = destination, op.a = a;
  return true;
}

bool ptxsim::decodeDivideApproximate(Decoder &d) {
  Type type = d.takeType();
  int kind = d.takeOneOf({"approx", "full"});
  bool ftz = d.take("ftz");
  if (type != Type::F32 || kind < 0 || !d.done())
    return false;
  d.expect(3);
  uint32_t destination = d.destination(0, 32);
  uint32_t a = d.source(1, type), b = d.source(2, type);
  Op &op =
      d.emit(kind == 0 ? ftz ? binary<float, float, float, DivideApprox<true>>
                             : binary<float, float, float, DivideApprox<false>>
             : ftz     ? binary<float, float, float, DivideFull<true>>
                       : binary<float, float, float, DivideFull<false>>);
  op.d = destination, op.a = a, op.b = b;
  return true;
}
