#include "runtime/ptxsim/counting/KernelCounts.h"

#include <algorithm>

using namespace ptxsim;

namespace {
struct Text {
  std::string_view name, meaning;
};
constexpr Text texts[] = {
#define PTXSIM_COUNTER(field, name, meaning) {name, meaning},
#include "runtime/ptxsim/counting/Counters.def"
#undef PTXSIM_COUNTER
};
static_assert(std::size(texts) == counters);
} // namespace

std::string_view ptxsim::counterName(Counter c) {
  return texts[unsigned(c)].name;
}
std::string_view ptxsim::counterMeaning(Counter c) {
  return texts[unsigned(c)].meaning;
}

EventCounts &EventCounts::operator+=(const EventCounts &o) {
  for (unsigned i = 0; i < counters; ++i)
    events[i] += o.events[i];
  for (unsigned i = 0; i < opClasses; ++i) {
    instructions[i] += o.instructions[i];
    results[i] += o.results[i];
  }
  return *this;
}

double EventCounts::activeLanes() const {
  const uint64_t n = (*this)[Counter::Instructions];
  return n ? double((*this)[Counter::ThreadInstructions]) / double(n) : 0;
}

void KernelCounts::add(const KernelCounts &o) {
  if (!launches) {
    *this = o;
    return;
  }
  launches += o.launches;
  ctas += o.ctas;
  ctasExecuted += o.ctasExecuted;
  total += o.total;
  grid = o.grid, block = o.block, cluster = o.cluster;
  sharedBytes = o.sharedBytes;
  std::vector<LineCounts> merged;
  auto mine = lines.begin();
  for (const LineCounts &line : o.lines) {
    while (mine != lines.end() && mine->op < line.op)
      merged.push_back(std::move(*mine++));
    if (mine != lines.end() && mine->op == line.op) {
      mine->counts += line.counts;
      merged.push_back(std::move(*mine++));
    } else {
      merged.push_back(line);
    }
  }
  merged.insert(merged.end(), mine, lines.end());
  lines = std::move(merged);
  for (const auto &[shape, counts] : o.tensor) {
    tensor[shape].ops += counts.ops;
    tensor[shape].flops += counts.flops;
  }
  compulsoryReadBytes += o.compulsoryReadBytes;
  compulsoryWriteBytes += o.compulsoryWriteBytes;
  cooperative = o.cooperative, gridDependency = o.gridDependency;
  gridWaits = std::max(gridWaits, o.gridWaits);
  loadChain = std::max(loadChain, o.loadChain);
  work = o.work;
}
