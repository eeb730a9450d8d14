#include "runtime/ptxsim/counting/Collector.h"

#include "runtime/ptxsim/Cluster.h"
#include "runtime/ptxsim/Lanes.h"
#include "runtime/ptxsim/counting/Coalescing.h"

#include <algorithm>
#include <fmt/format.h>

using namespace ptxsim;

namespace {

/// No source tells how many ways Hopper's caches have.
constexpr unsigned assumedWays = 16, assumedL1Ways = 4;

/// Shared memory's own addresses, without the CTA's rank.
constexpr uint64_t ownMask = (1ull << clusterShift) - 1;

uint64_t l1Bytes(const CacheSizes &sizes, const Launch &launch) {
  const uint64_t shared = launch.function->kernel.staticSharedBytes +
                          launch.dynamicShared + sizes.sharedReservedBytes;
  return sizes.l1AndSharedBytes > shared ? sizes.l1AndSharedBytes - shared : 0;
}

/// The rank of another CTA that an address of the cluster's window names.
bool isRemote(const Cta &cta, uint64_t address) {
  const uint64_t tag = address >> clusterShift;
  return tag && tag - 1 != cta.rank;
}

std::string sourceOf(const Function &f, const OpInfo &info) {
  if (info.loc >= f.locs.size() || !f.locs[info.loc].file)
    return {};
  const SourceLoc &loc = f.locs[info.loc];
  const auto &files = f.module->files;
  const auto it = files.find(loc.file);
  return fmt::format("{}:{}:{}", it == files.end() ? "?" : it->second, loc.line,
                     loc.column);
}

/// wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 -> wgmma.m64n8k16...
std::string tensorName(std::string_view form) {
  std::string name(form);
  for (std::string_view part :
       {".mma_async", ".sync", ".aligned", ".row", ".col"})
    if (const size_t at = name.find(part); at != name.npos)
      name.erase(at, part.size());
  return name;
}

} // namespace

/// Of a CTA under way.
struct Collector::OfCta {
  explicit OfCta(uint64_t l1) : l1(l1, assumedL1Ways) {}
  SectorCache l1;
  InFlight inFlight;
  LoadChains chains;
  CtaWork work;
};

Collector::Collector(CacheSizes sizes)
    : sizes(sizes), l2Cache(sizes.l2Bytes, assumedWays) {}
Collector::~Collector() = default;

Collector::OfCta &Collector::of(const Cta &cta) {
  if (latestCta.first != &cta) {
    std::unique_ptr<OfCta> &state = ctas[&cta];
    if (!state)
      state = std::make_unique<OfCta>(l1Bytes(sizes, *launch));
    latestCta = {&cta, state.get()};
  }
  return *latestCta.second;
}

// --- begin and end ---

void Collector::launchStarts(const Launch &l) {
  launch = &l;
  base = l.arena->start();
  if (!sizes.keepL2)
    l2Cache.clear();
  touched = std::make_unique<Touched>();
  gridWaits.restart();
  lines.assign(l.function->ops.size(), {});
  ctas.clear();
  latestCta = {};
  work.clear();
  const Kernel &kernel = l.function->kernel;
  result = {};
  result.kernel = kernel.name;
  result.file = l.function->module->filename;
  result.grid = l.grid, result.block = l.block, result.cluster = l.cluster;
  result.sharedBytes = kernel.staticSharedBytes + l.dynamicShared;
  result.launches = 1;
  result.cooperative = l.workspace != 0;
  for (const OpFacts &facts : l.facts)
    result.gridDependency |= facts.gridDependency;
  result.skippedTensor = l.options.skipTensor;
  result.cachesModelled = sizes.l2Bytes != 0;
}

