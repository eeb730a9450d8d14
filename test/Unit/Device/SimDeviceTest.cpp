//===- SimDeviceTest.cpp - The driver table over the simulator ------------===//
#include "runtime/Device/Device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace k2rt;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {
/// data[i] = data[i] + n for i < 32.
constexpr const char *kAdd = R"(.version 8.4
.target sm_90a
.address_size 64
.visible .entry add(.param .u64 data, .param .u32 n)
{
    .reg .b32 %i, %n, %v;
    .reg .b64 %p, %a;
    mov.u32 %i, %tid.x;
    ld.param.u64 %p, [data];
    cvta.to.global.u64 %p, %p;
    mul.wide.u32 %a, %i, 4;
    add.s64 %p, %p, %a;
    ld.global.u32 %v, [%p];
    ld.param.u32 %n, [n];
    add.s32 %v, %v, %n;
    st.global.u32 [%p], %v;
    ret;
}
)";

class SimDeviceTest : public testing::Test {
protected:
  void SetUp() override {
    auto device = Device::open("sim");
    ASSERT_TRUE(device) << device.status().message();
    device_ = std::move(*device);
    auto module = device_->loadModule(kAdd, ImageKind::PtxText, "add.ptx");
    ASSERT_TRUE(module) << module.status().message();
    module_ = *module;
    auto function = device_->function(module_, "add");
    ASSERT_TRUE(function) << function.status().message();
    add_ = *function;
    auto memory = device_->allocate(128, "data");
    ASSERT_TRUE(memory);
    data_ = std::move(*memory);
    ASSERT_TRUE(device_->fill(data_.pointer(), 0, 128).ok());
  }
  void TearDown() override {
    data_ = DeviceMemory();
    if (device_)
      device_->unloadModule(module_);
  }

  Status launch(int32_t n, StreamHandle stream = nullptr,
                uint32_t threads = 32) {
    uint64_t pointer = data_.pointer();
    void *params[] = {&pointer, &n};
    LaunchConfig config{{1, 1, 1}, {threads, 1, 1}, {1, 1, 1},
                        0,         false,           stream};
    return device_->launch(add_, config, params);
  }
  int32_t first() {
    int32_t value = -1;
    EXPECT_TRUE(device_->copyToHost(&value, data_.pointer(), 4).ok());
    return value;
  }

  std::unique_ptr<Device> device_;
  ModuleHandle module_ = nullptr;
  FunctionHandle add_ = nullptr;
  DeviceMemory data_;
};

TEST_F(SimDeviceTest, RunsAKernelAndCountsIt) {
  EXPECT_EQ(device_->name(), "sim");
  ASSERT_TRUE(launch(5).ok());
  EXPECT_EQ(first(), 5);
  LaunchCounters counters;
  ASSERT_TRUE(device_->takeCounters(counters));
  EXPECT_EQ(counters.warpInstructions, 10u); // one warp, ten lines
  EXPECT_EQ(counters.tensorFlops, 0u);
  LaunchCounters none;
  ASSERT_TRUE(device_->takeCounters(none));
  EXPECT_EQ(none.warpInstructions, 0u);
}

TEST_F(SimDeviceTest, TellsTheParametersOfAKernel) {
  size_t count = 0, bytes = 0;
  const DriverTable &table = device_->table();
  ASSERT_EQ(table.funcGetParams(table.self, add_, &count, &bytes), 0);
  EXPECT_EQ(count, 2u);
  EXPECT_EQ(bytes, 12u);
}

TEST_F(SimDeviceTest, FaultsNameTheAllocation) {
  Status status = launch(1, nullptr, 64);
  EXPECT_EQ(status.code(), StatusCode::Device);
  EXPECT_THAT(status.message(), HasSubstr("add.ptx"));
  EXPECT_THAT(status.message(), HasSubstr("data"));
}

TEST_F(SimDeviceTest, BadTextIsBadInput) {
  auto module = device_->loadModule(".version 8.4\n.target sm_90a\nnonsense",
                                    ImageKind::PtxText, "bad.ptx");
  EXPECT_EQ(module.status().code(), StatusCode::Input);
  EXPECT_THAT(module.status().message(), HasSubstr("bad.ptx"));
  EXPECT_THAT(device_->function(module_, "sub").status().message(),
              HasSubstr("entry 'sub': expected an entry of that name"));
  EXPECT_THAT(
      device_->loadModule("x", ImageKind::Cubin, "a.cubin").status().message(),
      HasSubstr("expected PTX text, but got a cubin"));
}

TEST_F(SimDeviceTest, AGraphReplaysWhatWasCaptured) {
  const DriverTable &t = device_->table();
  StreamHandle stream = nullptr;
  GraphHandle graph = nullptr;
  GraphExecHandle exec = nullptr;
  ASSERT_EQ(t.streamCreate(t.self, &stream), 0);
  ASSERT_EQ(t.streamBeginCapture(t.self, stream), 0);
  EXPECT_NE(t.streamBeginCapture(t.self, stream), 0);
  ASSERT_TRUE(launch(2, stream).ok());
  ASSERT_TRUE(launch(40, stream).ok());
  EXPECT_EQ(first(), 0) << "captured, not run";
  ASSERT_EQ(t.streamEndCapture(t.self, stream, &graph), 0);
  ASSERT_EQ(t.graphInstantiate(t.self, &exec, graph), 0);
  ASSERT_EQ(t.graphDestroy(t.self, graph), 0);
  ASSERT_EQ(t.graphLaunch(t.self, exec, stream), 0);
  EXPECT_EQ(first(), 42);
  ASSERT_EQ(t.graphLaunch(t.self, exec, stream), 0);
  EXPECT_EQ(first(), 84);
  EXPECT_EQ(t.graphExecDestroy(t.self, exec), 0);
  EXPECT_EQ(t.streamDestroy(t.self, stream), 0);
}
} // namespace
