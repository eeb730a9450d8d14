#include "runtime/ptxsim/RegisterPool.h"

#include "runtime/ptxsim/Cluster.h"
#include "runtime/ptxsim/FaultText.h"

#include <fmt/format.h>

using namespace ptxsim;

namespace {

constexpr unsigned groupWarps = 4;

/// What ptxas may give each thread, by its directives; 0 without any.
uint32_t registersAtLaunch(const Cta &cta) {
  const Kernel &k = cta.launch.function->kernel;
  // Registers come in eights.
  if (k.maxnreg)
    return (k.maxnreg + 7) / 8 * 8;
  if (!k.maxntid && !k.reqntid)
    return 0;
  uint32_t threads = uint32_t(cta.warps.size()) * warpSize;
  for (const std::optional<Dim3> &most : {k.maxntid, k.reqntid})
    if (most)
      threads = std::max(threads, most->x * most->y * most->z);
  const uint32_t of =
      cta.launch.options.registersPerCta / std::max(k.minCtas, 1u);
  return std::min(256u, of / threads / 8 * 8);
}

bool isInc(const Op &op) { return op.count; }

} // namespace

void RegisterPool::start(Cta &of) {
  cta = &of;
  holders.clear();
}

/// The warps of a warpgroup must execute the same, and must have synchronised
/// since the one before. One that changes nothing does no harm: Triton's loops
/// of warp-specialised kernels end with the .dec with which they begin.
void RegisterPool::checkGroup(Warp &w, const Op &op) const {
  const std::vector<Executed> &mine = holders[w.index].executed;
  const size_t n = mine.size();
  const unsigned first = w.index / groupWarps * groupWarps;
  for (unsigned u = first; u < first + groupWarps && u < holders.size(); ++u) {
    const std::vector<Executed> &other = holders[u].executed;
    if (u == w.index)
      continue;
    if (other.size() > n &&
        (other[n].op->imm != op.imm || isInc(*other[n].op) != isInc(op)))
      w.fault(op, 0,
              fmt::format("the warps of a warpgroup must execute the same "
                          "setmaxnreg, but warp {} has executed .{} {}",
                          u, isInc(*other[n].op) ? "inc" : "dec",
                          other[n].op->imm),
              {{"the other warp's", other[n].op}});
    const bool isOver =
        n == 0 || mine.back().op->imm == op.imm ||
        (other.size() >= n &&
         (!cta->clocks ||
          cta->clocks->knows(cta->clocks->agentOf(w), 0,
                             cta->clocks->agentOf(cta->warps[u]), warpSize,
                             other[n - 1].stamp)));
    if (!isOver)
      w.fault(op, 0,
              fmt::format("the warpgroup must synchronise between two "
                          "setmaxnreg, but nothing orders this one after "
                          "warp {}'s execution of the one before",
                          u),
              {{"the one before", mine[n - 1].op},
               {"a barrier of the warpgroup is missing between the two"}});
  }
}

bool RegisterPool::set(Warp &w, const Op &op) {
  Cta &of = *w.cta;
  if (holders.empty()) {
    atLaunch = registersAtLaunch(of);
    holders.assign(of.warps.size(), {atLaunch, {}});
    available = 0;
  }
  Holder &h = holders[w.index];
  checkGroup(w, op);
  const uint32_t wanted = uint32_t(op.imm), has = h.perThread;
  if (atLaunch) {
    // Without .maxnreg, ptxas may have given fewer than the directives allow.
    const bool isExact =
        of.launch.function->kernel.maxnreg || !h.executed.empty();
    if (isInc(op) ? isExact && wanted < has : wanted > has)
      w.fault(op, 0,
              fmt::format("expected a count of at {} the {} registers that "
                          "each thread of the warp has, but got {}",
                          isInc(op) ? "least" : "most", has, wanted),
              {{has == atLaunch
                    ? std::string("what it has been launched with, by the "
                                  "kernel's directives")
                    : std::string("by its setmaxnreg before"),
                h.executed.empty() ? nullptr : h.executed.back().op}});
    if (isInc(op) && wanted > has) {
      const uint32_t asked = (wanted - has) * warpSize;
      if (asked > available)
        return false;
      available -= asked;
    } else {
      available += (has - wanted) * warpSize;
      ++of.cluster.events;
      for (Warp &other : of.warps)
        other.wake(waitsForRegisters);
    }
    h.perThread = wanted;
  }
  h.executed.push_back(
      {&op, of.clocks ? of.clocks->stamp(of.clocks->agentOf(w)) : 0});
  return true;
}

void RegisterPool::finish(const Cta &of) const {
  for (unsigned u = 0; u < holders.size(); ++u) {
    const unsigned first = u / groupWarps * groupWarps;
    const size_t n = holders[u].executed.size(),
                 expected = holders[first].executed.size();
    if (n == expected)
      continue;
    const bool fewer = n < expected;
    const Holder &more = holders[fewer ? first : u];
    throw Fault{faultText(
        of.warps[fewer ? first : u], *more.executed.back().op, std::nullopt,
        fmt::format("all warps of a warpgroup must execute the same "
                    "setmaxnreg, but warp {} has executed {} and warp {} {}",
                    first, expected, u, n),
        {})};
  }
}

std::string RegisterPool::describeWait(const Warp &w, const Op &op) const {
  const uint32_t has = holders[w.index].perThread;
  return fmt::format(" (setmaxnreg.inc from {} to {} registers per thread asks "
                     "for {}, of which {} are free)",
                     has, op.imm, (uint32_t(op.imm) - has) * warpSize,
                     available);
}

std::string RegisterPool::describe() const {
  std::string text = fmt::format(
      "of the CTA's {} registers ({} per thread at launch) {} are free",
      atLaunch * warpSize * holders.size(), atLaunch, available);
  for (size_t u = 0; u < holders.size();) {
    size_t end = u;
    uint64_t sum = 0;
    const auto has = [&](size_t i) {
      return std::pair(holders[i].perThread, !cta->warps[i].live);
    };
    for (; end < holders.size() && has(end) == has(u); ++end)
      sum += uint64_t(holders[end].perThread) * warpSize;
    text += fmt::format("{} {} {} {} ({} per thread{})", u ? "," : ";",
                        end - u > 1 ? fmt::format("warps {} to {}", u, end - 1)
                                    : fmt::format("warp {}", u),
                        end - u > 1 ? "hold" : "holds", sum,
                        holders[u].perThread, has(u).second ? ", exited" : "");
    u = end;
  }
  return text;
}
