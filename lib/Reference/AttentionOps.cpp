//===- AttentionOps.cpp - append and latent attention in its two forms ----===//

#include "Dot.h"
#include "k2c/Reference/Ops.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace k2c::reference {

template <typename Real>
void append(const TensorOf<Real> &latent, const TensorOf<Real> &keyRope,
            const Batch<Real> &batch, const Cache<Real> &cache) {
  for (int64_t t = 0; t < latent.rows(); ++t) {
    if (batch.slot[t] < 0)
      continue;
    Real *row = cache.row(batch.slot[t]);
    std::copy_n(latent.row(t), cache.latentSize, row);
    std::copy_n(keyRope.row(t), cache.ropeSize, row + cache.latentSize);
  }
}

/// The cached row of key `s` of sequence `b`.
template <typename Real>
static const Real *keyRow(const Cache<Real> &cache, const Batch<Real> &batch,
                          int64_t b, int64_t s) {
  int64_t page = batch.blockTable.at(b, s / cache.pageSize());
  return cache.row(page * cache.pageSize() + s % cache.pageSize());
}

/// exp(score - greatest score) of every key that token `t` of a sequence may
/// see, 0 for the others, and their sum. `score(s)` is scaled already.
template <typename Real, typename Score>
static Real softmaxNumerators(std::vector<Real> &p, const Batch<Real> &batch,
                              int64_t b, int64_t t, int64_t keys, Score score) {
  constexpr Real none = -std::numeric_limits<Real>::infinity();
  int64_t position = batch.pastLen[b] + t - batch.seqStart[b];
  p.assign(keys, none);
  for (int64_t s = 0; s < keys; ++s) {
    if (batch.mask)
      p[s] =
          batch.mask->at(t, s) == none ? none : score(s) + batch.mask->at(t, s);
    else if (s <= position)
      p[s] = score(s);
  }
  Real greatest = keys == 0 ? none : *std::max_element(p.begin(), p.end());
  Real sum = 0;
  for (Real &x : p) {
    x = x == none ? Real(0) : std::exp(x - greatest);
    sum += x;
  }
  return sum;
}

template <typename Real>
TensorOf<Real> mlaAttention(const TensorOf<Real> &query,
                            const Cache<Real> &cache, const Batch<Real> &batch,
                            const Weight<Real> &kvB, const HeadSizes &sizes,
                            double scale, Round round) {
  auto [heads, nope, rope, value] = sizes;
  TensorOf<Real> out({query.rows(), heads * value});
  std::vector<Real> p;
  for (int64_t b = 0; b < batch.sequences(); ++b) {
    int64_t keys = batch.pastLen[b] + batch.seqStart[b + 1] - batch.seqStart[b];
    TensorOf<Real> latents({keys, cache.latentSize});
    for (int64_t s = 0; s < keys; ++s)
      std::copy_n(keyRow(cache, batch, b, s), cache.latentSize, latents.row(s));
    TensorOf<Real> expanded =
        linear(latents, kvB, true, round); // per head: k_nope, then v
    for (int64_t t = batch.seqStart[b]; t < batch.seqStart[b + 1]; ++t)
      for (int64_t head = 0; head < heads; ++head) {
        const Real *q = query.row(t) + head * (nope + rope);
        int64_t column = head * (nope + value);
        Real sum = softmaxNumerators(p, batch, b, t, keys, [&](int64_t s) {
          Real plain = dot(q, expanded.row(s) + column, nope);
          return Real(scale) *
                 (plain + dot(q + nope,
                              keyRow(cache, batch, b, s) + cache.latentSize,
                              rope));
        });
        for (int64_t j = 0; j < value && sum > 0; ++j) {
          Real total = 0;
          for (int64_t s = 0; s < keys; ++s)
            total += p[s] == 0
                         ? Real(0)
                         : round(p[s]) * expanded.at(s, column + nope + j);
          out.at(t, head * value + j) = round(total / sum);
        }
      }
  }
  return out;
}

