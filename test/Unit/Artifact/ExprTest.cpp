//===- ExprTest.cpp - Expressions of a manifest ---------------------------===//
#include "runtime/Artifact/Expr.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace k2rt;
using testing::HasSubstr;

namespace {
Expected<int64_t> apply(ExprOp op, int64_t a, int64_t b) {
  return Expr::binary(op, a, b).evaluate({});
}

TEST(Expr, Arithmetic) {
  EXPECT_EQ(*apply(ExprOp::Add, 3, 4), 7);
  EXPECT_EQ(*apply(ExprOp::Sub, 3, 4), -1);
  EXPECT_EQ(*apply(ExprOp::Mul, 3, 4), 12);
  EXPECT_EQ(*apply(ExprOp::Min, 3, -4), -4);
  EXPECT_EQ(*apply(ExprOp::Max, 3, -4), 3);
}

TEST(Expr, DivisionRoundsTowardsInfinityOrMinusInfinity) {
  EXPECT_EQ(*apply(ExprOp::CeilDiv, 0, 64), 0);
  EXPECT_EQ(*apply(ExprOp::CeilDiv, 1, 64), 1);
  EXPECT_EQ(*apply(ExprOp::CeilDiv, 64, 64), 1);
  EXPECT_EQ(*apply(ExprOp::CeilDiv, 65, 64), 2);
  EXPECT_EQ(*apply(ExprOp::CeilDiv, -65, 64), -1);
  EXPECT_EQ(*apply(ExprOp::FloorDiv, 65, 64), 1);
  EXPECT_EQ(*apply(ExprOp::FloorDiv, -1, 64), -1);
  EXPECT_EQ(*apply(ExprOp::FloorDiv, -64, 64), -1);
}

TEST(Expr, Conditions) {
  EXPECT_EQ(*apply(ExprOp::Lt, 3, 4), 1);
  EXPECT_EQ(*apply(ExprOp::Lt, 4, 4), 0);
  EXPECT_EQ(*apply(ExprOp::Le, 4, 4), 1);
  EXPECT_EQ(*apply(ExprOp::Eq, 4, 5), 0);
  EXPECT_EQ(*apply(ExprOp::And, 2, 1), 1);
  EXPECT_EQ(*apply(ExprOp::And, 2, 0), 0);
  EXPECT_EQ(*apply(ExprOp::Or, 0, 0), 0);
  EXPECT_EQ(*apply(ExprOp::Or, 0, 5), 1);
}

TEST(Expr, Symbols) {
  Expr tiles = Expr::binary(ExprOp::CeilDiv, Expr::symbol("T"), Expr(128));
  EXPECT_EQ(*tiles.evaluate({{"T", 129}}), 2);
  EXPECT_EQ(tiles.str(), "ceildiv(T, 128)");
  EXPECT_THAT(tiles.evaluate({}).status().message(),
              HasSubstr("expected a known symbol, but got 'T'"));
}

TEST(Expr, OverflowAndBadDivisorsAreErrors) {
  EXPECT_THAT(apply(ExprOp::Mul, INT64_MAX, 2).status().message(),
              HasSubstr("expected a value of 64 bits"));
  EXPECT_THAT(apply(ExprOp::Add, INT64_MAX, 1).status().message(),
              HasSubstr("expected a value of 64 bits"));
  EXPECT_THAT(apply(ExprOp::Sub, INT64_MIN, 1).status().message(),
              HasSubstr("expected a value of 64 bits"));
  EXPECT_THAT(apply(ExprOp::CeilDiv, 1, 0).status().message(),
              HasSubstr("expected a positive divisor, but got 0"));
  EXPECT_THAT(apply(ExprOp::FloorDiv, INT64_MIN, -1).status().message(),
              HasSubstr("expected a positive divisor, but got -1"));
  EXPECT_EQ(*apply(ExprOp::CeilDiv, INT64_MAX, 1), INT64_MAX);
  EXPECT_EQ(*apply(ExprOp::FloorDiv, INT64_MIN, 1), INT64_MIN);
}
} // namespace
