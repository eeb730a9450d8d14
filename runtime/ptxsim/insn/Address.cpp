// cvta, cvta.to and isspacep: generic addresses carry their space in the top
// byte.

#include "runtime/ptxsim/Cta.h"
#include "runtime/ptxsim/Decoder.h"
#include "runtime/ptxsim/Lanes.h"

using namespace ptxsim;

namespace {

/// What cvta.to gives for an address of another space: no access through it is
/// legal.
constexpr uint64_t nowhere = 0xffffff00u;

uint64_t windowOf(Space space) {
  switch (space) {
  case Space::Shared:
  case Space::SharedCluster:
    return sharedWindow;
  case Space::Local:
    return localWindow;
  case Space::Param:
    return paramWindow;
  default:
    return 0;
  }
}

/// op.imm is the window.
void toGeneric(Warp &w, const Op &op, uint32_t mask) {
  const uint64_t *a = w.row<uint64_t>(op.a);
  const uint64_t window = op.imm;
  setLanes(w.row<uint64_t>(op.d), mask,
           [=](unsigned l) { return a[l] + window; });
}

void fromGeneric(Warp &w, const Op &op, uint32_t mask) {
  const uint64_t *a = w.row<uint64_t>(op.a);
  const uint64_t window = op.imm;
  setLanes(w.row<uint64_t>(op.d), mask, [=](unsigned l) {
    return (a[l] & windowMask) == window ? a[l] - window : nowhere;
  });
}

/// The destination predicate in each lane of the mask.
template <class F>
void setPredicate(Warp &w, const Op &op, uint32_t mask, F holds) {
  uint32_t bits = 0;
  forLanes(mask, [&](unsigned l) { bits |= uint32_t(holds(l)) << l; });
  w.word(op.d) = (w.word(op.d) & ~mask) | bits;
}

/// A generic address of 32 bits is in no window, so in global memory.
void isNarrowSpace(Warp &w, const Op &op, uint32_t mask) {
  setPredicate(w, op, mask,
               [&](unsigned) { return op.space == Space::Global; });
}

void isSpace(Warp &w, const Op &op, uint32_t mask) {
  const uint64_t *a = w.row<uint64_t>(op.a);
  setPredicate(w, op, mask,
               [&](unsigned l) { return (a[l] & windowMask) == op.imm; });
}

/// The window of kernel parameters lies in that of global memory.
void isGlobal(Warp &w, const Op &op, uint32_t mask) {
  const uint64_t *a = w.row<uint64_t>(op.a);
  setPredicate(w, op, mask, [&](unsigned l) {
    const uint64_t window = a[l] & windowMask;
    return window == 0 || window == paramWindow;
  });
}

void isConst(Warp &w, const Op &op, uint32_t mask) {
  const uint64_t *a = w.row<uint64_t>(op.a);
  setPredicate(w, op, mask, [&](unsigned l) {
    const Allocation *in = w.cta->launch.arena->find(a[l], 1);
    return in && in->constant;
  });
}

/// Is it an address of the own CTA's shared memory?
void isOwnShared(Warp &w, const Op &op, uint32_t mask) {
  const uint64_t *a = w.row<uint64_t>(op.a);
  setPredicate(w, op, mask, [&](unsigned l) {
    const uint64_t rank = (a[l] & ~windowMask) >> clusterShift;
    return (a[l] & windowMask) == sharedWindow &&
           (rank == 0 || rank == w.cta->rank + 1);
  });
}

Handler spaceTest(Space space) {
  switch (space) {
  case Space::Global:
    return isGlobal;
  case Space::Const:
    return isConst;
  case Space::Shared:
    return isOwnShared;
  default:
    return isSpace;
  }
}

std::optional<Space> takeSpace(Decoder &d) {
  switch (d.takeOneOf({"global", "const", "shared", "shared::cta",
                       "shared::cluster", "local", "param", "param::entry"})) {
  case 0:
    return Space::Global;
  case 1:
    return Space::Const;
  case 2:
  case 3:
    return Space::Shared;
  case 4:
    return Space::SharedCluster;
  case 5:
    return Space::Local;
  case 6:
  case 7:
    return Space::Param;
  default:
    return std::nullopt;
  }
}

} // namespace

bool ptxsim::decodeCvta(Decoder &d) {
  bool to = d.take("to");
  auto space = takeSpace(d);
  Type type = d.takeType();
  if (!space || type != Type::U64 || !d.done())
    return false;
  d.expect(2);
  // The address of a function's parameter is one of local memory.
  if (*space == Space::Param && d.inFunction())
    space = Space::Local;
  uint32_t destination = d.destination(0, 64), a = d.source(1, Type::U64);
  Op &op = d.emit(to ? fromGeneric : toGeneric);
  op.d = destination, op.a = a, op.imm = windowOf(*space);
  return true;
}

bool ptxsim::decodeIsspacep(Decoder &d) {
  auto space = takeSpace(d);
  if (!space || !d.done())
    return false;
  d.expect(2);
  uint32_t destination = d.predicateDestination(d[0]);
  const bool narrow = d[1].kind == Operand::Register && d[1].bits == 32;
  uint32_t a = d.source(1, narrow ? Type::B32 : Type::B64);
  Op &op = d.emit(narrow ? isNarrowSpace : spaceTest(*space));
  op.d = destination, op.a = a, op.imm = windowOf(*space);
  if (narrow)
    op.space = *space;
  return true;
}
