// Kernels of different contexts can be emitted at once, with the same bytes.
#include "TileRunner.h"

#include "gtest/gtest.h"

#include <thread>

using namespace k2c::test;

TEST(Threads, TwoContextsEmitAtOnce) {
  const std::string text = R"(
    tile.kernel @sum(%x: memref<?x96xf32>, %y: memref<?x1xf32>) attributes {num_warps = 2} {
      %t = tile.cta_id x
      %c0 = arith.constant 0 : i32
      %v = tile.load %x[%t, %c0] : memref<?x96xf32> -> tensor<1x96xf32>
      %s = tile.reduce add axis 1 %v : tensor<1x96xf32> -> tensor<1x1xf32>
      tile.store %s, %y[%t, %c0] : tensor<1x1xf32>, memref<?x1xf32>
      tile.return
    })";
  std::string errors[4], ptx[4];
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      TileRunner runner;
      Arguments arguments(runner.device());
      arguments.buffer(std::vector<float>(96, 0.5f));
      arguments.i32(1);
      float *y = arguments.buffer(std::vector<float>(1));
      arguments.i32(1);
      errors[i] = runner.run(text, arguments, {}, /*infer=*/true);
      if (errors[i].empty() && *y != 48.0f)
        errors[i] = "wrong sum";
      ptx[i] = runner.ptx();
    });
  for (std::thread &thread : threads)
    thread.join();
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(errors[i], "");
    EXPECT_EQ(ptx[i], ptx[0]);
  }
  EXPECT_NE(ptx[0], "");
}
