// shfl.sync in its four modes, as the ISA's pseudo-code has it.

#include "runtime/ptxsim/Decoder.h"
#include "runtime/ptxsim/Lanes.h"

using namespace ptxsim;

namespace {

enum class Mode : uint8_t { Up, Down, Bfly, Idx };
constexpr uint64_t hasPredicate = 1;

template <Mode M> void shuffle(Warp &w, const Op &op, uint32_t mask) {
  if (!w.together(op, mask, op.list[0]))
    return;
  const uint32_t *a = w.row<uint32_t>(op.a), *b = w.row<uint32_t>(op.b),
                 *c = w.row<uint32_t>(op.c);
  alignas(64) uint32_t result[warpSize];
  uint32_t valid = 0;
  for (unsigned l = 0; l < warpSize; ++l) {
    const int lane = int(l), bval = int(b[l] & 31), cval = int(c[l] & 31),
              segment = int(c[l] >> 8 & 31);
    const int maxLane = (lane & segment) | (cval & ~segment),
              minLane = lane & segment;
    int j;
    bool p;
    switch (M) {
    case Mode::Up:
      j = lane - bval, p = j >= maxLane;
      break;
    case Mode::Down:
      j = lane + bval, p = j <= maxLane;
      break;
    case Mode::Bfly:
      j = lane ^ bval, p = j <= maxLane;
      break;
    case Mode::Idx:
      j = minLane | (bval & ~segment), p = j <= maxLane;
      break;
    }
    // Of a lane that does not take part the ISA leaves the value undefined: the
    // lane keeps its own.
    const bool reads = p && (mask >> (j & 31) & 1);
    result[l] = a[reads ? j : lane];
    valid |= uint32_t(p) << l;
  }
  blendLanes(w.row<uint32_t>(op.d), result, mask);
  if (op.imm & hasPredicate)
    w.word(op.e) = (w.word(op.e) & ~mask) | (valid & mask);
}

} // namespace

bool ptxsim::decodeShfl(Decoder &d) {
  bool sync = d.take("sync");
  int mode = d.takeOneOf({"up", "down", "bfly", "idx"});
  if (!sync || mode < 0 || d.takeType() != Type::B32 || !d.done())
    return false;
  d.expect(5);
  const bool pair = d[0].kind == Operand::Pair;
  uint32_t destination = d.destination(pair ? d[0].elements[0] : d[0], 32);
  uint32_t predicate = pair ? d.predicateDestination(d[0].elements[1]) : 0;
  uint32_t a = d.source(1, Type::B32), b = d.source(2, Type::B32),
           c = d.source(3, Type::B32), members = d.source(4, Type::B32);
  const uint32_t *list = d.list({&members, 1});
  static const Handler handlers[] = {shuffle<Mode::Up>, shuffle<Mode::Down>,
                                     shuffle<Mode::Bfly>, shuffle<Mode::Idx>};
  Op &op = d.emit(handlers[mode]);
  op.d = destination, op.e = predicate, op.a = a, op.b = b, op.c = c,
  op.list = list, op.imm = pair ? hasPredicate : 0;
  op.flags = Control;
  return true;
}
