// Allocations, pointers, copies, fills.

#include "test/Unit/ptxsim_driver/Context.h"

#include <cstring>
#include <numeric>

using namespace ptxsim::cuda;
using namespace ptxsim::cuda::test;
using testing::HasSubstr;

namespace {
using Memory = InContext;

TEST_F(Memory, AllocationAndItsErrors) {
  size_t before = 0, after = 0, total = 0;
  EXPECT_CUDA(cuMemGetInfo_v2(&before, &total));
  CUdeviceptr a = 0;
  ASSERT_CUDA(cuMemAlloc_v2(&a, 1000));
  EXPECT_CUDA(cuMemGetInfo_v2(&after, &total));
  EXPECT_EQ(before - after, 1000u);
  CUdeviceptr base = 0;
  size_t size = 0;
  EXPECT_CUDA(cuMemGetAddressRange_v2(&base, &size, a + 999));
  EXPECT_EQ(base, a);
  EXPECT_EQ(size, 1000u);
  EXPECT_EQ(cuMemGetAddressRange_v2(&base, &size, a + 1000),
            CUDA_ERROR_NOT_FOUND);
  CUdeviceptr none = 0;
  EXPECT_EQ(cuMemAlloc_v2(&none, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemAlloc_v2(&none, total + 1), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(cuMemFree_v2(a + 16), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemFree_v2(a));
  EXPECT_EQ(cuMemFree_v2(a), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemFree_v2(0));
  uint32_t value = 0;
  EXPECT_EQ(cuMemcpyDtoH_v2(&value, a, 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_THAT(ptxsimLastError(), HasSubstr("has been freed"));
}

TEST_F(Memory, PointersKnowWhatTheyAre) {
  CUdeviceptr device = buffer({1}), managed = 0;
  void *host = nullptr;
  ASSERT_CUDA(cuMemAllocManaged(&managed, 64, 1));
  ASSERT_CUDA(cuMemHostAlloc(&host, 64, 2));
  auto typeOf = [](CUdeviceptr p) {
    unsigned type = 0;
    EXPECT_CUDA(
        cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p));
    return type;
  };
  EXPECT_EQ(typeOf(device), CU_MEMORYTYPE_DEVICE);
  EXPECT_EQ(typeOf(managed), CU_MEMORYTYPE_DEVICE);
  EXPECT_EQ(typeOf(reinterpret_cast<CUdeviceptr>(host)), CU_MEMORYTYPE_HOST);
  unsigned type = 7, isManaged = 7;
  int ordinal = 7, local = 0;
  EXPECT_EQ(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                  reinterpret_cast<CUdeviceptr>(&local)),
            CUDA_ERROR_INVALID_VALUE);
  CUpointer_attribute attributes[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                      CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                      CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
  void *values[] = {&type, &isManaged, &ordinal};
  EXPECT_CUDA(cuPointerGetAttributes(3, attributes, values, managed));
  EXPECT_EQ(isManaged, 1u);
  EXPECT_EQ(ordinal, 0);
  EXPECT_CUDA(cuPointerGetAttributes(3, attributes, values,
                                     reinterpret_cast<CUdeviceptr>(&local)));
  EXPECT_EQ(type, 0u);
  EXPECT_EQ(ordinal, -2);
  EXPECT_EQ(cuMemFree_v2(reinterpret_cast<CUdeviceptr>(host)),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemFreeHost(host));
}

TEST_F(Memory, KernelsReachHostAndManagedMemory) {
  CUdeviceptr managed = 0, mapped = 0;
  void *host = nullptr;
  ASSERT_CUDA(cuMemAllocManaged(&managed, 8, 1));
  ASSERT_CUDA(cuMemHostAlloc(&host, 8, 2));
  ASSERT_CUDA(cuMemHostGetDevicePointer_v2(&mapped, host, 0));
  uint32_t *m = reinterpret_cast<uint32_t *>(managed),
           *h = static_cast<uint32_t *>(host);
  m[0] = 1, m[1] = 2, h[0] = 3, h[1] = 4;
  CUfunction add = function("add");
  EXPECT_CUDA(launch(add, 2, nullptr, managed, 10u));
  EXPECT_CUDA(launch(add, 2, nullptr, mapped, 10u));
  EXPECT_CUDA(cuCtxSynchronize());
  EXPECT_EQ(m[1], 12u);
  EXPECT_EQ(h[0], 13u);
}

TEST_F(Memory, CopiesOfRuns) {
  CUdeviceptr a = buffer({1, 2, 3, 4}), b = buffer({0, 0, 0, 0});
  EXPECT_CUDA(cuMemcpyDtoD_v2(b + 4, a, 8));
  EXPECT_EQ(read(b, 4), (std::vector<uint32_t>{0, 1, 2, 0}));
  // Pointers say themselves where they point.
  uint32_t host[2] = {8, 9};
  EXPECT_CUDA(cuMemcpy(b, reinterpret_cast<CUdeviceptr>(host), 8));
  EXPECT_CUDA(cuMemcpy(reinterpret_cast<CUdeviceptr>(host + 1), a + 8, 4));
  EXPECT_EQ(host[1], 3u);
  EXPECT_EQ(read(b, 2), (std::vector<uint32_t>{8, 9}));
  EXPECT_EQ(cuMemcpyHtoD_v2(b + 8, host, 12), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpyDtoD_v2(b, reinterpret_cast<CUdeviceptr>(host), 4),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemcpyHtoD_v2(b, host, 0));
}

TEST_F(Memory, CopiesOfRectangles) {
  // 3 rows of 2 out of a host matrix of 5 columns into a pitched one.
  uint32_t host[20], out[6];
  std::iota(host, host + 20, 0);
  CUdeviceptr pitched = 0;
  size_t pitch = 0;
  ASSERT_CUDA(cuMemAllocPitch_v2(&pitched, &pitch, 8, 3, 4));
  EXPECT_EQ(pitch % 512, 0u);
  CUDA_MEMCPY2D in{};
  in.srcMemoryType = CU_MEMORYTYPE_HOST, in.srcHost = host, in.srcPitch = 20;
  in.srcXInBytes = 4, in.srcY = 1;
  in.dstMemoryType = CU_MEMORYTYPE_DEVICE, in.dstDevice = pitched;
  in.dstPitch = pitch, in.WidthInBytes = 8, in.Height = 3;
  EXPECT_CUDA(cuMemcpy2D_v2(&in));
  CUDA_MEMCPY2D back{};
  back.srcMemoryType = CU_MEMORYTYPE_UNIFIED, back.srcDevice = pitched;
  back.srcPitch = pitch;
  back.dstMemoryType = CU_MEMORYTYPE_HOST, back.dstHost = out;
  back.dstPitch = 8, back.WidthInBytes = 8, back.Height = 3;
  EXPECT_CUDA(cuMemcpy2DAsync_v2(&back, nullptr));
  EXPECT_THAT(out, testing::ElementsAre(6, 7, 11, 12, 16, 17));
  in.dstPitch = 4;
  EXPECT_EQ(cuMemcpy2D_v2(&in), CUDA_ERROR_INVALID_VALUE);
  in.dstMemoryType = CU_MEMORYTYPE_ARRAY, in.dstPitch = pitch;
  in.dstDevice = pitched;
  EXPECT_EQ(cuMemcpy2D_v2(&in), CUDA_ERROR_NOT_SUPPORTED);
}

TEST_F(Memory, CopiesOfBoxes) {
  uint32_t host[24], out[4] = {};
  std::iota(host, host + 24, 0); // 2 slices of 3 rows of 4
  CUDA_MEMCPY3D c{};
  c.srcMemoryType = CU_MEMORYTYPE_HOST, c.srcHost = host;
  c.srcPitch = 16, c.srcHeight = 3, c.srcXInBytes = 12, c.srcY = 1;
  CUdeviceptr d = buffer({0, 0, 0, 0});
  c.dstMemoryType = CU_MEMORYTYPE_DEVICE, c.dstDevice = d;
  c.dstPitch = 4, c.dstHeight = 2;
  c.WidthInBytes = 4, c.Height = 2, c.Depth = 2;
  EXPECT_CUDA(cuMemcpy3D_v2(&c));
  EXPECT_CUDA(cuMemcpyDtoH_v2(out, d, 16));
  EXPECT_THAT(out, testing::ElementsAre(7, 11, 19, 23));
}

TEST_F(Memory, Fills) {
  CUdeviceptr x = buffer({0, 0, 0, 0});
  EXPECT_CUDA(cuMemsetD32_v2(x, 0x01020304, 4));
  EXPECT_CUDA(cuMemsetD16_v2(x + 4, 0xabcd, 1));
  EXPECT_CUDA(cuMemsetD8Async(x + 8, 0xee, 3, nullptr));
  EXPECT_EQ(read(x, 4), (std::vector<uint32_t>{0x01020304, 0x0102abcd,
                                               0x01eeeeee, 0x01020304}));
  EXPECT_CUDA(cuMemsetD2D32_v2(x, 8, 7, 1, 2));
  EXPECT_EQ(read(x, 3), (std::vector<uint32_t>{7, 0x0102abcd, 7}));
  EXPECT_EQ(cuMemsetD32_v2(x + 2, 0, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemsetD8_v2(x, 0, 17), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Memory, TensorMapsAreCheckedLikeTheDrivers) {
  CUtensorMap map;
  CUdeviceptr x = buffer(std::vector<uint32_t>(1024));
  cuuint64_t dims[] = {32, 32}, strides[] = {128};
  cuuint32_t box[] = {16, 8}, steps[] = {1, 1};
  auto encode = [&](unsigned swizzle) {
    return cuTensorMapEncodeTiled(
        &map, CUtensorMapDataType(2), 2, reinterpret_cast<void *>(x), dims,
        strides, box, steps, CUtensorMapInterleave(0),
        CUtensorMapSwizzle(swizzle), CUtensorMapL2promotion(0),
        CUtensorMapFloatOOBfill(0));
  };
  EXPECT_CUDA(encode(0));
  EXPECT_CUDA(
      cuTensorMapReplaceAddress(&map, reinterpret_cast<void *>(x + 128)));
  EXPECT_EQ(encode(1), CUDA_ERROR_INVALID_VALUE); // 64 bytes > the span of 32
  EXPECT_THAT(ptxsimLastError(), HasSubstr("inner box of at most 32 bytes"));
  strides[0] = 120;
  EXPECT_EQ(encode(0), CUDA_ERROR_INVALID_VALUE);
  CUtensorMap rubbish{};
  EXPECT_EQ(cuTensorMapReplaceAddress(&rubbish, reinterpret_cast<void *>(x)),
            CUDA_ERROR_INVALID_VALUE);
}
} // namespace
