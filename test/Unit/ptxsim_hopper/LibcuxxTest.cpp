// Kernels of libcu++ (Inputs/async_copy.cu: cuda::barrier, cuda::pipeline,
// memcpy_async, cuda::ptx) as nvcc compiles them, under all schedules, with
// copies that arrive at once and as late as allowed.

#include "test/Unit/ptxsim_hopper/Kernel.h"

#include <fstream>
#include <numeric>
#include <sstream>

using namespace ptxsim;

namespace {

class Libcuxx : public testing::TestWithParam<std::tuple<Schedule, Async>> {
protected:
  void SetUp() override {
    DeviceOptions options;
    std::tie(options.schedule, options.async) = GetParam();
    device = std::make_unique<Device>(options);
    std::ifstream in(K2C_SOURCE_DIR
                     "/test/Unit/ptxsim_hopper/Inputs/async_copy.ptx");
    std::stringstream text;
    text << in.rdbuf();
    auto loaded = device->loadModule(text.str(), "async_copy.ptx");
    ASSERT_EQ(loaded.message(), "");
    module = *loaded;
  }
  /// 32-bit words counting up from `first`.
  uint64_t buffer(size_t n, int first, bool isFloat = false) {
    std::vector<int> v(n);
    std::iota(v.begin(), v.end(), first);
    if (isFloat)
      for (int &x : v)
        x = std::bit_cast<int>(float(x));
    auto p = device->allocate(n * 4, "buffer");
    EXPECT_TRUE(device->copyToDevice(*p, v.data(), n * 4).ok());
    return *p;
  }
  template <class T> std::vector<T> read(uint64_t p, size_t n) {
    std::vector<T> v(n);
    EXPECT_TRUE(device->copyToHost(v.data(), p, n * sizeof(T)).ok());
    return v;
  }
  template <class... A>
  void launch(const char *name, uint32_t grid, uint32_t block, A... args) {
    const void *params[] = {&args...};
    const Kernel *k = module->find(name);
    ASSERT_NE(k, nullptr);
    error = device->launch(*module, *k, {grid, 1, 1}, {block, 1, 1}, 0, params)
                .message();
  }
  void TearDown() override { EXPECT_EQ(error, ""); }
  std::string error;
  std::unique_ptr<Device> device;
  std::shared_ptr<Module> module;
};

TEST_P(Libcuxx, BarrierCopy) {
  uint64_t in = buffer(4096, 1, true), out = buffer(1024, 0);
  launch("barrier_copy", 1, 256, in, out, 4);
  auto got = read<float>(out, 1024);
  for (int k = 0; k < 4; ++k)
    for (int t = 0; t < 256; ++t)
      ASSERT_EQ(got[k * 256 + t], 1 + k * 1024 + (t ^ 1));
}

TEST_P(Libcuxx, PipelineCopy) {
  uint64_t in = buffer(7 * 1024, 1), out = buffer(7 * 1024, 0);
  launch("pipeline_copy", 1, 256, in, out, 7);
  auto got = read<int>(out, 7 * 1024);
  for (int i = 0; i < 7 * 1024; ++i)
    ASSERT_EQ(got[i], 1 + i / 1024 * 1024 + (255 - i / 4 % 256) * 4 + i % 4);
}

TEST_P(Libcuxx, ThreadPipeline) {
  uint64_t in = buffer(640, 5), out = buffer(640, 0);
  launch("thread_pipeline", 1, 128, in, out, 5);
  // The kernel has a fault: its last wait allows one open group, which is the
  // one that it reads then.
  EXPECT_THAT(error, testing::HasSubstr("ld.shared.u32: cta (0,0,0) warp "));
  EXPECT_THAT(error, testing::HasSubstr(
                         std::get<1>(GetParam()) != Async::Eager
                             ? "of shared memory are read, but"
                             : "a cp.async that writes it is in flight"));
  error.clear();
}

TEST_P(Libcuxx, BulkCopyAndReduction) {
  uint64_t in = buffer(3 * 2048, 7), out = buffer(3 * 2048, 0),
           sum = buffer(2048, 0);
  launch("bulk_copy", 3, 128, in, out, sum);
  auto got = read<int>(out, 3 * 2048), total = read<int>(sum, 2048);
  for (int i = 0; i < 3 * 2048; ++i)
    ASSERT_EQ(got[i], 7 + i + i % 2048);
  for (int i = 0; i < 2048; ++i)
    ASSERT_EQ(total[i], i + got[i] + got[i + 2048] + got[i + 4096]);
}

TEST_P(Libcuxx, TensorCopy) {
  const int n = 5;
  uint64_t in = buffer(n * 2048, 1, true), out = buffer(n * 2048, 0);
  TensorMapDesc d;
  d.type = TensorMapDesc::Float32;
  d.rank = 2;
  d.dims = {32, uint64_t(n * 64)};
  d.strides = {128};
  d.box = {32, 64};
  d.address = in;
  TensorMap from = *encodeTiled(d);
  d.address = out;
  TensorMap to = *encodeTiled(d);
  launch("tma_copy", 1, 128, from, to, n);
  auto got = read<float>(out, n * 2048);
  for (int i = 0; i < n * 2048; ++i)
    ASSERT_EQ(got[i], 2 * (1 + i));
}

INSTANTIATE_TEST_SUITE_P(
    Modes, Libcuxx,
    testing::Combine(testing::Values(Schedule::RoundRobin, Schedule::Reverse,
                                     Schedule::Random),
                     testing::Values(Async::Eager, Async::Lazy,
                                     Async::Random)));

} // namespace
