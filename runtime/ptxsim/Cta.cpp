#include "runtime/ptxsim/Cta.h"
#include "runtime/ptxsim/Cluster.h"
#include "runtime/ptxsim/Observer.h"
#include "runtime/ptxsim/Specials.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

using namespace ptxsim;

namespace {
constexpr uint64_t quantum = 4096;
/// Not without end: the warp may spin on what another one will do.
constexpr uint64_t greedyQuantum = 1 << 24;
constexpr size_t alignment = 64;

template <class T> void fillRow(std::byte *row, uint64_t value) {
  T *lanes = reinterpret_cast<T *>(row);
  for (unsigned l = 0; l < warpSize; ++l)
    lanes[l] = T(value);
}

void setRow(std::byte *row, uint32_t bits, unsigned lane, uint64_t value) {
  std::memcpy(row + lane * (bits / 8), &value, bits / 8);
}
} // namespace

Counters &Counters::operator+=(const Counters &o) {
  warpInstructions += o.warpInstructions;
  threadInstructions += o.threadInstructions;
  tensorFlops += o.tensorFlops;
  sharedWavefronts += o.sharedWavefronts;
  sharedIdealWavefronts += o.sharedIdealWavefronts;
  globalLoadBytes += o.globalLoadBytes;
  globalStoreBytes += o.globalStoreBytes;
  ctas += o.ctas;
  ctasExecuted += o.ctasExecuted;
  return *this;
}

Cta::Cta(Launch &launch, Cluster &cluster, unsigned rank)
    : launch(launch), cluster(cluster), rank(rank) {
  const Function &f = *launch.function;
  const uint64_t threads =
      uint64_t(launch.block.x) * launch.block.y * launch.block.z;
  const size_t n = size_t((threads + warpSize - 1) / warpSize);
  sharedEnd = launch.dynamicShared ? f.dynamicSharedBase + launch.dynamicShared
                                   : f.sharedEnd;
  const size_t fileBytes =
      (f.fileBytes() + alignment - 1) / alignment * alignment;
  const size_t sharedBytes = sharedEnd - sharedBegin;
  storage =
      launch.storage->take(n * fileBytes + sharedBytes + 2 * alignment + 1024);
  auto aligned = [](std::byte *p, size_t a) {
    return p + (a - reinterpret_cast<uintptr_t>(p) % a) % a;
  };
  registers = aligned(storage.memory.get(), alignment);
  shared = registers + n * fileBytes;
  initialised.resize((sharedBytes + 63) / 64);
  if (f.usesAsyncProxy && launch.options.checks.proxyFence)
    proxies = std::make_unique<ProxyFences>(cluster, sharedBytes);
  local.resize(n * warpSize * f.localBytes);
  if (f.everything && launch.options.checks.undefinedRegisters)
    localShadow.bits.resize(local.size());
  warps.resize(n);
  for (size_t w = 0; w < n; ++w) {
    Warp &warp = warps[w];
    warp.registers = registers + w * fileBytes;
    warp.ops = f.ops.data();
    warp.index = unsigned(w);
    warp.cta = this;
    warp.function = &f;
    warp.counters = &counters;
    if (f.usesWgmma)
      warp.wgmma.rows.resize(f.registerBytes / 64);
    if (!f.callees.empty())
      warp.calls = std::make_unique<CallStack>();
    warp.word(0) = allLanes;
    warp.word(4) = 0;
    if (f.everything)
      std::memset(warp.registers + 3 * f.registerBytes, 0, 512);
    for (const ConstantRow &row : f.constants) {
      std::byte *to = warp.registers + row.row;
      row.bits == 16   ? fillRow<uint16_t>(to, row.value)
      : row.bits == 32 ? fillRow<uint32_t>(to, row.value)
                       : fillRow<uint64_t>(to, row.value);
    }
  }
  for (Barrier &b : barriers)
    b.lanes.resize(n);
  if (f.usesWgmma)
    wgmmaGroups.resize((n + 3) / 4);
}

Cta::~Cta() { launch.storage->give(std::move(storage)); }

StoragePool::Block StoragePool::take(size_t bytes) {
  {
    std::lock_guard lock(mutex);
    if (!blocks.empty()) {
      Block block = std::move(blocks.back());
      blocks.pop_back();
      if (block.bytes >= bytes)
        return block;
    }
  }
  return {std::make_unique_for_overwrite<std::byte[]>(bytes), bytes};
}

