//===- DeviceTest.cpp - Devices by name, failures as Status ---------------===//
#include "FakeDriver.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace k2rt;
using testing::HasSubstr;

namespace {
TEST(Device, NamesWhatItTakes) {
  for (const char *name :
       {"", "gpu", "cuda:", "cuda:x", "cuda:-1", "cuda:1x"}) {
    auto device = Device::open(name);
    EXPECT_EQ(device.status().code(), StatusCode::Input);
    EXPECT_THAT(device.status().message(),
                HasSubstr(std::string("--device: expected sim, cuda or cuda:N, "
                                      "but got '") +
                          name + "'"));
  }
}

TEST(Device, SaysWhenThereIsNoDriver) {
  if (void *library = ::dlopen("libcuda.so.1", RTLD_NOW)) {
    ::dlclose(library);
    GTEST_SKIP() << "this machine has a driver";
  }
  auto device = Device::open("cuda");
  EXPECT_EQ(device.status().code(), StatusCode::Input);
  EXPECT_THAT(device.status().message(),
              HasSubstr("expected NVIDIA's driver library libcuda.so.1"));
}

TEST(Device, TurnsCodesIntoStatus) {
  FakeDriver fake;
  fake.memoryLimit = 100;
  Device device(fake.table());
  auto memory = device.allocate(101, "big");
  EXPECT_EQ(memory.status().code(), StatusCode::Device);
  EXPECT_EQ(memory.status().message(),
            "allocation of 101 bytes for 'big': it broke");
}

TEST(Device, MemoryIsFreedOnce) {
  FakeDriver fake;
  Device device(fake.table());
  {
    auto memory = device.allocate(0, "empty");
    ASSERT_TRUE(memory);
    EXPECT_NE(memory->pointer(), 0u);
    DeviceMemory moved = std::move(*memory);
    EXPECT_EQ(fake.memory.size(), 1u);
    moved = DeviceMemory();
  }
  EXPECT_TRUE(fake.memory.empty());
}
} // namespace
