// Undefined bits of registers as a warp executes: shadow rows beside the
// registers, one bit for each bit.

#include "runtime/ptxsim/Cluster.h"
#include "runtime/ptxsim/FaultText.h"
#include "runtime/ptxsim/Lanes.h"

#include <algorithm>
#include <fmt/format.h>

using namespace ptxsim;

namespace {

template <class T> uint32_t nonZero(const T *v) {
  uint32_t lanes = 0;
  for (unsigned l = 0; l < warpSize; ++l)
    lanes |= uint32_t(v[l] != 0) << l;
  return lanes;
}

/// The lanes in which some bit is undefined.
uint32_t undefinedLanes(Warp &w, uint32_t shadow, uint32_t bits) {
  switch (bits) {
  case 1:
    return w.word(shadow);
  case 16:
    return nonZero(w.row<uint16_t>(shadow));
  case 32:
    return nonZero(w.row<uint32_t>(shadow));
  default:
    return nonZero(w.row<uint64_t>(shadow));
  }
}

template <class T>
void setShadow(Warp &w, uint32_t shadow, uint32_t mask, uint32_t lanes) {
  setLanes(w.row<T>(shadow), mask,
           [=](unsigned l) { return T(T(0) - T(lanes >> l & 1)); });
}

/// The lanes of mask are undefined whole where `lanes` says so, else defined.
void set(Warp &w, const Tracked &t, uint32_t mask, uint32_t lanes) {
  switch (t.bits) {
  case 1:
    w.word(t.shadow) = (w.word(t.shadow) & ~mask) | (lanes & mask);
    return;
  case 16:
    return setShadow<uint16_t>(w, t.shadow, mask, lanes);
  case 32:
    return setShadow<uint32_t>(w, t.shadow, mask, lanes);
  default:
    return setShadow<uint64_t>(w, t.shadow, mask, lanes);
  }
}

void require(Warp &w, const Op &op, const Tracked &t, uint32_t mask,
             const char *what) {
  if (!w.word(t.origin))
    return;
  if (const uint32_t lanes = undefinedLanes(w, t.shadow, t.bits) & mask)
    reportUndefined(w, op, unsigned(std::countr_zero(lanes)), what,
                    originOf(w, t));
}

/// All four lanes of a quad if one is set.
uint32_t wholeQuads(uint32_t lanes) {
  uint32_t quads = lanes | lanes >> 1;
  quads = (quads | quads >> 2) & 0x11111111u;
  return quads * 15;
}

template <class T>
void logic(Warp &w, const UndefinedStep &s, const Op &op, uint32_t mask,
           bool isAnd) {
  const T *a = w.row<T>(op.a), *b = w.row<T>(op.b), *sa = w.row<T>(s.op.a),
          *sb = w.row<T>(s.op.b);
  setLanes(w.row<T>(s.op.d), mask, [=](unsigned l) {
    const T ones = isAnd ? T(0) : T(~T(0));
    return T((sa[l] & sb[l]) | (sa[l] & T(b[l] ^ ones)) |
             (sb[l] & T(a[l] ^ ones)));
  });
}

template <class T>
void unite(Warp &w, const UndefinedStep &s, bool isXor, uint32_t mask) {
  const T *a = w.row<T>(s.op.a), *b = w.row<T>(isXor ? s.op.b : s.op.a);
  setLanes(w.row<T>(s.op.d), mask, [=](unsigned l) { return T(a[l] | b[l]); });
}

/// lop3: a bit is undefined if what the undefined ones are makes a difference.
void throughTable(Warp &w, const UndefinedStep &s, const Op &op,
                  uint32_t mask) {
  const uint32_t *v[3] = {w.row<uint32_t>(op.a), w.row<uint32_t>(op.b),
                          w.row<uint32_t>(op.c)},
                 *u[3] = {w.row<uint32_t>(s.op.a), w.row<uint32_t>(s.op.b),
                          w.row<uint32_t>(s.op.c)};
  setLanes(w.row<uint32_t>(s.op.d), mask, [&](unsigned l) {
    uint32_t ones = 0, zeros = 0; // bits that may be one, and zero
    for (unsigned i = 0; i < 8; ++i) {
      uint32_t possible = ~0u;
      for (unsigned k = 0; k < 3; ++k)
        possible &= (i >> (2 - k) & 1 ? v[k][l] : ~v[k][l]) | u[k][l];
      (op.imm >> i & 1 ? ones : zeros) |= possible;
    }
    return ones & zeros;
  });
}

template <class F> void ofBits(unsigned bits, F f) {
  bits == 16 ? f(uint16_t()) : bits == 32 ? f(uint32_t()) : f(uint64_t());
}

std::string_view baseOf(const Warp &w, const Op &op) {
  const std::string_view form = w.function->infos[w.indexOf(op)].form;
  return form.substr(0, form.find('.'));
}

/// Which lanes of `a and b`, `a or b` are undefined, sa and sb being those of
/// the operands.
uint32_t undefinedOf(bool isAnd, uint32_t a, uint32_t sa, uint32_t b,
                     uint32_t sb) {
  const uint32_t decides = isAnd ? 0 : allLanes;
  return (sa & sb) | (sa & (b ^ decides)) | (sb & (a ^ decides));
}

void logicPredicate(Warp &w, const UndefinedStep &s, const Op &op,
                    uint32_t mask) {
  const std::string_view base = baseOf(w, op);
  uint32_t sa = w.word(s.op.a), sb = 0, lanes = sa;
  if (base == "and" || base == "or" || base == "xor") {
    sb = w.word(s.op.b);
    lanes |= sb;
  }
  if (base == "and" || base == "or")
    lanes = undefinedOf(s.isAnd, w.word(op.a) ^ uint32_t(op.imm), sa,
                        w.word(op.b) ^ uint32_t(op.imm >> 32), sb);
  uint32_t &d = w.word(s.op.d);
  d = (d & ~mask) | (lanes & mask);
}

/// The lanes in which a predicate operand is undefined, if this step reads it.
uint32_t undefinedPredicate(Warp &w, const UndefinedStep &s, uint32_t row) {
  for (const Tracked &t : s.reads)
    if (t.bits == 1 && t.row == row)
      return w.word(t.shadow);
  return 0;
}

/// The predicate of lop3, from its result d, which has been computed.
void throughLop3Predicate(Warp &w, const UndefinedStep &s, const Op &op,
                          uint32_t mask) {
  const uint32_t *d = w.row<uint32_t>(op.d), *u = w.row<uint32_t>(s.op.d);
  uint32_t any = 0, unknown = 0;
  for (unsigned l = 0; l < warpSize; ++l) {
    any |= uint32_t(d[l] != 0) << l;
    unknown |= uint32_t(u[l] && !(d[l] & ~u[l])) << l;
  }
  const uint32_t q = w.word(op.target) ^ (op.count & 2 ? allLanes : 0);
  for (const Tracked &t : s.writes)
    if (t.bits == 1)
      set(w, t, mask,
          undefinedOf(s.isAnd, any, unknown, q,
                      undefinedPredicate(w, s, op.target)));
}

/// setp with and, or: the third operand may decide. Before it is executed.
void throughCompare(Warp &w, const UndefinedStep &s, const Op &op,
                    uint32_t mask) {
  uint32_t compared = 0, with = undefinedPredicate(w, s, op.c);
  for (const Tracked &t : s.reads)
    if (t.bits != 1)
      compared |= undefinedLanes(w, t.shadow, t.bits);
  const unsigned how = op.imm & 3; // none, and, or, xor
  // What the comparison gives where it is defined.
  uint32_t result = compared | with;
  if (how == 1 || how == 2) {
    const uint32_t c = w.word(op.c) ^ uint32_t(op.imm >> 32);
    uint32_t defined[2];
    Op plain = op;
    plain.imm = 4, plain.d = 3 * w.function->registerBytes + 256,
    plain.e = plain.d + 4;
    op.fn(w, plain, mask);
    defined[0] = w.word(plain.d), defined[1] = w.word(plain.e);
    for (const Tracked &t : s.writes)
      set(w, t, mask,
          undefinedOf(how == 1, defined[t.row == op.d ? 0 : 1], compared, c,
                      with));
    return;
  }
  for (const Tracked &t : s.writes)
    set(w, t, mask, result);
}

/// m16n8kK: a row of A reaches a row of D, a column of B a column; C adds lane
/// by lane.
void throughMma(Warp &w, const UndefinedStep &s, const Op &op) {
  const uint32_t *d = s.op.list, *a = d + op.a, *b = a + op.b, *c = b + op.c;
  uint32_t rows[2] = {}, columns = 0;
  for (unsigned i = 0; i < op.b; ++i)
    rows[i % 2] |= wholeQuads(nonZero(w.row<uint32_t>(a[i])));
  for (unsigned i = 0; i < op.c; ++i)
    columns |= wholeQuads(nonZero(w.row<uint32_t>(b[i])));
  // Lane l has columns 2 (l % 4) and the next.
  uint32_t ofColumn[2] = {};
  for (unsigned l = 0; l < warpSize; ++l)
    for (unsigned i = 0; i < 2; ++i)
      ofColumn[i] |= (columns >> (l % 4 * 2 + i) * 4 & 1) << l;
  const bool halves = op.a == 2;
  for (unsigned i = 0; i < op.a; ++i) {
    const uint32_t row = rows[halves ? i : i / 2];
    uint32_t *to = w.row<uint32_t>(d[i]);
    const uint32_t *from = w.row<uint32_t>(c[i]);
    for (unsigned l = 0; l < warpSize; ++l) {
      const auto all = [&](uint32_t lanes) { return 0 - (lanes >> l & 1); };
      to[l] = from[l] | all(row) |
              (halves ? (all(ofColumn[0]) & 0xffffu) |
                            (all(ofColumn[1]) & 0xffff0000u)
                      : all(ofColumn[i % 2]));
    }
  }
}

/// f16x2, bf16x2: a half of the result is of that half of the operands.
void throughHalves(Warp &w, const UndefinedStep &s, uint32_t mask) {
  uint32_t result[warpSize] = {};
  for (const Tracked &t : s.reads)
    for (unsigned l = 0; l < warpSize; ++l) {
      const uint32_t bits = w.row<uint32_t>(t.shadow)[l];
      result[l] |=
          (bits & 0xffffu ? 0xffffu : 0) | (bits >> 16 ? 0xffff0000u : 0);
    }
  for (const Tracked &t : s.writes)
    setLanes(w.row<uint32_t>(t.shadow), mask,
             [&](unsigned l) { return result[l]; });
}

/// cvt.rn.bf16x2.f32 d, a, b and the like.
void throughPair(Warp &w, const UndefinedStep &s, const Op &op, uint32_t mask) {
  uint32_t high = 0, low = 0;
  for (const Tracked &t : s.reads) {
    const uint32_t lanes = undefinedLanes(w, t.shadow, t.bits);
    high |= t.row == op.a ? lanes : 0;
    low |= t.row == op.b ? lanes : 0;
  }
  for (const Tracked &t : s.writes)
    ofBits(t.bits, [&](auto zero) {
      using T = decltype(zero);
      const T half = T((uint64_t(1) << sizeof(T) * 4) - 1);
      setLanes(w.row<T>(t.shadow), mask, [=](unsigned l) {
        return T((low >> l & 1 ? half : T(0)) |
                 (high >> l & 1 ? T(~half) : T(0)));
      });
    });
}

/// Registers of A: a row of D.
void throughWgmma(Warp &w, const UndefinedStep &s, const Op &op) {
  uint32_t rows[2] = {};
  for (unsigned i = 0; i < wgmmaRegistersOfA(op); ++i)
    rows[i % 2] |=
        wholeQuads(nonZero(w.row<uint32_t>(s.op.list[op.count + i])));
  const bool keeps = wgmmaAccumulates(w, op), halves = wgmmaHalves(op);
  for (unsigned i = 0; i < op.count; ++i) {
    uint32_t *d = w.row<uint32_t>(s.op.list[i]);
    const uint32_t row = rows[halves ? i % 2 : i / 2 % 2];
    for (unsigned l = 0; l < warpSize; ++l)
      d[l] = (keeps ? d[l] : 0) | (0 - (row >> l & 1));
  }
}

/// Which origin an element of a product's D has, if it becomes undefined: that
/// of C in its place, else one of A or B. To be asked before D is changed.
uint32_t originOfProduct(Warp &w, const UndefinedStep &s, const Op &op,
                         uint32_t d) {
  const bool isWgmma = s.kind == UndefinedStep::Wgmma;
  const uint32_t *list = op.list, *c = list,
                 count = isWgmma ? op.count : uint32_t(op.a);
  if (!isWgmma)
    c = list + op.a + op.b + op.c;
  uint32_t own = 0, other = 0;
  for (const Tracked &t : s.reads) {
    if (t.bits != 32 || !w.word(t.origin))
      continue;
    bool isC = false;
    for (uint32_t i = 0; i < count; ++i)
      if (c[i] == t.row) {
        isC = true;
        if (list[i] == d && (!isWgmma || wgmmaAccumulates(w, op)))
          own = originOf(w, t);
      }
    if (!isC && !other)
      other = originOf(w, t);
  }
  return own ? own : other;
}

/// All operands must be defined, or those that decide something.
void requireOperands(Warp &w, const Op &op, const UndefinedStep &s,
                     uint32_t mask) {
  using enum UndefinedStep::Kind;
  if (s.kind != Ignore)
    for (const Tracked &t : s.addresses)
      require(w, op, t, mask, "the address");
  if (s.kind == Report)
    for (const Tracked &t : s.reads)
      require(w, op, t, mask, "an operand");
  if (s.kind == Store && !s.reads.empty()) {
    uint32_t global = op.space == Space::Global ? mask : 0;
    if (op.space == Space::Generic)
      forLanes(mask, [&](unsigned l) {
        global |= uint32_t(!(w.addressOf(op, l) & windowMask)) << l;
      });
    for (const Tracked &t : s.reads)
      require(w, op, t, global, "the value");
  }
  if (s.kind == Wgmma)
    for (const Tracked &t : s.reads)
      if (t.bits != 32)
        require(w, op, t, mask, t.bits == 1 ? "scale-d" : "the descriptor");
}

/// The results' undefined bits, of what moves or combines bits. Before the op
/// is executed.
void combineBits(Warp &w, const Op &op, const UndefinedStep &s, uint32_t mask) {
  using enum UndefinedStep::Kind;
  switch (s.kind) {
  case Execute:
    op.fn(w, s.op, mask);
    break;
  case Logic:
    ofBits(s.bits,
           [&](auto t) { logic<decltype(t)>(w, s, op, mask, s.isAnd); });
    break;
  case Union:
    ofBits(s.bits, [&](auto t) {
      unite<decltype(t)>(w, s, baseOf(w, op) == "xor", mask);
    });
    break;
  case Table:
    throughTable(w, s, op, mask);
    break;
  case Pair:
    throughPair(w, s, op, mask);
    break;
  case Packed:
    throughHalves(w, s, mask);
    break;
  case Compare:
    throughCompare(w, s, op, mask);
    break;
  case LogicPredicate:
    logicPredicate(w, s, op, mask);
    break;
  case Mma:
    throughMma(w, s, op);
    break;
  case Wgmma:
    if (s.op.list)
      throughWgmma(w, s, op);
    break;
  default:
    break;
  }
}

/// An op of which some operand or result may be undefined, executed.
void execute(Warp &w, const Op &op, const UndefinedStep &s, uint32_t mask,
             uint32_t guard) {
  using enum UndefinedStep::Kind;
  // Which lanes the operands make undefined, and whose value it was.
  uint32_t lanes = 0, origin = 0;
  for (const Tracked &t : s.reads)
    if (w.word(t.origin))
      if (const uint32_t u = undefinedLanes(w, t.shadow, t.bits) & mask) {
        if (!origin)
          origin = originOf(w, t);
        lanes |= u;
      }
  std::vector<uint32_t> products; // the origins of a product's D
  if (lanes && op.list && (s.kind == Mma || s.kind == Wgmma))
    for (const Tracked &t : s.writes)
      products.push_back(originOfProduct(w, s, op, t.row));
  // Operands that say how an Execute moves bits, not what.
  uint32_t control = 0;
  if (s.kind == Execute || s.kind == Shuffle)
    for (const Tracked &t : s.reads)
      if (t.shadow != s.op.a && t.shadow != s.op.b && t.shadow != s.op.c &&
          !s.op.list)
        control |= undefinedLanes(w, t.shadow, t.bits) & mask;
  const bool runs = mask || (op.flags & RunsEmpty);
  if (runs) {
    combineBits(w, op, s, mask);
    op.fn(w, op, mask);
    // Lanes that wait here run it again.
    if ((op.flags & Control) && (w.active & mask) != mask)
      return;
    if (s.kind == Shuffle)
      op.fn(w, s.op, mask);
    if (s.kind == Table && s.writes.size() + (op.count || op.e) > 1)
      throughLop3Predicate(w, s, op, mask);
  }
  if (s.kind == Warp)
    lanes = lanes ? mask : 0;
  if (!origin && guard)
    origin = originOf(w, s.guard);
  for (const Tracked &t : s.writes) {
    if (s.kind == Any || s.kind == Warp)
      set(w, t, mask, lanes);
    else if (s.kind == Report || s.kind == Ignore ||
             (s.kind == Shuffle && t.shadow != s.op.d))
      set(w, t, mask, 0);
    if (const uint32_t more = (guard | control) & w.active)
      set(w, t, more, more);
    // A step sees from the origins alone that nothing is undefined.
    const uint32_t mine =
        products.empty() ? origin : products[size_t(&t - s.writes.data())];
    if (!undefinedLanes(w, t.shadow, t.bits))
      w.word(t.origin) = 0;
    else if (mine)
      w.word(t.origin) = mine;
  }
}

} // namespace