void StoragePool::give(Block block) {
  std::lock_guard lock(mutex);
  blocks.push_back(std::move(block));
}

void Cta::start(Dim3 at) {
  const Function &f = *launch.function;
  const Dim3 c = launch.cluster;
  clusterId = at;
  id.x = at.x * c.x + rank % c.x;
  id.y = at.y * c.y + rank / c.x % c.y;
  id.z = at.z * c.z + rank / c.x / c.y;
  const uint64_t threads =
      uint64_t(launch.block.x) * launch.block.y * launch.block.z;
  // Memory starts with the same pattern in every CTA, so that a read of an
  // undefined value cannot depend on what ran before.
  std::fill(initialised.begin(), initialised.end(), 0);
  sharedShadow.reset();
  std::fill(localShadow.bits.begin(), localShadow.bits.end(), 0xff);
  localShadow.origins.clear();
  if (proxies)
    proxies->clear();
  if (races)
    for (const Mbarrier &b : mbarriers)
      races->setMbarrier(b.offset - sharedBegin, false);
  mbarriers.clear();
  for (WgmmaGroup &g : wgmmaGroups)
    g.clear();
  reading.clear();
  wgmmaLow = ~0u, wgmmaHigh = 0;
  if (!launch.options.checks.uninitialisedShared)
    std::memset(shared, 0xff, sharedEnd - sharedBegin);
  std::fill(local.begin(), local.end(), std::byte(0xff));
  for (Warp &w : warps) {
    w.word(carryWord) = 0;
    for (const RegisterRange &range : f.registers)
      std::memset(w.registers + range.offset, 0xff, range.bytes);
    for (const SpecialRow &row : f.specials)
      for (unsigned l = 0; l < warpSize; ++l)
        setRow(w.registers + row.row, row.bits, l,
               specialValue(*this, w.index, l, row.special));
    const uint64_t first = uint64_t(w.index) * warpSize;
    w.live =
        threads - first >= warpSize ? allLanes : (1u << (threads - first)) - 1;
    w.active = w.live;
    w.pc = 0;
    w.stop = w.blocked = false;
    w.splits.clear();
    w.copies.clear();
    w.bulkCopies.clear();
    w.wgmma.clear();
    if (w.calls)
      w.calls->restart(f.stackBase);
    startFollowing(w);
    w.clusterArrived = w.clusterCounted = w.expired = 0;
    w.spins = w.favour = 0;
  }
  for (Barrier &b : barriers)
    if (b.used) {
      b.used = false;
      b.arrived = b.expected = 0;
      b.waiters.clear();
      std::fill(b.lanes.begin(), b.lanes.end(), 0);
    }
  registerPool.start(*this);
  order.clear();
  for (Warp &w : warps)
    order.push_back(&w);
  if (launch.options.schedule == Schedule::Reverse)
    std::reverse(order.begin(), order.end());
  const uint64_t linear =
      id.x + uint64_t(launch.grid.x) * (id.y + uint64_t(launch.grid.y) * id.z);
  randomState = launch.options.seed + linear * 0x632be59bd9b4e019ull;
}

/// splitmix64.
uint64_t Cta::random() {
  uint64_t x = randomState += 0x9e3779b97f4a7c15ull;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ x >> 27) * 0x94d049bb133111ebull;
  return x ^ x >> 31;
}

/// Async::Random: what is under way may take effect after any instruction.
void Cta::runInSlices(Warp &w, uint64_t instructions) {
  for (const uint64_t end = counters.warpInstructions + instructions;
       w.live && !w.blocked && counters.warpInstructions < end;) {
    const uint64_t before = counters.warpInstructions;
    w.run(cluster.random() % 64 + 1, true);
    cluster.deliverRandomly();
    if (counters.warpInstructions == before)
      break;
  }
}

void Cta::runWarp(Warp &w, uint64_t instructions, bool anywhere) {
  const uint32_t live = w.live;
  if (launch.options.async == Async::Random)
    runInSlices(w, instructions);
  else
    w.run(instructions, anywhere);
  // A barrier does not wait for threads that have exited.
  if (w.live != live) {
    for (unsigned b = 0; b < 16; ++b)
      if (barriers[b].used)
        checkRelease(b);
    if (cluster.ctas.size() > 1 || w.clusterCounted)
      cluster.checkBarrier();
  }
}

