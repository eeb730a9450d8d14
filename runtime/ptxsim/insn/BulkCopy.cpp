// cp.async.bulk and cp.reduce.async.bulk without a tensor map, and bulk groups.

#include "runtime/ptxsim/Access.h"
#include "runtime/ptxsim/FunctionBuilder.h"
#include "runtime/ptxsim/Lanes.h"
#include "runtime/ptxsim/Reduce.h"
#include "runtime/ptxsim/insn/Bulk.h"

#include <cstring>
#include <fmt/format.h>

using namespace ptxsim;

BulkAddress ptxsim::bulkAddress(const Decoder::AddressRef &ref) {
  return {ref.row, ref.bits, uint32_t(ref.offset), uint32_t(ref.offset >> 32)};
}

uint64_t ptxsim::addressOf(Warp &w, const BulkAddress &a, unsigned lane) {
  const uint64_t offset = a.offsetLow | uint64_t(a.offsetHigh) << 32;
  return a.bits == 32
             ? uint64_t(uint32_t(w.row<uint32_t>(a.row)[lane] + offset))
             : w.row<uint64_t>(a.row)[lane] + offset;
}

const uint32_t *ptxsim::keep(Decoder &d, const BulkOperands &operands) {
  static_assert(std::is_trivially_copyable_v<BulkOperands> &&
                alignof(BulkOperands) == 4);
  uint32_t words[(sizeof operands + 3) / 4] = {};
  std::memcpy(words, &operands, sizeof operands);
  d.function.f.usesAsyncProxy = true;
  return d.list(words);
}

std::shared_ptr<const Clock> ptxsim::knownAtIssue(Warp &w, unsigned lane) {
  if (w.cta->launch.options.async == Async::Eager)
    return nullptr;
  Clocks &clocks = *w.cta->clocks;
  auto known = std::make_shared<Clock>(clocks.agents);
  clocks.release(clocks.agentOf(w), 1u << lane, *known);
  return known;
}

const Mbarrier &ptxsim::signalled(Warp &w, const Op &op, unsigned lane,
                                  Cta &cta, uint32_t address) {
  if (const Mbarrier *b = cta.mbarrier(address))
    return *b;
  w.fault(
      op, lane,
      fmt::format("there is no mbarrier at address {:#x} of shared memory "
                  "of CTA {} of the cluster",
                  address, cta.rank),
      {{"that CTA must execute mbarrier.init, and a fence and a barrier (of "
        "the cluster, if it is another CTA) must follow, before this "
        "instruction"}});
}

