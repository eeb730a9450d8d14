#ifndef RUNTIME_PTXSIM_NUMERIC_FLOAT_H
#define RUNTIME_PTXSIM_NUMERIC_FLOAT_H

// Binary floating-point formats in integer arithmetic: the reference for every
// conversion, independent of the host's rounding mode and FPU.

#include <cstdint>

namespace ptxsim {

struct FloatFormat {
  uint8_t exponentBits, mantissaBits;
  /// False for e4m3: its largest exponent holds numbers, and only an all-ones
  /// mantissa there is NaN.
  bool infinities = true;

  constexpr int bias() const { return (1 << (exponentBits - 1)) - 1; }
  constexpr uint64_t signBit() const {
    return 1ull << (exponentBits + mantissaBits);
  }
  constexpr uint64_t infinity() const {
    return ((1ull << exponentBits) - 1) << mantissaBits;
  }
  constexpr uint64_t largest() const {
    return infinities ? infinity() - 1 : signBit() - 2;
  }
  /// PTX's canonical NaN: positive, all bits below the sign set (double: the
  /// quiet bit only).
  constexpr uint64_t nan() const {
    return mantissaBits == 52 ? 0x7ff8000000000000 : signBit() - 1;
  }
  constexpr bool operator==(const FloatFormat &) const = default;
};

constexpr FloatFormat formatE4M3{4, 3, false}, formatE5M2{5, 2},
    formatF16{5, 10}, formatBF16{8, 7}, formatTF32{8, 10}, formatF32{8, 23},
    formatF64{11, 52};

enum class Rounding : uint8_t {
  NearestEven, ///< .rn, .rni
  Zero,        ///< .rz, .rzi
  Down,        ///< .rm, .rmi
  Up,          ///< .rp, .rpi
  NearestAway, ///< .rna
};

/// (-1)^negative * significand * 2^exponent, or one of the special values.
struct Number {
  enum Kind : uint8_t { Zero, Finite, Infinite, NaN } kind = Zero;
  bool negative = false;
  int exponent = 0;
  uint64_t significand = 0;

  static Number fromInteger(uint64_t magnitude, bool negative) {
    return {magnitude ? Finite : Zero, negative && magnitude, 0, magnitude};
  }
};

/// The value of a bit pattern.
Number unpack(FloatFormat format, uint64_t bits);

/// The bit pattern nearest in the given direction, subnormals included.
/// Overflow gives what IEEE 754 says for the direction, or the largest finite
/// number if `saturate` (which also applies to infinities). NaN gives the
/// canonical NaN.
uint64_t pack(FloatFormat format, const Number &number, Rounding rounding,
              bool saturate = false);

/// Rounds to an integral value; -0.3 gives -0.
Number roundToIntegral(const Number &number, Rounding rounding);

} // namespace ptxsim

#endif // RUNTIME_PTXSIM_NUMERIC_FLOAT_H
