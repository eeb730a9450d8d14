// What must not be under way when a CTA ends, and what all its warps together
// may not exceed.

#include "runtime/ptxsim/Cluster.h"
#include "runtime/ptxsim/FaultText.h"

#include <fmt/format.h>

using namespace ptxsim;

/// Copies that signal an mbarrier must have been waited for: they would write
/// into the shared memory of the next CTA.
void Cta::checkMbarriers() const {
  if (const Transfer *t = cluster.pendingFor(*this))
    t->warp->fault(*t->op, t->lane,
                   fmt::format("the CTA ends, but nobody has waited for this "
                               "copy: expected a wait for its phase of the "
                               "mbarrier at address {:#x}",
                               t->barrier));
  for (const Mbarrier &b : mbarriers) {
    if (b.copied.phases > b.observed)
      b.copied.warp->fault(
          *b.copied.op, b.copied.lane,
          fmt::format("the CTA ends, but nobody has waited for this copy: "
                      "expected a wait for its phase of the mbarrier at "
                      "address {:#x} ({})",
                      b.offset, b.describe()));
    if (b.tx != 0)
      faultAtEnd(
          warps[0],
          fmt::format("the CTA ends, but the mbarrier at address {:#x} {} ({})",
                      b.offset,
                      b.tx > 0 ? "still expects bytes of copies"
                               : "has had more bytes of copies than expected",
                      b.describe()),
          b.copied.op
              ? Notes{{"the last copy that has signalled it", b.copied.op}}
              : Notes());
  }
}

void Cta::faultAtEnd(const Warp &warp, const std::string &message,
                     const Notes &notes) const {
  // The last instruction of the kernel itself: device functions follow.
  const Function &f = *launch.function;
  size_t end = f.ops.size();
  for (const Callee &c : f.callees)
    end = std::min<size_t>(end, c.entry);
  throw Fault{faultText(warp, f.ops[end - 1], std::nullopt, message, notes)};
}

/// setmaxnreg takes registers from the CTA's pool: what the warps hold in the
/// end must be in it, or one of them would wait for ever.
void Cta::checkRegisters() const {
  const Kernel &k = launch.function->kernel;
  const Warp *asks = nullptr;
  uint64_t sum = 0;
  const uint32_t perThread = registersAtLaunch();
  for (const Warp &w : warps) {
    if (w.registersOfThread)
      asks = &w;
    sum += uint64_t(w.registersOfThread ? w.registersOfThread : perThread) *
           warpSize;
  }
  const uint64_t pool = uint64_t(perThread) * warpSize * warps.size();
  if (!asks || sum <= pool)
    return;
  throw Fault{faultText(
      *asks, *asks->setRegisters, std::nullopt,
      fmt::format("the warps hold {} registers in the end, but the pool of the "
                  "CTA has {} ({} per thread{}): a setmaxnreg.inc would wait "
                  "for ever",
                  sum, pool, perThread, k.maxnreg ? " by .maxnreg" : ""),
      {})};
}

uint32_t Cta::registersAtLaunch() const {
  const Kernel &k = launch.function->kernel;
  if (k.maxnreg)
    return k.maxnreg;
  // What ptxas may give each thread: registers come in eights.
  uint32_t threads = uint32_t(warps.size()) * warpSize;
  if (k.maxntid)
    threads = std::max(threads, k.maxntid->x * k.maxntid->y * k.maxntid->z);
  const uint32_t of = launch.options.registersPerCta / std::max(k.minCtas, 1u);
  return std::min(255u, of / threads / 8 * 8);
}
