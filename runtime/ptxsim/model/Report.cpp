#include "runtime/ptxsim/model/Report.h"

#include "runtime/ptxsim/model/Chain.h"

#include <fmt/format.h>

using namespace ptxsim;

namespace {

std::string dims(Dim3 d) { return fmt::format("({},{},{})", d.x, d.y, d.z); }

std::string seconds(double s) {
  return s < 1e-3 ? fmt::format("{:.4g} us", s * 1e6)
                  : fmt::format("{:.4g} ms", s * 1e3);
}

std::string secondsOrNot(const std::optional<double> &s) {
  return s ? seconds(*s) : "not modelled";
}

double ratio(uint64_t a, uint64_t b) { return b ? double(a) / double(b) : 0; }

std::string heading(const KernelCounts &k) {
  std::string text =
      fmt::format("kernel {} ({}), grid {}, block {}, cluster {}", k.kernel,
                  k.file, dims(k.grid), dims(k.block), dims(k.cluster));
  if (k.launches != 1)
    text += fmt::format(", {} launches", k.launches);
  text += "\n";
  if (k.ctasExecuted < k.ctas)
    text += fmt::format("  sampled: {} of {} CTAs executed; the figures are "
                        "theirs (factor to the grid {:.6g})\n",
                        k.ctasExecuted, k.ctas, ratio(k.ctas, k.ctasExecuted));
  if (k.skippedTensor)
    text += "  counters only: tensor-core results were not computed, values "
            "that depend on them are wrong\n";
  return text;
}

void row(std::string &text, std::string_view name, const std::string &value) {
  text += fmt::format("  {:<72} {:>18}\n", name, value);
}

std::string lineRow(const LineCounts &l) {
  const EventCounts &c = l.counts;
  const uint64_t requests = c[Counter::GlobalLoadRequests] +
                            c[Counter::GlobalStoreRequests] +
                            c[Counter::AsyncLoadRequests],
                 sectors = c[Counter::GlobalLoadSectors] +
                           c[Counter::GlobalStoreSectors] +
                           c[Counter::AsyncLoadSectors],
                 conflicts = c[Counter::SharedLoadConflicts] +
                             c[Counter::SharedStoreConflicts] +
                             c[Counter::SharedAtomicConflicts] +
                             c[Counter::SharedAsyncConflicts];
  return fmt::format(
      "  {:>6} {:>12} {:>6.1f} {:>8} {:>10} {:>12} {:>12}  {}{}\n", l.line,
      c[Counter::Instructions], c.activeLanes(),
      requests ? fmt::format("{:.2f}", ratio(sectors, requests)) : "",
      conflicts ? std::to_string(conflicts) : "",
      c[Counter::L2ReadSectors] + c[Counter::L2WriteSectors] +
          c[Counter::L2AtomicSectors] + c[Counter::L2ReductionSectors],
      c[Counter::DramReadBytes], l.form,
      l.source.empty() ? "" : "  " + l.source);
}

} // namespace

std::string ptxsim::countersTable(const KernelCounts &k) {
  std::string text = heading(k);
  const EventCounts &c = k.total;
  for (unsigned i = 0; i < counters; ++i) {
    const Counter counter = Counter(i);
    const bool cache =
        counter == Counter::L2Hits || counter == Counter::L2Misses ||
        counter == Counter::DramReadBytes || counter == Counter::DramWriteBytes;
    if (cache && !k.cachesModelled)
      row(text, counterName(counter), "not modelled");
    else if (c[counter] || cache || counter == Counter::Instructions)
      row(text, counterName(counter), std::to_string(c[counter]));
  }
  row(text, "compulsory bytes read", std::to_string(k.compulsoryReadBytes));
  row(text, "compulsory bytes written", std::to_string(k.compulsoryWriteBytes));
  if (k.cooperative)
    row(text, "waits of CTAs for each other (longest chain)",
        std::to_string(k.gridWaits));
  row(text, "loads that follow from one another (longest chain)",
      std::to_string(k.loadChain));
  row(text, "average active lanes", fmt::format("{:.2f}", c.activeLanes()));
  if (c[Counter::GlobalLoadRequests])
    row(text, "sectors per load request",
        fmt::format("{:.2f}", ratio(c[Counter::GlobalLoadSectors],
                                    c[Counter::GlobalLoadRequests])));
  if (c[Counter::GlobalStoreRequests])
    row(text, "sectors per store request",
        fmt::format("{:.2f}", ratio(c[Counter::GlobalStoreSectors],
                                    c[Counter::GlobalStoreRequests])));
  for (unsigned i = 0; i < opClasses; ++i)
    if (c.instructions[i])
      row(text, fmt::format("instructions.{}", opClassName(OpClass(i))),
          std::to_string(c.instructions[i]));
  for (const auto &[shape, t] : k.tensor) {
    row(text, fmt::format("ops of warps {}", shape), std::to_string(t.ops));
    row(text, fmt::format("flops {}", shape), std::to_string(t.flops));
  }
  text += fmt::format("  {:>6} {:>12} {:>6} {:>8} {:>10} {:>12} {:>12}  {}\n",
                      "line", "inst (PTX)", "lanes", "sect/req", "conflicts",
                      "L2 sectors", "DRAM read", "form");
  for (const LineCounts &line : k.lines)
    text += lineRow(line);
  return text;
}

std::string ptxsim::modelledText(const KernelReport &r) {
  const ModelledTime &t = *r.time;
  std::string text =
      fmt::format("modelled time of kernel {}: {} ({} to {}) on {} ({})\n",
                  r.counts.kernel, seconds(t.kernel), seconds(t.lower),
                  seconds(t.upper), r.deviceName, r.deviceFile);
  const double bound = t.terms.empty() ? 0 : t.terms[0].seconds;
  if (bound > 0) {
    text +=
        fmt::format("  modelled bound: {} {}", t.terms[0].name, seconds(bound));
    if (t.terms.size() > 1)
      text += fmt::format("; second: {} {} ({:.0f} % of it)", t.terms[1].name,
                          seconds(t.terms[1].seconds),
                          100 * t.terms[1].seconds / bound);
    text += "\n  modelled terms:";
    for (const Term &term : t.terms)
      if (term.seconds > 0)
        text += fmt::format(" {} {},", term.name, seconds(term.seconds));
    text.back() = '\n';
  } else {
    text += "  modelled bound: none, second: none\n";
  }
  text += fmt::format("  modelled fill {}, drain {}, serial {}; waves {:.3g} "
                      "({} CTAs per SM, limited by {})\n",
                      seconds(t.fill), seconds(t.drain), seconds(t.serial),
                      t.waves, t.occupancy.ctas, t.occupancy.limit);
  if (t.byteBound > 0)
    text += fmt::format("  modelled time / byte bound: {:.3g} (compulsory "
                        "bytes take {})\n",
                        t.kernel / t.byteBound, seconds(t.byteBound));
  Chain chain;
  chain.add(t);
  text +=
      fmt::format("  modelled chain, in a graph: {} (kernel boundary {}: {})\n",
                  secondsOrNot(chain.chain), secondsOrNot(t.gap()),
                  t.programmatic ? "launch.gap_pdl" : "launch.gap_graph");
  text += fmt::format(
      "  modelled stream, without a graph: {} (host's cost of a launch {}: "
      "launch.host_cost)\n",
      secondsOrNot(chain.stream()), secondsOrNot(t.hostCost));
  for (const std::string &item : t.assumed)
    text += "  assumed: " + item + "\n";
  for (const std::string &item : t.notModelled)
    text += "  not modelled: " + item + "\n";
  return text;
}
