// min, max, abs, neg on f16, bf16 and pairs of them.

#include "runtime/ptxsim/insn/Half.h"

using namespace ptxsim;

namespace {

template <class H, bool max, bool nan, bool ftz> struct Extreme {
  using Format = H;
  uint16_t operator()(uint16_t a, uint16_t b) const {
    return extremeHalf<H, max, nan>(ftz ? flushHalf<H>(a) : a,
                                    ftz ? flushHalf<H>(b) : b);
  }
};

/// .xorsign.abs: min or max of the magnitudes, with the product's sign unless
/// it is NaN.
template <class F> struct XorSign {
  uint16_t operator()(uint16_t a, uint16_t b) const {
    const uint16_t value = F()(a & 0x7fff, b & 0x7fff);
    return isNaNHalf<typename F::Format>(value)
               ? value
               : uint16_t(value | ((a ^ b) & 0x8000));
  }
};

template <class H, bool ftz> struct Absolute {
  uint16_t operator()(uint16_t a) const {
    return uint16_t((ftz ? flushHalf<H>(a) : a) & 0x7fff);
  }
};
template <class H, bool ftz> struct Negate {
  uint16_t operator()(uint16_t a) const {
    return uint16_t((ftz ? flushHalf<H>(a) : a) ^ 0x8000);
  }
};

template <class F> Handler extremeHandler(bool xorSign, bool pair) {
  return xorSign ? halfBinary<XorSign<F>>(pair) : halfBinary<F>(pair);
}

template <class H, bool max, bool ftz>
Handler extremeOf(bool nan, bool xorSign, bool pair) {
  return nan ? extremeHandler<Extreme<H, max, true, ftz>>(xorSign, pair)
             : extremeHandler<Extreme<H, max, false, ftz>>(xorSign, pair);
}

} // namespace

bool ptxsim::decodeHalfMinMax(Decoder &d) {
  Type type = d.takeType();
  if (!isHalf(type))
    return false;
  bool bf16 = type == Type::BF16 || type == Type::BF16x2;
  bool pair = isHalfPair(type), max = d.opcode() == "max";
  bool ftz = d.take("ftz"), nan = d.take("NaN"), xorSign = d.take("xorsign");
  if (xorSign != d.take("abs") || !d.done() || (bf16 && ftz))
    return false;
  d.expect(3);
  uint32_t destination = d.destination(0, bitsOf(type));
  uint32_t a = halfSource(d, 1, type), b = halfSource(d, 2, type);
  Handler fn = bf16
                   ? max ? extremeOf<HalfBF16, true, false>(nan, xorSign, pair)
                         : extremeOf<HalfBF16, false, false>(nan, xorSign, pair)
               : ftz ? max ? extremeOf<HalfF16, true, true>(nan, xorSign, pair)
                           : extremeOf<HalfF16, false, true>(nan, xorSign, pair)
               : max ? extremeOf<HalfF16, true, false>(nan, xorSign, pair)
                     : extremeOf<HalfF16, false, false>(nan, xorSign, pair);
  Op &op = d.emit(fn);
  op.d = destination, op.a = a, op.b = b;
  return true;
}

bool ptxsim::decodeHalfSign(Decoder &d) {
  Type type = d.takeType();
  bool ftz = d.take("ftz");
  bool bf16 = type == Type::BF16 || type == Type::BF16x2;
  if (!isHalf(type) || !d.done() || (bf16 && ftz))
    return false;
  d.expect(2);
  uint32_t destination = d.destination(0, bitsOf(type));
  uint32_t a = halfSource(d, 1, type);
  bool pair = isHalfPair(type), negate = d.opcode() == "neg";
  // Without .ftz the sign bit is in the same place in both formats.
  Op &op = d.emit(ftz      ? negate ? halfUnary<Negate<HalfF16, true>>(pair)
                                    : halfUnary<Absolute<HalfF16, true>>(pair)
                  : negate ? halfUnary<Negate<HalfF16, false>>(pair)
                           : halfUnary<Absolute<HalfF16, false>>(pair));
  op.d = destination, op.a = a;
  return true;
}
