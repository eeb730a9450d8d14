// and, or, xor, not: on predicates and on 16, 32 and 64 bits.

#include "runtime/ptxsim/Decoder.h"
#include "runtime/ptxsim/Lanes.h"

using namespace ptxsim;

namespace {

struct And {
  template <class T> T operator()(T a, T b) const { return a & b; }
};
struct Or {
  template <class T> T operator()(T a, T b) const { return a | b; }
};
struct Xor {
  template <class T> T operator()(T a, T b) const { return a ^ b; }
};
struct Not {
  template <class T> T operator()(T a) const { return T(~a); }
};

template <class T, class F> void logic(Warp &w, const Op &op, uint32_t mask) {
  binary<T, T, T, F>(w, op, mask);
}

/// On predicates: the words are masks already; imm holds the two flips of !p
/// sources.
template <class F> void logicPredicate(Warp &w, const Op &op, uint32_t mask) {
  uint32_t value = F()(w.word(op.a) ^ uint32_t(op.imm),
                       w.word(op.b) ^ uint32_t(op.imm >> 32));
  w.word(op.d) = (w.word(op.d) & ~mask) | (value & mask);
}

void notPredicate(Warp &w, const Op &op, uint32_t mask) {
  w.word(op.d) =
      (w.word(op.d) & ~mask) | (~(w.word(op.a) ^ uint32_t(op.imm)) & mask);
}

template <class F> Handler logicHandler(Type type) {
  switch (type) {
  case Type::B16:
    return logic<uint16_t, F>;
  case Type::B32:
    return logic<uint32_t, F>;
  case Type::B64:
    return logic<uint64_t, F>;
  default:
    return logicPredicate<F>;
  }
}

bool isLogicType(Type t) {
  return t == Type::Pred || t == Type::B16 || t == Type::B32 || t == Type::B64;
}

} // namespace

bool ptxsim::decodeLogic(Decoder &d) {
  Type type = d.takeType();
  if (!isLogicType(type) || !d.done())
    return false;
  d.expect(3);
  Handler fn = d.opcode() == "and"  ? logicHandler<And>(type)
               : d.opcode() == "or" ? logicHandler<Or>(type)
                                    : logicHandler<Xor>(type);
  if (type == Type::Pred) {
    PredicateSource a = d.predicateSource(d[1]), b = d.predicateSource(d[2]);
    uint32_t destination = d.predicateDestination(d[0]);
    Op &op = d.emit(fn);
    op.d = destination, op.a = a.row, op.b = b.row,
    op.imm = a.flip | uint64_t(b.flip) << 32;
    return true;
  }
  uint32_t destination = d.destination(0, bitsOf(type)), a = d.source(1, type),
           b = d.source(2, type);
  Op &op = d.emit(fn);
  op.d = destination, op.a = a, op.b = b;
  return true;
}

namespace {
struct IsZero {
  template <class T> T operator()(T a) const { return T(a == 0); }
};
} // namespace

bool ptxsim::decodeCnot(Decoder &d) {
  const Type type = d.takeType();
  if ((type != Type::B16 && type != Type::B32 && type != Type::B64) ||
      !d.done())
    return false;
  d.expect(2);
  const uint32_t destination = d.destination(0, bitsOf(type)),
                 a = d.source(1, type);
  Op &op = d.emit(type == Type::B16   ? unary<uint16_t, uint16_t, IsZero>
                  : type == Type::B32 ? unary<uint32_t, uint32_t, IsZero>
                                      : unary<uint64_t, uint64_t, IsZero>);
  op.d = destination, op.a = a;
  return true;
}

bool ptxsim::decodeNot(Decoder &d) {
  Type type = d.takeType();
  if (!isLogicType(type) || !d.done())
    return false;
  d.expect(2);
  if (type == Type::Pred) {
    PredicateSource a = d.predicateSource(d[1]);
    uint32_t destination = d.predicateDestination(d[0]);
    Op &op = d.emit(notPredicate);
    op.d = destination, op.a = a.row, op.imm = a.flip;
    return true;
  }
  uint32_t destination = d.destination(0, bitsOf(type)), a = d.source(1, type);
  Op &op = d.emit(type == Type::B16   ? unary<uint16_t, uint16_t, Not>
                  : type == Type::B32 ? unary<uint32_t, uint32_t, Not>
                                      : unary<uint64_t, uint64_t, Not>);
  op.d = destination, op.a = a;
  return true;
}
