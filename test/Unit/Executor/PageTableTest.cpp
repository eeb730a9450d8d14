//===- PageTableTest.cpp - Which pages of the cache a sequence has --------===//
#include "runtime/Cache/PageTable.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace k2rt;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {
TEST(PageTable, HandsOutPagesAsTheyAreNeeded) {
  PageTable pages({5, 0, 9}, 4);
  EXPECT_EQ(pages.pages(), 2 + 0 + 3);
  EXPECT_THAT(*pages.append({3, 0, 5}), ElementsAre(0, 1, 2, 4, 5, 6, 7, 8));
  EXPECT_THAT(*pages.append({2, 0, 0}), ElementsAre(3, 12));
  EXPECT_THAT(pages.pagesOf(0), ElementsAre(0, 3));
  EXPECT_THAT(pages.pagesOf(1), ElementsAre());
  EXPECT_THAT(pages.pagesOf(2), ElementsAre(1, 2));
  EXPECT_THAT(*pages.append({0, 0, 4}), ElementsAre(9, 10, 11, 16));
  EXPECT_EQ(pages.length(2), 9);
}

TEST(PageTable, RefusesMoreThanItsCapacity) {
  PageTable pages({128}, 64);
  ASSERT_TRUE(pages.append({128}));
  EXPECT_THAT(pages.append({1}).status().message(),
              HasSubstr("sequence 0: expected at most 128 tokens in the cache, "
                        "but got 128 and 1 more"));
  EXPECT_EQ(pages.length(0), 128);
  EXPECT_THAT(pages.canAppend({0, 0}).message(),
              HasSubstr("expected new tokens of 1 sequences, but got 2"));
  EXPECT_TRUE(pages.canAppend({-1}).failed());
}
} // namespace
