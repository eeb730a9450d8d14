// Loads, stores, gathers and scatters: random layouts, tails, bounds and
// starts. The simulator faults on any access outside a buffer, and what must
// not be written keeps a sentinel.
#include "TileRunner.h"

#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

using namespace k2c;
using namespace k2c::test;

namespace {

constexpr int32_t kSentinel = -7;

TEST(Access, CopiesInsideExtentsAndBoundsOnly) {
  std::mt19937 random(1);
  TileRunner runner;
  const std::vector<std::vector<int64_t>> shapes = {
      {8, 32}, {1, 96}, {12, 16}, {3, 8}, {4, 4}, {1, 1}, {2, 160}};
  for (int trial = 0; trial < 60; ++trial) {
    std::vector<int64_t> shape = shapes[random() % shapes.size()];
    unsigned warpBits = random() % 3;
    auto layout = randomLayout(random, shape, warpBits, trial % 3 == 0);
    std::string tensor = tensorText(runner, layout, "i32");
    int64_t rows = 1 + random() % 20, columns = 1 + random() % 200,
            pitch = columns + random() % 5;
    if (trial % 2)
      columns = (columns + 7) / 8 * 8, pitch = columns + 8 * (random() % 2);
    int32_t row = static_cast<int32_t>(random() % 24) - 4,
            column = static_cast<int32_t>(random() % 100) - 8;
    if (trial % 4 == 1)
      column = 0;
    int32_t rowBound = static_cast<int32_t>(random() % 24) - 2,
            columnBound = static_cast<int32_t>(random() % 200) - 2;
    // The start is an argument or a constant: what is known about it decides
    // vectors and masks.
    std::string c =
        random() % 2
            ? llvm::formatv("%c = arith.constant {0} : i32", column).str()
            : "%c = arith.addi %column, %zero : i32";
    std::string view =
        llvm::formatv("memref<?x{0}xi32, strided<[{1}, 1]>>", columns, pitch);
    std::string text = llvm::formatv(R"(
      tile.kernel @copy(%x: {0}, %y: {0}, %row: i32, %column: i32, %rb: i32, %cb: i32) attributes {{num_warps = {1}} {{
        %zero = arith.constant 0 : i32
        {2}
        %v = tile.load %x[%row, %c] bounds [%rb] : {0} -> {3}
        %f = arith.sitofp %v : {3} to {4}
        %one = arith.constant dense<1.0> : {4}
        %g = arith.addf %f, %one : {4}
        %w = arith.fptosi %g : {4} to {3}
        tile.store %w, %y[%row, %c] bounds [%rb, %cb] : {3}, {0}
        tile.return
      })",
                                     view, 1 << warpBits, c, tensor,
                                     tensorText(runner, layout, "f32"));
    std::vector<int32_t> x(((rows - 1) * pitch + columns)),
        y(x.size(), kSentinel);
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = static_cast<int32_t>(i);
    Arguments arguments(runner.device());
    arguments.buffer(x);
    arguments.i32(rows);
    int32_t *result = arguments.buffer(y);
    arguments.i32(rows);
    for (int32_t value : {row, column, rowBound, columnBound})
      arguments.i32(value);
    ASSERT_EQ(runner.run(text, arguments), "");
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t q = 0;
           q < pitch && r * pitch + q < static_cast<int64_t>(y.size()); ++q) {
        bool inTile = r >= row && r < row + shape[0] && q >= column &&
                      q < column + shape[1];
        bool stored = inTile && q < columns && r < rowBound && q < columnBound;
        int32_t expected =
            stored ? static_cast<int32_t>(r * pitch + q) + 1 : kSentinel;
        ASSERT_EQ(result[r * pitch + q], expected)
            << "element " << r << ", " << q << "\n"
            << text;
      }
  }
}

TEST(Access, MaskedElementsReadZero) {
  TileRunner runner;
  std::mt19937 random(2);
  auto layout = randomLayout(random, {8, 16}, 1, false);
  std::string tensor = tensorText(runner, layout, "f32");
  std::string text = llvm::formatv(R"(
    tile.kernel @zero(%x: memref<?x12xf32>, %y: memref<8x16xf32>) attributes {{num_warps = 2} {{
      %c0 = arith.constant 0 : i32
      %v = tile.load %x[%c0, %c0] : memref<?x12xf32> -> {0}
      tile.store %v, %y[%c0, %c0] : {0}, memref<8x16xf32>
      tile.return
    })",
                                   tensor);
  Arguments arguments(runner.device());
  arguments.buffer(std::vector<float>(5 * 12, 3.0f));
  arguments.i32(5);
  float *y = arguments.buffer(std::vector<float>(8 * 16, -1.0f));
  ASSERT_EQ(runner.run(text, arguments), "");
  for (int r = 0; r < 8; ++r)
    for (int c = 0; c < 16; ++c)
      EXPECT_EQ(y[r * 16 + c], r < 5 && c < 12 ? 3.0f : 0.0f) << r << ", " << c;
}

TEST(Access, BytesAndHalfWordsInVectors) {
  std::mt19937 random(3);
  TileRunner runner;
  struct Element {
    const char *name;
    int size;
  };
  for (Element element : {Element{"f8E4M3FN", 1}, Element{"i8", 1},
                          Element{"bf16", 2}, Element{"f16", 2}})
    for (int trial = 0; trial < 6; ++trial) {
      auto layout = randomLayout(random, {4, 96}, trial % 2, trial % 3 == 2);
      std::string tensor = tensorText(runner, layout, element.name);
      std::string view = llvm::formatv("memref<?x96x{0}>", element.name);
      std::string text = llvm::formatv(R"(
        tile.kernel @move(%x: {0}, %y: {0}) attributes {{num_warps = {1}} {{
          %c0 = arith.constant 0 : i32
          %v = tile.load %x[%c0, %c0] : {0} -> {2}
          tile.store %v, %y[%c0, %c0] : {2}, {0}
          tile.return
        })",
                                       view, 1 << trial % 2, tensor);
      std::vector<uint8_t> x(3 * 96 * element.size), y(x.size());
      for (uint8_t &byte : x)
        byte = static_cast<uint8_t>(random());
      Arguments arguments(runner.device());
      arguments.buffer(x);
      arguments.i32(3);
      uint8_t *result = arguments.buffer(y);
      arguments.i32(3);
      ASSERT_EQ(runner.run(text, arguments), "");
      for (size_t i = 0; i < x.size(); ++i)
        ASSERT_EQ(result[i], x[i]) << element.name << " byte " << i;
    }
}

TEST(Access, GatherAndScatterSkipRowsOutside) {
  std::mt19937 random(4);
  TileRunner runner;
  for (int trial = 0; trial < 12; ++trial) {
    unsigned warpBits = trial % 3;
    auto layout = randomLayout(random, {8, 24}, warpBits, false);
    std::string tensor = tensorText(runner, layout, "f32"),
                rowsTensor = tensorText(runner, layout.slice(1), "i32");
    std::string text = llvm::formatv(R"(
      tile.kernel @rows(%x: memref<?x40xf32>, %y: memref<2x?x24xf32, strided<[480, 24, 1]>>, %from: memref<8xi32>, %to: memref<8xi32>)
          attributes {{num_warps = {0}} {{
        %c0 = arith.constant 0 : i32
        %c1 = arith.constant 1 : i32
        %c16 = arith.constant 16 : i32
        %f = tile.load %from[%c0] : memref<8xi32> -> {2}
        %t = tile.load %to[%c0] : memref<8xi32> -> {2}
        %v = tile.gather %x[%c16] rows %f : memref<?x40xf32>, {2} -> {1}
        tile.scatter %v, %y[%c1, %c0] rows %t : {1}, memref<2x?x24xf32, strided<[480, 24, 1]>>, {2}
        tile.return
      })",
                                     1 << warpBits, tensor, rowsTensor);
    std::vector<int32_t> from = {3, -1, 0, 100, 6, 6, 2, 7},
                         to = {0, 1, 19, 4, -5, 20, 7, 2};
    std::vector<float> x(7 * 40), y(2 * 20 * 24, -1.0f);
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = static_cast<float>(i);
    Arguments arguments(runner.device());
    arguments.buffer(x);
    arguments.i32(7);
    float *result = arguments.buffer(y);
    arguments.i32(20);
    arguments.buffer(from);
    arguments.buffer(to);
    ASSERT_EQ(runner.run(text, arguments), "");
    std::vector<float> expected = y;
    for (int r = 0; r < 8; ++r)
      for (int c = 0; c < 24 && to[r] >= 0 && to[r] < 20; ++c)
        expected[480 + to[r] * 24 + c] =
            from[r] >= 0 && from[r] < 7 ? x[from[r] * 40 + 16 + c] : 0.0f;
    for (size_t i = 0; i < expected.size(); ++i)
      ASSERT_EQ(result[i], expected[i]) << i << "\n" << text;
  }
}

TEST(Access, ScalarsAreUniformAndStoredOnce) {
  TileRunner runner;
  std::string text = R"(
    tile.kernel @scalars(%x: memref<?x5xi32>, %y: memref<?xf32>, %s: f32) attributes {num_warps = 4} {
      %i = tile.cta_id x
      %j = tile.cta_id y
      %v = tile.load_scalar %x[%i, %j] : memref<?x5xi32> -> i32
      %f = arith.sitofp %v : i32 to f32
      %p = arith.mulf %f, %s : f32
      tile.store_scalar %p, %y[%v] : f32, memref<?xf32>
      tile.return
    })";
  std::vector<int32_t> x = {9, 8, 7, 6, 5, 4, 3, 2, 1, 0};
  Arguments arguments(runner.device());
  arguments.buffer(x);
  arguments.i32(2);
  float *y = arguments.buffer(std::vector<float>(10, -1.0f));
  arguments.i32(10);
  arguments.f32(0.5f);
  ASSERT_EQ(runner.run(text, arguments, {2, 5, 1}), "");
  for (int i = 0; i < 10; ++i)
    EXPECT_EQ(y[i], 0.5f * i);
}

TEST(Access, FaultsNameTheModuleAndTheOp) {
  TileRunner runner;
  std::string text = R"(
    tile.kernel @far(%x: memref<4xi32>, %y: memref<4xi32>, %i: i32) attributes {num_warps = 1} {
      %v = tile.load_scalar %x[%i] : memref<4xi32> -> i32 loc("dense.kv_a_layernorm")
      %c0 = arith.constant 0 : i32
      tile.store_scalar %v, %y[%c0] : i32, memref<4xi32> loc("dense.kv_a_layernorm")
      tile.return
    } loc("dense.kv_a_layernorm"))";
  Arguments arguments(runner.device());
  arguments.buffer(std::vector<int32_t>(4));
  arguments.buffer(std::vector<int32_t>(4));
  arguments.i32(4);
  std::string fault = runner.run(text, arguments);
  EXPECT_NE(fault.find("ld.global"), std::string::npos) << fault;
  EXPECT_NE(fault.find("dense.kv_a_layernorm/tile.load_scalar"),
            std::string::npos)
      << fault;
}

} // namespace
