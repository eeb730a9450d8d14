// barrier.cluster, mapa, getctarank.

#include "runtime/ptxsim/Cluster.h"
#include "runtime/ptxsim/Decoder.h"
#include "runtime/ptxsim/Lanes.h"

#include <fmt/format.h>

using namespace ptxsim;

namespace {

template <bool Aligned, bool Waits>
void clusterBarrier(Warp &w, const Op &op, uint32_t mask) {
  if (Aligned && w.waitsForSpinning(op, mask))
    return;
  if (Aligned)
    w.requireConverged(op, mask);
  Waits ? w.cta->cluster.wait(w, op, mask) : w.cta->cluster.arrive(w, op, mask);
}

/// op.imm: the window of the addresses, 0 for offsets in the shared window. No
/// address of 32 bits is a generic one of shared memory.
template <class T> void mapAddress(Warp &w, const Op &op, uint32_t mask) {
  const T *a = w.row<T>(op.a);
  const uint32_t *rank = w.row<uint32_t>(op.b);
  T *d = w.row<T>(op.d);
  const size_t ctas = w.cta->cluster.ctas.size();
  forLanes(mask, [&](unsigned l) {
    if (rank[l] >= ctas)
      w.fault(op, l,
              fmt::format("expected the rank of one of {} CTAs of the cluster, "
                          "but got {}",
                          ctas, rank[l]));
    if ((uint64_t(a[l]) & windowMask) != op.imm)
      w.fault(op, l,
              fmt::format("address {:#x} is not in shared memory", a[l]));
    const uint64_t low = (1ull << clusterShift) - 1;
    d[l] = T((uint64_t(a[l]) & low) | uint64_t(rank[l] + 1) << clusterShift |
             op.imm);
  });
}

template <class T> void rankOf(Warp &w, const Op &op, uint32_t mask) {
  const T *a = w.row<T>(op.a);
  uint32_t *d = w.row<uint32_t>(op.d);
  forLanes(mask, [&](unsigned l) {
    const uint64_t tag = (uint64_t(a[l]) & ~windowMask) >> clusterShift;
    if ((uint64_t(a[l]) & windowMask) != op.imm ||
        tag > w.cta->cluster.ctas.size())
      w.fault(op, l,
              fmt::format("address {:#x} is not in shared memory", a[l]));
    d[l] = tag ? uint32_t(tag - 1) : w.cta->rank;
  });
}

} // namespace

bool ptxsim::decodeClusterBarrier(Decoder &d) {
  if (!d.take("cluster"))
    return false;
  const int kind = d.takeOneOf({"arrive", "wait"});
  if (kind < 0)
    return false;
  const bool relaxed = kind == 0 && d.take("relaxed");
  if (!relaxed)
    d.take(kind == 0 ? "release" : "acquire");
  const bool aligned = d.take("aligned");
  if (!d.done())
    return false;
  d.expect(0);
  Op &op = d.emit(kind == 0 ? aligned ? clusterBarrier<true, false>
                                      : clusterBarrier<false, false>
                  : aligned ? clusterBarrier<true, true>
                            : clusterBarrier<false, true>);
  op.imm = relaxed;
  op.flags = Control;
  return true;
}

bool ptxsim::decodeMapa(Decoder &d) {
  const bool window = d.take("shared::cluster");
  const Type type = d.takeType();
  if ((type != Type::U32 && type != Type::U64) || !d.done())
    return false;
  d.expect(3);
  uint32_t result = d.destination(0, bitsOf(type)), a = d.source(1, type),
           rank = d.source(2, Type::U32);
  Op &op =
      d.emit(type == Type::U32 ? mapAddress<uint32_t> : mapAddress<uint64_t>);
  op.d = result, op.a = a, op.b = rank, op.imm = window ? 0 : sharedWindow;
  return true;
}

bool ptxsim::decodeGetCtaRank(Decoder &d) {
  const bool window = d.take("shared::cluster");
  const Type type = d.takeType();
  if ((type != Type::U32 && type != Type::U64) || !d.done())
    return false;
  d.expect(2);
  uint32_t result = d.destination(0, 32), a = d.source(1, type);
  Op &op = d.emit(type == Type::U32 ? rankOf<uint32_t> : rankOf<uint64_t>);
  op.d = result, op.a = a, op.imm = window ? 0 : sharedWindow;
  return true;
}
