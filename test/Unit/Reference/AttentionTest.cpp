// Latent attention over a paged cache: both forms agree, pages and unused rows
// do not matter, masks do.
#include "k2c/Reference/Ops.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>

using namespace k2c::reference;

namespace {

constexpr HeadSizes sizes{2, 3, 4, 5};
constexpr int64_t latents = 6, pageSize = 4;

TensorOf<double> random(std::vector<int64_t> shape, unsigned seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<double> normal;
  TensorOf<double> result(std::move(shape));
  for (double &x : result.data)
    x = normal(engine);
  return result;
}

/// Two sequences: 5 cached and 2 new tokens, 0 cached and 3 new.
struct Case {
  Batch<double> batch;
  Cache<double> cache{std::make_shared<TensorOf<double>>(std::vector<int64_t>{
                          8, pageSize, latents + sizes.rope}),
                      latents, sizes.rope};
  Weight<double> kvB;
  TensorOf<double> query =
      random({5, sizes.heads * (sizes.nope + sizes.rope)}, 1);

  explicit Case(std::vector<int64_t> pages, double unused) {
    kvB.values = random({sizes.heads * (sizes.nope + sizes.value), latents}, 2);
    batch.seqStart = {0, 2, 5};
    batch.pastLen = {5, 0};
    batch.blockTable = Integers({2, 2});
    batch.blockTable.data = std::move(pages);
    std::fill(cache.pages->data.begin(), cache.pages->data.end(), unused);
    TensorOf<double> rows = random({10, latents + sizes.rope}, 3);
    auto slot = [&](int64_t b, int64_t s) {
      return batch.blockTable.at(b, s / pageSize) * pageSize + s % pageSize;
    };
    for (int64_t s = 0; s < 5; ++s)
      std::copy_n(rows.row(s), rows.columns(), cache.row(slot(0, s)));
    batch.slot = {slot(0, 5), slot(0, 6), slot(1, 0), slot(1, 1), slot(1, 2)};
    TensorOf<double> latent({5, latents}), keyRope({5, sizes.rope});
    for (int64_t t = 0; t < 5; ++t) {
      std::copy_n(rows.row(5 + t), latents, latent.row(t));
      std::copy_n(rows.row(5 + t) + latents, sizes.rope, keyRope.row(t));
    }
    append(latent, keyRope, batch, cache);
  }
  TensorOf<double> expanded() {
    return mlaAttention(query, cache, batch, kvB, sizes, 0.3, Round{});
  }
  TensorOf<double> absorbed() {
    TensorOf<double> inner =
        mlaAttentionAbsorbed(absorbQuery(query, kvB, sizes, Round{}), query,
                             cache, batch, sizes, 0.3, Round{});
    return absorbOutput(inner, kvB, sizes, Round{});
  }
};

void expectNear(const TensorOf<double> &got, const TensorOf<double> &want) {
  ASSERT_EQ(got.shape, want.shape);
  for (size_t i = 0; i < got.data.size(); ++i)
    EXPECT_NEAR(got.data[i], want.data[i], 1e-12) << i;
}

} // namespace

TEST(Attention, BothFormsAgree) {
  Case c({0, 1, 2, 3}, 0);
  expectNear(c.absorbed(), c.expanded());
}

TEST(Attention, PagesMayLieAnywhereAndUnusedRowsAreNotRead) {
  Case plain({0, 1, 2, 3}, 0), scattered({6, 0, 3, 7}, std::nan(""));
  EXPECT_EQ(scattered.expanded().data, plain.expanded().data);
  EXPECT_EQ(scattered.absorbed().data, plain.absorbed().data);
}

TEST(Attention, AFirstTokenSeesItselfOnly) {
  Case c({0, 1, 2, 3}, 0);
  TensorOf<double> out = c.expanded();
  for (int64_t head = 0; head < sizes.heads; ++head)
    for (int64_t j = 0; j < sizes.value; ++j) {
      double v = 0;
      for (int64_t i = 0; i < latents; ++i)
        v += c.kvB.element(
                 0, head * (sizes.nope + sizes.value) + sizes.nope + j, i) *
             c.cache.row(c.batch.slot[2])[i];
      EXPECT_NEAR(out.at(2, head * sizes.value + j), v, 1e-12);
    }
}

TEST(Attention, TheCausalMaskGivenIsTheDefault) {
  Case given({0, 1, 2, 3}, 0), causal({0, 1, 2, 3}, 0);
  given.batch.mask = TensorOf<double>({5, 7});
  for (int64_t t = 0; t < 5; ++t)
    for (int64_t s = 0; s < 7; ++s)
      given.batch.mask->at(t, s) = s <= (t < 2 ? 5 + t : t - 2) ? 0 : -INFINITY;
  EXPECT_EQ(given.expanded().data, causal.expanded().data);
  EXPECT_EQ(given.absorbed().data, causal.absorbed().data);
}

TEST(Attention, ARowWithoutKeysIsZero) {
  Case c({0, 1, 2, 3}, std::nan(""));
  c.batch.mask = TensorOf<double>({5, 7});
  std::fill(c.batch.mask->data.begin(), c.batch.mask->data.end(), -INFINITY);
  for (const TensorOf<double> &out : {c.expanded(), c.absorbed()})
    for (double x : out.data)
      EXPECT_EQ(x, 0);
}

TEST(Attention, TokensWithoutSlotAreNotWritten) {
  Case c({0, 1, 2, 3}, 0);
  std::vector<double> before = c.cache.pages->data;
  c.batch.slot.assign(5, -1);
  append(random({5, latents}, 9), random({5, sizes.rope}, 10), c.batch,
         c.cache);
  EXPECT_EQ(c.cache.pages->data, before);
}