void Cta::runWarps(bool &alive, bool &progress) {
  const Schedule schedule = launch.options.schedule;
  // A warp may spin on what another CTA will do.
  const bool greedy = schedule == Schedule::Greedy && !launch.workspace;
  if (schedule == Schedule::Random)
    for (size_t i = order.size(); i > 1; --i)
      std::swap(order[i - 1], order[random() % i]);
  for (Warp *w : order) {
    alive |= w->live != 0;
    if (!w->live || w->blocked)
      continue;
    progress = true;
    if (schedule == Schedule::Random)
      runWarp(*w, random() % (1ull << random() % 12) + 1, true);
    else
      runWarp(*w, greedy ? greedyQuantum : quantum, false);
  }
}

void Cta::finish() {
  if (launch.options.checks.exitPending)
    checkMbarriers();
  if (launch.options.checks.unmatchedArrivals)
    checkArrivals();
  if (launch.options.checks.setmaxnreg)
    registerPool.finish(*this);
  for (Warp &w : warps) {
    w.bulkCopies.finish(w);
    const Warp &first = warps[w.index / 4 * 4];
    if (w.wgmma.issued != first.wgmma.issued)
      faultAtEnd(w, fmt::format("the warpgroup must execute wgmma together, "
                                "but warp {} has executed {} and warp {} {}",
                                first.index, first.wgmma.issued, w.index,
                                w.wgmma.issued));
  }
}

Mbarrier *Cta::mbarrier(uint32_t offset) {
  for (Mbarrier &b : mbarriers)
    if (b.offset == offset)
      return &b;
  return nullptr;
}

void Cta::update(Mbarrier &barrier) {
  ++cluster.events;
  if (!barrier.due())
    return;
  if (clocks)
    clocks->completePhase(barrier);
  barrier.nextPhase();
  ++cluster.syncs;
  for (Observer *o : launch.observers)
    o->phaseEnds(*this, barrier.offset);
  for (Warp &w : warps)
    w.wake(waitsForMbarrier);
}

unsigned Cta::liveWarps() const {
  unsigned n = 0;
  for (const Warp &w : warps)
    n += w.live != 0;
  return n;
}

void Cta::arrive(Warp &warp, const Op &op, uint32_t mask, unsigned id,
                 uint32_t expected, bool blocks, Barrier::Reduce reduce,
                 uint32_t ones, uint32_t destination) {
  const unsigned lane = unsigned(std::countr_zero(mask));
  if (id >= 16)
    warp.fault(op, lane,
               fmt::format("expected a barrier from 0 to 15, but got {}", id));
  if (expected % warpSize)
    warp.fault(
        op, lane,
        fmt::format(
            "expected a thread count that is a multiple of 32, but got {}",
            expected));
  if (expected > warps.size() * warpSize)
    warp.fault(
        op, lane,
        fmt::format("barrier {} waits for {} threads, but the CTA has {}", id,
                    expected, warps.size() * warpSize));
  Barrier &b = barriers[id];
  const bool checks = launch.options.checks.barriers;
  if (!b.used) {
    b.used = true;
    b.expected = expected;
    b.arrived = b.warps = 0;
    b.reduce = reduce;
    b.popc = 0, b.all = true, b.any = false;
  } else if (checks && b.expected != expected) {
    warp.fault(op, lane,
               fmt::format("barrier {} is used with {} threads here, but with "
                           "{} by another warp",
                           id, expected, b.expected));
  } else if (checks && b.reduce != reduce) {
    warp.fault(
        op, lane,
        fmt::format("barrier {} is used with another operation by another warp",
                    id));
  }
  if (checks && (b.warps >> warp.index & 1))
    warp.fault(op, lane,
               fmt::format("warp {} arrives at barrier {} again, which has {} "
                           "of {} threads and has not completed since",
                           warp.index, id, b.arrived, b.expected),
               {{"its arrival before this one",
                 b.lastWarp == warp.index ? b.last : nullptr},
                {"a bar.arrive must be followed by what shows that the barrier "
                 "has completed before the same warp comes to it again"}});
  if (checks && (b.lanes[warp.index] & mask))
    warp.fault(op, lane,
               fmt::format("lanes {:#x} arrive twice at barrier {}",
                           b.lanes[warp.index] & mask, id));
  b.popc += unsigned(std::popcount(ones & mask));
  b.all &= (ones & mask) == mask;
  b.any |= (ones & mask) != 0;
  b.lanes[warp.index] |= mask;
  b.last = &op, b.lastWarp = warp.index;
  if (clocks)
    clocks->arrive(warp, mask, id);
  if (blocks) {
    b.waiters.push_back({warp.index, mask, destination});
    warp.waitAtBarrier(op, mask, int(id));
  }
  checkRelease(id);
}

