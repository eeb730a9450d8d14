//===- StepInputsTest.cpp - The arrays of one step ------------------------===//
#include "runtime/Executor/StepInputs.h"
#include "runtime/Executor/Buffers.h"
#include "runtime/Executor/Rope.h"

#include <cmath>
#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace k2rt;
using testing::ElementsAre;
using testing::FloatNear;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {
ModelFacts facts() {
  ModelFacts model;
  model.hiddenSize = 2;
  model.vocabSize = 10;
  model.ropeHeadDim = 4;
  model.maxPositions = 100;
  model.pageSize = 4;
  model.inverseFrequencies = {1.0f, 0.5f};
  return model;
}

StepRequest request() {
  StepRequest r;
  r.lengths = {2, 0, 1};
  r.positions = {0, 1, 7};
  r.tokenIds = {3, 4, 9};
  return r;
}

TEST(StepInputs, FlattenedRaggedRows) {
  PageTable pages({10, 10, 10}, 4);
  auto in = makeStepInputs(facts(), request(), pages);
  ASSERT_TRUE(in) << in.status().message();
  EXPECT_EQ(in->tokens, 3);
  EXPECT_EQ(in->sequences, 3);
  EXPECT_EQ(in->longest, 2);
  EXPECT_THAT(in->seqStart, ElementsAre(0, 2, 2, 3));
  EXPECT_THAT(in->pastLen, ElementsAre(0, 0, 0));
  EXPECT_THAT(in->slot, ElementsAre(0, 1, 4));
  // Angles are position * frequency, one row of the table for each token.
  ASSERT_EQ(in->ropeCos.size(), 6u);
  EXPECT_THAT(in->ropeCos[4], FloatNear(std::cos(7.0), 1e-6));
  EXPECT_THAT(in->ropeSin[5], FloatNear(std::sin(3.5), 1e-6));

  StepRequest next = request();
  in = makeStepInputs(facts(), next, pages);
  ASSERT_TRUE(in);
  EXPECT_EQ(in->longest, 4);
  EXPECT_THAT(in->pastLen, ElementsAre(2, 0, 1));
  EXPECT_THAT(makeBlockTable(pages, 2), ElementsAre(0, -1, -1, -1, 1, -1));
}

TEST(StepInputs, RefusedRequestsTakeNoRoom) {
  PageTable pages({10, 10, 10}, 4);
  auto refusal = [&](auto change) {
    StepRequest r = request();
    change(r);
    return makeStepInputs(facts(), r, pages).status().message();
  };
  EXPECT_THAT(refusal([](auto &r) { r.tokenIds[1] = 10; }),
              HasSubstr("input_ids: expected ids from 0 to 9, but got 10"));
  EXPECT_THAT(refusal([](auto &r) { r.tokenIds[1] = -1; }),
              HasSubstr("but got -1"));
  EXPECT_THAT(refusal([](auto &r) { r.tokenIds.pop_back(); }),
              HasSubstr("token ids: expected 3 values, but got 2"));
  EXPECT_THAT(refusal([](auto &r) { r.positions[0] = 100; }),
              HasSubstr("position_ids: expected positions from 0 to 99"));
  EXPECT_THAT(refusal([](auto &r) { r.positions[0] = -3; }),
              HasSubstr("but got -3"));
  EXPECT_THAT(refusal([](auto &r) {
                r.ropeCos.resize(6);
                r.ropeSin.resize(5);
              }),
              HasSubstr("rope_sin: expected 6 values, but got 5"));
  EXPECT_THAT(refusal([](auto &r) { r.lengths[0] = 11; }),
              HasSubstr("sequence 0: expected at most 10 tokens"));
  EXPECT_EQ(pages.length(0), 0);
}

TEST(StepInputs, MaskRowsTakeTheWidthOfTheirBuffer) {
  EXPECT_THAT(*widenMask({1, 2, 3, 4}, 2, 3, 9.0f),
              ElementsAre(1, 2, 9, 3, 4, 9));
  EXPECT_THAT(
      widenMask({1, 2, 3, 4}, 2, 1, 9.0f).status().message(),
      HasSubstr("buffer 'mask': expected rows of at least 2 keys, but got 1"));
}

TEST(NonFinite, FindsTheFirstThatArithmeticGave) {
  auto bf16 = [](std::vector<uint16_t> bits) {
    HostArray a{ElementType::BF16, {static_cast<int64_t>(bits.size())}, {}};
    a.bytes.resize(bits.size() * 2);
    std::memcpy(a.bytes.data(), bits.data(), a.bytes.size());
    return findNonFinite(a);
  };
  EXPECT_EQ(bf16({0x3f80, 0x7f7f, 0xff7f}), std::nullopt);
  EXPECT_EQ(bf16({0x3f80, 0xff80}), 1u);
  EXPECT_EQ(bf16({0x7fff}), 0u);
  EXPECT_EQ(bf16({0xffff}), std::nullopt) << "never written";
  HostArray f{ElementType::F32, {3}, {}};
  f.bytes.resize(12);
  uint32_t bits[] = {0xffffffff, 0x00007f80, 0x7f800001};
  std::memcpy(f.bytes.data(), bits, 12);
  EXPECT_EQ(findNonFinite(f), 2u);
}

TEST(StepInputs, NoTokenAtAll) {
  PageTable pages({0}, 4);
  StepRequest none;
  none.lengths = {0};
  auto in = makeStepInputs(facts(), none, pages);
  ASSERT_TRUE(in) << in.status().message();
  EXPECT_EQ(in->tokens, 0);
}

TEST(Rope, IsFormedInFloat32) {
  // float(100003) * float(0.7) rounds to 70002.1015625 (ulp 1/128): the cosine
  // of that float, not of the exact product, is wanted.
  std::vector<float> cos, sin;
  int32_t position = 100003;
  float frequency = 0.7f;
  makeRopeTables({&position, 1}, {&frequency, 1}, 2.0f, cos, sin);
  float angle = static_cast<float>(100003.0 * static_cast<double>(0.7f));
  EXPECT_FLOAT_EQ(
      cos[0], 2.0f * static_cast<float>(std::cos(static_cast<double>(angle))));
  EXPECT_FLOAT_EQ(
      sin[0], 2.0f * static_cast<float>(std::sin(static_cast<double>(angle))));
}

// The last positions of the family's models, the two around YaRN's original
// context, and a chunk that starts far into a context.
TEST(Rope, PositionsFarOut) {
  std::vector<int32_t> positions = {4095, 4096, 8191, 131071};
  for (int32_t i = 0; i < 129; ++i)
    positions.push_back(100000 + i);
  std::vector<float> frequencies = {1.0f, 0.50852746f, 2e-5f / 32}, cos, sin;
  makeRopeTables(positions, frequencies, 1.0f, cos, sin);
  size_t i = 0;
  for (int32_t position : positions)
    for (float frequency : frequencies) {
      // A product of two floats is exact in double.
      double angle = static_cast<float>(static_cast<double>(position) *
                                        static_cast<double>(frequency));
      EXPECT_FLOAT_EQ(cos[i], static_cast<float>(std::cos(angle)));
      EXPECT_FLOAT_EQ(sin[i++], static_cast<float>(std::sin(angle)));
    }
}

TEST(QueryTiles, StayWithinASequence) {
  Worklist list;
  list.rows = 64;
  list.rowsPerToken = 24;
  // 3 tokens are 72 rows: two tiles; none: none; 2 tokens: one.
  EXPECT_THAT(*makeQueryTiles(list, {0, 3, 3, 5}),
              ElementsAre(0, 0, 0, 64, 2, 72));
  EXPECT_THAT(*makeQueryTiles(list, {0, 0}), IsEmpty());
  list.name = "tiles";
  EXPECT_THAT(
      makeQueryTiles(list, {0, 89478486}).status().message(),
      HasSubstr("work list 'tiles': expected at most 89478485 tokens in a step "
                "(24 rows each), but got 89478486"));
}
} // namespace
