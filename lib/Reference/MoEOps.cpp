//===- MoEOps.cpp - router, dispatch, combine -----------------------------===//

#include "k2c/Reference/Ops.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace k2c::reference {

/// Indices of the `count` greatest entries, greatest first, the lower index on
/// ties. A NaN is never greater.
template <typename Real>
static std::vector<int64_t> greatest(const std::vector<Real> &values,
                                     int64_t count) {
  std::vector<int64_t> chosen;
  std::vector<bool> taken(values.size());
  while (static_cast<int64_t>(chosen.size()) < count) {
    int64_t best = -1;
    for (int64_t i = 0; i < static_cast<int64_t>(values.size()); ++i)
      if (!taken[i] && (best < 0 || values[i] > values[best]))
        best = i;
    taken[best] = true;
    chosen.push_back(best);
  }
  return chosen;
}

template <typename Real>
static std::vector<Real> scoresOf(const Real *logits, int64_t experts,
                                  bool sigmoid) {
  std::vector<Real> scores(logits, logits + experts);
  if (sigmoid) {
    for (Real &x : scores)
      x = Real(1) / (Real(1) + std::exp(-x));
    return scores;
  }
  Real top = *std::max_element(scores.begin(), scores.end()), sum = 0;
  for (Real &x : scores)
    sum += x = std::exp(x - top);
  for (Real &x : scores)
    x /= sum;
  return scores;
}

/// Gives the experts of all but the best groups minus infinity. A group is
/// worth its two best experts.
template <typename Real>
static void keepGroups(std::vector<Real> &choice, int64_t groups,
                       int64_t kept) {
  int64_t size = static_cast<int64_t>(choice.size()) / groups;
  std::vector<Real> worth(groups);
  for (int64_t g = 0; g < groups; ++g) {
    std::vector<Real> members(choice.begin() + g * size,
                              choice.begin() + (g + 1) * size);
    for (int64_t best : greatest(members, 2))
      worth[g] += members[best];
  }
  std::vector<int64_t> order = greatest(worth, groups);
  for (int64_t i = kept; i < groups; ++i)
    std::fill_n(choice.begin() + order[i] * size, size,
                -std::numeric_limits<Real>::infinity());
}

template <typename Real>
Routed<Real> router(const TensorOf<Real> &logits, const TensorOf<Real> *bias,
                    const RouterOptions &options) {
  int64_t tokens = logits.rows(), experts = logits.columns(), k = options.topK;
  Routed<Real> result{Integers({tokens, k}), TensorOf<Real>({tokens, k})};
  for (int64_t t = 0; t < tokens; ++t) {
    std::vector<Real> scores =
                          scoresOf(logits.row(t), experts, options.sigmoid),
                      choice = scores;
    for (int64_t e = 0; bias && e < experts; ++e)
      choice[e] += bias->data[e];
    if (options.groups > 1)
      keepGroups(choice, options.groups, options.keptGroups);
    std::vector<int64_t> chosen = greatest(choice, k);
    std::sort(
        chosen.begin(),
        chosen.end()); // so that equal weights keep the lower expert first
    std::vector<Real> weights;
    Real sum = 0;
    for (int64_t e : chosen) {
      weights.push_back(scores[e]);
      sum += scores[e];
    }
    for (Real &w : weights)
      w = (options.normalize ? w / (sum + Real(1e-20)) : w) *
          Real(options.scaling);
    std::vector<int64_t> order = greatest(weights, k);
    for (int64_t i = 0; i < k; ++i) {
      result.ids.at(t, i) = chosen[order[i]];
      result.weights.at(t, i) = weights[order[i]];
    }
  }
  return result;
}

Routing dispatch(const Integers &ids, int64_t experts) {
  int64_t tokens = ids.rows(), k = ids.columns();
  Routing routing;
  routing.expertCount.assign(experts, 0);
  routing.expertStart.assign(experts + 1, 0);
  routing.rowOf = Integers({tokens, k});
  for (int64_t id : ids.data)
    ++routing.expertCount[id];
  for (int64_t e = 0; e < experts; ++e)
    routing.expertStart[e + 1] =
        routing.expertStart[e] + routing.expertCount[e];
  routing.tokenOfRow.resize(ids.data.size());
  std::vector<int64_t> next(routing.expertStart.begin(),
                            routing.expertStart.end() - 1);
  for (int64_t t = 0; t < tokens; ++t)
    for (int64_t slot = 0; slot < k; ++slot) {
      int64_t row = next[ids.at(t, slot)]++;
      routing.rowOf.at(t, slot) = row;
      routing.tokenOfRow[row] = t;
    }
  return routing;
}

template <typename Real>
TensorOf<Real> combine(const TensorOf<Real> &rows,
                       const TensorOf<Real> &weights, const Routing &routing,
                       Round round) {
  TensorOf<Real> y({weights.rows(), rows.columns()});
  for (int64_t t = 0; t < y.rows(); ++t)
    for (int64_t i = 0; i < y.columns(); ++i) {
      Real sum = 0;
      for (int64_t slot = 0; slot < weights.columns(); ++slot)
        sum += weights.at(t, slot) * rows.at(routing.rowOf.at(t, slot), i);
      y.at(t, i) = round(sum);
    }
  return y;
}

#define INSTANTIATE(Real)                                                      \
  template Routed<Real> router(const TensorOf<Real> &, const TensorOf<Real> *, \
                               const RouterOptions &);                         \
  template TensorOf<Real> combine(                                             \
      const TensorOf<Real> &, const TensorOf<Real> &, const Routing &, Round);
INSTANTIATE(float)
INSTANTIATE(double)
#undef INSTANTIATE

} // namespace k2c::reference
