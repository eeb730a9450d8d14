// st.async and red.async: a store or a reduction to shared memory of another
// CTA of the cluster that completes bytes of an mbarrier of that CTA.

#include "runtime/ptxsim/Access.h"
#include "runtime/ptxsim/Lanes.h"
#include "runtime/ptxsim/Reduce.h"
#include "runtime/ptxsim/insn/Bulk.h"

#include <cstring>
#include <fmt/format.h>

using namespace ptxsim;

namespace {

/// What op.list points at. The destination's address is that of the op, so that
/// counters find it.
struct Operands {
  BulkAddress barrier;
  Reduction reduction;
  Type type;
  uint32_t count, elementBytes;
  uint32_t rows[4];
};

void start(Warp &w, const Op &op, unsigned lane, const Operands &o) {
  Transfer t;
  t.kind = Transfer::Value, t.reduction = o.reduction, t.type = o.type;
  t.warp = &w, t.op = &op, t.lane = lane;
  t.bytes = o.count * o.elementBytes;
  const SharedPlace to = sharedPlace(w, op, lane, op.space,
                                     w.addressOf(op, lane), t.bytes, t.bytes);
  const SharedPlace barrier =
      sharedPlace(w, op, lane, op.space, addressOf(w, o.barrier, lane), 8, 8);
  if (barrier.cta != to.cta)
    w.fault(op, lane,
            fmt::format("the mbarrier is in CTA {} of the cluster, expected "
                        "that of the destination, {}",
                        barrier.cta->rank, to.cta->rank));
  if (to.cta == w.cta)
    w.fault(op, lane,
            fmt::format("address {:#x} is in the CTA's own shared memory, "
                        "expected that of another CTA of the cluster",
                        to.address),
            {{"mapa gives the address in another CTA; in the own one a plain "
              "store and an arrive do the same"}});
  Cta &cta = *to.cta;
  const Mbarrier &b = signalled(w, op, lane, cta, barrier.address);
  if (cta.isInUse(to.address, t.bytes))
    checkSharedWrite(w, op, lane, cta, to.address, t.bytes);
  t.cta = t.barrierCta = &cta;
  t.offset = to.address, t.barrier = barrier.address;
  t.data.resize(t.bytes);
  for (unsigned i = 0; i < o.count; ++i)
    std::memcpy(t.data.data() + i * o.elementBytes,
                w.registers + o.rows[i] + lane * o.elementBytes,
                o.elementBytes);
  if (Clocks *clocks = w.cta->clocks) {
    // As of a bulk copy: done when the mbarrier is signalled.
    const unsigned agent = clocks->object(b).agent;
    t.stamp = clocks->asyncStamp(agent, clocks->agentOf(w));
    t.known = knownAtIssue(w, lane);
    cta.races->writeAsync(w, op, lane, t.offset - sharedBegin, t.bytes, agent,
                          t.stamp, t.reduction != Reduction::None);
  }
  w.cta->cluster.start(std::move(t));
}

void store(Warp &w, const Op &op, uint32_t mask) {
  Operands o;
  std::memcpy(&o, op.list, sizeof o);
  forLanes(mask, [&](unsigned l) { start(w, op, l, o); });
}

/// Everything after the modifiers; `values` is operand 1.
bool emitStore(Decoder &d, Operands o, unsigned count, Space space) {
  d.expect(3);
  const Decoder::AddressRef to = d.address(0);
  std::span<const Operand> elements = d.elements(d[1]);
  if (elements.size() != count)
    d.error(fmt::format("expected {} registers, but got {}", count,
                        elements.size()));
  o.count = count, o.elementBytes = bitsOf(o.type) / 8;
  for (unsigned i = 0; i < count; ++i)
    o.rows[i] = d.source(elements[i], o.type);
  o.barrier = bulkAddress(d.address(2));
  static_assert(std::is_trivially_copyable_v<Operands> &&
                alignof(Operands) == 4);
  uint32_t words[(sizeof o + 3) / 4] = {};
  std::memcpy(words, &o, sizeof o);
  const uint32_t *list = d.list(words);
  Op &op = d.emit(store);
  op.a = to.row, op.e = to.bits, op.imm = to.offset, op.space = space;
  op.list = list;
  return true;
}

/// .shared::cluster or nothing, and .mbarrier::complete_tx::bytes.
bool takePlace(Decoder &d, Space &space) {
  space = d.take("shared::cluster") ? Space::SharedCluster : Space::Generic;
  return d.take("mbarrier::complete_tx::bytes");
}

} // namespace

bool ptxsim::decodeAsyncStore(Decoder &d) {
  if (!d.take("async"))
    return false;
  d.take("weak");
  Operands o{};
  Space space;
  if (!takePlace(d, space))
    return false;
  const int vector = d.takeOneOf({"v2", "v4"});
  const unsigned count = vector < 0 ? 1 : 2u << vector;
  o.type = d.takeType();
  const unsigned bits = bitsOf(o.type);
  const bool isHalfPair =
      bits == 32 &&
      (o.type == Type::F16x2 || o.type == Type::BF16x2 ||
       o.type == Type::U16x2 || o.type == Type::S16x2 || o.type == Type::TF32);
  if ((bits != 32 && bits != 64) || bits * count > 128 || isHalfPair ||
      !d.done())
    return false;
  return emitStore(d, o, count, space);
}

bool ptxsim::decodeAsyncReduction(Decoder &d) {
  if (!d.take("async") || !d.take("relaxed") || !d.take("cluster"))
    return false;
  Operands o{};
  Space space;
  if (!takePlace(d, space))
    return false;
  o.reduction = takeReduction(d);
  o.type = d.takeType();
  const bool logic = o.reduction == Reduction::And ||
                     o.reduction == Reduction::Or ||
                     o.reduction == Reduction::Xor,
             wide = o.type == Type::U64 || o.type == Type::S64;
  if (!canReduce(o.reduction, o.type) || !d.done())
    return false;
  if (logic  ? o.type != Type::B32
      : wide ? o.reduction != Reduction::Add
             : o.type != Type::U32 && o.type != Type::S32)
    return false;
  return emitStore(d, o, 1, space);
}
