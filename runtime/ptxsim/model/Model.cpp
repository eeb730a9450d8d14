// The formula of devices/README.md, section 5; names as there.

#include "runtime/ptxsim/model/Model.h"

#include "runtime/ptxsim/model/Placement.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <set>

using namespace ptxsim;

namespace {

enum class End { Value, Shortest, Longest };
enum class Role { Rate, Cost }; ///< of a field: more is faster, or slower

/// Fields of a device, each at the wanted end of its range. Notes what is null.
class Figures {
public:
  Figures(const DeviceDescription &device, End end)
      : device(device), end(end) {}
  std::optional<double> get(const std::string &path, Role role) {
    const DeviceDescription::Field *f = device.field(path);
    if (!f || !f->value) {
      missing.insert(path);
      return std::nullopt;
    }
    double v = *f->value;
    if (f->range && end != End::Value)
      v = (end == End::Shortest) == (role == Role::Rate) ? f->range->second
                                                         : f->range->first;
    return v * unitScale(f->unit);
  }
  std::optional<double> rate(const std::string &path) {
    return get(path, Role::Rate);
  }
  std::optional<double> cost(const std::string &path) {
    return get(path, Role::Cost);
  }
  const DeviceDescription &device;
  End end;
  std::set<std::string> missing;
};

/// The clock at which the clocks of async.tma_extra_latency were counted
/// (devices/README.md, section 5).
constexpr double tmaClock = 1755e6;
double tau(Figures &f) {
  return f.cost("async.tma_extra_latency").value_or(0) / tmaClock;
}

struct TensorField {
  const char *sustained, *clock; ///< clock: null if there is no such field
};
/// By TensorType.
constexpr TensorField tensorFields[] = {
    {nullptr, nullptr},
    {"tensor.bf16.sustained", "clocks.sustained_tensor_bf16"},
    {"tensor.tf32.sustained", nullptr},
    {"tensor.fp8.sustained", "clocks.sustained_tensor_fp8"},
    {"tensor.int8.sustained", nullptr},
};

struct LaneClass {
  OpClass kind;
  const char *rate;
};
constexpr LaneClass laneClasses[] = {
    {OpClass::Fp32, "sm_rates.fp32_fma"},
    {OpClass::Fp16x2, "sm_rates.fp16x2_bf16x2_fma"},
    {OpClass::Int32, "sm_rates.int32"},
    {OpClass::Mufu, "sm_rates.mufu"},
    {OpClass::Cvt, "sm_rates.cvt_narrow"},
    {OpClass::CvtFloatToHalf, "sm_rates.cvt_fp32_to_bf16"},
    {OpClass::Lsu, "sm_rates.lsu"},
    {OpClass::Shuffle, "sm_rates.shuffle"},
};

struct Run {
  std::vector<Term> terms;
  double fill = 0, drain = 0, serial = 0;
  double largest() const { return terms.empty() ? 0 : terms.front().seconds; }
  double kernel() const { return fill + largest() + drain + serial; }
};

uint64_t gridBarriers(const KernelCounts &counts, const ModelOptions &options) {
  return options.gridBarriers.value_or(counts.gridWaits);
}

class Model {
public:
  Model(const DeviceDescription &device, const KernelCounts &counts,
        const ModelOptions &options, const Occupancy &occupancy, double waves)
      : device(device), counts(counts), options(options), occupancy(occupancy),
        waves(waves) {
    scale = counts.ctasExecuted
                ? double(counts.ctas) / double(counts.ctasExecuted)
                : 1;
  }

  Run run(Figures &figures, double clock) const;
  /// Of the formula at one end of the ranges, with the clock of the tensor
  /// cores where they are the bound.
  Run best(Figures &figures) const;
  const CtaWork &workOf(uint64_t cta) const;

private:
  void addChipTerms(Figures &figures, Run &run) const;
  void addSmTerms(Figures &figures, double clock, Run &run) const;
  double total(Counter c) const { return double(counts.total[c]) * scale; }
  double latency(Figures &figures, double clock, double bulkShare) const;