void ptxsim::startBulk(Warp &w, const Op &op, const BulkOperands &o, Transfer t,
                       unsigned align) {
  const unsigned lane = t.lane;
  Cluster &cluster = w.cta->cluster;
  t.kind = o.kind, t.reduction = o.reduction, t.type = o.type;
  SharedPlace place = sharedPlace(w, op, lane, o.space,
                                  addressOf(w, o.shared, lane), t.bytes, align);
  t.cta = place.cta, t.offset = place.address;
  Clocks *clocks = w.cta->clocks;
  if (!o.barrier.row) {
    if (clocks) {
      const unsigned warp = clocks->agentOf(w), agent = clocks->bulkAgent(warp);
      const uint32_t stamp = clocks->asyncStamp(agent, warp);
      place.cta->races->readAsync(w, op, lane, place.address - sharedBegin,
                                  t.bytes, agent, stamp);
      clocks->addBulk(warp, lane, agent, stamp, false);
      if (w.cta->launch.globalRaces) {
        const unsigned writes = clocks->writeAgent(warp);
        const uint32_t at = clocks->asyncStamp(writes, warp);
        clocks->addBulk(warp, lane, writes, at, true);
        t.noteGlobal(writes, at);
      }
    }
    t.tellStart();
    // The detector of races in global memory compares what is written with what
    // is there, and so must see it; it tells what is not waited for.
    const bool eager = w.cta->launch.options.async == Async::Eager ||
                       w.cta->launch.globalRaces;
    if (eager)
      t.run();
    w.bulkCopies.defer(std::move(t), eager);
    return;
  }
  SharedPlace barrier = sharedPlace(
      w, op, lane,
      o.space == Space::Shared ? Space::Shared : Space::SharedCluster,
      addressOf(w, o.barrier, lane), 8, 8);
  t.barrier = barrier.address;
  auto startAt = [&](Cta &cta) {
    Transfer part = t;
    part.cta = part.barrierCta = &cta;
    const Mbarrier &b = signalled(w, op, lane, cta, part.barrier);
    if (cta.isInUse(part.offset, part.bytes))
      checkSharedWrite(w, op, lane, cta, part.offset, part.bytes);
    if (clocks) {
      // Done when the mbarrier is signalled; what orders it after earlier
      // accesses is its issue.
      const unsigned agent = clocks->object(b).agent;
      part.stamp = clocks->asyncStamp(agent, clocks->agentOf(w));
      part.known = knownAtIssue(w, lane);
      if (w.cta->launch.globalRaces && part.kind == Transfer::ToShared)
        part.noteGlobal(agent, part.stamp);
      if (cta.launch.options.checks.mbarrierInitFence &&
          !clocks->object(b).isProxyFenced)
        w.fault(op, lane,
                fmt::format("the copy signals the mbarrier at address {:#x} of "
                            "shared memory, but no fence has published its "
                            "init to the asynchronous proxy",
                            part.barrier),
                {{"the thread that executes mbarrier.init must execute "
                  "fence.mbarrier_init or fence.proxy.async after it, before "
                  "the barrier"}});
      if (part.kind == Transfer::Between)
        part.source->races->readAsync(w, op, lane,
                                      part.sourceOffset - sharedBegin,
                                      part.bytes, agent, part.stamp);
      cta.races->writeAsync(w, op, lane, part.offset - sharedBegin, part.bytes,
                            agent, part.stamp,
                            part.reduction != Reduction::None);
    }
    part.tellStart();
    cluster.start(std::move(part));
    t.again = true;
  };
  if (!o.multicastRow) {
    if (barrier.cta != place.cta)
      w.fault(op, lane,
              fmt::format("the mbarrier is in CTA {} of the cluster, expected "
                          "that of the destination, {}",
                          barrier.cta->rank, place.cta->rank));
    return startAt(*place.cta);
  }
  const uint16_t mask = w.row<uint16_t>(o.multicastRow)[lane];
  if (mask >> cluster.ctas.size())
    w.fault(op, lane,
            fmt::format("the multicast mask {:#x} names CTAs that the cluster "
                        "of {} has not",
                        mask, cluster.ctas.size()));
  for (Cta &cta : cluster.ctas)
    if (mask >> cta.rank & 1) {
      if (!cta.liveWarps())
        w.fault(op, lane,
                fmt::format("CTA {} of the multicast has exited", cta.rank));
      startAt(cta);
    }
}

void ptxsim::tellPrefetch(Warp &w, const Op &op, const Transfer &t) {
  t.forGlobalRuns([&](uint64_t address, uint32_t bytes) {
    uint64_t at[warpSize] = {};
    at[t.lane] = address;
    observeAccess(w, op, MemoryKind::Prefetch, Space::Global, 1u << t.lane, at,
                  bytes);
  });
}

Reduction ptxsim::takeReduction(Decoder &d) {
  return Reduction(
      1 + d.takeOneOf({"add", "min", "max", "inc", "dec", "and", "or", "xor"}));
}

std::optional<bool> ptxsim::takeCompletion(Decoder &d) {
  if (d.take("mbarrier::complete_tx::bytes"))
    return true;
  if (d.take("bulk_group"))
    return false;
  return std::nullopt;
}

namespace {

void copy(Warp &w, const Op &op, uint32_t mask) {
  BulkOperands o;
  std::memcpy(&o, op.list, sizeof o);
  const uint32_t *size = w.row<uint32_t>(o.sizeRow);
  forLanes(mask, [&](unsigned l) {
    Transfer t;
    t.warp = &w, t.op = &op, t.lane = l;
    t.bytes = size[l];
    if (t.bytes % 16)
      w.fault(op, l,
              fmt::format("expected a size that is a multiple of 16, but got "
                          "{}",
                          t.bytes));
    if (o.kind == Transfer::Between) {
      SharedPlace from = sharedPlace(w, op, l, Space::Shared,
                                     addressOf(w, o.source, l), t.bytes, 16);
      t.source = from.cta, t.sourceOffset = from.address;
    } else {
      t.global = addressOf(w, o.global, l);
      if (t.global % 16)
        faultMisaligned(w, op, l, Space::Global, t.global, 16);
      if (t.bytes && w.cta->launch.options.checks.bounds &&
          !w.cta->launch.arena->find(t.global, t.bytes))
        w.fault(op, l, w.cta->launch.arena->describe(t.global, t.bytes));
    }
    if (t.bytes)
      startBulk(w, op, o, std::move(t), 16);
  });
}

/// op.b: row of the size.
void prefetch(Warp &w, const Op &op, uint32_t mask) {
  if (w.cta->launch.observers.empty())
    return;
  forLanes(mask, [&](unsigned l) {
    Transfer t;
    t.lane = l;
    t.global = w.addressOf(op, l), t.bytes = w.row<uint32_t>(op.b)[l];
    if (t.bytes)
      tellPrefetch(w, op, t);
  });
}

void commit(Warp &w, const Op &, uint32_t mask) {
  w.bulkCopies.commit(mask);
  if (w.cta->clocks)
    w.cta->clocks->commitBulk(w, mask);
}

/// op.imm: groups that may stay open; op.count: .read.
void waitGroup(Warp &w, const Op &op, uint32_t mask) {
  w.bulkCopies.wait(mask, uint32_t(op.imm), op.count);
  if (w.cta->clocks)
    w.cta->clocks->waitBulk(w, mask, uint32_t(op.imm), op.count);
}

} // namespace

