// Reductions, argmax and scans against a loop, over random layouts with copies,
// repeats and several warps.
#include "TileRunner.h"

#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

#include <cmath>
#include <limits>

using namespace k2c;
using namespace k2c::test;

namespace {

struct Case {
  tile::LinearLayout layout;
  unsigned axis, warps;
};

/// Layouts whose bases are single coordinate bits, as reductions need.
Case randomCase(std::mt19937 &random, int trial) {
  const std::vector<std::vector<int64_t>> shapes = {
      {8, 32}, {1, 96}, {12, 16}, {1, 384}, {4, 4}, {1, 1}, {2, 160}, {64, 8}};
  unsigned warpBits = random() % 4;
  return {
      randomLayout(random, shapes[random() % shapes.size()], warpBits, false),
      static_cast<unsigned>(trial % 2), 1u << warpBits};
}

TEST(Reduce, EqualsALoop) {
  std::mt19937 random(5);
  TileRunner runner;
  for (int trial = 0; trial < 48; ++trial) {
    Case test = randomCase(random, trial);
    std::vector<int64_t> shape = test.layout.shape(), reduced = shape;
    reduced[test.axis] = 1;
    const char *kind = trial % 3 == 0   ? "add"
                       : trial % 3 == 1 ? "maximum"
                                        : "minimum";
    const char *element = trial % 4 < 2 ? "f32" : "i32";
    std::string in = tensorText(runner, test.layout, element),
                out = tensorText(runner, test.layout.slice(test.axis, true),
                                 element);
    std::string xView =
        llvm::formatv("memref<{0}x{1}x{2}>", shape[0], shape[1], element);
    std::string yView =
        llvm::formatv("memref<{0}x{1}x{2}>", reduced[0], reduced[1], element);
    std::string text =
        llvm::formatv(R"(
      tile.kernel @reduce(%x: {0}, %y: {1}) attributes {{num_warps = {2}} {{
        %c0 = arith.constant 0 : i32
        %v = tile.load %x[%c0, %c0] : {0} -> {3}
        %r = tile.reduce {4} axis {5} %v : {3} -> {6}
        tile.store %r, %y[%c0, %c0] : {6}, {1}
        tile.return
      })",
                      xView, yView, test.warps, in, kind, test.axis, out);
    // Small integers: float sums are exact in any order.
    std::vector<int32_t> x(shape[0] * shape[1]),
        expected(reduced[0] * reduced[1]);
    for (int32_t &value : x)
      value = static_cast<int32_t>(random() % 2001) - 1000;
    for (int64_t i = 0; i < static_cast<int64_t>(expected.size()); ++i) {
      int64_t first = test.axis ? i * shape[1] : i,
              step = test.axis ? 1 : shape[1];
      int32_t result = x[first];
      for (int64_t k = 1; k < shape[test.axis]; ++k) {
        int32_t value = x[first + k * step];
        result = trial % 3 == 0   ? result + value
                 : trial % 3 == 1 ? std::max(result, value)
                                  : std::min(result, value);
      }
      expected[i] = result;
    }
    Arguments arguments(runner.device());
    if (element[0] == 'f') {
      arguments.buffer(std::vector<float>(x.begin(), x.end()));
      float *y = arguments.buffer(std::vector<float>(expected.size(), 0.5f));
      ASSERT_EQ(runner.run(text, arguments), "");
      for (size_t i = 0; i < expected.size(); ++i)
        ASSERT_EQ(y[i], expected[i]) << i << "\n" << text;
    } else {
      arguments.buffer(x);
      int32_t *y =
          arguments.buffer(std::vector<int32_t>(expected.size(), 12345));
      ASSERT_EQ(runner.run(text, arguments), "");
      for (size_t i = 0; i < expected.size(); ++i)
        ASSERT_EQ(y[i], expected[i]) << i << "\n" << text;
    }
  }
}

TEST(Reduce, MaximumPropagatesNaN) {
  TileRunner runner;
  std::mt19937 random(6);
  auto layout = randomLayout(random, {2, 64}, 1, false);
  std::string text =
      llvm::formatv(R"(
    tile.kernel @nan(%x: memref<2x64xf32>, %y: memref<2x1xf32>) attributes {{num_warps = 2} {{
      %c0 = arith.constant 0 : i32
      %v = tile.load %x[%c0, %c0] : memref<2x64xf32> -> {0}
      %r = tile.reduce maximum axis 1 %v : {0} -> {1}
      tile.store %r, %y[%c0, %c0] : {1}, memref<2x1xf32>
      tile.return
    })",
                    tensorText(runner, layout, "f32"),
                    tensorText(runner, layout.slice(1, true), "f32"));
  std::vector<float> x(128, -std::numeric_limits<float>::infinity());
  x[37] = std::nanf("");
  Arguments arguments(runner.device());
  arguments.buffer(x);
  float *y = arguments.buffer(std::vector<float>(2));
  ASSERT_EQ(runner.run(text, arguments), "");
  EXPECT_TRUE(std::isnan(y[0]));
  EXPECT_EQ(y[1], -std::numeric_limits<float>::infinity());
}

TEST(ArgMax, LowestIndexOfTheLargest) {
  std::mt19937 random(7);
  TileRunner runner;
  const float lowest = -std::numeric_limits<float>::infinity();
  for (int trial = 0; trial < 32; ++trial) {
    Case test = randomCase(random, trial);
    std::vector<int64_t> shape = test.layout.shape(), reduced = shape;
    reduced[test.axis] = 1;
    auto sliced = test.layout.slice(test.axis, true);
    std::string in = tensorText(runner, test.layout, "f32"),
                value = tensorText(runner, sliced, "f32"),
                index = tensorText(runner, sliced, "i32");
    std::string text = llvm::formatv(R"(
      tile.kernel @argmax(%x: memref<{0}x{1}xf32>, %v: memref<{2}x{3}xf32>, %i: memref<{2}x{3}xi32>) attributes {{num_warps = {4}} {{
        %c0 = arith.constant 0 : i32
        %t = tile.load %x[%c0, %c0] : memref<{0}x{1}xf32> -> {5}
        %a, %b = tile.argmax axis {6} %t : {5} -> {7}, {8}
        tile.store %a, %v[%c0, %c0] : {7}, memref<{2}x{3}xf32>
        tile.store %b, %i[%c0, %c0] : {8}, memref<{2}x{3}xi32>
        tile.return
      })",
                                     shape[0], shape[1], reduced[0], reduced[1],
                                     test.warps, in, test.axis, value, index);
    // Few distinct values: ties everywhere, also of -inf; NaN never wins.
    std::vector<float> x(shape[0] * shape[1]);
    for (float &element : x) {
      unsigned choice = random() % (trial % 5 ? 6 : 2);
      element = choice == 0 ? lowest
                : choice == 1
                    ? std::nanf("")
                    : static_cast<float>(static_cast<int>(choice) - 4);
    }
    Arguments arguments(runner.device());
    arguments.buffer(x);
    size_t count = reduced[0] * reduced[1];
    float *values = arguments.buffer(std::vector<float>(count));
    int32_t *indices = arguments.buffer(std::vector<int32_t>(count, -1));
    ASSERT_EQ(runner.run(text, arguments), "");
    for (size_t i = 0; i < count; ++i) {
      int64_t first = test.axis ? static_cast<int64_t>(i) * shape[1]
                                : static_cast<int64_t>(i),
              step = test.axis ? 1 : shape[1];
      float best = lowest;
      int32_t where = 0;
      for (int64_t k = 0; k < shape[test.axis]; ++k)
        if (x[first + k * step] > best) {
          best = x[first + k * step];
          where = static_cast<int32_t>(k);
        }
      ASSERT_EQ(values[i], best) << text;
      ASSERT_EQ(indices[i], where) << text;
    }
  }
}

TEST(Scan, PrefixSums) {
  std::mt19937 random(8);
  TileRunner runner;
  for (int trial = 0; trial < 32; ++trial) {
    const std::vector<std::vector<int64_t>> shapes = {{384},   {64},     {512},
                                                      {2, 48}, {4, 256}, {40}};
    std::vector<int64_t> shape = shapes[random() % shapes.size()];
    unsigned warpBits = random() % 3, axis = shape.size() - 1;
    auto layout = randomLayout(random, shape, warpBits, false);
    bool inclusive = trial % 2;
    std::string tensor = tensorText(runner, layout, "i32");
    std::string dims = shape.size() == 2
                           ? llvm::formatv("{0}x{1}", shape[0], shape[1]).str()
                           : std::to_string(shape[0]);
    std::string at = shape.size() == 2 ? "%c0, %c0" : "%c0";
    std::string text = llvm::formatv(R"(
      tile.kernel @scan(%x: memref<{0}xi32>, %y: memref<{0}xi32>) attributes {{num_warps = {1}} {{
        %c0 = arith.constant 0 : i32
        %v = tile.load %x[{2}] : memref<{0}xi32> -> {3}
        %s = tile.scan add axis {4} {5} %v : {3}
        tile.store %s, %y[{2}] : {3}, memref<{0}xi32>
        tile.return
      })",
                                     dims, 1 << warpBits, at, tensor, axis,
                                     inclusive ? "inclusive" : "exclusive");
    std::vector<int32_t> x(shape.size() == 2 ? shape[0] * shape[1] : shape[0]);
    for (int32_t &value : x)
      value = static_cast<int32_t>(random() % 100) - 20;
    Arguments arguments(runner.device());
    arguments.buffer(x);
    int32_t *y = arguments.buffer(std::vector<int32_t>(x.size()));
    ASSERT_EQ(runner.run(text, arguments), "");
    int32_t sum = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      if (i % shape.back() == 0)
        sum = 0;
      ASSERT_EQ(y[i], inclusive ? sum + x[i] : sum) << i << "\n" << text;
      sum += x[i];
    }
  }
}

} // namespace
