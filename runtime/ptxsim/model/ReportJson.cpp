#include "runtime/ptxsim/model/Report.h"

#include "runtime/ptxsim/model/Chain.h"

#include <nlohmann/json.hpp>

using namespace ptxsim;
using nlohmann::ordered_json;

namespace {

bool fromCache(Counter c) {
  return c == Counter::L2Hits || c == Counter::L2Misses ||
         c == Counter::DramReadBytes || c == Counter::DramWriteBytes;
}

ordered_json dims(Dim3 d) { return ordered_json::array({d.x, d.y, d.z}); }

ordered_json events(const EventCounts &c, bool caches, bool all) {
  ordered_json o = ordered_json::object();
  for (unsigned i = 0; i < counters; ++i) {
    const Counter counter = Counter(i);
    const std::string name(counterName(counter));
    if (fromCache(counter) && !caches) {
      if (all)
        o[name] = nullptr;
    } else if (all || c[counter]) {
      o[name] = c[counter];
    }
  }
  return o;
}

ordered_json classes(const std::array<uint64_t, opClasses> &values) {
  ordered_json o = ordered_json::object();
  for (unsigned i = 0; i < opClasses; ++i)
    if (values[i])
      o[std::string(opClassName(OpClass(i)))] = values[i];
  return o;
}

ordered_json optional(const std::optional<double> &value) {
  return value ? ordered_json(*value) : ordered_json(nullptr);
}

ordered_json modelled(const KernelReport &r) {
  const ModelledTime &t = *r.time;
  Chain chain;
  chain.add(t);
  ordered_json terms = ordered_json::object();
  for (const Term &term : t.terms)
    terms[term.name] = term.seconds;
  return {{"label", "modelled"},
          {"of", r.counts.launches > 1 ? "the latest launch" : "the launch"},
          {"device", r.deviceName},
          {"device_file", r.deviceFile},
          {"seconds", t.kernel},
          {"lower_seconds", t.lower},
          {"upper_seconds", t.upper},
          {"bound", t.terms.empty() ? "" : t.terms[0].name},
          {"second_bound", t.terms.size() < 2 ? "" : t.terms[1].name},
          {"terms_seconds", terms},
          {"fill_seconds", t.fill},
          {"drain_seconds", t.drain},
          {"serial_seconds", t.serial},
          {"byte_bound_seconds", t.byteBound},
          {"waves", t.waves},
          {"ctas_per_sm", t.occupancy.ctas},
          {"occupancy_limit", t.occupancy.limit},
          {"programmatic", t.programmatic},
          {"chain_seconds", optional(chain.chain)},
          {"stream_seconds", optional(chain.stream())},
          {"gap_graph_seconds", optional(t.gapGraph)},
          {"gap_pdl_seconds", optional(t.gapPdl)},
          {"host_cost_seconds", optional(t.hostCost)},
          {"assumed", t.assumed},
          {"not_modelled", t.notModelled}};
}

ordered_json kernel(const KernelReport &r) {
  const KernelCounts &k = r.counts;
  ordered_json tensor = ordered_json::object(), lines = ordered_json::array();
  for (const auto &[shape, t] : k.tensor)
    tensor[shape] = {{"ops", t.ops}, {"flops", t.flops}};
  for (const LineCounts &l : k.lines)
    lines.push_back({{"line", l.line},
                     {"form", l.form},
                     {"source", l.source},
                     {"average_active_lanes", l.counts.activeLanes()},
                     {"counters", events(l.counts, k.cachesModelled, false)}});
  ordered_json o = {
      {"kernel", k.kernel},
      {"file", k.file},
      {"grid", dims(k.grid)},
      {"block", dims(k.block)},
      {"cluster", dims(k.cluster)},
      {"shared_bytes", k.sharedBytes},
      {"launches", k.launches},
      {"ctas", k.ctas},
      {"ctas_executed", k.ctasExecuted},
      {"tensor_arithmetic_skipped", k.skippedTensor},
      {"instructions_are", "PTX, not SASS"},
      {"average_active_lanes", k.total.activeLanes()},
      {"counters", events(k.total, k.cachesModelled, true)},
      {"compulsory_bytes",
       {{"read", k.compulsoryReadBytes}, {"write", k.compulsoryWriteBytes}}},
      {"cooperative", k.cooperative},
      {"grid_waits",
       k.cooperative ? ordered_json(k.gridWaits) : ordered_json(nullptr)},
      {"dependent_load_depth", k.loadChain},
      {"instructions", classes(k.total.instructions)},
      {"results", classes(k.total.results)},
      {"tensor", tensor},
      {"lines", lines}};
  if (r.time)
    o["modelled"] = modelled(r);
  return o;
}

} // namespace

std::string ptxsim::reportJson(std::span<const KernelReport> reports) {
  ordered_json array = ordered_json::array();
  for (const KernelReport &r : reports)
    array.push_back(kernel(r));
  // Names in PTX are bytes: what is no UTF-8 must not throw.
  return array.dump(1, ' ', false, ordered_json::error_handler_t::replace) +
         "\n";
}
