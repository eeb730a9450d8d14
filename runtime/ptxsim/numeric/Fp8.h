#ifndef RUNTIME_PTXSIM_NUMERIC_FP8_H
#define RUNTIME_PTXSIM_NUMERIC_FP8_H

// e4m3 and e5m2, branch-free so that loops over lanes vectorise.

#include "runtime/ptxsim/numeric/Half.h"

namespace ptxsim {

struct Fp8E4M3 {
  static constexpr FloatFormat format = formatE4M3;
};
struct Fp8E5M2 {
  static constexpr FloatFormat format = formatE5M2;
};

/// .rn.satfinite: to nearest, ties to even; too large and infinite give the
/// largest finite number, NaN gives 0x7f.
template <class T> [[gnu::always_inline]] inline uint8_t narrowFp8(float f) {
  constexpr FloatFormat format = T::format;
  constexpr unsigned dropped = 23 - format.mantissaBits;
  uint32_t bits = std::bit_cast<uint32_t>(f), magnitude = bits & 0x7fffffff;
  uint32_t sign = bits >> 24 & 0x80;
  // Normal results: round the mantissa, rebias.
  uint32_t normal =
      (magnitude + ((1u << (dropped - 1)) - 1) + (magnitude >> dropped & 1)) >>
      dropped;
  normal -= uint32_t(127 - format.bias()) << format.mantissaBits;
  // Subnormal results: adding a number whose last place is the subnormals'
  // unit makes the FPU round.
  constexpr float anchor = std::bit_cast<float>(
      uint32_t(127 + 23 + 1 - format.bias() - format.mantissaBits) << 23);
  uint32_t subnormal =
      std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + anchor) -
      std::bit_cast<uint32_t>(anchor);
  constexpr uint32_t smallestNormal = uint32_t(127 + 1 - format.bias()) << 23;
  uint32_t code = magnitude < smallestNormal ? subnormal : normal;
  constexpr uint32_t largest = uint32_t(format.largest());
  // The first number of the next binade is out of range in both formats, so
  // no rebiased value wraps before this test.
  constexpr uint32_t huge =
      uint32_t(127 + 1 + format.bias() + (format.infinities ? 0 : 1)) << 23;
  code = magnitude >= huge || code > largest ? largest : code;
  return magnitude > 0x7f800000 ? uint8_t(0x7f) : uint8_t(code | sign);
}

/// Exact; NaN gives 0x7fff.
template <class T> [[gnu::always_inline]] inline uint16_t fp8ToF16(uint8_t b) {
  uint32_t sign = uint32_t(b & 0x80) << 8, magnitude = b & 0x7f;
  if constexpr (T::format == formatE5M2) {
    return magnitude > 0x7c ? uint16_t(0x7fff)
                            : uint16_t(sign | magnitude << 8);
  } else {
    // Subnormals 1..7 are m * 2^-9: their place in f16 depends on the leading
    // bit; all are normal numbers there.
    uint32_t normal = (magnitude << 7) + (8u << 10);
    uint32_t lead = magnitude >= 4 ? 2 : magnitude >= 2 ? 1 : 0;
    uint32_t subnormal =
        magnitude ? ((6 + lead) << 10) + (((magnitude << (10 - lead)) & 0x3ff))
                  : 0;
    uint32_t code = magnitude < 8 ? subnormal : normal;
    return magnitude == 0x7f ? uint16_t(0x7fff) : uint16_t(sign | code);
  }
}

template <class T> float widenFp8(uint8_t b) {
  if constexpr (T::format == formatE5M2) {
    return HalfF16::widen(fp8ToF16<T>(b));
  } else {
    // As a float with e4m3's exponent field the value is 2^120 too small; the
    // subnormals come out right as the multiplication normalises them.
    uint32_t magnitude = b & 0x7f;
    float f = std::bit_cast<float>(magnitude << 20) * 0x1p120f;
    uint32_t bits = magnitude == 0x7f
                        ? 0x7fffffffu
                        : std::bit_cast<uint32_t>(f) | uint32_t(b & 0x80) << 24;
    return std::bit_cast<float>(bits);
  }
}

} // namespace ptxsim

#endif // RUNTIME_PTXSIM_NUMERIC_FP8_H
