// setp, set, selp, slct on integers, f32 and f64.

#include "runtime/ptxsim/Decoder.h"
#include "runtime/ptxsim/Float.h"
#include "runtime/ptxsim/Lanes.h"

#include <cmath>

using namespace ptxsim;

namespace {

enum class Compare : uint8_t {
  Eq,
  Ne,
  Lt,
  Le,
  Gt,
  Ge,
  Equ,
  Neu,
  Ltu,
  Leu,
  Gtu,
  Geu,
  Num,
  Nan
};
enum class Combine : uint8_t { None, And, Or, Xor };

/// The u forms are true when an operand is NaN, the others false (ne: true as
/// C++ has it, which PTX's ne is not).
template <Compare C, class T> bool compare(T a, T b) {
  bool nan = false;
  if constexpr (std::is_floating_point_v<T>)
    nan = a != a || b != b;
  switch (C) {
  case Compare::Eq:
    return a == b;
  case Compare::Ne:
    return !nan && a != b;
  case Compare::Lt:
    return a < b;
  case Compare::Le:
    return a <= b;
  case Compare::Gt:
    return a > b;
  case Compare::Ge:
    return a >= b;
  case Compare::Equ:
    return nan || a == b;
  case Compare::Neu:
    return a != b;
  case Compare::Ltu:
    return nan || a < b;
  case Compare::Leu:
    return nan || a <= b;
  case Compare::Gtu:
    return nan || a > b;
  case Compare::Geu:
    return nan || a >= b;
  case Compare::Num:
    return !nan;
  case Compare::Nan:
    return nan;
  }
  return false;
}

template <Compare C, class T, bool Ftz>
uint32_t compareLanes(const T *a, const T *b) {
  uint32_t bits = 0;
  PTXSIM_VECTORIZE
  for (unsigned l = 0; l < warpSize; ++l) {
    T x = a[l], y = b[l];
    if constexpr (Ftz)
      x = flush(x), y = flush(y);
    bits |= uint32_t(compare<C, T>(x, y)) << l;
  }
  return bits;
}

uint32_t combine(Combine how, uint32_t bits, uint32_t with) {
  switch (how) {
  case Combine::And:
    return bits & with;
  case Combine::Or:
    return bits | with;
  case Combine::Xor:
    return bits ^ with;
  case Combine::None:
    break;
  }
  return bits;
}

// imm of setp and set: the combination in bits 0-1, bit 2: there is a second
// destination, the flip of c in the upper half.
constexpr uint64_t hasSecond = 4;

template <Compare C, class T, bool Ftz>
void setp(Warp &w, const Op &op, uint32_t mask) {
  const uint32_t bits = compareLanes<C, T, Ftz>(w.row<T>(op.a), w.row<T>(op.b));
  if (!op.imm) {
    w.word(op.d) = (w.word(op.d) & ~mask) | (bits & mask);
    return;
  }
  const auto how = Combine(op.imm & 3);
  const uint32_t c = w.word(op.c) ^ uint32_t(op.imm >> 32);
  w.word(op.d) = (w.word(op.d) & ~mask) | (combine(how, bits, c) & mask);
  if (op.imm & hasSecond)
    w.word(op.e) = (w.word(op.e) & ~mask) | (combine(how, ~bits, c) & mask);
}

/// What set writes for true, by imm bits 3 and 4: all ones, or 1.0 of f32, f16,
/// bf16.
constexpr uint32_t trueValues[] = {~0u, 0x3f800000u, 0x3c00, 0x3f80};

template <Compare C, class T, bool Ftz>
void set(Warp &w, const Op &op, uint32_t mask) {
  uint32_t bits = compareLanes<C, T, Ftz>(w.row<T>(op.a), w.row<T>(op.b));
  bits =
      combine(Combine(op.imm & 3), bits, w.word(op.c) ^ uint32_t(op.imm >> 32));
  const uint32_t yes = trueValues[op.imm >> 3 & 3];
  if (op.imm & 16)
    return setLanes(w.row<uint16_t>(op.d), mask, [=](unsigned l) {
      return uint16_t(bits >> l & 1 ? yes : 0u);
    });
  setLanes(w.row<uint32_t>(op.d), mask,
           [=](unsigned l) { return bits >> l & 1 ? yes : 0u; });
}

struct Handlers {
  Handler setp, set;
};
template <Compare C, class T, bool Ftz = false> Handlers both() {
  return {setp<C, T, Ftz>, set<C, T, Ftz>};
}

template <class T> Handlers ofInteger(Compare c) {
  switch (c) {
  case Compare::Eq:
    return both<Compare::Eq, T>();
  case Compare::Ne:
    return both<Compare::Ne, T>();
  case Compare::Lt:
    return both<Compare::Lt, T>();
  case Compare::Le:
    return both<Compare::Le, T>();
  case Compare::Gt:
    return both<Compare::Gt, T>();
  case Compare::Ge:
    return both<Compare::Ge, T>();
  default:
    return {nullptr, nullptr};
  }
}
template <class T, bool Ftz> Handlers ofFloat(Compare c) {
  switch (c) {
  case Compare::Eq:
    return both<Compare::Eq, T, Ftz>();
  case Compare::Ne:
    return both<Compare::Ne, T, Ftz>();
  case Compare::Lt:
    return both<Compare::Lt, T, Ftz>();
  case Compare::Le:
    return both<Compare::Le, T, Ftz>();
  case Compare::Gt:
    return both<Compare::Gt, T, Ftz>();
  case Compare::Ge:
    return both<Compare::Ge, T, Ftz>();
  case Compare::Equ:
    return both<Compare::Equ, T, Ftz>();
  case Compare::Neu:
    return both<Compare::Neu, T, Ftz>();
  case Compare::Ltu:
    return both<Compare::Ltu, T, Ftz>();
  case Compare::Leu:
    return both<Compare::Leu, T, Ftz>();
  case Compare::Gtu:
    return both<Compare::Gtu, T, Ftz>();
  case Compare::Geu:
    return both<Compare::Geu, T, Ftz>();
  case Compare::Num:
    return both<Compare::Num, T, Ftz>();
  case Compare::Nan:
    return both<Compare::Nan, T, Ftz>();
  }
  return {nullptr, nullptr};
}

Handlers select(Compare c, Type type, bool ftz) {
  if (ftz)
    return type == Type::F32 ? ofFloat<float, true>(c)
                             : Handlers{nullptr, nullptr};
  if (isBits(type) && c != Compare::Eq && c != Compare::Ne)
    return {nullptr, nullptr};
  switch (type) {
  case Type::B16:
  case Type::U16:
    return ofInteger<uint16_t>(c);
  case Type::S16:
    return ofInteger<int16_t>(c);
  case Type::B32:
  case Type::U32:
    return ofInteger<uint32_t>(c);
  case Type::S32:
    return ofInteger<int32_t>(c);
  case Type::B64:
  case Type::U64:
    return ofInteger<uint64_t>(c);
  case Type::S64:
    return ofInteger<int64_t>(c);
  case Type::F32:
    return ofFloat<float, false>(c);
  case Type::F64:
    return ofFloat<double, false>(c);
  default:
    return {nullptr, nullptr};
  }
}

/// lo, ls, hi, hs are the unsigned names of lt, le, gt, ge.
std::optional<Compare> takeCompare(Decoder &d, bool &isUnsignedName) {
  int unsignedName = d.takeOneOf({"lo", "ls", "hi", "hs"});
  isUnsignedName = unsignedName >= 0;
  if (unsignedName >= 0)
    return Compare(int(Compare::Lt) + unsignedName);
  int name = d.takeOneOf({"eq", "ne", "lt", "le", "gt", "ge", "equ", "neu",
                          "ltu", "leu", "gtu", "geu", "num", "nan"});
  if (name < 0)
    return std::nullopt;
  return Compare(name);
}

template <class T> void selp(Warp &w, const Op &op, uint32_t mask) {
  const T *a = w.row<T>(op.a), *b = w.row<T>(op.b);
  const uint32_t c = w.word(op.c) ^ uint32_t(op.imm);
  setLanes(w.row<T>(op.d), mask, [=](unsigned l) {
    T keep = T(-T(c >> l & 1));
    return T((a[l] & keep) | (b[l] & ~keep));
  });
}

/// d = c >= 0 ? a : b; NaN selects b.
template <class T, class C, bool Ftz>
void slct(Warp &w, const Op &op, uint32_t mask) {
  const T *a = w.row<T>(op.a), *b = w.row<T>(op.b);
  const C *c = w.row<C>(op.c);
  setLanes(w.row<T>(op.d), mask, [=](unsigned l) {
    C value = c[l];
    if constexpr (Ftz)
      value = flush(value);
    return value >= 0 ? a[l] : b[l];
  });
}
template <class T> Handler slctHandler(Type c, bool ftz) {
  if (c == Type::S32)
    return ftz ? nullptr : Handler(slct<T, int32_t, false>);
  return c != Type::F32 ? nullptr
         : ftz          ? slct<T, float, true>
                        : Handler(slct<T, float, false>);
}

} // namespace

