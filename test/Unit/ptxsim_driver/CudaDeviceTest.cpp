// k2c's device over NVIDIA's driver API (`--device=cuda`), with libptxsim.so in
// libcuda's place: every function of its table does what the simulator's own
// table does.

#include "runtime/Device/Device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <vector>

using namespace k2rt;

namespace {
const std::string text = R"(.version 8.4
.target sm_90a
.address_size 64
.extern .shared .align 4 .b8 s[];
.visible .entry add(.param .u64 x, .param .u32 value) {
  .reg .b64 %x, %o; .reg .b32 %i, %v, %w, %a;
  ld.param.u64 %x, [x]; ld.param.u32 %v, [value]; mov.u32 %i, %tid.x; mul.wide.u32 %o, %i, 4; add.u64 %x, %x, %o;
  ld.global.u32 %w, [%x]; add.u32 %w, %w, %v; st.global.u32 [%x], %w; mov.u32 %a, s; ret;
}
)";

class OverCuda : public testing::Test {
protected:
  void SetUp() override {
    Expected<std::unique_ptr<Device>> opened = Device::open("cuda");
    ASSERT_TRUE(opened) << opened.status().message();
    device = std::move(*opened);
  }
  FunctionHandle add() {
    Expected<ModuleHandle> module =
        device->loadModule(text, ImageKind::PtxText, "add.ptx");
    EXPECT_TRUE(module) << module.status().message();
    Expected<FunctionHandle> function = device->function(*module, "add");
    EXPECT_TRUE(function) << function.status().message();
    return *function;
  }
  int launch(FunctionHandle f, DevicePtr x, uint32_t value, StreamHandle stream,
             uint32_t shared = 0) {
    LaunchConfig config{{1, 1, 1}, {4, 1, 1}, {1, 1, 1}, shared, true, stream};
    void *params[] = {&x, &value};
    return device->table().launchKernel(device->table().self, f, &config,
                                        params);
  }
  std::unique_ptr<Device> device;
};

TEST_F(OverCuda, MemoryAndLaunches) {
  EXPECT_THAT(device->name(), testing::HasSubstr("(ptxsim) (compute capability "
                                                 "9.0)"));
  std::vector<uint32_t> values{1, 2, 3, 4}, back(4);
  Expected<DeviceMemory> a = device->allocate(16, "a"),
                         b = device->allocate(16, "b");
  ASSERT_TRUE(a && b);
  ASSERT_TRUE(device->copyToDevice(a->pointer(), values.data(), 16).ok());
  FunctionHandle f = add();
  size_t count = 0, bytes = 0;
  EXPECT_EQ(
      device->table().funcGetParams(device->table().self, f, &count, &bytes),
      0);
  EXPECT_EQ(count, 2u);
  EXPECT_EQ(bytes, 12u);
  EXPECT_EQ(launch(f, a->pointer(), 10, nullptr), 0);
  EXPECT_NE(launch(f, a->pointer(), 10, nullptr, 100000), 0);
  EXPECT_EQ(device->table().funcSetSharedBytes(device->table().self, f, 100000),
            0);
  EXPECT_EQ(launch(f, a->pointer(), 10, nullptr, 100000), 0);
  ASSERT_TRUE(device->copyOnDevice(b->pointer(), a->pointer(), 16).ok());
  ASSERT_TRUE(device->fill(b->pointer(), 0, 4).ok());
  ASSERT_TRUE(device->copyToHost(back.data(), b->pointer(), 16).ok());
  EXPECT_EQ(back, (std::vector<uint32_t>{0, 22, 23, 24}));
  EXPECT_TRUE(device->synchronize().ok());
}

TEST_F(OverCuda, StreamsEventsAndGraphs) {
  const DriverTable &t = device->table();
  StreamHandle stream;
  EventHandle begin, end;
  GraphHandle graph;
  GraphExecHandle exec;
  std::vector<uint32_t> values(4), back(4);
  Expected<DeviceMemory> a = device->allocate(16, "a");
  ASSERT_TRUE(a);
  ASSERT_TRUE(device->copyToDevice(a->pointer(), values.data(), 16).ok());
  FunctionHandle f = add();
  ASSERT_EQ(t.streamCreate(t.self, &stream), 0);
  ASSERT_EQ(t.eventCreate(t.self, &begin), 0);
  ASSERT_EQ(t.eventCreate(t.self, &end), 0);
  ASSERT_EQ(t.streamBeginCapture(t.self, stream), 0);
  EXPECT_EQ(launch(f, a->pointer(), 5, stream), 0);
  EXPECT_EQ(launch(f, a->pointer(), 6, stream), 0);
  ASSERT_EQ(t.streamEndCapture(t.self, stream, &graph), 0);
  ASSERT_EQ(t.graphInstantiate(t.self, &exec, graph), 0);
  EXPECT_EQ(t.eventRecord(t.self, begin, stream), 0);
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(t.graphLaunch(t.self, exec, stream), 0);
  EXPECT_EQ(t.eventRecord(t.self, end, stream), 0);
  EXPECT_EQ(t.eventSynchronize(t.self, end), 0);
  float ms = -1;
  EXPECT_EQ(t.eventElapsed(t.self, &ms, begin, end), 0);
  EXPECT_GT(ms, 0);
  EXPECT_EQ(t.memcpyDtoH(t.self, back.data(), a->pointer(), 16, stream), 0);
  EXPECT_EQ(t.streamSynchronize(t.self, stream), 0);
  EXPECT_EQ(back, std::vector<uint32_t>(4, 33));
  EXPECT_EQ(t.graphExecDestroy(t.self, exec), 0);
  EXPECT_EQ(t.graphDestroy(t.self, graph), 0);
  EXPECT_EQ(t.eventDestroy(t.self, begin), 0);
  EXPECT_EQ(t.eventDestroy(t.self, end), 0);
  EXPECT_EQ(t.streamDestroy(t.self, stream), 0);
}

TEST_F(OverCuda, ErrorsAreTold) {
  EXPECT_THAT(device->loadModule("nonsense", ImageKind::PtxText, "bad.ptx")
                  .status()
                  .message(),
              testing::AllOf(testing::HasSubstr("CUDA_ERROR_INVALID_PTX (218)"),
                             testing::HasSubstr(".ptx:1:")));
  EXPECT_THAT(device
                  ->loadModule("\x7f"
                               "ELF",
                               ImageKind::Cubin, "bad.cubin")
                  .status()
                  .message(),
              testing::HasSubstr("got a cubin"));
}
} // namespace
