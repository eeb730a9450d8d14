#ifndef TEST_UNIT_PTXSIM_TENSOR_NVIDIAREFERENCE_H
#define TEST_UNIT_PTXSIM_TENSOR_NVIDIAREFERENCE_H

#include <cstdint>

/// Conversions of cuda_fp16.h, cuda_bf16.h and cuda_fp8.h as they run on the
/// host. Halves and fp8 values are bit patterns.
namespace nvidia {

/// False when the tests were built without the headers: the functions below
/// must not be called then.
bool available();

// rounding: 0 nearest even, 1 toward zero, 2 down, 3 up
uint16_t floatToF16(float f, int rounding);
uint16_t floatToBF16(float f, int rounding);
float f16ToFloat(uint16_t h);
float bf16ToFloat(uint16_t h);
uint16_t doubleToF16(double d);
uint16_t doubleToBF16(double d);

uint8_t floatToFp8(float f, bool e5m2);
uint8_t f16ToFp8(uint16_t h, bool e5m2);
uint16_t fp8ToF16(uint8_t b, bool e5m2);

// The host versions exist toward zero, and to nearest even.
int32_t f16ToS32(uint16_t h);
uint32_t f16ToU32(uint16_t h);
int64_t f16ToS64(uint16_t h);
int16_t f16ToS16(uint16_t h);
uint16_t f16ToU16(uint16_t h);
int32_t bf16ToS32(uint16_t h);
uint32_t bf16ToU32(uint16_t h);
uint16_t s32ToF16(int32_t i);
uint16_t s32ToBF16(int32_t i);
uint16_t s64ToF16(int64_t i);

} // namespace nvidia

#endif // TEST_UNIT_PTXSIM_TENSOR_NVIDIAREFERENCE_H