uint32_t ptxsim::originOf(Warp &w, const Tracked &t) {
  const uint32_t origin = w.word(t.origin);
  return origin == Origin::own ? t.root : origin;
}

void ptxsim::undefinedStep(Warp &w, const Op &op, const UndefinedStep &s,
                           uint32_t mask) {
  using enum UndefinedStep::Kind;
  const bool runs = mask || (op.flags & RunsEmpty);
  uint32_t dirty = 0;
  for (uint32_t origin : s.origins)
    dirty |= w.word(origin);
  if (!dirty && ((s.kind != Load && s.kind != LoadMatrix) ||
                 w.follow != Follow::Everything)) {
    if (runs)
      op.fn(w, op, mask);
    return;
  }
  uint32_t guard = 0;
  if (s.guard.shadow) {
    guard = w.word(s.guard.shadow) & w.active;
    const bool effects = s.kind == Report || s.kind == Store ||
                         s.kind == StoreMatrix || s.kind == Load ||
                         s.kind == LoadMatrix || s.kind == Wgmma ||
                         s.kind == Mma || s.kind == Warp || s.kind == Call;
    if (effects && guard)
      reportUndefined(w, op, unsigned(std::countr_zero(guard)), "the guard",
                      originOf(w, s.guard));
  }
  if (!mask && (op.flags & Control) && !runs)
    return;
  requireOperands(w, op, s, mask);
  if (!runs && !guard)
    return;
  switch (s.kind) {
  case Load:
    return undefinedLoad(w, op, s, mask);
  case LoadMatrix:
    return undefinedLoadMatrix(w, op, s, mask);
  case Store:
    return undefinedStore(w, op, s, mask);
  case StoreMatrix:
    return undefinedStoreMatrix(w, op, s, mask);
  case Call:
    return op.fn(w, op, mask);
  default:
    return execute(w, op, s, mask, guard);
  }
}

