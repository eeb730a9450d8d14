//===- TileShapesTest.cpp - Tile extents that layouts can hold ------------===//
#include "k2c/Analysis/TileShapes.h"
#include "gtest/gtest.h"

using namespace k2c;

namespace {

// Elements of a thread by hand: an extent odd * 2^k on 128 threads in vectors
// of 8 leaves odd * 2^k / min(2^k / 8, 128).
TEST(RowExtent, KeepsWhatSpreadsEvenly) {
  EXPECT_EQ(getRowExtent(7168, 128), 7168); // 7 * 1024: 56
  EXPECT_EQ(getRowExtent(128, 128), 128);
  EXPECT_EQ(getRowExtent(8, 128), 8);
  EXPECT_EQ(getRowExtent(11264, 128), 11264); // 11 * 1024: 88, 16384: 128
}

TEST(RowExtent, PadsWhatDoesNot) {
  EXPECT_EQ(getRowExtent(500, 128), 512);
  EXPECT_EQ(getRowExtent(40, 128), 64);     // 5 * 8: 40 in one thread, 64: 8
  EXPECT_EQ(getRowExtent(1536, 128), 2048); // 3 * 512: 24, 2048: 16
  EXPECT_EQ(getRowExtent(100, 128), 128);
  EXPECT_EQ(getRowExtent(1, 128), 1);
}

TEST(RowExtent, CountsSingleElements) {
  EXPECT_EQ(getRowExtent(384, 128, 1), 384); // 3 * 128: 3, 512: 4
  EXPECT_EQ(getRowExtent(6, 128, 1), 8);
}

TEST(CeilPowerOfTwo, RoundsUp) {
  EXPECT_EQ(ceilPowerOfTwo(1), 1);
  EXPECT_EQ(ceilPowerOfTwo(3), 4);
  EXPECT_EQ(ceilPowerOfTwo(64), 64);
  EXPECT_EQ(ceilPowerOfTwo(65), 128);
}

} // namespace
