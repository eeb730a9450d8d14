#include "runtime/ptxsim/model/Placement.h"

#include <algorithm>
#include <queue>

using namespace ptxsim;

namespace {

/// An SM whose CTAs progress at 1 / (their number): `progress` is how much work
/// each has done that has been there all along.
struct Sm {
  double now = 0, progress = 0;
  std::vector<double> ends; ///< values of progress at which its CTAs end
  void advance(double time) {
    if (!ends.empty())
      progress += (time - now) / double(ends.size());
    now = time;
  }
  /// When the next of its CTAs ends.
  double next() const {
    return now + (*std::min_element(ends.begin(), ends.end()) - progress) *
                     double(ends.size());
  }
};

} // namespace

Placement ptxsim::place(const PlacementInput &in) {
  uint32_t sms = 0;
  std::vector<uint32_t> firstSm;
  for (uint32_t size : in.gpcs) {
    firstSm.push_back(sms);
    sms += size;
  }
  Placement p;
  p.sms.resize(sms);
  std::vector<Sm> state(sms);
  // Times at which an SM's next CTA ends; entries may be out of date.
  using Event = std::pair<double, uint32_t>;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events;
  const uint64_t clusters = in.ctas / in.clusterSize;
  uint64_t most = uint64_t(sms) * in.ctasPerSm;
  if (in.clusterSize > 1 && in.clustersAtOnce)
    most = std::min(most, uint64_t(in.clustersAtOnce) * in.clusterSize *
                              in.ctasPerSm);
  uint64_t there = 0, next = 0;
  double now = 0;

  auto tryPlace = [&]() -> bool {
    if (there + in.clusterSize > most)
      return false;
    // The GPC with most room; without clusters, the SM with fewest CTAs.
    std::vector<uint32_t> best;
    uint64_t bestRoom = 0;
    if (in.clusterSize == 1) {
      uint32_t sm = 0;
      for (uint32_t s = 1; s < sms; ++s)
        if (state[s].ends.size() < state[sm].ends.size())
          sm = s;
      if (state[sm].ends.size() >= in.ctasPerSm)
        return false;
      best = {sm};
    }
    for (size_t g = 0; in.clusterSize > 1 && g < in.gpcs.size(); ++g) {
      std::vector<uint32_t> free;
      uint64_t room = 0;
      for (uint32_t s = firstSm[g]; s < firstSm[g] + in.gpcs[g]; ++s)
        if (state[s].ends.size() < in.ctasPerSm) {
          room += in.ctasPerSm - state[s].ends.size();
          free.push_back(s);
        }
      // One CTA of a cluster per SM.
      if (free.size() < in.clusterSize || room <= bestRoom)
        continue;
      std::sort(free.begin(), free.end(), [&](uint32_t a, uint32_t b) {
        return std::pair(state[a].ends.size(), a) <
               std::pair(state[b].ends.size(), b);
      });
      free.resize(in.clusterSize);
      best = free, bestRoom = room;
    }
    if (best.empty())
      return false;
    for (uint32_t i = 0; i < in.clusterSize; ++i) {
      const uint64_t cta = next * in.clusterSize + i;
      Sm &sm = state[best[i]];
      sm.advance(now);
      sm.ends.push_back(sm.progress + in.work(cta));
      p.sms[best[i]].push_back(uint32_t(cta));
      events.push({sm.next(), best[i]});
    }
    ++next, there += in.clusterSize;
    p.resident = std::max(p.resident, uint32_t(there));
    return true;
  };

  while (next < clusters) {
    while (next < clusters && tryPlace())
      ;
    if (next == clusters || events.empty())
      break;
    // All CTAs that end at the next moment make room.
    now = events.top().first;
    while (!events.empty() && events.top().first <= now) {
      const uint32_t s = events.top().second;
      events.pop();
      Sm &sm = state[s];
      if (sm.ends.empty() || sm.next() > now * (1 + 1e-12))
        continue; // out of date
      sm.advance(now);
      const double done = sm.progress * (1 + 1e-12);
      there -= uint64_t(
          std::erase_if(sm.ends, [done](double end) { return end <= done; }));
      if (!sm.ends.empty())
        events.push({sm.next(), s});
    }
  }
  return p;
}
