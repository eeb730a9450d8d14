// What must not be under way when a CTA ends.

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

/// What a bar.arrive has counted and no bar.sync has waited for.
void Cta::checkArrivals() {
  for (unsigned id = 0; id < 16; ++id) {
    const Barrier &b = barriers[id];
    if (!b.used)
      continue;
    const Warp &warp = warps[b.lastWarp];
    throw Fault{faultText(
        warp, *b.last, std::nullopt,
        fmt::format("the CTA ends, but nobody has waited for this arrival of "
                    "warp {}: barrier {} has {} of {} threads",
                    b.lastWarp, id, b.arrived, b.expected),
        {{"a bar.sync of the other threads is missing, its count is another "
          "one, or there is one arrival too many"}})};
  }
}
