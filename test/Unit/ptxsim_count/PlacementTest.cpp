#include "runtime/ptxsim/model/Placement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace ptxsim;
using testing::ElementsAre;

namespace {

PlacementInput input(uint64_t ctas, uint32_t perSm, std::vector<uint32_t> gpcs,
                     std::vector<double> work = {}) {
  PlacementInput in;
  in.ctas = ctas, in.ctasPerSm = perSm, in.gpcs = std::move(gpcs);
  in.work = [work](uint64_t cta) { return cta < work.size() ? work[cta] : 1; };
  return in;
}

TEST(Placement, EvenCtasGoRound) {
  const Placement p = place(input(7, 1, {2, 1}));
  EXPECT_THAT(p.sms[0], ElementsAre(0, 3, 6));
  EXPECT_THAT(p.sms[1], ElementsAre(1, 4));
  EXPECT_THAT(p.sms[2], ElementsAre(2, 5));
  EXPECT_EQ(p.resident, 3u);
}

TEST(Placement, TheSmThatIsFreeFirstTakesTheNext) {
  // SM 0 is busy for 10, SM 1 takes four of length 2 and waits for no one.
  const Placement p = place(input(5, 1, {2}, {10, 2, 2, 2, 2}));
  EXPECT_THAT(p.sms[0], ElementsAre(0));
  EXPECT_THAT(p.sms[1], ElementsAre(1, 2, 3, 4));
}

TEST(Placement, CtasOnOneSmShareIt) {
  // Two at a time. SM 0 has CTAs 0 (4) and 2 (1), SM 1 has 1 (3) and 3 (3).
  // CTA 2 ends at 2 with half the speed, so that 4 goes to SM 0; CTA 0 has 3
  // left at 2 and shares: 4 (1) ends at 4, and 5 goes there too.
  const Placement p = place(input(6, 2, {2}, {4, 3, 1, 3, 1, 1}));
  EXPECT_THAT(p.sms[0], ElementsAre(0, 2, 4, 5));
  EXPECT_THAT(p.sms[1], ElementsAre(1, 3));
  EXPECT_EQ(p.resident, 4u);
}

TEST(Placement, ClustersStayInAGpc) {
  PlacementInput in = input(6, 1, {3, 2});
  in.clusterSize = 2;
  const Placement p = place(in);
  // Three SMs hold one cluster of two; the third cluster waits.
  EXPECT_THAT(p.sms[0], ElementsAre(0, 4));
  EXPECT_THAT(p.sms[1], ElementsAre(1, 5));
  EXPECT_TRUE(p.sms[2].empty());
  EXPECT_THAT(p.sms[3], ElementsAre(2));
  EXPECT_EQ(p.resident, 4u);
}

TEST(Placement, NoMoreClustersThanTheDeviceTakes) {
  PlacementInput in = input(8, 1, {4, 4});
  in.clusterSize = 2, in.clustersAtOnce = 3;
  EXPECT_EQ(place(in).resident, 6u);
}

} // namespace
