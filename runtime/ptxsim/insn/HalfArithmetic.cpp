// add, sub, mul, fma on f16, bf16 and pairs of them: one rounding of the exact
// result.

#include "runtime/ptxsim/Decoder.h"
#include "runtime/ptxsim/Lanes.h"
#include "runtime/ptxsim/insn/Half.h"

using namespace ptxsim;

namespace {

enum class Clamp : uint8_t { None, Saturate, Relu };

template <class H, bool ftz, Clamp clamp> struct Finish {
  static uint16_t in(uint16_t h) { return ftz ? flushHalf<H>(h) : h; }
  static uint16_t out(uint16_t h) {
    if (ftz)
      h = flushHalf<H>(h);
    if constexpr (clamp == Clamp::Saturate)
      h = saturateHalf<H>(h);
    if constexpr (clamp == Clamp::Relu)
      h = reluHalf<H>(h);
    return h;
  }
};

template <class H, bool ftz, Clamp clamp> struct Add {
  using Ends = Finish<H, ftz, clamp>;
  [[gnu::always_inline]] uint16_t operator()(uint16_t a, uint16_t b) const {
    return Ends::out(addHalf<H>(Ends::in(a), Ends::in(b)));
  }
};
template <class H, bool ftz, Clamp clamp> struct Subtract {
  using Ends = Finish<H, ftz, clamp>;
  [[gnu::always_inline]] uint16_t operator()(uint16_t a, uint16_t b) const {
    return Ends::out(addHalf<H>(Ends::in(a), Ends::in(b) ^ 0x8000));
  }
};
template <class H, bool ftz, Clamp clamp> struct Multiply {
  using Ends = Finish<H, ftz, clamp>;
  [[gnu::always_inline]] uint16_t operator()(uint16_t a, uint16_t b) const {
    return Ends::out(mulHalf<H>(Ends::in(a), Ends::in(b)));
  }
};
template <class H, bool ftz, Clamp clamp> struct MultiplyAdd {
  using Ends = Finish<H, ftz, clamp>;
  [[gnu::always_inline]] uint16_t operator()(uint16_t a, uint16_t b,
                                             uint16_t c) const {
    return Ends::out(fmaHalf<H>(Ends::in(a), Ends::in(b), Ends::in(c)));
  }
};

/// .oob: zero if an operand is the NaN that tensor copies fill with outside of
/// the tensor.
template <class H, bool ftz, Clamp clamp> struct MultiplyAddInside {
  [[gnu::always_inline]] uint16_t operator()(uint16_t a, uint16_t b,
                                             uint16_t c) const {
    constexpr uint16_t outside = 0x7fff;
    if (a == outside || b == outside || c == outside)
      return 0;
    return MultiplyAdd<H, ftz, clamp>()(a, b, c);
  }
};

struct Form {
  bool bf16, pair, ftz;
  Clamp clamp;
};

/// Every handler of one operation F; `Wrap` makes a handler of a function
/// object.
template <template <class, bool, Clamp> class F, template <class> class Wrap>
Handler select(const Form &f) {
  if (f.bf16)
    return f.clamp == Clamp::Relu
               ? Wrap<F<HalfBF16, false, Clamp::Relu>>::get(f.pair)
               : Wrap<F<HalfBF16, false, Clamp::None>>::get(f.pair);
  auto pick = [&]<Clamp clamp>() {
    return f.ftz ? Wrap<F<HalfF16, true, clamp>>::get(f.pair)
                 : Wrap<F<HalfF16, false, clamp>>::get(f.pair);
  };
  switch (f.clamp) {
  case Clamp::Saturate:
    return pick.template operator()<Clamp::Saturate>();
  case Clamp::Relu:
    return pick.template operator()<Clamp::Relu>();
  default:
    return pick.template operator()<Clamp::None>();
  }
}

template <class F> struct TwoSources {
  static Handler get(bool pair) { return halfBinary<F>(pair); }
};
template <class F> struct ThreeSources {
  static Handler get(bool pair) { return halfTernary<F>(pair); }
};

} // namespace

bool ptxsim::decodeHalfArithmetic(Decoder &d) {
  Type type = d.takeType();
  if (!isHalf(type))
    return false;
  bool fma = d.opcode() == "fma", nearest = d.take("rn");
  Form form;
  form.bf16 = type == Type::BF16 || type == Type::BF16x2;
  form.pair = isHalfPair(type);
  form.ftz = d.take("ftz");
  bool sat = d.take("sat"), relu = d.take("relu"), oob = fma && d.take("oob");
  form.clamp = sat ? Clamp::Saturate : relu ? Clamp::Relu : Clamp::None;
  if (!d.done() || (form.bf16 && (form.ftz || sat)) || (sat && relu))
    return false;
  if ((oob && form.ftz) || (fma ? !nearest : relu))
    return false;
  d.expect(fma ? 4 : 3);
  uint32_t destination = d.destination(0, bitsOf(type));
  uint32_t a = halfSource(d, 1, type), b = halfSource(d, 2, type);
  uint32_t c = fma ? halfSource(d, 3, type) : 0;
  Op &op = d.emit(oob   ? select<MultiplyAddInside, ThreeSources>(form)
                  : fma ? select<MultiplyAdd, ThreeSources>(form)
                  : d.opcode() == "add" ? select<Add, TwoSources>(form)
                  : d.opcode() == "sub" ? select<Subtract, TwoSources>(form)
                                        : select<Multiply, TwoSources>(form));
  op.d = destination, op.a = a, op.b = b, op.c = c;
  return true;
}