void Collector::launchEnds(const Launch &l) {
  const Function &f = *l.function;
  result.ctas = l.counters.ctas;
  result.ctasExecuted = l.counters.ctasExecuted;
  for (size_t i = 0; i < lines.size(); ++i) {
    const EventCounts &c = lines[i];
    if (!c[Counter::Instructions] && !c[Counter::Spins])
      continue;
    const OpInfo &info = f.infos[i];
    result.total += c;
    result.lines.push_back(
        {uint32_t(i), info.line, std::string(info.form), sourceOf(f, info), c});
    if (l.facts[i].kind == OpClass::Tensor) {
      TensorCounts &t = result.tensor[tensorName(info.form)];
      t.ops += c[Counter::TensorOps];
      t.flops += c[Counter::TensorFlops];
    }
  }
  if (!sizes.keepL2 && sizes.l2Bytes)
    result.total[Counter::DramWriteBytes] += l2Cache.flush() * sectorBytes;
  std::sort(work.begin(), work.end(), [](const CtaWork &a, const CtaWork &b) {
    return a.number < b.number;
  });
  result.work = work;
  for (const CtaWork &of : work)
    result.loadChain = std::max(result.loadChain, of.loadChain);
  result.gridWaits = gridWaits.longest();
  result.compulsoryReadBytes = touched->readSectors * sectorBytes;
  result.compulsoryWriteBytes = touched->writtenSectors * sectorBytes;
  launch = nullptr;
}

void Collector::ctaStarts(const Cta &cta) {
  OfCta &c = of(cta);
  c.l1.clear();
  c.inFlight.restart(cta.warps.size(), launch->function->registerBytes / 64);
  c.chains.restart(cta.warps.size(), launch->function->registerBytes);
  c.work = {};
}

void Collector::ctaEnds(const Cta &cta) {
  OfCta &c = of(cta);
  c.work.inFlight = c.inFlight.peak();
  c.work.loadChain = c.chains.longest;
  // CTAs in the order in which they are launched: cluster by cluster.
  const Dim3 d = launch->cluster, at = cta.clusterId;
  const uint64_t cluster =
      at.x + uint64_t(launch->grid.x / d.x) *
                 (at.y + uint64_t(launch->grid.y / d.y) * at.z);
  c.work.number = cluster * d.x * d.y * d.z + cta.rank;
  work.push_back(c.work);
}

// --- instructions ---

void Collector::issue(Warp &w, const Op &op, uint32_t mask) {
  const Function &f = *launch->function;
  const uint32_t i = w.indexOf(op);
  if (!mask)
    count(w, op, 0);
  const OpFacts &facts = launch->facts[i];
  if (mask && i + 1 < f.operandStart.size()) {
    const auto rows = std::span(f.operandRows)
                          .subspan(f.operandStart[i],
                                   f.operandStart[i + 1] - f.operandStart[i]);
    OfCta &cta = of(*w.cta);
    cta.inFlight.use(w.index, rows);
    const size_t results = facts.writesFirst ? f.firstOperandRows[i] : 0;
    cta.chains.issue(w.index, rows.first(results), rows.subspan(results),
                     mask == w.active);
  }
  if (!facts.branch)
    return;
  EventCounts &c = lines[i];
  bool parts = facts.conditional && mask && mask != w.active;
  if (facts.indexed && mask) {
    const uint32_t *index = w.row<uint32_t>(op.a);
    forLanes(mask, [&](unsigned l) {
      parts |= index[l] != index[std::countr_zero(mask)];
    });
  }
  ++c[Counter::Branches];
  c[Counter::DivergentBranches] += parts;
}

/// An instruction that is through, for these lanes.
void Collector::count(Warp &w, const Op &op, uint32_t mask) {
  const uint32_t i = w.indexOf(op);
  const OpFacts &facts = launch->facts[i];
  EventCounts &c = lines[i];
  CtaWork &work = of(*w.cta).work;
  const unsigned lanes = unsigned(std::popcount(mask)),
                 kind = unsigned(facts.kind);
  ++c[Counter::Instructions];
  ++work.instructions;
  c[Counter::ThreadInstructions] += lanes;
  ++c.instructions[kind];
  c.results[kind] += lanes * facts.results;
  work.results[kind] += lanes * facts.results;
  if (!mask)
    return;
  c[Counter::Barriers] += facts.ctaBarrier;
  if (facts.mbarrierOther)
    c[Counter::MbarrierOperations] += lanes;
  if (facts.ctaBarrier && result.cooperative)
    gridWaits.interrupt(w);
  c[Counter::UncountedAccesses] += facts.uncounted;
  c[Counter::ClusterBarriers] += facts.clusterBarrier;
  if (facts.kind != OpClass::Tensor)
    return;
  const uint64_t flops = 2ull * facts.m * facts.n * facts.k;
  ++c[Counter::TensorOps];
  c[Counter::TensorFlops] += flops;
  work.tensorFlops[unsigned(facts.tensor)] += flops;
  if (facts.wgmma) {
    // 32 bytes of k in a row of A and of B. The four warps share B.
    const uint64_t bytes =
        facts.n * 32ull / 4 + (facts.registersA ? 0 : facts.m * 32ull);
    c[Counter::WgmmaOperandBytes] += bytes;
    work.operandBytes += bytes;
  }
}