  const DeviceDescription &device;
  const KernelCounts &counts;
  const ModelOptions &options;
  const Occupancy &occupancy;
  double waves, scale;
};

/// The CTA itself, or of those that were executed the one whose cluster is
/// nearest.
const CtaWork &Model::workOf(uint64_t cta) const {
  const Dim3 c = counts.cluster;
  const uint64_t size = uint64_t(c.x) * c.y * c.z, all = counts.ctas / size,
                 have = counts.work.size() / size;
  const uint64_t cluster = cta / size;
  uint64_t nearest = cluster;
  if (have != all) {
    auto numberOf = [&](uint64_t i) { return counts.work[i * size].number; };
    uint64_t above = 0; // the first that is not before it
    for (uint64_t end = have; above < end;) {
      const uint64_t middle = (above + end) / 2;
      if (numberOf(middle) < cluster * size)
        above = middle + 1;
      else
        end = middle;
    }
    const bool below =
        above == have || (above && cluster * size - numberOf(above - 1) <
                                       numberOf(above) - cluster * size);
    nearest = above - below;
  }
  return counts.work[nearest * size + cta % size];
}

void Model::addChipTerms(Figures &f, Run &run) const {
  const auto bd = f.rate("dram.read_sustained"),
             w = f.cost("dram.write_weight"), br = f.rate("l2.read_bandwidth"),
             bw = f.rate("l2.write_bandwidth");
  if (counts.cachesModelled && bd && w)
    run.terms.push_back({"dram", (total(Counter::DramReadBytes) +
                                  *w * total(Counter::DramWriteBytes)) /
                                     *bd});
  if (br && bw) {
    const double read = total(Counter::L2ReadSectors) +
                        total(Counter::L2AtomicSectors),
                 written = total(Counter::L2WriteSectors) +
                           total(Counter::L2ReductionSectors) +
                           total(Counter::L2AtomicSectors);
    run.terms.push_back(
        {"l2", double(sectorBytes) * (read / *br + written / *bw)});
  }
}

/// lam of the bytes that SMs ask for.
double Model::latency(Figures &f, double clock, double bulkShare) const {
  const double dram = f.cost("dram.latency").value_or(0),
               l2 = f.cost("l2.near_latency").value_or(0) / clock;
  const EventCounts &c = counts.total;
  const double asked =
      double(c[Counter::L2ReadSectors] + c[Counter::L2AtomicSectors] +
             c[Counter::L2ReductionSectors]) *
      sectorBytes;
  const double hitRate = asked > 0 && counts.cachesModelled
                             ? 1 - double(c[Counter::DramReadBytes]) / asked
                             : 0;
  return hitRate * l2 + (1 - hitRate) * dram + bulkShare * tau(f);
}

void Model::addSmTerms(Figures &f, double clock, Run &run) const {
  PlacementInput input;
  input.ctas = counts.ctas;
  input.clusterSize = counts.cluster.x * counts.cluster.y * counts.cluster.z;
  input.ctasPerSm = occupancy.ctas;
  for (double size : device.field("topology.gpc_sizes_for_modelling")->list)
    input.gpcs.push_back(uint32_t(size));
  if (input.clusterSize > 1) {
    uint32_t listed = 2;
    while (listed < input.clusterSize && listed < 16)
      listed *= 2;
    input.clustersAtOnce = uint32_t(std::min(
        f.rate(fmt::format("topology.max_resident_clusters_{}", listed))
            .value_or(0),
        1e6));
  }

  const double sms = *device.value("topology.sm_count");
  const auto issue = f.rate("sm_rates.issue"),
             smem = f.rate("shared_memory.bandwidth"),
             remote = f.rate("shared_memory.remote_bandwidth"),
             port = f.rate("l2.port_per_sm");
  std::optional<double> tensor[5], lanes[std::size(laneClasses)];
  bool usesTensor[5] = {}, usesLanes[std::size(laneClasses)] = {};
  for (const CtaWork &c : counts.work) {
    for (unsigned d = 1; d < 5; ++d)
      usesTensor[d] |= c.tensorFlops[d] != 0;
    for (size_t i = 0; i < std::size(laneClasses); ++i)
      usesLanes[i] |= c.results[unsigned(laneClasses[i].kind)] != 0;
  }
  for (unsigned d = 1; d < 5; ++d)
    if (usesTensor[d])
      tensor[d] = f.rate(tensorFields[d].sustained);
  for (size_t i = 0; i < std::size(laneClasses); ++i)
    if (usesLanes[i])
      lanes[i] = f.rate(laneClasses[i].rate);

  // The terms of one CTA: tensor, issue, smem, remote, port, then lanes.
  constexpr size_t fixed = 5, all = fixed + std::size(laneClasses);
  using Terms = std::array<double, all>;
  auto termsOf = [&](const CtaWork &c) {
    Terms t{};
    for (unsigned d = 1; d < 5; ++d)
      if (tensor[d])
        t[0] += double(c.tensorFlops[d]) * sms / *tensor[d];
    if (issue)
      t[1] = double(c.instructions) / (*issue * clock);
    if (smem)
      t[2] = (double(c.wavefronts) * 128 + double(c.bulkBytes) +
              double(c.operandBytes)) /
             (*smem * clock);
    if (remote)
      t[3] = double(c.remoteBytes) / (*remote * clock);
    if (port)
      t[4] = double(c.bytesFromL2) / (*port * clock);
    for (size_t i = 0; i < std::size(laneClasses); ++i)
      if (lanes[i])
        t[fixed + i] = double(c.results[unsigned(laneClasses[i].kind)]) /
                       (*lanes[i] * clock);
    return t;
  };
  std::vector<Terms> ofWork;
  std::vector<double> length;
  for (const CtaWork &c : counts.work) {
    ofWork.push_back(termsOf(c));
    length.push_back(std::max(
        *std::max_element(ofWork.back().begin(), ofWork.back().end()), 1e-12));
  }
  auto indexOf = [&](uint64_t cta) {
    return size_t(&workOf(cta) - counts.work.data());
  };
  input.work = [&](uint64_t cta) { return length[indexOf(cta)]; };
  const Placement placement = place(input);

  Terms busiest{};
  double inFlight = 0;
  uint64_t bytes = 0, bulk = 0;
  for (const CtaWork &c : counts.work)
    bytes += c.bytesFromL2, bulk += c.bulkBytesFromL2;
  const double lam =
      latency(f, clock, bytes ? double(bulk) / double(bytes) : 0);
  for (const std::vector<uint32_t> &ctas : placement.sms) {
    Terms sum{};
    double asked = 0, outstanding = 0;
    for (uint32_t cta : ctas) {
      const size_t i = indexOf(cta);
      for (size_t t = 0; t < all; ++t)
        sum[t] += ofWork[i][t];
      asked += double(counts.work[i].bytesFromL2);
      outstanding += double(counts.work[i].inFlight);
    }
    for (size_t t = 0; t < all; ++t)
      busiest[t] = std::max(busiest[t], sum[t]);
    // Q_s: what a CTA keeps outstanding, on average, times those that are
    // there.
    if (asked > 0 && outstanding > 0)
      inFlight =
          std::max(inFlight,
                   asked * lam /
                       (outstanding / double(ctas.size()) *
                        double(std::min<size_t>(ctas.size(), occupancy.ctas))));
  }
  const char *names[fixed] = {"tensor", "issue", "smem", "remote", "port"};
  for (size_t t = 0; t < fixed; ++t)
    run.terms.push_back({names[t], busiest[t]});
  for (size_t i = 0; i < std::size(laneClasses); ++i)
    run.terms.push_back(
        {fmt::format("lane.{}", opClassName(laneClasses[i].kind)),
         busiest[fixed + i]});
  run.terms.push_back({"inflight", inFlight});
}

Run Model::run(Figures &f, double clock) const {
  Run run;
  addChipTerms(f, run);
  addSmTerms(f, clock, run);
  std::sort(
      run.terms.begin(), run.terms.end(), [](const Term &a, const Term &b) {
        return std::pair(-a.seconds, a.name) < std::pair(-b.seconds, b.name);
      });
  const double lamD = f.cost("dram.latency").value_or(0),
               lam2 = f.cost("l2.near_latency").value_or(0) / clock;
  const bool loads = counts.total[Counter::BulkLoadBytes] != 0,
             stores = counts.total[Counter::BulkStoreBytes] != 0;
  run.fill = (lamD + (loads ? tau(f) : 0)) *
             (occupancy.ctas == 1 ? std::ceil(waves - 1e-9) : 1);
  run.drain = lam2 + (stores ? tau(f) : 0);
  if (const uint64_t barriers = gridBarriers(counts, options))
    run.serial += double(barriers) * f.cost("sync.grid_barrier").value_or(0);
  if (options.roundTrips)
    run.serial += double(options.roundTrips) * latency(f, clock, 0);
  return run;
}

Run Model::best(Figures &f) const {
  const double clock = *f.rate("clocks.sustained_memory_bound");
  Run first = run(f, clock);
  if (first.terms.empty() || first.terms.front().name != "tensor" ||
      first.terms.front().seconds <= 0)
    return first;
  // The type that takes most of the time sets the clock.
  uint64_t most = 0;
  const char *field = nullptr;
  for (unsigned d = 1; d < 5; ++d) {
    uint64_t flops = 0;
    for (const CtaWork &c : counts.work)
      flops += c.tensorFlops[d];
    if (flops > most && device.value(tensorFields[d].sustained))
      most = flops, field = tensorFields[d].clock;
  }
  const std::optional<double> hot =
      field ? f.rate(field) : std::optional<double>();
  return hot ? run(f, *hot) : first;
}

void describeGaps(const DeviceDescription &device, const KernelCounts &counts,
                  const ModelOptions &options, ModelledTime &time) {
  const EventCounts &c = counts.total;
  auto note = [&](uint64_t n, const std::string &text) {
    if (n)
      time.notModelled.push_back(fmt::format("{}: {}", text, n));
  };
  if (!counts.cachesModelled)
    time.notModelled.push_back("dram: caches were not modelled");
  note(c[Counter::Atomics] + c[Counter::Reductions],
       "atomics in L2 beyond their bytes, operations");
  note(c.instructions[unsigned(OpClass::Fp64)], "fp64, warp instructions");
  note(c[Counter::ClusterBarriers], "cluster barriers, arrivals of warps");
  note(c[Counter::LocalBytes], "local memory, bytes");
  note(c[Counter::ConstantRequests], "loads of constants, requests");
  note(c[Counter::UncountedAccesses],
       "write-backs that discard spares, instructions");
  if (counts.ctasExecuted < counts.ctas)
    time.notModelled.push_back(
        "byte bound: what all CTAs must move is not known "
        "from a sample");
  uint64_t other = 0;
  for (const CtaWork &w : counts.work)
    other += w.tensorFlops[unsigned(TensorType::None)];
  note(other, "tensor FLOP of types without a rate (f64, 4-bit)");
  for (unsigned d = 1; d < 5; ++d) {
    uint64_t flops = 0;
    for (const CtaWork &w : counts.work)
      flops += w.tensorFlops[d];
    if (flops && !device.value(tensorFields[d].sustained))
      note(flops, fmt::format("tensor FLOP whose rate {} is null",
                              tensorFields[d].sustained));
  }
  auto assume = [&](std::string text) {
    time.assumed.push_back(std::move(text));
  };
  assume("instructions are those of PTX, not of SASS");
  if (!options.registers)
    assume("registers unknown: they set no limit to occupancy");
  if (!options.gridBarriers)
    assume(counts.cooperative
               ? fmt::format("waits of CTAs for each other, as counted: {}",
                             counts.gridWaits)
               : "no waits of CTAs for each other: the launch is not "
                 "cooperative");
  if (!options.roundTrips)
    assume(fmt::format("no dependent round trips beyond those in the term "
                       "inflight (loads that follow from one another, as "
                       "counted: {})",
                       counts.loadChain));
  if (options.programmatic && !counts.gridDependency)
    assume("the boundary is that of a graph: the kernel has no griddepcontrol");
  if (counts.ctasExecuted < counts.ctas)
    assume(fmt::format("{} of {} CTAs executed, figures scaled by {:.4g}",
                       counts.ctasExecuted, counts.ctas,
                       double(counts.ctas) / double(counts.ctasExecuted)));
  if (counts.skippedTensor)
    assume("tensor-core results not computed");
}

} // namespace

