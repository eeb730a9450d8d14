// Layout conversions, broadcasts, regroupings and coordinates: every element
// ends where it belongs.
#include "TileRunner.h"

#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

using namespace k2c;
using namespace k2c::test;

namespace {

std::vector<float> numbers(size_t count) {
  std::vector<float> result(count);
  for (size_t i = 0; i < count; ++i)
    result[i] = static_cast<float>(i);
  return result;
}

TEST(Shape, ConvertLayoutKeepsTheTile) {
  std::mt19937 random(9);
  TileRunner runner;
  for (int trial = 0; trial < 40; ++trial) {
    const std::vector<std::vector<int64_t>> shapes = {
        {8, 32}, {16, 48}, {1, 128}, {4, 4}, {12, 16}, {3, 5}, {24, 256}};
    std::vector<int64_t> shape = shapes[random() % shapes.size()];
    unsigned warpBits = random() % 3;
    auto from = randomLayout(random, shape, warpBits, trial % 2),
         to = randomLayout(random, shape, warpBits, trial % 3 == 0);
    const char *element = trial % 5 == 0   ? "bf16"
                          : trial % 5 == 1 ? "i8"
                                           : "f32";
    size_t size = trial % 5 == 0 ? 2 : trial % 5 == 1 ? 1 : 4;
    std::string view =
        llvm::formatv("memref<{0}x{1}x{2}>", shape[0], shape[1], element);
    std::string text =
        llvm::formatv(R"(
      tile.kernel @convert(%x: {0}, %y: {0}) attributes {{num_warps = {1}} {{
        %c0 = arith.constant 0 : i32
        %v = tile.load %x[%c0, %c0] : {0} -> {2}
        %w = tile.convert_layout %v : {2} -> {3}
        tile.store %w, %y[%c0, %c0] : {3}, {0}
        tile.return
      })",
                      view, 1 << warpBits, tensorText(runner, from, element),
                      tensorText(runner, to, element));
    std::vector<uint8_t> x(shape[0] * shape[1] * size);
    for (uint8_t &byte : x)
      byte = static_cast<uint8_t>(random());
    Arguments arguments(runner.device());
    arguments.buffer(x);
    uint8_t *y = arguments.buffer(std::vector<uint8_t>(x.size()));
    ASSERT_EQ(runner.run(text, arguments), "");
    for (size_t i = 0; i < x.size(); ++i)
      ASSERT_EQ(y[i], x[i]) << i << "\n" << text;
  }
}

/// The registers and lanes of `layout` in another arrangement: every warp keeps
/// its elements.
tile::LinearLayout rearranged(std::mt19937 &random,
                              const tile::LinearLayout &layout, bool mixed) {
  tile::PackedBases bases = layout.allBases();
  std::vector<uint64_t> images = bases[tile::kReg];
  images.insert(images.end(), bases[tile::kLane].begin(),
                bases[tile::kLane].end());
  for (unsigned step = 0; mixed && step < 3 * images.size(); ++step) {
    size_t i = random() % images.size(), j = random() % images.size();
    if (i != j)
      images[i] ^= images[j];
  }
  std::shuffle(images.begin(), images.end(), random);
  bases[tile::kLane].assign(images.begin(), images.begin() + 5);
  bases[tile::kReg].assign(images.begin() + 5, images.end());
  return tile::LinearLayout(layout.shape(), bases);
}

TEST(Shape, ConvertLayoutInsideAWarp) {
  std::mt19937 random(16);
  TileRunner runner;
  int withoutBarrier = 0;
  for (int trial = 0; trial < 60; ++trial) {
    const std::vector<std::vector<int64_t>> shapes = {
        {8, 32}, {16, 48}, {1, 128}, {4, 4}, {12, 16}, {16, 16}, {2, 8, 24}};
    std::vector<int64_t> shape = shapes[random() % shapes.size()];
    unsigned warpBits = random() % 2;
    auto from = randomLayout(random, shape, warpBits, trial % 4 == 0);
    auto to = rearranged(random, from, trial % 3 == 0);
    const char *elements[] = {"f32", "bf16", "i8", "i32"};
    const char *element = elements[trial % 4];
    size_t size = trial % 4 == 1 ? 2 : trial % 4 == 2 ? 1 : 4;
    std::string view = "memref<", indices;
    size_t count = 1;
    for (int64_t extent : shape) {
      view += std::to_string(extent) + "x";
      indices += indices.empty() ? "%c0" : ", %c0";
      count *= extent;
    }
    view += std::string(element) + ">";
    std::string text =
        llvm::formatv(R"(
      tile.kernel @convert(%x: {0}, %y: {0}) attributes {{num_warps = {1}} {{
        %c0 = arith.constant 0 : i32
        %v = tile.load %x[{4}] : {0} -> {2}
        %w = tile.convert_layout %v : {2} -> {3}
        tile.store %w, %y[{4}] : {3}, {0}
        tile.return
      })",
                      view, 1 << warpBits, tensorText(runner, from, element),
                      tensorText(runner, to, element), indices);
    std::vector<uint8_t> x(count * size);
    for (uint8_t &byte : x)
      byte = static_cast<uint8_t>(random());
    Arguments arguments(runner.device());
    arguments.buffer(x);
    uint8_t *y = arguments.buffer(std::vector<uint8_t>(x.size()));
    ASSERT_EQ(runner.run(text, arguments), "");
    withoutBarrier += runner.ptx().find("bar.sync") == std::string::npos;
    for (size_t i = 0; i < x.size(); ++i)
      ASSERT_EQ(y[i], x[i]) << i << "\n" << text;
  }
  // Shuffles and selects serve nearly all of them.
  EXPECT_GT(withoutBarrier, 45);
}

TEST(Shape, ConvertLayoutOfPredicates) {
  std::mt19937 random(17);
  TileRunner runner;
  for (int trial = 0; trial < 8; ++trial) {
    auto from = randomLayout(random, {8, 48}, 1, false);
    auto to = trial % 2 ? rearranged(random, from, true)
                        : randomLayout(random, {8, 48}, 1, true);
    std::string text = llvm::formatv(
        R"(
      tile.kernel @predicates(%x: memref<8x48xi32>, %y: memref<8x48xi32>) attributes {{num_warps = 2} {{
        %c0 = arith.constant 0 : i32
        %v = tile.load %x[%c0, %c0] : memref<8x48xi32> -> {0}
        %limit = arith.constant dense<50> : {0}
        %p = arith.cmpi slt, %v, %limit : {0}
        %q = tile.convert_layout %p : {1} -> {2}
        %one = arith.constant dense<1> : {3}
        %two = arith.constant dense<2> : {3}
        %s = arith.select %q, %one, %two : {2}, {3}
        tile.store %s, %y[%c0, %c0] : {3}, memref<8x48xi32>
        tile.return
      })",
        tensorText(runner, from, "i32"), tensorText(runner, from, "i1"),
        tensorText(runner, to, "i1"), tensorText(runner, to, "i32"));
    std::vector<int32_t> x(8 * 48);
    for (int32_t &value : x)
      value = static_cast<int32_t>(random() % 100);
    Arguments arguments(runner.device());
    arguments.buffer(x);
    int32_t *y = arguments.buffer(std::vector<int32_t>(x.size()));
    ASSERT_EQ(runner.run(text, arguments), "");
    for (size_t i = 0; i < x.size(); ++i)
      ASSERT_EQ(y[i], x[i] < 50 ? 1 : 2) << i << "\n" << text;
  }
}

TEST(Shape, ScratchIsReusedSafely) {
  // Conversions and reductions in a loop share one scratch region; a missing
  // barrier would show as a wrong or torn value.
  std::mt19937 random(10);
  TileRunner runner;
  auto a = randomLayout(random, {16, 32}, 2, false),
       b = randomLayout(random, {16, 32}, 2, false);
  std::string ta = tensorText(runner, a, "f32"),
              tb = tensorText(runner, b, "f32"),
              ts = tensorText(runner, a.slice(1, true), "f32");
  std::string text = llvm::formatv(R"(
    tile.kernel @loop(%x: memref<16x32xf32>, %y: memref<16x32xf32>, %n: i32) attributes {{num_warps = 4} {{
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %v = tile.load %x[%c0, %c0] : memref<16x32xf32> -> {0}
      %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %v) -> ({0}) : i32 {{
        %s = tile.reduce maximum axis 1 %t : {0} -> {2}
        %e = tile.broadcast %s : {2} -> {0}
        %d = arith.subf %e, %t : {0}
        %c = tile.convert_layout %d : {0} -> {1}
        %back = tile.convert_layout %c : {1} -> {0}
        scf.yield %back : {0}
      }
      tile.store %r, %y[%c0, %c0] : {0}, memref<16x32xf32>
      tile.return
    })",
                                   ta, tb, ts);
  std::vector<float> x(512);
  for (float &value : x)
    value = static_cast<float>(random() % 1000);
  std::vector<float> expected = x;
  for (int step = 0; step < 5; ++step)
    for (int row = 0; row < 16; ++row) {
      float *first = expected.data() + row * 32;
      float largest = *std::max_element(first, first + 32);
      for (int column = 0; column < 32; ++column)
        first[column] = largest - first[column];
    }
  Arguments arguments(runner.device());
  arguments.buffer(x);
  float *y = arguments.buffer(std::vector<float>(512));
  arguments.i32(5);
  ASSERT_EQ(runner.run(text, arguments), "");
  for (int i = 0; i < 512; ++i)
    ASSERT_EQ(y[i], expected[i]) << i;
}

TEST(Shape, BroadcastIotaReshapeTransposeSlice) {
  std::mt19937 random(11);
  TileRunner runner;
  for (int trial = 0; trial < 16; ++trial) {
    unsigned warpBits = random() % 3;
    auto layout = randomLayout(random, {8, 48}, warpBits, trial % 4 == 3);
    auto flat = layout.reshape({8, 6, 8});
    ASSERT_TRUE(flat.has_value());
    auto turned = layout.transpose({1, 0});
    bool pure = trial % 4 != 3;
    std::string t = tensorText(runner, layout, "f32"),
                i = tensorText(runner, layout, "i32");
    std::string column =
        pure ? tensorText(runner, layout.slice(1, true), "f32") : t;
    auto last = layout.sliceRange(1, 32, 16);
    ASSERT_TRUE(last.has_value());
    std::string body = llvm::formatv(R"(
        %v = tile.load %x[%c0, %c0] : memref<8x48xf32> -> {0}
        %r = tile.reshape %v : {0} -> {1}
        tile.store %r, %a[%c0, %c0, %c0] : {1}, memref<8x6x8xf32>
        %t = tile.transpose %v [1, 0] : {0} -> {2}
        tile.store %t, %b[%c0, %c0] : {2}, memref<48x8xf32>
        %row = tile.iota axis 0 : {3}
        %col = tile.iota axis 1 : {3}
        %c100 = arith.constant dense<100> : {3}
        %p = arith.muli %row, %c100 : {3}
        %q = arith.addi %p, %col : {3}
        %f = arith.sitofp %q : {3} to {0}
        tile.store %f, %c[%c0, %c0] : {0}, memref<8x48xf32>
        %s = tile.slice %v [0, 32] : {0} -> {4}
        tile.store %s, %d[%c0, %c0] : {4}, memref<8x16xf32>)",
                                     t, tensorText(runner, *flat, "f32"),
                                     tensorText(runner, turned, "f32"), i,
                                     tensorText(runner, *last, "f32"));
    if (pure)
      body += llvm::formatv(R"(
        %m = tile.load %x[%c0, %c0] bounds [%c8] : memref<8x48xf32> -> {0}
        %w = tile.broadcast %m : {0} -> {1}
        tile.store %w, %e[%c0, %c0] : {1}, memref<8x48xf32>)",
                            column, t);
    std::string text = llvm::formatv(R"(
      tile.kernel @shapes(%x: memref<8x48xf32>, %a: memref<8x6x8xf32>, %b: memref<48x8xf32>, %c: memref<8x48xf32>, %d: memref<8x16xf32>,
                          %e: memref<8x48xf32>) attributes {{num_warps = {0}} {{
        %c0 = arith.constant 0 : i32
        %c8 = arith.constant 8 : i32
        {1}
        tile.return
      })",
                                     1 << warpBits, body);
    Arguments arguments(runner.device());
    std::vector<float> x = numbers(8 * 48), empty(8 * 48, -1.0f);
    arguments.buffer(x);
    float *a = arguments.buffer(empty), *b = arguments.buffer(empty),
          *c = arguments.buffer(empty),
          *d = arguments.buffer(std::vector<float>(8 * 16)),
          *e = arguments.buffer(empty);
    ASSERT_EQ(runner.run(text, arguments), "");
    for (int r = 0; r < 8; ++r)
      for (int q = 0; q < 48; ++q) {
        ASSERT_EQ(a[r * 48 + q], x[r * 48 + q]) << text;
        ASSERT_EQ(b[q * 8 + r], x[r * 48 + q]) << text;
        ASSERT_EQ(c[r * 48 + q], r * 100 + q) << text;
        if (q >= 32) {
          ASSERT_EQ(d[r * 16 + q - 32], x[r * 48 + q]) << text;
        }
        if (pure) {
          ASSERT_EQ(e[r * 48 + q], x[r * 48]) << text;
        }
      }
  }
}

} // namespace