void Collector::executed(Warp &w, const Op &op, uint32_t mask, uint32_t again) {
  const OpFacts &facts = launch->facts[w.indexOf(op)];
  if (mask & ~again)
    count(w, op, mask & ~again);
  if (facts.mbarrierWait) {
    const uint32_t returned = mask & ~again, done = w.word(op.d) & returned;
    EventCounts &c = line(w, op);
    c[Counter::MbarrierWaits] += returned != 0;
    c[Counter::Spins] += done != mask;
    if (done)
      of(*w.cta).inFlight.passed(uint32_t(
          w.addressOf(op, unsigned(std::countr_zero(done))) & ownMask));
    return;
  }
  InFlight &flight = of(*w.cta).inFlight;
  switch (facts.group) {
  case CopyGroup::None:
    break;
  case CopyGroup::Commit:
    flight.commit(w.index);
    break;
  case CopyGroup::Wait:
    flight.wait(w.index, op.imm);
    break;
  case CopyGroup::WaitAll:
    flight.waitAll(w.index);
    break;
  case CopyGroup::Arrive:
    flight.moveTo(
        w.index,
        uint32_t(w.addressOf(op, unsigned(std::countr_zero(mask))) & ownMask));
    break;
  }
}

// --- memory ---

void Collector::l2(EventCounts &c, uint64_t sector, Traffic traffic) {
  const bool reads = traffic != Traffic::Write,
             writes = traffic != Traffic::Read && traffic != Traffic::Prefetch;
  ++c[traffic == Traffic::Read       ? Counter::L2ReadSectors
      : traffic == Traffic::Write    ? Counter::L2WriteSectors
      : traffic == Traffic::Atomic   ? Counter::L2AtomicSectors
      : traffic == Traffic::Prefetch ? Counter::L2PrefetchSectors
                                     : Counter::L2ReductionSectors];
  if (reads)
    touched->read(sector);
  if (writes)
    touched->write(sector);
  if (!sizes.l2Bytes)
    return;
  const SectorCache::Result r =
      writes ? l2Cache.write(sector) : l2Cache.read(sector);
  ++c[r.hit ? Counter::L2Hits : Counter::L2Misses];
  if (!r.hit && reads)
    c[Counter::DramReadBytes] += sectorBytes;
  c[Counter::DramWriteBytes] += r.writtenBack * sectorBytes;
}

void Collector::access(Warp &w, const Op &op, const MemoryAccess &a) {
  switch (a.space) {
  case Space::Global:
    if (a.kind == MemoryKind::Prefetch)
      return prefetches(w, op, a);
    return globalAccess(w, op, a);
  case Space::Shared:
  case Space::SharedCluster:
    if (a.kind != MemoryKind::Prefetch) // does nothing
      sharedAccess(w, op, a);
    return;
  case Space::Local:
    if (a.kind != MemoryKind::Prefetch)
      line(w, op)[Counter::LocalBytes] +=
          uint64_t(a.bytes) * unsigned(std::popcount(a.mask));
    return;
  default: // constants and parameters come from a cache of their own
    if (a.kind != MemoryKind::Load)
      return;
    EventCounts &c = line(w, op);
    ++c[Counter::ConstantRequests];
    c[Counter::ConstantAddresses] +=
        unsigned(std::popcount(a.mask)) - sameAddress(a.at, a.mask);
  }
}

