// Warp-wide agreement: vote.sync, match.sync, redux.sync, activemask,
// elect.sync.

#include "runtime/ptxsim/Cta.h"
#include "runtime/ptxsim/Decoder.h"
#include "runtime/ptxsim/Lanes.h"

#include <algorithm>

using namespace ptxsim;

namespace {

/// Calls f(group) for the sets of lanes of mask that have the same membermask.
template <class F>
void forGroups(Warp &w, uint32_t members, uint32_t mask, F f) {
  const uint32_t *m = w.row<uint32_t>(members);
  for (uint32_t rest = mask; rest;) {
    const uint32_t value = m[std::countr_zero(rest)];
    uint32_t group = 0;
    forLanes(rest, [&](unsigned l) { group |= uint32_t(m[l] == value) << l; });
    f(group);
    rest &= ~group;
  }
}

void setWord(Warp &w, uint32_t row, uint32_t mask, bool value) {
  w.word(row) = value ? w.word(row) | mask : w.word(row) & ~mask;
}

enum class Vote : uint8_t { All, Any, Uni, Ballot };

// a = the predicate's word, imm = its flip, b = membermask.
template <Vote V> void vote(Warp &w, const Op &op, uint32_t mask) {
  if (!w.together(op, mask, op.b))
    return;
  const uint32_t bits = w.word(op.a) ^ uint32_t(op.imm);
  forGroups(w, op.b, mask, [&](uint32_t group) {
    const uint32_t yes = bits & group;
    switch (V) {
    case Vote::All:
      return setWord(w, op.d, group, yes == group);
    case Vote::Any:
      return setWord(w, op.d, group, yes != 0);
    case Vote::Uni:
      return setWord(w, op.d, group, yes == 0 || yes == group);
    case Vote::Ballot:
      setLanes(w.row<uint32_t>(op.d), group, [=](unsigned) { return yes; });
    }
  });
}

template <class T, bool All> void match(Warp &w, const Op &op, uint32_t mask) {
  if (!w.together(op, mask, op.b))
    return;
  const T *a = w.row<T>(op.a);
  T values[warpSize];
  std::copy_n(a, warpSize, values);
  uint32_t *d = w.row<uint32_t>(op.d);
  forGroups(w, op.b, mask, [&](uint32_t group) {
    if (All) {
      bool same = true;
      forLanes(group, [&](unsigned l) {
        same &= values[l] == values[std::countr_zero(group)];
      });
      forLanes(group, [&](unsigned l) { d[l] = same ? group : 0; });
      if (op.imm)
        setWord(w, op.e, group, same);
      return;
    }
    forLanes(group, [&](unsigned l) {
      uint32_t same = 0;
      forLanes(group, [&](unsigned k) {
        same |= uint32_t(values[k] == values[l]) << k;
      });
      d[l] = same;
    });
  });
}

struct RedAdd {
  template <class T> T operator()(T a, T b) const {
    return T(uint32_t(a) + uint32_t(b));
  }
};
struct RedMin {
  template <class T> T operator()(T a, T b) const { return std::min(a, b); }
};
struct RedMax {
  template <class T> T operator()(T a, T b) const { return std::max(a, b); }
};
struct RedAnd {
  template <class T> T operator()(T a, T b) const { return a & b; }
};
struct RedOr {
  template <class T> T operator()(T a, T b) const { return a | b; }
};
struct RedXor {
  template <class T> T operator()(T a, T b) const { return a ^ b; }
};

template <class T, class F> void redux(Warp &w, const Op &op, uint32_t mask) {
  if (!w.together(op, mask, op.b))
    return;
  const T *a = w.row<T>(op.a);
  forGroups(w, op.b, mask, [&](uint32_t group) {
    T value = a[std::countr_zero(group)];
    forLanes(group & (group - 1),
             [&](unsigned l) { value = F()(value, a[l]); });
    setLanes(w.row<T>(op.d), group, [=](unsigned) { return value; });
  });
}

void activemask(Warp &w, const Op &op, uint32_t mask) {
  setLanes(w.row<uint32_t>(op.d), mask, [=](unsigned) { return mask; });
}

/// Any choice that is always the same for a membermask is legal: the lowest
/// lane, the highest when warps run in reverse, one by the seed in random
/// schedules.
unsigned leaderOf(const DeviceOptions &options, uint32_t group) {
  if (options.schedule == Schedule::Reverse)
    return 31 - unsigned(std::countl_zero(group));
  const unsigned first =
      options.schedule == Schedule::Random ? options.seed % 32 : 0;
  return (unsigned(std::countr_zero(std::rotr(group, int(first)))) + first) %
         32;
}

void elect(Warp &w, const Op &op, uint32_t mask) {
  if (!w.together(op, mask, op.b))
    return;
  forGroups(w, op.b, mask, [&](uint32_t group) {
    const uint32_t leader = leaderOf(w.cta->launch.options, group);
    setLanes(w.row<uint32_t>(op.d), group, [=](unsigned) { return leader; });
    setWord(w, op.e, group & ~(1u << leader), false);
    setWord(w, op.e, 1u << leader, true);
  });
}

} // namespace

