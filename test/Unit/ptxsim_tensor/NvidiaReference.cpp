#include "NvidiaReference.h"

#ifdef K2C_HAVE_CUDA_HEADERS

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

namespace {

__half f16(uint16_t bits) {
  __half_raw raw;
  raw.x = bits;
  return __half(raw);
}
__nv_bfloat16 bf16(uint16_t bits) {
  __nv_bfloat16_raw raw;
  raw.x = bits;
  return __nv_bfloat16(raw);
}
uint16_t bits(__half h) { return __half_raw(h).x; }
uint16_t bits(__nv_bfloat16 h) { return __nv_bfloat16_raw(h).x; }

__nv_fp8_interpretation_t kind(bool e5m2) {
  return e5m2 ? __NV_E5M2 : __NV_E4M3;
}

} // namespace

#define BY_ROUNDING(rn, rz, rd, ru, x)                                         \
  (rounding == 0   ? rn(x)                                                     \
   : rounding == 1 ? rz(x)                                                     \
   : rounding == 2 ? rd(x)                                                     \
                   : ru(x))

bool nvidia::available() { return true; }

uint16_t nvidia::floatToF16(float f, int rounding) {
  return bits(BY_ROUNDING(__float2half_rn, __float2half_rz, __float2half_rd,
                          __float2half_ru, f));
}
uint16_t nvidia::floatToBF16(float f, int rounding) {
  return bits(BY_ROUNDING(__float2bfloat16_rn, __float2bfloat16_rz,
                          __float2bfloat16_rd, __float2bfloat16_ru, f));
}
float nvidia::f16ToFloat(uint16_t h) { return __half2float(f16(h)); }
float nvidia::bf16ToFloat(uint16_t h) { return __bfloat162float(bf16(h)); }
uint16_t nvidia::doubleToF16(double d) { return bits(__double2half(d)); }
uint16_t nvidia::doubleToBF16(double d) { return bits(__double2bfloat16(d)); }

uint8_t nvidia::floatToFp8(float f, bool e5m2) {
  return __nv_cvt_float_to_fp8(f, __NV_SATFINITE, kind(e5m2));
}
uint8_t nvidia::f16ToFp8(uint16_t h, bool e5m2) {
  __half_raw raw;
  raw.x = h;
  return __nv_cvt_halfraw_to_fp8(raw, __NV_SATFINITE, kind(e5m2));
}
uint16_t nvidia::fp8ToF16(uint8_t b, bool e5m2) {
  return __nv_cvt_fp8_to_halfraw(b, kind(e5m2)).x;
}

int32_t nvidia::f16ToS32(uint16_t h) { return __half2int_rz(f16(h)); }
uint32_t nvidia::f16ToU32(uint16_t h) { return __half2uint_rz(f16(h)); }
int64_t nvidia::f16ToS64(uint16_t h) { return __half2ll_rz(f16(h)); }
int16_t nvidia::f16ToS16(uint16_t h) { return __half2short_rz(f16(h)); }
uint16_t nvidia::f16ToU16(uint16_t h) { return __half2ushort_rz(f16(h)); }
int32_t nvidia::bf16ToS32(uint16_t h) { return __bfloat162int_rz(bf16(h)); }
uint32_t nvidia::bf16ToU32(uint16_t h) { return __bfloat162uint_rz(bf16(h)); }
uint16_t nvidia::s32ToF16(int32_t i) { return bits(__int2half_rn(i)); }
uint16_t nvidia::s32ToBF16(int32_t i) { return bits(__int2bfloat16_rn(i)); }
uint16_t nvidia::s64ToF16(int64_t i) { return bits(__ll2half_rn(i)); }

#else

// Never called: every test asks available() first.
#include <cstdlib>
bool nvidia::available() { return false; }
uint16_t nvidia::floatToF16(float, int) { std::abort(); }
uint16_t nvidia::floatToBF16(float, int) { std::abort(); }
float nvidia::f16ToFloat(uint16_t) { std::abort(); }
float nvidia::bf16ToFloat(uint16_t) { std::abort(); }
uint16_t nvidia::doubleToF16(double) { std::abort(); }
uint16_t nvidia::doubleToBF16(double) { std::abort(); }
uint8_t nvidia::floatToFp8(float, bool) { std::abort(); }
uint8_t nvidia::f16ToFp8(uint16_t, bool) { std::abort(); }
uint16_t nvidia::fp8ToF16(uint8_t, bool) { std::abort(); }
int32_t nvidia::f16ToS32(uint16_t) { std::abort(); }
uint32_t nvidia::f16ToU32(uint16_t) { std::abort(); }
int64_t nvidia::f16ToS64(uint16_t) { std::abort(); }
int16_t nvidia::f16ToS16(uint16_t) { std::abort(); }
uint16_t nvidia::f16ToU16(uint16_t) { std::abort(); }
int32_t nvidia::bf16ToS32(uint16_t) { std::abort(); }
uint32_t nvidia::bf16ToU32(uint16_t) { std::abort(); }
uint16_t nvidia::s32ToF16(int32_t) { std::abort(); }
uint16_t nvidia::s32ToBF16(int32_t) { std::abort(); }
uint16_t nvidia::s64ToF16(int64_t) { std::abort(); }

#endif