template <typename Real>
TensorOf<Real> absorbQuery(const TensorOf<Real> &query, const Weight<Real> &kvB,
                           const HeadSizes &sizes, Round round) {
  auto [heads, nope, rope, value] = sizes;
  TensorOf<Real> out({query.rows(), heads * kvB.k()});
  for (int64_t t = 0; t < query.rows(); ++t)
    for (int64_t head = 0; head < heads; ++head)
      for (int64_t c = 0; c < kvB.k(); ++c) {
        Real sum = 0;
        for (int64_t i = 0; i < nope; ++i)
          sum += query.at(t, head * (nope + rope) + i) *
                 kvB.element(0, head * (nope + value) + i, c);
        out.at(t, head * kvB.k() + c) = round(sum);
      }
  return out;
}

template <typename Real>
TensorOf<Real>
mlaAttentionAbsorbed(const TensorOf<Real> &queryLatent,
                     const TensorOf<Real> &query, const Cache<Real> &cache,
                     const Batch<Real> &batch, const HeadSizes &sizes,
                     double scale, Round round) {
  auto [heads, nope, rope, value] = sizes;
  int64_t latents = cache.latentSize;
  TensorOf<Real> out({query.rows(), heads * latents});
  std::vector<Real> p;
  for (int64_t b = 0; b < batch.sequences(); ++b) {
    int64_t keys = batch.pastLen[b] + batch.seqStart[b + 1] - batch.seqStart[b];
    for (int64_t t = batch.seqStart[b]; t < batch.seqStart[b + 1]; ++t)
      for (int64_t head = 0; head < heads; ++head) {
        const Real *qLatent = queryLatent.row(t) + head * latents,
                   *qRope = query.row(t) + head * (nope + rope) + nope;
        Real sum = softmaxNumerators(p, batch, b, t, keys, [&](int64_t s) {
          const Real *key = keyRow(cache, batch, b, s);
          return Real(scale) *
                 (dot(qLatent, key, latents) + dot(qRope, key + latents, rope));
        });
        for (int64_t c = 0; c < latents && sum > 0; ++c) {
          Real total = 0;
          for (int64_t s = 0; s < keys; ++s)
            total += p[s] == 0 ? Real(0)
                               : round(p[s]) * keyRow(cache, batch, b, s)[c];
          out.at(t, head * latents + c) = round(total / sum);
        }
      }
  }
  return out;
}

template <typename Real>
TensorOf<Real> absorbOutput(const TensorOf<Real> &outputLatent,
                            const Weight<Real> &kvB, const HeadSizes &sizes,
                            Round round) {
  auto [heads, nope, rope, value] = sizes;
  TensorOf<Real> out({outputLatent.rows(), heads * value});
  for (int64_t t = 0; t < outputLatent.rows(); ++t)
    for (int64_t head = 0; head < heads; ++head)
      for (int64_t j = 0; j < value; ++j) {
        Real sum = 0;
        for (int64_t c = 0; c < kvB.k(); ++c)
          sum += outputLatent.at(t, head * kvB.k() + c) *
                 kvB.element(0, head * (nope + value) + nope + j, c);
        out.at(t, head * value + j) = round(sum);
      }
  return out;
}

#define INSTANTIATE(Real)                                                      \
  template void append(const TensorOf<Real> &, const TensorOf<Real> &,         \
                       const Batch<Real> &, const Cache<Real> &);              \
  template TensorOf<Real> mlaAttention(                                        \
      const TensorOf<Real> &, const Cache<Real> &, const Batch<Real> &,        \
      const Weight<Real> &, const HeadSizes &, double, Round);                 \
  template TensorOf<Real> absorbQuery(                                         \
      const TensorOf<Real> &, const Weight<Real> &, const HeadSizes &, Round); \
  template TensorOf<Real> mlaAttentionAbsorbed(                                \
      const TensorOf<Real> &, const TensorOf<Real> &, const Cache<Real> &,     \
      const Batch<Real> &, const HeadSizes &, double, Round);                  \
  template TensorOf<Real> absorbOutput(                                        \
      const TensorOf<Real> &, const Weight<Real> &, const HeadSizes &, Round);
INSTANTIATE(float)
INSTANTIATE(double)
#undef INSTANTIATE

} // namespace k2c::reference
