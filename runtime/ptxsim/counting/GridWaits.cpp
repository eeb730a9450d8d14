#include "runtime/ptxsim/counting/GridWaits.h"

#include "runtime/ptxsim/Cta.h"
#include "runtime/ptxsim/Lanes.h"

#include <algorithm>

using namespace ptxsim;

void GridWaits::restart() { *this = {}; }

void GridWaits::reads(const Warp &w, const Op &op, uint32_t mask,
                      const uint64_t *at) {
  Loop &loop = loops[&w];
  bool again = loop.op == &op && !(mask & ~loop.mask);
  if (again)
    forLanes(mask, [&](unsigned l) { again &= loop.at[l] == at[l]; });
  if (!again) {
    loop.op = &op, loop.mask = mask, loop.begin = now;
    forLanes(mask, [&](unsigned l) {
      loop.at[l] = at[l];
      const uint64_t word = at[l] / 4;
      words.try_emplace(word);
      lowest = std::min(lowest, word), highest = std::max(highest, word);
    });
    return;
  }
  uint32_t &depth = depths[w.cta];
  forLanes(mask, [&](unsigned l) {
    const Word &word = words.at(at[l] / 4);
    if ((word.by == w.cta ? word.other : word.latest) > loop.begin)
      depth = std::max(depth, word.depth + 1);
  });
  most = std::max(most, depth);
}

void GridWaits::writes(const Warp &w, uint32_t mask, const uint64_t *at,
                       uint32_t bytes) {
  if (words.empty())
    return;
  forLanes(mask, [&](unsigned l) {
    for (uint64_t n = at[l] / 4; n <= (at[l] + bytes - 1) / 4; ++n) {
      if (n < lowest || n > highest)
        continue;
      const auto it = words.find(n);
      if (it == words.end())
        continue;
      Word &word = it->second;
      if (word.by != w.cta)
        word.other = word.latest, word.by = w.cta;
      word.latest = ++now;
      word.depth = std::max(word.depth, depths[w.cta]);
    }
  });
}
