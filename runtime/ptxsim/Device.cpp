#include "runtime/ptxsim/Cluster.h"
#include "runtime/ptxsim/FaultText.h"
#include "runtime/ptxsim/Observer.h"
#include "runtime/ptxsim/Parser.h"
#include "runtime/ptxsim/ThreadPool.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

using namespace ptxsim;

struct Device::Impl {
  DeviceOptions options;
  Arena arena;
  StoragePool storage;
  uint64_t launches = 0;
  std::vector<Observer *> observers;
  uint64_t workspace = 0; ///< of cooperative launches
  ThreadPool pool;

  explicit Impl(DeviceOptions o)
      : options(o),
        pool(options.threads
                 ? options.threads
                 : std::max(1u, std::thread::hardware_concurrency())) {}

  /// What NVIDIA's cooperative groups expect of a cooperative launch: {size,
  /// arrivals at the grid's barrier}.
  Status clearWorkspace() {
    constexpr uint32_t content[16] = {sizeof content};
    if (!workspace)
      workspace = arena.allocate(sizeof content, "the grid's workspace");
    if (!workspace)
      return Status::error("cannot allocate the grid's workspace");
    std::memcpy(reinterpret_cast<void *>(workspace), content, sizeof content);
    return {};
  }

  Status check(uint64_t address, uint64_t bytes, const char *what) {
    if (!bytes || arena.find(address, bytes))
      return {};
    return Status::error(
        fmt::format("{}: {}", what, arena.describe(address, bytes)));
  }
};

Device::Device(DeviceOptions options) : impl(std::make_unique<Impl>(options)) {}
Device::~Device() = default;

const DeviceOptions &Device::options() const { return impl->options; }
void Device::setOptions(const DeviceOptions &options) {
  impl->options = options;
}

Result<uint64_t> Device::allocate(size_t bytes, std::string name) {
  uint64_t p = impl->arena.allocate(bytes, name);
  if (!p)
    return Status::error(
        fmt::format("cannot allocate {} bytes for '{}'", bytes, name));
  if (impl->options.checks.uninitialisedGlobal && bytes)
    impl->arena.track(p);
  if (impl->options.poison)
    std::memset(reinterpret_cast<void *>(p), 0xff, bytes);
  return p;
}

Status Device::free(uint64_t pointer) {
  if (!pointer || impl->arena.free(pointer))
    return {};
  return Status::error(
      fmt::format("free: {:#x} is not the start of an allocation", pointer));
}

bool Device::holds(uint64_t address) const {
  return impl->arena.find(address, 1);
}

Status Device::copyToDevice(uint64_t destination, const void *source,
                            size_t bytes) {
  if (Status s = impl->check(destination, bytes, "copy to the device"); !s)
    return s;
  if (bytes)
    std::memcpy(reinterpret_cast<void *>(destination), source, bytes);
  impl->arena.define(destination, bytes);
  return {};
}

Status Device::copyToHost(void *destination, uint64_t source, size_t bytes) {
  if (Status s = impl->check(source, bytes, "copy to the host"); !s)
    return s;
  if (bytes)
    std::memcpy(destination, reinterpret_cast<const void *>(source), bytes);
  return {};
}

Status Device::copyOnDevice(uint64_t destination, uint64_t source,
                            size_t bytes) {
  if (Status s = impl->check(source, bytes, "copy on the device, source"); !s)
    return s;
  if (Status s =
          impl->check(destination, bytes, "copy on the device, destination");
      !s)
    return s;
  if (bytes)
    std::memmove(reinterpret_cast<void *>(destination),
                 reinterpret_cast<const void *>(source), bytes);
  impl->arena.copyKnown(destination, source, bytes);
  return {};
}

Status Device::fill8(uint64_t destination, uint8_t value, size_t count) {
  if (Status s = impl->check(destination, count, "fill"); !s)
    return s;
  if (count)
    std::memset(reinterpret_cast<void *>(destination), value, count);
  impl->arena.define(destination, count);
  return {};
}

Status Device::fill32(uint64_t destination, uint32_t value, size_t count) {
  if (destination % 4)
    return Status::error(
        fmt::format("fill: address {:#x} is not 4-byte aligned", destination));
  if (Status s = impl->check(destination, count * 4, "fill"); !s)
    return s;
  std::fill_n(reinterpret_cast<uint32_t *>(destination), count, value);
  impl->arena.define(destination, count * 4);
  return {};
}

Result<std::shared_ptr<Module>> Device::loadModule(std::string text,
                                                   std::string filename) {
  auto module = std::make_shared<ModuleImpl>();
  module->text = std::move(text);
  module->filename = std::move(filename);
  module->checksUndefined = impl->options.checks.undefinedRegisters;
  try {
    Parser(*module, impl->arena, impl->options.stackBytes).run();
  } catch (const LoadError &e) {
    return Status::error(loadErrorText(*module, e.position, e.text));
  } catch (const std::bad_alloc &) {
    return Status::error(fmt::format("{}: out of memory", module->filename));
  }
  return std::shared_ptr<Module>(std::move(module));
}