void ptxsim::startFollowing(Warp &w) {
  const Function &f = *w.function;
  w.follow = Follow::Nothing, w.plan = nullptr;
  if (!f.undefined || !w.cta->launch.options.checks.undefinedRegisters)
    return;
  w.follow = Follow::Registers, w.plan = f.undefined.get();
  for (const Tracked &t : w.plan->registers) {
    set(w, t, allLanes, 0);
    w.word(t.origin) = 0;
  }
  startFunction(w, 0, f.registerBytes, allLanes);
}

void ptxsim::startFunction(Warp &w, uint32_t begin, uint32_t end,
                           uint32_t lanes) {
  if (w.plan)
    for (const Tracked &t : w.plan->roots)
      if (t.row >= begin && t.row < end) {
        set(w, t, lanes, allLanes);
        w.word(t.origin) = Origin::own;
      }
}

void ptxsim::followEverything(Warp &w) {
  const Function &f = *w.function;
  std::call_once(f.everything->once, [&] {
    f.everything->plan = planUndefined(f, f.undefinedRoots, Follow::Everything);
  });
  // What was not tracked was defined.
  std::vector<uint32_t> known;
  if (w.plan)
    for (const Tracked &t : w.plan->registers)
      known.push_back(t.row);
  std::sort(known.begin(), known.end());
  for (const Tracked &t : f.everything->plan->registers)
    if (!std::binary_search(known.begin(), known.end(), t.row)) {
      set(w, t, allLanes, 0);
      w.word(t.origin) = 0;
    }
  w.follow = Follow::Everything, w.plan = f.everything->plan.get();
}
