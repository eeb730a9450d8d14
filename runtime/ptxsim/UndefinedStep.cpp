// Undefined bits of registers as a warp executes: shadow rows beside the
// registers, one bit for each bit.

#include "runtime/ptxsim/Cta.h"
#include "runtime/ptxsim/FaultText.h"
#include "runtime/ptxsim/Lanes.h"
#include "runtime/ptxsim/Undefined.h"

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

uint32_t rootOf(Warp &w, const Tracked &t) {
  const uint32_t root = w.word(t.origin());
  return root == ~0u ? t.root : root;
}

[[noreturn]] void report(Warp &w, const Op &op, uint32_t lanes,
                         const char *what, uint32_t root) {
  const UndefinedPlan &plan = *w.function->undefined;
  const UndefinedPlan::Root &r = plan.roots[root];
  const std::string name = registerName(*w.function, r.row);
  const Op &reader = w.ops[r.op];
  Notes notes;
  if (&reader != &op)
    notes.push_back({fmt::format("{} is read here", name), &reader});
  w.fault(op, unsigned(std::countr_zero(lanes)),
          fmt::format("{} is undefined: line {} reads {}, which this thread "
                      "has not written",
                      what, w.function->infos[r.op].line, name),
          notes);
}

void require(Warp &w, const Op &op, const Tracked &t, uint32_t mask,
             const char *what) {
  if (const uint32_t lanes = undefinedLanes(w, t.shadow, t.bits) & mask)
    report(w, op, lanes, what, rootOf(w, t));
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
void unite(Warp &w, const UndefinedStep &s, unsigned operands, uint32_t mask) {
  const T *a = w.row<T>(s.op.a), *b = w.row<T>(operands > 1 ? s.op.b : s.op.a),
          *c = w.row<T>(operands > 2 ? s.op.c : s.op.a);
  setLanes(w.row<T>(s.op.d), mask,
           [=](unsigned l) { return T(a[l] | b[l] | c[l]); });
}

template <class F> void ofBits(unsigned bits, F f) {
  bits == 16 ? f(uint16_t()) : bits == 32 ? f(uint32_t()) : f(uint64_t());
}

std::string_view baseOf(const Warp &w, const Op &op) {
  const std::string_view form = w.function->infos[w.indexOf(op)].form;
  return form.substr(0, form.find('.'));
}

void logicPredicate(Warp &w, const UndefinedStep &s, const Op &op,
                    uint32_t mask) {
  const std::string_view base = baseOf(w, op);
  uint32_t sa = w.word(s.op.a), sb = 0, lanes = sa;
  if (base == "and" || base == "or" || base == "xor") {
    sb = w.word(s.op.b);
    lanes |= sb;
  }
  if (base == "and" || base == "or") {
    const uint32_t decides = base == "and" ? 0 : allLanes;
    const uint32_t a = w.word(op.a) ^ uint32_t(op.imm) ^ decides,
                   b = w.word(op.b) ^ uint32_t(op.imm >> 32) ^ decides;
    lanes = (sa & sb) | (sa & b) | (sb & a);
  }
  uint32_t &d = w.word(s.op.d);
  d = (d & ~mask) | (lanes & mask);
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

/// Which register made an element of a product's D undefined, if one did: that
/// of C in its place, else one of A or B. To be asked before D is changed.
uint32_t rootOfProduct(Warp &w, const UndefinedStep &s, const Op &op,
                       uint32_t d) {
  const bool isWgmma = s.kind == UndefinedStep::Wgmma;
  const uint32_t *list = op.list, *c = list,
                 count = isWgmma ? op.count : uint32_t(op.a);
  if (!isWgmma)
    c = list + op.a + op.b + op.c;
  uint32_t own = ~0u, other = ~0u;
  for (const Tracked &t : s.reads) {
    if (t.bits != 32 || !undefinedLanes(w, t.shadow, t.bits))
      continue;
    bool isC = false;
    for (uint32_t i = 0; i < count; ++i)
      if (c[i] == t.row) {
        isC = true;
        if (list[i] == d && (!isWgmma || wgmmaAccumulates(w, op)))
          own = rootOf(w, t);
      }
    if (!isC && other == ~0u)
      other = rootOf(w, t);
  }
  return own != ~0u ? own : other;
}

} // namespace

void ptxsim::undefinedStep(Warp &w, const Op &op, uint32_t mask) {
  const UndefinedPlan &plan = *w.function->undefined;
  const UndefinedStep &s = plan.steps[plan.stepOf[w.indexOf(op)]];
  using enum UndefinedStep::Kind;
  const bool effects = s.kind == Report || s.kind == Store || s.kind == Wgmma ||
                       s.kind == Mma || s.kind == Warp;
  uint32_t guard = 0;
  if (s.guard.shadow) {
    guard = w.word(s.guard.shadow) & w.active;
    if (effects && guard)
      report(w, op, guard, "the guard", rootOf(w, s.guard));
  }
  if (!mask && !(s.op.flags & RunsEmpty)) {
    if (op.flags & Control)
      return;
    mask = 0;
  }
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
  if (s.kind == Report || s.kind == Ignore)
    for (const Tracked &t : s.writes)
      set(w, t, mask, 0);
  // Which lanes the operands make undefined, and by which register.
  uint32_t lanes = 0, root = ~0u;
  for (const Tracked &t : s.reads)
    if (const uint32_t u = undefinedLanes(w, t.shadow, t.bits) & mask) {
      if (root == ~0u)
        root = rootOf(w, t);
      lanes |= u;
    }
  std::vector<uint32_t> products; // the roots of a product's D
  if (lanes && op.list && (s.kind == Mma || s.kind == Wgmma))
    for (const Tracked &t : s.writes)
      products.push_back(rootOfProduct(w, s, op, t.row));
  // Operands that say how an Execute moves bits, not what.
  uint32_t control = 0;
  if (s.kind == Execute || s.kind == Shuffle)
    for (const Tracked &t : s.reads)
      if (t.shadow != s.op.a && t.shadow != s.op.b && t.shadow != s.op.c &&
          !s.op.list)
        control |= undefinedLanes(w, t.shadow, t.bits) & mask;
  switch (s.kind) {
  case Execute:
    s.original(w, s.op, mask);
    break;
  case Logic:
    ofBits(s.bits, [&](auto t) {
      logic<decltype(t)>(w, s, op, mask, baseOf(w, op) == "and");
    });
    break;
  case Union:
    ofBits(s.bits, [&](auto t) {
      const std::string_view base = baseOf(w, op);
      unite<decltype(t)>(w, s,
                         base == "lop3"  ? 3
                         : base == "xor" ? 2
                                         : 1,
                         mask);
    });
    break;
  case Pair:
    throughPair(w, s, op, mask);
    break;
  case Packed:
    throughHalves(w, s, mask);
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
  case Warp:
    lanes = lanes ? mask : 0;
    break;
  default:
    break;
  }
  s.original(w, op, mask);
  // Lanes that wait here run it again.
  if ((op.flags & Control) && (w.active & mask) != mask)
    return;
  if (s.kind == Shuffle)
    s.original(w, s.op, mask);
  if (s.kind == Report || s.kind == Ignore)
    return;
  const bool whole = s.kind == Any || s.kind == Warp;
  for (const Tracked &t : s.writes) {
    if (whole)
      set(w, t, mask, lanes);
    if (s.kind == Shuffle && t.shadow != s.op.d)
      set(w, t, mask, 0);
    if (const uint32_t more = (guard | control) & w.active)
      set(w, t, more, more);
    if (root == ~0u && guard)
      root = rootOf(w, s.guard);
    if (!products.empty())
      root = products[size_t(&t - s.writes.data())];
    if (root != ~0u)
      w.word(t.origin()) = root;
  }
}