void Device::observe(std::vector<Observer *> observers) {
  impl->observers = std::move(observers);
}

namespace {

Status checkLaunch(const Kernel &k, Dim3 grid, Dim3 block, Dim3 cluster,
                   uint32_t shared, const DeviceOptions &options) {
  auto dims = [](Dim3 d) { return fmt::format("({},{},{})", d.x, d.y, d.z); };
  if (!grid.x || !grid.y || !grid.z || grid.x > 0x7fffffffu || grid.y > 65535 ||
      grid.z > 65535)
    return Status::error(fmt::format("kernel '{}': expected a grid of 1 to "
                                     "(2147483647,65535,65535), but got {}",
                                     k.name, dims(grid)));
  const uint64_t threads = uint64_t(block.x) * block.y * block.z;
  const uint32_t maxThreads = std::min(options.maxThreads, 1024u);
  if (!threads || block.x > 1024 || block.y > 1024 || block.z > 64 ||
      threads > maxThreads)
    return Status::error(fmt::format(
        "kernel '{}': expected a block of 1 to {} threads, but got {}", k.name,
        maxThreads, dims(block)));
  if (k.reqntid && (k.reqntid->x != block.x || k.reqntid->y != block.y ||
                    k.reqntid->z != block.z))
    return Status::error(fmt::format(
        "kernel '{}': expected a block of {} (.reqntid), but got {}", k.name,
        dims(*k.reqntid), dims(block)));
  if (k.maxntid &&
      threads > uint64_t(k.maxntid->x) * k.maxntid->y * k.maxntid->z)
    return Status::error(fmt::format(
        "kernel '{}': expected a block of at most {} (.maxntid), but got {}",
        k.name, dims(*k.maxntid), dims(block)));
  if (k.cluster && (k.cluster->x != cluster.x || k.cluster->y != cluster.y ||
                    k.cluster->z != cluster.z))
    return Status::error(fmt::format(
        "kernel '{}': expected a cluster of {} (.reqnctapercluster), but got "
        "{}",
        k.name, dims(*k.cluster), dims(cluster)));
  const uint64_t ctas = uint64_t(cluster.x) * cluster.y * cluster.z;
  const uint32_t maxCtas = std::min(options.maxClusterCtas, 16u);
  if (!ctas || cluster.x > 16 || cluster.y > 16 || cluster.z > 16 ||
      ctas > maxCtas)
    return Status::error(fmt::format(
        "kernel '{}': expected a cluster of 1 to {} CTAs, but got {}", k.name,
        maxCtas, dims(cluster)));
  if (grid.x % cluster.x || grid.y % cluster.y || grid.z % cluster.z)
    return Status::error(fmt::format(
        "kernel '{}': expected a grid of whole clusters, but got {} with "
        "clusters of {}",
        k.name, dims(grid), dims(cluster)));
  const uint64_t warps = (threads + 31) / 32;
  if (options.checks.limits && warps * 32 * k.maxnreg > options.registersPerCta)
    return Status::error(
        fmt::format("kernel '{}': expected at most {} registers per CTA, but "
                    "got {} threads with {} each (.maxnreg)",
                    k.name, options.registersPerCta, warps * 32, k.maxnreg));
  if (options.checks.limits &&
      uint64_t(k.staticSharedBytes) + shared > options.maxSharedBytes)
    return Status::error(fmt::format(
        "kernel '{}': expected at most {} bytes of shared memory, but got {} "
        "static and {} dynamic",
        k.name, options.maxSharedBytes, k.staticSharedBytes, shared));
  return {};
}

/// The number of the i-th cluster of a sample.
uint64_t sampledCluster(const Launch &launch, uint64_t i) {
  constexpr uint64_t sms = 132;
  const Dim3 c = launch.cluster;
  const uint64_t n = launch.sampled,
                 wave =
                     std::max<uint64_t>(1, sms / (uint64_t(c.x) * c.y * c.z)),
                 runs = n / wave;
  if (runs < 2)
    return n > 1 ? i * (launch.clusters - 1) / (n - 1) : i;
  // Runs of neighbours; the last has what is left.
  const uint64_t run = std::min(i / wave, runs - 1),
                 last = n - (runs - 1) * wave;
  return run * (launch.clusters - last) / (runs - 1) + i - run * wave;
}

/// Executes the clusters that no other host thread has taken, one by one. `at`
/// is the one under way.
void runInTurn(Launch &launch, uint64_t &at) {
  Cluster executed(launch);
  while (!launch.failed && (at = launch.next.fetch_add(1)) < launch.sampled) {
    at = sampledCluster(launch, at);
    executed.run(at);
  }
  std::lock_guard lock(launch.mutex);
  launch.counters += executed.counters();
}

/// The same for clusters that wait for each other: this host thread's share
/// of them is resident at the same time, and each gets its turn.
void runResident(Launch &launch, uint64_t &at) {
  struct Resident {
    Resident(Launch &launch, uint64_t number)
        : cluster(launch), number(number) {}
    Cluster cluster;
    uint64_t number;
    bool runs = true;
  };
  std::deque<Resident> residents;
  // Like cards, so that the threads' shares differ by one at most.
  const uint64_t first = launch.next.fetch_add(1), step = launch.threads;
  for (at = first; at < launch.clusters; at += step)
    residents.emplace_back(launch, at).cluster.start(at);
  for (bool any = true; any;) {
    any = false;
    for (Resident &resident : residents) {
      at = resident.number;
      any |= resident.runs = resident.runs && resident.cluster.turn();
    }
  }
  std::lock_guard lock(launch.mutex);
  for (const Resident &resident : residents)
    launch.counters += resident.cluster.counters();
}

} // namespace