bool ptxsim::decodeBulkGroup(Decoder &d) {
  if (!d.take("async") || !d.take("bulk"))
    return false;
  if (d.take("commit_group")) {
    if (!d.done())
      return false;
    d.expect(0);
    d.emit(commit);
    return true;
  }
  if (!d.take("wait_group"))
    return false;
  const bool read = d.take("read");
  if (!d.done())
    return false;
  d.expect(1);
  const int64_t open = d.integer(d[0]);
  if (open < 0)
    d.error("expected a number of groups of at least 0");
  Op &op = d.emit(waitGroup);
  op.imm = uint64_t(std::min<int64_t>(open, UINT32_MAX)), op.count = read;
  return true;
}

bool ptxsim::decodeBulkCopy(Decoder &d) {
  const bool reduces = d.take("reduce");
  if (!d.take("async") || !d.take("bulk"))
    return false;
  const bool hint = d.take("L2::cache_hint");
  if (!reduces && d.take("prefetch")) {
    if (!d.take("L2") || !d.take("global") || !d.done())
      return false;
    d.expect(hint ? 3 : 2);
    const Decoder::AddressRef at = d.address(0);
    const uint32_t size = d.source(1, Type::B32);
    Op &op = d.emit(prefetch);
    op.a = at.row, op.e = at.bits, op.imm = at.offset, op.b = size;
    return true;
  }
  const auto rest = d.rest();
  if (rest.size() < 3)
    return false;
  const std::string_view to = rest[0], from = rest[1];
  BulkOperands o{};
  if (to == "global" && from == "shared::cta")
    o.kind = Transfer::ToGlobal, o.space = Space::Shared;
  else if (to.starts_with("shared::c") && from == "global" && !reduces)
    o.kind = Transfer::ToShared,
    o.space = to == "shared::cta" ? Space::Shared : Space::SharedCluster;
  else if (to == "shared::cluster" && from == "shared::cta")
    o.kind = Transfer::Between, o.space = Space::SharedCluster;
  else
    return false;
  for (const char *name : {"shared::cta", "shared::cluster", "global"})
    d.take(name);
  const std::optional<bool> signals = takeCompletion(d);
  if (signals != (o.kind != Transfer::ToGlobal))
    return false;
  const bool multicast = o.kind == Transfer::ToShared &&
                         o.space == Space::SharedCluster &&
                         d.take("multicast::cluster");
  if (reduces) {
    o.reduction = takeReduction(d);
    const bool noftz = d.take("noftz");
    o.type = d.takeType();
    const bool half = o.type == Type::F16 || o.type == Type::BF16;
    if (!canReduce(o.reduction, o.type) ||
        noftz != (half && o.reduction == Reduction::Add))
      return false;
    const bool logic = o.reduction == Reduction::And ||
                       o.reduction == Reduction::Or ||
                       o.reduction == Reduction::Xor,
               adds = o.reduction == Reduction::Add;
    if (logic ? o.type != Type::B32 && o.type != Type::B64
              : adds && o.type == Type::S64)
      return false; // of tensors these exist
    if (o.kind == Transfer::Between && o.type != Type::U32 &&
        o.type != Type::S32 && o.type != Type::B32 &&
        !(adds && o.type == Type::U64))
      return false;
  }
  if (!d.done())
    return false;
  d.expect(3 + *signals + multicast + hint);
  const BulkAddress target = bulkAddress(d.address(0)),
                    source = bulkAddress(d.address(1));
  o.shared = o.kind == Transfer::ToGlobal ? source : target;
  o.source = source;
  o.global = o.kind == Transfer::ToGlobal ? target : source;
  o.sizeRow = d.source(2, Type::B32);
  if (*signals)
    o.barrier = bulkAddress(d.address(3));
  if (multicast)
    o.multicastRow = d.source(4, Type::B16);
  if (hint)
    d.source(d.size() - 1, Type::B64);
  const uint32_t *list = keep(d, o);
  d.emit(copy).list = list;
  return true;
}