/// The lines around addresses, or runs of memory, in L2 or in L1 as well.
/// Whatever is no memory is not fetched.
void Collector::prefetches(Warp &w, const Op &op, const MemoryAccess &a) {
  const OpFacts &facts = launch->facts[w.indexOf(op)];
  EventCounts &c = line(w, op);
  OfCta &cta = of(*w.cta);
  ++c[Counter::PrefetchRequests];
  uint64_t lines[warpSize];
  unsigned n = 0;
  forLanes(a.mask, [&](unsigned l) {
    if (!launch->arena->find(a.at[l], 1))
      return;
    uint64_t first = (a.at[l] - base) / sectorBytes,
             last = (a.at[l] - base + a.bytes - 1) / sectorBytes;
    if (facts.memory == MemoryKind::Prefetch) {
      constexpr uint64_t ofLine = lineBytes / sectorBytes;
      first -= first % ofLine, last = first + ofLine - 1;
      if (std::find(lines, lines + n, first) != lines + n)
        return;
      lines[n++] = first;
    }
    for (uint64_t s = first; s <= last; ++s) {
      if (!facts.prefetchesL1) {
        l2(c, s, Traffic::Prefetch);
      } else if (!cta.l1.read(s).hit) {
        l2(c, s, Traffic::Read);
        cta.work.bytesFromL2 += sectorBytes;
      }
    }
  });
}

void Collector::globalAccess(Warp &w, const Op &op, const MemoryAccess &a) {
  EventCounts &c = line(w, op);
  OfCta &cta = of(*w.cta);
  const SectorList list(a.at, a.mask, a.bytes, base);
  const unsigned lanes = unsigned(std::popcount(a.mask));
  uint64_t fromL2 = 0;
  if (a.kind == MemoryKind::Load || a.kind == MemoryKind::AsyncLoad ||
      a.kind == MemoryKind::Atomic)
    cta.chains.reads(w.index);
  if (result.cooperative) {
    const bool load = a.kind == MemoryKind::Load;
    if (load && launch->facts[w.indexOf(op)].strong)
      gridWaits.reads(w, op, a.mask, a.at);
    if (!load && a.kind != MemoryKind::AsyncLoad)
      gridWaits.writes(w, a.mask, a.at, a.bytes);
  }
  switch (a.kind) {
  case MemoryKind::Load:
  case MemoryKind::AsyncLoad: {
    const bool load = a.kind == MemoryKind::Load;
    ++c[load ? Counter::GlobalLoadRequests : Counter::AsyncLoadRequests];
    c[load ? Counter::GlobalLoadSectors : Counter::AsyncLoadSectors] +=
        list.count;
    for (unsigned i = 0; i < list.count; ++i) {
      if (a.cached && cta.l1.read(list.sectors[i]).hit) {
        c[Counter::GlobalLoadHits] += load;
        continue;
      }
      l2(c, list.sectors[i], Traffic::Read);
      fromL2 += sectorBytes;
    }
    cta.work.bytesFromL2 += fromL2;
    if (load) {
      cta.inFlight.load(w.index, {op.list, op.count}, fromL2);
    } else {
      c[Counter::AsyncBytes] += uint64_t(a.bytes) * lanes;
      cta.inFlight.asyncLoad(w.index, fromL2);
    }
    return;
  }
  case MemoryKind::Store:
    ++c[Counter::GlobalStoreRequests];
    c[Counter::GlobalStoreSectors] += list.count;
    for (unsigned i = 0; i < list.count; ++i)
      l2(c, list.sectors[i], Traffic::Write);
    return;
  default: {
    const bool atomic = a.kind == MemoryKind::Atomic;
    c[atomic ? Counter::AtomicSectors : Counter::ReductionSectors] +=
        list.count;
    c[atomic ? Counter::Atomics : Counter::Reductions] += lanes;
    c[Counter::AtomicConflicts] += sameAddress(a.at, a.mask);
    for (unsigned i = 0; i < list.count; ++i)
      l2(c, list.sectors[i], atomic ? Traffic::Atomic : Traffic::Reduction);
    if (atomic)
      cta.work.bytesFromL2 += list.count * sectorBytes;
  }
  }
}