Status Device::launch(const Module &m, const Kernel &kernel, Dim3 grid,
                      Dim3 block, uint32_t dynamicSharedBytes,
                      const void *const *params, Counters *counters,
                      std::optional<Dim3> clusterDims, bool cooperative) {
  const auto &module = static_cast<const ModuleImpl &>(m);
  const size_t index = size_t(&kernel - module.entries.data());
  if (index >= module.entries.size())
    return Status::error(
        fmt::format("kernel '{}' is not of this module", kernel.name));
  const Dim3 cluster =
      clusterDims ? *clusterDims : kernel.cluster.value_or(Dim3());
  if (Status s = checkLaunch(kernel, grid, block, cluster, dynamicSharedBytes,
                             impl->options);
      !s)
    return s;
  Launch launch;
  launch.function = &module.functions[index];
  launch.grid = grid;
  launch.block = block;
  launch.cluster = cluster;
  launch.dynamicShared = dynamicSharedBytes;
  launch.arena = &impl->arena;
  launch.storage = &impl->storage;
  launch.options = impl->options;
  launch.gridId = ++impl->launches;
  launch.params.resize(kernel.paramBytes);
  for (size_t i = 0; i < kernel.params.size(); ++i)
    std::memcpy(launch.params.data() + kernel.params[i].offset, params[i],
                kernel.params[i].size);

  if (cooperative) {
    if (Status s = impl->clearWorkspace(); !s)
      return s;
    launch.workspace = impl->workspace;
    // What NVIDIA's cooperative groups find the grid's barrier by.
    launch.envreg[1] = uint32_t(launch.workspace >> 32);
    launch.envreg[2] = uint32_t(launch.workspace);
  }
  const uint64_t total = uint64_t(grid.x / cluster.x) * (grid.y / cluster.y) *
                         (grid.z / cluster.z),
                 clusterSize = uint64_t(cluster.x) * cluster.y * cluster.z;
  launch.clusters = launch.sampled = total;
  // Of CTAs that wait for each other none can be left out.
  if (const uint64_t ctas = impl->options.sampleCtas; ctas && !cooperative)
    launch.sampled = std::min(total, (ctas + clusterSize - 1) / clusterSize);
  launch.observers = impl->observers;
  if (impl->options.checks.globalRaces)
    launch.globalRaces = std::make_unique<GlobalRaces>(launch);
  if (!launch.observers.empty())
    launch.facts = factsOf(*launch.function);
  for (Observer *o : launch.observers)
    o->launchStarts(launch);
  launch.threads = unsigned(std::min<uint64_t>(
      launch.sampled, launch.observers.empty() ? impl->pool.size() : 1));
  impl->pool.run(launch.threads, [&launch] {
    uint64_t at = 0;
    auto fail = [&](std::string text, FaultKind kind) {
      launch.failed = true;
      std::lock_guard lock(launch.mutex);
      // Of several faults the first CTA's is told, so that the text depends
      // less on timing.
      if (at < launch.errorCta)
        launch.errorCta = at, launch.error = std::move(text),
        launch.errorKind = kind;
    };
    try {
      if (launch.workspace)
        runResident(launch, at);
      else
        runInTurn(launch, at);
    } catch (const Fault &fault) {
      fail(fault.text, fault.kind);
    } catch (const std::exception &e) {
      fail(fmt::format("kernel '{}': {}", launch.function->kernel.name,
                       e.what()),
           FaultKind::None);
    }
  });
  launch.counters.ctas = total * clusterSize;
  launch.counters.ctasExecuted = launch.sampled * clusterSize;
  for (Observer *o : launch.observers)
    o->launchEnds(launch);
  if (counters)
    *counters = launch.counters;
  return launch.failed ? Status::error(launch.error, launch.errorKind)
                       : Status();
}
