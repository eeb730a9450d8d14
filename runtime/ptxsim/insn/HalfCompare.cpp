// setp and set on f16, bf16 and pairs of them.

#include "runtime/ptxsim/insn/Half.h"

#include <array>

using namespace ptxsim;

namespace {

/// A comparison is the set of outcomes that make it true.
enum Outcome : uint8_t { Less = 1, Equal = 2, Greater = 4, Unordered = 8 };

struct Comparison {
  std::string_view name;
  uint8_t outcomes;
};
constexpr std::array<Comparison, 14> comparisons{{
    {"eq", Equal},
    {"ne", Less | Greater},
    {"lt", Less},
    {"le", Less | Equal},
    {"gt", Greater},
    {"ge", Greater | Equal},
    {"equ", Equal | Unordered},
    {"neu", Less | Greater | Unordered},
    {"ltu", Less | Unordered},
    {"leu", Less | Equal | Unordered},
    {"gtu", Greater | Unordered},
    {"geu", Greater | Equal | Unordered},
    {"num", Less | Equal | Greater},
    {"nan", Unordered},
}};

enum class Combine : uint8_t { None, And, Or, Xor };

/// What is compared, and how; travels in Op::imm.
struct Spec {
  uint8_t outcomes = 0;
  bool bf16 = false, pair = false, ftz = false;
  Combine combine = Combine::None;
  Type to = Type::None; ///< of set
  bool flip = false;    ///< of the third source
  uint8_t unused = 0;
};

bool compare(const Spec &s, uint16_t a, uint16_t b) {
  if (s.ftz)
    a = flushHalf<HalfF16>(a), b = flushHalf<HalfF16>(b);
  float x = s.bf16 ? HalfBF16::widen(a) : HalfF16::widen(a);
  float y = s.bf16 ? HalfBF16::widen(b) : HalfF16::widen(b);
  uint8_t outcome = x < y ? Less : x > y ? Greater : x == y ? Equal : Unordered;
  return s.outcomes & outcome;
}

uint32_t combine(Combine how, uint32_t result, uint32_t with) {
  switch (how) {
  case Combine::And:
    return result & with;
  case Combine::Or:
    return result | with;
  case Combine::Xor:
    return result ^ with;
  default:
    return result;
  }
}

/// The comparison in all lanes, one bit a lane: low half or only value, and
/// high half.
struct Words {
  uint32_t low = 0, high = 0;
};
Words compareLanes(Warp &w, const Op &op, const Spec &s) {
  Words words;
  if (s.pair) {
    const uint32_t *a = w.row<uint32_t>(op.a), *b = w.row<uint32_t>(op.b);
    for (unsigned l = 0; l < warpSize; ++l) {
      words.low |= uint32_t(compare(s, uint16_t(a[l]), uint16_t(b[l]))) << l;
      words.high |=
          uint32_t(compare(s, uint16_t(a[l] >> 16), uint16_t(b[l] >> 16))) << l;
    }
  } else {
    const uint16_t *a = w.row<uint16_t>(op.a), *b = w.row<uint16_t>(op.b);
    for (unsigned l = 0; l < warpSize; ++l)
      words.low |= uint32_t(compare(s, a[l], b[l])) << l;
  }
  if (s.combine != Combine::None) {
    uint32_t with = w.word(op.c) ^ (s.flip ? allLanes : 0);
    words.low = combine(s.combine, words.low, with);
    words.high = combine(s.combine, words.high, with);
  }
  return words;
}

void assign(uint32_t &word, uint32_t value, uint32_t mask) {
  word = (word & ~mask) | (value & mask);
}

void setPredicate(Warp &w, const Op &op, uint32_t mask) {
  Spec s = std::bit_cast<Spec>(op.imm);
  Words words = compareLanes(w, op, s);
  assign(w.word(op.d), words.low, mask);
  if (op.count)
    assign(w.word(op.e), words.high, mask);
}

/// True is 1.0 in a floating-point destination and all ones in an integer one.
void setValue(Warp &w, const Op &op, uint32_t mask) {
  Spec s = std::bit_cast<Spec>(op.imm);
  Words words = compareLanes(w, op, s);
  bool isF16 = s.to == Type::F16 || s.to == Type::F16x2;
  bool isBF16 = s.to == Type::BF16 || s.to == Type::BF16x2;
  uint32_t yes = isF16 ? 0x3c00 : isBF16 ? 0x3f80 : 0xffff;
  auto value = [&](uint32_t word, unsigned l) {
    return (word >> l & 1) ? yes : 0;
  };
  if (bitsOf(s.to) == 16) {
    uint16_t *d = w.row<uint16_t>(op.d);
    forLanes(mask, [&](unsigned l) { d[l] = uint16_t(value(words.low, l)); });
    return;
  }
  uint32_t *d = w.row<uint32_t>(op.d);
  forLanes(mask, [&](unsigned l) {
    d[l] = s.pair ? value(words.high, l) << 16 | value(words.low, l)
                  : (words.low >> l & 1 ? 0xffffffffu : 0u);
  });
}

bool takeComparison(Decoder &d, Spec &s, Type type) {
  for (const Comparison &c : comparisons)
    if (d.take(c.name)) {
      s.outcomes = c.outcomes;
      break;
    }
  s.combine = Combine(d.takeOneOf({"and", "or", "xor"}) + 1);
  s.ftz = d.take("ftz");
  s.bf16 = type == Type::BF16 || type == Type::BF16x2;
  s.pair = isHalfPair(type);
  return s.outcomes && d.done() && !(s.ftz && (s.bf16 || s.to == Type::BF16));
}

bool isLegalSet(Type to, Type from) {
  bool word = to == Type::U32 || to == Type::S32;
  if (isHalfPair(from))
    return word || to == from;
  return word || to == Type::U16 || to == Type::S16 || to == from ||
         (to == Type::BF16 && from == Type::F16);
}

} // namespace

