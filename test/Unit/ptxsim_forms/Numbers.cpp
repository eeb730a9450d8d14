#include "test/Unit/ptxsim_forms/Numbers.h"

#include <algorithm>
#include <bit>
#include <gtest/gtest.h>

namespace ptxsim::forms {

unsigned bytesOf(const std::string &type) {
  if (type == "f64")
    return 8;
  if (type == "f16" || type == "bf16")
    return 2;
  return type == "f32" || type == "tf32" || type == "s32" ? 4 : 1;
}

namespace {

/// A sign, an exponent field with `bias` and `fraction` bits.
uint64_t pack(int64_t value, unsigned exponentBits, int bias,
              unsigned fraction) {
  if (value == 0)
    return 0;
  const uint64_t magnitude = uint64_t(value < 0 ? -value : value);
  const unsigned top = unsigned(std::bit_width(magnitude)) - 1;
  const uint64_t below = magnitude - (uint64_t(1) << top);
  const uint64_t bits =
      top <= fraction ? below << (fraction - top) : below >> (top - fraction);
  EXPECT_EQ(top <= fraction ? 0 : below % (uint64_t(1) << (top - fraction)), 0u)
      << value << " is not exact in " << fraction << " bits";
  return uint64_t(value < 0) << (exponentBits + fraction) |
         uint64_t(int(top) + bias) << fraction | bits;
}

} // namespace

uint64_t encode(const std::string &type, int64_t value) {
  if (type == "f64")
    return pack(value, 11, 1023, 52);
  if (type == "f32" || type == "tf32")
    return pack(value, 8, 127, 23);
  if (type == "bf16")
    return pack(value, 8, 127, 7);
  if (type == "f16")
    return pack(value, 5, 15, 10);
  if (type == "e4m3")
    return pack(value, 4, 7, 3);
  if (type == "e5m2")
    return pack(value, 5, 15, 2);
  return uint64_t(value) & (type == "s32" ? 0xffffffffu : 0xffu);
}

int pick(const std::string &type, const std::string &accumulator,
         std::mt19937 &random) {
  if (type == "s8")
    return int(random() % 256) - 128;
  if (type == "u8")
    return int(random() % 256);
  // 32 products of 6 by 6 and a start value stay below 2048, f16's limit.
  const int most = accumulator == "f16" ? 6 : type == "e5m2" ? 7 : 9;
  return int(random() % unsigned(2 * most + 1)) - most;
}

int64_t pickStart(const std::string &accumulator, std::mt19937 &random) {
  const int64_t near = int64_t(random() % 1000);
  if (accumulator != "s32")
    return near % 201 - 100;
  const int64_t starts[] = {near, -near, INT32_MAX - near, INT32_MIN + near};
  return starts[random() % 4];
}

int64_t fit(int64_t sum, bool saturates) {
  return saturates ? std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX)
                   : int64_t(int32_t(uint32_t(sum)));
}

} // namespace ptxsim::forms
