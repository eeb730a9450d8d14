// Fences, and instructions that change no result here: prefetches, cache hints,
// sleeping, register reallocation, grid dependencies.

#include "runtime/ptxsim/Access.h"
#include "runtime/ptxsim/Cluster.h"
#include "runtime/ptxsim/Decoder.h"
#include "runtime/ptxsim/Lanes.h"

#include <atomic>

using namespace ptxsim;

namespace {

/// Of the generic and the asynchronous proxy: generic writes to shared memory
/// that are over for these threads may be read by bulk copies and wgmma.
void proxyFence(Warp &w, const Op &, uint32_t mask) {
  for (Cta &cta : w.cta->cluster.ctas)
    if (cta.proxies)
      cta.proxies->fence(w, mask);
  if (Clocks *clocks = w.cta->clocks;
      clocks && w.cta->launch.options.checks.mbarrierInitFence)
    clocks->fenceProxy(w, mask);
}

/// The order of accesses of CTAs on different host threads.
void fence(Warp &w, const Op &op, uint32_t mask) {
  ++w.cta->cluster.syncs;
  if (w.cta->clocks)
    w.cta->clocks->fence(w, mask, uint32_t(op.imm));
  if (GlobalRaces *global = w.cta->launch.globalRaces.get())
    global->fence(w, mask, uint32_t(op.imm));
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

/// .sync_restrict: orders shared memory alone.
void restrictedFence(Warp &w, const Op &op, uint32_t mask) {
  ++w.cta->cluster.syncs;
  if (w.cta->clocks)
    w.cta->clocks->fence(w, mask, uint32_t(op.imm));
}
void restrictedProxyFence(Warp &w, const Op &op, uint32_t mask) {
  restrictedFence(w, op, mask);
  proxyFence(w, op, mask);
}

/// An mbarrier is there for the cluster as soon as it is initialised; this is
/// for the check that its users have synchronised with who did it.
void fenceInit(Warp &w, const Op &, uint32_t) {
  if (w.cta->clocks)
    w.cta->clocks->fenceInit(w);
}

void releaseMaps(Warp &w, const Op &, uint32_t) {
  w.cta->cluster.maps.release();
}
void acquireMap(Warp &w, const Op &op, uint32_t mask) {
  forLanes(mask, [&](unsigned l) {
    w.cta->cluster.maps.acquire(w, w.addressOf(op, l));
  });
}

void nothing(Warp &, const Op &, uint32_t) {}

/// op.imm: registers of a thread; op.count: .inc.
void setRegisters(Warp &w, const Op &op, uint32_t mask) {
  if (w.waitsForSpinning(op, mask))
    return;
  w.requireConverged(op, mask);
  if (w.cta->launch.options.checks.setmaxnreg &&
      !w.cta->registerPool.set(w, op))
    w.waitForRegisters(op, mask);
}

/// {.acquire.sync_restrict::shared::cluster,
/// .release.sync_restrict::shared::cta}.cluster; nothing if it is neither.
std::optional<uint32_t> takeRestriction(Decoder &d) {
  const int order = d.takeOneOf({"acquire", "release"});
  if (order < 0 ||
      !d.take(order == 0 ? "sync_restrict::shared::cluster"
                         : "sync_restrict::shared::cta") ||
      takeScope(d) != Order::Cluster || !d.done())
    return std::nullopt;
  return Order::withScope(order == 0 ? Order::Acquire : Order::Release,
                          Order::Cluster);
}

void zeroPolicy(Warp &w, const Op &op, uint32_t mask) {
  setLanes(w.row<uint64_t>(op.d), mask, [](unsigned) { return uint64_t(0); });
}

} // namespace

bool ptxsim::decodeRestrictedFence(Decoder &d) {
  bool proxy = d.take("proxy");
  if (proxy && !d.take("async::generic"))
    return false;
  const std::optional<uint32_t> order = takeRestriction(d);
  if (!order)
    return false;
  d.expect(0);
  d.emit(proxy ? restrictedProxyFence : restrictedFence).imm = *order;
  return true;
}

bool ptxsim::decodeFence(Decoder &d) {
  uint32_t scope, order = Order::Acquire | Order::Release;
  if (d.opcode() == "membar") {
    if (d.take("proxy")) { // the older name of fence.proxy
      if (!d.take("alias") || !d.done())
        return false;
      d.expect(0);
      d.emit(nothing);
      return true;
    }
    const int level = d.takeOneOf({"cta", "gl", "sys"});
    if (level < 0 || !d.done())
      return false;
    scope = level == 0 ? Order::Cta : Order::Gpu;
  } else {
    const int sem = d.takeOneOf({"acquire", "release", "sc", "acq_rel"});
    if (sem == 0 || sem == 1)
      order = sem == 0 ? Order::Acquire : Order::Release;
    scope = takeScope(d);
    if (!scope || !d.done())
      return false;
  }
  d.expect(0);
  d.emit(fence).imm = Order::withScope(order, scope);
  return true;
}

bool ptxsim::decodeProxyFence(Decoder &d) {
  if (d.take("mbarrier_init")) {
    if (!d.take("release") || !d.take("cluster") || !d.done())
      return false;
    d.expect(0);
    d.emit(fenceInit);
    return true;
  }
  if (!d.take("proxy"))
    return false;
  if (d.take("tensormap::generic")) {
    // .release, or .acquire [address], 128
    const int order = d.takeOneOf({"release", "acquire"});
    if (order < 0 || d.takeOneOf({"cta", "cluster", "gpu", "sys"}) < 0 ||
        !d.done())
      return false;
    d.expect(order == 0 ? 0 : 2);
    Decoder::AddressRef at{};
    if (order == 1) {
      at = d.address(0);
      if (d.integer(d[1]) != 128)
        d.error("expected 128 as the size of a tensor map");
    }
    Op &op = d.emit(order == 0 ? releaseMaps : acquireMap);
    op.a = at.row, op.e = at.bits, op.imm = at.offset;
    return true;
  }
  const bool async = d.take("async");
  if (!async && !d.take("alias"))
    return false;
  const int space =
      async ? d.takeOneOf({"global", "shared::cta", "shared::cluster"}) : 0;
  if (!d.done())
    return false;
  d.expect(0);
  d.emit(space == 0 ? nothing : proxyFence);
  return true;
}

bool ptxsim::decodeNanosleep(Decoder &d) {
  if (d.takeType() != Type::U32 || !d.done())
    return false;
  d.expect(1);
  d.source(0, Type::U32);
  d.emit(nothing);
  return true;
}

bool ptxsim::decodePrefetch(Decoder &d) {
  // prefetch{.global}.L2 [a]; discard.global.L2 [a], 128;
  // applypriority.global.L2::evict_normal [a], 128
  const bool prefetches = d.opcode() == "prefetch";
  const bool global = d.take("global"),
             local = prefetches && !global && d.take("local");
  int level;
  if (prefetches)
    level =
        local ? d.takeOneOf({"L1", "L2"})
              : d.takeOneOf({"L1", "L2", "L2::evict_last", "L2::evict_normal"});
  else if (d.opcode() == "prefetchu")
    level = global ? -1 : d.takeOneOf({"L1"});
  else
    level = d.takeOneOf({d.opcode() == "discard" ? "L2" : "L2::evict_normal"});
  if (level < 0 || !d.done())
    return false;
  const bool sized = d.opcode() == "discard" || d.opcode() == "applypriority";
  d.expect(sized ? 2 : 1);
  const Decoder::AddressRef at = d.address(0);
  if (sized && d.integer(d[1]) != 128)
    d.error("expected 128 as the size");
  Op &op = d.emit(nothing); // for observers the address
  op.a = at.row, op.e = at.bits, op.imm = at.offset;
  op.space = global ? Space::Global : local ? Space::Local : Space::Generic;
  return true;
}

bool ptxsim::decodeCreatePolicy(Decoder &d) {
  if (d.take("cvt")) {
    if (!d.take("L2") || d.takeType() != Type::B64 || !d.done())
      return false;
    d.expect(2);
    uint32_t destination = d.destination(0, 64);
    d.source(1, Type::B64);
    d.emit(zeroPolicy).d = destination;
    return true;
  }
  const bool range = d.take("range");
  if (range)
    d.take("global");
  if ((!range && !d.take("fractional")) || d.rest().empty())
    return false;
  // The first priority, then perhaps the second.
  const std::string_view first = d.rest()[0];
  if (first != "L2::evict_last" && first != "L2::evict_normal" &&
      first != "L2::evict_first" && first != "L2::evict_unchanged")
    return false;
  d.take(first);
  d.takeOneOf({"L2::evict_first", "L2::evict_unchanged"});
  if (d.takeType() != Type::B64 || !d.done())
    return false;
  range ? d.expect(4) : d.expect(1, 2);
  uint32_t destination = d.destination(0, 64);
  if (range) // [address], primary size, total size
    d.address(1), d.source(2, Type::B32), d.source(3, Type::B32);
  d.emit(zeroPolicy).d = destination;
  return true;
}

bool ptxsim::decodePerformanceEvent(Decoder &d) {
  d.take("mask");
  if (!d.done())
    return false;
  d.expect(1);
  if (const int64_t event = d.integer(d[0]); event < 0 || event > 65535)
    d.error("expected an event from 0, or a mask of 16 bits");
  d.emit(nothing);
  return true;
}

bool ptxsim::decodeGridDepControl(Decoder &d) {
  // Kernels run one after the other.
  if (d.takeOneOf({"launch_dependents", "wait"}) < 0 || !d.done())
    return false;
  d.expect(0);
  d.emit(nothing);
  return true;
}

bool ptxsim::decodeSetMaxNReg(Decoder &d) {
  const int action = d.takeOneOf({"dec", "inc"});
  if (action < 0 || !d.take("sync") || !d.take("aligned") ||
      d.takeType() != Type::U32 || !d.done())
    return false;
  d.expect(1);
  int64_t n = d.integer(d[0]);
  if (n < 24 || n > 256 || n % 8)
    d.error("expected a multiple of 8 from 24 to 256");
  Op &op = d.emit(setRegisters);
  op.imm = uint64_t(n), op.count = uint16_t(action);
  op.flags = Control;
  return true;
}