bool ptxsim::decodeHalfSetp(Decoder &d) {
  Type type = d.takeType();
  Spec s;
  if (!isHalf(type) || !takeComparison(d, s, type))
    return false;
  bool combined = s.combine != Combine::None;
  d.expect(combined ? 4 : 3);
  // The second predicate of a pair belongs to the high half.
  std::span<const Operand> to =
      d[0].kind == Operand::Pair ? d[0].elements : d.elements(d[0]);
  if (to.size() == 2 && !s.pair)
    return false;
  uint32_t p = d.predicateDestination(to[0]);
  uint32_t q = to.size() == 2 ? d.predicateDestination(to[1]) : 0;
  uint32_t a = halfSource(d, 1, type), b = halfSource(d, 2, type), c = 0;
  if (combined) {
    PredicateSource with = d.predicateSource(d[3]);
    c = with.row, s.flip = with.flip != 0;
  }
  Op &op = d.emit(setPredicate);
  op.d = p, op.e = q, op.count = uint16_t(to.size() - 1);
  op.a = a, op.b = b, op.c = c;
  op.imm = std::bit_cast<uint64_t>(s);
  return true;
}

bool ptxsim::decodeHalfSet(Decoder &d) {
  Spec s;
  s.to = d.takeType();
  Type type = d.takeType();
  if (!isHalf(type) || !takeComparison(d, s, type) || !isLegalSet(s.to, type))
    return false;
  bool combined = s.combine != Combine::None;
  d.expect(combined ? 4 : 3);
  uint32_t destination = d.destination(0, bitsOf(s.to));
  uint32_t a = halfSource(d, 1, type), b = halfSource(d, 2, type), c = 0;
  if (combined) {
    PredicateSource with = d.predicateSource(d[3]);
    c = with.row, s.flip = with.flip != 0;
  }
  Op &op = d.emit(setValue);
  op.d = destination, op.a = a, op.b = b, op.c = c;
  op.imm = std::bit_cast<uint64_t>(s);
  return true;
}
