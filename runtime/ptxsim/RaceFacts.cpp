// What the race detectors need to know of a function before it runs.

#include "runtime/ptxsim/Races.h"

using namespace ptxsim;

RaceFacts ptxsim::raceFactsOf(const Function &f) {
  RaceFacts facts;
  facts.siteOf.resize(f.ops.size());
  facts.sites.push_back(0);
  bool loads = false, stores = false, transposes = false;
  for (size_t i = 0; i < f.ops.size(); ++i) {
    const Op &op = f.ops[i];
    const std::string_view form = f.infos[i].form;
    const std::string_view base = form.substr(0, form.find('.'));
    const auto has = [&](std::string_view s) {
      return form.find(s) != std::string_view::npos;
    };
    if (base == "mbarrier") {
      facts.mbarriers = true;
      facts.invals |= has(".inval");
      facts.smallest = std::min<uint8_t>(facts.smallest, 8);
    }
    if (base == "fence" || base == "membar" || has(".acq") || has(".release"))
      facts.fences = true;
    loads |= base == "ldmatrix", stores |= base == "stmatrix";
    transposes |= base.ends_with("matrix") && has(".trans");
    const bool atomic = base == "atom" || base == "red";
    if (atomic && has(".cas"))
      facts.cas = true;
    const bool copies =
        form.starts_with("cp.async.ca.") || form.starts_with("cp.async.cg.");
    facts.copies |= copies;
    if (copies)
      facts.smallest = std::min(facts.smallest, uint8_t(op.count));
    const bool accesses = atomic || base == "ld" || base == "st";
    if (accesses || copies || base == "ldmatrix" || base == "stmatrix" ||
        base == "cp" || base == "mbarrier" || has("mma_async"))
      if (facts.sites.size() < RaceFacts::mostSites) {
        facts.siteOf[i] = uint16_t(facts.sites.size());
        facts.sites.push_back(uint32_t(i));
      }
    if (!accesses || has(".param") ||
        (op.space != Space::Shared && op.space != Space::Generic &&
         op.space != Space::SharedCluster && op.space != Space::Global))
      continue;
    unsigned bits = 0;
    for (char c : form.substr(form.rfind('.') + 1))
      if (c >= '0' && c <= '9')
        bits = bits * 10 + unsigned(c - '0');
      else if (bits)
        break;
    unsigned bytes = bits / 8 * (has(".v2") ? 2 : has(".v4") ? 4 : 1);
    if (has("x2."))
      bytes = 4;
    bytes = std::max(bytes, 1u);
    if (op.space == Space::Global || op.space == Space::Generic)
      facts.smallestGlobal =
          uint8_t(std::min<unsigned>(facts.smallestGlobal, bytes));
    if (op.space != Space::Global)
      facts.smallest = uint8_t(std::min<unsigned>(facts.smallest, bytes));
  }
  if (loads && stores) {
    facts.inPlace = true;
    facts.smallest = std::min<uint8_t>(facts.smallest, transposes ? 2 : 4);
  }
  return facts;
}
