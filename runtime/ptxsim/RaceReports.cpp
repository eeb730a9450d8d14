// The texts of races and of bytes that are not to be touched.

#include "runtime/ptxsim/Cluster.h"
#include "runtime/ptxsim/Races.h"

#include <fmt/format.h>

using namespace ptxsim;

std::string Races::accessOf(const Warp &w, uint32_t info,
                            bool laneKnown) const {
  const uint32_t pc =
      w.function->raceFacts.sites[info & (RaceFacts::mostSites - 1)];
  const OpInfo &op = w.function->infos[pc];
  const SourceLoc &loc = w.function->locs[op.loc];
  std::string at, where;
  if (loc.file) {
    auto it = w.function->module->files.find(loc.file);
    at = fmt::format(" (at {}:{}:{})",
                     it == w.function->module->files.end() ? "?" : it->second,
                     loc.line, loc.column);
  }
  const unsigned warp = clocks.warpOf(agentIn(info)),
                 ofCta = unsigned(cta.warps.size());
  if (many) {
    const Dim3 id = cta.cluster.ctas[warp / ofCta].id;
    where = fmt::format("cta ({},{},{}) ", id.x, id.y, id.z);
  }
  where += fmt::format("warp {}", warp % ofCta);
  if (laneKnown)
    where += fmt::format(" lane {}", info >> laneShift & 31);
  if (!(info & (RaceFacts::mostSites - 1)))
    return fmt::format("an access of {}", where);
  return fmt::format("{}:{}: {} of {}{}", w.function->module->filename, op.line,
                     op.form, where, at);
}

void Races::report(Warp &w, const Op &op, unsigned lane, uint32_t cell,
                   bool writes, uint32_t stamp, uint32_t info, bool otherWrites,
                   bool laneKnown) const {
  const uint32_t offset = cell << shift;
  const unsigned at = lane < warpSize ? lane : 0;
  if (!races && (stamp != inFlight || agentIn(info) == mbarrierObject))
    return;
  std::string place = fmt::format("address {:#x} (offset {}) of shared memory",
                                  offset + sharedBegin, offset);
  if (many)
    place += fmt::format(" of cta ({},{},{})", cta.id.x, cta.id.y, cta.id.z);
  const char *here = writes ? "written" : "read";
  if (stamp == inFlight && agentIn(info) == mbarrierObject)
    w.fault(op, at,
            fmt::format("{} is {}, but there is an mbarrier: expected an "
                        "mbarrier.inval before",
                        place, here));
  const uint32_t otherPc =
      w.function->raceFacts.sites[info & (RaceFacts::mostSites - 1)];
  const Op *otherOp =
      info & (RaceFacts::mostSites - 1) ? &w.ops[otherPc] : nullptr;
  if (stamp == inFlight)
    w.fault(op, at,
            fmt::format("{} is {}, but a cp.async that writes it is in "
                        "flight: {}; expected a cp.async.wait_group before",
                        place, here, accessOf(w, info, laneKnown)),
            {{"the copy is issued here", otherOp},
             {"its thread must execute a cp.async.wait_group that covers it, "
              "and then all threads a barrier, before this instruction"}});
  const bool own = agentIn(info) == agentOf(w);
  const char
      *missing = own ? "bar.warp.sync or barrier" : "barrier",
      *remedy = own ? "a barrier (bar.warp.sync if only lanes of one warp meet "
                      "here, else bar.sync)"
                    : "a barrier (bar.sync)";
  switch (clocks.kindOf(agentIn(info))) {
  case Clocks::Kind::Warp:
    if (clocks.warpOf(agentIn(info)) / cta.warps.size() != w.cta->rank)
      remedy = "a barrier.cluster, or an mbarrier that this thread waits for,";
    break;
  case Clocks::Kind::BulkWrite: // of global memory only
    break;
  case Clocks::Kind::BulkGroup:
    missing = "cp.async.bulk.wait_group";
    remedy = "a cp.async.bulk.wait_group.read by the thread that issued the "
             "copy, and then a barrier,";
    break;
  case Clocks::Kind::Wgmma:
    missing = "wgmma.wait_group";
    remedy = "a wgmma.wait_group by the warpgroup, and then a barrier,";
    break;
  case Clocks::Kind::Mbarrier:
    missing = "wait for the mbarrier that it signals";
    remedy = "a wait for the phase of the mbarrier that the copy signals";
    break;
  }
  const unsigned otherWarp =
      clocks.warpOf(agentIn(info)) % unsigned(cta.warps.size());
  const uint32_t hereLine = w.function->infos[w.indexOf(op)].line,
                 thereLine = w.function->infos[otherPc].line;
  Notes notes;
  if (otherOp) {
    notes.push_back(
        {laneKnown ? fmt::format("the other access, by warp {} lane {}",
                                 otherWarp, info >> laneShift & 31)
                   : fmt::format("the other access, by warp {}", otherWarp),
         otherOp});
    notes.push_back({fmt::format(
        "{} is missing {}", remedy,
        otherOp == &op
            ? std::string("between two executions of this line")
            : fmt::format("between lines {} and {}, or, in a "
                          "loop, between {} and the next {}",
                          thereLine, hereLine, hereLine, thereLine))});
  }
  w.fault(op, at,
          fmt::format("race: {} is {} here and {} by {}, and no {} orders the "
                      "two",
                      place, here, otherWrites ? "written" : "read",
                      accessOf(w, info, laneKnown), missing),
          notes);
}