bool ptxsim::decodeVote(Decoder &d) {
  bool sync = d.take("sync");
  int mode = d.takeOneOf({"all", "any", "uni", "ballot"});
  Type type = d.takeType();
  if (!sync || mode < 0 || type != (mode == 3 ? Type::B32 : Type::Pred) ||
      !d.done())
    return false;
  d.expect(3);
  uint32_t destination =
      mode == 3 ? d.destination(0, 32) : d.predicateDestination(d[0]);
  PredicateSource p = d.predicateSource(d[1]);
  uint32_t members = d.source(2, Type::B32);
  static const Handler handlers[] = {vote<Vote::All>, vote<Vote::Any>,
                                     vote<Vote::Uni>, vote<Vote::Ballot>};
  Op &op = d.emit(handlers[mode]);
  op.d = destination, op.a = p.row, op.imm = p.flip, op.b = members;
  op.flags = Control;
  return true;
}

bool ptxsim::decodeMatch(Decoder &d) {
  bool sync = d.take("sync");
  int mode = d.takeOneOf({"any", "all"});
  Type type = d.takeType();
  if (!sync || mode < 0 || (type != Type::B32 && type != Type::B64) ||
      !d.done())
    return false;
  d.expect(3);
  const bool pair = mode == 1 && d[0].kind == Operand::Pair;
  uint32_t destination = d.destination(pair ? d[0].elements[0] : d[0], 32),
           predicate = pair ? d.predicateDestination(d[0].elements[1]) : 0;
  uint32_t a = d.source(1, type), members = d.source(2, Type::B32);
  const bool wide = type == Type::B64;
  Op &op = d.emit(mode   ? wide ? match<uint64_t, true> : match<uint32_t, true>
                  : wide ? match<uint64_t, false>
                         : match<uint32_t, false>);
  op.d = destination, op.e = predicate, op.imm = pair, op.a = a, op.b = members;
  op.flags = Control;
  return true;
}

bool ptxsim::decodeRedux(Decoder &d) {
  bool sync = d.take("sync");
  int operation = d.takeOneOf({"add", "min", "max", "and", "or", "xor"});
  Type type = d.takeType();
  if (!sync || operation < 0 || !d.done())
    return false;
  Handler fn = nullptr;
  if (operation < 3 && type == Type::U32)
    fn = operation == 0   ? redux<uint32_t, RedAdd>
         : operation == 1 ? redux<uint32_t, RedMin>
                          : redux<uint32_t, RedMax>;
  else if (operation < 3 && type == Type::S32)
    fn = operation == 0   ? redux<int32_t, RedAdd>
         : operation == 1 ? redux<int32_t, RedMin>
                          : redux<int32_t, RedMax>;
  else if (operation >= 3 && type == Type::B32)
    fn = operation == 3   ? redux<uint32_t, RedAnd>
         : operation == 4 ? redux<uint32_t, RedOr>
                          : redux<uint32_t, RedXor>;
  if (!fn)
    return false;
  d.expect(3);
  uint32_t destination = d.destination(0, 32), a = d.source(1, type),
           members = d.source(2, Type::B32);
  Op &op = d.emit(fn);
  op.d = destination, op.a = a, op.b = members;
  op.flags = Control;
  return true;
}

bool ptxsim::decodeActivemask(Decoder &d) {
  if (d.takeType() != Type::B32 || !d.done())
    return false;
  d.expect(1);
  uint32_t destination = d.destination(0, 32);
  d.emit(activemask).d = destination;
  return true;
}

bool ptxsim::decodeElect(Decoder &d) {
  if (!d.take("sync") || !d.done())
    return false;
  d.expect(2);
  if (d[0].kind != Operand::Pair)
    d.error("expected d|p as destination");
  uint32_t destination = d.destination(d[0].elements[0], 32),
           predicate = d.predicateDestination(d[0].elements[1]);
  uint32_t members = d.source(1, Type::B32);
  Op &op = d.emit(elect);
  op.d = destination, op.e = predicate, op.b = members;
  op.flags = Control;
  return true;
}
