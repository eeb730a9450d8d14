// bar, barrier (CTA barriers, with reductions) and bar.warp.sync.

#include "runtime/ptxsim/Cta.h"
#include "runtime/ptxsim/Decoder.h"
#include "runtime/ptxsim/Lanes.h"

using namespace ptxsim;

namespace {

// Op: a = id, b = thread count (c != 0: given), imm = flip of the predicate, e
// = the predicate's word, d = result of .red.

uint32_t uniform(Warp &w, const Op &op, uint32_t mask, uint32_t row,
                 const char *what) {
  const uint32_t *v = w.row<uint32_t>(row);
  const uint32_t value = v[std::countr_zero(mask)];
  forLanes(mask, [&](unsigned l) {
    if (v[l] != value)
      w.fault(op, l,
              std::string("the lanes of the warp give different ") + what);
  });
  return value;
}

template <bool Aligned, bool Blocks, Barrier::Reduce Reduce>
void barrier(Warp &w, const Op &op, uint32_t mask) {
  if (Aligned && w.waitsForSpinning(op, mask))
    return;
  if (Aligned)
    w.requireConverged(op, mask);
  const uint32_t id = uniform(w, op, mask, op.a, "barriers");
  const uint32_t threads =
      op.c ? uniform(w, op, mask, op.b, "thread counts") : 0;
  if (op.c && !threads)
    w.fault(op, unsigned(std::countr_zero(mask)),
            "expected a thread count that is a multiple of 32, but got 0");
  const uint32_t ones =
      Reduce == Barrier::Reduce::None ? 0 : w.word(op.e) ^ uint32_t(op.imm);
  w.cta->arrive(w, op, mask, id, threads, Blocks, Reduce, ones, op.d);
}

template <bool Aligned> Handler select(bool blocks, Barrier::Reduce reduce) {
  switch (reduce) {
  case Barrier::Reduce::None:
    return blocks ? barrier<Aligned, true, Barrier::Reduce::None>
                  : barrier<Aligned, false, Barrier::Reduce::None>;
  case Barrier::Reduce::Popc:
    return barrier<Aligned, true, Barrier::Reduce::Popc>;
  case Barrier::Reduce::And:
    return barrier<Aligned, true, Barrier::Reduce::And>;
  case Barrier::Reduce::Or:
    return barrier<Aligned, true, Barrier::Reduce::Or>;
  }
  return nullptr;
}

void warpSync(Warp &w, const Op &op, uint32_t mask) { w.meet(op, mask, op.a); }

} // namespace

bool ptxsim::decodeBar(Decoder &d) {
  if (d.take("warp")) {
    if (d.opcode() != "bar" || !d.take("sync") || !d.done())
      return false;
    d.expect(1);
    uint32_t members = d.source(0, Type::B32);
    Op &op = d.emit(warpSync);
    op.a = members;
    op.flags = Control;
    return true;
  }
  d.take("cta");
  // bar is barrier.aligned by its older name.
  const bool aligned = d.take("aligned") || d.opcode() == "bar";
  const int kind = d.takeOneOf({"sync", "arrive", "red"});
  if (kind < 0)
    return false;
  Barrier::Reduce reduce = Barrier::Reduce::None;
  if (kind == 2) {
    int operation = d.takeOneOf({"popc", "and", "or"});
    Type type = d.takeType();
    if (operation < 0 || type != (operation == 0 ? Type::U32 : Type::Pred))
      return false;
    reduce = Barrier::Reduce(1 + operation);
  }
  if (!d.done())
    return false;
  // sync a {, b}; arrive a, b; red d, a {, b}, p
  const size_t first = kind == 2 ? 1 : 0, last = d.size() - (kind == 2 ? 1 : 0);
  kind == 0 ? d.expect(1, 2) : kind == 1 ? d.expect(2) : d.expect(3, 4);
  uint32_t result = 0, id = d.source(first, Type::U32), count = 0;
  const bool hasCount = last - first == 2;
  if (hasCount)
    count = d.source(first + 1, Type::U32);
  PredicateSource p{0, 0};
  if (kind == 2) {
    p = d.predicateSource(d[last]);
    result = reduce == Barrier::Reduce::Popc ? d.destination(0, 32)
                                             : d.predicateDestination(d[0]);
  }
  Op &op = d.emit(aligned ? select<true>(kind != 1, reduce)
                          : select<false>(kind != 1, reduce));
  op.d = result, op.a = id, op.b = count, op.c = hasCount, op.e = p.row,
  op.imm = p.flip;
  op.flags = Control;
  return true;
}