Result<ModelledTime> ptxsim::modelTime(const DeviceDescription &device,
                                       const KernelCounts &counts,
                                       const ModelOptions &options) {
  if (counts.work.empty())
    return Status::error(
        fmt::format("kernel '{}': no CTA has been counted", counts.kernel));
  if (!device.value("clocks.sustained_memory_bound"))
    return Status::error(fmt::format(
        "{}: clocks.sustained_memory_bound: expected a number", device.file));
  ModelledTime time;
  const uint64_t threads =
      uint64_t(counts.block.x) * counts.block.y * counts.block.z;
  time.occupancy = occupancyOf(device, uint32_t(threads), counts.sharedBytes,
                               options.registers);
  if (!time.occupancy.ctas)
    return Status::error(
        fmt::format("kernel '{}': not one CTA fits on an SM of {}: too many {}",
                    counts.kernel, device.file, time.occupancy.limit));
  double slots =
      *device.value("topology.sm_count") * double(time.occupancy.ctas);
  const uint32_t cluster =
      counts.cluster.x * counts.cluster.y * counts.cluster.z;
  if (cluster > 1) {
    uint32_t listed = 2;
    while (listed < cluster && listed < 16)
      listed *= 2;
    if (const auto most = device.value(
            fmt::format("topology.max_resident_clusters_{}", listed)))
      slots = std::min(slots, *most * cluster * double(time.occupancy.ctas));
  }
  time.waves = double(counts.ctas) / slots;

  const Model model(device, counts, options, time.occupancy, time.waves);
  std::set<std::string> missing;
  auto at = [&](End end) {
    Figures figures(device, end);
    const Run run = model.best(figures);
    missing = figures.missing;
    return run;
  };
  const Run run = at(End::Value);
  time.terms = run.terms;
  time.fill = run.fill, time.drain = run.drain, time.serial = run.serial;
  time.kernel = run.kernel();
  time.lower = at(End::Shortest).kernel();
  time.upper = at(End::Longest).kernel();
  if (const auto rate = device.value("dram.read_sustained");
      rate && counts.ctasExecuted == counts.ctas)
    time.byteBound =
        double(counts.compulsoryReadBytes + counts.compulsoryWriteBytes) /
        *rate;
  time.programmatic = options.programmatic && counts.gridDependency;
  time.gapGraph = device.value("launch.gap_graph");
  time.gapPdl = device.value("launch.gap_pdl");
  time.hostCost = device.value("launch.host_cost");
  for (const std::string &field : missing)
    if (!field.starts_with("tensor.")) // told with their FLOP below
      time.notModelled.push_back(fmt::format("{} is null", field));
  describeGaps(device, counts, options, time);
  return time;
}