bool ptxsim::decodeSetp(Decoder &d) {
  bool isUnsignedName;
  auto c = takeCompare(d, isUnsignedName);
  int how = d.takeOneOf({"and", "or", "xor"});
  bool ftz = d.take("ftz");
  Type type = d.takeType();
  if (!c || !d.done() || (isUnsignedName && !isUnsigned(type)))
    return false;
  Handler fn = select(*c, type, ftz).setp;
  if (!fn)
    return false;
  d.expect(how < 0 ? 3 : 4);
  uint32_t first, second = 0;
  const bool pair = d[0].kind == Operand::Pair;
  if (pair)
    first = d.predicateDestination(d[0].elements[0]),
    second = d.predicateDestination(d[0].elements[1]);
  else
    first = d.predicateDestination(d[0]);
  uint32_t a = d.source(1, type), b = d.source(2, type);
  PredicateSource with{0, 0};
  if (how >= 0)
    with = d.predicateSource(d[3]);
  Op &op = d.emit(fn);
  op.d = first, op.e = second, op.a = a, op.b = b, op.c = with.row;
  op.imm = uint64_t(how + 1) | (pair ? hasSecond : 0) |
           (how >= 0 ? uint64_t(with.flip) << 32 : 0);
  return true;
}

bool ptxsim::decodeSet(Decoder &d) {
  bool isUnsignedName;
  auto c = takeCompare(d, isUnsignedName);
  int how = d.takeOneOf({"and", "or", "xor"});
  bool ftz = d.take("ftz");
  Type to = d.takeType(), from = d.takeType();
  const uint64_t kind = to == Type::F32    ? 1
                        : to == Type::F16  ? 2
                        : to == Type::BF16 ? 3
                                           : 0;
  if (!c || (!kind && to != Type::U32 && to != Type::S32) || !d.done() ||
      (isUnsignedName && !isUnsigned(from)) || (to == Type::BF16 && ftz))
    return false;
  Handler fn = select(*c, from, ftz).set;
  if (!fn)
    return false;
  d.expect(how < 0 ? 3 : 4);
  uint32_t destination = d.destination(0, bitsOf(to)), a = d.source(1, from),
           b = d.source(2, from);
  PredicateSource with{0, 0};
  if (how >= 0)
    with = d.predicateSource(d[3]);
  Op &op = d.emit(fn);
  op.d = destination, op.a = a, op.b = b, op.c = with.row;
  op.imm = uint64_t(how + 1) | kind << 3 |
           (how >= 0 ? uint64_t(with.flip) << 32 : 0);
  return true;
}