void Collector::sharedAccess(Warp &w, const Op &op, const MemoryAccess &a) {
  EventCounts &c = line(w, op);
  CtaWork &work = of(*w.cta).work;
  uint64_t own[warpSize] = {};
  uint32_t mask = a.mask;
  forLanes(a.mask, [&](unsigned l) {
    own[l] = a.at[l] & ownMask;
    if (isRemote(*w.cta, a.at[l]))
      mask &= ~(1u << l);
  });
  const uint64_t remote =
      uint64_t(a.bytes) * unsigned(std::popcount(a.mask & ~mask));
  c[Counter::RemoteSharedBytes] += remote;
  work.remoteBytes += remote;
  Wavefronts passes;
  Counter all = Counter::SharedLoadWavefronts,
          conflicts = Counter::SharedLoadConflicts;
  switch (a.kind) {
  case MemoryKind::Load:
    passes = bankPasses(own, mask, a.bytes);
    break;
  case MemoryKind::LoadMatrix:
    passes = matrixPasses(own, mask);
    break;
  case MemoryKind::Store:
  case MemoryKind::StoreMatrix:
    passes = a.kind == MemoryKind::Store ? bankPasses(own, mask, a.bytes)
                                         : matrixPasses(own, mask);
    all = Counter::SharedStoreWavefronts;
    conflicts = Counter::SharedStoreConflicts;
    break;
  case MemoryKind::AsyncStore:
    passes = bankPasses(own, mask, a.bytes);
    all = Counter::SharedAsyncWavefronts;
    conflicts = Counter::SharedAsyncConflicts;
    break;
  default:
    passes = atomicPasses(own, mask, a.bytes);
    all = Counter::SharedAtomicWavefronts;
    conflicts = Counter::SharedAtomicConflicts;
    c[Counter::SharedAtomics] += unsigned(std::popcount(a.mask));
  }
  c[all] += passes.all;
  c[conflicts] += passes.all - passes.ideal;
  work.wavefronts += passes.all;
}

// --- bulk copies ---

void Collector::copyStarts(const Transfer &t) {
  EventCounts &c = line(*t.warp, *t.op);
  switch (t.kind) {
  case Transfer::ToShared:
    of(*t.warp->cta).chains.reads(t.warp->index);
    c[Counter::BulkLoadBytes] += t.bytes;
    of(*t.cta).work.bulkBytes += t.bytes;
    if (t.barrierCta)
      of(*t.cta).inFlight.bulkLoad(t.barrier, t.bytes);
    break;
  case Transfer::ToGlobal:
    c[Counter::BulkStoreBytes] += t.bytes;
    of(*t.cta).work.bulkBytes += t.bytes;
    break;
  case Transfer::Between:
    of(*t.source).work.bulkBytes += t.bytes;
    of(*t.cta).work.bulkBytes += t.bytes;
    if (t.source != t.cta) {
      c[Counter::RemoteSharedBytes] += t.bytes;
      of(*t.source).work.remoteBytes += t.bytes;
    }
    break;
  case Transfer::Arrive:
  case Transfer::Value:
    break;
  }
}

void Collector::copyMoves(const Transfer &t, uint64_t address, uint32_t bytes,
                          bool writes) {
  if (!bytes)
    return;
  EventCounts &c = line(*t.warp, *t.op);
  const uint64_t first = (address - base) / sectorBytes,
                 last = (address - base + bytes - 1) / sectorBytes;
  if (!writes) {
    // Every destination of a multicast gets the bytes, L2 is read once.
    CtaWork &work = of(*t.cta).work;
    work.bytesFromL2 += (last - first + 1) * sectorBytes;
    work.bulkBytesFromL2 += (last - first + 1) * sectorBytes;
    if (t.again)
      return;
  }
  const Traffic traffic = !writes                          ? Traffic::Read
                          : t.reduction == Reduction::None ? Traffic::Write
                                                           : Traffic::Reduction;
  for (uint64_t s = first; s <= last; ++s)
    l2(c, s, traffic);
}