void Cta::checkRelease(unsigned id) {
  Barrier &b = barriers[id];
  // Lanes count when all of their warp that live have arrived.
  for (Warp &w : warps)
    if (b.lanes[w.index] && !(w.live & ~b.lanes[w.index])) {
      b.lanes[w.index] = 0;
      b.arrived += warpSize;
      b.warps |= 1u << w.index;
    }
  uint32_t expected = b.expected;
  if (!expected) {
    // All warps that live, and those that arrived (bar.arrive) and are gone.
    uint32_t waiting = 0;
    for (const Warp &w : warps)
      waiting += w.live ? warpSize : 0;
    expected = waiting;
  }
  if (b.arrived >= expected && b.arrived)
    release(id);
}

void Cta::release(unsigned id) {
  Barrier &b = barriers[id];
  ++cluster.syncs;
  for (Observer *o : launch.observers)
    o->barrierReleased(*this, id);
  if (clocks) {
    std::vector<Clocks::Waiting> waiting;
    for (const Barrier::Waiter &waiter : b.waiters) {
      auto at = std::find_if(
          waiting.begin(), waiting.end(),
          [&](const Clocks::Waiting &w) { return w.warp == waiter.warp; });
      if (at == waiting.end())
        at = waiting.insert(at, {waiter.warp, 0, false});
      at->mask |= waiter.mask;
      at->isAll = !(warps[waiter.warp].live & ~at->mask);
    }
    // A barrier of all threads does not wait for those that have exited; what
    // one that counts them waits for has arrived.
    uint32_t exited = 0;
    if (!b.expected)
      for (const Warp &w : warps)
        exited |= uint32_t(!w.live) << w.index;
    clocks->releaseBarrier(rank, id, waiting, exited);
  }
  for (const Barrier::Waiter &waiter : b.waiters) {
    Warp &w = warps[waiter.warp];
    if (b.reduce == Barrier::Reduce::Popc) {
      uint32_t *d = w.row<uint32_t>(waiter.destination);
      for (unsigned l = 0; l < warpSize; ++l)
        if (waiter.mask >> l & 1)
          d[l] = b.popc;
    } else if (b.reduce != Barrier::Reduce::None) {
      bool value = b.reduce == Barrier::Reduce::And ? b.all : b.any;
      uint32_t &d = w.word(waiter.destination);
      d = value ? d | waiter.mask : d & ~waiter.mask;
    }
    for (Split &split : w.splits)
      if (split.barrier == int(id))
        split.barrier = -1;
    w.blocked = false;
  }
  b.waiters.clear();
  b.used = false;
  b.arrived = b.expected = 0;
}

std::string Cta::describeWait(const Warp &w, const Split &split) const {
  std::string text =
      fmt::format("warp {} lanes {:#x} at line {}", w.index, split.mask,
                  w.function->infos[split.waitingAt()].line);
  if (split.barrier == waitsForCluster)
    return text + " (barrier.cluster)";
  if (split.barrier == waitsForWarpgroup)
    return text + " (other warps of the warpgroup have not come to this wgmma "
                  "instruction, or issued what it waits for)";
  if (split.barrier == waitsForRegisters)
    return text + registerPool.describeWait(w, w.ops[split.pc]);
  if (split.barrier == waitsForMbarrier) {
    for (const Mbarrier &b : mbarriers)
      if (b.offset == split.object)
        return text +
               fmt::format(" (mbarrier at {:#x}: {})", b.offset, b.describe());
    return text + " (an mbarrier)";
  }
  if (split.barrier >= 0) {
    const Barrier &b = barriers[split.barrier];
    return text + fmt::format(" (barrier {}: {} of {} threads)", split.barrier,
                              b.arrived,
                              b.expected ? b.expected : liveWarps() * warpSize);
  }
  return text +
         fmt::format(" (waits for lanes {:#x})", split.waitingFor & w.live);
}
