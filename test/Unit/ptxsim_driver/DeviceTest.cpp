// cuInit, the device, contexts, entry points, options.

#include "test/Unit/ptxsim_driver/Context.h"

#include <thread>

using namespace ptxsim::cuda;
using namespace ptxsim::cuda::test;
using testing::HasSubstr;

namespace {
// The first test of the binary: nothing has called cuInit yet.
TEST(BeforeInit, OnlyVersionsAndTextsAreTold) {
  int value = 0;
  EXPECT_EQ(cuDeviceGetCount(&value), CUDA_ERROR_NOT_INITIALIZED);
  CUcontext context = nullptr;
  EXPECT_EQ(cuCtxGetCurrent(&context), CUDA_ERROR_NOT_INITIALIZED);
  EXPECT_EQ(cuDriverGetVersion(&value), CUDA_SUCCESS);
  EXPECT_EQ(value, 13000);
  EXPECT_EQ(cuInit(1), CUDA_ERROR_INVALID_VALUE);
}

TEST(Errors, HaveNamesAndTexts) {
  const char *text = nullptr;
  ASSERT_EQ(cuGetErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, &text), CUDA_SUCCESS);
  EXPECT_STREQ(text, "CUDA_ERROR_ILLEGAL_ADDRESS");
  ASSERT_EQ(cuGetErrorString(CUDA_ERROR_ILLEGAL_ADDRESS, &text), CUDA_SUCCESS);
  EXPECT_STREQ(text, "an illegal memory access was encountered");
  EXPECT_EQ(cuGetErrorString(CUresult(12345), &text), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(text, nullptr);
}

TEST(Device, IsAHopper) {
  ASSERT_CUDA(cuInit(0));
  int count = 0, value = 0;
  EXPECT_CUDA(cuDeviceGetCount(&count));
  EXPECT_EQ(count, 1);
  CUdevice device = -1;
  EXPECT_EQ(cuDeviceGet(&device, 1), CUDA_ERROR_INVALID_DEVICE);
  ASSERT_CUDA(cuDeviceGet(&device, 0));
  char name[64], small[4];
  EXPECT_CUDA(cuDeviceGetName(name, sizeof name, device));
  EXPECT_THAT(name, HasSubstr("H200"));
  EXPECT_CUDA(cuDeviceGetName(small, sizeof small, device));
  EXPECT_STREQ(small, "NVI");
  // Numbers of the attributes: cuda.h.
  const std::pair<unsigned, int> expected[] = {
      {75, 9},    {76, 0},      {16, 132},   {10, 32},     {1, 1024},
      {8, 49152}, {97, 232448}, {39, 2048},  {81, 233472}, {95, 1},
      {120, 1},   {106, 32},    {12, 65536}, {41, 1}};
  for (auto [attribute, want] : expected) {
    EXPECT_CUDA(cuDeviceGetAttribute(&value, CUdevice_attribute(attribute), 0));
    EXPECT_EQ(value, want) << attribute;
  }
  EXPECT_EQ(cuDeviceGetAttribute(&value, CUdevice_attribute(0), 0),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuDeviceGetAttribute(&value, CUdevice_attribute(100000), 0),
            CUDA_ERROR_INVALID_VALUE);
}

TEST(Contexts, PrimaryOneIsCountedAndReset) {
  ASSERT_CUDA(cuInit(0));
  CUcontext a = nullptr, b = nullptr, current = nullptr;
  unsigned flags;
  int active;
  ASSERT_CUDA(cuDevicePrimaryCtxRetain(&a, 0));
  ASSERT_CUDA(cuDevicePrimaryCtxRetain(&b, 0));
  EXPECT_EQ(a, b);
  EXPECT_EQ(cuCtxGetCurrent(&current), CUDA_SUCCESS);
  EXPECT_EQ(current, nullptr);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_INVALID_CONTEXT);
  ASSERT_CUDA(cuCtxSetCurrent(a));
  EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  CUdeviceptr pointer = 0;
  EXPECT_CUDA(cuMemAlloc_v2(&pointer, 64));
  EXPECT_CUDA(cuDevicePrimaryCtxRelease_v2(0));
  EXPECT_CUDA(cuDevicePrimaryCtxGetState(0, &flags, &active));
  EXPECT_EQ(active, 1);
  EXPECT_CUDA(cuDevicePrimaryCtxRelease_v2(0));
  EXPECT_CUDA(cuDevicePrimaryCtxGetState(0, &flags, &active));
  EXPECT_EQ(active, 0);
  EXPECT_EQ(cuMemAlloc_v2(&pointer, 64), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  EXPECT_EQ(cuDevicePrimaryCtxRelease_v2(0), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_CUDA(cuCtxSetCurrent(nullptr));
}

TEST(Contexts, AreAStackPerThread) {
  ASSERT_CUDA(cuInit(0));
  CUcontext a, b, popped, current;
  ASSERT_CUDA(cuCtxCreate_v2(&a, 0, 0));
  ASSERT_CUDA(cuCtxCreate_v4(&b, nullptr, 0, 0));
  EXPECT_CUDA(cuCtxGetCurrent(&current));
  EXPECT_EQ(current, b);
  std::thread([] {
    CUcontext none = reinterpret_cast<CUcontext>(1);
    EXPECT_CUDA(cuCtxGetCurrent(&none));
    EXPECT_EQ(none, nullptr);
    EXPECT_EQ(cuCtxPopCurrent_v2(&none), CUDA_ERROR_INVALID_CONTEXT);
  }).join();
  EXPECT_CUDA(cuCtxPopCurrent_v2(&popped));
  EXPECT_EQ(popped, b);
  EXPECT_CUDA(cuCtxGetCurrent(&current));
  EXPECT_EQ(current, a);
  EXPECT_CUDA(cuCtxPushCurrent_v2(b));
  EXPECT_CUDA(cuCtxDestroy_v2(b));
  EXPECT_CUDA(cuCtxGetCurrent(&current));
  EXPECT_EQ(current, a);
  EXPECT_EQ(cuCtxSetCurrent(b), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_CUDA(cuCtxDestroy_v2(a));
}

TEST(ProcAddress, GivesTheVersionOfTheProgram) {
  void *function = nullptr;
  CUdriverProcAddressQueryResult status;
  EXPECT_EQ(cuGetProcAddress_v2("cuMemAlloc", &function, 13000, 0, &status),
            CUDA_SUCCESS);
  EXPECT_EQ(function, reinterpret_cast<void *>(&cuMemAlloc_v2));
  EXPECT_EQ(
      cuGetProcAddress_v2("cuEventElapsedTime", &function, 12040, 0, &status),
      CUDA_SUCCESS);
  EXPECT_EQ(function, reinterpret_cast<void *>(&cuEventElapsedTime));
  EXPECT_EQ(
      cuGetProcAddress_v2("cuEventElapsedTime", &function, 13000, 0, &status),
      CUDA_SUCCESS);
  EXPECT_EQ(function, reinterpret_cast<void *>(&cuEventElapsedTime_v2));
  EXPECT_EQ(cuGetProcAddress_v2("cuStreamGetCaptureInfo", &function, 11020, 0,
                                &status),
            CUDA_SUCCESS);
  EXPECT_EQ(status, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
  EXPECT_EQ(function, nullptr);
  EXPECT_EQ(cuGetProcAddress_v2("cuNoSuchThing", &function, 13000, 0, &status),
            CUDA_SUCCESS);
  EXPECT_EQ(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
  EXPECT_EQ(cuGetProcAddress("cuNoSuchThing", &function, 13000, 0),
            CUDA_ERROR_NOT_FOUND);
}

TEST(Options, AreReadAndRefused) {
  EXPECT_EQ(ptxsimSetOptions("schedule=reverse,async=lazy"), 0);
  EXPECT_EQ(ptxsimSetOptions("schedule=backwards"), 1);
  EXPECT_THAT(ptxsimLastError(), HasSubstr("'backwards'"));
  EXPECT_EQ(ptxsimSetOptions(nullptr), 1);
  EXPECT_EQ(ptxsimSetOptions("schedule=rr,async=eager"), 0);
}
} // namespace

extern "C" const char *plainC(void);

TEST(PlainC, CountersAsJson) {
  EXPECT_THAT(plainC(), testing::StartsWith("{\"launches\": 0, "));
}