bool ptxsim::decodeSelp(Decoder &d) {
  Type type = d.takeType();
  unsigned bits = bitsOf(type);
  if ((bits != 16 && bits != 32 && bits != 64) || type == Type::F16 ||
      type == Type::BF16 || !d.done())
    return false;
  d.expect(4);
  uint32_t destination = d.destination(0, bits), a = d.source(1, type),
           b = d.source(2, type);
  PredicateSource c = d.predicateSource(d[3]);
  Op &op = d.emit(bits == 16   ? selp<uint16_t>
                  : bits == 32 ? selp<uint32_t>
                               : selp<uint64_t>);
  op.d = destination, op.a = a, op.b = b, op.c = c.row, op.imm = c.flip;
  return true;
}

bool ptxsim::decodeSlct(Decoder &d) {
  bool ftz = d.take("ftz");
  Type type = d.takeType(), condition = d.takeType();
  unsigned bits = bitsOf(type);
  Handler fn = bits == 16   ? slctHandler<uint16_t>(condition, ftz)
               : bits == 32 ? slctHandler<uint32_t>(condition, ftz)
               : bits == 64 ? slctHandler<uint64_t>(condition, ftz)
                            : nullptr;
  if (!fn || !d.done())
    return false;
  d.expect(4);
  uint32_t destination = d.destination(0, bits), a = d.source(1, type),
           b = d.source(2, type), c = d.source(3, condition);
  Op &op = d.emit(fn);
  op.d = destination, op.a = a, op.b = b, op.c = c;
  return true;
}
