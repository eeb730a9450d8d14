//===- CudaDriverTest.cpp - The driver table over a fake libcuda ----------===//
// The library is found through the run path of this test's binary.
#include "FakeCuda.h"
#include "runtime/Device/Device.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thread>

using namespace k2rt;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {
class CudaDriverTest : public testing::Test {
protected:
  CudaDriverTest() {
    library_ = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    auto state = reinterpret_cast<FakeCudaState *(*)()>(
        library_ ? ::dlsym(library_, "fakeCudaState") : nullptr);
    if (state)
      *(state_ = state()) = FakeCudaState();
  }
  ~CudaDriverTest() override {
    if (library_)
      ::dlclose(library_);
  }
  void SetUp() override {
    ASSERT_NE(state_, nullptr) << "another libcuda.so.1 was found";
  }
  void *library_ = nullptr;
  FakeCudaState *state_ = nullptr;
};

TEST_F(CudaDriverTest, OpensADevice) {
  {
    auto device = Device::open("cuda:0");
    ASSERT_TRUE(device) << device.status().message();
    EXPECT_EQ((*device)->name(), "Fake H200 (compute capability 9.0)");
    EXPECT_FALSE((*device)->takesTextOnly());
    EXPECT_EQ(state_->retained, 1);
    LaunchCounters counters;
    EXPECT_FALSE((*device)->takeCounters(counters));
  }
  EXPECT_EQ(state_->retained, 0);
}

TEST_F(CudaDriverTest, SaysWhichDevicesThereAre) {
  auto device = Device::open("cuda:5");
  EXPECT_EQ(device.status().code(), StatusCode::Input);
  EXPECT_EQ(device.status().message(),
            "--device=cuda:5: expected a device number below 1, but got 5");
  state_->devices = 0;
  EXPECT_THAT(
      Device::open("cuda").status().message(),
      HasSubstr("cuDeviceGetCount: CUDA_ERROR_NO_DEVICE (100): a text"));
}

TEST_F(CudaDriverTest, MovesMemory) {
  auto device = Device::open("cuda");
  ASSERT_TRUE(device);
  {
    auto a = (*device)->allocate(8, "a"), b = (*device)->allocate(8, "b");
    ASSERT_TRUE(a && b);
    int32_t values[2] = {3, 4}, back[2] = {};
    EXPECT_TRUE((*device)->fill(a->pointer(), 0xff, 8).ok());
    EXPECT_TRUE((*device)->copyToDevice(a->pointer(), values, 4).ok());
    EXPECT_TRUE((*device)->copyOnDevice(b->pointer(), a->pointer(), 8).ok());
    EXPECT_TRUE((*device)->copyToHost(back, b->pointer(), 8).ok());
    EXPECT_THAT(back, ElementsAre(3, -1));
    EXPECT_EQ(state_->allocations, 2);
  }
  EXPECT_EQ(state_->allocations, 0);
  auto big = (*device)->allocate(2 << 20, "big");
  EXPECT_EQ(big.status().code(), StatusCode::Device);
  EXPECT_THAT(big.status().message(),
              HasSubstr("allocation of 2097152 bytes for 'big': "
                        "CUDA_ERROR_OUT_OF_MEMORY (2)"));
}

TEST_F(CudaDriverTest, PassesLaunchesOn) {
  auto device = Device::open("cuda");
  ASSERT_TRUE(device);
  auto module = (*device)->loadModule("text", ImageKind::PtxText, "a.ptx");
  ASSERT_TRUE(module);
  EXPECT_EQ(state_->modules.back(), "text");
  auto function = (*device)->function(*module, "entry");
  ASSERT_TRUE(function);
  const DriverTable &table = (*device)->table();
  size_t count = 0, bytes = 0;
  EXPECT_EQ(table.funcGetParams(table.self, *function, &count, &bytes), 0);
  EXPECT_EQ(count, 2u);
  EXPECT_EQ(bytes, 12u);
  EXPECT_EQ(table.funcSetSharedBytes(table.self, *function, 100000), 0);

  uint64_t pointer = 0x7f0012345678;
  int32_t number = -5;
  void *params[] = {&pointer, &number};
  LaunchConfig config{{2, 3, 4}, {128, 1, 1}, {2, 1, 1}, 100000, true, nullptr};
  // Another thread has no current context of its own.
  std::thread([&] {
    EXPECT_TRUE((*device)->launch(*function, config, params).ok());
  }).join();
  ASSERT_EQ(state_->launches.size(), 1u);
  const FakeCudaState::Launch &launch = state_->launches[0];
  EXPECT_THAT(launch.dims, ElementsAre(2, 3, 4, 128, 1, 1));
  EXPECT_THAT(launch.cluster, ElementsAre(2, 1, 1));
  EXPECT_EQ(launch.sharedBytes, 100000u);
  EXPECT_EQ(launch.programmatic, 1);
  EXPECT_EQ(launch.pointer, pointer);
  EXPECT_EQ(launch.number, number);

  config.cluster[0] = 1;
  config.programmatic = false;
  ASSERT_TRUE((*device)->launch(*function, config, params).ok());
  EXPECT_THAT(state_->launches[1].cluster, ElementsAre(0, 0, 0));
  EXPECT_EQ(state_->launches[1].programmatic, 0);
  config.grid[0] = 13;
  Status fault = (*device)->launch(*function, config, params);
  EXPECT_EQ(fault.code(), StatusCode::Device);
  EXPECT_THAT(fault.message(),
              HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS (700): a text, on Fake "
                        "H200 (compute capability 9.0)"));
}

TEST_F(CudaDriverTest, ShowsTheCompilersLog) {
  auto device = Device::open("cuda");
  ASSERT_TRUE(device);
  auto module = (*device)->loadModule("nonsense", ImageKind::PtxText, "k.ptx");
  EXPECT_EQ(module.status().code(), StatusCode::Input);
  EXPECT_EQ(module.status().message(),
            "k.ptx: cannot be loaded: CUDA_ERROR_INVALID_PTX (218): a PTX JIT "
            "compilation failed, on Fake H200 (compute capability 9.0); line "
            "3: what is nonsense?");
}
} // namespace
