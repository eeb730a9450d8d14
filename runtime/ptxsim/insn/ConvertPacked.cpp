// cvt to and from packed pairs (f16x2, bf16x2, e4m3x2, e5m2x2), and to tf32.

#include "runtime/ptxsim/Decoder.h"
#include "runtime/ptxsim/Lanes.h"
#include "runtime/ptxsim/numeric/Convert.h"
#include "runtime/ptxsim/numeric/Fp8.h"

using namespace ptxsim;

namespace {

template <bool clamp> float clampIf(float f) { return clamp ? relu(f) : f; }

/// cvt.rn.T.f32 d, a, b: a becomes the upper half.
template <class H, bool relu> struct PackHalves {
  [[gnu::always_inline]] uint32_t operator()(float high, float low) const {
    return uint32_t(H::narrow(clampIf<relu>(high))) << 16 |
           H::narrow(clampIf<relu>(low));
  }
};
template <class T, bool relu> struct PackFp8 {
  [[gnu::always_inline]] uint16_t operator()(float high, float low) const {
    return uint16_t(narrowFp8<T>(clampIf<relu>(high)) << 8 |
                    narrowFp8<T>(clampIf<relu>(low)));
  }
};
template <class T, bool relu> struct HalvesToFp8 {
  [[gnu::always_inline]] uint16_t operator()(uint32_t pair) const {
    return PackFp8<T, relu>()(HalfF16::widen(uint16_t(pair >> 16)),
                              HalfF16::widen(uint16_t(pair)));
  }
};
template <class T, bool relu> struct Fp8ToHalves {
  [[gnu::always_inline]] uint32_t operator()(uint16_t pair) const {
    uint16_t high = fp8ToF16<T>(uint8_t(pair >> 8)),
             low = fp8ToF16<T>(uint8_t(pair));
    if (relu)
      high = reluHalf<HalfF16>(high), low = reluHalf<HalfF16>(low);
    return uint32_t(high) << 16 | low;
  }
};

/// Two float sources with a rounding or saturation that has no vector form.
void packGeneral(Warp &w, const Op &op, uint32_t mask) {
  Conversion c = std::bit_cast<Conversion>(op.imm);
  const uint32_t *a = w.row<uint32_t>(op.a), *b = w.row<uint32_t>(op.b);
  uint32_t *d = w.row<uint32_t>(op.d);
  forLanes(mask, [&](unsigned l) {
    d[l] = uint32_t(convert(c, a[l]) << 16 | convert(c, b[l]));
  });
}

void convertTf32(Warp &w, const Op &op, uint32_t mask) {
  Conversion c = std::bit_cast<Conversion>(op.imm);
  const uint32_t *a = w.row<uint32_t>(op.a);
  uint32_t *d = w.row<uint32_t>(op.d);
  forLanes(mask, [&](unsigned l) { d[l] = uint32_t(convert(c, a[l])); });
}

template <class T> Handler fp8Handler(Type from, bool relu) {
  if (from == Type::F32)
    return relu ? binary<uint16_t, float, float, PackFp8<T, true>>
                : binary<uint16_t, float, float, PackFp8<T, false>>;
  return relu ? unary<uint16_t, uint32_t, HalvesToFp8<T, true>>
              : unary<uint16_t, uint32_t, HalvesToFp8<T, false>>;
}

template <class T> Handler fromFp8Handler(bool relu) {
  return relu ? unary<uint32_t, uint16_t, Fp8ToHalves<T, true>>
              : unary<uint32_t, uint16_t, Fp8ToHalves<T, false>>;
}

template <class H> Handler halvesHandler(const Conversion &c) {
  if (c.satfinite || c.rounding != Rounding::NearestEven)
    return packGeneral;
  return c.relu ? binary<uint32_t, float, float, PackHalves<H, true>>
                : binary<uint32_t, float, float, PackHalves<H, false>>;
}

bool isFp8Pair(Type t) { return t == Type::E4M3x2 || t == Type::E5M2x2; }

Handler select(const Conversion &c, Type to, bool away) {
  bool nearest = c.rounding == Rounding::NearestEven;
  if ((to == Type::F16x2 || to == Type::BF16x2) && c.from == Type::F32)
    return to == Type::F16x2 ? halvesHandler<HalfF16>(c)
                             : halvesHandler<HalfBF16>(c);
  if (isFp8Pair(to) && (c.from == Type::F32 || c.from == Type::F16x2) &&
      nearest && c.satfinite)
    return to == Type::E4M3x2 ? fp8Handler<Fp8E4M3>(c.from, c.relu)
                              : fp8Handler<Fp8E5M2>(c.from, c.relu);
  if (to == Type::F16x2 && isFp8Pair(c.from) && nearest && !c.satfinite)
    return c.from == Type::E4M3x2 ? fromFp8Handler<Fp8E4M3>(c.relu)
                                  : fromFp8Handler<Fp8E5M2>(c.relu);
  // On sm_90 only .rna takes .satfinite, and only the others take .relu.
  if (to == Type::TF32 && c.from == Type::F32 &&
      (away ? !c.relu : !c.satfinite))
    return convertTf32;
  return nullptr;
}

} // namespace

bool ptxsim::decodeConvertPacked(Decoder &d) {
  Conversion c;
  Type to = d.takeType();
  c.from = d.takeType();
  bool away = d.take("rna");
  int rounding = away ? int(Rounding::NearestAway) : d.takeOneOf({"rn", "rz"});
  c.relu = d.take("relu"), c.satfinite = d.take("satfinite");
  if (rounding < 0 || !d.done() || (away && to != Type::TF32))
    return false;
  c.rounding = Rounding(rounding);
  Handler fn = select(c, to, away);
  if (!fn)
    return false;
  // Two sources if a pair is made of single values.
  bool two = c.from == Type::F32 && to != Type::TF32;
  d.expect(two ? 3 : 2);
  unsigned toBits = isFp8Pair(to) ? 16 : 32;
  Type sourceType = isFp8Pair(c.from)       ? Type::B16
                    : c.from == Type::F16x2 ? Type::B32
                                            : Type::F32;
  uint32_t destination = d.destination(0, toBits);
  uint32_t a = d.source(1, sourceType);
  uint32_t b = two ? d.source(2, sourceType) : 0;
  c.to = to == Type::F16x2 ? Type::F16 : to == Type::BF16x2 ? Type::BF16 : to;
  Op &op = d.emit(fn);
  op.d = destination, op.a = a, op.b = b;
  op.imm = std::bit_cast<uint64_t>(c);
  return true;
}
