//===- LifetimesTest.cpp - Buffers that share an arena --------------------===//
#include "runtime/Executor/Lifetimes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace k2rt;

namespace {
/// Buffers a, b, c, d and a kernel (read, write).
class LifetimesTest : public testing::Test {
protected:
  LifetimesTest() {
    manifest_.buffers.resize(4);
    KernelInfo kernel;
    kernel.args = {{ArgKind::Pointer, "in", true, false},
                   {ArgKind::Pointer, "out", false, true}};
    manifest_.kernels.push_back(kernel);
  }
  static Command launch(int in, int out) {
    Command command;
    command.target = 0;
    for (int buffer : {in, out}) {
      LaunchArg arg;
      arg.kind = LaunchArg::BufferRef;
      arg.target = buffer;
      command.args.push_back(arg);
    }
    return command;
  }
  static Command layers(std::vector<Command> body) {
    Command command;
    command.op = CommandOp::Layers;
    command.to = 3;
    command.commands = std::move(body);
    return command;
  }
  std::vector<Lifetime> of(std::vector<Command> commands,
                           std::set<int> kept = {}) {
    return lifetimes(manifest_, commands, kept);
  }
  Manifest manifest_;
};

constexpr int a = 0, b = 1, c = 2, d = 3;

TEST_F(LifetimesTest, FromFirstToLastUse) {
  auto lives = of({launch(a, b), launch(b, c), launch(c, d)});
  EXPECT_TRUE(lives[a].meets(lives[b]));
  EXPECT_FALSE(lives[a].meets(lives[c]));
  EXPECT_FALSE(lives[b].meets(lives[d]));
  EXPECT_TRUE(lives[c].meets(lives[d]));
}

TEST_F(LifetimesTest, KeptBuffersMeetAll) {
  auto lives = of({launch(a, b), launch(b, c), launch(c, d)}, {a});
  EXPECT_TRUE(lives[a].meets(lives[d]));
}

TEST_F(LifetimesTest, WhatALayerReadsFirstLivesThroughTheBody) {
  // a goes from layer to layer; b and c are written before they are read.
  auto lives = of({layers({launch(a, b), launch(b, c), launch(c, a)})});
  EXPECT_TRUE(lives[a].meets(lives[b]));
  EXPECT_TRUE(lives[a].meets(lives[c]));
  lives =
      of({layers({launch(a, b), launch(b, d), launch(d, c), launch(c, a)})});
  EXPECT_FALSE(lives[b].meets(lives[c]));
}

TEST_F(LifetimesTest, WhatIsWrittenUnderAConditionMayBeOlder) {
  Command when;
  when.op = CommandOp::When;
  when.commands = {launch(a, b)};
  auto lives = of({layers({when, launch(b, c), launch(c, d)})});
  EXPECT_TRUE(lives[b].meets(lives[d]));
}

TEST_F(LifetimesTest, ZeroOverwrites) {
  Command zero;
  zero.op = CommandOp::Zero;
  zero.target = c;
  auto lives = of({layers({launch(a, b), zero, launch(c, d)})});
  EXPECT_FALSE(lives[c].meets(lives[b]));
}

TEST(Arena, BlocksThatMeetDoNotOverlap) {
  std::vector<uint64_t> bytes = {1000, 300, 300, 1000, 0, 700};
  std::vector<Lifetime> lives = {{0, 1}, {1, 2}, {2, 3},
                                 {3, 4}, {0, 9}, {2, 4}};
  ArenaPlan plan = planArena(bytes, lives);
  for (size_t i = 0; i < bytes.size(); ++i) {
    EXPECT_EQ(plan.offsets[i] % 256, 0u);
    EXPECT_LE(plan.offsets[i] + bytes[i], plan.bytes);
    for (size_t j = 0; j < i; ++j)
      if (lives[i].meets(lives[j]))
        EXPECT_TRUE(plan.offsets[i] + bytes[i] <= plan.offsets[j] ||
                    plan.offsets[j] + bytes[j] <= plan.offsets[i])
            << i << " and " << j;
  }
  EXPECT_EQ(plan.offsets[0], plan.offsets[3]) << "the two largest share";
  EXPECT_LT(plan.bytes, 2u * 1024 + 2 * 512 + 768) << "some are shared";
}

TEST(Arena, NothingNeedsNothing) { EXPECT_EQ(planArena({}, {}).bytes, 0u); }
} // namespace
